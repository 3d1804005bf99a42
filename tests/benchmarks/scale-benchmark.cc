// SPDX-License-Identifier: GPL-2.0-only
// Large analytical jobs, from the scenario file to the summary, each in a process of its own: CPU
// time, peak memory, events of the simulator an operator, and operators a second as a part of the
// rate at which the same process runs empty events on ns-3's default scheduler with as many
// pending as the job has ranks. Operators that end together share events, so operators are
// what is compared, not events.

#include "forked-run.h"

#include "ns3/echo-run-summary.h"
#include "ns3/echo-scenario-reader.h"
#include "ns3/echo-scenario-runner.h"
#include "ns3/echo-units.h"
#include "ns3/event-impl.h"
#include "ns3/map-scheduler.h"
#include "ns3/simulator.h"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::echo;

namespace
{

/** What one run was, as the child process tells it. */
struct Cost
{
    double seconds{0};   //!< CPU time from the file to the summary
    double megabytes{0}; //!< largest resident memory
    double ranks{0};
    double simulatedRanks{0};
    double operators{0};        //!< of all ranks
    double eventsAnOperator{0}; //!< of those that were simulated
    double emptyPerSecond{0};   //!< empty events
    double stepSeconds{0};      //!< simulated
};

std::map<std::string, Cost> g_costs;

/** Does nothing and comes again; each at a time of its own. */
class EmptyEvent : public EventImpl
{
  public:
    EmptyEvent(uint64_t& left, Time interval) : m_left(left), m_interval(interval)
    {
    }

  private:
    void Notify() override
    {
        if (m_left > 0)
        {
            --m_left;
            Simulator::Schedule(m_interval, Ptr<EventImpl>(this));
        }
    }

    uint64_t& m_left;
    Time m_interval;
};

/** @return empty events a second of CPU time with so many pending, on ns-3's default scheduler */
double MeasureEmptyEvents(uint32_t pending)
{
    ObjectFactory scheduler;
    scheduler.SetTypeId(MapScheduler::GetTypeId());
    Simulator::SetScheduler(scheduler);
    uint64_t left = 4000000;
    const auto events = static_cast<double>(left + pending);
    for (uint32_t i = 0; i < pending; ++i)
    {
        const Time interval = NanoSeconds(100000 + 7919 * uint64_t{i} % 100000);
        Simulator::Schedule(interval, Create<EmptyEvent>(left, interval));
    }
    const std::clock_t start = std::clock();
    Simulator::Run();
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    Simulator::Destroy();
    return events / seconds;
}

Cost RunJob(const std::string& file, const std::vector<std::string>& sets)
{
    const std::clock_t start = std::clock();
    ScenarioOverrides overrides;
    overrides.fidelity = "analytical";
    overrides.sets = sets;
    ScenarioRunner runner(
        ReadScenario(std::string(ECHO_SOURCE_DIR) + "/scenarios/" + file, overrides));
    SummarySink sink;
    const RunRecord run = runner.Run([&]() -> RecordSink& { return sink; });
    sink.OnRun(run);
    Cost cost;
    cost.seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    cost.megabytes = GetPeakMebibytes();
    cost.ranks = run.ranks;
    cost.simulatedRanks = run.simulatedRanks;
    cost.operators = static_cast<double>(sink.GetSummary().operators);
    const double simulated = cost.operators * cost.simulatedRanks / cost.ranks; // equal stages
    cost.eventsAnOperator = static_cast<double>(run.events) / simulated;
    cost.stepSeconds = run.stepTime.GetSeconds();
    cost.emptyPerSecond = MeasureEmptyEvents(run.ranks);
    return cost;
}

void Job(benchmark::State& state,
         const std::string& name,
         const std::string& file,
         const std::vector<std::string>& sets)
{
    for (auto unused : state)
    {
        (void)unused;
        Cost cost;
        if (!RunForked([&] { return RunJob(file, sets); }, cost))
        {
            state.SkipWithError("the run failed");
            break;
        }
        state.SetIterationTime(cost.seconds);
        state.counters["MiB"] = cost.megabytes;
        state.counters["events/op"] = cost.eventsAnOperator;
        Cost& best = g_costs[name];
        if (best.seconds == 0 || cost.seconds < best.seconds)
        {
            best = cost;
        }
    }
}

void Register(const std::string& name,
              const std::string& file,
              std::vector<std::string> sets,
              bool folded)
{
    sets.push_back(std::string("timeline.folding=") + (folded ? "on" : "off"));
    const std::string label = name + (folded ? ", folded" : ", unfolded");
    benchmark::RegisterBenchmark(label.c_str(),
                                 [=](benchmark::State& state) { Job(state, label, file, sets); })
        ->UseManualTime()
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
}

/** GPT-175B by TP 8, PP 16 and the DP that fills the ranks, 48 micro-batches. */
void RegisterSize(uint32_t ranks, bool folded)
{
    const uint32_t data = ranks / 128;
    char name[32];
    std::snprintf(name, sizeof(name), "%6u ranks", ranks);
    Register(name,
             "gpt-175b-8192.yaml",
             {"hosts=" + std::to_string(ranks / 8),
              "workload.generate.parallel.dp=" + std::to_string(data),
              "workload.generate.batch.global_batch=" + std::to_string(48 * data)},
             folded);
}

} // namespace

int main(int argc, char* argv[])
{
    UsePicoseconds();
    benchmark::Initialize(&argc, argv);
    Register("gpt-175b-1024", "gpt-175b-1024.yaml", {}, false);
    Register("gpt-175b-1024", "gpt-175b-1024.yaml", {}, true);
    for (const uint32_t ranks : {512u, 1024u, 2048u, 8192u})
    {
        RegisterSize(ranks, false);
    }
    for (const uint32_t ranks : {8192u, 16384u})
    {
        RegisterSize(ranks, true);
    }
    benchmark::RunSpecifiedBenchmarks();

    std::printf("\n%-24s %8s %8s %10s %10s %12s %10s\n",
                "",
                "CPU s",
                "MiB",
                "simulated",
                "events/op",
                "Moperator/s",
                "to empty");
    for (const auto& [name, cost] : g_costs)
    {
        // Of all ranks' operators: for folded ranks, those that need not be simulated count too.
        const double rate = cost.operators / cost.seconds;
        std::printf("%-24s %8.2f %8.0f %10.0f %10.2f %12.2f %10.2f\n",
                    name.c_str(),
                    cost.seconds,
                    cost.megabytes,
                    cost.simulatedRanks,
                    cost.eventsAnOperator,
                    rate / 1e6,
                    rate / cost.emptyPerSecond);
    }
    std::printf("\"to empty\": operators a second over empty events a second of ns-3's default\n"
                "scheduler in the same process, as many pending as there are ranks.\n");
    return 0;
}
