// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_FOOTPRINT_TRACKER_H
#define ECHO_FOOTPRINT_TRACKER_H

#include "echo-footprint.h"

#include <cstdint>
#include <map>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Who uses which links now, and who thereby slows whom: instances that share a link whose
 * demand, added up over all active instances, exceeds its rate. An instance alone is never
 * contended, however much it asks for: that is its algorithm's own doing.
 */
class FootprintTracker
{
  public:
    /**
     * An instance becomes active at @p now, until Remove or @p end. Others whose end is @p now are
     * gone already: who hears first of an instant does not matter.
     * @return all instances (this one too) on links that are now asked for more than they have,
     *         sorted, each once; empty if there is none
     */
    std::vector<CollectiveId> Add(CollectiveId id,
                                  FootprintPtr footprint,
                                  Time now = Time(),
                                  Time end = Time::Max());

    /** The instance will be done at another time than Add was told. */
    void SetEnd(CollectiveId id, Time end);
    /** The instance is done. Unknown ids are ignored. */
    void Remove(CollectiveId id);

    /** @return instances that share any link with @p id, sorted, without @p id */
    std::vector<CollectiveId> GetSharing(CollectiveId id) const;

    uint32_t GetActiveCount() const
    {
        return static_cast<uint32_t>(m_active.size());
    }

  private:
    std::map<CollectiveId, FootprintPtr> m_active;
    /** Who is on a port and asks for how much of its rate. */
    struct User
    {
        CollectiveId id;
        double demand;
        Time end;
    };

    std::vector<std::vector<User>> m_ports; //!< by port
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_FOOTPRINT_TRACKER_H */
