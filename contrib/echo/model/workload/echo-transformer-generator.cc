// SPDX-License-Identifier: GPL-2.0-only
#include "echo-transformer-generator.h"

#include "echo-gradient-operators.h"
#include "echo-layer-operators.h"
#include "echo-pipeline-schedule.h"
#include "echo-step-emitter.h"
#include "echo-workload-builder.h"

#include <map>

namespace ns3
{
namespace echo
{

namespace
{

/** Writes the program of one pipeline stage. */
class StageProgram
{
  public:
    StageProgram(const TrainingPlan& plan, const ParallelLayout& layout, uint32_t stage)
        : m_plan(plan),
          m_stage(stage),
          m_isFirst(stage == 0),
          m_isLast(stage + 1 == plan.parallel.pipeline),
          m_emitter(plan, layout),
          m_layers(m_emitter),
          m_gradients(m_emitter, stage),
          m_tokens(double(plan.GetTokens())),
          m_bytes(BytesOf(plan.parameters)),
          m_vocabulary(double(plan.GetPaddedVocabulary() / plan.parallel.tensor))
    {
    }

    /** @return the program; @p slots gets the groups of its slots */
    ExecutionGraphPtr Make(std::vector<LayoutGroup>& slots)
    {
        m_gradients.Start();
        const auto steps = MakePipelineSchedule(
            m_plan.schedule, m_stage, m_plan.parallel.pipeline, m_plan.microBatches);
        uint32_t backwards = 0;
        for (const PipelineStep& step : steps)
        {
            switch (step.kind)
            {
            case PipelineStep::Kind::FORWARD:
                Forward();
                break;
            case PipelineStep::Kind::BACKWARD:
                Backward(++backwards == m_plan.microBatches);
                break;
            case PipelineStep::Kind::TRANSFER:
                Transfer(step.transfers);
                break;
            }
        }
        m_gradients.Finish();
        slots = m_emitter.GetSlots();
        return m_emitter.Build();
    }

  private:
    void Forward()
    {
        if (m_isFirst)
        {
            EmbeddingForward();
        }
        const uint32_t first = m_plan.GetFirstLayer(m_stage);
        for (uint32_t i = 0; i < m_plan.GetStageLayers(m_stage); ++i)
        {
            m_layers.Forward(first + i);
        }
        if (m_isLast)
        {
            HeadForward();
        }
    }

    /** @param makesGradients the last micro-batch: gradients are complete as layers end */
    void Backward(bool makesGradients)
    {
        const auto ready = [&](const ParameterCount& count) {
            if (makesGradients)
            {
                m_gradients.Ready(count);
            }
        };
        if (m_isLast)
        {
            HeadBackward();
            ready(GetHeadParameters(m_plan, m_stage));
        }
        const uint32_t first = m_plan.GetFirstLayer(m_stage);
        const ParameterCount layer = GetLayerParameters(m_plan);
        for (uint32_t i = m_plan.GetStageLayers(m_stage); i-- > 0;)
        {
            m_layers.Backward(first + i);
            ready(layer);
        }
        if (m_isFirst)
        {
            EmbeddingBackward();
            ready(GetEmbeddingParameters(m_plan, m_stage));
        }
        m_emitter.SetPrefix("");
    }

    void Transfer(const std::vector<PipelineStep::Transfer>& transfers)
    {
        // Each tensor rank sends its own copy, or its own part with sequence parallelism.
        const auto bytes =
            static_cast<uint64_t>(m_layers.GetOwnTokens() * m_plan.model.hidden * m_bytes);
        std::vector<CommunicationDescription::Element> elements;
        std::string name;
        for (const auto& transfer : transfers)
        {
            const bool isWithNext = transfer.isSend == transfer.isActivation;
            CommunicationDescription::Element element;
            element.isSend = transfer.isSend;
            element.peerIndex = isWithNext ? m_stage + 1 : m_stage - 1;
            element.bytes = bytes;
            element.tag = static_cast<int32_t>(transfer.microBatch);
            elements.push_back(element);
            name += std::string(name.empty() ? "" : ", ") +
                    (transfer.isSend ? "send " : "receive ") +
                    (transfer.isActivation ? "activation " : "gradient ") +
                    std::to_string(transfer.microBatch);
        }
        m_emitter.SetPrefix("");
        m_emitter.Transfer(name, std::move(elements));
    }

