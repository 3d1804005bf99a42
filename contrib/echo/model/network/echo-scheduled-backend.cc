// SPDX-License-Identifier: GPL-2.0-only
#include "echo-scheduled-backend.h"

#include "echo-scheduled-execution.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <utility>

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoScheduledBackend");
NS_OBJECT_ENSURE_REGISTERED(ScheduledBackend);

TypeId ScheduledBackend::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::ScheduledBackend")
            .SetParent<CollectiveBackend>()
            .SetGroupName("Echo")
            .AddConstructor<ScheduledBackend>()
            .AddAttribute("StepOverhead",
                          "Time that each step takes beside the network, before it sends",
                          TimeValue(Time()),
                          MakeTimeAccessor(&ScheduledBackend::m_stepOverhead),
                          MakeTimeChecker(Time()))
            .AddAttribute("ReductionRate",
                          "Rate at which received data is reduced; 0: reducing takes no time",
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&ScheduledBackend::m_reductionRate),
                          MakeDataRateChecker());
    return tid;
}

ScheduledBackend::ScheduledBackend() = default;
ScheduledBackend::~ScheduledBackend() = default;

void ScheduledBackend::SetNetworks(Ptr<NetworkModel> intraHost, Ptr<NetworkModel> interHost)
{
    m_intraHost = intraHost;
    m_interHost = interHost;
}

void ScheduledBackend::SetRouter(Ptr<Router> router, bool fixedWays)
{
    m_watch.SetRouter(router, fixedWays);
}

void ScheduledBackend::SetTrafficClasses(std::map<GroupKind, uint8_t> classes)
{
    m_classes = std::move(classes);
}

Fidelity ScheduledBackend::GetFidelity() const
{
    return m_interHost->GetFidelity();
}

void ScheduledBackend::ReportLinks(RecordSink& sink, Time duration) const
{
    m_intraHost->ReportLinks(sink, duration);
    if (m_interHost != m_intraHost)
    {
        m_interHost->ReportLinks(sink, duration);
    }
}

uint64_t ScheduledBackend::GetMessageCount() const
{
    uint64_t messages = m_messages;
    for (const auto& [id, execution] : m_executions)
    {
        messages += execution->GetMessageCount();
    }
    return messages;
}

void ScheduledBackend::DoPrepare()
{
    NS_ABORT_MSG_IF(!m_intraHost || !m_interHost,
                    "ScheduledBackend needs SetNetworks before Prepare");
}

void ScheduledBackend::DoDispose()
{
    m_executions.clear();
    m_watch.Clear();
    m_intraHost = nullptr;
    m_interHost = nullptr;
    CollectiveBackend::DoDispose();
}

const CollectiveAlgorithm& ScheduledBackend::AlgorithmOf(CollectiveAlgorithmKind kind)
{
    Ptr<CollectiveAlgorithm>& algorithm = m_algorithms[kind];
    if (!algorithm)
    {
        algorithm = CreateCollectiveAlgorithm(kind);
    }
    return *algorithm;
}

void ScheduledBackend::DoStart(const InstancePtr& instance)
{
    NS_LOG_INFO("collective " << instance->id << " starts with " << instance->members.size()
                              << " members");
    m_watch.Begin(instance);
    ExecutionContext context;
    context.intraHost = PeekPointer(m_intraHost);
    context.interHost = PeekPointer(m_interHost);
    context.stepOverhead = m_stepOverhead;
    context.reductionRate = m_reductionRate;
    const auto trafficClass = m_classes.find(instance->record.group);
    context.trafficClass = trafficClass == m_classes.end() ? 0 : trafficClass->second;
    context.onMemberDone = [this, instance](uint32_t member) { FinishMember(instance, member); };
    context.onFinished = [this, id = instance->id] {
        const auto it = m_executions.find(id);
        m_messages += it->second->GetMessageCount();
        m_executions.erase(it);
    };
    auto execution = std::make_unique<ScheduledExecution>(
        instance, AlgorithmOf(instance->plan.choice.algorithm), std::move(context));
    ScheduledExecution& running = *execution;
    m_executions[instance->id] = std::move(execution);
    running.Start();
}

void ScheduledBackend::FinishMember(const InstancePtr& instance, uint32_t member)
{
    if (const Time left = instance->end - Simulator::Now(); left.IsStrictlyPositive())
    {
        Simulator::Schedule(left, [this, instance, member] { FinishMember(instance, member); });
        return;
    }
    if (instance->done + 1 == instance->members.size())
    {
        m_watch.End(*instance);
        m_watch.SetUtilization(*instance, Simulator::Now() - instance->start);
    }
    CompleteMember(instance, member);
}

} // namespace echo
} // namespace ns3
