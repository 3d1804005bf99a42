// SPDX-License-Identifier: GPL-2.0-only
// Whether the passes of all stages are complete, in an order in which all can run.

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

[[noreturn]] void Refuse(const std::string& found, const std::string& expected)
{
    throw InputError({"", 0, "parallel.schedule"}, found, expected);
}

/** @return the pass at @p index as users write it, whole if it begins a pair */
std::string ShowRun(const std::vector<PipelinePass>& passes, size_t index)
{
    const std::string first = ToString(passes[index]);
    return passes[index].isPaired && index + 1 < passes.size() ? first + ToString(passes[index + 1])
                                                               : first;
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
            if (passes[i].isPaired)
            {
                CheckPair(passes, i);
            }
        }
        RefuseMissing();
    }

  private:
    std::string Show(const PipelinePass& pass) const
    {
        return ToString(pass) + " on stage " + std::to_string(m_stage);
    }

    /** A backward pass beside a forward pass starts before that is over. */
    void CheckPair(const std::vector<PipelinePass>& passes, size_t index) const
    {
        const PipelinePass& first = passes[index];
        const bool isPair = first.kind == Kind::FORWARD && index + 1 < passes.size() &&
                            passes[index + 1].IsBackward() && !passes[index + 1].isPaired;
        if (!isPair)
        {
            Refuse(ShowRun(passes, index) + " on stage " + std::to_string(m_stage),
                   "a pass, or a pair of a forward and a backward pass, as F1&B0");
        }
        const PipelinePass& second = passes[index + 1];
        if (first.microBatch == second.microBatch && first.chunk == second.chunk)
        {
            Refuse(ShowRun(passes, index) + " on stage " + std::to_string(m_stage),
                   "a backward pass beside the forward pass of another micro-batch or chunk, as "
                   "F1&B0: its own must be over before it");
        }
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

/** The first stage that does not come to its end. */
struct Stuck
{
    uint32_t stage{0};
    std::string pass; //!< that it does not start; empty if all stages end
};

/** Runs all stages without time: steps as far as messages, which hold back both ends, let them. */
class BlockingRace
{
  public:
    BlockingRace(const PipelineSchedule& schedule, const PipelineShape& shape)
        : m_shape(shape), m_next(shape.stages, 0)
    {
        for (uint32_t stage = 0; stage < shape.stages; ++stage)
        {
            m_steps.push_back(MakePipelineSteps(schedule, stage, shape));
        }
    }

    Stuck Run()
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
                return {stage, Name(stage, m_next[stage])};
            }
        }
        return {};
    }

  private:
    std::string Name(uint32_t stage, size_t step) const
    {
        while (step < m_steps[stage].size() && !m_steps[stage][step].isPass)
        {
            ++step;
        }
        if (step == m_steps[stage].size())
        {
            return "its end";
        }
        const PipelinePass& pass = m_steps[stage][step].pass;
        return pass.isPaired ? ToString(pass) + ToString(m_steps[stage][step + 1].pass)
                             : ToString(pass);
    }

    bool TryStep(uint32_t stage)
    {
        bool isDone = true;
        for (const Transfer& transfer : m_steps[stage][m_next[stage]].transfers)
        {
            const auto key = GetMessageKey(transfer, stage, m_shape);
            (transfer.isSend ? m_sent : m_received).insert(key);
            isDone = isDone && (transfer.isSend ? m_received : m_sent).count(key) > 0;
        }
        return isDone;
    }

    const PipelineShape& m_shape;
    std::vector<std::vector<PipelineStep>> m_steps;
    std::vector<size_t> m_next;
    std::set<MessageKey> m_sent;
    std::set<MessageKey> m_received;
};

/**
 * Runs all stages without time where messages go beside passes: in order on a stream for each kind,
 * of which the first holds back the others until both ends have come to it. Outputs start when
 * their pass is over, inputs when the pass before the one ahead is.
 */
class OverlappedRace
{
  public:
    OverlappedRace(const PipelineSchedule& schedule, const PipelineShape& shape)
        : m_shape(shape), m_stages(shape.stages)
    {
        for (uint32_t stage = 0; stage < shape.stages; ++stage)
        {
            AddTurns(stage, schedule.GetPasses(stage, shape));
        }
    }

