// SPDX-License-Identifier: GPL-2.0-only
// Runs that cannot end well: what is out of reach, and deadlocks of pauses. And what did not
// happen.

#include "echo-buffer-wait.h"
#include "echo-packet-network.h"

#include "ns3/echo-units.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

namespace ns3
{
namespace echo
{

void PacketNetwork::Stop(const std::string& trouble)
{
    if (m_trouble.empty())
    {
        m_trouble = "at " + FormatTime(Simulator::Now()) + ": " + trouble;
        Simulator::Stop();
    }
}

bool PacketNetwork::CanArrive(const QueuePair& pair) const
{
    const auto& [source, destination, label] = pair.GetKey();
    std::vector<PortId> way;
    return pair.GetForth()[0]->IsUp() && pair.GetBack()[0]->IsUp() &&
           m_router->FindPath(source, destination, label, way) &&
           m_router->FindPath(destination, source, label, way);
}

void PacketNetwork::CheckReachability()
{
    if (m_failures->MayRecover() || !m_failures->IsAnyDown())
    {
        return;
    }
    std::vector<LinkFailures::Pair> flows;
    std::vector<LinkFailures::Pair> background;
    for (const auto& [key, pair] : m_queuePairs)
    {
        if (pair->IsUnfinished() && !CanArrive(*pair))
        {
            const bool isBackground = m_background.count(key) > 0;
            auto& all = isBackground ? background : flows;
            all.emplace_back(std::get<0>(key), std::get<1>(key));
            if (isBackground)
            {
                pair->Abandon(); // else it fills its NIC's link with retransmissions to the end
            }
        }
    }
    if (!background.empty())
    {
        m_lostBackground = m_failures->DescribeUnreachable(background);
    }
    if (!flows.empty())
    {
        Stop(m_failures->DescribeUnreachable(flows));
    }
}

void PacketNetwork::WatchForDeadlock()
{
    const std::vector<StoppedClass> cycle = FindBufferCycle(*m_fabric);
    const int64_t since = (Simulator::Now() - m_deadlockInterval).GetPicoSeconds();
    if (!cycle.empty() && std::all_of(cycle.begin(), cycle.end(), [=](const StoppedClass& s) {
            return s.port->GetPausedSince() <= since;
        }))
    {
        Simulator::Stop();
        return;
    }
    m_watch = Simulator::Schedule(m_deadlockInterval, &PacketNetwork::WatchForDeadlock, this);
}

std::string PacketNetwork::DescribeTrouble() const
{
    std::string text = m_trouble;
    const std::vector<StoppedClass> cycle = FindBufferCycle(*m_fabric);
    if (!cycle.empty())
    {
        text += "deadlock: " + std::to_string(cycle.size()) +
                " ports wait for buffer space in a circle\n" +
                DescribeBufferCycle(*m_fabric, cycle);
    }
    return text;
}

void PacketNetwork::ExplainZeros(NetworkTotals& totals) const
{
    const FabricPeaks peaks = m_fabric->GetPeaks();
    const std::string held = FormatBytes(peaks.heldBytes) + " of " +
                             FormatBytes(peaks.bufferBytes) + " of a switch's buffer";
    const std::string control = "congestion control '" + m_control->GetName() + "' ";
    if (totals.drops == 0)
    {
        const bool risky = m_parameters.randomLoss || m_parameters.failures;
        totals.zeroCounters["drops"] =
            !m_lossless ? "PFC is off, but no buffer was full: at most " + held + " were in use"
            : risky     ? "PFC keeps buffers from overflowing, and no packet met a failure or loss"
                        : "PFC keeps buffers from overflowing, and links lose nothing";
    }
    if (totals.pauses == 0)
    {
        totals.zeroCounters["pauses"] =
            m_lossless ? "no port came to its share (XOFF): at most " + held + " were in use"
                       : "PFC is off";
    }
    if (totals.ecnMarks == 0)
    {
        totals.zeroCounters["ecn_marks"] =
            m_control->UsesNotices() ? "no queue was marked by its thresholds: at most " +
                                           FormatBytes(peaks.queueBytes) + " waited at a port"
                                     : control + "takes no heed of marks: switches make none";
    }
    if (totals.cnps == 0)
    {
        totals.zeroCounters["cnps"] = !m_control->UsesNotices() ? control + "takes no CNPs"
                                      : totals.ecnMarks == 0    ? "no packet was marked"
                                                                : "no CNP has come to its sender";
    }
}

} // namespace echo
} // namespace ns3
