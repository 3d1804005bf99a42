// SPDX-License-Identifier: GPL-2.0-only
#include "echo-buffer-wait.h"

#include "echo-roce-fabric.h"
#include "echo-roce-switch.h"

#include "ns3/echo-units.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ns3
{
namespace echo
{

namespace
{

/** Port and class. */
using Stopped = std::pair<const RocePort*, uint32_t>;

/** What a stopped class of a port waits for: bytes at the other end, by port that they leave by. */
using Waits = std::map<uint32_t, std::pair<const RocePort*, uint64_t>>;

/** Finds stuck ports. */
class WaitGraph
{
  public:
    explicit WaitGraph(const RoceFabric& fabric)
    {
        for (uint32_t p = 0; p < fabric.GetPortCount(); ++p)
        {
            const Ptr<RocePort> port = fabric.GetPort(PortId(p));
            for (uint32_t c = 0; port && c < TrafficClass::MOST; ++c)
            {
                if (port->IsPaused(c))
                {
                    m_order.emplace_back(PeekPointer(port), c);
                    m_waits[m_order.back()] = FindWaits(*port, c);
                }
            }
        }
        while (RemoveSome())
        {
        }
    }

    std::vector<StoppedClass> FindCycle() const
    {
        std::vector<StoppedClass> path;
        if (m_waits.empty())
        {
            return path;
        }
        // Every stuck port waits for a stuck port: following the first leads into a circle.
        const auto first = std::find_if(m_order.begin(), m_order.end(), [this](const Stopped& s) {
            return m_waits.count(s) > 0;
        });
        Stopped at = *first;
        while (true)
        {
            const auto met = std::find_if(path.begin(), path.end(), [&](const StoppedClass& s) {
                return s.port == at.first;
            });
            if (met != path.end())
            {
                path.erase(path.begin(), met);
                return path;
            }
            path.push_back({at.first, at.second});
            at = NextStuck(at);
        }
    }

  private:
    static Waits FindWaits(const RocePort& port, uint32_t trafficClass)
    {
        Waits waits;
        const RocePort& ingress = *port.GetPeer();
        for (uint32_t p = 0; p < ingress.GetOwner()->GetPortCount(); ++p)
        {
            const RocePort& egress = ingress.GetOwner()->GetPort(p);
            const uint64_t bytes = egress.GetData().CountFrom(ingress.GetIndex(), trafficClass);
            if (bytes > 0)
            {
                waits[p] = {&egress, bytes};
            }
        }
        return waits;
    }

    bool IsStuck(const Stopped& stopped, const Waits& waits) const
    {
        const auto* device = dynamic_cast<const RoceSwitch*>(stopped.first->GetPeer()->GetOwner());
        uint64_t bytes = 0;
        for (const auto& [number, wait] : waits)
        {
            bytes += m_waits.count({wait.first, stopped.second}) > 0 ? wait.second : 0;
        }
        return device &&
               device->StaysPaused(stopped.first->GetPeer()->GetIndex(), stopped.second, bytes);
    }

    /** Takes ports out that are not stuck. @return false if there are none */
    bool RemoveSome()
    {
        const size_t before = m_waits.size();
        for (const Stopped& stopped : m_order)
        {
            const auto found = m_waits.find(stopped);
            if (found != m_waits.end() && !IsStuck(stopped, found->second))
            {
                m_waits.erase(found);
            }
        }
        return m_waits.size() < before;
    }

    Stopped NextStuck(const Stopped& from) const
    {
        for (const auto& [number, wait] : m_waits.at(from))
        {
            if (m_waits.count({wait.first, from.second}) > 0)
            {
                return {wait.first, from.second};
            }
        }
        return from;
    }

    std::vector<Stopped> m_order;     //!< all stopped ones, in order of their numbers
    std::map<Stopped, Waits> m_waits; //!< stuck ones; looked up only, as its keys are addresses
};

} // namespace

std::vector<StoppedClass> FindBufferCycle(const RoceFabric& fabric)
{
    return WaitGraph(fabric).FindCycle();
}

std::string DescribeBufferCycle(const RoceFabric& fabric, const std::vector<StoppedClass>& cycle)
{
    const auto name = [&](const RocePort& port) {
        const LinkRecord link = fabric.GetTopology().DescribeLink(fabric.NumberOf(port));
        return link.from + " -> " + link.to;
    };
    std::string text;
    for (size_t i = 0; i < cycle.size(); ++i)
    {
        const RocePort& port = *cycle[i].port;
        text += "  " + name(port) + " (class " + std::to_string(cycle[i].trafficClass) +
                ", stopped since " +
                FormatTime(TimeStep(static_cast<uint64_t>(port.GetPausedSince()))) + ", " +
                std::to_string(port.GetData().GetBytes()) + " B queued) waits for " +
                name(*cycle[(i + 1) % cycle.size()].port) + "\n";
    }
    return text;
}

} // namespace echo
} // namespace ns3
