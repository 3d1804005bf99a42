// SPDX-License-Identifier: GPL-2.0-only
#include "echo-validate-command.h"

#include "echo-scenario-setup.h"
#include "echo-validation.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>

namespace ns3
{
namespace echo
{

int ValidateCommand::Run()
{
    Scenario scenario = ReadScenario(file, overrides);
    ApplySeed(scenario);
    if (!scenario.failures.empty() || !scenario.background.empty())
    {
        // They are not in all fidelities, and each communication runs alone.
        scenario.failures.clear();
        scenario.background.clear();
        std::cout << "Failures and background traffic are left out.\n\n";
    }
    const bool showsProgress = isatty(STDERR_FILENO) != 0;
    const Validation validation(scenario);
    const auto rows = validation.Run([&](size_t done, size_t all) {
        if (showsProgress)
        {
            std::cerr << '\r' << done << " of " << all << " communications"
                      << (done == all ? "\r\033[K" : "") << std::flush;
        }
    });
    if (rows.empty())
    {
        throw InputError({file, 0, "workload"}, "no communication", "one or more to compare");
    }
    std::cout << FormatValidation(rows);
    const auto skipped = std::count_if(
        rows.begin(), rows.end(), [](const ValidationRow& row) { return row.packet.IsZero(); });
    if (skipped > 0)
    {
        std::cout << "\n"
                  << skipped << " were not run as packets: they need more packet-hops than "
                  << "hybrid.packet_hop_budget (" << scenario.hybrid.packetHopBudget << ")\n";
    }
    const auto steps = validation.RunSteps();
    std::cout << "\n" << FormatSteps(steps);
    if (out != "none")
    {
        const std::string folder = out.empty() ? "echo-out/" + scenario.name + "-validation" : out;
        WriteValidationReport(folder, scenario.name, rows, steps);
        std::cout << "\nResults: " << folder << "/validation.html (picture), validation.csv, "
                  << "steps.csv\n";
    }
    return 0;
}

} // namespace echo
} // namespace ns3
