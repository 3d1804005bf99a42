// SPDX-License-Identifier: GPL-2.0-only
#include "echo-pipeline-composer.h"

#include "echo-pipeline-schedule.h"
#include "echo-workload-builder.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

namespace ns3
{
namespace echo
{

namespace
{

constexpr uint32_t NO_SLOT = 0xffffffff;

/** What a message of the trace passes and to which neighbour, by the part it is in and its end. */
struct MessageRule
{
    OperatorPart part;
    bool isSend;
    bool isActivation;
    bool isUp; //!< the neighbour is the next part of the model, else the one before
};

const MessageRule RULES[] = {{OperatorPart::FORWARD, true, true, true},
                             {OperatorPart::FORWARD, false, true, false},
                             {OperatorPart::BACKWARD, true, false, false},
                             {OperatorPart::BACKWARD, false, false, true}};

/** Where a rank stands in its pipeline, and what it says to its neighbours. */
struct Stage
{
    /** Names a rank's messages of one kind: is it sent, is it an activation, its model chunk. */
    using Key = std::tuple<bool, bool, uint32_t>;

    uint32_t slot{NO_SLOT}; //!< of the pipeline's group
    uint32_t place{0};
    uint32_t count{1};
    uint32_t chunks{1};
    std::map<Key, std::vector<uint64_t>> bytes; //!< of each message of a micro-batch
};

/** Reads a program's messages by the table of ComposePipeline(). */
class StageFinder
{
  public:
    StageFinder(const ExecutionGraph& program, const WorkloadGraph& workload, RankId rank)
        : m_program(program)
    {
        for (const Operator& op : program.GetOperators())
        {
            if (op.part == OperatorPart::NONE)
            {
                Fail(op, "no part", "forward, backward or end: a trace of one micro-batch");
            }
            m_stage.chunks = std::max(m_stage.chunks, op.chunk + 1U);
        }
        for (const Operator& op : program.GetOperators())
        {
            if (op.type == OperatorType::POINT_TO_POINT)
            {
                AddMessages(op, workload, rank);
            }
        }
    }

    const Stage& Get() const
    {
        return m_stage;
    }

  private:
    [[noreturn]] void Fail(const Operator& op,
                           const std::string& found,
                           const std::string& expected) const
    {
        throw InputError(m_program.GetLocation(m_program.GetId(op)), found, expected);
    }

    void AddMessages(const Operator& op, const WorkloadGraph& workload, RankId rank)
    {
        const CommunicationDescription& asked = m_program.GetCommunication(op);
        const CommGroup& group = *workload.GetGroup(rank, asked.groupSlot);
        if (m_stage.slot != NO_SLOT && m_stage.slot != asked.groupSlot)
        {
            Fail(op, "messages in a second group", "one group of stages");
        }
        m_stage.slot = asked.groupSlot;
        m_stage.place = group.IndexOf(rank);
        m_stage.count = group.GetSize();
        for (const auto& element : asked.elements)
        {
            const MessageRule& rule = FindRule(op, element);
            CheckNeighbour(op, element, rule, group.GetName());
            m_stage.bytes[{element.isSend, rule.isActivation, op.chunk}].push_back(element.bytes);
        }
    }

    const MessageRule& FindRule(const Operator& op,
                                const CommunicationDescription::Element& element) const
    {
        const auto rule = std::find_if(std::begin(RULES), std::end(RULES), [&](const auto& entry) {
            return entry.part == op.part && entry.isSend == element.isSend;
        });
        if (rule == std::end(RULES))
        {
            Fail(op, "a message after the backward pass", "only in forward and backward parts");
        }
        return *rule;
    }

    void CheckNeighbour(const Operator& op,
                        const CommunicationDescription::Element& element,
                        const MessageRule& rule,
                        const std::string& group) const
    {
        const uint32_t part = op.chunk * m_stage.count + m_stage.place; // of the model
        const bool hasNeighbour = rule.isUp ? part + 1 < m_stage.chunks * m_stage.count : part > 0;
        const uint32_t neighbour = (rule.isUp ? part + 1 : part - 1) % m_stage.count;
        if (!hasNeighbour || element.peerIndex != neighbour)
        {
            Fail(op,
                 "a message with place " + std::to_string(element.peerIndex) + " of " + group +
                     " at place " + std::to_string(m_stage.place) +
                     (m_stage.chunks > 1 ? ", chunk " + std::to_string(op.chunk) : ""),
                 rule.isUp ? "the next stage" : "the previous stage");
        }
    }

    const ExecutionGraph& m_program;
    Stage m_stage;
};

/** Puts copies of a program's parts in order. */
class ProgramComposer
{
  public:
    ProgramComposer(const ExecutionGraph& program, const Stage& stage)
        : m_program(program), m_stage(stage), m_builder(program.GetSource())
    {
        for (uint32_t slot = 0; slot < program.GetGroupSlotCount(); ++slot)
        {
            m_builder.AddGroupSlot();
        }
        for (const Operator& op : program.GetOperators())
        {
            if (op.type == OperatorType::COMPUTE)
            {
                m_main = program.GetStreamName(op.stream);
                break;
            }
        }
    }

