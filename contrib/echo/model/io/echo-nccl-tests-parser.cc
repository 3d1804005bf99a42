// SPDX-License-Identifier: GPL-2.0-only
#include "echo-nccl-tests-parser.h"

#include "echo-input-file.h"
#include "echo-nccl-tests-words.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

namespace ns3
{
namespace echo
{

NcclTestsParser::NcclTestsParser(const std::string& name,
                                 const NcclTestsHints& hints,
                                 std::vector<std::string>* notes)
    : m_name(name), m_hints(hints), m_notes(notes), m_fileKind(FindOperationInFileName(name))
{
}

std::vector<Measurement> NcclTestsParser::Parse(const std::string& text)
{
    std::istringstream in(text.substr(SkipByteOrderMark(text)));
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

void NcclTestsParser::Fail(const std::string& found, const std::string& expected) const
{
    throw InputError({m_name, m_line, ""}, found, expected);
}

void NcclTestsParser::ParseLine(const std::string& printed)
{
    const std::string line = StripLauncherPrefix(printed);
    const size_t begin = line.find_first_not_of(" \t\r");
    const bool comment = begin != std::string::npos && line[begin] == '#';
    if (!comment && line.find("size_bytes") != std::string::npos)
    {
        StartCsv(SplitCommas(line));
        return;
    }
    if (m_columns.csv && !comment)
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

bool NcclTestsParser::ParseHeader(const std::string& line, const std::vector<std::string>& words)
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

bool NcclTestsParser::ParsePrintedRow(const std::vector<std::string>& words)
{
    if (words.size() < 3 || !IsDigits(words[0]) || !IsDigits(words[1]) || !IsElementType(words[2]))
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
    while (end < words.size() && (end < m_columns.time || IsValue(words[end])))
    {
        ++end;
    }
    const std::vector<std::string> cells(words.begin(),
                                         words.begin() + static_cast<std::ptrdiff_t>(end));
    if (cells.size() == m_columns.count)
    {
        ParseRow(cells, m_line);
    }
    else if (cells.size() > m_columns.count)
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

void NcclTestsParser::ContinueRow(const std::vector<std::string>& words)
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
    if (values > 0 && m_pending.size() + values == m_columns.count)
    {
        m_pending.insert(
            m_pending.end(), words.begin(), words.begin() + static_cast<std::ptrdiff_t>(values));
    }
    if (m_pending.size() == m_columns.count)
    {
        FinishPending();
    }
}

void NcclTestsParser::FinishPending()
{
    if (m_pending.empty())
    {
        return;
    }
    std::vector<std::string> cells;
    cells.swap(m_pending);
    const size_t whole = cells.size();
    if (whole > m_columns.time + size_t{2})
    {
        cells.resize(m_columns.count, "N/A");
        ParseRow(cells, m_pendingLine);
    }
    if (whole < m_columns.count)
    {
        Note(
            m_pendingLine,
            "a row of " + std::to_string(whole) + " of " + std::to_string(m_columns.count) +
                " columns " +
                (whole > m_columns.time + size_t{2} ? "counts without the others" : "is left out"));
    }
}

void NcclTestsParser::Note(uint32_t line, const std::string& text)
{
    if (m_notes)
    {
        m_notes->push_back(m_name + ":" + std::to_string(line) + ": " + text);
    }
}

void NcclTestsParser::StartTable(const std::vector<std::string>& names)
{
    FinishPending();
    m_hasHeader = true;
    m_columns = NcclTestsColumns::OfTable(names);
}

void NcclTestsParser::StartCsv(const std::vector<std::string>& names)
{
    FinishPending();
    m_hasHeader = true;
    m_columns = NcclTestsColumns::OfCsv(names);
    if (m_columns.size == NcclTestsColumns::NONE || m_columns.time == NcclTestsColumns::NONE)
    {
        Fail("a header without size_bytes or time_us", "both");
    }
}

uint32_t NcclTestsParser::ParseCount(const std::string& text) const
{
    if (!IsDigits(text) || text.size() > 9)
    {
        Fail("'" + text + "'", "a whole number");
    }
    return static_cast<uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
}

double NcclTestsParser::ParseTime(const std::string& text) const
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

uint64_t NcclTestsParser::ParseWrong(const std::string& text)
{
    return IsDigits(text) ? std::strtoull(text.c_str(), nullptr, 10) : 0;
}

void NcclTestsParser::CheckRate(const Measurement& row, const std::vector<std::string>& cells) const
{
    if (m_columns.rate >= cells.size() || row.outOfPlaceUs <= 0)
    {
        return;
    }
    // Printed with two decimals; a row whose columns are of another time is off by far more.
    const double printed = std::strtod(cells[m_columns.rate].c_str(), nullptr);
    const double rate = static_cast<double>(row.bytes) / (1000 * row.outOfPlaceUs);
    if (printed > 2 * rate + 0.01 || rate > 2 * printed + 0.01)
    {
        Fail("a time of " + cells[m_columns.time] + " us for " + std::to_string(row.bytes) +
                 " bytes beside an algbw of " + cells[m_columns.rate],
             "algbw = bytes / time in GB/s");
    }
}

void NcclTestsParser::ParseRow(const std::vector<std::string>& cells, uint32_t line)
{
    if (cells.size() != m_columns.count)
    {
        Fail("a row of " + std::to_string(cells.size()) + " columns",
             std::to_string(m_columns.count) + " as in the header");
    }
    if (!IsDigits(cells[m_columns.size]) || cells[m_columns.size].size() > 18)
    {
        Fail("size '" + cells[m_columns.size] + "'", "bytes");
    }
    Measurement row;
    row.file = m_name;
    row.line = line;
    row.ncclRelease = m_release;
    if (m_columns.release != NcclTestsColumns::NONE)
    {
        row.tunerRelease = NcclRelease(cells[m_columns.release]);
    }
    row.bytes = std::strtoull(cells[m_columns.size].c_str(), nullptr, 10);
    row.outOfPlaceUs = ParseTime(cells[m_columns.time]);
    CheckRate(row, cells);
    row.inPlaceUs =
        m_columns.inPlace == NcclTestsColumns::NONE ? 0 : ParseTime(cells[m_columns.inPlace]);
    if (m_columns.wrong != NcclTestsColumns::NONE)
    {
        const std::string& wrong = cells[m_columns.wrong];
        char* end = nullptr;
        std::strtod(wrong.c_str(), &end); // older releases print the largest error: 2e-07
        if (*end != '\0' && wrong != "N/A")
        {
            Fail("wrong '" + wrong + "'", "a number of elements, or N/A");
        }
        row.wrongElements = ParseWrong(wrong);
    }
    if (m_columns.op != NcclTestsColumns::NONE)
    {
        SetKind(cells[m_columns.op]);
    }
    FillScale(row, cells);
    m_rows.push_back(row);
}

} // namespace echo
} // namespace ns3
