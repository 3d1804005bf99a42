// SPDX-License-Identifier: GPL-2.0-only
#include "echo-pipeline-schedule.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

namespace
{

/** Collects the steps of one stage; transfers that the stage has no neighbour for drop out. */
class StageSteps
{
  public:
    StageSteps(uint32_t stage, uint32_t stages)
        : m_isFirst(stage == 0), m_isLast(stage + 1 == stages)
    {
    }

    void Forward(uint32_t microBatch)
    {
        m_steps.push_back({PipelineStep::Kind::FORWARD, microBatch, {}});
    }

    void Backward(uint32_t microBatch)
    {
        m_steps.push_back({PipelineStep::Kind::BACKWARD, microBatch, {}});
    }

    // Transfers gather until Flush() makes them one step.
    void SendActivation(uint32_t microBatch)
    {
        Add(!m_isLast, {true, true, microBatch});
    }

    void ReceiveActivation(uint32_t microBatch)
    {
        Add(!m_isFirst, {false, true, microBatch});
    }

    void SendGradient(uint32_t microBatch)
    {
        Add(!m_isFirst, {true, false, microBatch});
    }

    void ReceiveGradient(uint32_t microBatch)
    {
        Add(!m_isLast, {false, false, microBatch});
    }

    void Flush()
    {
        if (!m_transfers.empty())
        {
            m_steps.push_back({PipelineStep::Kind::TRANSFER, 0, std::move(m_transfers)});
            m_transfers.clear();
        }
    }

    std::vector<PipelineStep> Take()
    {
        return std::move(m_steps);
    }

  private:
    void Add(bool hasNeighbour, PipelineStep::Transfer transfer)
    {
        if (hasNeighbour)
        {
            m_transfers.push_back(transfer);
        }
    }

    bool m_isFirst;
    bool m_isLast;
    std::vector<PipelineStep> m_steps;
    std::vector<PipelineStep::Transfer> m_transfers; //!< of the step that is being gathered
};

void AddForwardAlone(StageSteps& steps, uint32_t microBatch)
{
    steps.ReceiveActivation(microBatch);
    steps.Flush();
    steps.Forward(microBatch);
    steps.SendActivation(microBatch);
    steps.Flush();
}

void AddBackwardAlone(StageSteps& steps, uint32_t microBatch)
{
    steps.ReceiveGradient(microBatch);
    steps.Flush();
    steps.Backward(microBatch);
    steps.SendGradient(microBatch);
    steps.Flush();
}

uint32_t GetWarmUp(uint32_t stage, uint32_t stages, uint32_t microBatches)
{
    return std::min(stages - stage - 1, microBatches);
}

} // namespace

std::vector<PipelineStep> MakePipelineSchedule(PipelineScheduleKind kind,
                                               uint32_t stage,
                                               uint32_t stages,
                                               uint32_t microBatches)
{
    StageSteps steps(stage, stages);
    if (kind == PipelineScheduleKind::GPIPE)
    {
        for (uint32_t i = 0; i < microBatches; ++i)
        {
            AddForwardAlone(steps, i);
        }
        for (uint32_t i = microBatches; i-- > 0;)
        {
            AddBackwardAlone(steps, i);
        }
        return steps.Take();
    }
    const uint32_t warmUp = GetWarmUp(stage, stages, microBatches);
    const uint32_t steady = microBatches - warmUp;
    for (uint32_t i = 0; i < warmUp; ++i)
    {
        AddForwardAlone(steps, i);
    }
    if (steady > 0)
    {
        steps.ReceiveActivation(warmUp);
        steps.Flush();
    }
    for (uint32_t i = 0; i < steady; ++i)
    {
        steps.Forward(warmUp + i);
        steps.SendActivation(warmUp + i);
        steps.ReceiveGradient(i);
        steps.Flush();
        steps.Backward(i);
        steps.SendGradient(i);
        if (i + 1 < steady)
        {
            steps.ReceiveActivation(warmUp + i + 1);
        }
        steps.Flush();
    }
    for (uint32_t i = steady; i < microBatches; ++i)
    {
        AddBackwardAlone(steps, i);
    }
    return steps.Take();
}

uint32_t GetMicroBatchesInFlight(PipelineScheduleKind kind,
                                 uint32_t stage,
                                 uint32_t stages,
                                 uint32_t microBatches)
{
    if (kind == PipelineScheduleKind::GPIPE)
    {
        return microBatches;
    }
    return std::min(GetWarmUp(stage, stages, microBatches) + 1, microBatches);
}

} // namespace echo
} // namespace ns3
