// SPDX-License-Identifier: GPL-2.0-only
// A run that another packet simulator was measured at, as a whole process: CPU seconds, peak
// memory and simulated time beside its own, and the simulated times' difference explained.

#include "ns3/echo-command-line.h"
#include "ns3/echo-records.h"
#include "ns3/echo-scenario-reader.h"
#include "ns3/echo-scenario-runner.h"

#include <sys/resource.h>

#include <cstdio>

using namespace ns3;
using namespace ns3::echo;

namespace
{

/**
 * ASTRA-sim (518bd51) with its ns-3 back end (f764bed27, ns-3.42, as it builds it: -O2 with
 * asserts) on a core like this one's, user and system time of the process: ring all-reduce of 16
 * MiB, 64 hosts, 8 leaves, 8 spines, 400 Gb/s, 500 ns, packets of 1,000 B, CC_MODE 12 (none),
 * HAS_WIN 1, an acknowledgement a packet, four chunks one after another (Ring_4chunks.json).
 */
struct Peer
{
    static constexpr double CPU_SECONDS = 97.2;
    static constexpr double PEAK_MB = 620;
    static constexpr double SIMULATED_US = 1910.9;
};

constexpr double STEPS = 4 * 2 * 63;      // parts, reduce-scatter and all-gather, ring
constexpr double STEP_BYTES = 65536;      // 16 MiB / 4 / 64
constexpr double MEAN_LINKS = 144.0 / 64; // 56 neighbours share a leaf (2 links), 8 do not (4)
constexpr double LINK_US = 0.5;
constexpr double ACK_US = 60 * 20e-6; // 60 B at 400 Gb/s
// endpoint-delay 10 (ns); local-mem-bw 1600 (GB/s), which a step's bytes cross three times (two
// operands and the result)
constexpr double HOST_US = 0.010 + 3 * STEP_BYTES / 1600e3;

void Compare(const char* what, double ours, double theirs, const char* unit)
{
    std::printf("%-44s %12.2f %12.2f %s", what, ours, theirs, unit);
}

} // namespace

int main(int argc, char* argv[])
{
    return RunProgram([&] {
        std::string file = ECHO_SOURCE_DIR "/scenarios/ring-64x400g.yaml";
        EchoCommandLine line("A ring all-reduce as ASTRA-sim's ns-3 back end was measured at it.");
        line.AddOption("scenario", "the run", file);
        line.Parse(argc, argv);
        ScenarioRunner runner(ReadScenario(file, {}));
        RecordSink sink;
        const RunRecord run = runner.Run([&]() -> RecordSink& { return sink; });
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        const auto seconds = [](const timeval& time) {
            return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
        };
        const double cpu = seconds(usage.ru_utime) + seconds(usage.ru_stime);
        const double memory = static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
        const double simulated = run.stepTime.ToDouble(Time::US);

        std::printf(
            "%-44s %12s %12s\n", "ring all-reduce, 64 hosts, 16 MiB", "Echo", "ASTRA-sim ns-3");
        Compare("CPU time", cpu, Peer::CPU_SECONDS, "s ");
        std::printf("  %.0f times less\n", Peer::CPU_SECONDS / cpu);
        Compare("peak memory", memory, Peer::PEAK_MB, "MB");
        std::printf("  %.0f times less\n", Peer::PEAK_MB / memory);
        Compare("simulated time", simulated, Peer::SIMULATED_US, "us");
        std::printf("\n");
        const double acknowledgement = STEPS * MEAN_LINKS * (LINK_US + ACK_US);
        const double host = STEPS * HOST_US;
        std::printf(
            "%-44s %12.2f\n", "  + a step counts when its ACK is back there", acknowledgement);
        std::printf("%-44s %12.2f\n", "  + its endpoint delay and memory accesses", host);
        const double explained = simulated + acknowledgement + host;
        Compare("  explained", explained, Peer::SIMULATED_US, "us");
        std::printf("  %+.1f %%\n", 100 * (explained / Peer::SIMULATED_US - 1));
        std::printf("packet-hops per CPU second, in all           %12.2f M (%llu packet-hops)\n",
                    static_cast<double>(run.packetHops) / cpu / 1e6,
                    static_cast<unsigned long long>(run.packetHops));
        return 0;
    });
}
