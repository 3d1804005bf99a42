// SPDX-License-Identifier: GPL-2.0-only
#include "echo-white-box-cost-model.h"

#include "echo-nccl-chunks.h"
#include "echo-nccl-environment.h"
#include "echo-profile-residuals.h"
#include "echo-white-box-view.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/echo-error.h"
#include "ns3/echo-time-limit.h"
#include "ns3/echo-units.h"
#include "ns3/log.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoWhiteBoxCostModel");
NS_OBJECT_ENSURE_REGISTERED(WhiteBoxCostModel);

namespace
{

/** What a channel moves in a step, and how many steps follow each other in it. */
struct Rounds
{
    double chunkBytes{0};
    double count{0};
};

Rounds CountRounds(const CollectiveChoice& choice, const GroupShape& shape, const CostQuery& query)
{
    const double channelBytes = query.bytes / std::max(choice.channels, 1u);
    if (shape.ranks < 2)
    {
        return {};
    }
    switch (MovesLike(choice.algorithm))
    {
    case CollectiveAlgorithmKind::RING:
        if (choice.algorithm == CollectiveAlgorithmKind::NVLS)
        {
            break;
        }
        if (query.kind != CollectiveKind::BROADCAST && query.kind != CollectiveKind::REDUCE)
        {
            // Loops over the buffer, each of n - 1 or 2 (n - 1) steps; four slots a chunk (Simple).
            const double most =
                NcclSlotBytes(choice.protocol) * (ProtocolIndex(choice.protocol) == 2 ? 4 : 1);
            const double part = channelBytes / shape.ranks;
            const double loops = std::max(1.0, std::ceil(part / most));
            const double steps =
                (shape.ranks - 1.0) * (query.kind == CollectiveKind::ALL_REDUCE ? 2 : 1);
            return {std::min(part, most), loops * steps};
        }
        break;
    case CollectiveAlgorithmKind::PAIRWISE:
        return {query.bytes / (query.kind == CollectiveKind::SEND_RECV ? 1 : shape.ranks),
                query.kind == CollectiveKind::SEND_RECV ? 1.0 : shape.ranks - 1.0};
    default:
        break;
    }
    const double heads = choice.algorithm == CollectiveAlgorithmKind::NVLS ||
                                 choice.algorithm == CollectiveAlgorithmKind::NVLS_TREE
                             ? NcclSwitchHeads(shape)
                             : 1;
    const double part = channelBytes / heads;
    const double chunk = choice.chunkBytes > 0 ? static_cast<double>(choice.chunkBytes) : part;
    return {std::min(chunk, part), std::max(1.0, std::ceil(part / chunk))};
}

/** @return a number of what of algorithm, protocol and channels a spec does not leave open */
uint64_t AskedFor(const CollectiveSpec& spec)
{
    return (spec.algorithm != CollectiveAlgorithmKind::AUTO ? 1 : 0) +
           (spec.protocol != CollectiveProtocol::AUTO ? 2 : 0) + (spec.channels > 0 ? 4 : 0);
}

/** Times do not grow by more than this where another protocol or algorithm begins. */
constexpr double LARGEST_JUMP = 1.4;

/** Most entries of each cache. */
constexpr size_t MOST_ENTRIES = 65536;

/** @return a rate as a part of a key, in MB/s */
uint64_t KeyOf(double rateGBps)
{
    return static_cast<uint64_t>(1000 * std::min(rateGBps, 1e9));
}

double ToMicroseconds(Time time)
{
    return static_cast<double>(time.GetPicoSeconds()) * 1e-6;
}

} // namespace

PickKey PickKeyOf(const CollectiveSpec& spec, const GroupShape& shape)
{
    return {spec.kind,
            spec.algorithm,
            spec.protocol,
            shape.ranks,
            shape.hosts,
            shape.localRanks,
            shape.nics};
}

