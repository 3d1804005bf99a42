// SPDX-License-Identifier: GPL-2.0-only
// What every collective algorithm must do, over kinds, rank counts, layouts, sizes and channels, by
// running its programs in an executor without time that carries along who contributed to what.

#include "small-cluster.h"

#include "ns3/echo-binary-tree.h"
#include "ns3/echo-collective-selector.h"
#include "ns3/echo-error.h"
#include "ns3/echo-layout-cursor.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>

using namespace ns3;
using namespace ns3::echo;
using testing::ElementsAre;
using testing::HasSubstr;

namespace
{

using WireKey = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>; //!< channel, plane, from, to
using Contributors = uint64_t;                                      //!< bit m: member m

struct Parcel
{
    uint64_t bytes;
    Contributors contributors;
};

/** Runs all lanes of all members; asserts that messages match and nothing is left over. */
class Executor
{
  public:
    explicit Executor(const CollectivePlan& plan, bool backwards = false)
        : m_plan(plan), m_ranks(plan.layout->GetRanks()), m_held(m_ranks), m_knows(m_ranks)
    {
        const auto algorithm = CreateCollectiveAlgorithm(plan.choice.algorithm);
        for (uint32_t member = 0; member < m_ranks; ++member)
        {
            m_knows[member] = Contributors{1} << member;
            for (auto& lane : algorithm->MakeLanes(plan, member))
            {
                m_lanes.push_back({member, std::move(lane), ProgramStep{}, false, false, 0, 0});
            }
        }
        if (backwards)
        {
            std::reverse(m_lanes.begin(), m_lanes.end());
        }
        Run();
    }

    /** Bytes that a member held, by who had contributed to them, after each of its steps. */
    const std::map<Contributors, uint64_t>& GetHeld(uint32_t member) const
    {
        return m_held[member];
    }

    Contributors GetKnown(uint32_t member) const
    {
        return m_knows[member];
    }

    const std::map<WireKey, uint64_t>& GetBytes() const
    {
        return m_bytes;
    }

    uint64_t GetSent(uint32_t member) const
    {
        uint64_t bytes = 0;
        for (const auto& [key, sent] : m_bytes)
        {
            bytes += std::get<2>(key) == member ? sent : 0;
        }
        return bytes;
    }

    uint64_t GetMessages() const
    {
        return m_messages;
    }

  private:
    struct RunningLane
    {
        uint32_t member;
        Lane lane;
        ProgramStep step;
        bool hasStep;
        bool ended;
        uint32_t received;
        Contributors data;
    };

    void Run()
    {
        bool progress = true;
        while (progress)
        {
            progress = false;
            for (auto& lane : m_lanes)
            {
                while (!lane.ended && RunStep(lane))
                {
                    progress = true;
                }
            }
        }
        for (const auto& lane : m_lanes)
        {
            ASSERT_TRUE(lane.ended) << "member " << lane.member << " waits for ever";
        }
        for (const auto& [key, queue] : m_queues)
        {
            ASSERT_TRUE(queue.empty()) << "a message to " << std::get<3>(key) << " was left over";
        }
    }

    /** @return whether anything happened */
    bool RunStep(RunningLane& running)
    {
        ProgramStep& step = running.step;
        if (!running.hasStep)
        {
            running.ended = !running.lane.program->Next(step);
            running.hasStep = !running.ended;
            running.received = 0;
            // What a step sends is this member's own, unless it receives something to pass on.
            running.data = Contributors{1} << running.member;
            return true;
        }
        for (; running.received < step.receives; ++running.received)
        {
            auto& queue = m_queues[{running.lane.channel,
                                    running.lane.plane,
                                    step.receiveFrom[running.received],
                                    running.member}];
            if (queue.empty())
            {
                return false;
            }
            EXPECT_EQ(queue.front().bytes, step.bytes) << "sizes do not match";
            m_knows[running.member] |= queue.front().contributors;
            running.data = step.reduce ? running.data | queue.front().contributors
                                       : queue.front().contributors;
            queue.pop_front();
        }
        EXPECT_GT(step.bytes, 0u);
        m_held[running.member][running.data] += step.bytes;
        for (uint32_t i = 0; i < step.sends; ++i)
        {
            EXPECT_NE(step.sendTo[i], running.member);
            const WireKey key{
                running.lane.channel, running.lane.plane, running.member, step.sendTo[i]};
            const bool barrier = m_plan.spec.kind == CollectiveKind::BARRIER;
            m_queues[key].push_back({step.bytes, barrier ? m_knows[running.member] : running.data});
            m_bytes[key] += step.bytes;
            ++m_messages;
        }
        running.hasStep = false;
        return true;
    }

