// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_NCCL_TESTS_PARSER_H
#define ECHO_NCCL_TESTS_PARSER_H

#include "echo-nccl-tests-columns.h"
#include "echo-nccl-tests-reader.h"

#include "ns3/echo-error.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** Reads one text; the columns of the current table and what was said above it. */
class NcclTestsParser
{
  public:
    NcclTestsParser(const std::string& name,
                    const NcclTestsHints& hints,
                    std::vector<std::string>* notes);
    std::vector<Measurement> Parse(const std::string& text);

  private:
    [[noreturn]] void Fail(const std::string& found, const std::string& expected) const;
    void ParseLine(const std::string& printed);
    /** The line that names the columns; @return whether it was one. */
    bool ParseHeader(const std::string& line, const std::vector<std::string>& words);
    /**
     * A row begins with size, count and type. Another program's words may cut it short (nccl-tests
     * prints the in-place columns later than the others): then the rest may follow on a line of its
     * own. @return whether the line begins a row
     */
    bool ParsePrintedRow(const std::vector<std::string>& words);
    /** Takes the values that an interrupted row lacks. */
    void ContinueRow(const std::vector<std::string>& words);
    /** An interrupted row counts if its out-of-place columns are there; else it is left out. */
    void FinishPending();
    void Note(uint32_t line, const std::string& text);
    /** Lines about the run; @return whether it was one. */
    bool ParseDescription(const std::vector<std::string>& words);
    void SetKind(const std::string& name);
    void StartTable(const std::vector<std::string>& names);
    void StartCsv(const std::vector<std::string>& names);
    uint32_t ParseCount(const std::string& text) const;
    /** @return microseconds; 0 for a missing value */
    /** @return whether a cell of 0 or 1 is 1 */
    bool ParseFlag(const std::string& text) const;
    /** Refuses a row whose time is not that of its own algbw. */
    void CheckRate(const Measurement& row, const std::vector<std::string>& cells) const;
    double ParseTime(const std::string& text) const;
    /** Whole numbers count wrong elements; older logs print the largest error instead. */
    static uint64_t ParseWrong(const std::string& text);
    void ParseRow(const std::vector<std::string>& cells, uint32_t line);
    void FillScale(Measurement& row, const std::vector<std::string>& cells);
    /** Takes ranks and hosts from the "Rank" lines, where there are any and none is missing. */
    void CountListed(std::optional<uint32_t>& ranks, std::optional<uint32_t>& hosts) const;
    /** Refuses a row whose busbw is of another operation or of other ranks than it is taken for. */
    void CheckBusRate(const Measurement& row, const std::vector<std::string>& cells) const;
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
    NcclTestsColumns m_columns;               //!< of the current table
    std::optional<CollectiveKind> m_kind;     //!< said by the log
    std::optional<uint32_t> m_ranks;          //!< said by the log
    std::optional<uint32_t> m_hosts;          //!< said by the log
    uint32_t m_gpusPerThread{0};              //!< said by the log; 0: not said
    std::map<uint32_t, std::string> m_listed; //!< host by rank
    std::vector<Measurement> m_rows;          //!< so far
    size_t m_rowsBefore{0};                   //!< rows when the list of ranks began
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_NCCL_TESTS_PARSER_H */
