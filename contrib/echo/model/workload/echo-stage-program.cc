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
    const auto steps = MakePipelineSteps(*m_plan.GetSchedule(), m_stage, m_shape);
    for (size_t i = 0; i < steps.size(); ++i)
    {
        if (!steps[i].isPass)
        {
            Transfer(steps[i].transfers);
        }
        else if (steps[i].pass.isPaired)
        {
            Pair(steps[i].pass, steps[i + 1].pass);
            ++i;
        }
        else
        {
            Pass(steps[i].pass);
        }
    }
}

/** Every input is asked for one pass ahead; outputs leave beside the next pass. */
void StageProgram::MakeOverlapped()
{
    const auto passes = m_plan.GetSchedule()->GetPasses(m_stage, m_shape);
    const auto getEnd = [&](size_t index) { return index + (passes[index].isPaired ? 2 : 1); };
    const auto receive = [&](size_t index) {
        std::vector<OperatorId> asked;
        for (size_t i = index; index < passes.size() && i < getEnd(index); ++i)
        {
            for (const Message& message : GetInputs(passes[i], m_stage, m_shape))
            {
                asked.push_back(TransferBeside(message));
            }
        }
        return asked;
    };
    std::vector<OperatorId> next = receive(0);
    for (size_t i = 0; i < passes.size();)
    {
        const size_t end = getEnd(i);
        const std::vector<OperatorId> arrived = next;
        next = receive(end);
        for (OperatorId op : arrived)
        {
            m_emitter.WaitFor(op);
        }
        for (size_t j = i; j < end; ++j)
        {
            GatherReceived(GetInputs(passes[j], m_stage, m_shape));
        }
        passes[i].isPaired ? Pair(passes[i], passes[i + 1]) : Pass(passes[i]);
        for (; i < end; ++i)
        {
            for (const Message& message : GetOutputs(passes[i], m_stage, m_shape))
            {
                TransferBeside(message);
            }
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

bool StageProgram::IsRecomputed(uint32_t indexInPart) const
{
    return m_plan.recompute == RecomputeMode::FULL &&
           (m_plan.recomputeLayers == 0 || indexInPart < m_plan.recomputeLayers);
}

void StageProgram::Forward(const PipelinePass& pass)
{
    BeginForward(pass);
    for (uint32_t i = 0; i < GetLayers(pass); ++i)
    {
        ForwardLayer(pass, i);
    }
    EndForward(pass);
}

void StageProgram::BeginForward(const PipelinePass& pass)
{
    m_isFirstUse = !m_hasParameters[pass.chunk];
    m_hasParameters[pass.chunk] = true;
    m_position = 0; // of the part's first layer on this stage
    for (uint32_t part : m_plan.GetStageParts(m_stage))
    {
        m_position += part < GetPart(pass) ? m_plan.GetPartSize(part) : 0;
    }
    if (GetPart(pass) == 0)
    {
        m_sharded.BeginForward();
        if (m_isFirstUse)
        {
            m_gradients.WaitForEmbedding();
        }
        m_ends.EmbeddingForward();
    }
}

void StageProgram::BeforeForward(const PipelinePass& pass, uint32_t index)
{
    if (m_isFirstUse)
    {
        m_gradients.WaitForParameters(m_position + index);
    }
    m_sharded.BeforeForward(GetLayer(pass, index));
    if (GetLayer(pass, index) >= m_plan.model.layers)
    {
        if (m_isFirstUse)
        {
            m_gradients.WaitForHead(); // a copy of the embedding is in it
        }
        m_ends.JoinForward();
    }
}

void StageProgram::ForwardLayer(const PipelinePass& pass, uint32_t index)
{
    BeforeForward(pass, index);
    m_layers.Forward(GetLayer(pass, index));
    m_sharded.AfterForward(GetLayer(pass, index));
}

void StageProgram::EndForward(const PipelinePass& pass)
{
    if (GetPart(pass) + 1 == m_plan.GetParts())
    {
        if (m_isFirstUse)
        {
            m_gradients.WaitForHead();
        }
        m_ends.HeadForward();
    }
    m_emitter.SetPrefix("");
}

bool StageProgram::CountBackward(const PipelinePass& pass)
{
    const auto [first, end] = m_shape.GetMicroBatches(pass.chunk);
    return ++m_backwards[pass.chunk] == end - first;
}

void StageProgram::Backward(const PipelinePass& pass)
{
    const bool makesGradients = BeginBackward(pass);
    for (uint32_t i = GetLayers(pass); i-- > 0;)
    {
        BackwardLayer(pass, i, makesGradients);
    }
    EndBackward(pass, makesGradients);
}

bool StageProgram::BeginBackward(const PipelinePass& pass)
{
    const bool isWhole = pass.kind == PipelinePass::Kind::BACKWARD;
    if (!isWhole)
    {
        m_layers.DeferWeights(&m_deferred[{pass.microBatch, pass.chunk}]);
    }
    const bool makesGradients =
        isWhole && (CountBackward(pass) || m_plan.sharding == StateSharding::GRADIENTS);
    if (GetPart(pass) + 1 == m_plan.GetParts())
    {
        m_ends.HeadBackward();
        Ready(GetHeadParameters(m_plan, m_stage), makesGradients);
    }
    return makesGradients;
}

void StageProgram::BackwardLayer(const PipelinePass& pass, uint32_t index, bool makesGradients)
{
    m_sharded.BeforeBackward(GetLayer(pass, index));
    m_layers.Backward(GetLayer(pass, index), IsRecomputed(index));
    AfterBackward(pass, index, makesGradients);
}

void StageProgram::AfterBackward(const PipelinePass& pass, uint32_t index, bool makesGradients)
{
    m_sharded.AfterBackward(GetLayer(pass, index));
    if (GetLayer(pass, index) >= m_plan.model.layers)
    {
        m_ends.JoinBackward();
    }
    Ready(GetLayerParameters(m_plan, GetLayer(pass, index)), makesGradients);
}

void StageProgram::EndBackward(const PipelinePass& pass, bool makesGradients)
{
    if (GetPart(pass) == 0)
    {
        m_ends.EmbeddingBackward();
        m_sharded.EndBackward();
        Ready(GetEmbeddingParameters(m_plan, m_stage), makesGradients);
    }
    m_emitter.SetPrefix("");
    m_layers.DeferWeights(nullptr);
    FlushReady(makesGradients);
}

void StageProgram::FlushReady(bool makesGradients)
{
    if (makesGradients && (m_plan.overlapGradients || m_plan.sharding == StateSharding::GRADIENTS))
    {
        m_gradients.Flush();
    }
}

void StageProgram::Ready(const ParameterCount& count, bool makesGradients)
{
    if (makesGradients && !m_sharded.IsActive())
    {
        m_gradients.Ready(count);
    }
}

// The order of Megatron-Core's TransformerModelChunkSchedulePlan: the last layer of the backward
// pass meets the first of the forward pass.

void StageProgram::Pair(const PipelinePass& forward, const PipelinePass& backward)
{
    BeginForward(forward);
    const bool makesGradients = BeginBackward(backward);
    uint32_t next = 0;
    uint32_t left = GetLayers(backward);
    while (next < GetLayers(forward) && left > 0)
    {
        BeforeForward(forward, next);
        m_layers.ForwardBackward(GetLayer(forward, next++), GetLayer(backward, --left));
        AfterBackward(backward, left, makesGradients);
    }
    while (left > 0)
    {
        BackwardLayer(backward, --left, makesGradients);
    }
    EndBackward(backward, makesGradients);
    while (next < GetLayers(forward))
    {
        ForwardLayer(forward, next++);
    }
    EndForward(forward);
}

void StageProgram::BackwardWeights(const PipelinePass& pass)
{
    const auto put = m_deferred.find({pass.microBatch, pass.chunk});
    if (put != m_deferred.end())
    {
        m_layers.MakeDeferred(put->second);
        m_emitter.EndUnit();
        m_deferred.erase(put);
    }
    m_emitter.SetPrefix("");
    const bool makesGradients = CountBackward(pass) || m_plan.sharding == StateSharding::GRADIENTS;
    const uint32_t part = GetPart(pass);
    Ready(GetPartParameters(m_plan, part), makesGradients);
    if (part + 1 == m_plan.GetParts())
    {
        Ready(GetHeadParameters(m_plan, m_stage), makesGradients);
    }
    if (part == 0)
    {
        Ready(GetEmbeddingParameters(m_plan, m_stage), makesGradients);
    }
    FlushReady(makesGradients);
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
    std::string stream = std::string(message.isSend ? "pp send " : "pp receive ") +
                         (message.isActivation ? "activations" : "gradients");
    if (m_shape.placement != PartPlacement::LOOP) // both ways at once, neither behind the other
    {
        stream += message.chunk == 0 ? " down" : " up";
    }
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
