// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_COLLECTIVE_EXPERIMENT_H
#define ECHO_COLLECTIVE_EXPERIMENT_H

#include "echo-backend-helper.h"

#include "ns3/echo-collective-spec.h"
#include "ns3/echo-comm-group.h"
#include "ns3/echo-cost-model.h"
#include "ns3/echo-records.h"

#include <vector>

namespace ns3
{
namespace echo
{

/** What one communication alone in the cluster did. */
struct ExperimentResult
{
    CollectiveRecord record;
    NetworkTotals totals;
    std::vector<LinkRecord> links; //!< that carried bytes (packet, flow)
    double maxLinkUtilization{0};  //!< largest busy share of a link during the transfer; 0 unknown

    Time GetDuration() const
    {
        return record.end - record.start;
    }
};

/**
 * Runs one communication alone, all members joining at time zero: the building block of
 * `./echo collective` and `./echo validate`, and the shortest way from a script to a figure.
 */
class CollectiveExperiment
{
  public:
    /** Ranks 0 .. ranks-1 fill the cluster's GPUs in order. @throws InputError if too few */
    CollectiveExperiment(const Cluster& cluster, uint32_t ranks, BackendSettings settings);
    CollectiveExperiment(const Cluster& cluster, PlacementPtr placement, BackendSettings settings);

    /** A collective over all ranks. */
    ExperimentResult Run(const CollectiveSpec& spec, Fidelity fidelity) const;
    /**
     * A collective of a group, or a send from its first to its second member.
     * @param splits all-to-all-v: [source][destination] bytes
     * @throws UnsupportedError, StallError
     */
    ExperimentResult Run(const CollectiveSpec& spec,
                         const std::vector<std::vector<uint64_t>>& splits,
                         CommGroupPtr group,
                         Fidelity fidelity) const;

    /** @return the terms of the estimate for a collective over all ranks (send-recv: the first two)
     */
    CostBreakdown Explain(const CollectiveSpec& spec) const;

  private:
    CommGroupPtr MakeWorld(uint32_t ranks) const;

    Cluster m_cluster;          //!< the hardware
    PlacementPtr m_placement;   //!< ranks on GPUs
    BackendSettings m_settings; //!< of every run
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_COLLECTIVE_EXPERIMENT_H */
