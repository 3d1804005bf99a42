// SPDX-License-Identifier: GPL-2.0-only
// Packets at scale, each run in a process of its own: CPU time, packet-hops a second, peak memory.
// Collectives as scenarios; how the cost of a packet-hop grows with the fabric; what live flows
// take, and what is left of them.

#include "forked-run.h"
#include "roce-fixture.h"

#include "ns3/echo-scenario-reader.h"
#include "ns3/echo-scenario-runner.h"

#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>

using namespace ns3;
using namespace ns3::echo;

namespace
{

constexpr double MEBIBYTE = 1048576;
constexpr int REPETITIONS = 3; //!< the best counts

/** What one run was. */
struct Cost
{
    double cpuSeconds{0};     //!< of the whole process, or of Simulator::Run where that is said
    double mebibytes{0};      //!< largest resident memory
    double milliseconds{0};   //!< simulated
    double hops{0};           //!< packets times links
    double emptyMebibytes{0}; //!< in use before the first message
    double liveMebibytes{0};  //!< with all flows live
    double endedMebibytes{0}; //!< once they have ended
    double againMebibytes{0}; //!< after as many again over the same queue pairs
    double liveFlows{0};      //!< when liveMebibytes was taken
};

double CpuSeconds()
{
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

double MebibytesInUse()
{
    return static_cast<double>(mallinfo2().uordblks + mallinfo2().hblkhd) / MEBIBYTE;
}

/** One collective among the first @p ranks GPUs of a fat tree of 8-port switches, 400 Gb/s. */
Cost RunCollective(const std::string& operation, uint32_t ranks)
{
    const std::string text = "echo: 1\nname: benchmark\nfidelity: packet\n"
                             "cluster: clusters/fat-tree-k8-128x400g.yaml\nhosts: " +
                             std::to_string(ranks) + "\nworkload: {collectives: [{" + operation +
                             "}]}\nnetwork: {mtu: 4096}\n";
    const double start = CpuSeconds();
    const std::string name = ECHO_SOURCE_DIR "/scenarios/benchmark.yaml";
    ScenarioRunner runner(ReadScenario(YamlNode::LoadText(text, name), {}));
    RecordSink sink;
    const RunRecord run = runner.Run([&]() -> RecordSink& { return sink; });
    Cost cost;
    cost.cpuSeconds = CpuSeconds() - start;
    cost.mebibytes = GetPeakMebibytes();
    cost.milliseconds = run.stepTime.ToDouble(Time::MS);
    cost.hops = static_cast<double>(run.packetHops);
    return cost;
}

/** A host sends to 15 others all over a fat tree of k-port switches, to all of them at once. */
Cost RunFifteen(uint32_t k, uint64_t bytes)
{
    const TestFabric fabric = MakeFatTree(k, "400Gb/s", NanoSeconds(500));
    TestNetwork network(fabric, {{"WindowBytes", "524288"}}, "ns3::echo::BucketWheelScheduler");
    const auto hosts = static_cast<uint32_t>(fabric.nics.size());
    for (uint32_t h = 0; h < hosts; ++h)
    {
        for (uint32_t i = 1; i <= 15; ++i)
        {
            network.Send(h, (h + i * (hosts / 16)) % hosts, bytes);
        }
    }
    const double start = CpuSeconds();
    const Time end = network.Run();
    Cost cost;
    cost.cpuSeconds = CpuSeconds() - start;
    cost.mebibytes = GetPeakMebibytes();
    cost.milliseconds = end.ToDouble(Time::MS);
    cost.hops = static_cast<double>(network.Get().GetTotals().packetHops);
    return cost;
}

/** 10,000 flows of 1 MiB over 1,024 hosts, live together; and once more. */
Cost RunLiveFlows()
{
    constexpr uint32_t FLOWS = 10000;
    TestNetwork network(
        MakeFatTree(16, "400Gb/s", NanoSeconds(500)), {}, "ns3::echo::BucketWheelScheduler");
    Cost cost;
    const double start = CpuSeconds();
    cost.emptyMebibytes = MebibytesInUse();
    for (int round = 0; round < 2; ++round)
    {
        for (uint32_t i = 0; i < FLOWS; ++i)
        {
            network.Send(i % 1024, (i % 1024 + 1 + i / 1024 * 101) % 1024, 1 << 19);
        }
        if (round == 0)
        {
            Simulator::Schedule(MicroSeconds(20), [&] {
                cost.liveMebibytes = MebibytesInUse();
                cost.liveFlows = static_cast<double>(network.Get().GetTotals().liveFlows);
            });
        }
        cost.milliseconds = network.Run().ToDouble(Time::MS);
        (round == 0 ? cost.endedMebibytes : cost.againMebibytes) = MebibytesInUse();
    }
    cost.cpuSeconds = CpuSeconds() - start;
    cost.mebibytes = GetPeakMebibytes();
    cost.hops = static_cast<double>(network.Get().GetTotals().packetHops);
    return cost;
}

/** @return the run of the least CPU time; a row of the table is printed */
template <typename Work>
Cost Measure(const std::string& name, const Work& work, int repetitions = REPETITIONS)
{
    Cost best;
    for (int i = 0; i < repetitions; ++i)
    {
        Cost cost;
        if (!RunForked(work, cost))
        {
            std::printf("%-48s failed\n", name.c_str());
            return best;
        }
        best = i == 0 || cost.cpuSeconds < best.cpuSeconds ? cost : best;
    }
    std::printf("%-48s %8.2f %10.3f %9.2f %8.0f\n",
                name.c_str(),
                best.cpuSeconds,
                best.hops / best.cpuSeconds / 1e6,
                best.milliseconds,
                best.mebibytes);
    std::fflush(stdout);
    return best;
}

} // namespace

int main()
{
    UsePicoseconds();
    std::printf("%-48s %8s %10s %9s %8s\n",
                "packets, 400 Gb/s, MTU 4096",
                "CPU s",
                "Mhops/s",
                "sim. ms",
                "MiB");
    Measure("all-reduce of 64 MiB, 64 GPUs of a k=8 fat tree",
            [] { return RunCollective("op: all-reduce, bytes: 64MiB", 64); });
    Measure("all-to-all of 16 MiB a rank, 128 GPUs",
            [] { return RunCollective("op: all-to-all, bytes: 16MiB", 128); });
    const Cost small = Measure("  16 hosts (k=4), each to 15 others at once",
                               [] { return RunFifteen(4, 16 << 20); });
    Measure(" 128 hosts (k=8), each to 15 others at once", [] { return RunFifteen(8, 2 << 20); });
    const Cost large = Measure("1024 hosts (k=16), each to 15 others at once",
                               [] { return RunFifteen(16, 1 << 19); });
    const double growth =
        large.cpuSeconds / large.hops / std::max(small.cpuSeconds / small.hops, 1e-12);
    std::printf("cost of a packet-hop, 1024 hosts to 16: %.2f times\n", growth);
    const Cost flows = Measure("1024 hosts, 10,000 flows of 512 KiB, twice", RunLiveFlows, 1);
    std::printf(
        "memory in use: %.0f MiB without flows, %.0f MiB with %.0f live, %.0f MiB when they "
        "have ended\n(records; packets and queue pairs to be used again), %.0f MiB after "
        "as many again\n",
        flows.emptyMebibytes,
        flows.liveMebibytes,
        flows.liveFlows,
        flows.endedMebibytes,
        flows.againMebibytes);
    return 0;
}
