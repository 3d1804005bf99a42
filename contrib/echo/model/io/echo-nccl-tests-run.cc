// SPDX-License-Identifier: GPL-2.0-only
// What a log of nccl-tests says of its run: operation, ranks, hosts, threads, release.

#include "echo-nccl-tests-parser.h"
#include "echo-nccl-tests-words.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace ns3
{
namespace echo
{

bool NcclTestsParser::ParseDescription(const std::vector<std::string>& words)
{
    if (words.size() >= 2 &&
        (words[0] == "ngpus:" || words[0] == "nodes:" || words[0] == "op:" || words[0] == "nccl:"))
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
        // "NCCL version 2.16.5+cuda11.8", "nccl-library=22902", AMD's "rccl-library=22707"
        const bool library =
            word.compare(0, 13, "nccl-library=") == 0 || word.compare(0, 13, "rccl-library=") == 0;
        if (library ||
            (&word != &words.front() && *(&word - 1) == "version" && words.front() == "NCCL"))
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
        const bool named = on != words.end() && on + 1 != words.end();
        if (m_rows.size() > m_rowsBefore)
        {
            m_listed.clear(); // another run follows in the same file
            m_rowsBefore = m_rows.size();
        }
        if (!m_listed.emplace(ParseCount(words[1]), named ? *(on + 1) : "").second)
        {
            Fail("rank " + words[1] + " twice", "each rank once a run");
        }
        return true;
    }
    return false;
}

bool NcclTestsParser::ParseFlag(const std::string& text) const
{
    if (text != "0" && text != "1")
    {
        Fail("'" + text + "'", "0 or 1");
    }
    return text == "1";
}

void NcclTestsParser::SetKind(const std::string& name)
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

void NcclTestsParser::CountListed(std::optional<uint32_t>& ranks,
                                  std::optional<uint32_t>& hosts) const
{
    if (m_listed.empty())
    {
        return;
    }
    std::set<std::string> names;
    for (const auto& [rank, host] : m_listed)
    {
        names.insert(host);
    }
    const auto listed = static_cast<uint32_t>(m_listed.size());
    const uint32_t last = m_listed.rbegin()->first;
    if (last >= listed) // published logs leave ranks out
    {
        if (!m_hints.ranks || !m_hints.hosts || last >= *m_hints.ranks)
        {
            Fail(std::to_string(listed) + " 'Rank' lines up to rank " + std::to_string(last),
                 "one for each rank, or --log=FILE@ranks=N@hosts=M of more ranks");
        }
        return;
    }
    ranks = listed;
    if (names.count("") > 0)
    {
        return; // "Rank 0 ... device 0" without "on HOST"
    }
    hosts = static_cast<uint32_t>(names.size());
    // Hosts are NVLink domains: of GB200 NVL72 several operating systems share one.
    if (m_hints.hosts && *m_hints.hosts < *hosts && *hosts % *m_hints.hosts == 0)
    {
        hosts = m_hints.hosts;
    }
}

void NcclTestsParser::CheckBusRate(const Measurement& row,
                                   const std::vector<std::string>& cells) const
{
    if (m_columns.rate >= cells.size() || m_columns.bus >= cells.size())
    {
        return;
    }
    // Both are printed with two decimals; half a percent more for tools that round otherwise.
    constexpr double ROUNDING = 0.006;
    constexpr double SLACK = 1.005;
    const double algorithm = std::strtod(cells[m_columns.rate].c_str(), nullptr);
    const double bus = std::strtod(cells[m_columns.bus].c_str(), nullptr);
    const double factor = BusBandwidthFactor(row.kind, row.ranks);
    const bool above = bus - ROUNDING > factor * SLACK * (algorithm + ROUNDING);
    const bool below = (bus + ROUNDING) * SLACK < factor * (algorithm - ROUNDING);
    if (row.ranks > 1 && (above || below))
    {
        Fail("a busbw of " + cells[m_columns.bus] + " beside an algbw of " + cells[m_columns.rate],
             std::to_string(factor) + " times it, as of " + ToString(row.kind) + " among " +
                 std::to_string(row.ranks) + " ranks");
    }
}

void NcclTestsParser::FillScale(Measurement& row, const std::vector<std::string>& cells)
{
    std::optional<uint32_t> ranks = m_ranks;
    std::optional<uint32_t> hosts = m_hosts;
    CountListed(ranks, hosts);
    if (m_columns.ranks != NcclTestsColumns::NONE)
    {
        ranks = ParseCount(cells[m_columns.ranks]);
    }
    if (m_columns.perHost != NcclTestsColumns::NONE && ranks)
    {
        const uint32_t perHost = ParseCount(cells[m_columns.perHost]);
        if (perHost == 0)
        {
            Fail("'0' ranks a host", "at least one");
        }
        hosts = (*ranks + perHost - 1) / perHost;
    }
    if (m_columns.hosts != NcclTestsColumns::NONE)
    {
        const uint32_t said = ParseCount(cells[m_columns.hosts]);
        if (m_columns.perHost != NcclTestsColumns::NONE && hosts && *hosts != said)
        {
            Fail(std::to_string(said) + " hosts for " + std::to_string(*ranks) + " ranks, " +
                     cells[m_columns.perHost] + " a host",
                 std::to_string(*hosts));
        }
        hosts = said;
    }
    // What the log says, else what the user says, else what the file's name says.
    const auto& guess = m_hints.kind ? m_hints.kind : m_fileKind;
    const bool isGuess = m_kind && !m_hints.isKindOfLog;
    row.kind = Settle("operation", m_kind, isGuess ? std::nullopt : guess, "--op");
    row.ranks = Settle("number of ranks", ranks, m_hints.ranks, "--log=FILE@ranks=N@hosts=M");
    row.hosts = Settle("number of hosts", hosts, m_hints.hosts, "--log=FILE@ranks=N@hosts=M");
    if (row.hosts == 0 || row.ranks < row.hosts)
    {
        Fail(std::to_string(row.ranks) + " ranks on " + std::to_string(row.hosts) + " hosts",
             "at least a rank a host");
    }
    CheckBusRate(row, cells);
    row.singleCall =
        m_columns.single != NcclTestsColumns::NONE && ParseFlag(cells[m_columns.single]);
    if (m_columns.thread != NcclTestsColumns::NONE)
    {
        row.oneThread = ParseFlag(cells[m_columns.thread]);
        row.threadKnown = true;
    }
    else
    {
        row.oneThread = row.hosts == 1 && row.ranks > 1 && m_gpusPerThread == row.ranks;
        row.threadKnown = m_gpusPerThread > 0;
    }
}

} // namespace echo
} // namespace ns3
