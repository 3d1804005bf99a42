// SPDX-License-Identifier: GPL-2.0-only
#include "echo-derived-cost-model.h"

#include "echo-derived-terms.h"

#include "ns3/abort.h"
#include "ns3/echo-time-limit.h"
#include "ns3/log.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoDerivedCostModel");
NS_OBJECT_ENSURE_REGISTERED(DerivedCostModel);

namespace
{

/// group, kind and algorithm, channels and root, first and last rank (pairs have no group of own)
using GeometryKey = std::array<uint64_t, 4>;
/// the geometry's key; bytes, chunk
using EstimateKey = std::array<uint64_t, 6>;

template <size_t N>
struct ArrayHash
{
    size_t operator()(const std::array<uint64_t, N>& key) const
    {
        uint64_t hash = 0x9e3779b97f4a7c15u;
        for (const uint64_t part : key)
        {
            hash = (hash ^ part) * 0xff51afd7ed558ccdu;
            hash ^= hash >> 32;
        }
        return static_cast<size_t>(hash);
    }
};

GeometryKey KeyOf(const CollectivePlan& plan)
{
    const CommGroup& group = *plan.layout->group;
    return {(uint64_t{group.GetId().Get()} << 32) | group.GetSize(),
            (uint64_t{static_cast<uint8_t>(plan.spec.kind)} << 8) |
                static_cast<uint8_t>(plan.choice.algorithm),
            (uint64_t{plan.choice.channels} << 32) | plan.spec.root,
            (uint64_t{group.GetRank(0).Get()} << 32) | group.GetRank(group.GetSize() - 1).Get()};
}

} // namespace

/** What has been computed; neither table is ever iterated. */
struct DerivedCostModel::Cache
{
    std::unordered_map<GeometryKey, GeometryPtr, ArrayHash<4>> geometries;
    std::unordered_map<EstimateKey, CostBreakdown, ArrayHash<6>> estimates;
    std::map<CollectiveAlgorithmKind, Ptr<CollectiveAlgorithm>> algorithms;
    uint64_t edges{0}; //!< over all geometries held
};

TypeId DerivedCostModel::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::DerivedCostModel")
            .SetParent<CostModel>()
            .SetGroupName("Echo")
            .AddConstructor<DerivedCostModel>()
            .AddAttribute("Mtu",
                          "Payload of a full packet between hosts, bytes; 0: fluid, no packets",
                          UintegerValue(4096),
                          MakeUintegerAccessor(&DerivedCostModel::m_mtu),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("HeaderBytes",
                          "What each packet between hosts has on the wire beside payload: Ethernet "
                          "14 + 4 + preamble 8 + gap 12, IP 20, UDP 8, BTH 12, ICRC 4",
                          UintegerValue(82),
                          MakeUintegerAccessor(&DerivedCostModel::m_headerBytes),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("StepOverhead",
                          "Time that a rank takes before each step",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&DerivedCostModel::m_stepOverhead),
                          MakeTimeChecker(Time(0)));
    return tid;
}

DerivedCostModel::DerivedCostModel() : m_cache(std::make_unique<Cache>())
{
}

DerivedCostModel::~DerivedCostModel() = default;

void DerivedCostModel::SetRouter(Ptr<Router> router)
{
    m_router = router;
    m_cache = std::make_unique<Cache>();
}

void DerivedCostModel::DoDispose()
{
    m_router = nullptr;
    m_cache = std::make_unique<Cache>();
    CostModel::DoDispose();
}

DerivedCostModel::GeometryPtr DerivedCostModel::GetGeometry(const CollectivePlan& plan) const
{
    // Some 300 MB; past it the cache starts anew.
    constexpr uint64_t MOST_EDGES = 4000000;
    const GeometryKey key = KeyOf(plan);
    if (const auto it = m_cache->geometries.find(key); it != m_cache->geometries.end())
    {
        return it->second;
    }
    // Any size gives the same paths; one with bytes for all parts of all channels.
    CollectivePlan nominal;
    nominal.spec = plan.spec;
    nominal.choice = plan.choice;
    nominal.choice.channels = std::max(plan.choice.channels, 1u);
    nominal.layout = plan.layout;
    nominal.spec.bytes = uint64_t{4096} * plan.layout->GetRanks() * nominal.choice.channels;
    Ptr<CollectiveAlgorithm>& algorithm = m_cache->algorithms[plan.choice.algorithm];
    if (!algorithm)
    {
        algorithm = CreateCollectiveAlgorithm(plan.choice.algorithm);
    }
    auto geometry =
        std::make_shared<const PlanGeometry>(MakePlanGeometry(nominal, *algorithm, *m_router));
    m_cache->edges += geometry->edges.size();
    if (m_cache->edges > MOST_EDGES)
    {
        m_cache->geometries.clear();
        m_cache->edges = geometry->edges.size();
    }
    m_cache->geometries[key] = geometry;
    return geometry;
}

CostBreakdown DerivedCostModel::Compute(const CollectivePlan& plan) const
{
    WireFormat wire;
    wire.payloadBytes = static_cast<double>(m_mtu);
    wire.headerBytes = static_cast<double>(m_headerBytes);
    wire.stepOverheadUs = static_cast<double>(m_stepOverhead.GetPicoSeconds()) * 1e-6;
    CostBreakdown cost;
    if (plan.layout->GetRanks() < 2 ||
        (plan.spec.bytes == 0 && plan.spec.kind != CollectiveKind::BARRIER))
    {
        return cost;
    }
    const GeometryPtr geometry = GetGeometry(plan);
    const CostTerms terms = EvaluateDerived(plan, *geometry, wire);
    cost.intra = MicrosecondsToTime(terms.intra);
    cost.inter = MicrosecondsToTime(terms.inter);
    cost.synchronisation = MicrosecondsToTime(terms.synchronisation);
    // The larger transfer takes what rounding leaves, so that the total is the rounded total.
    Time& larger = cost.inter > cost.intra ? cost.inter : cost.intra;
    larger += MicrosecondsToTime(terms.GetTotal()) - cost.GetTotal();
    if (!geometry->fabricCounted)
    {
        cost.extrapolated = true;
        cost.reason = "all-to-all of " + std::to_string(plan.layout->GetRanks()) +
                      " ranks: the fabric is taken for non-blocking";
    }
    return cost;
}

double DerivedCostModel::GetWirePart() const
{
    return m_mtu > 0 ? static_cast<double>(m_mtu + m_headerBytes) / static_cast<double>(m_mtu) : 1;
}

CostBreakdown DerivedCostModel::Estimate(const CollectivePlan& plan) const
{
    NS_ABORT_MSG_IF(!m_router, "DerivedCostModel needs SetRouter before Estimate");
    if (plan.spec.kind == CollectiveKind::ALL_TO_ALL_V)
    {
        return Compute(plan);
    }
    const GeometryKey base = KeyOf(plan);
    const EstimateKey key{
        base[0], base[1], base[2], base[3], plan.spec.bytes, plan.choice.chunkBytes};
    if (const auto it = m_cache->estimates.find(key); it != m_cache->estimates.end())
    {
        return it->second;
    }
    constexpr size_t MOST_ENTRIES = 65536;
    if (m_cache->estimates.size() >= MOST_ENTRIES)
    {
        m_cache->estimates.clear();
    }
    return m_cache->estimates.emplace(key, Compute(plan)).first->second;
}

} // namespace echo
} // namespace ns3
