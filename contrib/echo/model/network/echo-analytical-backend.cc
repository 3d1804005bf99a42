// SPDX-License-Identifier: GPL-2.0-only
#include "echo-analytical-backend.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/echo-time-limit.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoAnalyticalBackend");
NS_OBJECT_ENSURE_REGISTERED(AnalyticalBackend);

namespace
{

Time Scale(Time time, double factor)
{
    return factor == 1 ? time
                       : PicoSeconds(static_cast<int64_t>(
                             std::llround(static_cast<double>(time.GetPicoSeconds()) * factor)));
}

/**
 * @return whether the latencies of a communication pass while its slowest link is busy: a ring's
 *         messages wait for that link in a queue; what flows once through a chain or a tree, or
 *         from rank to rank, has its latencies before its bytes or behind them
 */
bool KeepsLinksBusy(const CollectivePlan& plan)
{
    const CollectiveKind kind = plan.spec.kind;
    return MovesLike(plan.choice.algorithm) == CollectiveAlgorithmKind::RING &&
           kind != CollectiveKind::BROADCAST && kind != CollectiveKind::REDUCE;
}

} // namespace

AnalyticalBackend::AnalyticalBackend()
    : m_ends([this](const InstancePtr& instance) { Complete(instance); }),
      m_entries(
          [this](const InstancePtr& instance) { MoveAll(m_sharing.Enter(instance->id), instance); })
{
}

TypeId AnalyticalBackend::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::AnalyticalBackend")
                            .SetParent<CollectiveBackend>()
                            .SetGroupName("Echo")
                            .AddConstructor<AnalyticalBackend>()
                            .AddAttribute("ShareLinks",
                                          "Whether communications that meet on a link slow one "
                                          "another, by what all ask of it; else they are marked.",
                                          BooleanValue(true),
                                          MakeBooleanAccessor(&AnalyticalBackend::m_shares),
                                          MakeBooleanChecker());
    return tid;
}

void AnalyticalBackend::SetCostModel(Ptr<CostModel> model)
{
    m_model = model;
}

void AnalyticalBackend::SetRouter(Ptr<Router> router)
{
    m_ownWatch.SetRouter(router);
}

void AnalyticalBackend::UseWatch(ContentionWatch& watch)
{
    m_watch = &watch;
}

Fidelity AnalyticalBackend::GetFidelity() const
{
    return Fidelity::ANALYTICAL;
}

void AnalyticalBackend::DoPrepare()
{
    NS_ABORT_MSG_IF(!m_model, "AnalyticalBackend needs SetCostModel before Prepare");
}

void AnalyticalBackend::DoDispose()
{
    m_model = nullptr;
    m_sharing.Clear();
    m_elsewhere.clear();
    m_ownWatch.Clear();
    CollectiveBackend::DoDispose();
}

bool AnalyticalBackend::CanFold() const
{
    return true;
}

Time AnalyticalBackend::DoEstimate(const CollectivePlan& plan, PlanFacts& facts)
{
    if (!facts.isEstimated)
    {
        const CostBreakdown cost = m_model->Estimate(plan);
        facts.isEstimated = true;
        facts.estimate = cost.GetTotal();
        facts.intra = cost.intra;
        facts.inter = cost.inter;
        facts.isExtrapolated = cost.extrapolated;
        facts.extrapolation = cost.reason;
    }
    return facts.estimate;
}

void AnalyticalBackend::DoStart(const InstancePtr& instance)
{
    PlanFacts& facts = *instance->facts;
    const Time duration = Scale(DoEstimate(instance->plan, facts), instance->correction);
    NS_LOG_INFO("collective " << instance->id << " takes " << duration.As(Time::US));
    NS_ABORT_MSG_IF(duration.IsStrictlyNegative(), "a cost model estimated a negative time");
    WithinClock(Simulator::Now() + WithinClock(duration));
    CollectiveRecord& record = instance->record;
    record.estimate = duration;
    record.extrapolated = facts.isExtrapolated;
    if (m_watch == &m_ownWatch)
    {
        m_watch->Begin(instance, Simulator::Now() + duration);
        m_watch->AddLoad(*instance);
    }
    instance->end = Simulator::Now() + duration;
    m_isFolded = m_isFolded || instance->replicas;
    bool isScheduled = false;
    if (m_shares && m_watch->HasRouter() && duration.IsStrictlyPositive())
    {
        if (instance->replicas)
        {
            // What one replica meets another may not: contention is marked only.
            const double speed =
                LinkSharing::GetSpeedAlone(GetShares(*instance), GetTransferPart(*instance));
            instance->end = Simulator::Now() + WithinClock(Scale(duration, 1 / speed));
        }
        else
        {
            isScheduled = Share(instance, false);
        }
    }
    if (!isScheduled)
    {
        m_ends.Schedule(instance->end - Simulator::Now(), instance);
    }
}

