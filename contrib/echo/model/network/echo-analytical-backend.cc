// SPDX-License-Identifier: GPL-2.0-only
#include "echo-analytical-backend.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoAnalyticalBackend");
NS_OBJECT_ENSURE_REGISTERED(AnalyticalBackend);

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
        facts.isExtrapolated = cost.extrapolated;
        facts.extrapolation = cost.reason;
    }
    return facts.estimate;
}

void AnalyticalBackend::DoStart(const InstancePtr& instance)
{
    PlanFacts& facts = *instance->facts;
    const Time duration = DoEstimate(instance->plan, facts);
    NS_LOG_INFO("collective " << instance->id << " takes " << duration.As(Time::US));
    NS_ABORT_MSG_IF(duration.IsStrictlyNegative(), "a cost model estimated a negative time");
    ++m_started;
    CollectiveRecord& record = instance->record;
    m_started += record.replicas - 1; // those that it stands for
    record.estimate = duration;
    record.extrapolated = facts.isExtrapolated;
    if (facts.isExtrapolated)
    {
        m_extrapolations[facts.extrapolation] += record.replicas;
    }
    m_watch.SetUtilization(*instance, duration);
    m_watch.Begin(instance, Simulator::Now() + duration);
    m_watch.AddLoad(*instance);
    m_ends.Schedule(duration, instance);
}

void AnalyticalBackend::ReportLinks(RecordSink& sink, Time) const
{
    m_watch.ReportLoad(sink);
}

void AnalyticalBackend::Complete(const InstancePtr& instance)
{
    // Members that go on at once may start the next collective: this one is off its links by then.
    m_watch.End(*instance);
    for (uint32_t member = 0; member < instance->members.size(); ++member)
    {
        CompleteMember(instance, member);
    }
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
            "); analytical times leave that out and are too short, use flow or packet");
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
