// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_FOLDED_CONTENTION_H
#define ECHO_FOLDED_CONTENTION_H

#include "echo-collective-backend.h"
#include "echo-footprint.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Who slows whom where equal ranks are folded: what FootprintTracker finds, for instances that
 * stand for many at once.
 *
 * What is active together repeats micro-batch after micro-batch, so which replicas are contended is
 * worked out once for each set of active plans.
 */
class FoldedContention
{
  public:
    using InstancePtr = std::shared_ptr<CollectiveInstance>;
    /** An instance has so many more contended replicas. */
    using Mark = std::function<void(CollectiveInstance&, uint32_t replicas)>;

    /**
     * An instance becomes active until End, or @p end if it comes first.
     * @return all instances with contended replicas now, if any is due to this one
     */
    std::vector<InstancePtr> Begin(const InstancePtr& instance,
                                   LinkUse& use,
                                   FootprintCache& footprints,
                                   Time end,
                                   const Mark& mark);
    void End(const CollectiveInstance& instance);
    void Clear();

  private:
    struct Active
    {
        InstancePtr instance;
        LinkUse* use;
        Time end;
    };

    struct Demand
    {
        double sum{0};
        uint32_t users{0};
    };

    /// By active plan, by replica: whether it is contended; a plan's are empty if none is.
    using Flags = std::vector<std::vector<bool>>;

    const Flags& FlagsOf(FootprintCache& footprints);
    Flags Compute(FootprintCache& footprints);

    std::vector<Active> m_active; //!< in order of their use's number
    std::map<std::vector<uint32_t>, Flags> m_known;
    std::vector<Demand> m_demand; //!< by port, scratch
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_FOLDED_CONTENTION_H */
