// SPDX-License-Identifier: GPL-2.0-only
// Packet-hops per second of CPU time: the packet network on ns-3's default scheduler and on the
// bucket wheel, beside ns-3's own PointToPointNetDevice with UDP over IPv4. The table at the end
// gives each as a multiple of the latter, measured in the same run. A second table has the fluid
// network beside packets: seconds for the same messages, and how far completion times differ.

#include "roce-fixture.h"

#include "ns3/echo-flow-network.h"

#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/udp-client-server-helper.h"
#include "ns3/udp-server.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <vector>

using namespace ns3;
using namespace ns3::echo;

namespace
{

constexpr const char* BASELINE = "mainline point-to-point, UDP";

/** What a benchmark reached, best of its repetitions. */
struct Result
{
    double hopsPerSecond{0};
    double eventsPerHop{0};
};

std::map<std::string, Result> g_results;

/** CPU time and events of Simulator::Run. */
class Meter
{
  public:
    void Run()
    {
        const uint64_t events = Simulator::GetEventCount();
        const std::clock_t start = std::clock();
        Simulator::Run();
        m_seconds += static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
        m_events += static_cast<double>(Simulator::GetEventCount() - events);
    }

    void Report(benchmark::State& state, const std::string& name, double hops)
    {
        state.SetIterationTime(m_seconds);
        Result& result = g_results[name];
        result.hopsPerSecond = std::max(result.hopsPerSecond, hops / m_seconds);
        result.eventsPerHop = m_events / hops;
        state.counters["Mhops/s"] = hops / m_seconds / 1e6;
        state.counters["events/hop"] = m_events / hops;
    }

  private:
    double m_seconds{0};
    double m_events{0};
};

/** Host, three switches, host: four links, one flow of UDP datagrams of 4096 B. */
void Mainline(benchmark::State& state)
{
    constexpr uint32_t PACKETS = 50000;
    constexpr uint32_t LINKS = 4;
    for (auto unused : state)
    {
        (void)unused;
        NodeContainer nodes(LINKS + 1);
        InternetStackHelper().Install(nodes);
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", StringValue("400Gb/s"));
        link.SetDeviceAttribute("Mtu", UintegerValue(9000));
        link.SetChannelAttribute("Delay", StringValue("1us"));
        Ipv4AddressHelper address("10.0.0.0", "255.255.255.0");
        Ipv4Address last;
        for (uint32_t i = 0; i < LINKS; ++i)
        {
            last = address.Assign(link.Install(nodes.Get(i), nodes.Get(i + 1))).GetAddress(1);
            address.NewNetwork();
        }
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
        UdpServerHelper server(9);
        server.Install(nodes.Get(LINKS));
        UdpClientHelper client(last, 9);
        client.SetAttribute("MaxPackets", UintegerValue(PACKETS));
        client.SetAttribute("Interval", TimeValue(NanoSeconds(90)));
        client.SetAttribute("PacketSize", UintegerValue(4096));
        client.Install(nodes.Get(0));
        Meter meter;
        meter.Run();
        const uint64_t received = server.GetServer()->GetReceived();
        if (received != PACKETS)
        {
            state.SkipWithError("datagrams lost");
        }
        meter.Report(state, BASELINE, static_cast<double>(received) * LINKS);
        Simulator::Destroy();
    }
}

/**
 * All-to-all among the hosts of a fat tree of k-port switches: 400 Gb/s, 4 KiB, an ACK each 4
 * packets.
 */
void AllToAll(benchmark::State& state,
              uint32_t k,
              const std::string& name,
              const std::string& scheduler,
              const TestNetwork::Attributes& attributes)
{
    for (auto unused : state)
    {
        (void)unused;
        const TestFabric fabric = MakeFatTree(k, "400Gb/s", MicroSeconds(1));
        TestNetwork network(fabric, attributes, scheduler);
        const uint32_t hosts = static_cast<uint32_t>(fabric.nics.size());
        for (uint32_t a = 0; a < hosts; ++a)
        {
            for (uint32_t b = 0; b < hosts; ++b)
            {
                if (a != b)
                {
                    network.Send(a, b, k == 4 ? 2097152 : 131072);
                }
            }
        }
        Meter meter;
        meter.Run();
        const NetworkTotals totals = network.Get().GetTotals();
        meter.Report(state, name, static_cast<double>(totals.packetHops));
        if (totals.liveFlows > 0)
        {
            state.SkipWithError("messages left");
        }
        state.counters["pauses"] = static_cast<double>(totals.pauses);
    }
}

/** What a model of the network made of a set of messages. */
struct ModelRun
{
    double cpuSeconds{0};
    double milliseconds{0};     //!< simulated, to the last delivery
    double meanMicroseconds{0}; //!< of a message
    double slowMicroseconds{0}; //!< 90th percentile of messages
};

std::map<std::string, ModelRun> g_packets; //!< by traffic
std::map<std::string, ModelRun> g_flows;   //!< by traffic

/** Lists of receivers by host; a host has @p inFlight messages under way, in order of its list. */
struct Traffic
{
    std::vector<std::vector<uint32_t>> receivers;
    uint64_t bytes{0};
    uint32_t inFlight{1};
};

/** A random permutation of hosts, each with messages to one other. */
Traffic Permutation(uint32_t hosts, uint64_t bytes)
{
    std::vector<uint32_t> order(hosts);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(1));
    Traffic traffic{std::vector<std::vector<uint32_t>>(hosts), bytes, 1};
    for (uint32_t i = 0; i < hosts; ++i)
    {
        traffic.receivers[order[i]] = {order[(i + 1) % hosts]};
    }
    return traffic;
}

