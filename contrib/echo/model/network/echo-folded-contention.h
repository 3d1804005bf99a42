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
 * Only those matter to an instance that share a link with it, and which of them are there repeats
 * micro-batch after micro-batch: so which replicas are contended is worked out once for each plan
 * and set of such plans.
 */
class FoldedContention
{
  public:
    using InstancePtr = std::shared_ptr<CollectiveInstance>;
    /** A replica of an instance is contended and was not before. */
    using Mark = std::function<void(CollectiveInstance&, uint32_t replica)>;

    /**
     * An instance becomes active until End, or @p end if it comes first.
     * @return all that are contended now on the links that it uses, it too; empty if there is none
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

    /// By plan of a set, by replica: whether it is contended; a plan's are empty if none is.
    using Flags = std::vector<std::vector<bool>>;

    /** @return whether any replicas of two plans use one link */
    bool Share(LinkUse& a, LinkUse& b, FootprintCache& footprints);
    const std::vector<uint64_t>& GetPorts(LinkUse& use, FootprintCache& footprints);
    /** @param sharing the new one first */
    const Flags& FlagsOf(const std::vector<Active*>& sharing, FootprintCache& footprints);
    Flags Compute(const std::vector<Active*>& sharing, FootprintCache& footprints);

    std::vector<Active> m_active;                   //!< in order of their use's number
    std::map<std::vector<uint32_t>, Flags> m_known; //!< by numbers of uses, the new one first
    std::vector<std::vector<uint64_t>> m_ports;     //!< by number of use: a bit a port
    std::vector<std::vector<int8_t>> m_share; //!< by two numbers, the larger first: -1 unknown
    std::vector<Demand> m_demand;             //!< by port, scratch
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_FOLDED_CONTENTION_H */
