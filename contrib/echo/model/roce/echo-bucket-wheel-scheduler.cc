// SPDX-License-Identifier: GPL-2.0-only
#include "echo-bucket-wheel-scheduler.h"

#include "ns3/assert.h"
#include "ns3/log.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoBucketWheelScheduler");
NS_OBJECT_ENSURE_REGISTERED(BucketWheelScheduler);

namespace
{

constexpr uint64_t WORD = 64; //!< buckets for each word of the bit map

/** For heaps whose top, and orders whose last, is the earliest event. */
struct IsLater
{
    bool operator()(const Scheduler::Event& a, const Scheduler::Event& b) const
    {
        return a.key > b.key;
    }
};

} // namespace

TypeId BucketWheelScheduler::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::BucketWheelScheduler")
            .SetParent<Scheduler>()
            .SetGroupName("Echo")
            .AddConstructor<BucketWheelScheduler>()
            .AddAttribute("BucketWidth",
                          "Time that a bucket spans, rounded up to a power of two of time steps; "
                          "about the time between two events.",
                          TimeValue(NanoSeconds(1)),
                          MakeTimeAccessor(&BucketWheelScheduler::m_width),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("Buckets",
                          "Number of buckets, rounded up to a power of two; with the width they "
                          "span the horizon.",
                          UintegerValue(8192),
                          MakeUintegerAccessor(&BucketWheelScheduler::m_wantedBuckets),
                          MakeUintegerChecker<uint32_t>(64, 1u << 24));
    return tid;
}

BucketWheelScheduler::BucketWheelScheduler()
{
}

BucketWheelScheduler::~BucketWheelScheduler()
{
}

void BucketWheelScheduler::NotifyConstructionCompleted()
{
    Scheduler::NotifyConstructionCompleted();
    m_shift = 0;
    while ((uint64_t{1} << m_shift) < static_cast<uint64_t>(m_width.GetTimeStep()))
    {
        ++m_shift;
    }
    uint64_t buckets = WORD;
    while (buckets < m_wantedBuckets)
    {
        buckets *= 2;
    }
    m_mask = buckets - 1;
    m_heads.assign(buckets, NONE);
    m_used.assign(buckets / WORD, 0);
}

bool BucketWheelScheduler::IsEmpty() const
{
    return m_now.empty() && m_late.empty() && m_inWheel == 0 && m_overflow.empty();
}

void BucketWheelScheduler::Insert(const Event& event)
{
    const uint64_t bucket = BucketOf(event.key.m_ts);
    if (bucket <= m_turn)
    {
        m_late.push_back(event);
        std::push_heap(m_late.begin(), m_late.end(), IsLater{});
    }
    else if (bucket - m_turn <= m_mask)
    {
        InsertNear(bucket, event);
    }
    else
    {
        m_overflow.emplace(event.key, event.impl);
    }
}

void BucketWheelScheduler::InsertNear(uint64_t bucket, const Event& event)
{
    if (m_free == NONE)
    {
        m_free = static_cast<uint32_t>(m_entries.size());
        m_entries.push_back({Event{}, NONE});
    }
    const uint64_t index = bucket & m_mask;
    const uint32_t entry = m_free;
    m_free = m_entries[entry].next;
    m_entries[entry] = {event, m_heads[index]};
    m_heads[index] = entry;
    m_used[index / WORD] |= uint64_t{1} << (index % WORD);
    ++m_inWheel;
}

uint64_t BucketWheelScheduler::FindNextBucket() const
{
    const uint64_t start = (m_turn + 1) & m_mask;
    uint64_t word = start / WORD;
    uint64_t bits = m_used[word] & (~uint64_t{0} << (start % WORD));
    while (bits == 0)
    {
        word = (word + 1) & (m_mask / WORD);
        bits = m_used[word];
    }
    const uint64_t index = word * WORD + static_cast<uint64_t>(__builtin_ctzll(bits));
    return m_turn + 1 + ((index - start) & m_mask);
}