bool AnalyticalBackend::Share(const InstancePtr& instance, bool isElsewhere)
{
    std::vector<LinkShare> shares = GetShares(*instance);
    const double transferPart = GetTransferPart(*instance);
    double most = 0;
    for (const LinkShare& share : shares)
    {
        most = std::max(most, share.demand);
    }
    if (!m_model->KnowsFabric() || KeepsLinksBusy(instance->plan) || most <= 0 || most >= 1)
    {
        return MoveAll(m_sharing.Add(instance, std::move(shares), transferPart, isElsewhere),
                       instance);
    }
    // What its busiest link does not need are latencies. Those who begin together have them
    // together; one's are another's transfers where they begin apart.
    for (LinkShare& share : shares)
    {
        share.demand /= most;
    }
    m_sharing.Add(instance, std::move(shares), transferPart, isElsewhere, true);
    m_entries.Schedule(Scale(instance->record.estimate, 1 - most), instance);
    return false;
}

bool AnalyticalBackend::MoveAll(const std::vector<InstancePtr>& changed,
                                const InstancePtr& instance)
{
    bool hasMoved = false;
    for (const InstancePtr& other : changed)
    {
        const bool moved = Move(other);
        hasMoved = hasMoved || (moved && other == instance);
    }
    return hasMoved;
}

void AnalyticalBackend::Unshare(CollectiveId id)
{
    for (const InstancePtr& other : m_sharing.Remove(id))
    {
        if (other->end > Simulator::Now())
        {
            Move(other);
        }
    }
}

void AnalyticalBackend::BeginElsewhere(const InstancePtr& instance)
{
    const Time estimate = DoEstimate(instance->plan, *instance->facts);
    if (!estimate.IsStrictlyPositive())
    {
        return;
    }
    for (const InstancePtr& other : m_watch->GetSharing(*instance))
    {
        const auto met = m_elsewhere.find(other->id);
        if (met != m_elsewhere.end() && !met->second.booking)
        {
            StopLearning(met->second);
        }
    }
    auto booking = std::make_shared<CollectiveInstance>();
    booking->id = instance->id;
    booking->plan = instance->plan;
    booking->facts = instance->facts;
    booking->correction = instance->correction;
    booking->record.estimate = Scale(estimate, instance->correction);
    m_elsewhere[instance->id].booking = booking;
    if (!Share(booking, true))
    {
        booking->end = Simulator::Now() + booking->record.estimate;
        m_ends.Schedule(booking->record.estimate, booking);
    }
}

Time AnalyticalBackend::EndElsewhere(const CollectiveInstance& instance)
{
    const auto found = m_elsewhere.find(instance.id);
    if (found == m_elsewhere.end())
    {
        return Simulator::Now() - instance.start;
    }
    Elsewhere& elsewhere = found->second;
    if (elsewhere.booking)
    {
        const Time took = Simulator::Now() - instance.start;
        const Time progress = MicrosecondsToTime(m_sharing.GetProgress(instance.id) * 1e-6);
        if (progress < Scale(took, 1 - 1e-9))
        {
            elsewhere.isDone = true; // others have not made room for all of its bytes yet
            return progress;
        }
        // Nobody held it up: its estimate is longer than it takes.
        elsewhere.booking->end = Time();
        m_elsewhere.erase(found);
        Unshare(instance.id);
        return took;
    }
    StopLearning(elsewhere);
    const Time alone = elsewhere.progress;
    m_elsewhere.erase(found);
    return alone;
}

