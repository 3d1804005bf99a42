// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_ANALYTICAL_BACKEND_H
#define ECHO_ANALYTICAL_BACKEND_H

#include "echo-collective-backend.h"
#include "echo-contention-watch.h"
#include "echo-link-sharing.h"

#include "ns3/echo-cost-model.h"
#include "ns3/echo-event-batcher.h"

#include <map>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Serves a collective with at most one event, two where links are shared: all members are done at
 * start + estimate. Collectives that follow each other in starting and end together share the
 * event.
 *
 * An estimate knows the collective's own traffic only. Instances that share a link with others, so
 * that all together ask for more than the link has, are marked `contended`; with attribute
 * `ShareLinks` they slow one another (LinkSharing), from when one begins to when it ends. So does
 * one of a model that does not know the fabric where it alone asks too much of it. Folded instances
 * are marked only.
 */
class AnalyticalBackend : public CollectiveBackend
{
  public:
    static TypeId GetTypeId();
    AnalyticalBackend();

    /** To be called before Prepare. */
    void SetCostModel(Ptr<CostModel> model);
    /**
     * For footprints; to be called before Prepare. Without a router nothing is marked contended,
     * and link utilisation stays 0.
     */
    void SetRouter(Ptr<Router> router);

    /**
     * In place of SetRouter, for a back end that watches links itself: @p watch knows footprints
     * and is told of ends that move; what begins and ends is its owner's to say. Outlives this
     * object.
     */
    void UseWatch(ContentionWatch& watch);
    /**
     * An instance begins that another model simulates, without those that are estimated: on links
     * that it shares with them they have what it leaves, until they have made room for all of its
     * bytes, whenever it ends.
     */
    void BeginElsewhere(const InstancePtr& instance);
    /** @return how long the instance would have taken had no other one been simulated beside it */
    Time EndElsewhere(const CollectiveInstance& instance);

    Fidelity GetFidelity() const override;
    bool CanFold() const override;
    /** Bytes as the algorithms put them on links; with a router only. */
    void ReportLinks(RecordSink& sink, Time duration) const override;
    /** @return whether a folded instance met another: their times leave out what that costs */
    bool IsFoldedAndContended() const;

  protected:
    void DoDispose() override;

  private:
    /** An instance that another model simulates. */
    struct Elsewhere
    {
        InstancePtr booking; //!< stands for it on links; null: it has had what it asks for
        bool isDone{false};  //!< the other model has ended it
        Time left;           //!< when its booking ended
        Time progress;       //!< and how far it is known to have come
        double speed{1};     //!< and how fast it goes on; 0: others may hold it up, no one knows
    };

    void DoPrepare() override;
    void DoStart(const InstancePtr& instance) override;
    Time DoEstimate(const CollectivePlan& plan, PlanFacts& facts) override;
    /** @return part of its time in which an instance that is alone transfers on links that it
     * shares */
    double GetTransferPart(const CollectiveInstance& instance) const;
    /** @return what an instance asks of links while it transfers as fast as alone */
    std::vector<LinkShare> GetShares(const CollectiveInstance& instance);
    /**
     * Adds an instance to those that share links, where all is known of its links: after the
     * latencies, in which it has nothing on them.
     * @return whether its own end has moved
     */
    bool Share(const InstancePtr& instance, bool isElsewhere);
    /** One without a booking meets others that are simulated: what it takes from now on is not
     * known to be its own time. */
    static void StopLearning(Elsewhere& elsewhere);
    /** Ends of others move. @return whether that of @p instance does */
    bool MoveAll(const std::vector<InstancePtr>& changed, const InstancePtr& instance);
    /** It is off its links. */
    void Unshare(CollectiveId id);
    /** An instance's speed has changed. @return whether its end moves, for which it is scheduled */
    bool Move(const InstancePtr& instance);
    /** @return false if the instance is no booking; else it is off its links */
    bool EndBooking(const InstancePtr& instance);
    void Complete(const InstancePtr& instance);

    Ptr<CostModel> m_model;
    ContentionWatch m_ownWatch;
    ContentionWatch* m_watch{&m_ownWatch}; //!< or that of UseWatch
    EventBatcher<InstancePtr> m_ends;
    EventBatcher<InstancePtr> m_entries; //!< what comes onto its links after its latencies
    LinkSharing m_sharing;               //!< how fast what is not folded goes
    std::map<CollectiveId, Elsewhere> m_elsewhere;
    bool m_shares{true};    //!< attribute ShareLinks
    bool m_isFolded{false}; //!< some instances stand for several
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_ANALYTICAL_BACKEND_H */
