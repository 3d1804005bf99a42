// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TESTS_NETWORK_RIG_H
#define ECHO_TESTS_NETWORK_RIG_H

#include "small-cluster.h"

#include "ns3/echo-analytical-backend.h"
#include "ns3/echo-collective-selector.h"
#include "ns3/echo-flow-network.h"
#include "ns3/echo-scheduled-backend.h"
#include "ns3/echo-shortest-path-router.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** Keeps every record. */
struct CapturedRecords : public RecordSink
{
    std::vector<CollectiveRecord> collectives;
    std::vector<FlowRecord> flows;
    std::vector<LinkRecord> links;

    void OnCollective(const CollectiveRecord& record) override
    {
        collectives.push_back(record);
    }

    void OnFlow(const FlowRecord& record) override
    {
        flows.push_back(record);
    }

    void OnLink(const LinkRecord& record) override
    {
        links.push_back(record);
    }

    const LinkRecord* FindLink(const std::string& from, const std::string& to) const
    {
        for (const auto& link : links)
        {
            if (link.from == from && link.to == to)
            {
                return &link;
            }
        }
        return nullptr;
    }
};

/** A cost model with one fixed price, and one for each byte. */
class FixedCostModel : public CostModel
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::echo::FixedCostModel").SetParent<Object>();
        return tid;
    }

    CostBreakdown Estimate(const CollectivePlan& plan) const override
    {
        CostBreakdown cost;
        cost.setup = setup;
        cost.inter = PicoSeconds(plan.spec.bytes * picosecondsPerByte);
        cost.extrapolated = plan.layout->GetRanks() > calibratedRanks;
        cost.reason = cost.extrapolated ? "more ranks than calibrated" : "";
        return cost;
    }

    Time setup{MicroSeconds(10)};
    uint64_t picosecondsPerByte{80};
    uint32_t calibratedRanks{1000000};
};

/** A cluster with all ranks placed, and one back end on it. */
struct NetworkRig
{
    explicit NetworkRig(const SmallCluster& cluster, uint32_t ranks = 0)
        : NetworkRig(cluster.Build(), ranks)
    {
    }

    explicit NetworkRig(TopologyPtr built, uint32_t ranks = 0) : topology(std::move(built))
    {
        const auto gpus = static_cast<uint32_t>(topology->GetDevices(DeviceRole::GPU).size());
        placement = std::make_shared<const Placement>(
            Placement::Linear(topology, ranks == 0 ? gpus : ranks));
        router = CreateObject<ShortestPathRouter>();
        router->Prepare(topology);
        selector = CreateObject<FixedSelector>();
        world = WorldGroup(*placement);
    }

    ~NetworkRig()
    {
        Simulator::Destroy();
    }

    /** Flow fidelity. */
    Ptr<ScheduledBackend> UseFlow()
    {
        flow = CreateObject<FlowNetwork>();
        flow->Prepare(router, &records);
        auto scheduled = CreateObject<ScheduledBackend>();
        scheduled->SetNetworks(flow, flow);
        scheduled->SetRouter(router);
        scheduled->Prepare(placement, selector, &records);
        backend = scheduled;
        return scheduled;
    }

    Ptr<AnalyticalBackend> UseAnalytical(bool withRouter = true)
    {
        cost = CreateObject<FixedCostModel>();
        auto analytical = CreateObject<AnalyticalBackend>();
        analytical->SetCostModel(cost);
        if (withRouter)
        {
            analytical->SetRouter(router);
        }
        analytical->Prepare(placement, selector, &records);
        backend = analytical;
        return analytical;
    }

    /** All members of a group join now; `done` counts completions. */
    void JoinAll(const CollectiveSpec& spec, const CommGroupPtr& group)
    {
        for (const RankId rank : group->GetRanks())
        {
            backend->Join(spec, group, rank, "op", [this](const CommunicationTimes& times) {
                ++done;
                last = times;
            });
        }
    }

    /** @return the time that one collective of all ranks takes */
    Time TimeOf(CollectiveKind kind,
                uint64_t bytes,
                CollectiveAlgorithmKind algorithm = CollectiveAlgorithmKind::AUTO,
                CommGroupPtr group = nullptr)
    {
        CollectiveSpec spec;
        spec.kind = kind;
        spec.bytes = bytes;
        spec.algorithm = algorithm;
        const Time begin = Simulator::Now();
        JoinAll(spec, group ? group : world);
        Simulator::Run();
        return last.end - begin;
    }

    /** A pair of `from` and `to` of the world group. */
    void SendReceive(uint32_t from, uint32_t to, uint64_t bytes, int32_t tag = 0)
    {
        const auto count = [this](const CommunicationTimes& times) {
            ++done;
            last = times;
        };
        backend->JoinPointToPoint(
            {{true, RankId(to), bytes, tag}}, world, RankId(from), "s", count);
        backend->JoinPointToPoint(
            {{false, RankId(from), bytes, tag}}, world, RankId(to), "r", count);
    }

    void ReportLinks()
    {
        records.links.clear();
        backend->ReportLinks(records, Simulator::Now());
    }

    TopologyPtr topology;
    PlacementPtr placement;
    Ptr<Router> router;
    Ptr<FixedSelector> selector;
    CommGroupPtr world;
    Ptr<FlowNetwork> flow;
    Ptr<FixedCostModel> cost;
    Ptr<CollectiveBackend> backend;
    CapturedRecords records;
    uint32_t done{0};
    CommunicationTimes last;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_TESTS_NETWORK_RIG_H */