void AnalyticalBackend::StopLearning(Elsewhere& elsewhere)
{
    elsewhere.progress += Scale(Simulator::Now() - elsewhere.left, elsewhere.speed);
    elsewhere.left = Simulator::Now();
    elsewhere.speed = 0;
}

bool AnalyticalBackend::EndBooking(const InstancePtr& instance)
{
    const auto found = m_elsewhere.find(instance->id);
    if (found == m_elsewhere.end() || found->second.booking != instance)
    {
        return false;
    }
    Elsewhere& elsewhere = found->second;
    elsewhere.left = Simulator::Now();
    elsewhere.progress = instance->record.estimate;
    const auto sharing = m_watch->GetSharing(*instance);
    const bool isMet = std::any_of(sharing.begin(), sharing.end(), [this](const auto& other) {
        return m_elsewhere.count(other->id) > 0;
    });
    elsewhere.speed = isMet ? 0 : m_sharing.GetSpeed(instance->id);
    elsewhere.booking = nullptr;
    if (elsewhere.isDone)
    {
        m_elsewhere.erase(found);
    }
    Unshare(instance->id);
    return true;
}

double AnalyticalBackend::GetTransferPart(const CollectiveInstance& instance) const
{
    if (m_model->KnowsFabric())
    {
        return 1; // latencies of steps, which others' bytes fill
    }
    const PlanFacts& facts = *instance.facts;
    const Time transfer = instance.plan.layout->GetHosts() == 1 ? facts.intra : facts.inter;
    return transfer.GetSeconds() / facts.estimate.GetSeconds();
}

std::vector<LinkShare> AnalyticalBackend::GetShares(const CollectiveInstance& instance)
{
    const PlanFacts& facts = *instance.facts;
    const double transferPart = GetTransferPart(instance);
    if (transferPart == 0)
    {
        return {};
    }
    UseAlone alone;
    alone.seconds = facts.estimate.GetSeconds() * transferPart;
    alone.busyPart =
        std::min(facts.intra.GetSeconds() / (facts.estimate.GetSeconds() * transferPart), 1.0);
    alone.wirePart = m_model->GetWirePart();
    std::vector<LinkShare> shares = m_watch->GetShares(instance, alone, m_model->KnowsFabric());
    // Samples say that it takes another time than estimated: its bytes stay as many.
    for (LinkShare& share : shares)
    {
        share.demand /= instance.correction;
    }
    return shares;
}

bool AnalyticalBackend::Move(const InstancePtr& instance)
{
    const Time now = Simulator::Now();
    const double left = static_cast<double>(instance->record.estimate.GetPicoSeconds()) -
                        m_sharing.GetProgress(instance->id);
    const double rest = std::max(left, 0.0) / m_sharing.GetSpeed(instance->id);
    const Time end = WithinClock(now + MicrosecondsToTime(rest * 1e-6));
    if (end == instance->end)
    {
        return false;
    }
    instance->end = end;
    if (m_elsewhere.count(instance->id) == 0)
    {
        m_watch->SetEnd(*instance, end);
    }
    m_ends.Schedule(end - now, instance); // the other end is passed over
    return true;
}

void AnalyticalBackend::ReportLinks(RecordSink& sink, Time) const
{
    m_ownWatch.ReportLoad(sink);
}

void AnalyticalBackend::Complete(const InstancePtr& instance)
{
    if (instance->end != Simulator::Now() || instance->done > 0)
    {
        return; // the end was moved
    }
    if (EndBooking(instance))
    {
        return;
    }
    // Members that go on at once may start the next collective: this one is off its links by then.
    if (m_watch == &m_ownWatch)
    {
        m_watch->SetUtilization(*instance, Simulator::Now() - instance->start);
        m_watch->End(*instance);
    }
    Unshare(instance->id);
    for (uint32_t member = 0; member < instance->members.size(); ++member)
    {
        CompleteMember(instance, member);
    }
}

bool AnalyticalBackend::IsFoldedAndContended() const
{
    return m_shares && m_isFolded && m_watch->GetContendedCount() > 0;
}

} // namespace echo
} // namespace ns3