    const CollectivePlan& m_plan;
    uint32_t m_ranks;
    std::vector<RunningLane> m_lanes;
    std::map<WireKey, std::deque<Parcel>> m_queues;
    std::map<WireKey, uint64_t> m_bytes;
    std::vector<std::map<Contributors, uint64_t>> m_held;
    std::vector<Contributors> m_knows;
    uint64_t m_messages{0};
};

Contributors All(uint32_t ranks)
{
    return ranks == 64 ? ~Contributors{0} : (Contributors{1} << ranks) - 1;
}

uint64_t HeldBy(const Executor& executor, uint32_t member, Contributors contributors)
{
    const auto& held = executor.GetHeld(member);
    const auto it = held.find(contributors);
    return it == held.end() ? 0 : it->second;
}

TopologyPtr TestTopology()
{
    static const TopologyPtr topology = [] {
        SmallCluster cluster;
        cluster.hosts = 12;
        cluster.gpusPerHost = 8;
        return cluster.Build();
    }();
    return topology;
}

/** `ranks` members on hosts that take sizes[0], sizes[1], ... of them, round and round. */
GroupLayoutPtr MakeLayout(uint32_t ranks, const std::vector<uint32_t>& sizes, bool oddOrder)
{
    const TopologyPtr topology = TestTopology();
    std::vector<DeviceId> gpus;
    for (uint32_t host = 0; gpus.size() < ranks; ++host)
    {
        for (uint32_t i = 0; i < sizes[host % sizes.size()] && gpus.size() < ranks; ++i)
        {
            gpus.push_back(topology->GetGpus(HostId(host))[i]);
        }
    }
    auto placement = std::make_shared<const Placement>(topology, gpus);
    std::vector<RankId> members;
    for (uint32_t i = 0; i < ranks; ++i)
    {
        // Odd order: the last rank first, then every other one from each end.
        members.emplace_back(!oddOrder ? i : (i % 2 == 0 ? ranks - 1 - i / 2 : i / 2));
    }
    return MakeGroupLayout(
        std::make_shared<const CommGroup>(GroupId(0), GroupKind::DATA, "dp0", members), placement);
}

std::vector<GroupLayoutPtr> Layouts(uint32_t ranks)
{
    return {MakeLayout(ranks, {4}, false),
            MakeLayout(ranks, {1, 2, 3, 5, 8}, false),
            MakeLayout(ranks, {3}, true)};
}

const std::vector<std::pair<CollectiveAlgorithmKind, std::vector<CollectiveKind>>> ALGORITHMS{
    {CollectiveAlgorithmKind::RING,
     {CollectiveKind::ALL_REDUCE,
      CollectiveKind::ALL_GATHER,
      CollectiveKind::REDUCE_SCATTER,
      CollectiveKind::BROADCAST,
      CollectiveKind::REDUCE,
      CollectiveKind::BARRIER}},
    {CollectiveAlgorithmKind::TREE, {CollectiveKind::ALL_REDUCE, CollectiveKind::BARRIER}},
    {CollectiveAlgorithmKind::PAIRWISE,
     {CollectiveKind::ALL_TO_ALL, CollectiveKind::ALL_TO_ALL_V, CollectiveKind::SEND_RECV}},
};

/** Splits of an all-to-all-v with zeros, odd sizes and one large part; seeded by hand. */
std::vector<std::vector<uint64_t>> OddSplits(uint32_t ranks, uint64_t bytes)
{
    std::vector<std::vector<uint64_t>> splits(ranks, std::vector<uint64_t>(ranks));
    for (uint32_t source = 0; source < ranks; ++source)
    {
        for (uint32_t destination = 0; destination < ranks; ++destination)
        {
            splits[source][destination] = (source * 7 + destination * 3) % 4 * bytes / 3;
        }
    }
    return splits;
}

/** What the members must hold in the end, by kind. */
void ExpectResult(const CollectivePlan& plan, const Executor& executor)
{
    const uint32_t ranks = plan.layout->GetRanks();
    const uint64_t bytes = plan.spec.bytes;
    std::vector<uint64_t> gathered(ranks); // by member: what the first member saw of it
    uint64_t scattered = 0;
    for (uint32_t member = 0; member < ranks; ++member)
    {
        switch (plan.spec.kind)
        {
        case CollectiveKind::ALL_REDUCE:
            EXPECT_EQ(HeldBy(executor, member, All(ranks)), bytes) << "member " << member;
            break;
        case CollectiveKind::REDUCE_SCATTER:
            scattered += HeldBy(executor, member, All(ranks));
            EXPECT_LE(HeldBy(executor, member, All(ranks)), bytes / ranks + plan.choice.channels);
            break;
        case CollectiveKind::REDUCE:
            EXPECT_EQ(HeldBy(executor, member, All(ranks)), member == plan.spec.root ? bytes : 0);
            break;
        case CollectiveKind::BROADCAST:
            EXPECT_EQ(HeldBy(executor, member, Contributors{1} << plan.spec.root), bytes);
            break;
        case CollectiveKind::ALL_GATHER:
        {
            uint64_t sum = 0;
            for (uint32_t other = 0; other < ranks; ++other)
            {
                const uint64_t part = HeldBy(executor, member, Contributors{1} << other);
                gathered[other] = member == 0 ? part : gathered[other];
                EXPECT_EQ(part, gathered[other]) << "all have the same of member " << other;
                sum += part;
            }
            EXPECT_EQ(sum, bytes);
            break;
        }
        case CollectiveKind::BARRIER:
            EXPECT_EQ(executor.GetKnown(member), All(ranks)) << "member " << member;
            break;
        default:
            break; // pairs: the connections say it all
        }
    }
    if (plan.spec.kind == CollectiveKind::REDUCE_SCATTER)
    {
        EXPECT_EQ(scattered, bytes);
    }
}

void CheckPlan(const CollectivePlan& plan)
{
    SCOPED_TRACE(std::string(ToString(plan.choice.algorithm)) + " " + ToString(plan.spec.kind) +
                 " of " + std::to_string(plan.spec.bytes) + " B, " +
                 std::to_string(plan.layout->GetRanks()) + " ranks on " +
                 std::to_string(plan.layout->GetHosts()) + " hosts, " +
                 std::to_string(plan.choice.channels) + " channels, chunks of " +
                 std::to_string(plan.choice.chunkBytes));
    const Executor executor(plan);
    if (testing::Test::HasFailure())
    {
        return;
    }
    std::map<WireKey, uint64_t> connections;
    uint64_t total = 0;
    for (const auto& connection :
         CreateCollectiveAlgorithm(plan.choice.algorithm)->GetConnections(plan))
    {
        EXPECT_GT(connection.bytes, 0u);
        const WireKey key{
            connection.channel, connection.plane, connection.source, connection.destination};
        EXPECT_TRUE(connections.emplace(key, connection.bytes).second) << "a connection twice";
        total += connection.bytes;
    }
    EXPECT_EQ(connections, executor.GetBytes());
    EXPECT_EQ(total, PayloadBytes(plan));
    if (plan.layout->GetRanks() > 1)
    {
        ExpectResult(plan, executor);
    }
}

class EveryAlgorithm : public testing::TestWithParam<uint32_t>
{
};

TEST_P(EveryAlgorithm, MatchesMessagesKeepsBytesAndComputesTheResult)
{
    const uint32_t ranks = GetParam();
    for (const auto& layout : Layouts(ranks))
    {
        for (const auto& [algorithm, kinds] : ALGORITHMS)
        {
            for (const CollectiveKind kind : kinds)
            {
                for (const uint64_t bytes : {0u, 1u, 7u, 1023u, (1u << 20) + 1})
                {
                    for (const uint32_t channels : {1u, 2u, 8u})
                    {
                        CollectivePlan plan = MakePlan(layout, kind, bytes, algorithm, channels);
                        plan.spec.root = bytes % ranks;
                        if (kind == CollectiveKind::SEND_RECV && ranks != 2)
                        {
                            continue;
                        }
                        if (kind == CollectiveKind::ALL_TO_ALL_V)
                        {
                            plan.splits = OddSplits(ranks, bytes);
                        }
                        CheckPlan(plan);
                        plan.choice.chunkBytes = bytes / 64 + 1;
                        CheckPlan(plan);
                        ASSERT_FALSE(HasFailure());
                    }
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    Ranks,
    EveryAlgorithm,
    testing::
        Values(1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 10u, 11u, 12u, 13u, 14u, 15u, 16u, 17u, 32u));

TEST(EveryAlgorithm, DoesNotDependOnTheOrderInWhichLanesRun)
{
    for (const auto& [algorithm, kinds] : ALGORITHMS)
    {
        for (const CollectiveKind kind : kinds)
        {
            if (kind == CollectiveKind::SEND_RECV)
            {
                continue;
            }
            CollectivePlan plan = MakePlan(MakeLayout(13, {5, 1}, true), kind, 10007, algorithm, 3);
            plan.splits = OddSplits(13, 10007);
            const Executor forwards(plan);
            const Executor backwards(plan, true);
            EXPECT_EQ(forwards.GetBytes(), backwards.GetBytes()) << ToString(kind);
            EXPECT_EQ(forwards.GetMessages(), backwards.GetMessages()) << ToString(kind);
        }
    }
}

TEST(EveryAlgorithm, KnowsItsKinds)
{
    for (const auto& [algorithm, kinds] : ALGORITHMS)
    {
        const auto object = CreateCollectiveAlgorithm(algorithm);
        for (int kind = 0; kind <= static_cast<int>(CollectiveKind::BARRIER); ++kind)
        {
            const auto value = static_cast<CollectiveKind>(kind);
            const bool listed = std::find(kinds.begin(), kinds.end(), value) != kinds.end();
            EXPECT_EQ(object->Supports(value), listed) << ToString(algorithm) << ToString(value);
        }
    }
    EXPECT_THROW(CreateCollectiveAlgorithm(CollectiveAlgorithmKind::AUTO), UnsupportedError);
}

// 64 MiB over 8 ranks: 14 messages of 8 MiB each, 117,440,512 B = 2 x 7/8 x 64 MiB.
TEST(Ring, AllReduceOfEightRanks)
{
    const Executor executor(MakePlan(MakeLayout(8, {1}, false),
                                     CollectiveKind::ALL_REDUCE,
                                     64u << 20,
                                     CollectiveAlgorithmKind::RING));
    for (uint32_t member = 0; member < 8; ++member)
    {
        EXPECT_EQ(executor.GetSent(member), 117440512u);
    }
    EXPECT_EQ(executor.GetMessages(), 8u * 14u);
}

// 7/8 x 64 MiB = 58,720,256 B; 16 ranks of 4,194,304 bf16 elements each gather 128 MiB: each sends
// 15/16 of it, 125,829,120 B.
TEST(Ring, GatherAndScatterHalfAsMuch)
{
    for (const auto kind : {CollectiveKind::ALL_GATHER, CollectiveKind::REDUCE_SCATTER})
    {
        const Executor executor(
            MakePlan(MakeLayout(8, {1}, false), kind, 64u << 20, CollectiveAlgorithmKind::RING));
        EXPECT_EQ(executor.GetSent(3), 58720256u);
        EXPECT_EQ(executor.GetMessages(), 8u * 7u);
    }
    const Executor executor(MakePlan(MakeLayout(16, {4}, false),
                                     CollectiveKind::ALL_GATHER,
                                     128u << 20,
                                     CollectiveAlgorithmKind::RING));
    EXPECT_EQ(executor.GetSent(5), 125829120u);
}

// A chunk of 1000 B in pieces of at most 300: 300 + 300 + 300 + 100.
TEST(Ring, CutsChunksIntoPieces)
{
    const Executor executor(MakePlan(MakeLayout(4, {4}, false),
                                     CollectiveKind::ALL_REDUCE,
                                     4000,
                                     CollectiveAlgorithmKind::RING,
                                     1,
                                     300));
    EXPECT_EQ(executor.GetMessages(), 4u * 6u * 4u);
    EXPECT_EQ(executor.GetSent(0), 6000u);
}

TEST(Ring, ChannelEntersAndLeavesHostsAtItsOwnMembers)
{
    const GroupLayoutPtr layout = MakeLayout(6, {4, 2}, false); // members 0-3 and 4-5
    EXPECT_THAT(RingOrder(*layout, 0), ElementsAre(0, 1, 2, 3, 4, 5));
    EXPECT_THAT(RingOrder(*layout, 3), ElementsAre(3, 0, 1, 2, 5, 4));
    for (uint32_t channel = 0; channel < 9; ++channel)
    {
        const std::vector<uint32_t> order = RingOrder(*layout, channel);
        for (uint32_t position = 0; position < 6; ++position)
        {
            LayoutCursor cursor(*layout, channel, order[position]);
            EXPECT_EQ(cursor.Get(), order[position]);
            EXPECT_EQ(cursor.GetPosition(), position);
            for (uint32_t steps = 0; steps < 13; ++steps)
            {
                LayoutCursor moved = cursor;
                moved.Forward(steps);
                EXPECT_EQ(moved.Get(), order[(position + steps) % 6]);
                moved.Backward(steps);
                EXPECT_EQ(moved.Get(), order[position]);
            }
        }
    }
}

/** Bytes that cross hosts, out of and into each member's side, by sender and receiver. */
std::pair<std::vector<uint64_t>, std::vector<uint64_t>> InterHostBytes(const CollectivePlan& plan)
{
    std::vector<uint64_t> out(plan.layout->GetRanks());
    std::vector<uint64_t> in(plan.layout->GetRanks());
    for (const auto& connection :
         CreateCollectiveAlgorithm(plan.choice.algorithm)->GetConnections(plan))
    {
        if (plan.layout->hostOf[connection.source] != plan.layout->hostOf[connection.destination])
        {
            out[connection.source] += connection.bytes;
            in[connection.destination] += connection.bytes;
        }
    }
    return {out, in};
}

// 2 hosts of 8, 1 GiB, 8 channels. Ring: each channel's ring crosses each host boundary once with
// 2 x 15/16 x 128 MiB = 251,658,240 B. Tree: each channel sends 128 MiB = 134,217,728 B each way.
TEST(RingAndTree, BytesPerNicOnTwoHosts)
{
    const GroupLayoutPtr layout = MakeLayout(16, {8}, false);
    const auto check = [&](CollectiveAlgorithmKind algorithm, uint64_t expected) {
        const auto [out, in] =
            InterHostBytes(MakePlan(layout, CollectiveKind::ALL_REDUCE, 1u << 30, algorithm, 8));
        for (uint32_t member = 0; member < 16; ++member)
        {
            EXPECT_EQ(out[member], expected) << ToString(algorithm) << " member " << member;
            EXPECT_EQ(in[member], expected) << ToString(algorithm) << " member " << member;
        }
    };
    check(CollectiveAlgorithmKind::RING, 251658240u);
    check(CollectiveAlgorithmKind::TREE, 134217728u);
}

// The two trees together: no NIC carries more than twice its share of the bytes plus what the roots
// have to spare, whether channels take turns with the trees or halve their bytes.
TEST(Tree, LoadsNicsAlike)
{
    for (const uint32_t hosts : {4u, 6u, 8u, 10u})
    {
        for (const uint32_t channels : {4u, 8u})
        {
            const CollectivePlan plan = MakePlan(MakeLayout(hosts * 4, {4}, false),
                                                 CollectiveKind::ALL_REDUCE,
                                                 64u << 20,
                                                 CollectiveAlgorithmKind::TREE,
                                                 channels);
            const auto [out, in] = InterHostBytes(plan);
            for (uint32_t member = 0; member < hosts * 4; ++member)
            {
                // Share of a NIC: 16 MiB. An inner node of one tree is a leaf in the other: (2 + 1)
                // and 1 times half of it, in and out; roots have one child.
                EXPECT_LE(out[member], 2u * (16u << 20));
                EXPECT_EQ(out[member], in[member]);
            }
        }
    }
}

TEST(Tree, TwoTreesDifferInRootsAndLeaves)
{
    for (uint32_t size = 2; size <= 40; ++size)
    {
        std::vector<uint32_t> inner(size);
        std::vector<uint32_t> roots;
        for (uint32_t tree = 0; tree < 2; ++tree)
        {
            std::vector<uint32_t> reached(size);
            for (uint32_t node = 0; node < size; ++node)
            {
                const TreeNode found = FindTreeNode(size, tree, node);
                inner[node] += found.childCount > 0 ? 1 : 0;
                for (uint32_t i = 0; i < found.childCount; ++i)
                {
                    const TreeNode child = FindTreeNode(size, tree, found.children[i]);
                    EXPECT_FALSE(child.isRoot);
                    EXPECT_EQ(child.parent, node) << "size " << size;
                    ++reached[found.children[i]];
                }
                if (found.isRoot)
                {
                    roots.push_back(node);
                    ++reached[node];
                }
                // Depth: at most 1 + log2 of the size, rounded up.
                uint32_t depth = 0;
                for (uint32_t at = node; !FindTreeNode(size, tree, at).isRoot; ++depth)
                {
                    at = FindTreeNode(size, tree, at).parent;
                    ASSERT_LE(depth, 64u);
                }
                EXPECT_LE(1u << (depth > 0 ? depth - 1 : 0), size);
            }
            EXPECT_EQ(std::set<uint32_t>(reached.begin(), reached.end()), std::set<uint32_t>{1})
                << "each node has one place";
        }
        ASSERT_EQ(roots.size(), 2u);
        EXPECT_NE(roots[0], roots[1]);
        const auto both = std::count(inner.begin(), inner.end(), 2u);
        EXPECT_EQ(both, size % 2 == 0 ? 0 : 1) << "inner in both, of " << size;
    }
}

// 32 ranks in four groups of 8, one all-to-all: 4 x 8 x 7 = 224 messages of S/8, each in its group.
TEST(Pairwise, OneMessageAPairAndDirection)
{
    const Executor executor(MakePlan(MakeLayout(8, {8}, false),
                                     CollectiveKind::ALL_TO_ALL,
                                     8u << 20,
                                     CollectiveAlgorithmKind::PAIRWISE,
                                     4));
    EXPECT_EQ(executor.GetMessages(), 56u);
    EXPECT_EQ(executor.GetBytes().size(), 56u);
    for (const auto& [key, bytes] : executor.GetBytes())
    {
        EXPECT_EQ(bytes, 1u << 20);
    }
}

TEST(Selector, FixedChoiceFollowsAttributesAndSpecs)
{
    const GroupLayoutPtr layout = MakeLayout(16, {8}, false);
    Ptr<FixedSelector> selector = CreateObject<FixedSelector>();
    CollectiveSpec spec;
    spec.bytes = 64u << 20;
    CollectiveChoice choice = selector->Select(spec, *layout);
    EXPECT_EQ(choice.algorithm, CollectiveAlgorithmKind::RING);
    EXPECT_EQ(choice.protocol, CollectiveProtocol::SIMPLE);
    EXPECT_EQ(choice.channels, 8u); // NICs of a host
    EXPECT_EQ(choice.chunkBytes, 0u);

    selector->SetAttribute("Algorithm", StringValue("tree"));
    selector->SetAttribute("Protocol", StringValue("ll128"));
    selector->SetAttribute("Channels", UintegerValue(4));
    choice = selector->Select(spec, *layout);
    EXPECT_EQ(choice.algorithm, CollectiveAlgorithmKind::TREE);
    EXPECT_EQ(choice.protocol, CollectiveProtocol::LL128);
    EXPECT_EQ(choice.channels, 4u);
    // 16 MiB a channel in at least 32 pieces: 512 KiB.
    EXPECT_EQ(choice.chunkBytes, 512u << 10);
    // Nor does one byte less or more double a piece: 8 MiB in 4 x 32.
    for (const uint64_t bytes : {(8u << 20) - 8, (8u << 20), (8u << 20) + 8})
    {
        spec.bytes = bytes;
        EXPECT_NEAR(static_cast<double>(selector->Select(spec, *layout).chunkBytes), 65536, 1);
    }

    spec.kind = CollectiveKind::ALL_TO_ALL; // no tree can do that
    EXPECT_EQ(selector->Select(spec, *layout).algorithm, CollectiveAlgorithmKind::PAIRWISE);
    spec.kind = CollectiveKind::ALL_GATHER;
    EXPECT_EQ(selector->Select(spec, *layout).algorithm, CollectiveAlgorithmKind::RING);
    spec.algorithm = CollectiveAlgorithmKind::TREE; // but whoever asks for one must hear of it
    EXPECT_THROW(selector->Select(spec, *layout), UnsupportedError);
    spec = CollectiveSpec{};
    spec.channels = 2;
    spec.protocol = CollectiveProtocol::LL;
    choice = selector->Select(spec, *layout);
    EXPECT_EQ(choice.channels, 2u);
    EXPECT_EQ(choice.protocol, CollectiveProtocol::LL);
    selector->SetAttribute("Algorithm", StringValue("star"));
    EXPECT_THROW(selector->Select(spec, *layout), InputError);
}

} // namespace
