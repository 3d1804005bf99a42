// SPDX-License-Identifier: GPL-2.0-only
#include "echo-nccl-tests-reader.h"

#include "echo-nccl-tests-words.h"

#include "ns3/echo-error.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace ns3
{
namespace echo
{

namespace
{

constexpr uint32_t NOT_FOUND = ~0u;

/** Reads one text; the columns of the current table and what was said above it. */
class NcclTestsParser
{
  public:
    NcclTestsParser(const std::string& name,
                    const NcclTestsHints& hints,
                    std::vector<std::string>* notes)
        : m_name(name), m_hints(hints), m_notes(notes), m_fileKind(FindOperationInFileName(name))
    {
    }

    std::vector<Measurement> Parse(const std::string& text)
    {
        std::istringstream in(text);
        std::string line;
        while (std::getline(in, line))
        {
            ++m_line;
            ParseLine(line);
        }
        FinishPending();
        if (m_rows.empty())
        {
            throw InputError({m_name, 0, ""},
                             m_hasHeader ? "no row of measurements" : "no nccl-tests table",
                             "output of an nccl-tests program or CSV with size_bytes,time_us");
        }
        return m_rows;
    }

  private:
    [[noreturn]] void Fail(const std::string& found, const std::string& expected) const
    {
        throw InputError({m_name, m_line, ""}, found, expected);
    }

    void ParseLine(const std::string& printed)
    {
        const std::string line = StripLauncherPrefix(printed);
        const size_t begin = line.find_first_not_of(" \t\r");
        const bool comment = begin != std::string::npos && line[begin] == '#';
        if (!comment && line.find("size_bytes") != std::string::npos)
        {
            StartCsv(SplitCommas(line));
            return;
        }
        if (m_csv && !comment)
        {
            const std::vector<std::string> cells = SplitCommas(line);
            if (!cells.empty())
            {
                ParseRow(cells, m_line);
            }
            return;
        }
        std::string bare = line;
        std::replace(bare.begin(), bare.end(), '#', ' ');
        const std::vector<std::string> words = SplitWords(comment ? bare : line);
        if (words.empty() || ParseDescription(words) || ParseHeader(line, words))
        {
            return;
        }
        if (!comment && ParsePrintedRow(words))
        {
            return;
        }
        if (!comment)
        {
            ContinueRow(words);
        }
    }

    /** The line that names the columns; @return whether it was one. */
    bool ParseHeader(const std::string& line, const std::vector<std::string>& words)
    {
        const auto has = [&words](const char* word) {
            return std::find(words.begin(), words.end(), word) != words.end();
        };
        if (!has("size") || !has("count") || !has("type") || !has("time") || !has("busbw"))
        {
            return false;
        }
        // "#wrong" names a column: the words of the line as it is, but for a leading '#'.
        std::vector<std::string> names = SplitWords(line);
        if (names.front() == "#")
        {
            names.erase(names.begin());
        }
        StartTable(names);
        return true;
    }

    /**
     * A row begins with size, count and type. Another program's words may cut it short (nccl-tests
     * prints the in-place columns later than the others): then the rest may follow on a line of its
     * own. @return whether the line begins a row
     */
    bool ParsePrintedRow(const std::vector<std::string>& words)
    {
        if (words.size() < 3 || !IsDigits(words[0]) || !IsDigits(words[1]) ||
            !IsElementType(words[2]))
        {
            return false;
        }
        if (!m_hasHeader)
        {
            Fail("numbers before a header line", "'size count type ... time algbw busbw'");
        }
        FinishPending();
        // Columns before the first time are words (sum, none); the others are values.
        size_t end = 3;
        while (end < words.size() && (end < m_time || IsValue(words[end])))
        {
            ++end;
        }
        const std::vector<std::string> cells(words.begin(),
                                             words.begin() + static_cast<std::ptrdiff_t>(end));
        if (cells.size() == m_columns)
        {
            ParseRow(cells, m_line);
        }
        else if (cells.size() > m_columns)
        {
            Note(m_line, "a row of " + std::to_string(cells.size()) + " columns is left out");
        }
        else
        {
            m_pending = cells;
            m_pendingLine = m_line;
        }
        return true;
    }

    /** Takes the values that an interrupted row lacks. */
    void ContinueRow(const std::vector<std::string>& words)
    {
        if (m_pending.empty())
        {
            return;
        }
        size_t values = 0;
        while (values < words.size() && IsValue(words[values]))
        {
            ++values;
        }
        if (values > 0 && m_pending.size() + values <= m_columns)
        {
            m_pending.insert(m_pending.end(),
                             words.begin(),
                             words.begin() + static_cast<std::ptrdiff_t>(values));
        }
        if (m_pending.size() == m_columns)
        {
            FinishPending();
        }
    }

    /** An interrupted row counts if its out-of-place columns are there; else it is left out. */
    void FinishPending()
    {
        if (m_pending.empty())
        {
            return;
        }
        std::vector<std::string> cells;
        cells.swap(m_pending);
        const size_t whole = cells.size();
        if (whole > m_time + size_t{2})
        {
            cells.resize(m_columns, "N/A");
            ParseRow(cells, m_pendingLine);
        }
        if (whole < m_columns)
        {
            Note(m_pendingLine,
                 "a row of " + std::to_string(whole) + " of " + std::to_string(m_columns) +
                     " columns " +
                     (whole > m_time + size_t{2} ? "counts without the others" : "is left out"));
        }
    }

    void Note(uint32_t line, const std::string& text)
    {
        if (m_notes)
        {
            m_notes->push_back(m_name + ":" + std::to_string(line) + ": " + text);
        }
    }

    /** Lines about the run; @return whether it was one. */
    bool ParseDescription(const std::vector<std::string>& words)
    {
        if (words.size() >= 2 &&
            (words[0] == "ngpus:" || words[0] == "nodes:" || words[0] == "op:" ||
             words[0] == "nccl:"))
        {
            if (words[0] == "nccl:")
            {
                m_release = NcclRelease(words[1]);
            }
            else if (words[0] == "op:")
            {
                SetKind(words[1]);
                m_fileKind = m_kind;
            }
            else
            {
                (words[0] == "ngpus:" ? m_ranks : m_hosts) = ParseCount(words[1]);
            }
            return true;
        }
        if (words.size() >= 2 && words[0] == "Using" && words[1] == "devices")
        {
            m_listed.clear();
            return true;
        }
        for (const std::string& word : words)
        {
            // "NCCL version 2.16.5+cuda11.8", "nccl-library=22902"
            const bool library = word.compare(0, 13, "nccl-library=") == 0;
            if (library || (&word != &words.front() && *(&word - 1) == "version" &&
                            words.front() == "NCCL"))
            {
                const std::string release = NcclRelease(library ? word.substr(13) : word);
                m_release = release.empty() ? m_release : release;
            }
        }
        if (words.size() >= 4 && words[0] == "Collective" && words[1] == "test" &&
            words[2] == "starting:")
        {
            SetKind(words[3]);
            return true;
        }
        if (words.size() >= 4 && words[0] == "nThread" && words[2] == "nGpus")
        {
            m_gpusPerThread = ParseCount(words[3]);
            return true;
        }
        if (words.size() >= 6 && words[0] == "Rank" && IsDigits(words[1]))
        {
            const auto on = std::find(words.begin(), words.end(), "on");
            if (on == words.end() || on + 1 == words.end())
            {
                Fail("a 'Rank' line without 'on HOST'", "'Rank N ... on HOST device D'");
            }
            if (m_rows.size() > m_rowsBefore)
            {
                m_listed.clear(); // another run follows in the same file
                m_rowsBefore = m_rows.size();
            }
            if (!m_listed.emplace(ParseCount(words[1]), *(on + 1)).second)
            {
                Fail("rank " + words[1] + " twice", "each rank once a run");
            }
            return true;
        }
        return false;
    }

    void SetKind(const std::string& name)
    {
        const auto kind = FindOperation(name);
        if (!kind)
        {
            Fail("operation '" + name + "'",
                 "one of all_reduce, all_gather, reduce_scatter, broadcast, reduce, alltoall, "
                 "sendrecv");
        }
        m_kind = kind;
    }

    void StartTable(const std::vector<std::string>& names)
    {
        FinishPending();
        m_hasHeader = true;
        m_csv = false;
        m_columns = static_cast<uint32_t>(names.size());
        m_size = m_time = m_inPlace = m_wrong = NOT_FOUND;
        m_op = m_ranksColumn = m_hostsColumn = m_perHostColumn = m_threadColumn = NOT_FOUND;
        for (uint32_t i = 0; i < m_columns; ++i)
        {
            if (names[i] == "size")
            {
                m_size = i;
            }
            else if (names[i] == "time")
            {
                (m_time == NOT_FOUND ? m_time : m_inPlace) = i;
            }
            else if ((names[i] == "#wrong" || names[i] == "wrong") && m_wrong == NOT_FOUND)
            {
                m_wrong = i;
            }
        }
    }

    void StartCsv(const std::vector<std::string>& names)
    {
        StartTable({});
        m_csv = true;
        m_columns = static_cast<uint32_t>(names.size());
        const auto column = [&names](std::initializer_list<const char*> known) {
            for (const char* name : known)
            {
                const auto it = std::find(names.begin(), names.end(), name);
                if (it != names.end())
                {
                    return static_cast<uint32_t>(it - names.begin());
                }
            }
            return NOT_FOUND;
        };
        m_size = column({"size_bytes"});
        m_time = column({"time_us", "time_us_median"});
        m_inPlace = column({"time_us_inplace"});
        m_wrong = column({"wrong"});
        m_op = column({"op"});
        m_ranksColumn = column({"ranks", "ngpus", "num_workers"});
        m_hostsColumn = column({"hosts", "nodes"});
        m_perHostColumn = column({"gpus_per_node", "devices_per_node"});
        m_threadColumn = column({"one_thread"});
        if (m_size == NOT_FOUND || m_time == NOT_FOUND)
        {
            Fail("a header without size_bytes or time_us", "both");
        }
    }

    uint32_t ParseCount(const std::string& text) const
    {
        if (!IsDigits(text) || text.size() > 9)
        {
            Fail("'" + text + "'", "a whole number");
        }
        return static_cast<uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
    }

    /** @return microseconds; 0 for a missing value */
    double ParseTime(const std::string& text) const
    {
        if (text == "N/A" || text.empty())
        {
            return 0;
        }
        char* end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        if (*end != '\0' || !std::isfinite(value) || value < 0)
        {
            Fail("'" + text + "'", "a time in microseconds or N/A");
        }
        return value;
    }

    /** Whole numbers count wrong elements; older logs print the largest error instead. */
    static uint64_t ParseWrong(const std::string& text)
    {
        return IsDigits(text) ? std::strtoull(text.c_str(), nullptr, 10) : 0;
    }

    void ParseRow(const std::vector<std::string>& cells, uint32_t line)
    {
        if (cells.size() != m_columns)
        {
            Fail("a row of " + std::to_string(cells.size()) + " columns",
                 std::to_string(m_columns) + " as in the header");
        }
        if (!IsDigits(cells[m_size]) || cells[m_size].size() > 18)
        {
            Fail("size '" + cells[m_size] + "'", "bytes");
        }
        Measurement row;
        row.file = m_name;
        row.line = line;
        row.ncclRelease = m_release;
        row.bytes = std::strtoull(cells[m_size].c_str(), nullptr, 10);
        row.outOfPlaceUs = ParseTime(cells[m_time]);
        row.inPlaceUs = m_inPlace == NOT_FOUND ? 0 : ParseTime(cells[m_inPlace]);
        row.wrongElements = m_wrong == NOT_FOUND ? 0 : ParseWrong(cells[m_wrong]);
        if (m_op != NOT_FOUND)
        {
            SetKind(cells[m_op]);
        }
        FillScale(row, cells);
        m_rows.push_back(row);
    }

    void FillScale(Measurement& row, const std::vector<std::string>& cells)
    {
        std::optional<uint32_t> ranks = m_ranks;
        std::optional<uint32_t> hosts = m_hosts;
        if (!m_listed.empty())
        {
            std::set<std::string> names;
            for (const auto& [rank, host] : m_listed)
            {
                names.insert(host);
            }
            ranks = static_cast<uint32_t>(m_listed.size());
            hosts = static_cast<uint32_t>(names.size());
        }
        if (m_ranksColumn != NOT_FOUND)
        {
            ranks = ParseCount(cells[m_ranksColumn]);
        }
        if (m_perHostColumn != NOT_FOUND && ranks)
        {
            const uint32_t perHost = ParseCount(cells[m_perHostColumn]);
            if (perHost == 0)
            {
                Fail("'0' ranks a host", "at least one");
            }
            hosts = (*ranks + perHost - 1) / perHost;
        }
        if (m_hostsColumn != NOT_FOUND)
        {
            hosts = ParseCount(cells[m_hostsColumn]);
        }
        // What the log says, else what the user says, else what the file's name says.
        const auto& guess = m_hints.kind ? m_hints.kind : m_fileKind;
        row.kind = Settle("operation", m_kind, m_kind ? std::nullopt : guess, "--op");
        row.ranks = Settle("number of ranks", ranks, m_hints.ranks, "--log=FILE@ranks=N@hosts=M");
        row.hosts = Settle("number of hosts", hosts, m_hints.hosts, "--log=FILE@ranks=N@hosts=M");
        if (row.hosts == 0 || row.ranks < row.hosts)
        {
            Fail(std::to_string(row.ranks) + " ranks on " + std::to_string(row.hosts) + " hosts",
                 "at least a rank a host");
        }
        if (m_threadColumn != NOT_FOUND)
        {
            row.oneThread = ParseCount(cells[m_threadColumn]) != 0;
            row.threadKnown = true;
        }
        else
        {
            row.oneThread = row.hosts == 1 && row.ranks > 1 && m_gpusPerThread == row.ranks;
            row.threadKnown = m_gpusPerThread > 0;
        }
    }

    /** @return what the log says, else the hint */
    template <typename Value>
    Value Settle(const std::string& what,
                 const std::optional<Value>& said,
                 const std::optional<Value>& hint,
                 const std::string& option) const
    {
        if (!said && !hint)
        {
            Fail("no " + what, option);
        }
        if (said && hint && *said != *hint)
        {
            Fail("another " + what + " than " + option + " says", "the same");
        }
        return said ? *said : *hint;
    }

    std::string m_name;                       //!< file, for messages
    NcclTestsHints m_hints;                   //!< from the user
    std::vector<std::string>* m_notes;        //!< of the reader's user; may be null
    std::optional<CollectiveKind> m_fileKind; //!< what the file's name says
    std::string m_release;                    //!< of NCCL, if the log says it
    std::vector<std::string> m_pending;       //!< cells of a row that was interrupted
    uint32_t m_pendingLine{0};                //!< where it began
    uint32_t m_line{0};                       //!< 1-based
    bool m_hasHeader{false};                  //!< of a table
    bool m_csv{false};                        //!< the current table is CSV
    uint32_t m_columns{0};                    //!< of the current table
    uint32_t m_size{NOT_FOUND};               //!< column
    uint32_t m_time{NOT_FOUND};               //!< column
    uint32_t m_inPlace{NOT_FOUND};            //!< column
    uint32_t m_wrong{NOT_FOUND};              //!< column
    uint32_t m_op{NOT_FOUND};                 //!< column
    uint32_t m_ranksColumn{NOT_FOUND};        //!< column
    uint32_t m_hostsColumn{NOT_FOUND};        //!< column
    uint32_t m_perHostColumn{NOT_FOUND};      //!< column
    uint32_t m_threadColumn{NOT_FOUND};       //!< column
    std::optional<CollectiveKind> m_kind;     //!< said by the log
    std::optional<uint32_t> m_ranks;          //!< said by the log
    std::optional<uint32_t> m_hosts;          //!< said by the log
    uint32_t m_gpusPerThread{0};              //!< said by the log; 0: not said
    std::map<uint32_t, std::string> m_listed; //!< host by rank
    std::vector<Measurement> m_rows;          //!< so far
    size_t m_rowsBefore{0};                   //!< rows when the list of ranks began
};

} // namespace

std::vector<Measurement> ReadNcclTestsText(const std::string& text,
                                           const std::string& name,
                                           const NcclTestsHints& hints,
                                           std::vector<std::string>* notes)
{
    return NcclTestsParser(name, hints, notes).Parse(text);
}

std::vector<Measurement> ReadNcclTests(const std::string& path,
                                       const NcclTestsHints& hints,
                                       std::vector<std::string>* notes)
{
    std::error_code ignored;
    std::ifstream in(path);
    if (!in || std::filesystem::is_directory(path, ignored))
    {
        throw InputError({path, 0, ""}, "no readable file", "output of an nccl-tests program");
    }
    std::ostringstream text;
    text << in.rdbuf();
    return ReadNcclTestsText(text.str(), path, hints, notes);
}

} // namespace echo
} // namespace ns3
