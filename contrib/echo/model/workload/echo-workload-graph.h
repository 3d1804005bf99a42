// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_WORKLOAD_GRAPH_H
#define ECHO_WORKLOAD_GRAPH_H

#include "echo-kernel.h"

#include "ns3/echo-collective-spec.h"
#include "ns3/echo-comm-group.h"
#include "ns3/echo-error.h"
#include "ns3/echo-job-span.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** What an operator does. */
enum class OperatorType : uint8_t
{
    COMPUTE,        //!< a kernel
    COPY,           //!< a device or host copy
    HOST,           //!< CPU time (kernel launch, framework); runs on a stream of its own
    COLLECTIVE,     //!< joins a collective of a group
    POINT_TO_POINT, //!< one send or receive, or a batch that completes as one
    MARKER,         //!< takes no time; joins dependencies
};

/** Which part of a step of one micro-batch an operator is, for steps of many to be composed of. */
enum class OperatorPart : uint8_t
{
    NONE,     //!< not said
    FORWARD,  //!< a stage's forward pass, what it receives and sends included
    BACKWARD, //!< its backward pass
    END,      //!< after all passes: gradients, optimizer
};

const char* ToString(OperatorPart part);
/** @throws InputError that lists the names */
OperatorPart ParseOperatorPart(const std::string& text);

/** One node of a rank's execution graph; no behaviour. */
struct Operator
{
    OperatorType type{OperatorType::COMPUTE};
    OperatorPart part{OperatorPart::NONE};
    uint8_t chunk{0};                     //!< FORWARD, BACKWARD: which of its stage's model chunks
    KernelKind kernel{KernelKind::OTHER}; //!< COMPUTE
    DataType precision{DataType::FP32};   //!< COMPUTE with flops: of the multiplications
    KernelShape shape;                    //!< COMPUTE: what is multiplied, if known
    StreamId stream;
    uint32_t name{0};          //!< index of its name (ExecutionGraph::GetName)
    Time duration;             //!< COMPUTE, COPY, HOST: recorded or modelled time alone
    double flops{0};           //!< COMPUTE: floating-point operations, 0 if unknown
    double memoryBytes{0};     //!< COMPUTE, COPY: bytes read and written, 0 if unknown
    uint32_t communication{0}; //!< COLLECTIVE, POINT_TO_POINT: index of its description
    uint32_t counters{0};      //!< COMPUTE: 1 + index of its counters; 0 if it has none
    uint32_t firstDependency{0};
    uint32_t dependencyCount{
        0};           //!< operators of other streams that must be done first; one a stream
    uint32_t line{0}; //!< source line or node id, for messages; 0 if generated
};

/**
 * A communication of an execution graph, relative to a rank so that equal ranks share it: the
 * group is a slot (each rank binds slots to its own groups), peers are indices in that group.
 */
struct CommunicationDescription
{
    uint32_t groupSlot{0};
    CollectiveSpec spec; //!< COLLECTIVE
    struct Element
    {
        bool isSend{true};
        uint32_t peerIndex{0}; //!< in the slot's group
        uint64_t bytes{0};
        int32_t tag{0};
    };
    std::vector<Element> elements; //!< POINT_TO_POINT
};

/**
 * The sealed program of one class of equal ranks: operators in one array, in an order in which
 * every operator follows its dependencies; streams list their operators in order.
 */
class ExecutionGraph
{
  public:
    const std::vector<Operator>& GetOperators() const
    {
        return m_operators;
    }

    const Operator& GetOperator(OperatorId id) const
    {
        return m_operators[id.Get()];
    }

    uint32_t GetStreamCount() const
    {
        return static_cast<uint32_t>(m_streams.size());
    }

    /** @return the operators of a stream in order */
    const std::vector<OperatorId>& GetStream(StreamId stream) const
    {
        return m_streams[stream.Get()];
    }

    const std::string& GetStreamName(StreamId stream) const
    {
        return m_streamNames[stream.Get()];
    }

    /** @return position of an operator in its stream */
    uint32_t GetPosition(OperatorId id) const
    {
        return m_positions[id.Get()];
    }

    /** @return first of the operator's dependencies; there are op.dependencyCount */
    const OperatorId* GetDependencies(const Operator& op) const
    {
        return m_dependencies.data() + op.firstDependency;
    }

    const CommunicationDescription& GetCommunication(const Operator& op) const
    {
        return m_communications[op.communication];
    }