void BucketWheelScheduler::TakeBucket(uint64_t bucket)
{
    const uint64_t index = bucket & m_mask;
    for (uint32_t entry = m_heads[index]; entry != NONE;)
    {
        Entry& taken = m_entries[entry];
        m_now.push_back(taken.event);
        const uint32_t next = taken.next;
        taken.next = m_free;
        m_free = entry;
        entry = next;
        --m_inWheel;
    }
    m_heads[index] = NONE;
    m_used[index / WORD] &= ~(uint64_t{1} << (index % WORD));
}

void BucketWheelScheduler::Advance()
{
    if (m_inWheel > 0)
    {
        m_turn = FindNextBucket();
        TakeBucket(m_turn);
    }
    else
    {
        m_turn = BucketOf(m_overflow.begin()->first.m_ts);
    }
    // The horizon has moved: what it reaches now comes into the wheel.
    while (!m_overflow.empty() && BucketOf(m_overflow.begin()->first.m_ts) - m_turn <= m_mask)
    {
        const Event event{m_overflow.begin()->second, m_overflow.begin()->first};
        m_overflow.erase(m_overflow.begin());
        const uint64_t bucket = BucketOf(event.key.m_ts);
        if (bucket == m_turn)
        {
            m_now.push_back(event);
        }
        else
        {
            InsertNear(bucket, event);
        }
    }
    if (m_now.size() > 1)
    {
        std::sort(m_now.begin(), m_now.end(), IsLater{});
    }
}

Scheduler::Event BucketWheelScheduler::PeekNext() const
{
    NS_ASSERT_MSG(!IsEmpty(), "no event to look at");
    if (IsLateNext())
    {
        return m_late.front();
    }
    if (!m_now.empty())
    {
        return m_now.back();
    }
    if (m_inWheel > 0)
    {
        uint32_t entry = m_heads[FindNextBucket() & m_mask];
        const Event* least = &m_entries[entry].event;
        while ((entry = m_entries[entry].next) != NONE)
        {
            if (m_entries[entry].event.key < least->key)
            {
                least = &m_entries[entry].event;
            }
        }
        return *least;
    }
    return Event{m_overflow.begin()->second, m_overflow.begin()->first};
}

Scheduler::Event BucketWheelScheduler::RemoveNext()
{
    NS_ASSERT_MSG(!IsEmpty(), "no event to remove");
    if (IsLateNext())
    {
        std::pop_heap(m_late.begin(), m_late.end(), IsLater{});
        const Event next = m_late.back();
        m_late.pop_back();
        return next;
    }
    if (m_now.empty())
    {
        Advance();
    }
    const Event next = m_now.back();
    m_now.pop_back();
    if (m_now.size() >= 2)
    {
        // The next event but one: where many are pending, it has left the processor's caches.
        const auto* impl = reinterpret_cast<const unsigned char*>(m_now[m_now.size() - 2].impl);
        __builtin_prefetch(impl);
        __builtin_prefetch(impl + 64);
    }
    return next;
}

void BucketWheelScheduler::Remove(const Event& event)
{
    for (std::vector<Event>* events : {&m_now, &m_late})
    {
        const auto found = std::find(events->begin(), events->end(), event);
        if (found != events->end())
        {
            events->erase(found);
            std::make_heap(m_late.begin(), m_late.end(), IsLater{});
            return;
        }
    }
    if (m_overflow.erase(event.key) > 0)
    {
        return;
    }
    const uint64_t index = BucketOf(event.key.m_ts) & m_mask;
    for (uint32_t* link = &m_heads[index]; *link != NONE; link = &m_entries[*link].next)
    {
        const uint32_t entry = *link;
        if (m_entries[entry].event == event)
        {
            *link = m_entries[entry].next;
            m_entries[entry].next = m_free;
            m_free = entry;
            --m_inWheel;
            if (m_heads[index] == NONE)
            {
                m_used[index / WORD] &= ~(uint64_t{1} << (index % WORD));
            }
            return;
        }
    }
    NS_ASSERT_MSG(false, "an event to remove that is not here");
}

} // namespace echo
} // namespace ns3