/** The first @p rounds of an all-to-all, 8 under way at a time. */
Traffic Rounds(uint32_t hosts, uint32_t rounds, uint64_t bytes)
{
    Traffic traffic{std::vector<std::vector<uint32_t>>(hosts), bytes, 8};
    for (uint32_t h = 0; h < hosts; ++h)
    {
        for (uint32_t r = 1; r <= rounds; ++r)
        {
            traffic.receivers[h].push_back((h + r * (hosts / (rounds + 1) | 1)) % hosts);
        }
    }
    return traffic;
}

/** Runs the traffic on a fat tree of k-port switches at 400 Gb/s. */
ModelRun RunModel(uint32_t k, const Traffic& traffic, Ptr<NetworkModel> network)
{
    const TestFabric fabric = MakeFatTree(k, "400Gb/s", NanoSeconds(500));
    ObjectFactory factory;
    factory.SetTypeId("ns3::echo::BucketWheelScheduler");
    Simulator::SetScheduler(factory);
    Ptr<ShortestPathRouter> router = CreateObject<ShortestPathRouter>();
    router->Prepare(fabric.topology);
    TestSink sink;
    network->Prepare(router, &sink);
    std::vector<size_t> next(traffic.receivers.size(), 0);
    std::function<void(uint32_t)> sendNext = [&](uint32_t host) {
        if (next[host] < traffic.receivers[host].size())
        {
            Message message;
            message.source = fabric.nics[host];
            message.destination = fabric.nics[traffic.receivers[host][next[host]++]];
            message.bytes = traffic.bytes;
            network->Send(message, [&sendNext, host] { sendNext(host); });
        }
    };
    for (uint32_t i = 0; i < traffic.inFlight; ++i)
    {
        for (uint32_t host = 0; host < traffic.receivers.size(); ++host)
        {
            sendNext(host);
        }
    }
    const std::clock_t start = std::clock();
    Simulator::Run();
    ModelRun run;
    run.cpuSeconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    std::vector<double> times;
    for (const FlowRecord& flow : sink.flows)
    {
        run.milliseconds = std::max(run.milliseconds, flow.end.GetSeconds() * 1e3);
        times.push_back((flow.end - flow.start).GetSeconds() * 1e6);
    }
    std::sort(times.begin(), times.end());
    run.meanMicroseconds = std::accumulate(times.begin(), times.end(), 0.0) /
                           static_cast<double>(std::max<size_t>(times.size(), 1));
    run.slowMicroseconds = times.empty() ? 0 : times[times.size() * 9 / 10];
    network->Dispose();
    Simulator::Destroy();
    return run;
}

void RegisterModels(const std::string& name,
                    uint32_t k,
                    const Traffic& traffic,
                    const std::string& control = "none")
{
    for (const bool packets : {true, false})
    {
        benchmark::RegisterBenchmark(((packets ? "packets, " : "flows, ") + name).c_str(),
                                     [=](benchmark::State& state) {
                                         for (auto unused : state)
                                         {
                                             (void)unused;
                                             Ptr<NetworkModel> network;
                                             if (packets)
                                             {
                                                 network = CreateObject<PacketNetwork>();
                                                 network->SetAttribute("CongestionControl",
                                                                       StringValue(control));
                                             }
                                             else
                                             {
                                                 network = CreateObject<FlowNetwork>();
                                             }
                                             const ModelRun run = RunModel(k, traffic, network);
                                             (packets ? g_packets : g_flows)[name] = run;
                                             state.SetIterationTime(run.cpuSeconds);
                                         }
                                     })
            ->UseManualTime()
            ->Iterations(1)
            ->Unit(benchmark::kMillisecond);
    }
}

