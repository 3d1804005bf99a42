// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_FOOTPRINT_H
#define ECHO_FOOTPRINT_H

#include "ns3/echo-collective-algorithm.h"
#include "ns3/echo-connection-map.h"
#include "ns3/echo-records.h"
#include "ns3/echo-router.h"

#include "ns3/nstime.h"

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/** The directed links that one instance loads. */
struct Footprint
{
    /// Bytes of the whole collective on each directed link, sorted by port.
    std::vector<std::pair<PortId, uint64_t>> bytes;
    /**
     * Fabric only, sorted by port: the largest part of a link's rate that the instance can ask
     * for. Each connection asks for the least rate on its path, connections that leave or enter
     * one NIC together for no more than the NIC has.
     */
    std::vector<std::pair<PortId, double>> demand;
    /**
     * The same for bundles: all ports from a device up to the next tier together, or from a tier
     * down to a device. What it exceeds is oversubscribed however traffic spreads over the ports.
     * A bundle up is twice its device's number, a bundle down that plus one; sorted.
     */
    std::vector<std::pair<uint64_t, double>> bundles;
};

using FootprintPtr = std::shared_ptr<const Footprint>;

/** @throws UnsupportedError if a connection has no path */
Footprint MakeFootprint(const CollectivePlan& plan,
                        const CollectiveAlgorithm& algorithm,
                        const Router& router);

/**
 * @return the largest part of a link's rate that the footprint's bytes, times @p scale, take on
 *         average over @p duration; 0 for a duration of 0
 */
double PeakUtilization(const Footprint& footprint,
                       const Topology& topology,
                       double scale,
                       Time duration);

/**
 * Footprints of the plans of a run. Groups repeat the same collectives, so a footprint is made
 * once for a group, kind, algorithm, number of channels and root, with a nominal size: demand does
 * not depend on bytes, and bytes on links are proportional to them but for odd bytes. An
 * all-to-all-v counts as an all-to-all of equal splits with as many bytes.
 */
class FootprintCache
{
  public:
    /** To be called first. */
    void Prepare(Ptr<Router> router);

    bool IsPrepared() const
    {
        return m_router != nullptr;
    }

    /** @return the footprint at nominal size */
    FootprintPtr Get(const CollectivePlan& plan);
    /** @return the largest link utilisation of a plan that took @p duration */
    double GetPeakUtilization(const CollectivePlan& plan, Time duration);
    /** @return bytes that a plan puts on fabric links, summed over the links */
    double GetFabricBytes(const CollectivePlan& plan);
    /** Counts a plan's bytes on its links; cheap, as footprints are added up only in ReportLoad. */
    void AddLoad(const CollectivePlan& plan);
    /** One record for each direction of each link that AddLoad counted bytes on, in port order. */
    void ReportLoad(RecordSink& sink) const;

  private:
    using Key = std::
        tuple<GroupId, CollectiveKind, CollectiveAlgorithmKind, uint32_t, uint32_t, RankId, RankId>;

    static Key KeyOf(const CollectivePlan& plan);
    /** @return the plan's bytes as a multiple of the nominal size */
    static double GetScale(const CollectivePlan& plan);

    Ptr<Router> m_router;
    std::map<CollectiveAlgorithmKind, Ptr<CollectiveAlgorithm>> m_algorithms; //!< made so far
    std::map<Key, FootprintPtr> m_footprints;
    uint64_t m_entries{0}; //!< links over all footprints held
    struct Load
    {
        FootprintPtr footprint;
        double scale{0}; //!< sum over the plans that had it
    };
    std::map<Key, Load> m_loads; //!< counted so far
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_FOOTPRINT_H */
