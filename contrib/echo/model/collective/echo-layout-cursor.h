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

/**
 * @return the member of the used host that a channel reaches @p steps (below the host's size) after
 *         it has entered the host: at its entry c mod k of k members (GroupLayout::entries; local
 *         member c mod k where every GPU has a NIC), so that channels spread over the NICs; from
 *         there in order of places, or of a ring of links (GroupLayout::rings)
 */
uint32_t MemberInHost(const GroupLayout& layout, uint32_t host, uint32_t channel, uint32_t steps);

/** @return the steps after which a channel reaches @p member on the member's host */
uint32_t StepsInHost(const GroupLayout& layout, uint32_t channel, uint32_t member);

/**
 * A place in the ring of one channel: hosts in layout order, the members of a host as in
 * MemberInHost.
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
        return MemberInHost(*m_layout, m_host, m_channel, m_local);
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
