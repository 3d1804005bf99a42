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

/** Names a message from both ends alike: direction, micro-batch, the model part that made it. */
std::tuple<bool, uint32_t, uint32_t> GetKey(const Transfer& transfer,
                                            uint32_t stage,
                                            const PipelineShape& shape)
{
    const uint32_t part = shape.GetPart(stage, transfer.chunk);
    const uint32_t maker = transfer.isSend ? part : transfer.isActivation ? part - 1 : part + 1;
    return {transfer.isActivation, transfer.microBatch, maker};
}

[[noreturn]] void Refuse(const std::string& found, const std::string& expected)
{
    throw InputError({"", 0, "parallel.schedule"}, found, expected);
}

/** Checks that every pass of a stage is there once, after those that it needs on this stage. */
class PassCheck
{
  public:
    PassCheck(uint32_t stage, const PipelineShape& shape)
        : m_stage(stage), m_shape(shape), m_state(size_t(shape.microBatches) * shape.chunks, 0)
    {
    }

    void Run(const std::vector<PipelinePass>& passes)
    {
        for (size_t i = 0; i < passes.size(); ++i)
        {
            Take(passes[i]);
            if (passes[i].isPaired && !(passes[i].kind == Kind::FORWARD && i + 1 < passes.size() &&
                                        IsBackward(passes[i + 1]) && !passes[i + 1].isPaired))
            {
                Refuse(Show(passes[i]),
                       "a pass, or a pair of a forward and a backward pass, as F1&B0");
            }
        }
        RefuseMissing();
    }

  private:
    std::string Show(const PipelinePass& pass) const
    {
        return ToString(pass) + " on stage " + std::to_string(m_stage);
    }

    /** 0: nothing, 1: forward, 2: input gradient, 3: all. */
    int& GetState(uint32_t microBatch, uint32_t chunk)
    {
        return m_state[size_t(microBatch) * m_shape.chunks + chunk];
    }

    void Take(const PipelinePass& pass)
    {
        if (pass.microBatch >= m_shape.microBatches || pass.chunk >= m_shape.chunks)
        {
            Refuse(Show(pass),
                   "micro-batches below " + std::to_string(m_shape.microBatches) +
                       " and chunks below " + std::to_string(m_shape.chunks));
        }
        const auto [first, end] = m_shape.GetMicroBatches(pass.chunk);
        if (pass.microBatch < first || pass.microBatch >= end)
        {
            Refuse(Show(pass),
                   "micro-batches " + std::to_string(first) + " to " + std::to_string(end - 1) +
                       " in chunk " + std::to_string(pass.chunk));
        }
        int& done = GetState(pass.microBatch, pass.chunk);
        const int before = pass.kind == Kind::FORWARD           ? 0
                           : pass.kind == Kind::BACKWARD_WEIGHT ? 2
                                                                : 1;
        if (done != before)
        {
            Refuse(Show(pass),
                   before == 0   ? "each forward pass once"
                   : before == 1 ? "it once, after the forward pass"
                                 : "it once, after the input gradient I");
        }
        CheckFold(pass);
        done = pass.kind == Kind::FORWARD ? 1 : pass.kind == Kind::BACKWARD_INPUT ? 2 : 3;
    }

    /** Where the model turns back, one chunk hands over to the other without a message. */
    void CheckFold(const PipelinePass& pass)
    {
        const bool isFold =
            m_shape.placement == PartPlacement::FOLD && m_stage + 1 == m_shape.stages;
        const bool isForward = pass.kind == Kind::FORWARD;
        if (isFold && pass.kind != Kind::BACKWARD_WEIGHT && pass.chunk == (isForward ? 1U : 0U) &&
            GetState(pass.microBatch, 1 - pass.chunk) < (isForward ? 1 : 2))
        {
            Refuse(Show(pass),
                   "it after that of chunk " + std::to_string(1 - pass.chunk) +
                       " of the same stage");
        }
    }

    void RefuseMissing()
    {
        for (uint32_t chunk = 0; chunk < m_shape.chunks; ++chunk)
        {
            const auto [first, end] = m_shape.GetMicroBatches(chunk);
            for (uint32_t i = first; i < end; ++i)
            {
                if (GetState(i, chunk) < 3)
                {
                    Refuse("no full forward and backward pass of micro-batch " + std::to_string(i) +
                               ", chunk " + std::to_string(chunk) + " on stage " +
                               std::to_string(m_stage),
                           "each once");
                }
            }
        }
    }

    uint32_t m_stage;
    const PipelineShape& m_shape;
    std::vector<int> m_state; //!< by micro-batch and chunk
};

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
    const auto append = [](std::vector<Transfer>& to, const std::vector<Transfer>& from) {
        to.insert(to.end(), from.begin(), from.end());
    };
    const std::vector<PipelinePass> passes = schedule.GetPasses(stage, shape);
    for (size_t i = 0; i < passes.size();)
    {
        const size_t end = i + (passes[i].isPaired ? 2 : 1);
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

void CheckPipeline(const PipelineSchedule& schedule, const PipelineShape& shape, bool blocking)
{
    if (shape.chunks > 1 && !schedule.AllowsChunks())
    {
        Refuse("a schedule of one chunk a stage for " + std::to_string(shape.chunks),
               "one for several, as interleaved");
    }
    if (schedule.GetChunks() > 0 && shape.chunks != schedule.GetChunks())
    {
        Refuse("a schedule of " + std::to_string(schedule.GetChunks()) + " chunks a stage for " +
                   std::to_string(shape.chunks),
               std::to_string(schedule.GetChunks()) + " chunks");
    }
    if (schedule.GetPlacement() != shape.placement)
    {
        Refuse("a schedule that goes through the stages both ways", "one that goes round");
    }
    schedule.CheckShape(shape);
    for (uint32_t stage = 0; stage < shape.stages; ++stage)
    {
        PassCheck(stage, shape).Run(schedule.GetPasses(stage, shape));
    }
    StageRace(schedule, shape, blocking).Run();
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
