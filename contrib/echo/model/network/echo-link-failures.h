// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_LINK_FAILURES_H
#define ECHO_LINK_FAILURES_H

#include "ns3/echo-link-event.h"
#include "ns3/echo-router.h"
#include "ns3/event-id.h"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Plays a list of link events on a model of the network. Ways go around a link that is cut only
 * when routing has heard of it, a delay later, and so for the way back. Of several causes (a link's
 * own event, its switch's) the last that ends restores a link.
 *
 * Everything is scheduled before time zero, so that it comes before all else of its instant.
 */
class LinkFailures
{
  public:
    /** @param rerouteDelay from a cut or restored link to the new ways */
    LinkFailures(std::vector<LinkEvent> events, Time rerouteDelay, Ptr<Router> router);
    virtual ~LinkFailures();
    LinkFailures(const LinkFailures&) = delete;
    LinkFailures& operator=(const LinkFailures&) = delete;

    /** @return true if a link will yet be restored, or ways will change */
    bool MayRecover() const;

    bool IsAnyDown() const
    {
        return !m_causes.empty();
    }

    /** @return what is down now, for messages: "spine1, leaf0 - spine0" */
    std::string DescribeDown() const;

    /** Sender and receiver of a flow. */
    using Pair = std::pair<DeviceId, DeviceId>;

    /** @return a line for messages that names flows that can never arrive */
    std::string DescribeUnreachable(const std::vector<Pair>& flows) const;

  private:
    void Apply(size_t event);
    void ApplyTo(LinkId link, const LinkEvent& event);
    void Reroute(size_t event);

    /** What is on the link or waits for it is lost; nothing passes. */
    virtual void Cut(LinkId link) = 0;
    virtual void Restore(LinkId link) = 0;
    /** Each way; maybe while the link is cut. */
    virtual void ChangeRate(LinkId link, DataRate rate) = 0;
    virtual void SetLoss(LinkId link, double loss) = 0;
    /** After ways of the router have changed. */
    virtual void OnRerouted() = 0;

    std::vector<LinkEvent> m_events; //!< in order of time
    Ptr<Router> m_router;
    std::map<LinkId, std::set<std::string>> m_causes; //!< links that are down, and why
    std::vector<EventId> m_scheduled;
    size_t m_pending{0}; //!< restorations and changes of ways still to come
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_LINK_FAILURES_H */
