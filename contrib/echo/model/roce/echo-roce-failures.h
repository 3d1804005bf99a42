// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_ROCE_FAILURES_H
#define ECHO_ROCE_FAILURES_H

#include "ns3/echo-link-event.h"
#include "ns3/echo-router.h"
#include "ns3/event-id.h"

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

class RoceFabric;

/**
 * Plays a list of link events on a fabric. A link that is cut loses what is on it and what waits
 * for it at once; ways go around it only when routing has heard of it, a delay later, and so for
 * the way back. Of several causes (a link's own event, its switch's) the last that ends restores a
 * link.
 *
 * Everything is scheduled before time zero, so that it comes before all else of its instant.
 */
class RoceFailures
{
  public:
    /**
     * @param rerouteDelay from a cut or restored link to the new ways
     * @param onRerouted called after ways have changed
     */
    RoceFailures(std::vector<LinkEvent> events,
                 Time rerouteDelay,
                 RoceFabric& fabric,
                 Ptr<Router> router,
                 std::function<void()> onRerouted);
    ~RoceFailures();
    RoceFailures(const RoceFailures&) = delete;
    RoceFailures& operator=(const RoceFailures&) = delete;

    /** @return true if a link will yet be restored, or ways will change */
    bool MayRecover() const;

    bool IsAnyDown() const
    {
        return !m_causes.empty();
    }

    /** @return what is down now, for messages: "spine1, leaf0 - spine0" */
    std::string DescribeDown() const;

  private:
    void Apply(size_t event);
    void Reroute(size_t event);
    void Cut(LinkId link);
    void Restore(LinkId link);

    std::vector<LinkEvent> m_events; //!< in order of time
    RoceFabric& m_fabric;
    Ptr<Router> m_router;
    std::function<void()> m_onRerouted;
    std::map<LinkId, std::set<std::string>> m_causes; //!< links that are down, and why
    std::vector<EventId> m_scheduled;
    size_t m_pending{0}; //!< restorations and changes of ways still to come
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_ROCE_FAILURES_H */
