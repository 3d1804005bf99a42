// SPDX-License-Identifier: GPL-2.0-only
#include "echo-pipeline-composer.h"

#include "echo-pipeline-schedule.h"
#include "echo-workload-builder.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ns3
{
namespace echo
{

namespace
{

constexpr uint32_t NO_SLOT = 0xffffffff;

/** Where a rank stands in its pipeline, and what it says to its neighbours. */
struct Stage
{
    uint32_t slot{NO_SLOT}; //!< of the pipeline's group
    uint32_t place{0};
    uint32_t count{1};
    std::vector<uint64_t> activations; //!< bytes of each message of a micro-batch
    std::vector<uint64_t> gradients;   //!< the same, backward
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
        if (op.part == OperatorPart::END)
        {
            Fail(op, "a message after the backward pass", "only in forward and backward parts");
        }
        const bool isForward = op.part == OperatorPart::FORWARD;
        for (const auto& element : asked.elements)
        {
            const bool toNext = element.isSend == isForward;
            const uint32_t neighbour = toNext ? m_stage.place + 1 : m_stage.place - 1;
            if (element.peerIndex != neighbour)
            {
                Fail(op,
                     "a message with place " + std::to_string(element.peerIndex) + " of " +
                         group.GetName() + " at place " + std::to_string(m_stage.place),
                     toNext ? "the next stage" : "the previous stage");
            }
            // Both neighbours pass the same; a middle stage's trace says it twice.
            auto& bytes = isForward ? m_stage.activations : m_stage.gradients;
            auto& seen = m_seen[{isForward, element.isSend}];
            if (seen++ >= bytes.size())
            {
                bytes.push_back(element.bytes);
            }
        }
    }

    const ExecutionGraph& m_program;
    Stage m_stage;
    std::map<std::pair<bool, bool>, size_t> m_seen; //!< messages, by part and direction
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
        const PipelineShape shape{m_stage.count, 1, microBatches};
        for (const PipelineStep& step : MakePipelineSteps(schedule, m_stage.place, shape))
        {
            if (!step.isPass)
            {
                Transfer(step.transfers);
                continue;
            }
            const std::string number = std::to_string(step.pass.microBatch);
            switch (step.pass.kind)
            {
            case PipelinePass::Kind::FORWARD:
                Copy(OperatorPart::FORWARD, "forward " + number);
                break;
            case PipelinePass::Kind::BACKWARD:
                Copy(OperatorPart::BACKWARD, "backward " + number);
                break;
            default:
                throw InputError(SourceLocation{m_program.GetSource(), 0, "schedule"},
                                 "pass " + ToString(step.pass),
                                 "forward and whole backward passes, as a trace has them");
            }
        }
        Copy(OperatorPart::END, "end");
        return m_builder.Build();
    }

  private:
    void Copy(OperatorPart part, const std::string& name)
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
            if (op.part != part || op.type == OperatorType::POINT_TO_POINT)
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

    void Transfer(const std::vector<PipelineStep::Transfer>& transfers)
    {
        std::vector<CommunicationDescription::Element> elements;
        bool receives = false;
        for (const auto& transfer : transfers)
        {
            for (const uint64_t bytes :
                 transfer.isActivation ? m_stage.activations : m_stage.gradients)
            {
                elements.push_back({transfer.isSend,
                                    transfer.peer,
                                    bytes,
                                    static_cast<int32_t>(transfer.microBatch)});
            }
            receives = receives || !transfer.isSend;
        }
        const OperatorId id = m_builder.AddPointToPoint(
            m_builder.GetStream("stages"), "stages", m_stage.slot, std::move(elements));
        if (m_over.IsValid())
        {
            m_builder.AddDependency(id, m_over);
        }
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
    for (uint32_t i = 0; i < traced.GetRankCount(); ++i)
    {
        const RankId rank(i);
        const ExecutionGraph& program = *traced.GetProgram(rank);
        const StageFinder stage(program, traced, rank);
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