void Register(const std::string& name,
              const std::string& scheduler,
              const TestNetwork::Attributes& attributes,
              uint32_t k = 4)
{
    benchmark::RegisterBenchmark(
        name.c_str(),
        [=](benchmark::State& state) { AllToAll(state, k, name, scheduler, attributes); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
}

} // namespace

int main(int argc, char* argv[])
{
    UsePicoseconds();
    benchmark::Initialize(&argc, argv);
    benchmark::RegisterBenchmark(BASELINE, Mainline)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
    const std::string wheel = "ns3::echo::BucketWheelScheduler";
    const TestNetwork::Attributes window{{"WindowBytes", "524288"}};
    Register("default scheduler", "ns3::MapScheduler", window);
    Register("bucket wheel", wheel, window);
    Register("bucket wheel, no window", wheel, {});
    Register(
        "bucket wheel, no run-ahead", wheel, {{"WindowBytes", "524288"}, {"RunAhead", "false"}});
    Register("bucket wheel, plain port",
             wheel,
             {{"WindowBytes", "524288"}, {"Lazy", "false"}, {"RunAhead", "false"}});
    Register("bucket wheel, DCQCN", wheel, {{"CongestionControl", "dcqcn"}});
    Register("bucket wheel, HPCC", wheel, {{"CongestionControl", "hpcc"}});
    Register("bucket wheel, Swift", wheel, {{"CongestionControl", "swift"}});
    Register("bucket wheel, selective repeat",
             wheel,
             {{"WindowBytes", "524288"}, {"Retransmission", "selective-repeat"}});
    Register("bucket wheel, 128 hosts", wheel, {{"WindowBytes", "524288"}}, 8);
    RegisterModels("permutation of 1024 hosts, 1 MiB", 16, Permutation(1024, 1 << 20));
    RegisterModels("permutation of 1024 hosts, 16 MiB", 16, Permutation(1024, 16 << 20));
    RegisterModels(
        "permutation of 1024 hosts, 16 MiB, DCQCN", 16, Permutation(1024, 16 << 20), "dcqcn");
    RegisterModels("4 rounds of all-to-all, 1024 hosts, 4 MiB", 16, Rounds(1024, 4, 4 << 20));
    RegisterModels("all-to-all of 128 hosts, 1 MiB", 8, Rounds(128, 127, 1 << 20));
    RegisterModels("16 rounds of all-to-all, 1024 hosts, 1 MiB", 16, Rounds(1024, 16, 1 << 20));
    benchmark::RunSpecifiedBenchmarks();

    const double baseline = g_results[BASELINE].hopsPerSecond;
    std::printf("\n%-32s %10s %10s %12s\n", "", "Mhops/s", "ratio", "events/hop");
    for (const auto& [name, result] : g_results)
    {
        std::printf("%-32s %10.3f %10.1f %12.2f\n",
                    name.c_str(),
                    result.hopsPerSecond / 1e6,
                    baseline > 0 ? result.hopsPerSecond / baseline : 0.0,
                    result.eventsPerHop);
    }
    std::printf("\n%-44s %9s %9s %7s %10s %8s %8s %8s\n",
                "",
                "packets s",
                "flows s",
                "ratio",
                "packets ms",
                "mean",
                "90th",
                "last");
    for (const auto& [name, packets] : g_packets)
    {
        const ModelRun& flows = g_flows[name];
        const auto percent = [](double flow, double packet) { return 100 * (flow / packet - 1); };
        std::printf("%-44s %9.3f %9.4f %7.1f %10.4f %+7.1f%% %+7.1f%% %+7.1f%%\n",
                    name.c_str(),
                    packets.cpuSeconds,
                    flows.cpuSeconds,
                    packets.cpuSeconds / std::max(flows.cpuSeconds, 1e-6),
                    packets.milliseconds,
                    percent(flows.meanMicroseconds, packets.meanMicroseconds),
                    percent(flows.slowMicroseconds, packets.slowMicroseconds),
                    percent(flows.milliseconds, packets.milliseconds));
    }
    std::printf("mean, 90th, last: completion times of messages in flows against packets: their\n"
                "mean, their 90th percentile, and when the last one is delivered.\n");
    return 0;
}
