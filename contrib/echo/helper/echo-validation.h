// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_VALIDATION_H
#define ECHO_VALIDATION_H

#include "echo-collective-experiment.h"
#include "echo-distinct-communications.h"

#include "ns3/echo-scenario.h"
#include "ns3/echo-validation-report.h"

#include <functional>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Runs every distinct communication of a scenario in packet, flow and analytical fidelity.
 *
 * A communication whose packet run would take more packet-hops than the scenario's
 * hybrid.packet_hop_budget is not run as packets.
 */
class Validation
{
  public:
    /** @throws InputError if the ranks do not fit the cluster */
    explicit Validation(const Scenario& scenario);
    /** @return a row each; a zero packet time is one that was left out
     * @param done told after each communication: how many of how many */
    std::vector<ValidationRow> Run(const std::function<void(size_t done, size_t all)>& done) const;

    /**
     * Simulates the whole step: analytically and in the scenario's fidelity, each with and without
     * slowdown of kernels beside communication (without only, where the scenario has none).
     */
    std::vector<ValidationStep> RunSteps() const;

  private:
    const Scenario& m_scenario; //!< outlives this object
    PlacementPtr m_placement;   //!< ranks on GPUs
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_VALIDATION_H */
