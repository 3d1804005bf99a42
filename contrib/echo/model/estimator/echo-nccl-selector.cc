// SPDX-License-Identifier: GPL-2.0-only
#include "echo-nccl-selector.h"

#include "echo-nccl-chunks.h"

#include "ns3/abort.h"
#include "ns3/echo-error.h"
#include "ns3/log.h"
#include "ns3/string.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoNcclSelector");
NS_OBJECT_ENSURE_REGISTERED(NcclSelector);

namespace
{

using Algorithm = CollectiveAlgorithmKind;
using Protocol = CollectiveProtocol;

bool IsPairwise(CollectiveKind kind)
{
    return kind == CollectiveKind::ALL_TO_ALL || kind == CollectiveKind::ALL_TO_ALL_V ||
           kind == CollectiveKind::SEND_RECV;
}

/** @return what the kind can use and the spec leaves open */
std::vector<AlgorithmProtocol> CandidatesOf(const CollectiveSpec& spec)
{
    std::vector<AlgorithmProtocol> candidates;
    const bool pairwise = IsPairwise(spec.kind);
    for (const Algorithm algorithm : {Algorithm::TREE,
                                      Algorithm::RING,
                                      Algorithm::NVLS,
                                      Algorithm::NVLS_TREE,
                                      Algorithm::PAT,
                                      Algorithm::PAIRWISE})
    {
        for (const Protocol protocol : {Protocol::LL, Protocol::LL128, Protocol::SIMPLE})
        {
            const bool asked = spec.protocol != Protocol::AUTO;
            const bool simpleOnly = algorithm == Algorithm::NVLS ||
                                    algorithm == Algorithm::NVLS_TREE ||
                                    algorithm == Algorithm::PAT;
            if (simpleOnly && protocol != Protocol::SIMPLE)
            {
                continue;
            }
            if (CanCarryOut(algorithm, spec.kind) &&
                (spec.algorithm == Algorithm::AUTO || spec.algorithm == algorithm) &&
                (!asked || spec.protocol == protocol) &&
                (asked || !pairwise || protocol != Protocol::LL128))
            {
                candidates.push_back({algorithm, protocol});
            }
        }
    }
    if (candidates.empty())
    {
        throw UnsupportedError(std::string("algorithm '") + ToString(spec.algorithm) +
                               "' cannot carry out " + ToString(spec.kind));
    }
    return candidates;
}

/** @return the candidate that NCCL's tuner takes for the least time */
AlgorithmProtocol TunerPick(const NcclTuner& tuner,
                            const std::vector<AlgorithmProtocol>& candidates,
                            CollectiveKind kind,
                            uint64_t bytes)
{
    AlgorithmProtocol best = candidates.front();
    std::optional<double> least;
    for (const AlgorithmProtocol& candidate : candidates)
    {
        const std::optional<double> time = tuner.GetTime(kind, candidate, bytes);
        if (time && (!least || *time < *least))
        {
            least = time;
            best = candidate;
        }
    }
    return best;
}

/** @return the candidates that NCCL does not disable (all of them if it would disable all) */
std::vector<AlgorithmProtocol> EnabledOf(const NcclTuner& tuner,
                                         const std::vector<AlgorithmProtocol>& candidates,
                                         CollectiveKind kind)
{
    std::vector<AlgorithmProtocol> enabled;
    for (const AlgorithmProtocol& candidate : candidates)
    {
        if (tuner.GetTime(kind, candidate, 1))
        {
            enabled.push_back(candidate);
        }
    }
    return enabled.empty() ? candidates : enabled;
}

} // namespace

TypeId NcclSelector::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::NcclSelector")
            .SetParent<CollectiveSelector>()
            .SetGroupName("Echo")
            .AddConstructor<NcclSelector>()
            .AddAttribute("Rule",
                          "profile (as it says), tuner (NCCL's, without times that fall when bytes "
                          "grow), tuner-exactly or least-cost",
                          StringValue("profile"),
                          MakeStringAccessor(&NcclSelector::m_rule),
                          MakeStringChecker());
    return tid;
}