    /** @return what a profiler counted of a kernel; null if nothing */
    const KernelCounters* GetCounters(const Operator& op) const
    {
        return op.counters == 0 ? nullptr : &m_counters[op.counters - 1];
    }

    /** @return index of an operator of this graph */
    OperatorId GetId(const Operator& op) const
    {
        return OperatorId(static_cast<uint32_t>(&op - m_operators.data()));
    }

    const std::string& GetName(const Operator& op) const
    {
        return m_names[op.name];
    }

    uint32_t GetGroupSlotCount() const
    {
        return m_groupSlots;
    }

    /** @return all descriptions; operators that ask the same share one */
    const std::vector<CommunicationDescription>& GetCommunications() const
    {
        return m_communications;
    }

    /** What a program asks of the group that a rank binds to a slot. */
    struct SlotNeeds
    {
        uint32_t minimumSize{1}; //!< by peers and roots
        OperatorId minimumBy;    //!< the operator that asks for it; invalid if none
        uint32_t exactSize{0};   //!< by the rows of an all-to-all-v; 0 if none asks
        OperatorId exactBy;      //!< the operator that asks for it
        OperatorId otherExactBy; //!< one that asks for another size; invalid if all agree
    };

    const SlotNeeds& GetSlotNeeds(uint32_t slot) const
    {
        return m_slotNeeds[slot];
    }

    /** @return file (or "generated") that the graph came from, for messages */
    const std::string& GetSource() const
    {
        return m_source;
    }

    /** @return where an operator stands, for messages: file, line and name */
    SourceLocation GetLocation(OperatorId id) const
    {
        const Operator& op = GetOperator(id);
        return {m_source, op.line, "operator '" + GetName(op) + "'"};
    }

  private:
    friend class ExecutionGraphBuilder;
    std::vector<Operator> m_operators;
    std::vector<std::vector<OperatorId>> m_streams;
    std::vector<std::string> m_streamNames;
    std::vector<uint32_t> m_positions;
    std::vector<OperatorId> m_dependencies;
    std::vector<CommunicationDescription> m_communications;
    std::vector<KernelCounters> m_counters;
    std::vector<std::string> m_names;
    std::vector<SlotNeeds> m_slotNeeds;
    uint32_t m_groupSlots{0};
    std::string m_source;
};

using ExecutionGraphPtr = std::shared_ptr<const ExecutionGraph>;

/**
 * All that runs: every rank's program and groups. Equal ranks share one ExecutionGraph. It is one
 * job, or several (MergeJobs) that share nothing but the cluster.
 */
class WorkloadGraph
{
  public:
    uint32_t GetRankCount() const
    {
        return static_cast<uint32_t>(m_programs.size());
    }

    const ExecutionGraphPtr& GetProgram(RankId rank) const
    {
        return m_programs[rank.Get()];
    }

    /** @return the group that a rank binds to a slot */
    const CommGroupPtr& GetGroup(RankId rank, uint32_t slot) const
    {
        return m_bindings[rank.Get()][slot];
    }

    /** @return all groups, by GroupId */
    const std::vector<CommGroupPtr>& GetGroups() const
    {
        return m_groups;
    }

    /** @return time at which a rank starts (0 unless ranks are known to start apart) */
    Time GetStartTime(RankId rank) const
    {
        return m_startTimes.empty() ? Time() : m_startTimes[rank.Get()];
    }

    /** @return several jobs by first rank; empty: all ranks are one job */
    const std::vector<JobSpan>& GetJobs() const
    {
        return m_jobs;
    }

    /** @return every program once, in order of the first rank that has it */
    std::vector<ExecutionGraphPtr> GetDistinctPrograms() const;

  private:
    friend class WorkloadBuilder;
    std::vector<ExecutionGraphPtr> m_programs;         //!< by rank
    std::vector<std::vector<CommGroupPtr>> m_bindings; //!< by rank, by slot
    std::vector<CommGroupPtr> m_groups;                //!< by id
    std::vector<Time> m_startTimes;                    //!< by rank; empty: all zero
    std::vector<JobSpan> m_jobs;                       //!< by first rank; empty: one
};

using WorkloadGraphPtr = std::shared_ptr<const WorkloadGraph>;

} // namespace echo
} // namespace ns3

#endif /* ECHO_WORKLOAD_GRAPH_H */
