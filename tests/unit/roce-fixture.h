// SPDX-License-Identifier: GPL-2.0-only
#ifndef ROCE_FIXTURE_H
#define ROCE_FIXTURE_H

#include "ns3/boolean.h"
#include "ns3/echo-packet-network.h"
#include "ns3/echo-shortest-path-router.h"
#include "ns3/echo-units.h"
#include "ns3/node-list.h"
#include "ns3/object-factory.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/** A fabric under construction; hosts have one GPU and one NIC each. */
struct TestFabric
{
    std::shared_ptr<Topology> topology = std::make_shared<Topology>();
    std::vector<DeviceId> nics; //!< by host

    void AddHosts(uint32_t count)
    {
        for (uint32_t h = 0; h < count; ++h)
        {
            const std::string host = "host" + std::to_string(h);
            const DeviceId gpu = topology->AddDevice(DeviceRole::GPU, host + "/gpu0", HostId(h), 0);
            nics.push_back(topology->AddDevice(DeviceRole::NIC, host + "/nic0", HostId(h), 0));
            topology->AddLink(gpu, nics.back(), DataRate("3600Gb/s"), NanoSeconds(100));
        }
    }

    DeviceId AddSwitch(DeviceRole role, uint32_t index)
    {
        return topology->AddDevice(
            role, std::string(ToString(role)) + std::to_string(index), HostId(), index);
    }

    void Join(DeviceId a, DeviceId b, const std::string& rate, Time delay)
    {
        topology->AddLink(a, b, DataRate(rate), delay);
    }
};

/** @p hosts on one switch. */
inline TestFabric MakeStar(uint32_t hosts, const std::string& rate, Time delay)
{
    TestFabric fabric;
    fabric.AddHosts(hosts);
    const DeviceId leaf = fabric.AddSwitch(DeviceRole::LEAF, 0);
    for (const DeviceId nic : fabric.nics)
    {
        fabric.Join(nic, leaf, rate, delay);
    }
    fabric.topology->Seal();
    return fabric;
}

/** Two hosts at the ends of a row of switches; one link more than switches. */
inline TestFabric MakeRow(const std::vector<std::string>& rates, const std::vector<Time>& delays)
{
    TestFabric fabric;
    fabric.AddHosts(2);
    DeviceId at = fabric.nics[0];
    for (size_t i = 0; i < rates.size(); ++i)
    {
        const bool last = i + 1 == rates.size();
        const DeviceId next =
            last ? fabric.nics[1] : fabric.AddSwitch(DeviceRole::LEAF, static_cast<uint32_t>(i));
        fabric.Join(at, next, rates[i], delays[i]);
        at = next;
    }
    fabric.topology->Seal();
    return fabric;
}

/** A three-tier fat tree of k-port switches (Al-Fares et al., SIGCOMM 2008): k^3 / 4 hosts. */
inline TestFabric MakeFatTree(uint32_t k, const std::string& rate, Time delay)
{
    TestFabric fabric;
    const uint32_t half = k / 2;
    fabric.AddHosts(k * half * half);
    std::vector<DeviceId> leaves;
    std::vector<DeviceId> spines;
    for (uint32_t i = 0; i < k * half; ++i)
    {
        leaves.push_back(fabric.AddSwitch(DeviceRole::LEAF, i));
    }
    for (uint32_t i = 0; i < k * half; ++i)
    {
        spines.push_back(fabric.AddSwitch(DeviceRole::SPINE, i));
    }
    for (uint32_t h = 0; h < fabric.nics.size(); ++h)
    {
        fabric.Join(fabric.nics[h], leaves[h / half], rate, delay);
    }
    for (uint32_t pod = 0; pod < k; ++pod)
    {
        for (uint32_t l = 0; l < half; ++l)
        {
            for (uint32_t s = 0; s < half; ++s)
            {
                fabric.Join(leaves[pod * half + l], spines[pod * half + s], rate, delay);
            }
        }
    }
    for (uint32_t c = 0; c < half * half; ++c)
    {
        const DeviceId core = fabric.AddSwitch(DeviceRole::CORE, c);
        for (uint32_t pod = 0; pod < k; ++pod)
        {
            fabric.Join(spines[pod * half + c / half], core, rate, delay);
        }
    }
    fabric.topology->Seal();
    return fabric;
}

/** Keeps what the network records. */
struct TestSink : RecordSink
{
    std::vector<FlowRecord> flows;
    std::vector<LinkRecord> links;

    void OnFlow(const FlowRecord& record) override
    {
        flows.push_back(record);
    }

    void OnLink(const LinkRecord& record) override
    {
        links.push_back(record);
    }
};

/** A packet network on a fabric, and ns-3's state around it. */
class TestNetwork
{
  public:
    using Attributes = std::map<std::string, std::string>;
    using Events = std::vector<LinkEvent>;

    /** @param attributes of PacketNetwork; of other types by full path through SetDefault */
    explicit TestNetwork(const TestFabric& fabric,
                         const Attributes& attributes = {},
                         const std::string& scheduler = "ns3::MapScheduler",
                         const Events& events = {},
                         const std::vector<TrafficClass>& classes = {TrafficClass{}})
        : m_fabric(fabric)
    {
        ObjectFactory schedulerFactory;
        schedulerFactory.SetTypeId(scheduler);
        Simulator::SetScheduler(schedulerFactory);
        Ptr<ShortestPathRouter> router = CreateObject<ShortestPathRouter>();
        router->Prepare(fabric.topology);
        m_network = CreateObject<PacketNetwork>();
        for (const auto& [name, value] : attributes)
        {
            m_network->SetAttribute(name, StringValue(value));
        }
        m_network->SetLinkEvents(events);
        m_network->SetTrafficClasses(classes);
        m_network->Prepare(router, &m_sink);
    }

    ~TestNetwork()
    {
        m_network->Dispose();
        Simulator::Destroy();
    }

    TestNetwork(const TestNetwork&) = delete;
    TestNetwork& operator=(const TestNetwork&) = delete;

    void Send(uint32_t from,
              uint32_t to,
              uint64_t bytes,
              uint64_t label = 0,
              NetworkModel::DeliveredCallback delivered = nullptr,
              uint8_t trafficClass = 0)
    {
        Message message;
        message.source = m_fabric.nics[from];
        message.destination = m_fabric.nics[to];
        message.bytes = bytes;
        message.label = label;
        message.trafficClass = trafficClass;
        m_network->Send(message, std::move(delivered));
    }

    /** Runs to the end. @return time of the last delivery */
    Time Run()
    {
        Simulator::Run();
        m_sink.links.clear();
        m_network->ReportLinks(m_sink, Simulator::Now());
        return m_sink.flows.empty() ? Time(0) : m_sink.flows.back().end;
    }

    const std::vector<FlowRecord>& Flows() const
    {
        return m_sink.flows;
    }

    const std::vector<LinkRecord>& Links() const
    {
        return m_sink.links;
    }

    PacketNetwork& Get()
    {
        return *m_network;
    }

    const TestFabric& Fabric() const
    {
        return m_fabric;
    }

  private:
    TestFabric m_fabric;
    TestSink m_sink;
    Ptr<PacketNetwork> m_network;
};

} // namespace echo
} // namespace ns3

#endif /* ROCE_FIXTURE_H */