CostQuery QueryOf(const CollectivePlan& plan)
{
    CostQuery query;
    query.kind = plan.spec.kind;
    query.bytes = static_cast<double>(plan.spec.bytes);
    query.how = {plan.choice.algorithm, plan.choice.protocol};
    query.channels = plan.choice.channels;
    query.betweenHosts = plan.layout->GetHosts() > 1;
    if (query.kind == CollectiveKind::ALL_TO_ALL_V && !plan.splits.empty())
    {
        CountSplits(plan, query);
    }
    return query;
}

TypeId WhiteBoxCostModel::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::WhiteBoxCostModel")
            .SetParent<CostModel>()
            .SetGroupName("Echo")
            .AddConstructor<WhiteBoxCostModel>()
            .AddAttribute("IssueAsMeasured",
                          "Kernels of a group on one host are issued as in the profile's "
                          "measurements (by one thread, one after the other, if those were so); "
                          "false: by one process a GPU, as in training",
                          BooleanValue(true),
                          MakeBooleanAccessor(&WhiteBoxCostModel::m_issueAsMeasured),
                          MakeBooleanChecker())
            .AddAttribute("BackToBack",
                          "A call's mean share of many that follow each other, as nccl-tests "
                          "times them: a broadcast's hops hide behind the next call; false: one "
                          "call until its last rank is done",
                          BooleanValue(false),
                          MakeBooleanAccessor(&WhiteBoxCostModel::m_backToBack),
                          MakeBooleanChecker());
    return tid;
}

