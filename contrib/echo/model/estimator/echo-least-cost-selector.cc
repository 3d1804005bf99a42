// SPDX-License-Identifier: GPL-2.0-only
#include "echo-least-cost-selector.h"

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(LeastCostSelector);

TypeId LeastCostSelector::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::LeastCostSelector")
                            .SetParent<CollectiveSelector>()
                            .SetGroupName("Echo")
                            .AddConstructor<LeastCostSelector>();
    return tid;
}

void LeastCostSelector::Set(Ptr<CollectiveSelector> inner, Ptr<CostModel> model)
{
    m_inner = inner;
    m_model = model;
}

CollectiveChoice LeastCostSelector::Select(const CollectiveSpec& spec,
                                           const GroupLayout& layout) const
{
    const CollectiveChoice first = m_inner->Select(spec, layout);
    if (spec.algorithm != CollectiveAlgorithmKind::AUTO ||
        spec.kind != CollectiveKind::ALL_REDUCE || spec.bytes == 0 || layout.GetRanks() < 2)
    {
        return first;
    }
    CollectivePlan plan;
    plan.spec = spec;
    plan.layout = std::make_shared<const GroupLayout>(layout);
    plan.choice = first;
    const Time firstTime = m_model->Estimate(plan).GetTotal();
    CollectiveSpec other = spec; // its chunk may be another one
    other.algorithm = first.algorithm == CollectiveAlgorithmKind::RING
                          ? CollectiveAlgorithmKind::TREE
                          : CollectiveAlgorithmKind::RING;
    plan.choice = m_inner->Select(other, layout);
    return m_model->Estimate(plan).GetTotal() < firstTime ? plan.choice : first;
}

} // namespace echo
} // namespace ns3
