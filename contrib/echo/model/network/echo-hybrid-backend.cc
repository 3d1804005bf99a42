// SPDX-License-Identifier: GPL-2.0-only
#include "echo-hybrid-backend.h"

#include "echo-link-merger.h"

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

void HybridBackend::SetRouter(Ptr<Router> router, bool fixedWays)
{
    m_router = router;
    m_fixedWays = fixedWays;
}

void HybridBackend::SetCalibrated(Ptr<CostModel> model, Ptr<CostModel> idle)
{
    m_calibrated = model;
    m_idle = idle;
}

void HybridBackend::AddBackend(Fidelity fidelity, Ptr<CollectiveBackend> backend)
{
    m_backends[fidelity] = backend;
}

const std::set<InstanceKey>& HybridBackend::GetContended() const
{
    return m_contended;
}

const std::map<InstanceKey, Fidelity>& HybridBackend::GetUncoupled() const
{
    return m_uncoupled;
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
    LinkMerger merger;
    m_watch.ReportLoad(merger);
    for (const auto& [fidelity, backend] : m_backends)
    {
        backend->ReportLinks(merger, duration);
    }
    merger.Report(sink);
}

bool HybridBackend::CanFold() const
{
    const auto only = m_backends.find(Fidelity::ANALYTICAL);
    return m_backends.size() == 1 && only != m_backends.end() && only->second->CanFold();
}

Time HybridBackend::DoEstimate(const CollectivePlan& plan, PlanFacts& facts)
{
    return m_backends.at(Fidelity::ANALYTICAL)->EstimateTime(plan, facts);
}

std::vector<std::string> HybridBackend::GetNotes() const
{
    return m_policy->GetNotes();
}

void HybridBackend::DoDispose()
{
    for (auto& [fidelity, backend] : m_backends)
    {
        backend->Dispose();
    }
    m_backends.clear();
    m_estimates = nullptr;
    m_watch.Clear();
    m_policy = nullptr;
    m_router = nullptr;
    m_calibrated = nullptr;
    m_idle = nullptr;
    CollectiveBackend::DoDispose();
}

void HybridBackend::DoPrepare()
{
    m_watch.SetRouter(m_router, m_fixedWays);
    const auto estimates = m_backends.find(Fidelity::ANALYTICAL);
    if (estimates != m_backends.end())
    {
        Ptr<AnalyticalBackend> analytical = DynamicCast<AnalyticalBackend>(estimates->second);
        analytical->UseWatch(m_watch); // estimates share links with one another
        m_estimates = analytical;      // and have what is left by what is simulated
    }
    m_watch.SetListener([this](const CollectiveInstance& instance, uint32_t replica) {
        m_contended.insert(KeyOf(instance, replica));
        m_contendedBytes += m_watch.GetFabricBytes(instance, replica);
    });
}

void HybridBackend::DoStart(const InstancePtr& instance)
{
    // Of folded ranks only estimates run; when they end is known first.
    const bool isFolded = instance->replicas != nullptr;
    std::vector<InstancePtr> contended;
    if (!isFolded)
    {
        contended = m_watch.Begin(instance);
    }
    if (m_policy->LooksAround() && instance->plan.layout->GetHosts() > 1)
    {
        for (const InstancePtr& other : m_watch.GetSharing(*instance))
        {
            instance->sharing.push_back(other);
        }
        instance->fabricBytes = m_watch.GetFabricBytes(*instance, 0);
    }
    const Fidelity fidelity = m_policy->Choose(*instance);
    instance->correction = m_policy->GetCorrection(*instance);
    instance->sharing.clear();
    const auto backend = m_backends.find(fidelity);
    if (backend == m_backends.end())
    {
        throw UnsupportedError(std::string("hybrid fidelity has no ") + ToString(fidelity) +
                               " back end, which its policy asks for");
    }
    NS_LOG_INFO(instance->id << ' ' << ToString(fidelity));
    instance->record.fidelity = fidelity;
    Time end = Time::Max();
    if (fidelity == Fidelity::ANALYTICAL)
    {
        backend->second->Start(instance);
        m_watch.AddLoad(*instance);
        end = instance->end;
    }
    else
    {
        if (m_estimates)
        {
            m_estimates->BeginElsewhere(instance);
        }
        StartBeside(backend->second, instance);
    }
    if (isFolded)
    {
        contended = m_watch.Begin(instance, end);
    }
    else
    {
        m_watch.SetEnd(*instance, end);
    }
    MarkUncoupled(contended);
}

void HybridBackend::StartBeside(Ptr<CollectiveBackend> child, const InstancePtr& instance)
{
    Time outside;
    instance->end = Simulator::Now();
    if (m_calibrated)
    {
        const Time whole = m_calibrated->Estimate(instance->plan).GetTotal();
        // Simulated are latencies of steps and hops too, not the bytes' time only.
        outside = Max(whole - m_idle->Estimate(instance->plan).GetTotal(), Time());
        instance->end += whole;
    }
    if (outside.IsZero())
    {
        child->Start(instance);
        return;
    }
    Simulator::Schedule(outside, [child, instance] { child->Start(instance); });
}

void HybridBackend::MarkUncoupled(const std::vector<InstancePtr>& contended)
{
    if (contended.empty())
    {
        return;
    }
    // Estimates do not see each other either, but that is what `contended` says of them.
    const Fidelity first = contended.front()->record.fidelity;
    const bool coupled =
        std::all_of(contended.begin(), contended.end(), [first](const InstancePtr& instance) {
            return instance->record.fidelity == first;
        });
    if (coupled)
    {
        return;
    }
    Fidelity most = first;
    for (const InstancePtr& instance : contended)
    {
        most = std::max(most, instance->record.fidelity);
    }
    for (const InstancePtr& instance : contended)
    {
        instance->record.uncoupled = true;
        Fidelity& known = m_uncoupled.emplace(SeriesKeyOf(*instance), most).first->second;
        known = std::max(known, most);
    }
}

void HybridBackend::DoMemberDone(const InstancePtr& instance)
{
    const bool last = instance->done == instance->members.size();
    if (last)
    {
        const bool isElsewhere = m_estimates && instance->record.fidelity != Fidelity::ANALYTICAL;
        m_policy->Observe(*instance,
                          isElsewhere ? m_estimates->EndElsewhere(*instance)
                                      : Simulator::Now() - instance->start);
        m_watch.SetUtilization(*instance, Simulator::Now() - instance->start);
    }
    // An estimate ends for all members at once: the first that goes on must not meet it again.
    if (last || instance->record.fidelity == Fidelity::ANALYTICAL)
    {
        m_watch.End(*instance);
    }
}

} // namespace echo
} // namespace ns3
