// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_STEP_EMITTER_H
#define ECHO_STEP_EMITTER_H

#include "echo-parallel-layout.h"
#include "echo-training-plan.h"
#include "echo-workload-builder.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Writes one rank's program as a framework on CUDA streams issues it: kernels in order on the
 * stream "compute"; each kind of process group has a stream of its own, as NCCL communicators do.
 *
 * A communication starts after all kernels issued before it. A blocking one (`async_op=False`, or
 * waited for at once) holds back the kernels after it; of an asynchronous one the caller says with
 * WaitFor() when its result is needed. What two passes that run together wait for is kept apart, in
 * two lanes: what is waited for in one holds back nothing of the other.
 */
class StepEmitter
{
  public:
    /** @param contextIndex of the rank in its context group */
    StepEmitter(const TrainingPlan& plan, const ParallelLayout& layout, uint32_t contextIndex = 0);

    const TrainingPlan& GetPlan() const
    {
        return m_plan;
    }

    /** What stands before the names of all operators from here on ("forward layer 3 "). */
    void SetPrefix(std::string prefix)
    {
        m_prefix = std::move(prefix);
    }

    const std::string& GetPrefix() const
    {
        return m_prefix;
    }

    /** A matrix product of [rows x inner] by [inner x columns]. */
    struct Product
    {
        std::string name;
        double rows{0};
        double columns{0};
        double inner{0};
        double batch{1};         //!< as many products of these sizes
        bool accumulates{false}; //!< the result is added to a gradient of the plan's type
        bool isWide{false};      //!< in the parameters' format although layers use a narrower one
    };

    void Gemm(const Product& product);
    /** Products of several experts in one launch: rows are those of all. */
    void GroupedGemm(const Product& product);

    /** A fused attention kernel. @param pairs of query and key that it works on, all heads */
    void Attention(const std::string& name,
                   bool isBackward,
                   const KernelShape& shape,
                   double flops,
                   double bytes);
    /** A kernel that is bound by memory. */
    void Memory(const std::string& name, KernelKind kernel, double bytes);
    /** Turns the input of a matrix product into the format that is multiplied, and its transpose,
     * for the weights' gradient; nothing where that is the parameters' format. */
    void Cast(const std::string& name, double elements);
    /**
     * The host has issued the kernels since the last call: what follows starts no sooner than it
     * could. Nothing without HostLaunch.
     */
    void EndUnit();

    /** @return this rank's place in its context group */
    uint32_t GetContextIndex() const
    {
        return m_contextIndex;
    }

    /**
     * What is written from here on is in a graph that the host launches as one kernel, or (@p isOn
     * false) not. A graph lasts until it is turned off or the unit ends.
     */
    void SetGraph(bool isOn)
    {
        m_inGraph = isOn;
        m_graphIsIssued = m_graphIsIssued && isOn;
    }

    /** @return members of the groups of @p group */
    uint32_t GetGroupSize(LayoutGroup group) const
    {
        return m_layout.GetGroupSize(group);
    }

    /** A blocking collective; none if the group has one member. */
    void Collective(const std::string& name,
                    LayoutGroup group,
                    CollectiveKind kind,
                    uint64_t bytes,
                    DataType type);
    void Collective(const std::string& name, LayoutGroup group, const CollectiveSpec& spec);
    /** An asynchronous collective. @return its operator; invalid if the group has one member */
    OperatorId CollectiveAsync(const std::string& name,
                               LayoutGroup group,
                               CollectiveKind kind,
                               uint64_t bytes,
                               DataType type);
    OperatorId CollectiveAsync(const std::string& name,
                               LayoutGroup group,
                               const CollectiveSpec& spec);

    /**
     * Gradients of all @p elements of what the ranks of @p data (DATA or EXPERT_DATA) hold, over
     * them: an all-reduce, or where the plan splits their state a reduce-scatter among those that
     * split a copy and, with several copies, an all-reduce of what each has of it behind.
     * @return the last operator; invalid if there is nothing to reduce
     */
    OperatorId ReduceGradients(const std::string& name, LayoutGroup data, uint64_t elements);
    /** Parameters of all @p elements, gathered among those that split a copy. @return as above */
    OperatorId GatherParameters(const std::string& name, LayoutGroup data, uint64_t elements);
    /** @return elements that a rank owns of the @p elements that the ranks of @p data split */
    uint64_t GetShare(LayoutGroup data, uint64_t elements) const;

    /** Kernels and communications of this lane start after @p op from here on (nothing if it is
     * invalid). */
    void WaitFor(OperatorId op);
    /** Begins the second lane: it waits for what the first one waits for. */
    void ForkLanes()
    {
        m_pending[1] = m_pending[0];
    }

    /** What is written from here on is of lane @p lane, 0 or 1. */
    void SetLane(uint32_t lane)
    {
        m_lane = lane;
    }

    /** Ends the second lane: the first one waits for what it waited for. */
    void JoinLanes();
    using Elements = std::vector<CommunicationDescription::Element>;

    /** A blocking batch of sends and receives in a group. */
    void Transfer(const std::string& name, LayoutGroup group, Elements elements);
    /** An asynchronous one on a stream of its own. @return its operator */
    OperatorId TransferAsync(const std::string& name,
                             LayoutGroup group,
                             const std::string& stream,
                             Elements elements);

    /** Sends to the next rank of a group and receives from the one before. @return its operator */
    OperatorId RingExchange(const std::string& name, LayoutGroup group, uint64_t bytes);

    /** The groups that the program uses, in the order of its slots. */
    const std::vector<LayoutGroup>& GetSlots() const
    {
        return m_slots;
    }

    ExecutionGraphPtr Build()
    {
        return m_builder.Build();
    }

  private:
    /** What the host needs to know of a kernel to issue it. */
    OperatorId Kernel(const std::string& name,
                      KernelKind kernel,
                      DataType precision,
                      const KernelShape& shape,
                      double flops,
                      double bytes);
    uint32_t GetSlot(LayoutGroup group);
    /** Makes a communication wait for what was issued before it. */
    void Follow(OperatorId communication);

    const TrainingPlan& m_plan;
    const ParallelLayout& m_layout;
    ExecutionGraphBuilder m_builder;
    uint32_t m_contextIndex;
    StreamId m_compute;
    OperatorId m_lastKernel;              //!< invalid before the first
    std::vector<OperatorId> m_pending[2]; //!< what the next operator of a lane must wait for
    uint32_t m_lane{0};
    uint32_t m_unissued{0}; //!< launches since the last EndUnit
    bool m_inGraph{false};
    bool m_graphIsIssued{false};         //!< its launch is counted
    std::vector<OperatorId> m_hostWaits; //!< that the host waits for
    std::string m_prefix;
    std::map<LayoutGroup, uint32_t> m_slotOf;
    std::vector<LayoutGroup> m_slots;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_STEP_EMITTER_H */