size_t WhiteBoxCostModel::KeyHash::operator()(const Key& key) const
{
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (const uint64_t part : key)
    {
        hash ^= part;
        hash *= 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    return static_cast<size_t>(hash);
}

void WhiteBoxCostModel::SetProfile(MachineProfilePtr profile)
{
    m_profile = std::move(profile);
    m_picks.clear();
    m_cache.clear();
}

void WhiteBoxCostModel::SetFallback(Ptr<CostModel> model)
{
    m_fallback = model;
    m_cache.clear();
}

void WhiteBoxCostModel::DoDispose()
{
    m_fallback = nullptr;
    m_picks.clear();
    m_cache.clear();
    m_linksOfGroup.clear();
    m_nicLoads.Clear();
    m_profile = nullptr;
    CostModel::DoDispose();
}

CostTerms WhiteBoxCostModel::GetTerms(const GroupShape& shape, CostQuery query) const
{
    query.oneThread = m_issueAsMeasured && m_profile->oneThreadPerHost && shape.hosts <= 1;
    query.backToBack = m_backToBack;
    return EvaluateWhiteBox(*m_profile, shape, query);
}

const std::vector<NcclPick>& WhiteBoxCostModel::GetPicks(const CollectiveSpec& spec,
                                                         const GroupShape& shape,
                                                         const LinkRates& links) const
{
    const PicksKey key{PickKeyOf(spec, shape), spec.channels, links.gpuGBps, links.nicGBps};
    if (const auto it = m_picks.find(key); it != m_picks.end())
    {
        return it->second;
    }
    const NcclTuner tuner(m_profile->nccl, shape);
    std::vector<NcclPick> picks = ListNcclPicks(tuner, CandidatesOf(spec), spec.kind);
    CostQuery query;
    query.kind = spec.kind;
    query.channels = spec.channels;
    query.betweenHosts = shape.hosts > 1;
    query.links = links;
    // What takes less than the links need for fewer bytes takes as long as they do, so that no cap
    // goes below that.
    for (size_t i = 1; i < picks.size(); ++i)
    {
        query.bytes = picks[i - 1].maxBytes;
        query.how = picks[i - 1].how;
        const Duty links = LeastTransfer(*m_profile, shape, query);
        picks[i].linksUs = std::max({picks[i - 1].linksUs, links.intra, links.inter});
    }
    for (size_t i = picks.size() - 1; i-- > 0;)
    {
        query.bytes = picks[i].maxBytes; // where the next one begins
        query.how = picks[i + 1].how;
        const double next =
            picks[i + 1].Bound(GetTerms(shape, query).GetTotal(), picks[i].maxBytes);
        picks[i].mostUs = next;
        // NCCL changes where it believes both to take the same time. Where no rows say that it is
        // wrong, the pick that ends grows toward the next one as NCCL's own model of it grows.
        if (IsMeasured(*m_profile, spec.kind, shape.hosts > 1, picks[i].maxBytes))
        {
            continue;
        }
        const double latency = tuner.GetLatency(spec.kind, picks[i].how);
        const double perByte = 1 / (1000 * tuner.GetBandwidth(spec.kind, picks[i].how));
        const double scale = next / LARGEST_JUMP / (latency + perByte * picks[i].maxBytes);
        picks[i].leastUs = scale * latency;
        picks[i].leastUsPerByte = scale * perByte;
    }
    return m_picks[key] = std::move(picks);
}

CostTerms WhiteBoxCostModel::GetTermsOf(const CollectiveSpec& spec,
                                        const CollectiveChoice& choice,
                                        const GroupShape& shape,
                                        const CostQuery& query) const
{
    CostTerms terms = GetTerms(shape, query);
    if (IsPairwise(spec.kind) && spec.protocol == CollectiveProtocol::AUTO)
    {
        for (const AlgorithmProtocol how : PairCandidatesOf(spec, shape)) // as GetPairTerms
        {
            CostQuery other = query;
            other.how = how;
            const CostTerms found = GetTerms(shape, other);
            terms = found.GetTotal() < terms.GetTotal() ? found : terms;
        }
        return terms;
    }
    if (IsPairwise(spec.kind) || m_profile->selection != SelectionRule::TUNER)
    {
        return terms;
    }
    const NcclPick& pick =
        FindPick(GetPicks(spec, shape, query.links), static_cast<double>(spec.bytes));
    if (pick.how == AlgorithmProtocol{choice.algorithm, choice.protocol})
    {
        terms.Stretch(pick.Bound(terms.GetTotal(), static_cast<double>(spec.bytes)));
    }
    return terms;
}

bool WhiteBoxCostModel::UsesFallback(const CollectivePlan& plan) const
{
    return m_fallback && plan.choice.algorithm == CollectiveAlgorithmKind::PAIRWISE &&
           !m_profile->FindRange(plan.spec.kind);
}

const LinkRates& WhiteBoxCostModel::GetLinks(const GroupLayoutPtr& layout) const
{
    if (const auto it = m_linksOfGroup.find(layout); it != m_linksOfGroup.end())
    {
        return it->second;
    }
    LinkRates slowest;
    const Placement& placement = *layout->placement;
    for (const auto& members : layout->hosts)
    {
        const HostId host = placement.GetHost(layout->group->GetRank(members.front()));
        const HostLinks links = ReadHostLinks(*placement.GetTopology(), host);
        slowest.gpuGBps =
            links.gpuGBps > 0 ? std::min(slowest.gpuGBps, links.gpuGBps) : slowest.gpuGBps;
        slowest.nicGBps =
            links.nicGBps > 0 ? std::min(slowest.nicGBps, links.nicGBps) : slowest.nicGBps;
    }
    if (m_linksOfGroup.size() >= MOST_ENTRIES)
    {
        m_linksOfGroup.clear();
        m_cache.clear(); // names layouts that are kept there
    }
    return m_linksOfGroup.emplace(layout, slowest).first->second;
}

CostTerms WhiteBoxCostModel::GetPairTerms(const CollectivePlan& plan,
                                          const GroupShape& shape,
                                          const CostQuery& query) const
{
    double intra = 0;
    double inter = 0;
    if (UsesFallback(plan))
    {
        const CostBreakdown links = m_fallback->Estimate(plan);
        intra = ToMicroseconds(links.intra);
        inter = ToMicroseconds(links.inter);
    }
    const auto termsOf = [&](AlgorithmProtocol how) {
        CostQuery one = query;
        one.how = how;
        CostTerms terms = GetTerms(shape, one);
        if (intra + inter > terms.intra + terms.inter)
        {
            terms.intra = intra;
            terms.inter = inter;
        }
        return terms;
    };
    CostTerms least = termsOf(query.how);
    if (plan.spec.protocol == CollectiveProtocol::AUTO)
    {
        // The pick did not know the links: the next one's time may be less, and must not be for
        // more bytes.
        for (const AlgorithmProtocol how : PairCandidatesOf(plan.spec, shape))
        {
            const CostTerms terms = termsOf(how);
            least = terms.GetTotal() < least.GetTotal() ? terms : least;
        }
    }
    return least;
}

CostBreakdown WhiteBoxCostModel::Compute(const CollectivePlan& plan,
                                         const GroupShape& shape,
                                         const LinkRates& links) const
{
    CostQuery query = QueryOf(plan);
    query.links = links;
    CostTerms terms = plan.choice.algorithm == CollectiveAlgorithmKind::PAIRWISE
                          ? GetPairTerms(plan, shape, query)
                          : GetTermsOf(plan.spec, plan.choice, shape, query);
    if (NicLoads::IsUneven(*plan.layout))
    {
        BoundByNics(plan, shape, terms);
    }
    CostBreakdown cost;
    cost.reason = ExplainExtrapolation(query.kind, plan.spec.bytes, shape);
    cost.reason = cost.reason.empty() ? ExplainLinks(shape, links) : cost.reason;
    cost.reason = cost.reason.empty() ? ExplainUneven(*plan.layout) : cost.reason;
    cost.extrapolated = !cost.reason.empty();
    const Rounds rounds = CountRounds(plan.choice, shape, query);
    cost.chunkBytes = static_cast<uint64_t>(rounds.chunkBytes);
    cost.rounds = rounds.count;
    cost.intra = MicrosecondsToTime(terms.intra);
    cost.inter = MicrosecondsToTime(terms.inter);
    cost.reduction = MicrosecondsToTime(terms.reduction);
    cost.synchronisation = MicrosecondsToTime(terms.synchronisation);
    // Set-up takes what rounding leaves, so that the total is the rounded total and never falls.
    cost.setup = MicrosecondsToTime(terms.GetTotal()) - cost.GetTotal();
    return cost;
}

CostBreakdown WhiteBoxCostModel::Estimate(const CollectivePlan& plan) const
{
    NS_ABORT_MSG_IF(!m_profile, "WhiteBoxCostModel needs SetProfile before Estimate");
    const GroupShape shape = ShapeOf(*plan.layout);
    const LinkRates links = GetLinks(plan.layout);
    if (plan.spec.kind == CollectiveKind::ALL_TO_ALL_V || UsesFallback(plan))
    {
        return Compute(plan, shape, links); // depends on more than the key
    }
    const bool isUneven = NicLoads::IsUneven(*plan.layout);
    const Key key{(uint64_t{static_cast<uint8_t>(plan.spec.kind)} << 48) |
                      (uint64_t{static_cast<uint8_t>(plan.choice.algorithm)} << 40) |
                      (uint64_t{static_cast<uint8_t>(plan.choice.protocol)} << 32) |
                      (AskedFor(plan.spec) << 24) | plan.choice.channels,
                  plan.spec.bytes,
                  (uint64_t{shape.ranks} << 32) | shape.hosts,
                  (uint64_t{shape.localRanks} << 32) | shape.nics,
                  KeyOf(links.gpuGBps),
                  KeyOf(links.nicGBps),
                  isUneven ? reinterpret_cast<uintptr_t>(plan.layout.get()) : 0,
                  isUneven ? plan.spec.root : 0};
    if (const auto it = m_cache.find(key); it != m_cache.end())
    {
        return it->second;
    }
    if (m_cache.size() >= MOST_ENTRIES)
    {
        m_cache.clear();
    }
    return m_cache.emplace(key, Compute(plan, shape, links)).first->second;
}

} // namespace echo
} // namespace ns3
