// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_ROCE_AGENDA_H
#define ECHO_ROCE_AGENDA_H

#include "ns3/event-impl.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace ns3
{
namespace echo
{

class RoceDevice;

/**
 * What one device does next, and when.
 *
 * A device has a fixed set of slots (transmission done at port i, arrival at port i, timer), each
 * with at most one time. All that falls on one instant is handled in one ns-3 event, in slot
 * order. So the order of simultaneous events at a device is defined by the model and is the same
 * whichever ns-3 scheduler runs, and however many idle transmit-done slots are set; devices
 * themselves meet only over links, which take time. No ns-3 event finds nothing to do.
 *
 * A device that only packets can touch (a switch) may handle more than an instant in an event, as
 * conservative parallel simulators do (Chandy and Misra, CACM 1981). Let the event run at time t,
 * and let no link to the device be shorter than L. All devices' events still to come run at t or
 * later, so what they send arrives at t + L or later; what arrives earlier is on its link already.
 * So all slots before t + L can be handled now, in order, with the same outcome. The device is then
 * later than Simulator::Now(), which is why times are handed down and never asked for.
 *
 * Inside, a complete binary tree of minima: setting a slot costs the logarithm of their number at
 * most. The object is its own event. Times are picoseconds.
 */
class RoceAgenda final : public EventImpl
{
  public:
    static constexpr int64_t NEVER = std::numeric_limits<int64_t>::max();

    /** @param context ns-3's context of the events (the node's id) */
    RoceAgenda(RoceDevice* device, uint32_t context);

    /**
     * To be called before any Set.
     * @param lookahead ps for which nothing that other devices do from now on can reach this one;
     * what falls into that span is handled in one ns-3 event. 0: one event for each instant.
     */
    void Configure(uint32_t slots, int64_t lookahead);

    /** Sets, moves or (NEVER) clears a slot. @p time is later than what is handled now. */
    void Set(uint32_t slot, int64_t time)
    {
        size_t i = m_leaves + slot;
        m_tree[i] = time;
        while (i > 1)
        {
            i /= 2;
            const int64_t least = std::min(m_tree[2 * i], m_tree[2 * i + 1]);
            if (m_tree[i] == least)
            {
                break;
            }
            m_tree[i] = least;
        }
        if (!m_running && time < m_next)
        {
            Schedule(time);
        }
    }

    /** The device goes away: events still in the scheduler do nothing. */
    void Detach()
    {
        m_device = nullptr;
    }

  private:
    void Notify() override;
    void Schedule(int64_t time);

    RoceDevice* m_device;             //!< whose agenda
    uint32_t m_context;               //!< ns-3's context
    bool m_running{false};            //!< slots of one instant are being handled
    int64_t m_span{1};                //!< handled in one event, ps
    int64_t m_next{NEVER};            //!< time of the earliest ns-3 event outstanding
    size_t m_leaves{1};               //!< power of two, at least the number of slots
    std::vector<int64_t> m_tree;      //!< node i: least of 2i and 2i+1; leaves last; root is 1
    std::vector<int64_t> m_scheduled; //!< times of events outstanding, earliest last
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_ROCE_AGENDA_H */
