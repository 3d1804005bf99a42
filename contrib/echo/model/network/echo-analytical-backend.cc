// SPDX-License-Identifier: GPL-2.0-only
#include "echo-analytical-backend.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <cmath>

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoAnalyticalBackend");
NS_OBJECT_ENSURE_REGISTERED(AnalyticalBackend);

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
    m_running.clear();
    m_watch.Clear();
    CollectiveBackend::DoDispose();
}

void AnalyticalBackend::DoStart(const InstancePtr& instance)
{
    const CostBreakdown cost = m_model->Estimate(instance->plan);
    NS_ABORT_MSG_IF(cost.GetTotal().IsStrictlyNegative(), "a cost model estimated a negative time");
    ++m_started;
    CollectiveRecord& record = instance->record;
    record.extrapolated = cost.extrapolated;
    if (cost.extrapolated)
    {
        ++m_extrapolations[cost.reason];
    }
    m_running[instance->id] = {instance, cost, EventId()};
    const std::vector<InstancePtr> contended = m_watch.Begin(instance);
    m_watch.AddLoad(instance->plan);
    End(instance->id);
    // Those that started at the same time share with it from their start.
    for (const InstancePtr& other : contended)
    {
        if (other->id != instance->id && other->start == instance->start)
        {
            End(other->id);
        }
    }
}

void AnalyticalBackend::End(CollectiveId id)
{
    Running& running = m_running.at(id);
    CollectiveInstance& instance = *running.instance;
    const double slowdown = m_watch.GetSlowdown(instance, m_model->KnowsFabric());
    const Time inter = PicoSeconds(static_cast<int64_t>(
        std::llround(static_cast<double>(running.cost.inter.GetPicoSeconds()) * slowdown)));
    const Time shared = running.cost.GetTotal() - running.cost.inter + inter;
    const Time duration = PicoSeconds(static_cast<int64_t>(
        std::llround(static_cast<double>(shared.GetPicoSeconds()) * instance.correction)));
    NS_LOG_INFO("collective " << id << " takes " << duration.As(Time::US));
    instance.record.estimate = duration;
    m_watch.SetUtilization(instance, duration);
    running.end.Cancel();
    running.end =
        Simulator::Schedule(duration, [this, whole = running.instance] { Complete(whole); });
}

void AnalyticalBackend::ReportLinks(RecordSink& sink, Time) const
{
    m_watch.ReportLoad(sink);
}

void AnalyticalBackend::Complete(const InstancePtr& instance)
{
    // Members that go on at once may start the next collective: this one is off its links by then.
    m_watch.End(*instance);
    m_running.erase(instance->id);
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