    ExecutionGraphPtr Make(const PipelineSchedule& schedule, uint32_t microBatches)
    {
        const PipelineShape shape{m_stage.count, m_stage.chunks, microBatches};
        if (shape.chunks > 1)
        {
            Interleave(schedule.GetPasses(m_stage.place, shape), shape);
        }
        else
        {
            for (const PipelineStep& step : MakePipelineSteps(schedule, m_stage.place, shape))
            {
                step.isPass ? Pass(step.pass) : Transfer(step.transfers);
            }
        }
        Copy(OperatorPart::END, 0, "end");
        return m_builder.Build();
    }

  private:
    using Message = PipelineStep::Transfer;

    /**
     * Passes of several chunks: messages go beside them, each kind in a stream of its own, and what
     * a pass needs is asked for before the pass ahead of it, as generated steps have it.
     */
    void Interleave(const std::vector<PipelinePass>& passes, const PipelineShape& shape)
    {
        const auto receive = [&](size_t index) {
            OperatorId op;
            if (index < passes.size())
            {
                for (const Message& message : GetInputs(passes[index], m_stage.place, shape))
                {
                    op = TransferBeside(message, shape);
                }
            }
            return op;
        };
        OperatorId next = receive(0);
        for (size_t i = 0; i < passes.size(); ++i)
        {
            const OperatorId arrived = next;
            next = receive(i + 1);
            m_received = arrived;
            Pass(passes[i]);
            for (const Message& message : GetOutputs(passes[i], m_stage.place, shape))
            {
                TransferBeside(message, shape);
            }
        }
    }

    void Pass(const PipelinePass& pass)
    {
        if (pass.isPaired)
        {
            throw InputError(SourceLocation{"", 0, "parallel.schedule"},
                             "pass " + ToString(pass) + " of a pair",
                             "one pass after another: a trace's layers cannot be taken apart");
        }
        const std::string number = std::to_string(pass.microBatch) +
                                   (m_stage.chunks > 1 ? "." + std::to_string(pass.chunk) : "");
        switch (pass.kind)
        {
        case PipelinePass::Kind::FORWARD:
            Copy(OperatorPart::FORWARD, pass.chunk, "forward " + number);
            break;
        case PipelinePass::Kind::BACKWARD:
            Copy(OperatorPart::BACKWARD, pass.chunk, "backward " + number);
            break;
        default:
            throw InputError(SourceLocation{"", 0, "parallel.schedule"},
                             "pass " + ToString(pass),
                             "forward and whole backward passes, as a trace has them");
        }
    }

    void Copy(OperatorPart part, uint32_t chunk, const std::string& name)
    {
        const StreamId main = m_builder.GetStream(m_main);
        const OperatorId begin = m_builder.AddMarker(main, name);
        if (m_received.IsValid())
        {
            m_builder.AddDependency(begin, m_received);
            m_received = OperatorId();
        }
        std::map<uint32_t, OperatorId> copies; // by the operator in the trace
        std::map<uint32_t, OperatorId> last;   // by stream of the trace
        const auto& operators = m_program.GetOperators();
        for (uint32_t i = 0; i < operators.size(); ++i)
        {
            const Operator& op = operators[i];
            const bool isMeant =
                op.part == part && (part == OperatorPart::END || op.chunk == chunk);
            if (!isMeant || op.type == OperatorType::POINT_TO_POINT)
            {
                continue;
            }
            const OperatorId copy = Add(op);
            bool waits = m_program.GetStreamName(op.stream) == m_main;
            for (uint32_t d = 0; d < op.dependencyCount; ++d)
            {
                const auto it = copies.find(m_program.GetDependencies(op)[d].Get());
                if (it != copies.end())
                {
                    m_builder.AddDependency(copy, it->second);
                    waits = true;
                }
            }
            if (!waits)
            {
                m_builder.AddDependency(copy, begin);
            }
            copies[i] = copy;
            last[op.stream.Get()] = copy;
        }
        m_over = m_builder.AddMarker(main, name + " over");
        for (const auto& [stream, op] : last)
        {
            m_builder.AddDependency(m_over, op);
        }
    }

    OperatorId Add(const Operator& op)
    {
        const StreamId stream = m_builder.GetStream(m_program.GetStreamName(op.stream));
        const std::string& name = m_program.GetName(op);
        OperatorId id;
        switch (op.type)
        {
        case OperatorType::COMPUTE:
            id = m_builder.AddCompute(stream, name, op.duration, op.flops, op.memoryBytes);
            m_builder.SetKernel(id, op.kernel, op.precision);
            if (const KernelCounters* counters = m_program.GetCounters(op))
            {
                m_builder.SetCounters(id, *counters);
            }
            break;
        case OperatorType::COPY:
            id = m_builder.AddCopy(stream, name, op.duration, op.memoryBytes);
            break;
        case OperatorType::HOST:
            id = m_builder.AddHost(stream, name, op.duration);
            break;
        case OperatorType::COLLECTIVE:
        {
            const CommunicationDescription& asked = m_program.GetCommunication(op);
            id = m_builder.AddCollective(stream, name, asked.groupSlot, asked.spec);
            break;
        }
        default:
            id = m_builder.AddMarker(stream, name);
            break;
        }
        m_builder.SetLine(id, op.line);
        return id;
    }

