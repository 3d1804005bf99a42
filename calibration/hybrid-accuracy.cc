// SPDX-License-Identifier: GPL-2.0-only
#include "hybrid-accuracy.h"

#include "ns3/echo-scenario-reader.h"
#include "ns3/echo-scenario-runner.h"

#include <algorithm>
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
        {"hybrid, sampled", {"fidelity=hybrid", "hybrid.policy=sampled"}},
        {"hybrid, sampled as flows",
         {"fidelity=hybrid", "hybrid.policy=sampled", "hybrid.contended=flow"}},
        {"analytical", {"fidelity=analytical"}},
    };
    out << "| fidelity | step, ms | error, % | CPU, s | times less CPU | events | says |\n"
        << "|---|---:|---:|---:|---:|---:|---|\n";
    Outcome packet;
    for (const Way& way : ways)
    {
        const Outcome outcome = Run(scenario, way.overrides);
        if (way.name == "packet")
        {
            packet = outcome;
        }
        std::string says;
        for (const std::string& warning : outcome.warnings)
        {
            says += (says.empty() ? "" : "; ") + warning;
        }
        out << "| " << way.name << " | " << Digits(outcome.milliseconds, 3) << " | "
            << Digits(100 * (outcome.milliseconds / packet.milliseconds - 1), 1) << " | "
            << Digits(outcome.cpuSeconds, 2) << " | "
            << Digits(packet.cpuSeconds / std::max(outcome.cpuSeconds, 1e-3), 1) << " | "
            << outcome.events << " | " << says << " |\n";
    }
    out << "\n";
}

} // namespace echo
} // namespace ns3
