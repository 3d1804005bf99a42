// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_SCHEDULED_BACKEND_H
#define ECHO_SCHEDULED_BACKEND_H

#include "echo-collective-backend.h"
#include "echo-contention-watch.h"
#include "echo-network-model.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

#include <map>
#include <memory>

namespace ns3
{
namespace echo
{

class ScheduledExecution;

/**
 * Carries collectives out step by step: each member runs the lanes of the algorithm, and every
 * message of a step is sent over a model of the network (flow or packet). A step waits for its own
 * messages only, so members drift apart as links let them.
 *
 * A member is done when its lanes have ended and all that it sent has been delivered. Protocols
 * (LL, LL128) change nothing here: their flags are in the estimator only.
 */
class ScheduledBackend : public CollectiveBackend
{
  public:
    static TypeId GetTypeId();
    ScheduledBackend();
    ~ScheduledBackend() override;

    /**
     * To be called before Prepare. Both models are prepared by the caller; they may be one object.
     * @param intraHost moves bytes between GPUs of one host
     * @param interHost moves bytes between NICs
     */
    void SetNetworks(Ptr<NetworkModel> intraHost, Ptr<NetworkModel> interHost);
    /**
     * For link utilisation and contention in records, which stay 0 and false without. To be called
     * before Prepare. @p fixedWays as FootprintCache::Prepare
     */
    void SetRouter(Ptr<Router> router, bool fixedWays = true);

    /** Traffic classes of messages between hosts, by kind of group; at first 0. Before Prepare. */
    void SetTrafficClasses(std::map<GroupKind, uint8_t> classes);

    /** @return that of the model between hosts */
    Fidelity GetFidelity() const override;
    void ReportLinks(RecordSink& sink, Time duration) const override;
    /** @return messages sent so far */
    uint64_t GetMessageCount() const;

  protected:
    void DoDispose() override;

  private:
    void DoPrepare() override;
    void DoStart(const InstancePtr& instance) override;
    const CollectiveAlgorithm& AlgorithmOf(CollectiveAlgorithmKind kind);
    void FinishMember(const InstancePtr& instance, uint32_t member);

    Ptr<NetworkModel> m_intraHost;
    Ptr<NetworkModel> m_interHost;
    ContentionWatch m_watch;
    Time m_stepOverhead;      //!< attribute StepOverhead
    DataRate m_reductionRate; //!< attribute ReductionRate
    std::map<CollectiveAlgorithmKind, Ptr<CollectiveAlgorithm>> m_algorithms; //!< made so far
    std::map<CollectiveId, std::unique_ptr<ScheduledExecution>> m_executions; //!< by id
    std::map<GroupKind, uint8_t> m_classes; //!< traffic class of a kind of group; else 0
    uint64_t m_messages{0};                 //!< of finished executions
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_SCHEDULED_BACKEND_H */
