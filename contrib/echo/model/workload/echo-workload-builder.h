// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_WORKLOAD_BUILDER_H
#define ECHO_WORKLOAD_BUILDER_H

#include "echo-workload-graph.h"

#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * The only way to make an ExecutionGraph. Operators of a stream run in the order of adding;
 * dependencies may name operators that are added later.
 *
 * The Add functions return ids that hold until Build(); the sealed graph numbers its operators
 * anew if dependencies point at operators that were added later (else ids stay). Values that an
 * operator cannot have (a negative duration, an all-to-all-v without rows) are refused when it is
 * added, by its name.
 */
class ExecutionGraphBuilder
{
  public:
    /** @param source file name (or "generated"), for messages */
    explicit ExecutionGraphBuilder(std::string source = "generated");

    /** Makes room for so many operators in all; without it, for up to twice as many as there are.
     */
    void Reserve(size_t operators);
    /** @return the stream of that name, made at first use ("compute", "7", "cpu") */
    StreamId GetStream(const std::string& name);
    /** @return a new group slot */
    uint32_t AddGroupSlot();

    OperatorId AddCompute(StreamId stream,
                          const std::string& name,
                          Time duration,
                          double flops = 0,
                          double memoryBytes = 0);
    OperatorId AddCopy(StreamId stream, const std::string& name, Time duration, double memoryBytes);
    OperatorId AddHost(StreamId stream, const std::string& name, Time duration);
    OperatorId AddCollective(StreamId stream,
                             const std::string& name,
                             uint32_t groupSlot,
                             const CollectiveSpec& spec);
    OperatorId AddPointToPoint(StreamId stream,
                               const std::string& name,
                               uint32_t groupSlot,
                               std::vector<CommunicationDescription::Element> elements);
    OperatorId AddMarker(StreamId stream, const std::string& name);

    /**
     * @p op starts only when @p dependency is done. Duplicates and same-stream order are free;
     * what stream order implies is left out of the sealed graph.
     */
    void AddDependency(OperatorId op, OperatorId dependency);
    /** Sets the source line or node id that messages name. */
    void SetLine(OperatorId op, uint32_t line);
    /**
     * Says what sort of kernel a COMPUTE operator is (unknown unless said), in which format it
     * multiplies, and what.
     */
    void SetKernel(OperatorId op,
                   KernelKind kernel,
                   DataType precision,
                   const KernelShape& shape = KernelShape());

    /** Says which part of a step of one micro-batch an operator is, and of which model chunk. */
    void SetPart(OperatorId op, OperatorPart part, uint8_t chunk = 0);
    /** Says what a profiler counted of a COMPUTE operator. */
    void SetCounters(OperatorId op, const KernelCounters& counters);

    /**
     * Checks and seals: dependencies exist, no cycle over dependencies and stream order (the
     * message prints the smallest cycle found, by names and lines), group slots exist. The builder
     * is empty afterwards.
     * @throws InputError
     */
    ExecutionGraphPtr Build();

  private:
    using Edges = std::vector<std::pair<OperatorId, OperatorId>>; //!< operator, its dependency

    OperatorId Add(Operator op, StreamId stream, const std::string& name);
    uint32_t AddCommunication(CommunicationDescription description);
    /** @return an error at an operator that is being added or already is */
    InputError ErrorAt(const Operator& op,
                       const std::string& name,
                       const std::string& found,
                       const std::string& expected) const;
    std::string Label(OperatorId op) const;
    void CheckReferences() const;
    void SetPositions();
    Edges ReduceDependencies() const;
    void Order(Edges& edges);
    void SetDependencies(const Edges& edges);
    void SetSlotNeeds();
    [[noreturn]] void FailWithCycle() const;

    ExecutionGraph m_graph;
    std::unordered_map<std::string, uint32_t> m_nameIndex; //!< looked up only
    std::map<std::string, StreamId> m_streamIndex;
    std::unordered_multimap<uint64_t, uint32_t> m_communicationIndex; //!< by hash; looked up only
    Edges m_edges;                                                    //!< as given
};

/** The only way to make a WorkloadGraph. */
class WorkloadBuilder
{
  public:
    explicit WorkloadBuilder(uint32_t ranks);

    /**
     * @return a new group; equal (kind, ranks, communicator) give the same group (of the first
     *         name)
     * @param communicator tells groups of equal members apart: each matches calls of its own
     * @throws InputError if it is empty, or a rank is out of range or there twice
     */
    CommGroupPtr AddGroup(GroupKind kind,
                          const std::string& name,
                          std::vector<RankId> ranks,
                          uint32_t communicator = 0);
    /**
     * @return a group of its own, even if there is one with these ranks already: calls on it are
     *         matched apart, as those on another communicator of NCCL
     * @throws InputError as AddGroup
     */
    CommGroupPtr AddSeparateGroup(GroupKind kind,
                                  const std::string& name,
                                  const std::vector<RankId>& ranks);
    /**
     * Gives a rank its program; @p groups binds the program's slots in order.
     * @throws InputError if the rank is out of range or has a program already
     */
    void SetProgram(RankId rank, ExecutionGraphPtr program, std::vector<CommGroupPtr> groups);
    void SetStartTime(RankId rank, Time time);
    /** The next @p ranks ranks, from 0 on, are a job of that name; once for each of several. */
    void AddJob(const std::string& name, uint32_t ranks);

    /**
     * Checks and seals: every rank has a program (the missing are named), every slot is bound to a
     * group that holds the rank, peers and roots are in range, all-to-all-v rows fit the group. The
     * builder is empty afterwards.
     * @throws InputError
     */
    WorkloadGraphPtr Build();

  private:
    void CheckRank(RankId rank) const;
    void CheckBindings(RankId rank) const;

    WorkloadGraph m_graph;
    std::map<std::tuple<GroupKind, std::vector<RankId>, uint32_t>, CommGroupPtr> m_groupIndex;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_WORKLOAD_BUILDER_H */
