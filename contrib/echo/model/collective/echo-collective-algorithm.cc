// SPDX-License-Identifier: GPL-2.0-only
#include "echo-collective-algorithm.h"

#include "ns3/echo-error.h"
#include "ns3/object-factory.h"

#include <string>

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(CollectiveAlgorithm);

TypeId CollectiveAlgorithm::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::CollectiveAlgorithm").SetParent<Object>().SetGroupName("Echo");
    return tid;
}

CollectiveAlgorithmKind MovesLike(CollectiveAlgorithmKind kind)
{
    switch (kind)
    {
    case CollectiveAlgorithmKind::NVLS:
    case CollectiveAlgorithmKind::PAT:
        return CollectiveAlgorithmKind::RING;
    case CollectiveAlgorithmKind::NVLS_TREE:
        return CollectiveAlgorithmKind::TREE;
    default:
        return kind;
    }
}

Ptr<CollectiveAlgorithm> CreateCollectiveAlgorithm(CollectiveAlgorithmKind kind)
{
    std::string name;
    switch (MovesLike(kind))
    {
    case CollectiveAlgorithmKind::RING:
        name = "ns3::echo::RingAlgorithm";
        break;
    case CollectiveAlgorithmKind::TREE:
        name = "ns3::echo::DoubleBinaryTreeAlgorithm";
        break;
    case CollectiveAlgorithmKind::PAIRWISE:
        name = "ns3::echo::PairwiseAlgorithm";
        break;
    default:
        break;
    }
    TypeId tid;
    if (name.empty() || !TypeId::LookupByNameFailSafe(name, &tid))
    {
        throw UnsupportedError(std::string("no collective algorithm is registered for '") +
                               ToString(kind) + "'");
    }
    ObjectFactory factory;
    factory.SetTypeId(tid);
    return factory.Create<CollectiveAlgorithm>();
}

uint64_t PartBytes(uint64_t bytes, uint32_t parts, uint32_t index)
{
    return bytes / parts + (index < bytes % parts ? 1 : 0);
}

uint64_t PairBytes(const CollectivePlan& plan, uint32_t source, uint32_t destination)
{
    if (plan.spec.kind == CollectiveKind::ALL_TO_ALL_V)
    {
        return plan.splits.at(source).at(destination);
    }
    return PartBytes(plan.spec.bytes, plan.layout->GetRanks(), destination);
}

namespace
{

/** What all members of an all-to-all send, less what each keeps. */
uint64_t PairwisePayload(const CollectivePlan& plan)
{
    const uint32_t ranks = plan.layout->GetRanks();
    if (plan.spec.kind == CollectiveKind::ALL_TO_ALL)
    {
        // Member i keeps part i; the parts add up to the whole.
        return (ranks - 1) * plan.spec.bytes;
    }
    uint64_t total = 0;
    for (uint32_t source = 0; source < ranks; ++source)
    {
        for (uint32_t destination = 0; destination < ranks; ++destination)
        {
            total += source == destination ? 0 : plan.splits[source][destination];
        }
    }
    return total;
}

/** Dissemination: one message a member and round; tree: one up and one down a member but one. */
uint64_t BarrierPayload(const CollectivePlan& plan)
{
    const uint64_t ranks = plan.layout->GetRanks();
    if (MovesLike(plan.choice.algorithm) == CollectiveAlgorithmKind::TREE)
    {
        return 2 * (ranks - 1) * BARRIER_BYTES;
    }
    uint64_t rounds = 0;
    while ((uint64_t{1} << rounds) < ranks)
    {
        ++rounds;
    }
    return ranks * rounds * BARRIER_BYTES;
}

} // namespace

uint64_t PayloadBytes(const CollectivePlan& plan)
{
    const uint64_t others = plan.layout->GetRanks() - 1;
    switch (plan.spec.kind)
    {
    case CollectiveKind::ALL_REDUCE:
        return 2 * others * plan.spec.bytes;
    case CollectiveKind::ALL_GATHER:
    case CollectiveKind::REDUCE_SCATTER:
    case CollectiveKind::BROADCAST:
    case CollectiveKind::REDUCE:
    case CollectiveKind::SEND_RECV:
        return others * plan.spec.bytes;
    case CollectiveKind::ALL_TO_ALL:
    case CollectiveKind::ALL_TO_ALL_V:
        return PairwisePayload(plan);
    case CollectiveKind::BARRIER:
        return BarrierPayload(plan);
    }
    return 0;
}

} // namespace echo
} // namespace ns3
