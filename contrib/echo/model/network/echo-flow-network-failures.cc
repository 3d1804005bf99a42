// SPDX-License-Identifier: GPL-2.0-only
// Links of a flow network that are cut, return, or change their rate.

#include "echo-flow-network.h"

#include "ns3/echo-error.h"
#include "ns3/echo-units.h"
#include "ns3/simulator.h"

#include <utility>

namespace ns3
{
namespace echo
{

/** Link events on a flow network: a link that is cut has no capacity. */
class FlowNetwork::Failures : public LinkFailures
{
  public:
    explicit Failures(FlowNetwork& network)
        : LinkFailures(network.m_linkEvents, network.m_rerouteDelay, network.m_router),
          m_network(network)
    {
    }

  private:
    template <typename F>
    void ForBothWays(LinkId link, F change)
    {
        for (const uint32_t side : {0u, 1u})
        {
            change(m_network.m_streams.GetLink(PortId(2 * link.Get() + side)));
        }
        m_network.OnLinksChanged();
    }

    void Cut(LinkId link) override
    {
        ForBothWays(link, [](FlowLink& way) { way.capacity = 0; });
    }

    void Restore(LinkId link) override
    {
        ForBothWays(link, [](FlowLink& way) { way.capacity = way.rate; });
    }

    void ChangeRate(LinkId link, DataRate rate) override
    {
        ForBothWays(link, [rate](FlowLink& way) {
            way.capacity = way.capacity == 0 ? 0 : rate.GetBitRate();
            way.peakShare = way.GetPeakShare();
            way.peakRate = 0;
            way.rate = rate.GetBitRate();
        });
    }

    void SetLoss(LinkId, double) override
    {
    }

    void OnRerouted() override
    {
        m_network.Reroute();
    }

    FlowNetwork& m_network;
};

void FlowNetwork::SetLinkEvents(std::vector<LinkEvent> events)
{
    for (const LinkEvent& event : events)
    {
        if (event.kind == LinkEvent::Kind::LOSS)
        {
            throw UnsupportedError("loss on " + event.subject +
                                   ": flows have no packets to lose; take fidelity packet");
        }
    }
    m_linkEvents = std::move(events);
}

void FlowNetwork::StartFailures()
{
    if (!m_linkEvents.empty())
    {
        m_streams.AllowCuts();
        m_failures = std::make_unique<Failures>(*this);
    }
}

void FlowNetwork::OnLinksChanged()
{
    m_rates.TouchAll();
    ScheduleUpdate(Simulator::Now().GetPicoSeconds());
}

void FlowNetwork::Reroute()
{
    for (uint32_t stream = 0; stream < m_streams.GetCount(); ++stream)
    {
        m_streams.Reroute(stream, Simulator::Now().GetPicoSeconds());
    }
    OnLinksChanged();
    CheckReachability();
}

void FlowNetwork::CheckReachability()
{
    if (!m_failures || m_failures->MayRecover() || !m_failures->IsAnyDown() || !m_trouble.empty())
    {
        return;
    }
    std::vector<LinkFailures::Pair> flows;
    std::vector<LinkFailures::Pair> background;
    for (const uint32_t stream : m_streams.GetActive())
    {
        if (m_streams.CountHops(stream) == 0)
        {
            const Message& head = m_transfers.Get(m_streams.Get(stream).queue.first);
            auto& all = head.isBackground ? background : flows;
            all.push_back(m_streams.GetEnds(stream));
        }
    }
    if (!background.empty())
    {
        m_lostBackground = m_failures->DescribeUnreachable(background);
    }
    if (!flows.empty())
    {
        m_trouble =
            "at " + FormatTime(Simulator::Now()) + ": " + m_failures->DescribeUnreachable(flows);
        Simulator::Stop();
    }
}

std::string FlowNetwork::DescribeTrouble() const
{
    return m_trouble;
}

} // namespace echo
} // namespace ns3
