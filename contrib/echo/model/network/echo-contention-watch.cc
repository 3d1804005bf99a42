// SPDX-License-Identifier: GPL-2.0-only
#include "echo-contention-watch.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace echo
{

void ContentionWatch::SetRouter(Ptr<Router> router, bool fixedWays)
{
    m_footprints.Prepare(router, fixedWays);
}

LinkUse& ContentionWatch::UseOf(const CollectiveInstance& instance)
{
    LinkUse*& links = instance.facts->links;
    if (!links)
    {
        links = &m_footprints.Find(instance.plan, instance.replicas.get());
    }
    return *links;
}

void ContentionWatch::SetListener(
    std::function<void(const CollectiveInstance&, uint32_t replica)> listener)
{
    m_listener = std::move(listener);
}

void ContentionWatch::Mark(CollectiveInstance& instance, uint32_t replica)
{
    instance.record.contended = true;
    ++m_contended;
    if (m_listener)
    {
        m_listener(instance, replica);
    }
}

std::vector<ContentionWatch::InstancePtr> ContentionWatch::Begin(const InstancePtr& instance,
                                                                 Time end)
{
    std::vector<InstancePtr> contended;
    if (!HasRouter())
    {
        return contended;
    }
    LinkUse& use = UseOf(*instance);
    const FootprintPtr footprint = m_footprints.Get(use).front();
    if (footprint->demand.empty())
    {
        return contended;
    }
    if (instance->replicas)
    {
        contended = m_folded.Begin(
            instance, use, m_footprints, end, [this](CollectiveInstance& other, uint32_t replica) {
                Mark(other, replica);
            });
        return contended;
    }
    m_active[instance->id] = instance;
    for (const CollectiveId id : m_tracker.Add(instance->id, footprint, Simulator::Now(), end))
    {
        contended.push_back(m_active.at(id));
        if (!contended.back()->record.contended)
        {
            Mark(*contended.back(), 0);
        }
    }
    return contended;
}

std::vector<LinkShare> ContentionWatch::GetShares(const CollectiveInstance& instance,
                                                  const UseAlone& alone,
                                                  bool fabricKnown)
{
    return HasRouter() ? m_footprints.GetShares(UseOf(instance), instance.plan, alone, fabricKnown)
                       : std::vector<LinkShare>();
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

void ContentionWatch::SetEnd(const CollectiveInstance& instance, Time end)
{
    m_tracker.SetEnd(instance.id, end);
}

void ContentionWatch::AddLoad(const CollectiveInstance& instance)
{
    if (HasRouter())
    {
        FootprintCache::AddLoad(UseOf(instance), instance.plan);
    }
}

void ContentionWatch::ReportLoad(RecordSink& sink) const
{
    if (HasRouter())
    {
        m_footprints.ReportLoad(sink);
    }
}

double ContentionWatch::GetFabricBytes(const CollectiveInstance& instance, uint32_t replica)
{
    return m_footprints.GetFabricBytes(UseOf(instance), instance.plan, replica);
}

void ContentionWatch::End(const CollectiveInstance& instance)
{
    if (instance.replicas)
    {
        m_folded.End(instance);
        return;
    }
    m_tracker.Remove(instance.id);
    m_active.erase(instance.id);
}

double ContentionWatch::GetUtilization(const CollectiveInstance& instance, Time duration)
{
    return HasRouter()
               ? FootprintCache::GetPeakUtilization(UseOf(instance), instance.plan, duration)
               : 0;
}

void ContentionWatch::SetUtilization(CollectiveInstance& instance, Time duration)
{
    if (HasRouter())
    {
        instance.record.linkUtilization = GetUtilization(instance, duration);
    }
}

void ContentionWatch::Clear()
{
    m_active.clear();
    m_folded.Clear();
}

} // namespace echo
} // namespace ns3