    void EmbeddingForward()
    {
        m_emitter.SetPrefix("embedding forward ");
        m_emitter.Memory(
            "lookup", KernelKind::EMBEDDING, m_tokens * m_plan.model.hidden * 2 * m_bytes);
        m_layers.ReduceHidden("reduce");
        if (m_plan.model.learnedPositions || m_plan.model.dropout)
        {
            m_emitter.Memory("positions",
                             KernelKind::ELEMENTWISE,
                             m_layers.GetOwnTokens() * m_plan.model.hidden * (3 * m_bytes + 1));
        }
    }

    void EmbeddingBackward()
    {
        m_emitter.SetPrefix("embedding backward ");
        if (m_plan.model.learnedPositions || m_plan.model.dropout)
        {
            m_emitter.Memory("positions",
                             KernelKind::ELEMENTWISE,
                             m_layers.GetOwnTokens() * m_plan.model.hidden * (3 * m_bytes + 1));
        }
        m_layers.GatherHidden("gather");
        m_emitter.Memory("lookup",
                         KernelKind::EMBEDDING,
                         m_tokens * m_plan.model.hidden *
                             (m_bytes + 2.0 * BytesOf(m_plan.gradients)));
    }

    /** A sum, or maximum, of one FP32 number a token over the parts of the vocabulary. */
    void ReduceLoss(const std::string& name)
    {
        m_emitter.Collective(name,
                             LayoutGroup::TENSOR,
                             CollectiveKind::ALL_REDUCE,
                             m_plan.GetTokens() * 4,
                             DataType::FP32);
    }

    void HeadForward()
    {
        const double logits = m_tokens * m_vocabulary; // in FP32 from here on
        m_emitter.SetPrefix("head forward ");
        m_layers.NormForward("norm");
        m_layers.ColumnForward("logits", m_vocabulary);
        m_emitter.Memory("loss maximum", KernelKind::ELEMENTWISE, logits * (m_bytes + 4 + 4));
        ReduceLoss("loss maximum all-reduce");
        m_emitter.Memory("loss shift", KernelKind::ELEMENTWISE, logits * 2 * 4);
        ReduceLoss("loss target all-reduce");
        m_emitter.Memory("loss exponentials", KernelKind::ELEMENTWISE, logits * 3 * 4);
        ReduceLoss("loss sum all-reduce");
        m_emitter.Memory("loss softmax", KernelKind::ELEMENTWISE, logits * 2 * 4);
    }

    void HeadBackward()
    {
        m_emitter.SetPrefix("head backward ");
        m_emitter.Memory(
            "loss", KernelKind::ELEMENTWISE, m_tokens * m_vocabulary * (2 * 4 + m_bytes));
        m_layers.ColumnBackward("logits", m_vocabulary);
        m_layers.NormBackward("norm");
    }

    const TrainingPlan& m_plan;
    uint32_t m_stage;
    bool m_isFirst;
    bool m_isLast;
    StepEmitter m_emitter;
    LayerOperators m_layers;
    GradientOperators m_gradients;
    double m_tokens;     //!< of a micro-batch
    double m_bytes;      //!< of an activation element
    double m_vocabulary; //!< this rank's part of it
};

} // namespace

WorkloadGraphPtr GenerateTransformer(const TrainingPlan& plan, uint32_t ranks)
{
    plan.Check();
    const ParallelLayout layout(plan.parallel, ranks);
    WorkloadBuilder builder(ranks);
    // Groups in the order of their first rank, so that their ids and names follow the layout.
    std::map<std::pair<LayoutGroup, RankId>, CommGroupPtr> groups; // by first rank
    std::map<LayoutGroup, uint32_t> counts;
    for (uint32_t stage = 0; stage < plan.parallel.pipeline; ++stage)
    {
        std::vector<LayoutGroup> slots;
        const ExecutionGraphPtr program = StageProgram(plan, layout, stage).Make(slots);
        const uint32_t perStage = ranks / plan.parallel.pipeline;
        for (uint32_t i = 0; i < perStage; ++i)
        {
            const RankId rank(stage * perStage + i);
            std::vector<CommGroupPtr> bound;
            bound.reserve(slots.size());
            for (LayoutGroup slot : slots)
            {
                CommGroupPtr& group = groups[{slot, layout.GetFirstOfGroup(slot, rank)}];
                if (!group)
                {
                    group = builder.AddGroup(GetGroupKind(slot),
                                             ToString(slot) + std::to_string(counts[slot]++),
                                             layout.GetGroup(slot, rank));
                }
                bound.push_back(group);
            }
            builder.SetProgram(rank, program, std::move(bound));
        }
    }
    return builder.Build();
}

} // namespace echo
} // namespace ns3
