// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_CONTENTION_WATCH_H
#define ECHO_CONTENTION_WATCH_H

#include "echo-collective-backend.h"
#include "echo-folded-contention.h"
#include "echo-footprint-tracker.h"

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
 * Fills what a record says of links: marks instances `contended` that share links, inside hosts or
 * between them, which they together ask for more than the links have, and finds their link
 * utilisation.
 */
class ContentionWatch
{
  public:
    using InstancePtr = std::shared_ptr<CollectiveInstance>;

    /** Without a router nothing is watched. @p fixedWays as FootprintCache::Prepare */
    void SetRouter(Ptr<Router> router, bool fixedWays = true);
    /** @param listener hears once of each instance (each replica of it) that is marked */
    void SetListener(std::function<void(const CollectiveInstance&, uint32_t replica)> listener);

    bool HasRouter() const
    {
        return m_footprints.IsPrepared();
    }

    /**
     * The instance begins to transfer; it and others may be marked.
     * @param end when it is off its links, if that is known: at that instant it is in nobody's way
     * @return all that are contended now on the links that it uses, it too; empty if there is none
     */
    std::vector<InstancePtr> Begin(const InstancePtr& instance, Time end = Time::Max());
    /** @return active instances on fabric links of an active instance, without itself */
    std::vector<InstancePtr> GetSharing(const CollectiveInstance& instance) const;
    /** The instance is off its links. */
    void End(const CollectiveInstance& instance);
    /** @return what an instance asks of links (FootprintCache::GetShares); without a router none */
    std::vector<LinkShare> GetShares(const CollectiveInstance& instance,
                                     const UseAlone& alone,
                                     bool fabricKnown);
    /** An active instance ends at another time than Begin was told. */
    void SetEnd(const CollectiveInstance& instance, Time end);
    /** @return part of @p duration that the instance's bytes take on its busiest link */
    double GetUtilization(const CollectiveInstance& instance, Time duration);
    /** Sets record.linkUtilization for a transfer that takes @p duration. */
    void SetUtilization(CollectiveInstance& instance, Time duration);

    /** Counts an instance's bytes on the links that it uses; for models without links. */
    void AddLoad(const CollectiveInstance& instance);
    /** One record for each direction of each link that AddLoad counted bytes on. */
    void ReportLoad(RecordSink& sink) const;
    /** @return bytes that a replica of an instance puts on fabric links, summed over the links */
    double GetFabricBytes(const CollectiveInstance& instance, uint32_t replica);

    /** @return instances marked so far */
    uint64_t GetContendedCount() const
    {
        return m_contended;
    }

    void Clear();

  private:
    LinkUse& UseOf(const CollectiveInstance& instance);
    void Mark(CollectiveInstance& instance, uint32_t replica);

    FoldedContention m_folded; //!< in place of the tracker where ranks are folded
    std::function<void(const CollectiveInstance&, uint32_t)> m_listener; //!< may be empty

    mutable FootprintCache m_footprints;
    FootprintTracker m_tracker;
    std::map<CollectiveId, InstancePtr> m_active; //!< on links now
    uint64_t m_contended{0};                      //!< instances marked
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_CONTENTION_WATCH_H */
