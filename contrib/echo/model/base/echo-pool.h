// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_POOL_H
#define ECHO_POOL_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/** Items of a Pool, first in first out. */
struct PoolQueue
{
    static constexpr uint32_t NONE = 0xffffffff;

    uint32_t first{NONE}; //!< number of an item
    uint32_t last{NONE};  //!< where there is a first

    bool IsEmpty() const
    {
        return first == NONE;
    }
};

/**
 * Items by number, whose places are used again, the one given up last first. An item can be in one
 * queue at a time and needs no memory for that. References hold until an item is added.
 */
template <typename T>
class Pool
{
  public:
    /** @return its number until it is taken */
    uint32_t Add(T item)
    {
        ++m_count;
        if (m_free == PoolQueue::NONE)
        {
            m_places.push_back({std::move(item), PoolQueue::NONE});
            return static_cast<uint32_t>(m_places.size() - 1);
        }
        const uint32_t number = m_free;
        m_free = m_places[number].next;
        m_places[number].item = std::move(item);
        return number;
    }

    /** @return the item, which the pool has no more; to be called for one that is in no queue */
    T Take(uint32_t number)
    {
        Place& place = m_places[number];
        place.next = m_free;
        m_free = number;
        --m_count;
        return std::move(place.item);
    }

    T& operator[](uint32_t number)
    {
        return m_places[number].item;
    }

    const T& operator[](uint32_t number) const
    {
        return m_places[number].item;
    }

    void Append(PoolQueue& queue, uint32_t number)
    {
        m_places[number].next = PoolQueue::NONE;
        (queue.IsEmpty() ? queue.first : m_places[queue.last].next) = number;
        queue.last = number;
    }

    /** @return the first of a queue that is not empty; it leaves the queue, not the pool */
    uint32_t PopFirst(PoolQueue& queue)
    {
        const uint32_t number = queue.first;
        queue.first = m_places[number].next;
        return number;
    }

    /** @return what follows in the same queue, or PoolQueue::NONE */
    uint32_t GetNext(uint32_t number) const
    {
        return m_places[number].next;
    }

    /** @return items added and not taken */
    size_t GetCount() const
    {
        return m_count;
    }

    void Clear()
    {
        *this = Pool();
    }

  private:
    struct Place
    {
        T item;
        uint32_t next; //!< in its queue, or free
    };

    std::vector<Place> m_places; //!< of items, and free ones
    uint32_t m_free{PoolQueue::NONE};
    size_t m_count{0};
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_POOL_H */
