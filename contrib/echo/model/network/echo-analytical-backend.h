// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_ANALYTICAL_BACKEND_H
#define ECHO_ANALYTICAL_BACKEND_H

#include "echo-collective-backend.h"
#include "echo-contention-watch.h"

#include "ns3/echo-cost-model.h"
#include "ns3/echo-event-batcher.h"

#include <map>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Serves a collective with at most one event: all members are done at start + estimate. Collectives
 * that follow each other in starting and end together share the event.
 *
 * An estimate knows the collective's own traffic only. Instances that share a link with others, so
 * that all together ask for more than the link has, are marked `contended`; with attribute
 * `ShareLinks` their transfers proceed at their links' rate over what all ask of it, from when one
 * begins to when it ends. So do those of models that do not know the fabric where it is
 * oversubscribed. Folded instances are marked only.
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
     * which GetWarnings() says, and link utilisation stays 0.
     */
    void SetRouter(Ptr<Router> router);

    Fidelity GetFidelity() const override;
    bool CanFold() const override;
    /** Bytes as the algorithms put them on links; with a router only. */
    void ReportLinks(RecordSink& sink, Time duration) const override;
    /** @return a sentence for each cause for which times may be wrong, in a fixed order */
    std::vector<std::string> GetWarnings() const;
    /** @return whether a folded instance met another: their times leave out what that costs */
    bool IsFoldedAndContended() const;

  protected:
    void DoDispose() override;

  private:
    void DoPrepare() override;
    void DoStart(const InstancePtr& instance) override;
    Time DoEstimate(const CollectivePlan& plan, PlanFacts& facts) override;
    /** How far an instance has come that does not proceed as estimated. */
    struct Progress
    {
        Time since;        //!< what follows holds from here
        double left;       //!< of its time alone, ps
        double stretch{1}; //!< times as long as alone
    };

    /** Others have come to the instance's links or left them: its end moves. */
    void Share(const InstancePtr& instance);
    void Complete(const InstancePtr& instance);

    Ptr<CostModel> m_model;
    ContentionWatch m_watch;
    EventBatcher<InstancePtr> m_ends;
    std::map<CollectiveId, Progress> m_shared;
    bool m_shares{true};                              //!< attribute ShareLinks
    bool m_isFolded{false};                           //!< some instances stand for several
    uint64_t m_started{0};                            //!< instances
    std::map<std::string, uint64_t> m_extrapolations; //!< instances by reason
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_ANALYTICAL_BACKEND_H */
