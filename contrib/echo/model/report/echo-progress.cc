// SPDX-License-Identifier: GPL-2.0-only
#include "echo-progress.h"

#include "echo-text-table.h"

#include "ns3/echo-units.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include <unistd.h>

namespace ns3
{
namespace echo
{

namespace
{

constexpr double INTERVAL_SECONDS = 0.2; //!< between two looks of the line
constexpr double QUIET_SECONDS = 1.0;    //!< short runs show nothing

double SteadySeconds()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

Progress::WriteFunction TerminalWriter()
{
    if (isatty(STDERR_FILENO) == 0)
    {
        return {};
    }
    return [](const std::string& text) {
        std::fputs(text.c_str(), stderr);
        std::fflush(stderr);
    };
}

std::string TwoDigits(uint64_t number)
{
    return (number < 10 ? "0" : "") + std::to_string(number);
}

} // namespace

std::string FormatSeconds(double seconds)
{
    const auto whole = static_cast<uint64_t>(std::min(std::max(seconds, 0.0), 1e9) + 0.5);
    if (whole < 60)
    {
        return std::to_string(whole) + " s";
    }
    if (whole < 3600)
    {
        return std::to_string(whole / 60) + " min " + TwoDigits(whole % 60) + " s";
    }
    return std::to_string(whole / 3600) + " h " + TwoDigits(whole / 60 % 60) + " min";
}

Progress::Progress(RecordSink* next, WorkFunction work)
    : Progress(next, std::move(work), SteadySeconds, TerminalWriter())
{
}

Progress::Progress(RecordSink* next, WorkFunction work, ClockFunction clock, WriteFunction write)
    : m_next(next),
      m_work(std::move(work)),
      m_clock(std::move(clock)),
      m_write(std::move(write)),
      m_begin(m_clock()),
      m_shown(m_begin + QUIET_SECONDS - INTERVAL_SECONDS)
{
}

Progress::~Progress()
{
    Clear();
}

void Progress::Poll(Time simulated)
{
    if (!m_write)
    {
        return;
    }
    const double now = m_clock();
    if (now - m_shown >= INTERVAL_SECONDS)
    {
        m_shown = now;
        Show(simulated, now);
    }
}

void Progress::Show(Time simulated, double now)
{
    const auto [done, all] = m_work();
    std::string line = FormatTime(simulated) + " simulated";
    if (all > 0)
    {
        const double fraction = std::min(1.0, static_cast<double>(done) / static_cast<double>(all));
        line += ", " + FormatFixed(100 * fraction, 1) + " % of operators done";
        if (fraction > 0)
        {
            line +=
                ", about " + FormatSeconds((now - m_begin) * (1 - fraction) / fraction) + " left";
        }
    }
    const size_t width = line.size();
    if (width < m_width)
    {
        line.append(m_width - width, ' ');
    }
    m_width = width;
    m_write("\r" + line);
}

void Progress::Clear()
{
    if (m_write && m_width > 0)
    {
        m_write("\r" + std::string(m_width, ' ') + "\r");
        m_width = 0;
    }
}

void Progress::OnBegin(const std::vector<SimulatedRank>& ranks)
{
    if (m_next)
    {
        m_next->OnBegin(ranks);
    }
}

void Progress::OnOperator(const OperatorRecord& record)
{
    if (m_next)
    {
        m_next->OnOperator(record);
    }
    Poll(record.end);
}

void Progress::OnCollective(const CollectiveRecord& record)
{
    if (m_next)
    {
        m_next->OnCollective(record);
    }
    Poll(record.end);
}

void Progress::OnFlow(const FlowRecord& record)
{
    if (m_next)
    {
        m_next->OnFlow(record);
    }
    Poll(record.end);
}

void Progress::OnLink(const LinkRecord& record)
{
    Clear();
    if (m_next)
    {
        m_next->OnLink(record);
    }
}

void Progress::OnRank(const RankRecord& record)
{
    Clear();
    if (m_next)
    {
        m_next->OnRank(record);
    }
}

void Progress::OnRun(const RunRecord& record)
{
    Clear();
    if (m_next)
    {
        m_next->OnRun(record);
    }
}

} // namespace echo
} // namespace ns3
