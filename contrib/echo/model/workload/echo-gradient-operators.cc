// SPDX-License-Identifier: GPL-2.0-only
#include "echo-gradient-operators.h"

#include <algorithm>
#include <limits>

namespace ns3
{
namespace echo
{

GradientOperators::GradientOperators(StepEmitter& emitter, uint32_t stage)
    : m_emitter(emitter),
      m_plan(emitter.GetPlan()),
      m_stage(stage),
      m_parameters(GetStageParameters(m_plan, stage)),
      m_bucketElements(std::numeric_limits<uint64_t>::max())
{
    // Megatron-Core buckets the first stage only: the others end their backward passes earlier, so
    // that their reduction is not on the critical path.
    if (m_plan.overlapGradients && m_plan.HoldsPart(stage, 0))
    {
        m_bucketElements =
            m_plan.bucketElements > 0 ? m_plan.bucketElements : m_plan.GetDefaultBucketElements();
    }
}

void GradientOperators::Start()
{
    m_emitter.SetPrefix("");
    m_emitter.Memory(
        "clear gradients", KernelKind::ELEMENTWISE, double(GetHeld()) * BytesOf(m_plan.gradients));
    if (m_plan.overlapParameters && m_plan.sharding != StateSharding::PARAMETERS)
    {
        GatherParameters();
    }
}

GradientOperators::Gathering GradientOperators::Gather(const ParameterCount& count)
{
    const std::string name = "parameters bucket " + std::to_string(m_buckets++) + " ";
    Gathering made;
    made.experts = m_emitter.GatherParameters(name, LayoutGroup::EXPERT_DATA, count.experts);
    made.dense = m_emitter.GatherParameters(name, LayoutGroup::DATA, count.dense);
    return made;
}

/** Gathers updated parameters in buckets of whole layers, in the order of the forward pass. */
void GradientOperators::GatherParameters()
{
    for (uint32_t part : m_plan.GetStageParts(m_stage)) // stages that hold the same agree
    {
        ParameterCount open; // those of a part are not gathered with another's
        std::vector<Gathering*> waiting;
        const auto take = [&](const ParameterCount& count, Gathering& user) {
            open += count;
            waiting.push_back(&user);
        };
        const auto close = [&] {
            const Gathering made = open.GetTotal() > 0 ? Gather(open) : Gathering();
            for (Gathering* user : waiting)
            {
                *user = made;
            }
            open = ParameterCount();
            waiting.clear();
        };
        if (part == 0)
        {
            take(GetEmbeddingParameters(m_plan, m_stage), m_embeddingGather);
        }
        const uint32_t first = m_plan.GetFirstLayerOfPart(part);
        const size_t before = m_gathers.size();
        m_gathers.resize(before + m_plan.GetPartSize(part));
        for (uint32_t i = 0; i < m_plan.GetPartSize(part); ++i)
        {
            take(GetLayerParameters(m_plan, first + i), m_gathers[before + i]);
            if (open.GetTotal() >= m_bucketElements)
            {
                close();
            }
        }
        if (part + 1 == m_plan.GetParts())
        {
            take(GetHeadParameters(m_plan, m_stage), m_headGather);
        }
        close();
    }
}

void GradientOperators::WaitFor(const Gathering& gathering)
{
    m_emitter.WaitFor(gathering.dense);
    m_emitter.WaitFor(gathering.experts);
}

void GradientOperators::WaitForParameters(uint32_t position)
{
    if (position < m_gathers.size())
    {
        WaitFor(m_gathers[position]);
    }
}

uint64_t GradientOperators::GetHeld() const
{
    if (m_plan.sharding == StateSharding::PARAMETERS)
    {
        return GetOwned();
    }
    return m_parameters.GetTotal();
}

uint64_t GradientOperators::GetOwned() const
{
    return m_emitter.GetShare(LayoutGroup::DATA, m_parameters.dense) +
           m_emitter.GetShare(LayoutGroup::EXPERT_DATA, m_parameters.experts);
}

void GradientOperators::Flush()
{
    Reduce(LayoutGroup::DATA, m_open.dense);
    Reduce(LayoutGroup::EXPERT_DATA, m_open.experts);
    m_open = ParameterCount();
}

void GradientOperators::Ready(const ParameterCount& count)
{
    m_open += count;
    if (m_open.dense >= m_bucketElements)
    {
        Reduce(LayoutGroup::DATA, m_open.dense);
        m_open.dense = 0;
    }
    if (m_open.experts >= m_bucketElements)
    {
        Reduce(LayoutGroup::EXPERT_DATA, m_open.experts);
        m_open.experts = 0;
    }
}

void GradientOperators::Reduce(LayoutGroup group, uint64_t elements)
{
    if (elements == 0)
    {
        return;
    }
    m_emitter.SetPrefix("");
    m_reductions.push_back(m_emitter.ReduceGradients(
        std::string(group == LayoutGroup::DATA ? "gradients" : "expert gradients") + " bucket " +
            std::to_string(m_reduced.size()) + " ",
        group,
        elements));
    m_reduced.push_back({group, elements});
}

void GradientOperators::Finish()
{
    Flush();
    for (OperatorId reduction : m_reductions)
    {
        m_emitter.WaitFor(reduction);
    }
    SumPartialGradients();
    Clip();
    Update();
}

void GradientOperators::SumPartialGradients()
{
    if (m_plan.sequenceParallel)
    {
        m_emitter.Collective("norm gradients all-reduce",
                             LayoutGroup::TENSOR,
                             CollectiveKind::ALL_REDUCE,
                             m_parameters.sequence * BytesOf(m_plan.gradients),
                             m_plan.gradients);
    }
    if (m_plan.SharesEmbedding() && (m_stage == 0 || m_stage + 1 == m_plan.parallel.pipeline))
    {
        m_emitter.Collective("embedding gradient all-reduce",
                             LayoutGroup::EMBEDDING,
                             CollectiveKind::ALL_REDUCE,
                             m_plan.GetPaddedVocabulary() / m_plan.parallel.tensor *
                                 m_plan.model.hidden * BytesOf(m_plan.gradients),
                             m_plan.gradients);
    }
}

void GradientOperators::Clip()
{
    if (!m_plan.clipGradients)
    {
        return;
    }
    m_emitter.Memory("gradient norm",
                     KernelKind::ELEMENTWISE,
                     double(m_plan.sharding >= StateSharding::GRADIENTS ? GetOwned() : GetHeld()) *
                         BytesOf(m_plan.gradients));
    const auto sum = [this](const std::string& name, LayoutGroup group) {
        m_emitter.Collective(name, group, CollectiveKind::ALL_REDUCE, 4, DataType::FP32);
    };
    if (m_plan.SplitsOptimizer())
    {
        sum("gradient norm all-reduce", LayoutGroup::WORLD);
        return;
    }
    sum("gradient norm all-reduce", LayoutGroup::MODEL);
    // The group is of all stages: those without experts add nothing, but take part.
    const TransformerShape& model = m_plan.model;
    if (model.HasExperts(model.layers + model.mtpLayers - 1) && m_plan.parallel.expert > 1)
    {
        sum("expert gradient norm all-reduce", LayoutGroup::MODEL_EXPERT);
    }
}

void GradientOperators::Update()
{
    // Adam reads gradient, parameter (FP32 or its FP32 master) and two moments, writes the last
    // three and, from a master, the 16-bit parameter.
    const double bytes = BytesOf(m_plan.gradients) + 6 * 4.0 +
                         (m_plan.parameters == DataType::FP32 ? 0 : BytesOf(m_plan.parameters));
    const double elements = double(m_plan.SplitsOptimizer() ? GetOwned() : m_parameters.GetTotal());
    m_emitter.Memory("optimizer", KernelKind::ELEMENTWISE, elements * bytes);
    m_emitter.EndUnit();
    if (!m_plan.SplitsOptimizer() || m_plan.overlapParameters ||
        m_plan.sharding == StateSharding::PARAMETERS)
    {
        return;
    }
    if (m_plan.sharding == StateSharding::GRADIENTS) // reduced once a micro-batch, gathered once
    {
        m_reduced = {{LayoutGroup::DATA, m_parameters.dense},
                     {LayoutGroup::EXPERT_DATA, m_parameters.experts}};
        m_reduced.resize(m_parameters.experts > 0 ? 2 : 1);
    }
    for (size_t i = 0; i < m_reduced.size(); ++i)
    {
        m_emitter.WaitFor(m_emitter.GatherParameters("parameters bucket " + std::to_string(i) + " ",
                                                     m_reduced[i].group,
                                                     m_reduced[i].elements));
    }
}

} // namespace echo
} // namespace ns3
