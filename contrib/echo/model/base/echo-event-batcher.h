// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_EVENT_BATCHER_H
#define ECHO_EVENT_BATCHER_H

#include "ns3/event-impl.h"
#include "ns3/nstime.h"
#include "ns3/ptr.h"
#include "ns3/simulator.h"

#include <functional>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Schedules what often comes many at a time: items that are scheduled one after the other for the
 * same instant share one event of the simulator. They are handled in the order of scheduling. Event
 * objects are used again and again.
 */
template <typename Item>
class EventBatcher
{
  public:
    using Handler = std::function<void(const Item&)>;

    /** @param handler gets each item at its time */
    explicit EventBatcher(Handler handler) : m_handler(std::move(handler))
    {
    }

    EventBatcher(const EventBatcher&) = delete;
    EventBatcher& operator=(const EventBatcher&) = delete;

    void Schedule(Time delay, Item item)
    {
        const Time time = Simulator::Now() + delay;
        if (!m_latest || m_latest->time != time)
        {
            if (m_spare.empty())
            {
                m_spare.push_back(Create<Batch>(*this));
            }
            m_latest = std::move(m_spare.back());
            m_spare.pop_back();
            m_latest->time = time;
            Simulator::Schedule(delay, m_latest);
        }
        m_latest->items.push_back(std::move(item));
    }

  private:
    /** The items of one instant. */
    class Batch : public EventImpl
    {
      public:
        explicit Batch(EventBatcher& batcher) : m_batcher(batcher)
        {
        }

        Time time;
        std::vector<Item> items;

      private:
        void Notify() override
        {
            const Ptr<Batch> self(this);
            if (m_batcher.m_latest == self)
            {
                m_batcher.m_latest = nullptr; // what comes now for now has an event of its own
            }
            for (Item& item : items)
            {
                const Item handled = std::move(item);
                m_batcher.m_handler(handled);
            }
            items.clear();
            m_batcher.m_spare.push_back(self);
        }

        EventBatcher& m_batcher;
    };

    Handler m_handler;
    Ptr<Batch> m_latest;             //!< the last one, if its time has not come
    std::vector<Ptr<Batch>> m_spare; //!< to be used again
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_EVENT_BATCHER_H */
