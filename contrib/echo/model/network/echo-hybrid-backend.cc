// SPDX-License-Identifier: GPL-2.0-only
#include "echo-hybrid-backend.h"

#include "ns3/echo-error.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoHybridBackend");
NS_OBJECT_ENSURE_REGISTERED(HybridBackend);

TypeId HybridBackend::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::HybridBackend")
                            .SetParent<CollectiveBackend>()
                            .SetGroupName("Echo")
                            .AddConstructor<HybridBackend>();
    return tid;
}

void HybridBackend::SetPolicy(Ptr<FidelityPolicy> policy)
{
    m_policy = policy;
}

void HybridBackend::SetRouter(Ptr<Router> router)
{
    m_router = router;
}

void HybridBackend::AddBackend(Fidelity fidelity, Ptr<CollectiveBackend> backend)
{
    m_backends[fidelity] = backend;
}

const std::set<InstanceKey>& HybridBackend::GetContended() const
{
    return m_contended;
}

uint64_t HybridBackend::GetContendedPacketHops(uint64_t mtuBytes) const
{
    return static_cast<uint64_t>(std::ceil(m_contendedBytes / static_cast<double>(mtuBytes)));
}

Fidelity HybridBackend::GetFidelity() const
{
    return Fidelity::HYBRID;
}

void HybridBackend::ReportLinks(RecordSink& sink, Time duration) const
{
    for (const auto& [fidelity, backend] : m_backends)
    {
        backend->ReportLinks(sink, duration);
    }
}

void HybridBackend::DoDispose()
{
    for (auto& [fidelity, backend] : m_backends)
    {
        backend->Dispose();
    }
    m_backends.clear();
    m_active.clear();
    m_policy = nullptr;
    m_router = nullptr;
    CollectiveBackend::DoDispose();
}

void HybridBackend::DoPrepare()
{
    m_footprints.Prepare(m_router);
}

void HybridBackend::DoStart(const InstancePtr& instance)
{
    const Fidelity fidelity = m_policy->Choose(*instance);
    const auto backend = m_backends.find(fidelity);
    if (backend == m_backends.end())
    {
        throw UnsupportedError(std::string("hybrid fidelity has no ") + ToString(fidelity) +
                               " back end, which its policy asks for");
    }
    NS_LOG_INFO(instance->id << ' ' << ToString(fidelity));
    Track(instance, fidelity);
    backend->second->Start(instance);
}

void HybridBackend::Track(const InstancePtr& instance, Fidelity fidelity)
{
    const FootprintPtr footprint = m_footprints.Get(instance->plan);
    if (footprint->demand.empty())
    {
        return;
    }
    m_active[instance->id] = {instance, fidelity};
    MarkContended(m_tracker.Add(instance->id, footprint));
}

void HybridBackend::MarkContended(const std::vector<CollectiveId>& ids)
{
    if (ids.empty())
    {
        return;
    }
    // Coupled only if one model of the network serves them all: estimates do not see each other.
    const Fidelity first = m_active.at(ids.front()).fidelity;
    const bool coupled =
        first != Fidelity::ANALYTICAL && std::all_of(ids.begin(), ids.end(), [&](CollectiveId id) {
            return m_active.at(id).fidelity == first;
        });
    for (const CollectiveId id : ids)
    {
        CollectiveInstance& instance = *m_active.at(id).instance;
        instance.record.contended = true;
        instance.record.uncoupled = instance.record.uncoupled || !coupled;
        if (m_contended.insert(KeyOf(instance)).second)
        {
            m_contendedBytes += m_footprints.GetFabricBytes(instance.plan);
        }
    }
}

void HybridBackend::DoMemberDone(const InstancePtr& instance)
{
    const bool last = instance->done == instance->members.size();
    if (last)
    {
        instance->record.linkUtilization =
            m_footprints.GetPeakUtilization(instance->plan, Simulator::Now() - instance->start);
    }
    const auto it = m_active.find(instance->id);
    if (it == m_active.end())
    {
        return;
    }
    // An estimate ends for all members at once: the first that goes on must not meet it again.
    if (it->second.fidelity == Fidelity::ANALYTICAL || instance->done == instance->members.size())
    {
        m_tracker.Remove(instance->id);
        m_active.erase(it);
    }
}

} // namespace echo
} // namespace ns3
