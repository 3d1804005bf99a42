// SPDX-License-Identifier: GPL-2.0-only
#include "echo-sharded-layers.h"

namespace ns3
{
namespace echo
{

ShardedLayers::ShardedLayers(StepEmitter& emitter)
    : m_emitter(emitter),
      m_plan(emitter.GetPlan()),
      m_isActive(m_plan.sharding == StateSharding::PARAMETERS),
      m_rest(m_plan.model.layers),
      m_isThere(m_rest + 1, false),
      m_gathers(m_rest + 1),
      m_expertGathers(m_rest + 1)
{
}

ParameterCount ShardedLayers::GetCount(uint32_t unit) const
{
    if (unit < m_rest)
    {
        return GetLayerParameters(m_plan, unit);
    }
    ParameterCount count = GetEmbeddingParameters(m_plan, 0);
    count += GetHeadParameters(m_plan, 0);
    return count;
}

void ShardedLayers::Fetch(uint32_t unit)
{
    if (m_isThere[unit])
    {
        return;
    }
    m_isThere[unit] = true;
    const ParameterCount count = GetCount(unit);
    m_gathers[unit] = m_emitter.GatherParameters("parameters ", LayoutGroup::DATA, count.dense);
    m_expertGathers[unit] =
        m_emitter.GatherParameters("parameters ", LayoutGroup::EXPERT_DATA, count.experts);
}

void ShardedLayers::Need(uint32_t unit)
{
    Fetch(unit);
    m_emitter.WaitFor(m_gathers[unit]);
    m_emitter.WaitFor(m_expertGathers[unit]);
    m_gathers[unit] = OperatorId();
    m_expertGathers[unit] = OperatorId();
}

void ShardedLayers::Release(uint32_t unit)
{
    m_isThere[unit] = false;
}

void ShardedLayers::BeginForward()
{
    if (m_isActive)
    {
        m_emitter.SetPrefix("embedding ");
        Need(m_rest);
    }
}

void ShardedLayers::BeforeForward(uint32_t layer)
{
    if (m_isActive)
    {
        m_emitter.SetPrefix("layer " + std::to_string(layer) + " ");
        Need(layer);
        if (layer + 1 < m_rest)
        {
            m_emitter.SetPrefix("layer " + std::to_string(layer + 1) + " ");
            Fetch(layer + 1);
        }
    }
}

void ShardedLayers::AfterForward(uint32_t layer)
{
    if (m_isActive && m_plan.reshardAfterForward && layer + 1 < m_rest)
    {
        Release(layer); // the last one is needed again at once
    }
}

void ShardedLayers::BeforeBackward(uint32_t layer)
{
    if (m_isActive)
    {
        m_emitter.SetPrefix("layer " + std::to_string(layer) + " ");
        Need(layer);
        if (layer > 0)
        {
            m_emitter.SetPrefix("layer " + std::to_string(layer - 1) + " ");
            Fetch(layer - 1);
        }
    }
}

void ShardedLayers::AfterBackward(uint32_t layer)
{
    if (m_isActive)
    {
        Reduce(layer, "layer " + std::to_string(layer) + " ");
        Release(layer);
    }
}

void ShardedLayers::EndBackward()
{
    if (m_isActive)
    {
        Reduce(m_rest, "embedding ");
        Release(m_rest);
    }
}

void ShardedLayers::Reduce(uint32_t unit, const std::string& name)
{
    const ParameterCount count = GetCount(unit);
    m_emitter.SetPrefix(name);
    m_reductions.push_back(m_emitter.ReduceGradients("gradients ", LayoutGroup::DATA, count.dense));
    m_reductions.push_back(
        m_emitter.ReduceGradients("gradients ", LayoutGroup::EXPERT_DATA, count.experts));
}

void ShardedLayers::Finish()
{
    for (OperatorId reduction : m_reductions)
    {
        m_emitter.WaitFor(reduction);
    }
}

} // namespace echo
} // namespace ns3
