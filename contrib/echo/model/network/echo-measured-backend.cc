// SPDX-License-Identifier: GPL-2.0-only
#include "echo-measured-backend.h"

#include "ns3/echo-error.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoMeasuredBackend");
NS_OBJECT_ENSURE_REGISTERED(MeasuredBackend);

TypeId MeasuredBackend::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::MeasuredBackend")
                            .SetParent<CollectiveBackend>()
                            .SetGroupName("Echo")
                            .AddConstructor<MeasuredBackend>();
    return tid;
}

void MeasuredBackend::SetDuration(GroupId group, uint32_t sequence, Time duration)
{
    m_durations[{group, sequence}] = duration;
}

Fidelity MeasuredBackend::GetFidelity() const
{
    return Fidelity::ANALYTICAL;
}

void MeasuredBackend::DoPrepare()
{
}

void MeasuredBackend::DoStart(const InstancePtr& instance)
{
    const CommGroup& group = *instance->plan.layout->group;
    const auto known = m_durations.find({group.GetId(), instance->sequence});
    if (instance->plan.spec.kind == CollectiveKind::SEND_RECV || known == m_durations.end())
    {
        throw UnsupportedError("found " + std::string(ToString(instance->plan.spec.kind)) + " " +
                               std::to_string(instance->sequence) + " of group " + group.GetName() +
                               " without a measured time, expected one that the recording has");
    }
    NS_LOG_INFO("collective " << instance->id << " takes " << known->second.As(Time::US));
    instance->record.estimate = known->second;
    Simulator::Schedule(known->second, [this, instance] {
        for (uint32_t member = 0; member < instance->members.size(); ++member)
        {
            CompleteMember(instance, member);
        }
    });
}

} // namespace echo
} // namespace ns3
