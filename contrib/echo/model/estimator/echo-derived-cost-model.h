// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_DERIVED_COST_MODEL_H
#define ECHO_DERIVED_COST_MODEL_H

#include "echo-cost-model.h"
#include "echo-plan-geometry.h"

#include "ns3/echo-router.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>

namespace ns3
{
namespace echo
{

/**
 * Costs without measurements: what the scheduled back end takes on packets when nothing else is on
 * the links, in closed form (echo-derived-terms.h), from link rates and delays, the paths of the
 * router and the structure of the algorithm. Contention of an instance with itself is in it.
 *
 * The paths of a group are walked once for an algorithm and number of channels, then any size costs
 * some operations a connection, then a look-up. Attributes are to be set before the first estimate.
 */
class DerivedCostModel : public CostModel
{
  public:
    static TypeId GetTypeId();
    DerivedCostModel();
    ~DerivedCostModel() override;

    /** To be called before the first estimate. @param router prepared */
    void SetRouter(Ptr<Router> router);
    CostBreakdown Estimate(const CollectivePlan& plan) const override;
    /** That of full packets. */
    double GetWirePart() const override;

  protected:
    void DoDispose() override;

  private:
    struct Cache;
    using GeometryPtr = std::shared_ptr<const PlanGeometry>;

    GeometryPtr GetGeometry(const CollectivePlan& plan) const;
    CostBreakdown Compute(const CollectivePlan& plan) const;

    Ptr<Router> m_router;           //!< paths
    uint64_t m_mtu{4096};           //!< attribute Mtu
    uint64_t m_headerBytes{82};     //!< attribute HeaderBytes
    Time m_stepOverhead;            //!< attribute StepOverhead
    std::unique_ptr<Cache> m_cache; //!< geometries and estimates so far
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_DERIVED_COST_MODEL_H */
