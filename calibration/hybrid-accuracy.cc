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
    uint64_t packets{0};
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
    outcome.packets = run.packets;
    outcome.warnings = run.warnings;
    return outcome;
}

std::string Digits(double value, int digits)
{
    std::ostringstream text;
    text << std::fixed << std::setprecision(digits) << value;
    return text.str();
}

/** Error, %, and CPU that a hybrid run may have. */
constexpr double MOST_ERROR = 3;
constexpr double LEAST_SAVING = 20;

/** @return "yes", or "no" and why */
std::string Judge(const Outcome& packet, const Outcome& outcome, double error, double saving)
{
    if (std::abs(error) <= MOST_ERROR && saving >= LEAST_SAVING)
    {
        return "yes";
    }
    std::string why;
    if (saving < LEAST_SAVING && outcome.packets > 0)
    {
        why = Digits(100.0 * static_cast<double>(outcome.packets) /
                         static_cast<double>(packet.packets),
                     0) +
              " % of the packets are simulated";
    }
    else if (saving < LEAST_SAVING)
    {
        why = "packets take " + Digits(packet.cpuSeconds, 2) +
              " s only: what is left is setting up and the ranks' operators";
    }
    if (std::abs(error) > MOST_ERROR)
    {
        why += std::string(why.empty() ? "" : "; ") +
               "estimates share links as if they kept in step, in packets who comes first gains";
    }
    return "no: " + why;
}

} // namespace

void WriteHybridAccuracy(std::ostream& out,
                         const std::string& scenario,
                         const std::vector<std::string>& changes)
{
    const std::vector<Way> ways{
        {"packet", {"fidelity=packet"}},
        {"flow", {"fidelity=flow"}},
        {"hybrid, contention",
         {"fidelity=hybrid", "hybrid.policy=contention", "hybrid.contended=packet"}},
        {"hybrid, contention, trains",
         {"fidelity=hybrid", "hybrid.policy=contention", "hybrid.contended=flow"}},
        {"hybrid, sampled",
         {"fidelity=hybrid", "hybrid.policy=sampled", "hybrid.contended=packet"}},
        {"hybrid, sampled, trains",
         {"fidelity=hybrid", "hybrid.policy=sampled", "hybrid.contended=flow"}},
        {"analytical", {"fidelity=analytical"}},
    };
    out << "| fidelity | step, ms | error, % | CPU, s | times less CPU | events | 3 % at 20 times "
           "less | says |\n"
        << "|---|---:|---:|---:|---:|---:|---|---|\n";
    Outcome packet;
    std::string good;
    for (const Way& way : ways)
    {
        std::vector<std::string> overrides = changes;
        overrides.insert(overrides.end(), way.overrides.begin(), way.overrides.end());
        const Outcome outcome = Run(scenario, overrides);
        const bool isHybrid = way.name.rfind("hybrid", 0) == 0;
        if (way.name == "packet")
        {
            packet = outcome;
        }
        const double error = 100 * (outcome.milliseconds / packet.milliseconds - 1);
        const double saving = packet.cpuSeconds / std::max(outcome.cpuSeconds, 1e-3);
        const std::string verdict = isHybrid ? Judge(packet, outcome, error, saving) : "";
        good += verdict == "yes" ? (good.empty() ? "" : "; ") + way.name : "";
        std::string says;
        for (const std::string& warning : outcome.warnings)
        {
            says += (says.empty() ? "" : "; ") + warning;
        }
        out << "| " << way.name << " | " << Digits(outcome.milliseconds, 3) << " | "
            << Digits(error, 1) << " | " << Digits(outcome.cpuSeconds, 3) << " | "
            << Digits(saving, 1) << " | " << outcome.events << " | " << verdict << " | " << says
            << " |\n";
    }
    out << "\nWithin 3 % of packets at 20 times less CPU: " << (good.empty() ? "none" : good)
        << ".\n\n";
}

} // namespace echo
} // namespace ns3
