// SPDX-License-Identifier: GPL-2.0-only
// What follows from the order of passes on the stages of a pipeline.

#include "echo-pipeline-schedule.h"

#include <algorithm>
#include <tuple>

namespace ns3
{
namespace echo
{

namespace
{

using Kind = PipelinePass::Kind;
using Transfer = PipelineStep::Transfer;

/**
 * The message between model part @p part and the one after it (@p up) or before it, as the stage of
 * @p part sees it; none at the ends of the model.
 */
std::vector<Transfer> GetMessage(const PipelinePass& pass,
                                 uint32_t stage,
                                 const PipelineShape& shape,
                                 bool up,
                                 bool isSend)
{
    const uint32_t part = shape.GetPart(stage, pass.chunk);
    if (up ? part + 1 == shape.GetParts() : part == 0)
    {
        return {};
    }
    const uint32_t peer = shape.GetStage(up ? part + 1 : part - 1, pass.chunk);
    if (shape.placement == PartPlacement::FOLD && peer == stage)
    {
        return {}; // the fold: both parts are here
    }
    Transfer transfer;
    transfer.isSend = isSend;
    transfer.isActivation = up == isSend;
    transfer.microBatch = pass.microBatch;
    transfer.chunk = pass.chunk;
    transfer.peer = peer;
    return {transfer};
}

/**
 * @return whether a forward pass and the backward pass behind it exchange what they need and make
 * at once: with several chunks, where such passes follow each other more than once (Megatron-Core's
 * send_forward_backward_recv_forward_backward). Once only, the backward pass may wait for what the
 * forward pass makes.
 */
bool JoinsTurns(const std::vector<PipelinePass>& passes, const PipelineShape& shape)
{
    uint32_t turns = 0;
    for (size_t i = 1; i < passes.size(); ++i)
    {
        turns += passes[i - 1].kind == Kind::FORWARD && passes[i].IsBackward();
    }
    return shape.chunks > 1 && turns > 1;
}

} // namespace

MessageKey GetMessageKey(const Transfer& transfer, uint32_t stage, const PipelineShape& shape)
{
    const uint32_t part = shape.GetPart(stage, transfer.chunk);
    const uint32_t maker = transfer.isSend ? part : transfer.isActivation ? part - 1 : part + 1;
    return {transfer.isActivation, transfer.microBatch, maker};
}

int32_t GetTag(const Transfer& transfer, uint32_t stage, const PipelineShape& shape)
{
    if (shape.chunks == 1)
    {
        return static_cast<int32_t>(transfer.microBatch);
    }
    const auto [isActivation, microBatch, maker] = GetMessageKey(transfer, stage, shape);
    const uint32_t parts = shape.stages * shape.chunks;
    return static_cast<int32_t>(2 * (microBatch * parts + maker) + (isActivation ? 1 : 0));
}

std::vector<Transfer> GetInputs(const PipelinePass& pass,
                                uint32_t stage,
                                const PipelineShape& shape)
{
    return pass.kind == Kind::BACKWARD_WEIGHT
               ? std::vector<Transfer>()
               : GetMessage(pass, stage, shape, pass.IsBackward(), false);
}

std::vector<Transfer> GetOutputs(const PipelinePass& pass,
                                 uint32_t stage,
                                 const PipelineShape& shape)
{
    return pass.kind == Kind::BACKWARD_WEIGHT
               ? std::vector<Transfer>()
               : GetMessage(pass, stage, shape, !pass.IsBackward(), true);
}

std::vector<PipelineStep> MakePipelineSteps(const PipelineSchedule& schedule,
                                            uint32_t stage,
                                            const PipelineShape& shape)
{
    std::vector<PipelineStep> steps;
    std::vector<Transfer> outputs;
    const auto add = [&steps](std::vector<Transfer> transfers) {
        if (!transfers.empty())
        {
            steps.push_back({false, {}, std::move(transfers)});
        }
    };
    const auto append = [](std::vector<Transfer>& to, const std::vector<Transfer>& from) {
        to.insert(to.end(), from.begin(), from.end());
    };
    const std::vector<PipelinePass> passes = schedule.GetPasses(stage, shape);
    const bool joins = JoinsTurns(passes, shape);
    for (size_t i = 0; i < passes.size();)
    {
        const bool isTurn = joins && i + 1 < passes.size() && passes[i].kind == Kind::FORWARD &&
                            passes[i + 1].IsBackward();
        const size_t end = i + (passes[i].isPaired || isTurn ? 2 : 1);
        std::vector<Transfer> inputs;
        std::vector<Transfer> made;
        for (size_t j = i; j < end; ++j)
        {
            append(inputs, GetInputs(passes[j], stage, shape));
            append(made, GetOutputs(passes[j], stage, shape));
        }
        const bool isOneStep =
            !inputs.empty() && !outputs.empty() &&
            (shape.chunks > 1 || end > i + 1 || inputs[0].peer == outputs[0].peer);
        if (isOneStep)
        {
            append(outputs, inputs);
            inputs.clear();
        }
        add(std::move(outputs));
        add(std::move(inputs));
        for (; i < end; ++i)
        {
            steps.push_back({true, passes[i], {}});
        }
        outputs = std::move(made);
    }
    add(std::move(outputs));
    return steps;
}

uint32_t GetPassesInFlight(const PipelineSchedule& schedule,
                           uint32_t stage,
                           const PipelineShape& shape,
                           bool pairsExchange)
{
    uint32_t held = 0;
    uint32_t most = 0;
    for (const PipelinePass& pass : schedule.GetPasses(stage, shape))
    {
        if (pass.kind == Kind::FORWARD)
        {
            ++held;
            most = std::max(most, pass.isPaired && pairsExchange ? held - 1 : held);
        }
        else if (pass.kind != Kind::BACKWARD_INPUT) // its weights still need the inputs
        {
            --held;
        }
    }
    return most;
}

} // namespace echo
} // namespace ns3
