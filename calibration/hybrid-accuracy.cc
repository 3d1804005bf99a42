// SPDX-License-Identifier: GPL-2.0-only
#include "hybrid-accuracy.h"

#include "ns3/echo-scenario-reader.h"
#include "ns3/echo-scenario-runner.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <vector>

namespace ns3
{
namespace echo
{

namespace
{

/** One way to run the scenario. */
struct Way
{
    std::string name;
    std::vector<std::string> overrides;
};

/** What it gave. */
struct Outcome
{
    double milliseconds{0};
    double cpuSeconds{0};
    uint64_t events{0};
    std::vector<std::string> warnings;
};

Outcome Run(const std::string& scenario, const std::vector<std::string>& overrides)
{
    ScenarioOverrides changes;
    changes.sets = overrides;
    // Packets know links, not NCCL's own latencies: estimates must not either to be compared.
    changes.sets.emplace_back("estimator.profile=derived");
    ScenarioRunner runner(ReadScenario(scenario, changes));
    RecordSink sink;
    const std::clock_t start = std::clock();
    const RunRecord run = runner.Run([&sink]() -> RecordSink& { return sink; });
    Outcome outcome;
    outcome.cpuSeconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    outcome.milliseconds = static_cast<double>(run.stepTime.GetPicoSeconds()) * 1e-9;
    outcome.events = run.events;
    outcome.warnings = run.warnings;
    return outcome;
}

std::string Digits(double value, int digits)
{
    std::ostringstream text;
    text << std::fixed << std::setprecision(digits) << value;
    return text.str();
}

} // namespace

void WriteHybridAccuracy(std::ostream& out, const std::string& scenario)
{
    const std::vector<Way> ways{
        {"packet", {"fidelity=packet"}},
        {"flow", {"fidelity=flow"}},
        {"hybrid, contention", {"fidelity=hybrid", "hybrid.policy=contention"}},
        {"hybrid, contention as trains",
         {"fidelity=hybrid", "hybrid.policy=contention", "hybrid.contended=flow"}},
        {"hybrid, sampled", {"fidelity=hybrid", "hybrid.policy=sampled"}},
        {"hybrid, sampled as flows",
         {"fidelity=hybrid", "hybrid.policy=sampled", "hybrid.contended=flow"}},
        {"analytical", {"fidelity=analytical"}},
    };
    out << "| fidelity | step, ms | error, % | CPU, s | times less CPU | events | says |\n"
        << "|---|---:|---:|---:|---:|---:|---|\n";
    Outcome packet;
    bool good = false;
    for (const Way& way : ways)
    {
        const Outcome outcome = Run(scenario, way.overrides);
        if (way.name == "packet")
        {
            packet = outcome;
        }
        const double error = 100 * (outcome.milliseconds / packet.milliseconds - 1);
        const double saving = packet.cpuSeconds / std::max(outcome.cpuSeconds, 1e-3);
        good = good || (way.name.rfind("hybrid", 0) == 0 && std::abs(error) <= 3 && saving >= 20);
        std::string says;
        for (const std::string& warning : outcome.warnings)
        {
            says += (says.empty() ? "" : "; ") + warning;
        }
        out << "| " << way.name << " | " << Digits(outcome.milliseconds, 3) << " | "
            << Digits(error, 1) << " | " << Digits(outcome.cpuSeconds, 2) << " | "
            << Digits(saving, 1) << " | " << outcome.events << " | " << says << " |\n";
    }
    out << "\n"
        << (good ? "A hybrid run is within 3 % of packets at 20 times less CPU.\n\n"
                 : "No hybrid run is within 3 % of packets at 20 times less CPU: the contention "
                   "policy sends all that is contended through packets, which here is most of it; "
                   "samples are corrected by what shared their links when they started, not by "
                   "what came later.\n\n");
}

} // namespace echo
} // namespace ns3
