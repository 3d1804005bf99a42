// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_BOUNDED_COST_MODEL_H
#define ECHO_BOUNDED_COST_MODEL_H

#include "echo-cost-model.h"

namespace ns3
{
namespace echo
{

/**
 * Costs as measured, but between hosts never below what the network takes when nothing else is on
 * it: a profile may be of a faster machine, or of a fabric whose ways do not collide. So what is
 * simulated beside estimates and meets nobody takes no longer than its estimate.
 *
 * What networks do not carry out as the machine does (reductions in switches: NVLS; PAT) is as
 * measured.
 */
class BoundedCostModel : public CostModel
{
  public:
    static TypeId GetTypeId();
    /**
     * To be called before the first estimate.
     * @param measured its terms are kept where it is not the faster one
     * @param idle what the network takes alone: DerivedCostModel
     */
    void Set(Ptr<CostModel> measured, Ptr<CostModel> idle);
    CostBreakdown Estimate(const CollectivePlan& plan) const override;
    bool KnowsFabric() const override;
    double GetWirePart() const override;

  protected:
    void DoDispose() override;

  private:
    Ptr<CostModel> m_measured;
    Ptr<CostModel> m_idle;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_BOUNDED_COST_MODEL_H */
