// SPDX-License-Identifier: GPL-2.0-only
#include "echo-contention-watch.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

void ContentionWatch::SetRouter(Ptr<Router> router)
{
    m_footprints.Prepare(router);
}

std::vector<ContentionWatch::InstancePtr> ContentionWatch::Begin(const InstancePtr& instance)
{
    std::vector<InstancePtr> contended;
    if (!HasRouter() || instance->plan.layout->GetHosts() == 1)
    {
        return contended;
    }
    m_active[instance->id] = instance;
    for (const CollectiveId id : m_tracker.Add(instance->id, m_footprints.Get(instance->plan)))
    {
        contended.push_back(m_active.at(id));
        CollectiveInstance& other = *contended.back();
        if (other.record.contended)
        {
            continue;
        }
        other.record.contended = true;
        if (++m_contended == 1)
        {
            m_first = std::string(ToString(other.plan.spec.kind)) + " on " +
                      other.record.groupName + ", number " + std::to_string(other.sequence);
        }
    }
    return contended;
}

double ContentionWatch::GetSlowdown(const CollectiveInstance& instance, bool fabricKnown)
{
    if (m_active.count(instance.id) == 0)
    {
        return 1;
    }
    // Sums of quotients: not above 1 by rounding.
    constexpr double ROUNDING = 1e-9;
    if (!fabricKnown)
    {
        return std::max(1.0, m_tracker.GetPeakBundleDemand(instance.id) - ROUNDING);
    }
    double alone = 1 + ROUNDING;
    for (const auto& [port, demand] : m_footprints.Get(instance.plan)->demand)
    {
        alone = std::max(alone, demand);
    }
    return std::max(1.0, m_tracker.GetPeakDemand(instance.id) / alone);
}

std::vector<ContentionWatch::InstancePtr> ContentionWatch::GetSharing(
    const CollectiveInstance& instance) const
{
    std::vector<InstancePtr> sharing;
    for (const CollectiveId id : m_tracker.GetSharing(instance.id))
    {
        sharing.push_back(m_active.at(id));
    }
    return sharing;
}

void ContentionWatch::AddLoad(const CollectivePlan& plan)
{
    if (HasRouter())
    {
        m_footprints.AddLoad(plan);
    }
}

void ContentionWatch::ReportLoad(RecordSink& sink) const
{
    if (HasRouter())
    {
        m_footprints.ReportLoad(sink);
    }
}

double ContentionWatch::GetFabricBytes(const CollectivePlan& plan)
{
    return m_footprints.GetFabricBytes(plan);
}

void ContentionWatch::End(const CollectiveInstance& instance)
{
    m_tracker.Remove(instance.id);
    m_active.erase(instance.id);
}

void ContentionWatch::SetUtilization(CollectiveInstance& instance, Time duration)
{
    if (HasRouter())
    {
        instance.record.linkUtilization = m_footprints.GetPeakUtilization(instance.plan, duration);
    }
}

void ContentionWatch::Clear()
{
    m_active.clear();
}

} // namespace echo
} // namespace ns3
