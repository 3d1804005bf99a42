// SPDX-License-Identifier: GPL-2.0-only

#include "error-message.h"

#include "ns3/echo-comm-group.h"
#include "ns3/echo-error.h"
#include "ns3/echo-event-batcher.h"
#include "ns3/echo-pool.h"
#include "ns3/echo-units.h"
#include "ns3/echo-yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;
using testing::HasSubstr;

namespace
{

TEST(Units, BytesAreBinaryOrDecimalAsWritten)
{
    EXPECT_EQ(ParseBytes("64MiB"), 67108864u);
    EXPECT_EQ(ParseBytes("4 MB"), 4000000u);
    EXPECT_EQ(ParseBytes("1.5GiB"), 1610612736u);
    EXPECT_EQ(ParseBytes("0"), 0u);
    EXPECT_EQ(ParseBytes("9007199254740993"), 9007199254740993u); // above 2^53
    for (const char* bad :
         {"", "MiB", "-1", "1.5", "64mib", "1e6", "0x10", "nan", "1.2.3KB", "64 MiB x"})
    {
        EXPECT_THROW(ParseBytes(bad), InputError) << bad;
    }
}

TEST(Units, SizesAreListsOrSweeps)
{
    EXPECT_THAT(ParseByteSizes("1KiB"), testing::ElementsAre(1024));
    EXPECT_THAT(ParseByteSizes("1KiB,3"), testing::ElementsAre(1024, 3));
    EXPECT_THAT(ParseByteSizes("1KiB:5KiB"), testing::ElementsAre(1024, 2048, 4096));
    EXPECT_THAT(ParseByteSizes("1:1000:10"), testing::ElementsAre(1, 10, 100, 1000));
    // The last size may be the largest that there is; the sweep must end, not wrap.
    EXPECT_EQ(ParseByteSizes("1:9000000000000000000:2").size(), 63u);
    for (const char* bad : {"", "1KiB,", "0:1KiB", "2KiB:1KiB", "1:2:1", "1:2:x", ":", "1:"})
    {
        EXPECT_THROW(ParseByteSizes(bad), InputError) << bad;
    }
}

TEST(Units, RatesAreDecimalBits)
{
    EXPECT_EQ(ParseRate("400Gbps").GetBitRate(), 400000000000u);
    EXPECT_EQ(ParseRate("3.6Tbps").GetBitRate(), 3600000000000u); // ns-3 itself aborts on this
    EXPECT_EQ(ParseRate("50GB/s").GetBitRate(), 400000000000u);
    for (const char* bad : {"", "400", "0Gbps", "-1Gbps", "fast", "1e30Gbps"})
    {
        EXPECT_THROW(ParseRate(bad), InputError) << bad;
    }
}

TEST(Units, TimesArePicoseconds)
{
    EXPECT_EQ(ParseTime("500ns").GetPicoSeconds(), 500000);
    EXPECT_EQ(ParseTime("1.5us").GetPicoSeconds(), 1500000);
    EXPECT_EQ(ParseTime("0s").GetPicoSeconds(), 0);
    EXPECT_EQ(Microseconds(PicoSeconds(1234567)), "1.234567");
    EXPECT_EQ(Microseconds(PicoSeconds(-5)), "-0.000005");
    for (const char* bad : {"", "5", "-5ns", "ns", "5 minutes"})
    {
        EXPECT_THROW(ParseTime(bad), InputError) << bad;
    }
}

TEST(CommGroup, KnowsItsMembers)
{
    CommGroup group(GroupId(0), GroupKind::DATA, "dp0", {RankId(5), RankId(1), RankId(9)});
    EXPECT_EQ(group.IndexOf(RankId(1)), 1u);
    EXPECT_EQ(group.IndexOf(RankId(9)), 2u);
    EXPECT_EQ(group.IndexOf(RankId(2)), 3u);
    EXPECT_THROW(CommGroup(GroupId(0), GroupKind::DATA, "dp0", {}), InputError);
    EXPECT_THROW(CommGroup(GroupId(0), GroupKind::DATA, "dp0", {RankId(1), RankId(1)}), InputError);
}

TEST(EventBatcher, ItemsOfAnInstantShareAnEventInOrder)
{
    std::vector<std::pair<int64_t, int>> handled;
    EventBatcher<int>* batcher = nullptr;
    EventBatcher<int> made([&](const int& item) {
        handled.emplace_back(Simulator::Now().GetMicroSeconds(), item);
        if (item == 2)
        {
            batcher->Schedule(Time(), 7); // now: after the rest of this instant, with item 5
            batcher->Schedule(MicroSeconds(1), 8);
        }
    });
    batcher = &made;
    const uint64_t before = Simulator::GetEventCount();
    for (const int item : {1, 2, 3})
    {
        made.Schedule(MicroSeconds(5), item);
    }
    made.Schedule(MicroSeconds(4), 4);
    made.Schedule(MicroSeconds(5), 5); // not right after its like: an event of its own
    Simulator::Run();
    EXPECT_EQ(handled,
              (std::vector<std::pair<int64_t, int>>{
                  {4, 4}, {5, 1}, {5, 2}, {5, 3}, {5, 5}, {5, 7}, {6, 8}}));
    EXPECT_EQ(Simulator::GetEventCount() - before, 4u);
    Simulator::Destroy();
}

TEST(Yaml, NamesFileLineKeyFoundExpected)
{
    YamlNode root = YamlNode::LoadText("a: 1\nb:\n  c: fast\n  d: 2\n", "x.yaml");
    EXPECT_EQ(MessageOf([&] { root.Get("b").Get("c").AsRate(); }),
              "x.yaml:3: b.c: found 'fast', expected a rate above zero such as 400Gbps, 3.6Tbps or "
              "50GB/s");
    YamlNode b = root.Get("b");
    b.Has("c");
    EXPECT_EQ(MessageOf([&] { b.RefuseUnknownKeys(); }),
              "x.yaml:4: b: found unknown key 'd', expected one of c");
    EXPECT_THAT(MessageOf([] { YamlNode::LoadText("a: 1\na: 2\n", "y.yaml"); }),
                HasSubstr("y.yaml:2: found key 'a' twice"));
    EXPECT_THAT(MessageOf([] { YamlNode::LoadText("a: [1\n", "z.yaml"); }), HasSubstr("z.yaml:"));
    // Each alias stands for two of the one before: 2^40 nodes in all.
    std::string laughs = "a0: &a0 [x, x]\n";
    for (int i = 1; i < 40; ++i)
    {
        const std::string before = "*a" + std::to_string(i - 1);
        laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + ", " +
                  before + "]\n";
    }
    EXPECT_THAT(MessageOf([&] { YamlNode::LoadText(laughs, "w.yaml"); }),
                HasSubstr("found aliases of aliases that stand for more than 200000 nodes"));
    // What is found may be of any length; its message is not.
    EXPECT_EQ(MessageOf([] {
                  throw InputError({"f", 1, ""}, std::string(5000, 'x'), "less");
              }),
              "f:1: found " + std::string(1000, 'x') + "... (5000 bytes), expected less");
    EXPECT_THAT(MessageOf([] { YamlNode::LoadFile("no-such-file.yaml"); }),
                HasSubstr("no-such-file.yaml"));
}

TEST(Yaml, SetMakesMapsOnTheWay)
{
    YamlNode root = YamlNode::LoadText("a: {b: 1}\n", "x.yaml");
    root.Set("a.b", "2");
    root.Set("n.m.k", "64MiB");
    EXPECT_EQ(root.Get("a").Get("b").AsInteger(0, 9), 2);
    EXPECT_EQ(root.Get("n").Get("m").Get("k").AsBytes(), 67108864u);
    EXPECT_THROW(root.Set("a.b.c", "1"), InputError);
    EXPECT_THROW(root.Set("a..c", "1"), InputError);
}

TEST(Yaml, SetOfWhatAnAliasNamesIsRefused)
{
    YamlNode root =
        YamlNode::LoadText("a:\n  - &x {b: 1}\n  - *x\nc: &y 2\nd: *y\ne: {f: 2}\n", "x.yaml");
    EXPECT_EQ(MessageOf([&] { root.Set("a.1.b", "2"); }),
              "x.yaml:2: a.1.b: found what an alias names too, expected a value of its own");
    EXPECT_THAT(MessageOf([&] { root.Set("d", "3"); }), HasSubstr("x.yaml:4: d: found what an"));
    EXPECT_EQ(root.Get("c").AsInteger(0, 9), 2);
    root.Set("e.f", "3");
    root.Set("g", "4");
    EXPECT_EQ(root.Get("e").Get("f").AsInteger(0, 9), 3);
}

TEST(Pool, ItemsKeepTheirNumbersWhilePlacesAreUsedAgain)
{
    Pool<std::string> pool;
    EXPECT_EQ(pool.Add("a"), 0u);
    EXPECT_EQ(pool.Add("b"), 1u);
    EXPECT_EQ(pool.Add("c"), 2u);
    EXPECT_EQ(pool.Take(0), "a");
    EXPECT_EQ(pool.Take(1), "b");
    EXPECT_EQ(pool.GetCount(), 1u);
    EXPECT_EQ(pool.Add("d"), 1u); // given up last
    EXPECT_EQ(pool.Add("e"), 0u);
    EXPECT_EQ(pool.Add("f"), 3u);
    EXPECT_EQ(pool[0] + pool[1] + pool[2] + pool[3], "edcf");
    EXPECT_EQ(pool.GetCount(), 4u);
    pool.Clear();
    EXPECT_EQ(pool.GetCount(), 0u);
    EXPECT_EQ(pool.Add("g"), 0u);
}

TEST(Pool, QueuesAreFirstInFirstOut)
{
    Pool<int> pool;
    PoolQueue even;
    PoolQueue odd;
    for (int i = 0; i < 6; ++i)
    {
        pool.Append(i % 2 == 0 ? even : odd, pool.Add(i));
    }
    EXPECT_EQ(pool[pool.PopFirst(even)], 0); // left the queue, not the pool
    EXPECT_EQ(pool.GetCount(), 6u);
    EXPECT_EQ(pool.Take(pool.PopFirst(even)), 2);
    EXPECT_EQ(pool.Take(pool.PopFirst(even)), 4);
    EXPECT_TRUE(even.IsEmpty());
    pool.Append(even, pool.Add(8)); // one that was emptied
    pool.Append(even, pool.Add(10));
    std::vector<int> left;
    for (const PoolQueue& queue : {even, odd})
    {
        for (uint32_t i = queue.first; i != PoolQueue::NONE; i = pool.GetNext(i))
        {
            left.push_back(pool[i]);
        }
    }
    EXPECT_THAT(left, testing::ElementsAre(8, 10, 1, 3, 5));
}

} // namespace
