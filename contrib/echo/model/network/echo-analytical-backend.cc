// SPDX-License-Identifier: GPL-2.0-only
#include "echo-analytical-backend.h"

#include "ns3/abort.h"
#include "ns3/echo-time-limit.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

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

} // namespace

AnalyticalBackend::AnalyticalBackend()
    : m_ends([this](const InstancePtr& instance) { Complete(instance); })
{
}

TypeId AnalyticalBackend::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::AnalyticalBackend")
                            .SetParent<CollectiveBackend>()
                            .SetGroupName("Echo")
                            .AddConstructor<AnalyticalBackend>();
    return tid;
}

void AnalyticalBackend::SetCostModel(Ptr<CostModel> model)
{
    m_model = model;
}

void AnalyticalBackend::SetRouter(Ptr<Router> router)
{
    m_watch.SetRouter(router);
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
    m_watch.Clear();
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
    ++m_started;
    CollectiveRecord& record = instance->record;
    m_started += record.replicas - 1; // those that it stands for
    record.estimate = duration;
    record.extrapolated = facts.isExtrapolated;
    if (facts.isExtrapolated)
    {
        m_extrapolations[facts.extrapolation] += record.replicas;
    }
    const std::vector<InstancePtr> contended = m_watch.Begin(instance, Simulator::Now() + duration);
    m_watch.AddLoad(*instance);
    m_watch.SetUtilization(*instance, duration);
    m_ends.Schedule(duration, instance);
    Lengthen(instance);
    if (instance->replicas)
    {
        m_isFolded = true;
        return; // what one replica meets another may not: contention is marked only
    }
    // Those that started at the same time share with it from their start.
    for (const InstancePtr& other : contended)
    {
        if (other != instance && other->start == instance->start)
        {
            Lengthen(other);
        }
    }
}

void AnalyticalBackend::Lengthen(const InstancePtr& instance)
{
    const PlanFacts& facts = *instance->facts;
    const bool inside = instance->plan.layout->GetHosts() == 1;
    if (inside && !instance->record.contended)
    {
        return;
    }
    const double slowdown = m_watch.GetSlowdown(*instance, m_model->KnowsFabric());
    const Time transfer = inside ? facts.intra : facts.inter;
    const Time duration =
        Scale(facts.estimate + Scale(transfer, slowdown - 1), instance->correction);
    if (duration <= instance->record.estimate)
    {
        return;
    }
    const Time end = WithinClock(instance->start + WithinClock(duration));
    instance->record.estimate = duration;
    m_watch.SetUtilization(*instance, duration);
    m_watch.SetEnd(*instance, end);
    m_ends.Schedule(end - Simulator::Now(), instance); // the earlier end is passed over
}

void AnalyticalBackend::ReportLinks(RecordSink& sink, Time) const
{
    m_watch.ReportLoad(sink);
}

void AnalyticalBackend::Complete(const InstancePtr& instance)
{
    if (instance->start + instance->record.estimate != Simulator::Now())
    {
        return; // lengthened since
    }
    // Members that go on at once may start the next collective: this one is off its links by then.
    m_watch.End(*instance);
    for (uint32_t member = 0; member < instance->members.size(); ++member)
    {
        CompleteMember(instance, member);
    }
}

bool AnalyticalBackend::IsFoldedAndContended() const
{
    return m_isFolded && m_watch.GetContendedCount() > 0;
}

std::vector<std::string> AnalyticalBackend::GetWarnings() const
{
    std::vector<std::string> warnings;
    if (m_watch.GetContendedCount() > 0)
    {
        warnings.push_back(
            "the step is contended: " + std::to_string(m_watch.GetContendedCount()) + " of " +
            std::to_string(m_started) +
            " communications shared fabric links with others that together ask for more than the "
            "links have (first: " +
            m_watch.GetFirst() +
            "); analytical times count what shares when a communication starts, not what comes "
            "later, use flow or packet");
    }
    if (!m_watch.HasRouter() && m_started > 0)
    {
        warnings.push_back("contention between communications was not checked: no router");
    }
    for (const auto& [reason, count] : m_extrapolations)
    {
        warnings.push_back(std::to_string(count) + " estimates are extrapolated: " + reason);
    }
    return warnings;
}

} // namespace echo
} // namespace ns3
