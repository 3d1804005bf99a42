// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_LAYOUT_CURSOR_H
#define ECHO_LAYOUT_CURSOR_H

#include "ns3/echo-placement.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace echo
{

/** @return the place in layout.hosts[host] at which a channel enters the host */
inline uint32_t EntryOf(const GroupLayout& layout, uint32_t host, uint32_t channel)
{
    const auto& entries = layout.entries[host];
    return entries[channel % entries.size()];
}

/**
 * A place in the ring of one channel: hosts in layout order, the members of a host rotated by the
 * channel, so that channel c enters a host of k members at its entry c mod k (GroupLayout::entries;
 * local member c mod k where every GPU has a NIC) and leaves it at the member before. Channels
 * thereby spread over the NICs of a host, whatever the hosts' sizes.
 *
 * Moves in either direction without a list of all members; @p layout outlives the cursor.
 */
class LayoutCursor
{
  public:
    /** At @p member. */
    LayoutCursor(const GroupLayout& layout, uint32_t channel, uint32_t member);

    /** @return the member here */
    uint32_t Get() const
    {
        const auto& host = m_layout->hosts[m_host];
        return host[(EntryOf(*m_layout, m_host, m_channel) + m_local) % host.size()];
    }

    /** Goes @p steps forwards, past the end to the beginning. */
    void Forward(uint32_t steps = 1);
    /** Goes @p steps backwards, past the beginning to the end. */
    void Backward(uint32_t steps = 1);

    /** @return members before this one, from the first host's entry on */
    uint32_t GetPosition() const;

  private:
    const GroupLayout* m_layout;
    uint32_t m_channel;
    uint32_t m_host;  //!< index into the layout's hosts
    uint32_t m_local; //!< steps from the host's entry
};

/** @return all members in ring order of a channel */
std::vector<uint32_t> RingOrder(const GroupLayout& layout, uint32_t channel);

} // namespace echo
} // namespace ns3

#endif /* ECHO_LAYOUT_CURSOR_H */
