// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_OVERLAPPED_SCHEDULES_H
#define ECHO_OVERLAPPED_SCHEDULES_H

#include "echo-pipeline-schedule.h"

namespace ns3
{
namespace echo
{

/**
 * 1F1B of pairs: the forward pass of one micro-batch runs layer by layer with the backward pass of
 * another, so that the exchange of tokens of the one is beside the kernels of the other
 * (Megatron-Core's combined 1F1B, overlap_moe_expert_parallel_comm). The order is that of
 * interleaved 1F1B after one forward pass more; on one stage each forward pass meets the backward
 * pass of the micro-batch before.
 */
class CombinedSchedule : public InterleavedSchedule
{
  public:
    static TypeId GetTypeId();
    std::vector<PipelinePass> GetPasses(uint32_t stage, const PipelineShape& shape) const override;
};

/**
 * DualPipe (arXiv 2412.19437, 3.2.1; deepseek-ai/DualPipe): two chunks on each of p stages, part s
 * and part p - 1 - s, with half of the micro-batches from either end. In the middle every pass is
 * paired with one of the other direction. The bubble is (p / 2 - 1)(F&B + B - 3W), with F a forward
 * pass of a chunk, B a full backward pass, W its weight gradients and F&B a pair; parameters are
 * there twice. Needs an even number of stages, and an even number of micro-batches of at least
 * 2 p.
 */
class DualPipeSchedule : public PipelineSchedule
{
  public:
    static TypeId GetTypeId();
    std::vector<PipelinePass> GetPasses(uint32_t stage, const PipelineShape& shape) const override;
    void CheckShape(const PipelineShape& shape) const override;

    uint32_t GetChunks() const override
    {
        return 2;
    }

    PartPlacement GetPlacement() const override
    {
        return PartPlacement::BOTH;
    }
};

/**
 * DualPipeV (deepseek-ai/DualPipe; Qi and Lin, "cut in half"): half of DualPipe, whose stages hold
 * part s and part 2 p - 1 - s, each once. The bubble is (p - 1)(F&B + B - 3W) in passes of a chunk.
 * Needs at least 2 p micro-batches.
 */
class DualPipeVSchedule : public PipelineSchedule
{
  public:
    static TypeId GetTypeId();
    std::vector<PipelinePass> GetPasses(uint32_t stage, const PipelineShape& shape) const override;
    void CheckShape(const PipelineShape& shape) const override;

    uint32_t GetChunks() const override
    {
        return 2;
    }

    PartPlacement GetPlacement() const override
    {
        return PartPlacement::FOLD;
    }
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_OVERLAPPED_SCHEDULES_H */