    using Elements = std::vector<CommunicationDescription::Element>;

    void AddElements(const Message& message, int32_t tag, Elements& elements) const
    {
        const auto found =
            m_stage.bytes.find({message.isSend, message.isActivation, message.chunk});
        if (found == m_stage.bytes.end())
        {
            throw InputError(
                SourceLocation{m_program.GetSource(), 0, "place " + std::to_string(m_stage.place)},
                std::string("no ") + (message.isActivation ? "activation" : "gradient") +
                    (message.isSend ? " sent" : " received") + " in chunk " +
                    std::to_string(message.chunk),
                "one, between stages " + std::to_string(m_stage.place) + " and " +
                    std::to_string(message.peer));
        }
        for (const uint64_t bytes : found->second)
        {
            elements.push_back({message.isSend, message.peer, bytes, tag});
        }
    }

    OperatorId AddTransfer(const std::string& stream, Elements elements)
    {
        const OperatorId id = m_builder.AddPointToPoint(
            m_builder.GetStream(stream), stream, m_stage.slot, std::move(elements));
        if (m_over.IsValid())
        {
            m_builder.AddDependency(id, m_over);
        }
        return id;
    }

    OperatorId TransferBeside(const Message& message, const PipelineShape& shape)
    {
        Elements elements;
        AddElements(message, GetTag(message, m_stage.place, shape), elements);
        return AddTransfer(std::string("stages ") + (message.isSend ? "send " : "receive ") +
                               (message.isActivation ? "activations" : "gradients"),
                           std::move(elements));
    }

    void Transfer(const std::vector<Message>& transfers)
    {
        Elements elements;
        bool receives = false;
        for (const Message& message : transfers)
        {
            AddElements(message, static_cast<int32_t>(message.microBatch), elements);
            receives = receives || !message.isSend;
        }
        const OperatorId id = AddTransfer("stages", std::move(elements));
        if (receives)
        {
            m_received = id;
        }
    }

    const ExecutionGraph& m_program;
    const Stage& m_stage;
    ExecutionGraphBuilder m_builder;
    std::string m_main{"compute"}; //!< stream of kernels
    OperatorId m_over;             //!< the pass before is over
    OperatorId m_received;         //!< what the next pass waits for; invalid if nothing
};

} // namespace

WorkloadGraphPtr ComposePipeline(const WorkloadGraph& traced,
                                 const PipelineSchedule& schedule,
                                 uint32_t microBatches)
{
    WorkloadBuilder builder(traced.GetRankCount());
    std::vector<CommGroupPtr> groups; // by id of the trace
    for (const CommGroupPtr& group : traced.GetGroups())
    {
        groups.push_back(
            builder.AddSeparateGroup(group->GetKind(), group->GetName(), group->GetRanks()));
    }
    std::map<std::pair<const ExecutionGraph*, uint32_t>, ExecutionGraphPtr> known; // by place
    PipelineShape shape; // of every rank's pipeline
    for (uint32_t i = 0; i < traced.GetRankCount(); ++i)
    {
        const RankId rank(i);
        const ExecutionGraph& program = *traced.GetProgram(rank);
        const StageFinder stage(program, traced, rank);
        const PipelineShape own{stage.Get().count, stage.Get().chunks, microBatches};
        if (i == 0)
        {
            shape = own;
            CheckPipeline(schedule, shape, shape.chunks == 1);
        }
        else if (own.stages != shape.stages || own.chunks != shape.chunks)
        {
            const auto say = [](const PipelineShape& pipeline) {
                return std::to_string(pipeline.stages) + " stages with " +
                       std::to_string(pipeline.chunks) + " model chunks";
            };
            throw InputError(SourceLocation{program.GetSource(), 0, "rank " + std::to_string(i)},
                             say(own),
                             say(shape) + ", as rank 0 has");
        }
        ExecutionGraphPtr& composed = known[{&program, stage.Get().place}];
        if (!composed)
        {
            composed = ProgramComposer(program, stage.Get()).Make(schedule, microBatches);
        }
        std::vector<CommGroupPtr> bound;
        for (uint32_t slot = 0; slot < program.GetGroupSlotCount(); ++slot)
        {
            bound.push_back(groups[traced.GetGroup(rank, slot)->GetId().Get()]);
        }
        builder.SetProgram(rank, composed, std::move(bound));
        builder.SetStartTime(rank, traced.GetStartTime(rank));
    }
    return builder.Build();
}

} // namespace echo
} // namespace ns3
