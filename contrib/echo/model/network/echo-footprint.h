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

/**
 * What an instance asks of a bundle: all ports from a device up to the next tier together, or from
 * a tier down to a device. What exceeds it is oversubscribed however traffic spreads over the
 * ports.
 */
struct BundleUse
{
    uint64_t key{0};   //!< up: twice the device's number, down: that plus one
    double demand{0};  //!< as Footprint::demand, of all ports' rate
    double seconds{0}; //!< that its bytes take on all ports together
};

/** The directed links that one instance loads. */
struct Footprint
{
    /// Bytes of the whole collective on each directed link, sorted by port.
    std::vector<std::pair<PortId, uint64_t>> bytes;
    /**
     * Sorted by port: the largest part of a link's rate that the instance can ask for. Between
     * hosts each connection asks for the least rate on its path, connections that leave or enter
     * one NIC together for no more than the NIC has. Inside hosts a link is asked for what its
     * bytes take of the time that the instance's busiest link needs.
     */
    std::vector<std::pair<PortId, double>> demand;
    /// The same for bundles, sorted by key.
    std::vector<BundleUse> bundles;
};

using FootprintPtr = std::shared_ptr<const Footprint>;

/** What a communication asks of a link, or of a bundle of links, and of whom there are many. */
struct LinkShare
{
    uint64_t link{0}; //!< a port's number; bundles follow ports
    double demand{
        0}; //!< part of the time that its bytes take there, if it transfers as fast as alone
    double weight{0}; //!< part of the link's rate at which its bytes come, while they come
};

/** How a communication that is alone uses links. */
struct UseAlone
{
    double seconds{0};  //!< while it does
    double busyPart{1}; //!< inside one host: part of these in which its busiest link transfers
    double wirePart{1}; //!< bytes on links between hosts for a byte of payload
};

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
 * What instances of one kind on one group put on links, and on those groups that it stands for
 * where equal ranks are folded. Plans have a nominal size: demand does not depend on bytes, and
 * bytes on links are proportional to them but for odd bytes.
 */
struct LinkUse
{
    uint32_t number{0};                   //!< in order of first use
    std::vector<CollectivePlan> plans;    //!< one a replica
    std::vector<FootprintPtr> footprints; //!< one a replica; empty: to be made anew
    double peakSeconds{0}; //!< bytes over rate, largest over the links that utilisation counts
    double load{0};        //!< what AddLoad counted, in nominal sizes
};

/**
 * Footprints of the plans of a run. Groups repeat the same collectives, so a footprint is made
 * once for a group, kind, algorithm, number of channels and root, with a nominal size. An
 * all-to-all-v counts as an all-to-all of equal splits with as many bytes.
 */
class FootprintCache
{
  public:
    /**
     * To be called first.
     * @param fixedWays messages keep the router's ways; else (load balancing by packets, links that
     *        fail) utilisation counts links inside hosts and at NICs only
     */
    void Prepare(Ptr<Router> router, bool fixedWays);

    bool IsPrepared() const
    {
        return m_router != nullptr;
    }

    const Topology& GetTopology() const
    {
        return *m_router->GetTopology();
    }

    /**
     * @param replicas layouts of the groups that the plan stands for; null: its own only
     * @return lives as long as this object
     */
    LinkUse& Find(const CollectivePlan& plan, const std::vector<GroupLayoutPtr>* replicas);
    /** @return the footprints at nominal size, one a replica; valid until the next call */
    const std::vector<FootprintPtr>& Get(LinkUse& use);
    /** @return the largest link utilisation of a plan that took @p duration */
    static double GetPeakUtilization(const LinkUse& use, const CollectivePlan& plan, Time duration);
    /**
     * @param fabricKnown the time alone holds for the fabric as it is: single links count, and none
     *        is asked for more than it has; else it holds for a fabric that carries what NICs send:
     *        bundles count, and one may be short for the plan alone, as who measured did not care
     *        which of many equal links a message takes
     * @return what a plan asks of links, of the first replica
     */
    std::vector<LinkShare> GetShares(LinkUse& use,
                                     const CollectivePlan& plan,
                                     const UseAlone& alone,
                                     bool fabricKnown);
    /** @return bytes that a replica puts on fabric links, summed over the links */
    double GetFabricBytes(LinkUse& use, const CollectivePlan& plan, uint32_t replica);
    /** Counts a plan's bytes on its links; cheap, as footprints are added up only in ReportLoad. */
    static void AddLoad(LinkUse& use, const CollectivePlan& plan);
    /** One record for each direction of each link that AddLoad counted bytes on, in port order. */
    void ReportLoad(RecordSink& sink);

  private:
    using Key = std::
        tuple<GroupId, CollectiveKind, CollectiveAlgorithmKind, uint32_t, uint32_t, RankId, RankId>;

    static Key KeyOf(const CollectivePlan& plan);
    /** @return the plan's bytes as a multiple of the nominal size */
    static double GetScale(const CollectivePlan& plan);

    Ptr<Router> m_router;
    bool m_fixedWays{true};                                                   //!< see Prepare
    std::map<CollectiveAlgorithmKind, Ptr<CollectiveAlgorithm>> m_algorithms; //!< made so far
    std::map<Key, LinkUse> m_uses;
    uint64_t m_entries{0}; //!< links over all footprints held
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_FOOTPRINT_H */
