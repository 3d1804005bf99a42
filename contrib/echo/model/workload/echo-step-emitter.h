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
 * WaitFor() when its result is needed.
 */
class StepEmitter
{
  public:
    StepEmitter(const TrainingPlan& plan, const ParallelLayout& layout);

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

    /**
     * A matrix product of [rows x inner] by [inner x columns], @p batch times.
     * @param accumulates the result is added to a gradient of the plan's type
     */
    void Gemm(const std::string& name,
              double rows,
              double columns,
              double inner,
              double batch = 1,
              bool accumulates = false);
    /** A kernel that is bound by memory. */
    void Memory(const std::string& name, KernelKind kernel, double bytes);
    /** Any other kernel. */
    void Kernel(const std::string& name, KernelKind kernel, double flops, double bytes);

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
    /** An asynchronous collective. @return its operator; invalid if the group has one member */
    OperatorId CollectiveAsync(const std::string& name,
                               LayoutGroup group,
                               CollectiveKind kind,
                               uint64_t bytes,
                               DataType type);
    /** Kernels and communications from here on start after @p op (nothing if it is invalid). */
    void WaitFor(OperatorId op);
    /** A blocking batch of sends and receives in the pipeline group. */
    void Transfer(const std::string& name, std::vector<CommunicationDescription::Element> elements);

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
    uint32_t GetSlot(LayoutGroup group);
    /** Makes a communication wait for what was issued before it. */
    void Follow(OperatorId communication);

    const TrainingPlan& m_plan;
    const ParallelLayout& m_layout;
    ExecutionGraphBuilder m_builder;
    StreamId m_compute;
    OperatorId m_lastKernel;           //!< invalid before the first
    std::vector<OperatorId> m_pending; //!< communications that the next operator must wait for
    std::string m_prefix;
    std::map<LayoutGroup, uint32_t> m_slotOf;
    std::vector<LayoutGroup> m_slots;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_STEP_EMITTER_H */
