// SPDX-License-Identifier: GPL-2.0-only
// What follows from the order of passes on the stages of a pipeline.

#include "echo-pipeline-schedule.h"

#include "ns3/echo-error.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace ns3
{
namespace echo
{

namespace
{

using Kind = PipelinePass::Kind;
using Transfer = PipelineStep::Transfer;

/** @return whether the pass makes the gradient of its input */
bool IsBackward(const PipelinePass& pass)
{
    return pass.kind == Kind::BACKWARD || pass.kind == Kind::BACKWARD_INPUT;
}

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
    const uint32_t part = pass.chunk * shape.stages + stage;
    if (up ? part + 1 == shape.stages * shape.chunks : part == 0)
    {
        return {};
    }
    Transfer transfer;
    transfer.isSend = isSend;
    transfer.isActivation = up == isSend;
    transfer.microBatch = pass.microBatch;
    transfer.chunk = pass.chunk;
    transfer.peer = (up ? part + 1 : part - 1) % shape.stages;
    return {transfer};
}

/** Names a message from both ends alike: direction, micro-batch, the model part that made it. */
std::tuple<bool, uint32_t, uint32_t> GetKey(const Transfer& transfer,
                                            uint32_t stage,
                                            const PipelineShape& shape)
{
    const uint32_t part = transfer.chunk * shape.stages + stage;
    const uint32_t maker = transfer.isSend ? part : transfer.isActivation ? part - 1 : part + 1;
    return {transfer.isActivation, transfer.microBatch, maker};
}

[[noreturn]] void Refuse(const std::string& found, const std::string& expected)
{
    throw InputError({"", 0, "parallel.schedule"}, found, expected);
}

void CheckPasses(const std::vector<PipelinePass>& passes,
                 uint32_t stage,
                 const PipelineShape& shape)
{
    // 0: nothing, 1: forward, 2: input gradient, 3: all, by micro-batch and chunk.
    std::vector<int> state(size_t(shape.microBatches) * shape.chunks, 0);
    for (const PipelinePass& pass : passes)
    {
        const std::string shown = ToString(pass) + " on stage " + std::to_string(stage);
        if (pass.microBatch >= shape.microBatches || pass.chunk >= shape.chunks)
        {
            Refuse(shown,
                   "micro-batches below " + std::to_string(shape.microBatches) +
                       " and chunks below " + std::to_string(shape.chunks));
        }
        int& done = state[size_t(pass.microBatch) * shape.chunks + pass.chunk];
        const int before = pass.kind == Kind::FORWARD           ? 0
                           : pass.kind == Kind::BACKWARD_WEIGHT ? 2
                                                                : 1;
        if (done != before)
        {
            Refuse(shown,
                   before == 0   ? "each forward pass once"
                   : before == 1 ? "it once, after the forward pass"
                                 : "it once, after the input gradient I");
        }
        done = pass.kind == Kind::FORWARD ? 1 : pass.kind == Kind::BACKWARD_INPUT ? 2 : 3;
    }
    const auto missing =
        std::find_if(state.begin(), state.end(), [](int done) { return done < 3; });
    if (missing != state.end())
    {
        const auto index = static_cast<uint32_t>(missing - state.begin());
        Refuse("no full forward and backward pass of micro-batch " +
                   std::to_string(index / shape.chunks) + ", chunk " +
                   std::to_string(index % shape.chunks) + " on stage " + std::to_string(stage),
               "each once");
    }
}

/** Runs all stages without time: steps as far as messages let them. */
class StageRace
{
  public:
    StageRace(const PipelineSchedule& schedule, const PipelineShape& shape, bool blocking)
        : m_shape(shape), m_blocking(blocking), m_next(shape.stages, 0)
    {
        for (uint32_t stage = 0; stage < shape.stages; ++stage)
        {
            m_steps.push_back(MakePipelineSteps(schedule, stage, shape));
        }
    }

    void Run()
    {
        bool moves = true;
        while (moves)
        {
            moves = false;
            for (uint32_t stage = 0; stage < m_shape.stages; ++stage)
            {
                while (m_next[stage] < m_steps[stage].size() && TryStep(stage))
                {
                    ++m_next[stage];
                    moves = true;
                }
            }
        }
        for (uint32_t stage = 0; stage < m_shape.stages; ++stage)
        {
            if (m_next[stage] < m_steps[stage].size())
            {
                Refuse("stage " + std::to_string(stage) + " waits forever before " +
                           Name(stage, m_next[stage]),
                       "an order in which every stage's messages meet");
            }
        }
    }

  private:
    std::string Name(uint32_t stage, size_t step) const
    {
        while (step < m_steps[stage].size() && !m_steps[stage][step].isPass)
        {
            ++step;
        }
        return step < m_steps[stage].size() ? ToString(m_steps[stage][step].pass) : "its end";
    }

    bool TryStep(uint32_t stage)
    {
        bool isDone = true;
        for (const Transfer& transfer : m_steps[stage][m_next[stage]].transfers)
        {
            const auto key = GetKey(transfer, stage, m_shape);
            (transfer.isSend ? m_sent : m_received).insert(key);
            const bool waits = m_blocking || !transfer.isSend;
            isDone = isDone && (!waits || (transfer.isSend ? m_received : m_sent).count(key) > 0);
        }
        return isDone;
    }

    const PipelineShape& m_shape;
    bool m_blocking;
    std::vector<std::vector<PipelineStep>> m_steps;
    std::vector<size_t> m_next;
    std::set<std::tuple<bool, uint32_t, uint32_t>> m_sent;
    std::set<std::tuple<bool, uint32_t, uint32_t>> m_received;
};

} // namespace

int32_t GetTag(const Transfer& transfer, uint32_t stage, const PipelineShape& shape)
{
    if (shape.chunks == 1)
    {
        return static_cast<int32_t>(transfer.microBatch);
    }
    const auto [isActivation, microBatch, maker] = GetKey(transfer, stage, shape);
    const uint32_t parts = shape.stages * shape.chunks;
    return static_cast<int32_t>(2 * (microBatch * parts + maker) + (isActivation ? 1 : 0));
}

std::vector<Transfer> GetInputs(const PipelinePass& pass,
                                uint32_t stage,
                                const PipelineShape& shape)
{
    return pass.kind == Kind::BACKWARD_WEIGHT
               ? std::vector<Transfer>()
               : GetMessage(pass, stage, shape, IsBackward(pass), false);
}

std::vector<Transfer> GetOutputs(const PipelinePass& pass,
                                 uint32_t stage,
                                 const PipelineShape& shape)
{
    return pass.kind == Kind::BACKWARD_WEIGHT
               ? std::vector<Transfer>()
               : GetMessage(pass, stage, shape, !IsBackward(pass), true);
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
    for (const PipelinePass& pass : schedule.GetPasses(stage, shape))
    {
        std::vector<Transfer> inputs = GetInputs(pass, stage, shape);
        const bool isOneStep = !inputs.empty() && !outputs.empty() &&
                               (shape.chunks > 1 || inputs[0].peer == outputs[0].peer);
        if (isOneStep)
        {
            outputs.insert(outputs.end(), inputs.begin(), inputs.end());
            inputs.clear();
        }
        add(std::move(outputs));
        add(std::move(inputs));
        steps.push_back({true, pass, {}});
        outputs = GetOutputs(pass, stage, shape);
    }
    add(std::move(outputs));
    return steps;
}

void CheckPipeline(const PipelineSchedule& schedule, const PipelineShape& shape, bool blocking)
{
    if (shape.chunks > 1 && !schedule.AllowsChunks())
    {
        Refuse("a schedule of one chunk a stage with vp " + std::to_string(shape.chunks),
               "interleaved, or vp 1");
    }
    for (uint32_t stage = 0; stage < shape.stages; ++stage)
    {
        CheckPasses(schedule.GetPasses(stage, shape), stage, shape);
    }
    StageRace(schedule, shape, blocking).Run();
}

uint32_t GetPassesInFlight(const PipelineSchedule& schedule,
                           uint32_t stage,
                           const PipelineShape& shape)
{
    uint32_t held = 0;
    uint32_t most = 0;
    for (const PipelinePass& pass : schedule.GetPasses(stage, shape))
    {
        if (pass.kind == Kind::FORWARD)
        {
            most = std::max(most, ++held);
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
