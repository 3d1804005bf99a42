// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_LEAST_COST_SELECTOR_H
#define ECHO_LEAST_COST_SELECTOR_H

#include "echo-cost-model.h"

#include "ns3/echo-collective-selector.h"

namespace ns3
{
namespace echo
{

/**
 * Takes the algorithm (ring or tree, where both can do the operation) that a cost model estimates
 * to be quicker, ring if equal; all else as another selector says. For clusters without a
 * calibrated profile, whose NCCL choices are not known.
 */
class LeastCostSelector : public CollectiveSelector
{
  public:
    static TypeId GetTypeId();
    /**
     * @param inner gives protocol, channels and chunk, and the algorithm where there is no choice
     * @param model compares
     */
    void Set(Ptr<CollectiveSelector> inner, Ptr<CostModel> model);
    CollectiveChoice Select(const CollectiveSpec& spec, const GroupLayout& layout) const override;

  private:
    Ptr<CollectiveSelector> m_inner;
    Ptr<CostModel> m_model;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_LEAST_COST_SELECTOR_H */
