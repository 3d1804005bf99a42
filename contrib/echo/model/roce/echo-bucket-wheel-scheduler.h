// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_BUCKET_WHEEL_SCHEDULER_H
#define ECHO_BUCKET_WHEEL_SCHEDULER_H

#include "ns3/nstime.h"
#include "ns3/scheduler.h"

#include <cstdint>
#include <map>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * An event list for packet networks: a wheel of buckets of equal width for the near future
 * (calendar queue of fixed shape, Brown, CACM 1988), a balanced tree for what lies beyond its
 * horizon. The order of events is exactly MapScheduler's: by time, then by uid.
 *
 * Inserting into a bucket and finding the next one in use cost the same however many events there
 * are; only the bucket whose turn it is has its events sorted. Any times are allowed;
 * speed wants most delays between one bucket and the horizon. Set by
 * `GlobalValue::Bind("SchedulerType", ...)`, like ns-3's own.
 */
class BucketWheelScheduler : public Scheduler
{
  public:
    static TypeId GetTypeId();
    BucketWheelScheduler();
    ~BucketWheelScheduler() override;

    void Insert(const Event& event) override;
    bool IsEmpty() const override;
    Event PeekNext() const override;
    Event RemoveNext() override;
    void Remove(const Event& event) override;

  protected:
    void NotifyConstructionCompleted() override;

  private:
    static constexpr uint32_t NONE = UINT32_MAX; //!< end of a list

    /** An event in a bucket. */
    struct Entry
    {
        Event event;
        uint32_t next; //!< in its bucket, or in the list of free entries
    };

    uint64_t BucketOf(uint64_t time) const
    {
        return time >> m_shift;
    }

    /** @return true if the next event is one of m_late */
    bool IsLateNext() const
    {
        return !m_late.empty() && (m_now.empty() || m_late.front().key < m_now.back().key);
    }

    void InsertNear(uint64_t bucket, const Event& event);
    /** Moves the turn to the next bucket in use; the present one is empty. */
    void Advance();
    /** @return number of the next bucket in use after the present one; the wheel is not empty */
    uint64_t FindNextBucket() const;
    void TakeBucket(uint64_t bucket);

    Time m_width;                              //!< attribute BucketWidth
    uint32_t m_wantedBuckets{8192};            //!< attribute Buckets
    uint32_t m_shift{10};                      //!< a bucket is 2^shift time steps wide
    uint64_t m_mask{0};                        //!< buckets - 1
    uint64_t m_turn{0};                        //!< number of the bucket whose turn it is
    uint64_t m_inWheel{0};                     //!< events in buckets after it
    std::vector<Event> m_now;                  //!< taken from the bucket of the turn; earliest last
    std::vector<Event> m_late;                 //!< heap: came when their bucket had its turn
    std::vector<uint32_t> m_heads;             //!< by bucket: first entry
    std::vector<uint64_t> m_used;              //!< a bit for each bucket
    std::vector<Entry> m_entries;              //!< pool
    uint32_t m_free{NONE};                     //!< first free entry
    std::map<EventKey, EventImpl*> m_overflow; //!< beyond the horizon
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_BUCKET_WHEEL_SCHEDULER_H */