    Stuck Run()
    {
        bool moves = true;
        while (moves)
        {
            moves = false;
            for (Stage& stage : m_stages)
            {
                moves = MoveStreams(stage) || moves;
                moves = MovePasses(stage) || moves;
            }
        }
        for (uint32_t i = 0; i < m_shape.stages; ++i)
        {
            const Stage& stage = m_stages[i];
            if (stage.done < stage.turns.size())
            {
                return {i, stage.turns[stage.done].name};
            }
        }
        return {};
    }

  private:
    /** A pass, or a pair. */
    struct Turn
    {
        std::string name;
        std::vector<MessageKey> inputs;
    };

    struct Message
    {
        MessageKey key;
        size_t after; //!< turns that are over before it starts
    };

    struct Stream
    {
        std::vector<Message> messages;
        size_t next{0};
    };

    struct Stage
    {
        std::vector<Turn> turns;
        size_t done{0};
        /** By whether it sends, whether activations, and, unless stages lie in a loop, the chunk.
         */
        std::map<std::tuple<bool, bool, uint32_t>, Stream> streams;
    };

    void AddTurns(uint32_t index, const std::vector<PipelinePass>& passes)
    {
        Stage& stage = m_stages[index];
        const auto post = [&](const Transfer& transfer, size_t after) {
            const uint32_t way = m_shape.placement == PartPlacement::LOOP ? 0 : transfer.chunk;
            const MessageKey key = GetMessageKey(transfer, index, m_shape);
            stage.streams[{transfer.isSend, transfer.isActivation, way}].messages.push_back(
                {key, after});
            return key;
        };
        for (size_t i = 0; i < passes.size();)
        {
            Turn turn{ShowRun(passes, i), {}};
            const size_t number = stage.turns.size();
            const size_t end = i + (passes[i].isPaired ? 2 : 1);
            for (; i < end; ++i)
            {
                for (const Transfer& transfer : GetInputs(passes[i], index, m_shape))
                {
                    turn.inputs.push_back(post(transfer, std::max<size_t>(number, 1) - 1));
                }
                for (const Transfer& transfer : GetOutputs(passes[i], index, m_shape))
                {
                    post(transfer, number + 1);
                }
            }
            stage.turns.push_back(std::move(turn));
        }
    }

    bool HasArrived(const MessageKey& key) const
    {
        return m_started[0].count(key) > 0 && m_started[1].count(key) > 0;
    }

    bool MoveStreams(Stage& stage)
    {
        bool moves = false;
        for (auto& [kind, stream] : stage.streams)
        {
            bool isOpen = true;
            while (isOpen && stream.next < stream.messages.size() &&
                   stream.messages[stream.next].after <= stage.done)
            {
                const MessageKey& key = stream.messages[stream.next].key;
                const bool isNew = m_started[std::get<0>(kind)].insert(key).second;
                isOpen = HasArrived(key);
                stream.next += isOpen ? 1 : 0;
                moves = moves || isNew || isOpen;
            }
        }
        return moves;
    }

    bool MovePasses(Stage& stage)
    {
        const size_t before = stage.done;
        const auto hasArrived = [this](const MessageKey& key) { return HasArrived(key); };
        while (stage.done < stage.turns.size())
        {
            const std::vector<MessageKey>& inputs = stage.turns[stage.done].inputs;
            if (!std::all_of(inputs.begin(), inputs.end(), hasArrived))
            {
                break;
            }
            ++stage.done;
        }
        return stage.done > before;
    }

    const PipelineShape& m_shape;
    std::vector<Stage> m_stages;
    std::set<MessageKey> m_started[2]; //!< by receivers, by senders
};

} // namespace

void CheckPipeline(const PipelineSchedule& schedule,
                   const PipelineShape& shape,
                   bool blocking,
                   const std::string& remedy)
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
    const Stuck beside = OverlappedRace(schedule, shape).Run();
    const Stuck stuck = blocking ? BlockingRace(schedule, shape).Run() : beside;
    if (!stuck.pass.empty())
    {
        Refuse("stage " + std::to_string(stuck.stage) + " waits forever before " + stuck.pass,
               "an order in which every stage's messages meet" +
                   (beside.pass.empty() && !remedy.empty() ? ", or " + remedy : ""));
    }
}

} // namespace echo
} // namespace ns3
