// SPDX-License-Identifier: GPL-2.0-only
#include "echo-background-traffic.h"

#include "ns3/echo-error.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(BackgroundTraffic);

namespace
{

constexpr uint32_t LABELS = 8;                      //!< connections of a pair
constexpr uint64_t FIRST_LABEL = uint64_t{1} << 60; //!< apart from those of collectives
constexpr double BIT_PS = 8e12;                     //!< ps of a byte at 1 b/s

} // namespace

TypeId BackgroundTraffic::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::BackgroundTraffic")
                            .SetParent<Object>()
                            .SetGroupName("Echo")
                            .AddConstructor<BackgroundTraffic>();
    return tid;
}

BackgroundTraffic::BackgroundTraffic() : m_random(CreateObject<UniformRandomVariable>())
{
}

void BackgroundTraffic::Start(Ptr<NetworkModel> network,
                              TopologyPtr topology,
                              const TrafficSpec& spec,
                              int64_t stream,
                              std::function<bool()> isWanted)
{
    m_network = network;
    m_topology = std::move(topology);
    m_spec = spec;
    m_isWanted = std::move(isWanted);
    m_random->SetStream(stream);
    m_nics = m_topology->GetDevices(DeviceRole::NIC);
    double sum = 0;
    for (const DeviceId nic : m_nics)
    {
        for (const PortId port : m_topology->GetPorts(nic))
        {
            const bool fabric = m_topology->IsFabricLink(Topology::LinkOf(port));
            sum += fabric ? static_cast<double>(m_topology->RateOf(port).GetBitRate()) : 0;
        }
        m_rates.push_back(sum);
    }
    const uint32_t hosts = m_topology->GetHostCount();
    if (hosts < 2)
    {
        throw InputError({"", 0, "background"}, "a cluster of one host", "two or more");
    }
    switch (m_spec.pattern)
    {
    case TrafficSpec::Pattern::POISSON:
        m_meanGap = m_spec.sizes.GetMean() * BIT_PS / (m_spec.load * sum);
        Simulator::Schedule(m_spec.start, &BackgroundTraffic::ScheduleArrival, this);
        break;
    case TrafficSpec::Pattern::INCAST:
        if (const size_t others = m_nics.size() - m_nics.size() / hosts; m_spec.senders > others)
        {
            throw InputError({"", 0, "background.senders"},
                             std::to_string(m_spec.senders),
                             "at most " + std::to_string(others) + ", the NICs of other hosts");
        }
        Simulator::Schedule(m_spec.start, &BackgroundTraffic::Burst, this);
        break;
    case TrafficSpec::Pattern::PERMUTATION:
        Simulator::Schedule(m_spec.start, &BackgroundTraffic::StartPermutation, this);
        break;
    }
}

bool BackgroundTraffic::GoesOn() const
{
    return m_network && Simulator::Now() < m_spec.stop && m_isWanted();
}

uint32_t BackgroundTraffic::Draw(size_t count)
{
    return m_random->GetInteger(0, static_cast<uint32_t>(count - 1));
}

uint32_t BackgroundTraffic::DrawOther(uint32_t nic)
{
    const HostId host = m_topology->GetDevice(m_nics[nic]).host;
    while (true)
    {
        const uint32_t other = Draw(m_nics.size());
        if (m_topology->GetDevice(m_nics[other]).host != host)
        {
            return other;
        }
    }
}

void BackgroundTraffic::ScheduleArrival()
{
    if (GoesOn())
    {
        // Exponential gaps make a Poisson process.
        const double gap = -m_meanGap * std::log(1 - m_random->GetValue(0, 1));
        Simulator::Schedule(
            PicoSeconds(static_cast<int64_t>(gap)), &BackgroundTraffic::Arrive, this);
    }
}

void BackgroundTraffic::Arrive()
{
    if (!GoesOn())
    {
        return;
    }
    const double at = m_random->GetValue(0, m_rates.back());
    const auto found = std::upper_bound(m_rates.begin(), m_rates.end() - 1, at);
    const auto source = static_cast<uint32_t>(found - m_rates.begin());
    SendTo(source, DrawOther(source), nullptr);
    ScheduleArrival();
}

void BackgroundTraffic::Burst()
{
    if (!GoesOn())
    {
        return;
    }
    uint32_t receiver = Draw(m_nics.size());
    if (m_spec.receiver.IsValid())
    {
        const auto found = std::find(m_nics.begin(), m_nics.end(), m_spec.receiver);
        receiver = static_cast<uint32_t>(found - m_nics.begin());
    }
    const HostId host = m_topology->GetDevice(m_nics[receiver]).host;
    std::vector<uint32_t> others;
    for (uint32_t nic = 0; nic < m_nics.size(); ++nic)
    {
        if (m_topology->GetDevice(m_nics[nic]).host != host)
        {
            others.push_back(nic);
        }
    }
    for (uint32_t i = 0; i < m_spec.senders; ++i)
    {
        std::swap(others[i], others[i + Draw(others.size() - i)]);
        SendTo(others[i], receiver, nullptr);
    }
    Simulator::Schedule(m_spec.interval, &BackgroundTraffic::Burst, this);
}

void BackgroundTraffic::StartPermutation()
{
    // Host h's NICs send to those of the host some places after it, in an order drawn of hosts: no
    // host sends to itself. Each NIC keeps its number.
    const uint32_t hosts = m_topology->GetHostCount();
    std::vector<uint32_t> order(hosts);
    std::iota(order.begin(), order.end(), 0);
    for (uint32_t i = 0; i + 1 < hosts; ++i)
    {
        std::swap(order[i], order[i + Draw(hosts - i)]);
    }
    std::vector<uint32_t> numberOf(m_topology->GetDeviceCount(), 0);
    for (uint32_t nic = 0; nic < m_nics.size(); ++nic)
    {
        numberOf[m_nics[nic].Get()] = nic;
    }
    for (uint32_t i = 0; i < hosts; ++i)
    {
        const auto& from = m_topology->GetNics(HostId(order[i]));
        const auto& to = m_topology->GetNics(HostId(order[(i + 1) % hosts]));
        for (size_t n = 0; n < std::min(from.size(), to.size()); ++n)
        {
            const uint32_t source = numberOf[from[n].Get()];
            const uint32_t destination = numberOf[to[n].Get()];
            auto again = std::make_shared<std::function<void()>>();
            *again = [this, source, destination, again = again.get()] {
                SendTo(source, destination, *again);
            };
            m_repeats.push_back(again);
            (*again)();
        }
    }
}

void BackgroundTraffic::SendTo(uint32_t source, uint32_t destination, std::function<void()> then)
{
    if (!GoesOn())
    {
        return;
    }
    Message message;
    message.source = m_nics[source];
    message.destination = m_nics[destination];
    message.bytes = m_spec.sizes.At(m_random->GetValue(0, 1));
    message.label = FIRST_LABEL | Draw(LABELS);
    message.trafficClass = m_spec.trafficClass;
    message.isBackground = true;
    ++m_flows;
    m_bytes += message.bytes;
    m_network->Send(message, [this, then = std::move(then)] {
        ++m_delivered;
        if (then)
        {
            then();
        }
    });
}

void BackgroundTraffic::DoDispose()
{
    m_network = nullptr;
    m_isWanted = nullptr;
    m_repeats.clear();
    Object::DoDispose();
}

} // namespace echo
} // namespace ns3
