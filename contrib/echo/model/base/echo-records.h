// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_RECORDS_H
#define ECHO_RECORDS_H

#include "echo-enums.h"
#include "echo-ids.h"
#include "echo-job-span.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** What kind of work an operator is, for outputs. */
enum class ActivityKind : uint8_t
{
    COMPUTE,
    COPY,
    COMMUNICATION,
    HOST, //!< CPU-side delay (kernel launch, framework time)
};

/** One operator of one rank, from the time its stream reached it. */
struct OperatorRecord
{
    RankId rank;
    StreamId stream;
    OperatorId op;
    ActivityKind activity{ActivityKind::COMPUTE};
    std::string name;
    Time ready;              //!< reached: for communication, when the member joined
    Time start;              //!< work began: for communication, when the last member had joined
    Time end;                //!< done for this rank
    Time slowdown;           //!< part of (end - start) due to overlap with communication
    CollectiveId collective; //!< communication only; invalid for a batch of several pairs
    GroupKind group{GroupKind::OTHER};
    uint64_t bytes{0};    //!< communication: spec bytes (batch: sum of sends and receives)
    uint32_t replicas{1}; //!< ranks that did this at these times, this one among them (folding)
};

/** One instance of a collective, or one matched pair of send and receive. */
struct CollectiveRecord
{
    CollectiveId id;
    CollectiveKind kind{CollectiveKind::ALL_REDUCE};
    GroupKind group{GroupKind::OTHER};
    std::string groupName;
    RankId firstMember; //!< of the group, in its order (send/recv: the sender)
    uint32_t ranks{0};
    uint32_t hosts{0};
    uint64_t bytes{0};
    CollectiveAlgorithmKind algorithm{CollectiveAlgorithmKind::AUTO};
    CollectiveProtocol protocol{CollectiveProtocol::AUTO};
    uint32_t channels{0};
    Fidelity fidelity{Fidelity::ANALYTICAL};
    Time firstJoin;            //!< first member reached it
    Time start;                //!< last member reached it: transfer begins
    Time end;                  //!< last member done
    Time estimate;             //!< the estimator's duration, zero if none was made
    uint64_t payloadBytes{0};  //!< sum over members of payload sent to others
    double linkUtilization{0}; //!< largest, of its footprint, during its transfer; 0 if unknown
    bool extrapolated{false};  //!< estimate outside the calibrated range
    bool contended{false};     //!< shared inter-host links with another at the same time
    bool uncoupled{false};     //!< shared with one that another model served
    uint32_t replicas{1}; //!< instances alike, of as many groups, this one among them (folding)
};

/** One message between two devices (packet and flow fidelity). */
struct FlowRecord
{
    uint64_t id{0};
    CollectiveId collective;
    DeviceId source;
    DeviceId destination;
    uint64_t label{0}; //!< chooses the path and the queue pair
    uint64_t bytes{0}; //!< payload
    Time start;
    Time end;
    uint64_t packets{0};
    uint64_t retransmitted{0}; //!< packets
    uint32_t hops{0};          //!< links traversed
};

/** One direction of one link over the whole run. */
struct LinkRecord
{
    LinkId link;
    PortId port; //!< transmitting port
    std::string from;
    std::string to;
    DeviceRole fromRole{DeviceRole::GPU};
    DeviceRole toRole{DeviceRole::GPU};
    DataRate rate;
    uint64_t wireBytes{0};    //!< headers and retransmissions included (flow: equals payload)
    uint64_t payloadBytes{0}; //!< payload
    uint64_t packets{0};
    Time busy;          //!< time spent transmitting
    Time lastBusy;      //!< end of its last transmission
    double peakRate{0}; //!< largest share of the rate in use, 0..1 (flow: at one time)
    uint64_t maxQueueBytes{0};
    uint64_t ecnMarks{0};
    uint64_t pauses{0}; //!< PFC pause frames received by the transmitting port
    Time paused;
    uint64_t drops{0};
};

/** Where one rank's step time went; the four parts add up to the step time. */
struct RankRecord
{
    RankId rank;
    uint32_t host{0};
    Time compute;              //!< some kernel or copy runs
    Time exposedCommunication; //!< no compute, some communication transfers
    Time waiting;              //!< neither, but joined a communication that others have not
    Time idle;          //!< none of the above; with several jobs also before and after its own
    Time communication; //!< some communication transfers, overlapped or not
    Time slowdown;      //!< extra compute time due to overlap
    Time firstStart;    //!< of its operators
    Time lastEnd;       //!< of its operators
};

/** Where one of several jobs stood in a run; its parts are means over its ranks. */
struct JobRecord : JobSpan
{
    uint32_t hosts{0};
    Time start;                //!< of its first operator
    Time stepTime;             //!< latest end less earliest start over its ranks
    Time compute;              //!< as in RankRecord
    Time exposedCommunication; //!< as in RankRecord
    Time waiting;              //!< as in RankRecord
    Time idle;                 //!< none of these within its own step time
    std::optional<Time> alone; //!< step time without the other jobs, if that was simulated
};

/** What one run was and cost; from `wallSeconds` on not deterministic, for run.json only. */
struct RunRecord
{
    std::string scenario;
    Fidelity fidelity{Fidelity::HYBRID};
    uint64_t seed{1};
    uint32_t ranks{0};
    uint32_t hosts{0};
    Time stepTime; //!< latest end less earliest start over all ranks, of all jobs
    std::string congestionControl;
    std::string profile; //!< of estimates; "derived": of link rates; empty: nothing estimated
    std::vector<std::string> warnings;
    std::vector<JobRecord> jobs; //!< by first rank; empty: all ranks are one job
    uint64_t packets{0};
    uint64_t packetHops{0};
    uint64_t drops{0};
    uint64_t pauses{0};
    uint64_t ecnMarks{0};
    uint64_t cnps{0}; //!< congestion notification packets that reached their senders
    std::map<std::string, std::string> zeroCounters; //!< why drops, pauses ... are zero, if so
    uint64_t wireBytes{0};                           //!< over all inter-host links
    uint32_t simulatedRanks{0}; //!< fewer than ranks where equal ranks were folded; 0: all

    double wallSeconds{0};
    double cpuSeconds{0};
    uint64_t peakMemoryBytes{0};
    uint64_t events{0};
};

/** A rank whose operators will be recorded. */
struct SimulatedRank
{
    RankId rank;
    uint32_t replicas{1};  //!< ranks that it stands for, itself among them
    uint64_t operators{0}; //!< of its program
};

/**
 * Where records go. The model rooms push into one; the report room writes files from it.
 * The simulated ranks come first, in order of rank. Operators, collectives and flows come in order
 * of simulated end time; ranks, links and the run come once, after the simulation (ranks, then
 * links, then the run).
 */
class RecordSink
{
  public:
    virtual ~RecordSink() = default;

    virtual void OnBegin(const std::vector<SimulatedRank>&)
    {
    }

    virtual void OnOperator(const OperatorRecord&)
    {
    }

    virtual void OnCollective(const CollectiveRecord&)
    {
    }

    virtual void OnFlow(const FlowRecord&)
    {
    }

    virtual void OnLink(const LinkRecord&)
    {
    }

    virtual void OnRank(const RankRecord&)
    {
    }

    virtual void OnRun(const RunRecord&)
    {
    }
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_RECORDS_H */