void NcclSelector::SetCostModel(Ptr<WhiteBoxCostModel> model)
{
    m_model = model;
    m_intervals.clear();
    m_choices.clear();
}

void NcclSelector::DoDispose()
{
    m_model = nullptr;
    m_intervals.clear();
    m_choices.clear();
    CollectiveSelector::DoDispose();
}

SelectionRule NcclSelector::GetRule() const
{
    if (m_rule == "profile")
    {
        return m_model->GetProfile()->selection;
    }
    return m_rule == "tuner-exactly" ? SelectionRule::TUNER : ParseSelectionRule(m_rule);
}

const NcclSelector::Intervals& NcclSelector::GetIntervals(const CollectiveSpec& spec,
                                                          const GroupShape& shape) const
{
    const PickKey key{spec.kind,
                      spec.algorithm,
                      spec.protocol,
                      shape.ranks,
                      shape.hosts,
                      shape.localRanks,
                      shape.nics};
    if (const auto it = m_intervals.find(key); it != m_intervals.end())
    {
        return it->second;
    }
    const std::vector<AlgorithmProtocol> candidates = CandidatesOf(spec);
    const NcclTuner tuner(m_model->GetProfile()->nccl, shape);
    Intervals intervals;
    if (GetRule() == SelectionRule::LEAST_COST)
    {
        intervals.push_back({INFINITY, EnabledOf(tuner, candidates, spec.kind)});
        return m_intervals[key] = intervals;
    }
    // A grid of 16 sizes to each doubling up to 2^44 bytes: fine enough against the tuner's own
    // inaccuracy, and nested, so that what a larger size may pick a smaller one may too.
    for (uint32_t step = 0; step <= 16 * 44; ++step)
    {
        const double bytes = std::exp2(step / 16.0);
        const AlgorithmProtocol pick =
            TunerPick(tuner, candidates, spec.kind, static_cast<uint64_t>(bytes));
        if (!intervals.empty() && intervals.back().picks.front() == pick)
        {
            intervals.back().maxBytes = bytes;
        }
        else
        {
            intervals.push_back({bytes, {pick}});
        }
    }
    intervals.back().maxBytes = INFINITY;
    if (m_rule != "tuner-exactly")
    {
        for (size_t i = intervals.size() - 1; i-- > 0;)
        {
            for (const AlgorithmProtocol& later : intervals[i + 1].picks)
            {
                if (!(later == intervals[i].picks.front()))
                {
                    intervals[i].picks.push_back(later);
                }
            }
        }
    }
    return m_intervals[key] = intervals;
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
        return Cheapest(CandidatesOf(spec), spec, shape);
    }
    const auto bytes = static_cast<double>(spec.bytes);
    for (const Interval& interval : GetIntervals(spec, shape))
    {
        if (bytes <= interval.maxBytes)
        {
            return Cheapest(interval.picks, spec, shape);
        }
    }
    return CandidatesOf(spec).front(); // not reached: the last interval is unbounded
}

uint32_t NcclSelector::ChannelsOf(AlgorithmProtocol pick,
                                  double bytes,
                                  const GroupShape& shape) const
{
    const NcclEnvironment& nccl = m_model->GetProfile()->nccl;
    if (pick.algorithm == Algorithm::NVLS || pick.algorithm == Algorithm::NVLS_TREE)
    {
        return std::max(nccl.nvlsChannels, 1u);
    }
    const double wanted =
        std::ceil(bytes / NcclBytesPerChannel(pick.algorithm, pick.protocol, shape.ranks));
    const double offered = NcclChannels(nccl, shape);
    return static_cast<uint32_t>(std::clamp(wanted, 1.0, offered));
}

CollectiveChoice NcclSelector::SelectFor(const CollectiveSpec& spec, const GroupShape& shape) const
{
    const ChoiceKey key{{spec.kind,
                         spec.algorithm,
                         spec.protocol,
                         shape.ranks,
                         shape.hosts,
                         shape.localRanks,
                         shape.nics},
                        spec.bytes,
                        spec.channels};
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
    return SelectFor(spec, ShapeOf(layout));
}

} // namespace echo
} // namespace ns3
