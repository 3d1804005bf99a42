// SPDX-License-Identifier: GPL-2.0-only
#include "echo-layout-cursor.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

uint32_t MemberInHost(const GroupLayout& layout, uint32_t host, uint32_t channel, uint32_t steps)
{
    const auto& members = layout.hosts[host];
    const auto& entries = layout.entries[host];
    const uint32_t entry = entries[channel % entries.size()];
    const HostRings& rings = *layout.rings[host];
    if (rings.IsEmpty())
    {
        return members[(entry + steps) % members.size()];
    }
    const size_t ring = channel % rings.places.size();
    return members[rings.places[ring][(rings.positions[ring][entry] + steps) % members.size()]];
}

uint32_t StepsInHost(const GroupLayout& layout, uint32_t channel, uint32_t member)
{
    const uint32_t host = layout.hostOf.at(member);
    const auto& members = layout.hosts[host];
    const auto& entries = layout.entries[host];
    const auto size = static_cast<uint32_t>(members.size());
    auto from = entries[channel % entries.size()];
    auto to =
        static_cast<uint32_t>(std::find(members.begin(), members.end(), member) - members.begin());
    const HostRings& rings = *layout.rings[host];
    if (!rings.IsEmpty())
    {
        const auto& positions = rings.positions[channel % rings.positions.size()];
        from = positions[from];
        to = positions[to];
    }
    return (to + size - from) % size;
}

LayoutCursor::LayoutCursor(const GroupLayout& layout, uint32_t channel, uint32_t member)
    : m_layout(&layout),
      m_channel(channel),
      m_host(layout.hostOf.at(member)),
      m_local(StepsInHost(layout, channel, member))
{
}

void LayoutCursor::Forward(uint32_t steps)
{
    m_local += steps;
    while (m_local >= m_layout->hosts[m_host].size())
    {
        m_local -= static_cast<uint32_t>(m_layout->hosts[m_host].size());
        m_host = m_host + 1 == m_layout->hosts.size() ? 0 : m_host + 1;
    }
}

void LayoutCursor::Backward(uint32_t steps)
{
    while (steps > m_local)
    {
        steps -= m_local + 1;
        m_host = m_host == 0 ? m_layout->GetHosts() - 1 : m_host - 1;
        m_local = static_cast<uint32_t>(m_layout->hosts[m_host].size()) - 1;
    }
    m_local -= steps;
}

uint32_t LayoutCursor::GetPosition() const
{
    size_t before = m_local;
    for (uint32_t host = 0; host < m_host; ++host)
    {
        before += m_layout->hosts[host].size();
    }
    return static_cast<uint32_t>(before);
}

std::vector<uint32_t> RingOrder(const GroupLayout& layout, uint32_t channel)
{
    std::vector<uint32_t> order;
    order.reserve(layout.hostOf.size());
    for (uint32_t index = 0; index < layout.GetHosts(); ++index)
    {
        const auto& host = layout.hosts[index];
        for (size_t i = 0; i < host.size(); ++i)
        {
            order.push_back(MemberInHost(layout, index, channel, static_cast<uint32_t>(i)));
        }
    }
    return order;
}

} // namespace echo
} // namespace ns3
