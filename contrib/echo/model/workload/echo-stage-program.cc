// SPDX-License-Identifier: GPL-2.0-only
#include "echo-stage-program.h"

namespace ns3
{
namespace echo
{

StageProgram::StageProgram(const TrainingPlan& plan,
                           const ParallelLayout& layout,
                           const ProgramIndex& index)
    : m_plan(plan),
      m_stage(index.stage),
      m_shape(plan.GetPipelineShape()),
      m_emitter(plan, layout, index.context),
      m_layers(m_emitter, index.expert),
      m_ends(m_emitter, m_layers),
      m_gradients(m_emitter, index.stage),
      m_sharded(m_emitter),
      m_backwards(plan.chunks, 0),
      m_hasParameters(plan.chunks, false)
{
}

ExecutionGraphPtr StageProgram::Make(std::vector<LayoutGroup>& slots)
{
    m_gradients.Start();
    if (m_plan.overlapPipeline)
    {
        MakeOverlapped();
    }
    else
    {
        MakeBlocking();
    }
    m_sharded.Finish();
    m_gradients.Finish();
    slots = m_emitter.GetSlots();
    return m_emitter.Build();
}

void StageProgram::MakeBlocking()
{
    for (const PipelineStep& step : MakePipelineSteps(*m_plan.GetSchedule(), m_stage, m_shape))
    {
        if (step.isPass)
        {
            Pass(step.pass);
        }
        else
        {
            Transfer(step.transfers);
        }
    }
}

/** Every input is asked for one pass ahead; outputs leave beside the next pass. */
void StageProgram::MakeOverlapped()
{
    const auto passes = m_plan.GetSchedule()->GetPasses(m_stage, m_shape);
    const auto receive = [&](size_t index) {
        OperatorId op;
        if (index < passes.size())
        {
            for (const Message& message : GetInputs(passes[index], m_stage, m_shape))
            {
                op = TransferBeside(message);
            }
        }
        return op;
    };
    OperatorId next = receive(0);
    for (size_t i = 0; i < passes.size(); ++i)
    {
        const OperatorId arrived = next;
        next = receive(i + 1);
        m_emitter.WaitFor(arrived);
        GatherReceived(GetInputs(passes[i], m_stage, m_shape));
        Pass(passes[i]);
        for (const Message& message : GetOutputs(passes[i], m_stage, m_shape))
        {
            TransferBeside(message);
        }
    }
}

void StageProgram::Pass(const PipelinePass& pass)
{
    switch (pass.kind)
    {
    case PipelinePass::Kind::FORWARD:
        Forward(pass);
        break;
    case PipelinePass::Kind::BACKWARD:
    case PipelinePass::Kind::BACKWARD_INPUT:
        Backward(pass);
        break;
    case PipelinePass::Kind::BACKWARD_WEIGHT:
        BackwardWeights(pass);
        break;
    }
}

uint32_t StageProgram::GetPart(uint32_t chunk) const
{
    return chunk * m_plan.parallel.pipeline + m_stage;
}

bool StageProgram::IsRecomputed(uint32_t indexInPart) const
{
    return m_plan.recompute == RecomputeMode::FULL &&
           (m_plan.recomputeLayers == 0 || indexInPart < m_plan.recomputeLayers);
}

void StageProgram::Forward(const PipelinePass& pass)
{
    const uint32_t part = GetPart(pass.chunk);
    const bool isFirstUse = !m_hasParameters[pass.chunk];
    m_hasParameters[pass.chunk] = true;
    uint32_t position = 0; // of the part's first layer on this stage
    for (uint32_t chunk = 0; chunk < pass.chunk; ++chunk)
    {
        position += m_plan.GetPartLayers(GetPart(chunk));
    }
    if (part == 0)
    {
        m_sharded.BeginForward();
        if (isFirstUse)
        {
            m_gradients.WaitForParameters(0);
        }
        m_ends.EmbeddingForward();
    }
    const uint32_t first = m_plan.GetFirstLayerOfPart(part);
    for (uint32_t i = 0; i < m_plan.GetPartLayers(part); ++i)
    {
        if (isFirstUse)
        {
            m_gradients.WaitForParameters(position + i);
        }
        m_sharded.BeforeForward(first + i);
        m_layers.Forward(first + i);
        m_sharded.AfterForward(first + i);
    }
    if (part + 1 == m_plan.GetParts())
    {
        m_ends.HeadForward();
    }
    m_emitter.SetPrefix("");
}

void StageProgram::Backward(const PipelinePass& pass)
{
    if (pass.kind == PipelinePass::Kind::BACKWARD_INPUT)
    {
        m_layers.DeferWeights(&m_deferred[{pass.microBatch, pass.chunk}]);
        BackwardLayers(pass, false);
        m_layers.DeferWeights(nullptr);
        return;
    }
    const bool isLast = ++m_backwards[pass.chunk] == m_plan.microBatches;
    const bool reducesEach = m_plan.sharding == StateSharding::GRADIENTS;
    BackwardLayers(pass, isLast || reducesEach);
    if (reducesEach || (isLast && m_plan.overlapGradients))
    {
        m_gradients.Flush();
    }
}

/** @param makesGradients gradients are complete as layers end */
void StageProgram::BackwardLayers(const PipelinePass& pass, bool makesGradients)
{
    const uint32_t part = GetPart(pass.chunk);
    const auto ready = [&](const ParameterCount& count) {
        if (makesGradients && !m_sharded.IsActive())
        {
            m_gradients.Ready(count);
        }
    };
    if (part + 1 == m_plan.GetParts())
    {
        m_ends.HeadBackward();
        ready(GetHeadParameters(m_plan, m_stage));
    }
    const uint32_t first = m_plan.GetFirstLayerOfPart(part);
    for (uint32_t i = m_plan.GetPartLayers(part); i-- > 0;)
    {
        m_sharded.BeforeBackward(first + i);
        m_layers.Backward(first + i, IsRecomputed(i));
        m_sharded.AfterBackward(first + i);
        ready(GetLayerParameters(m_plan, first + i));
    }
    if (part == 0)
    {
        m_ends.EmbeddingBackward();
        m_sharded.EndBackward();
        ready(GetEmbeddingParameters(m_plan, m_stage));
    }
    m_emitter.SetPrefix("");
}

void StageProgram::BackwardWeights(const PipelinePass& pass)
{
    const auto put = m_deferred.find({pass.microBatch, pass.chunk});
    if (put != m_deferred.end())
    {
        m_layers.MakeDeferred(put->second);
        m_deferred.erase(put);
    }
    m_emitter.SetPrefix("");
    if (++m_backwards[pass.chunk] == m_plan.microBatches && !m_sharded.IsActive())
    {
        const uint32_t part = GetPart(pass.chunk);
        m_gradients.Ready(GetPartParameters(m_plan, part));
        if (part + 1 == m_plan.GetParts())
        {
            m_gradients.Ready(GetHeadParameters(m_plan, m_stage));
        }
        if (part == 0)
        {
            m_gradients.Ready(GetEmbeddingParameters(m_plan, m_stage));
        }
        if (m_plan.overlapGradients)
        {
            m_gradients.Flush();
        }
    }
}

CommunicationDescription::Element StageProgram::MakeElement(const Message& message) const
{
    // Each tensor rank sends its own copy, or its own part with sequence parallelism.
    const double tokens = m_plan.splitMessages ? double(m_plan.GetTokens()) / m_plan.parallel.tensor
                                               : m_layers.GetOwnTokens();
    CommunicationDescription::Element element;
    element.isSend = message.isSend;
    element.peerIndex = message.peer;
    element.bytes =
        static_cast<uint64_t>(tokens * m_plan.model.hidden * BytesOf(m_plan.parameters));
    element.tag = GetTag(message, m_stage, m_shape);
    return element;
}

std::string StageProgram::NameOf(const Message& message)
{
    std::string name = std::string(message.isSend ? "send " : "receive ") +
                       (message.isActivation ? "activation " : "gradient ") +
                       std::to_string(message.microBatch);
    return message.chunk > 0 ? name + "." + std::to_string(message.chunk) : name;
}

void StageProgram::Transfer(const std::vector<Message>& messages)
{
    StepEmitter::Elements elements;
    std::string name;
    for (const Message& message : messages)
    {
        elements.push_back(MakeElement(message));
        name += (name.empty() ? "" : ", ") + NameOf(message);
    }
    m_emitter.SetPrefix("");
    m_emitter.Transfer(name, LayoutGroup::PIPELINE, std::move(elements));
    GatherReceived(messages);
}

OperatorId StageProgram::TransferBeside(const Message& message)
{
    m_emitter.SetPrefix("");
    const std::string stream = std::string(message.isSend ? "pp send " : "pp receive ") +
                               (message.isActivation ? "activations" : "gradients");
    return m_emitter.TransferAsync(
        NameOf(message), LayoutGroup::PIPELINE, stream, {MakeElement(message)});
}

void StageProgram::GatherReceived(const std::vector<Message>& messages)
{
    for (const Message& message : messages)
    {
        if (m_plan.splitMessages && !message.isSend)
        {
            m_emitter.Collective(NameOf(message) + " all-gather",
                                 LayoutGroup::TENSOR,
                                 CollectiveKind::ALL_GATHER,
                                 m_layers.GetHiddenBytes(),
                                 m_plan.parameters);
        }
    }
}

} // namespace echo
} // namespace ns3
