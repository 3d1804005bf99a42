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
    m_footprints.Prepare(router);
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
    m_tracked.clear();
    CollectiveBackend::DoDispose();
}

void AnalyticalBackend::DoStart(const InstancePtr& instance)
{
    const CostBreakdown cost = m_model->Estimate(instance->plan);
    const Time duration = cost.GetTotal();
    NS_LOG_INFO("collective " << instance->id << " takes " << duration.As(Time::US));
    NS_ABORT_MSG_IF(duration.IsStrictlyNegative(), "a cost model estimated a negative time");
    ++m_started;
    CollectiveRecord& record = instance->record;
    record.estimate = duration;
    record.extrapolated = cost.extrapolated;
    if (cost.extrapolated)
    {
        ++m_extrapolations[cost.reason];
    }
    if (m_footprints.IsPrepared())
    {
        record.linkUtilization = m_footprints.GetPeakUtilization(instance->plan, duration);
        Track(instance);
    }
    Simulator::Schedule(duration, [this, instance] { Complete(instance); });
}

void AnalyticalBackend::Track(const InstancePtr& instance)
{
    const FootprintPtr footprint = m_footprints.Get(instance->plan);
    if (footprint->demand.empty())
    {
        return;
    }
    m_tracked[instance->id] = instance;
    for (const CollectiveId id : m_tracker.Add(instance->id, footprint))
    {
        CollectiveInstance& other = *m_tracked.at(id);
        if (other.record.contended)
        {
            continue;
        }
        other.record.contended = true;
        if (++m_contended == 1)
        {
            m_firstContended = std::string(ToString(other.plan.spec.kind)) + " on " +
                               other.record.groupName + ", number " +
                               std::to_string(other.sequence);
        }
    }
}

void AnalyticalBackend::Complete(const InstancePtr& instance)
{
    // Members that go on at once may start the next collective: this one is off its links by then.
    m_tracker.Remove(instance->id);
    m_tracked.erase(instance->id);
    for (uint32_t member = 0; member < instance->members.size(); ++member)
    {
        CompleteMember(instance, member);
    }
}

std::vector<std::string> AnalyticalBackend::GetWarnings() const
{
    std::vector<std::string> warnings;
    if (m_contended > 0)
    {
        warnings.push_back(
            "the step is contended: " + std::to_string(m_contended) + " of " +
            std::to_string(m_started) +
            " communications shared fabric links with others that together ask for more than the "
            "links have (first: " +
            m_firstContended +
            "); analytical times leave that out and are too short, use flow or packet");
    }
    if (!m_footprints.IsPrepared() && m_started > 0)
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
