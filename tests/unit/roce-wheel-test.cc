// SPDX-License-Identifier: GPL-2.0-only
// The bucket wheel gives the same order as ns-3's MapScheduler, whatever is inserted and removed.

#include "ns3/echo-bucket-wheel-scheduler.h"
#include "ns3/event-impl.h"
#include "ns3/global-value.h"
#include "ns3/map-scheduler.h"
#include "ns3/object-factory.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

using namespace ns3;
using namespace ns3::echo;

namespace
{

/** What delays between an event and those it schedules look like. */
struct Shape
{
    const char* name;
    uint64_t shortest;
    uint64_t longest;
    uint32_t pending;
    int64_t width; //!< BucketWidth, ps
    uint32_t buckets;
};

std::ostream& operator<<(std::ostream& os, const Shape& shape)
{
    return os << shape.name;
}

class WheelTest : public testing::TestWithParam<Shape>
{
};

/** An event for comparing: schedulers never look into it. */
Scheduler::Event MakeEvent(uint64_t time, uint32_t uid)
{
    Scheduler::Event event;
    event.impl = nullptr;
    event.key.m_ts = time;
    event.key.m_uid = uid;
    event.key.m_context = uid % 7;
    return event;
}

TEST_P(WheelTest, SameOrderAsMapScheduler)
{
    const Shape shape = GetParam();
    Ptr<Scheduler> map = CreateObject<MapScheduler>();
    Ptr<Scheduler> wheel =
        CreateObjectWithAttributes<BucketWheelScheduler>("BucketWidth",
                                                         TimeValue(PicoSeconds(shape.width)),
                                                         "Buckets",
                                                         UintegerValue(shape.buckets));
    std::mt19937_64 random(12345);
    std::vector<Scheduler::Event> pending; // in no order
    uint64_t now = 0;
    uint32_t uid = 4;
    for (int step = 0; step < 60000; ++step)
    {
        ASSERT_EQ(wheel->IsEmpty(), pending.empty());
        ASSERT_EQ(map->IsEmpty(), pending.empty());
        const uint64_t dice = random() % 100;
        const bool filling = pending.size() < shape.pending && step < 50000;
        if (pending.empty() || (dice < (filling ? 70u : 40u) && step < 55000))
        {
            // Delays of all magnitudes between the shortest and the longest; some equal.
            const uint64_t span = shape.longest - shape.shortest + 1;
            const uint64_t delay = shape.shortest + (random() % span >> (random() % 24));
            const Scheduler::Event event = MakeEvent(now + delay / 4 * 4, uid++);
            map->Insert(event);
            wheel->Insert(event);
            pending.push_back(event);
        }
        else if (dice < 90)
        {
            const Scheduler::Event peeked = wheel->PeekNext();
            const Scheduler::Event next = wheel->RemoveNext();
            const Scheduler::Event expected = map->RemoveNext();
            ASSERT_EQ(next.key.m_uid, expected.key.m_uid);
            ASSERT_EQ(next.key.m_ts, expected.key.m_ts);
            ASSERT_EQ(next.key.m_context, expected.key.m_context);
            ASSERT_EQ(peeked.key.m_uid, expected.key.m_uid);
            now = next.key.m_ts;
            pending.erase(std::find(pending.begin(), pending.end(), expected));
        }
        else
        {
            const size_t victim = random() % pending.size();
            map->Remove(pending[victim]);
            wheel->Remove(pending[victim]);
            pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(victim));
        }
    }
    while (!map->IsEmpty())
    {
        ASSERT_EQ(wheel->RemoveNext().key.m_uid, map->RemoveNext().key.m_uid);
    }
    EXPECT_TRUE(wheel->IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Delays,
    WheelTest,
    testing::Values(Shape{"InTheWheel", 0, 8000000, 200, 1000, 8192},
                    Shape{"BeyondTheHorizon", 0, 1000000000000, 300, 1000, 8192},
                    Shape{"InOneBucket", 0, 900, 500, 1024, 64},
                    Shape{"OneStepBuckets", 0, 500, 50, 1, 64},
                    Shape{"Few", 0, 100000000, 3, 1000, 128},
                    Shape{"WideBuckets", 0, 100000000000, 100, 1000000, 64}),
    [](const testing::TestParamInfo<Shape>& info) { return std::string(info.param.name); });

TEST(Wheel, RunsASimulation)
{
    GlobalValue::Bind("SchedulerType", StringValue("ns3::echo::BucketWheelScheduler"));
    std::vector<int> order;
    const auto note = [&order](int what) { return [&order, what] { order.push_back(what); }; };
    Simulator::Schedule(Seconds(1), note(5));
    Simulator::Schedule(NanoSeconds(3), note(2));
    const EventId removed = Simulator::Schedule(NanoSeconds(4), note(99));
    const EventId cancelled = Simulator::Schedule(Seconds(2), note(98));
    Simulator::Schedule(NanoSeconds(3), note(3));
    Simulator::ScheduleNow(note(1));
    Simulator::Schedule(NanoSeconds(5), [&] {
        order.push_back(4);
        Simulator::ScheduleNow(note(40));
        Simulator::Schedule(Seconds(3), note(6));
    });
    Simulator::Remove(removed);
    Simulator::Cancel(cancelled);
    Simulator::Run();
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4, 40, 5, 6}));
    EXPECT_EQ(Simulator::Now(), Seconds(3) + NanoSeconds(5));
    Simulator::Destroy();
    GlobalValue::Bind("SchedulerType", StringValue("ns3::MapScheduler"));
}

} // namespace
