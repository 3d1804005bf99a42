// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_VALIDATION_H
#define ECHO_VALIDATION_H

#include "echo-collective-experiment.h"
#include "echo-distinct-communications.h"

#include "ns3/echo-scenario.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** One distinct communication, alone in the cluster, in three fidelities. */
struct ValidationResult
{
    DistinctCommunication communication;
    CollectiveAlgorithmKind algorithm{CollectiveAlgorithmKind::AUTO};
    uint32_t hosts{0};
    std::optional<Time> packet; //!< none: left out, see `skipped`
    Time flow;
    Time analytical;
    bool extrapolated{false};
    std::string skipped; //!< why there is no packet time, else empty
};

/**
 * Runs every distinct communication of a scenario in packet, flow and analytical fidelity.
 *
 * A communication whose packet run would take more packet-hops than the scenario's
 * hybrid.packet_hop_budget is not run as packets and says so.
 */
class Validation
{
  public:
    /** @throws InputError if the ranks do not fit the cluster */
    explicit Validation(const Scenario& scenario);
    /** @param done told after each communication: how many of how many */
    std::vector<ValidationResult> Run(
        const std::function<void(size_t done, size_t all)>& done) const;

  private:
    const Scenario& m_scenario; //!< outlives this object
    PlacementPtr m_placement;   //!< ranks on GPUs
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_VALIDATION_H */
