// SPDX-License-Identifier: GPL-2.0-only
#include "echo-double-binary-tree-algorithm.h"

#include "echo-binary-tree.h"
#include "echo-collective-selector.h"
#include "echo-layout-cursor.h"
#include "echo-piece-program.h"

#include "ns3/assert.h"

#include <utility>

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(DoubleBinaryTreeAlgorithm);

namespace
{

/** One tree's share of one channel. */
struct TreeShare
{
    uint32_t channel;
    uint32_t tree;
    uint64_t bytes;
};

/** @return the shares with bytes above zero, by channel, then tree */
std::vector<TreeShare> SharesOf(const CollectivePlan& plan)
{
    if (plan.spec.kind == CollectiveKind::BARRIER)
    {
        return {{0, 0, BARRIER_BYTES}};
    }
    const uint32_t channels = plan.choice.channels;
    const uint32_t heads = plan.layout->maxLocal;
    const bool takeTurns = channels % (2 * heads) == 0;
    std::vector<TreeShare> shares;
    for (uint32_t channel = 0; channel < channels; ++channel)
    {
        const uint64_t bytes = PartBytes(plan.spec.bytes, channels, channel);
        const bool oneTree = takeTurns || plan.layout->GetHosts() == 1;
        const uint32_t tree = plan.layout->GetHosts() == 1 ? 0 : (channel / heads) % 2;
        for (uint32_t half = 0; half < 2; ++half)
        {
            const uint64_t share = oneTree ? (half == tree ? bytes : 0) : PartBytes(bytes, 2, half);
            if (share > 0)
            {
                shares.push_back({channel, half, share});
            }
        }
    }
    return shares;
}

/** A member's neighbours in one tree of one channel, chain included. */
struct TreePlace
{
    bool isRoot{false};
    uint32_t above{0}; //!< member; not for the root
    std::array<uint32_t, ProgramStep::MAX_PEERS> below{};
    uint32_t belowCount{0};
};

TreePlace FindPlace(const GroupLayout& layout, const TreeShare& share, uint32_t member)
{
    const uint32_t hostIndex = layout.hostOf[member];
    const auto size = static_cast<uint32_t>(layout.hosts[hostIndex].size());
    const uint32_t fromHead = StepsInHost(layout, share.channel, member);
    const auto head = [&](uint32_t index) { return MemberInHost(layout, index, share.channel, 0); };
    const auto inChain = [&](uint32_t steps) {
        return MemberInHost(layout, hostIndex, share.channel, steps);
    };
    TreePlace place;
    if (fromHead > 0)
    {
        place.above = inChain(fromHead - 1);
    }
    else
    {
        const TreeNode node = FindTreeNode(layout.GetHosts(), share.tree, hostIndex);
        place.isRoot = node.isRoot;
        place.above = head(node.parent);
        for (uint32_t child = 0; child < node.childCount; ++child)
        {
            place.below[place.belowCount++] = head(node.children[child]);
        }
    }
    if (fromHead + 1 < size)
    {
        place.below[place.belowCount++] = inChain(fromHead + 1);
    }
    return place;
}

/** Adds the lanes of one share: up and down, or both in one at the root. */
void AddLanes(const CollectivePlan& plan,
              const TreeShare& share,
              const TreePlace& place,
              std::vector<Lane>& lanes)
{
    ProgramStep up;
    ProgramStep down;
    for (uint32_t i = 0; i < place.belowCount; ++i)
    {
        AddReceive(up, place.below[i]);
        AddSend(place.isRoot ? up : down, place.below[i]);
    }
    up.reduce = place.belowCount > 0;
    if (!place.isRoot)
    {
        AddSend(up, place.above);
        AddReceive(down, place.above);
    }
    for (const ProgramStep* step : {&up, &down})
    {
        if (step->receives + step->sends > 0)
        {
            lanes.push_back(
                {share.channel,
                 share.tree,
                 std::make_unique<PieceProgram>(*step, share.bytes, plan.choice.chunkBytes)});
        }
    }
}

} // namespace

TypeId DoubleBinaryTreeAlgorithm::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::DoubleBinaryTreeAlgorithm")
                            .SetParent<CollectiveAlgorithm>()
                            .SetGroupName("Echo")
                            .AddConstructor<DoubleBinaryTreeAlgorithm>();
    return tid;
}

bool DoubleBinaryTreeAlgorithm::Supports(CollectiveKind kind) const
{
    return CanCarryOut(CollectiveAlgorithmKind::TREE, kind);
}

std::vector<Lane> DoubleBinaryTreeAlgorithm::MakeLanes(const CollectivePlan& plan,
                                                       uint32_t member) const
{
    NS_ASSERT_MSG(Supports(plan.spec.kind), "a tree cannot do that kind of collective");
    std::vector<Lane> lanes;
    for (const auto& share : SharesOf(plan))
    {
        AddLanes(plan, share, FindPlace(*plan.layout, share, member), lanes);
    }
    return lanes;
}

std::vector<Connection> DoubleBinaryTreeAlgorithm::GetConnections(const CollectivePlan& plan) const
{
    std::vector<Connection> connections;
    for (const auto& share : SharesOf(plan))
    {
        for (uint32_t member = 0; member < plan.layout->GetRanks(); ++member)
        {
            const TreePlace place = FindPlace(*plan.layout, share, member);
            if (!place.isRoot)
            {
                connections.push_back(
                    {member, place.above, share.channel, share.tree, share.bytes});
                connections.push_back(
                    {place.above, member, share.channel, share.tree, share.bytes});
            }
        }
    }
    return connections;
}

} // namespace echo
} // namespace ns3
