// SPDX-License-Identifier: GPL-2.0-only
#include "echo-run-command.h"

#include "echo-scenario-runner.h"

#include "ns3/echo-report-writer.h"
#include "ns3/echo-summary-text.h"
#include "ns3/echo-units.h"

#include <sys/resource.h>

#include <chrono>
#include <iomanip>
#include <iostream>
#include <memory>

namespace ns3
{
namespace echo
{

namespace
{

/** Wall and CPU time and memory of this process, for run.json. */
class CostMeter
{
  public:
    void Fill(RunRecord& run) const
    {
        const auto wall = std::chrono::steady_clock::now() - m_start;
        run.wallSeconds = std::chrono::duration<double>(wall).count();
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        const auto seconds = [](const timeval& time) {
            return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
        };
        run.cpuSeconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
        run.peakMemoryBytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024; // Linux: KiB
    }

  private:
    std::chrono::steady_clock::time_point m_start{std::chrono::steady_clock::now()};
};

} // namespace

LayeredGraph MakeLayeredGraph(const Topology& topology)
{
    LayeredGraph graph;
    for (uint32_t i = 0; i < topology.GetDeviceCount(); ++i)
    {
        const Device& device = topology.GetDevice(DeviceId(i));
        graph.nodes.push_back({device.name, device.role, device.host});
    }
    for (uint32_t i = 0; i < topology.GetLinkCount(); ++i)
    {
        const Link& link = topology.GetLink(LinkId(i));
        graph.edges.push_back({link.a.Get(), link.b.Get(), link.rate});
    }
    return graph;
}

int RunCommand::Run()
{
    CostMeter cost;
    Scenario scenario = ReadScenario(file, overrides);
    if (!scenario.workloadReport.empty())
    {
        std::cout << scenario.workloadReport << '\n';
    }
    ScenarioRunner runner(std::move(scenario));
    const PlacementPtr placement = runner.GetPlacement();
    const size_t gpus = placement->GetTopology()->GetDevices(DeviceRole::GPU).size();
    const std::vector<JobSpan>& jobs = runner.GetScenario().workload->GetJobs();
    for (const JobSpan& job : jobs)
    {
        std::cout << "Job " << job.name << ": " << placement->Describe(job.firstRank, job.ranks)
                  << '\n';
    }
    if (!jobs.empty())
    {
        std::cout << '\n';
    }
    else if (placement->GetRankCount() < gpus)
    {
        std::cout << "Placement: " << placement->GetRankCount() << " ranks on " << gpus
                  << " GPUs: " << placement->Describe() << "\n\n";
    }

    ReportOptions options;
    options.cluster = runner.GetScenario().cluster.name;
    options.ranks = placement->GetRankCount();
    options.jobs = jobs;
    options.network = MakeLayeredGraph(*placement->GetTopology());
    const OutputSettings& output = runner.GetScenario().output;
    options.timelineEvents = output.timelineEvents;
    options.timelineRanks = output.timelineRanks;
    options.rows = output.rows;
    const std::string folder = out.empty() ? "echo-out/" + runner.GetScenario().name : out;
    const bool writes = folder != "none";

    std::unique_ptr<ReportWriter> writer;
    std::unique_ptr<SummarySink> summary;
    const auto makeSink = [&]() -> RecordSink& {
        writer.reset(); // an earlier pass's files go before new ones are made
        if (writes)
        {
            writer = std::make_unique<ReportWriter>(folder, options);
            return *writer;
        }
        summary = std::make_unique<SummarySink>(options.jobs);
        return *summary;
    };
    RunRecord run = runner.Run(makeSink);
    cost.Fill(run);
    RecordSink& sink = writes ? static_cast<RecordSink&>(*writer) : *summary;
    sink.OnRun(run);
    std::cout << FormatSummary(writes ? writer->GetSummary() : summary->GetSummary());
    if (const Time measured = runner.GetScenario().measuredSpan; measured.IsStrictlyPositive())
    {
        const double error = static_cast<double>(run.stepTime.GetPicoSeconds()) /
                                 static_cast<double>(measured.GetPicoSeconds()) -
                             1;
        std::cout << "\nMeasured step: " << FormatTime(measured) << "; simulated "
                  << FormatTime(run.stepTime) << " (" << std::showpos << std::fixed
                  << std::setprecision(1) << 100 * error << " %)\n"
                  << std::noshowpos;
    }
    if (writes)
    {
        writer->Finish();
        std::cout << "\nResults: " << folder << "/report.html (picture), summary.json, *.csv; "
                  << "columns.md explains them\n";
    }
    return 0;
}

} // namespace echo
} // namespace ns3
