// SPDX-License-Identifier: GPL-2.0-only
#include "echo-nccl-selector.h"

#include "echo-nccl-chunks.h"

#include "ns3/abort.h"
#include "ns3/echo-error.h"
#include "ns3/log.h"
#include "ns3/string.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoNcclSelector");
NS_OBJECT_ENSURE_REGISTERED(NcclSelector);

using Algorithm = CollectiveAlgorithmKind;

namespace
{

/** Most bytes that a channel sends to a peer with LL (NCCL_P2P_LL_THRESHOLD, src/enqueue.cc). */
constexpr double MOST_PAIR_LL_BYTES = 16384;

} // namespace

TypeId NcclSelector::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::NcclSelector")
                            .SetParent<CollectiveSelector>()
                            .SetGroupName("Echo")
                            .AddConstructor<NcclSelector>()
                            .AddAttribute("Rule",
                                          "profile (as it says), tuner (NCCL's) or least-cost",
                                          StringValue("profile"),
                                          MakeStringAccessor(&NcclSelector::m_rule),
                                          MakeStringChecker());
    return tid;
}

void NcclSelector::SetCostModel(Ptr<WhiteBoxCostModel> model)
{
    m_model = model;
    m_enabled.clear();
    m_choices.clear();
}

void NcclSelector::DoDispose()
{
    m_model = nullptr;
    m_enabled.clear();
    m_choices.clear();
    CollectiveSelector::DoDispose();
}

SelectionRule NcclSelector::GetRule() const
{
    return m_rule == "profile" ? m_model->GetProfile()->selection : ParseSelectionRule(m_rule);
}

const std::vector<AlgorithmProtocol>& NcclSelector::GetEnabled(const CollectiveSpec& spec,
                                                               const GroupShape& shape) const
{
    const PickKey key = PickKeyOf(spec, shape);
    const auto it = m_enabled.find(key);
    if (it != m_enabled.end())
    {
        return it->second;
    }
    const NcclTuner tuner(m_model->GetProfile()->nccl, shape);
    return m_enabled[key] = EnabledOf(tuner, CandidatesOf(spec), spec.kind);
}

AlgorithmProtocol NcclSelector::Cheapest(const std::vector<AlgorithmProtocol>& candidates,
                                         const CollectiveSpec& spec,
                                         const GroupShape& shape) const
{
    if (candidates.size() == 1)
    {
        return candidates.front();
    }
    CostQuery query;
    query.kind = spec.kind;
    query.bytes = static_cast<double>(spec.bytes);
    query.channels = spec.channels;
    query.betweenHosts = shape.hosts > 1;
    AlgorithmProtocol best = candidates.front();
    double least = INFINITY;
    for (const AlgorithmProtocol& candidate : candidates)
    {
        query.how = candidate;
        const double time = m_model->GetTerms(shape, query).GetTotal();
        if (time < least)
        {
            least = time;
            best = candidate;
        }
    }
    return best;
}

AlgorithmProtocol NcclSelector::Pick(const CollectiveSpec& spec, const GroupShape& shape) const
{
    if (IsPairwise(spec.kind))
    {
        const bool isMessage = spec.kind == CollectiveKind::SEND_RECV;
        if (isMessage && spec.protocol == CollectiveProtocol::AUTO &&
            NcclPairParts(m_model->GetProfile()->nccl,
                          shape,
                          static_cast<double>(spec.bytes),
                          shape.hosts > 1)
                    .partBytes > MOST_PAIR_LL_BYTES)
        {
            return {Algorithm::PAIRWISE, CollectiveProtocol::SIMPLE};
        }
        return Cheapest(PairCandidatesOf(spec, shape), spec, shape);
    }
    if (GetRule() == SelectionRule::LEAST_COST)
    {
        return Cheapest(GetEnabled(spec, shape), spec, shape);
    }
    return FindPick(m_model->GetPicks(spec, shape), static_cast<double>(spec.bytes)).how;
}

uint32_t NcclSelector::ChannelsOf(AlgorithmProtocol pick,
                                  double bytes,
                                  const GroupShape& shape) const
{
    return static_cast<uint32_t>(
        std::ceil(NcclChannelsUsed(m_model->GetProfile()->nccl, pick, bytes, shape)));
}

CollectiveChoice NcclSelector::SelectFor(const CollectiveSpec& spec, const GroupShape& shape) const
{
    const ChoiceKey key{PickKeyOf(spec, shape), spec.bytes, spec.channels};
    if (const auto it = m_choices.find(key); it != m_choices.end())
    {
        return it->second;
    }
    constexpr size_t MOST_ENTRIES = 65536;
    if (m_choices.size() >= MOST_ENTRIES)
    {
        m_choices.clear();
    }
    const AlgorithmProtocol pick = Pick(spec, shape);
    CollectiveChoice choice;
    choice.algorithm = pick.algorithm;
    choice.protocol = pick.protocol;
    const auto bytes = static_cast<double>(spec.bytes);
    choice.channels = spec.channels > 0 ? spec.channels : ChannelsOf(pick, bytes, shape);
    const double share = bytes / choice.channels;
    if (pick.algorithm == Algorithm::TREE)
    {
        choice.chunkBytes =
            static_cast<uint64_t>(NcclTreeChunks(pick.protocol, shape, share).front().chunkBytes);
    }
    else if (pick.algorithm == Algorithm::NVLS || pick.algorithm == Algorithm::NVLS_TREE)
    {
        const std::vector<TreeChunk> chunks = NcclSwitchChunks(shape, share, bytes);
        choice.chunkBytes = static_cast<uint64_t>(chunks.front().chunkBytes);
    }
    else if (spec.kind == CollectiveKind::BROADCAST || spec.kind == CollectiveKind::REDUCE)
    {
        choice.chunkBytes = static_cast<uint64_t>(NcclSlotBytes(pick.protocol));
    }
    return m_choices[key] = choice;
}

CollectiveChoice NcclSelector::Select(const CollectiveSpec& spec, const GroupLayout& layout) const
{
    NS_ABORT_MSG_IF(!m_model, "NcclSelector needs SetCostModel before Select");
    RequireRunsOn(spec.algorithm, layout);
    return SelectFor(spec, ShapeOf(layout));
}

} // namespace echo
} // namespace ns3
