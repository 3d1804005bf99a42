// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_SCENARIO_H
#define ECHO_SCENARIO_H

#include "ns3/echo-cluster.h"
#include "ns3/echo-enums.h"
#include "ns3/echo-fidelity-rule.h"
#include "ns3/echo-link-event.h"
#include "ns3/echo-traffic-spec.h"
#include "ns3/echo-workload-graph.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/** How collectives are carried out where operators leave it open. */
struct CollectiveSettings
{
    CollectiveAlgorithmKind algorithm{CollectiveAlgorithmKind::AUTO};
    CollectiveProtocol protocol{CollectiveProtocol::AUTO};
    uint32_t channels{0};   //!< 0: the selector decides
    uint64_t chunkBytes{0}; //!< largest message of a step; 0: a step's data is one message
};

/** A traffic class of the packet level. */
struct TrafficClassSettings
{
    bool strict{false};            //!< before weighted ones
    uint32_t weight{1};            //!< else
    std::vector<GroupKind> groups; //!< whose messages are of it
};

/** The packet level's main settings; all others are attributes. */
struct NetworkSettings
{
    uint64_t mtuBytes{4096};               //!< payload of a full packet
    std::string congestionControl{"none"}; //!< a policy as LookupPolicy takes it
    bool pfc{true};                        //!< lossless
    std::string loadBalancing; //!< ecmp, static, spray, flowlet, adaptive or a TypeId; empty: the
                               //!< cluster's
    Time rerouteDelay{MilliSeconds(1)};        //!< from a failure to ways around it
    std::vector<TrafficClassSettings> classes; //!< empty: one for all; what no class names is of
                                               //!< the last
};

/** How hybrid fidelity divides communications among models. */
struct HybridSettings
{
    std::string policy{"contention"};    //!< "contention", "sampled" or "rules"
    uint32_t samples{2};                 //!< of the policy "sampled"
    std::string contended{"auto"};       //!< model of what is contended: "packet", "flow", "auto"
    std::vector<FidelityRule> rules;     //!< of the policy "rules"
    bool partsMeeting{false};            //!< "rules": as written, even for those who meet
    uint64_t packetHopBudget{100000000}; //!< "auto" takes flow above so many packet-hops
};

/** How much a run writes. */
struct OutputSettings
{
    uint64_t timelineEvents{400000}; //!< most operators in timeline.json; 0: no limit
    uint32_t timelineRanks{128};     //!< most ranks in it and in the page; 0: no limit
    uint64_t rows{200000}; //!< most rows of collectives.csv, and of flows.csv; 0: no limit
};

/** How much communication slows the kernels beside it. */
struct SlowdownSettings
{
    std::string model{"none"};         //!< "none", "constant" or "learned"
    double factor{1};                  //!< constant: of every kernel, if there is no file
    std::string file;                  //!< constant: factors by kind of kernel; learned: the model
    std::vector<std::string> features; //!< learned: names, if the model has none
    std::string target;                //!< learned: what its number is, if the model does not say;
                                       //!< empty: a factor
};

/** The time of one collective of a recording from its last join to its end. */
struct MeasuredTransfer
{
    GroupId group;
    uint32_t sequence{0}; //!< the how-manieth of its group
    Time duration;
};

/** A run as a file describes it: everything that the result depends on. */
struct Scenario
{
    std::string file; //!< that it was read from
    std::string name;
    uint64_t seed{1};
    Fidelity fidelity{Fidelity::HYBRID};
    Cluster cluster;
    std::string placementOrder{"linear"}; //!< "linear" or "round-robin"
    std::vector<DeviceId> placementGpus;  //!< GPU of each rank, if listed
    WorkloadGraphPtr workload;            //!< of one job or several
    bool comparesAlone{false};         //!< several jobs: each is simulated without the others too
    std::vector<std::string> warnings; //!< what looks wrong but can run, a sentence each
    std::string workloadReport;        //!< health report of an imported workload, else empty
    /// The step as measured: as the scenario says (`measured`), else, imported, as recorded, latest
    /// end less earliest start; else 0.
    Time measuredSpan;
    /// Collectives take these times instead of being simulated (a check of a replay); else empty.
    std::vector<MeasuredTransfer> measuredTransfers;
    CollectiveSettings collective;
    NetworkSettings network;
    HybridSettings hybrid;
    std::vector<LinkEvent> failures;     //!< of links and switches
    std::vector<TrafficSpec> background; //!< traffic beside the job
    std::string folding{"auto"}; //!< of equal ranks: "auto", "on" (says why if it cannot), "off"
    OutputSettings output;
    std::string profile;        //!< estimator profile file; empty: derived from links
    bool sharesLinks{true};     //!< analytical: communications that meet slow one another
    std::string computeProfile; //!< operator efficiencies file; empty: as recorded
    double computeScale{1};     //!< on every compute time
    SlowdownSettings slowdown;  //!< of compute beside communication
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_SCENARIO_H */
