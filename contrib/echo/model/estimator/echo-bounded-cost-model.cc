// SPDX-License-Identifier: GPL-2.0-only
#include "echo-bounded-cost-model.h"

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(BoundedCostModel);

TypeId BoundedCostModel::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::BoundedCostModel")
                            .SetParent<CostModel>()
                            .SetGroupName("Echo")
                            .AddConstructor<BoundedCostModel>();
    return tid;
}

void BoundedCostModel::Set(Ptr<CostModel> measured, Ptr<CostModel> idle)
{
    m_measured = measured;
    m_idle = idle;
}

CostBreakdown BoundedCostModel::Estimate(const CollectivePlan& plan) const
{
    CostBreakdown measured = m_measured->Estimate(plan);
    const bool isBounded =
        plan.layout->GetHosts() > 1 && (plan.choice.algorithm == CollectiveAlgorithmKind::RING ||
                                        plan.choice.algorithm == CollectiveAlgorithmKind::TREE ||
                                        plan.choice.algorithm == CollectiveAlgorithmKind::PAIRWISE);
    if (!isBounded)
    {
        return measured;
    }
    CostBreakdown idle = m_idle->Estimate(plan);
    if (idle.GetTotal() <= measured.GetTotal())
    {
        return measured;
    }
    idle.extrapolated = measured.extrapolated;
    idle.reason = measured.reason;
    return idle;
}

bool BoundedCostModel::KnowsFabric() const
{
    return m_measured->KnowsFabric();
}

double BoundedCostModel::GetWirePart() const
{
    return m_measured->GetWirePart();
}

void BoundedCostModel::DoDispose()
{
    m_measured = nullptr;
    m_idle = nullptr;
    CostModel::DoDispose();
}

} // namespace echo
} // namespace ns3
