// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_LINK_SHARING_H
#define ECHO_LINK_SHARING_H

#include "echo-collective-backend.h"
#include "echo-footprint.h"

#include "ns3/nstime.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * How fast communications go that are estimated one by one and meet on links: each proceeds at a
 * part of the speed that it has alone, its transfers in step, so that no link carries more than it
 * has and no one could go faster without taking from one that is as slow or slower (max-min).
 *
 * What a communication asks of a link is the part of the time that its bytes take there. Who asks
 * for less than its share leaves the rest to others; who waits at one link leaves its part of all
 * others. Where a link is short, shares are as the rates at which bytes come to it. Waiting for
 * others hides latencies: who shares a busy link takes what the bytes take, not a multiple of what
 * it takes alone.
 */
class LinkSharing
{
  public:
    using InstancePtr = std::shared_ptr<CollectiveInstance>;

    /**
     * A communication begins now.
     * @param shares what it asks of links while it transfers at full speed
     * @param transferPart of its time alone: who shares a link is taken to transfer at the same
     *        time; 1: one's latencies are another's transfers
     * @param comesFirst others have what it leaves: it is simulated elsewhere, without them
     * @param waits it is on no link, and goes at full speed, until Enter() is called for it
     * @return those whose speed has changed, in order of ids
     */
    std::vector<InstancePtr> Add(const InstancePtr& instance,
                                 std::vector<LinkShare> shares,
                                 double transferPart,
                                 bool comesFirst,
                                 bool waits = false);
    /** One that waits is on its links from now on. @return as Add */
    std::vector<InstancePtr> Enter(CollectiveId id);
    /** It has ended or left. @return as Add; unknown ids: none */
    std::vector<InstancePtr> Remove(CollectiveId id);

    /** @return 0 to 1: of the speed that it has alone; 1 for unknown ids */
    double GetSpeed(CollectiveId id) const;
    /** @return ps: how long it would have taken at full speed to come where it is now */
    double GetProgress(CollectiveId id) const;

    /** @return the speed that one has with no other there */
    static double GetSpeedAlone(const std::vector<LinkShare>& shares, double transferPart);

    void Clear();

  private:
    struct Active
    {
        InstancePtr instance;
        std::vector<LinkShare> shares;
        double transferPart{1};
        bool comesFirst{false};
        bool waits{false}; //!< on no link yet
        double speed{1};
        Time since;         //!< speed holds from here
        double progress{0}; //!< ps at full speed, up to `since`
        bool inSet{false};  //!< of the present update
        bool isOpen{false}; //!< its speed is not found yet
        double found{1};    //!< speed of its transfers, in the present update
        double least{1};    //!< what its links so far would let it have
        uint32_t at{0};     //!< link of the problem where that is
    };

    struct User
    {
        Active* who;
        double demand;
        double weight;
    };

    /** A link of the present problem. */
    struct Link
    {
        std::vector<User> users;
        double left{1}; //!< not given to those whose speed is found
    };

    std::vector<InstancePtr> Enter(Active& active);
    std::vector<User>& UsersOf(uint64_t link);
    /** Finds speeds again for @p seeds and all who depend on them. */
    std::vector<InstancePtr> Update(std::vector<Active*> seeds);
    /** Adds to @p set who shares a link that is asked for too much with one of it. */
    void Close(std::vector<Active*>& set);
    /** Finds the speeds of those that come first, or of the others in what they leave. */
    void Solve(const std::vector<Active*>& set, bool first);
    /** What one link would let its open users have goes into their `least`. */
    void Offer(uint32_t number);
    void Fix(Active& active);
    /** Those of the set that are slowed and come first or not have what is left all the same. */
    void FillUp(std::vector<Active*> set, bool first);
    /** @return the link's place in the present problem, NONE if it is short for nobody */
    uint32_t FindLink(uint64_t link) const;

    static constexpr uint32_t NONE = 0xffffffff;

    std::map<CollectiveId, Active> m_active;
    std::vector<std::vector<User>> m_users; //!< by link
    std::vector<Link> m_links;              //!< of the present update
    std::vector<uint64_t> m_linkNumbers;    //!< of these, ascending
    std::vector<User*> m_order;             //!< scratch
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_LINK_SHARING_H */
