// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_NCCL_TUNER_H
#define ECHO_NCCL_TUNER_H

#include "echo-machine-profile.h"

#include "ns3/echo-collective-algorithm.h"

#include <cstdint>
#include <optional>

namespace ns3
{
namespace echo
{

/** An algorithm with a protocol. */
struct AlgorithmProtocol
{
    CollectiveAlgorithmKind algorithm{CollectiveAlgorithmKind::RING};
    CollectiveProtocol protocol{CollectiveProtocol::SIMPLE};

    friend bool operator==(const AlgorithmProtocol& a, const AlgorithmProtocol& b)
    {
        return a.algorithm == b.algorithm && a.protocol == b.protocol;
    }
};

/**
 * NCCL's own cost model, by which NCCL picks algorithm and protocol: latency times count plus bytes
 * over bandwidth, with the constants of src/graph/tuning.cc (read at v2.10.3, v2.12.7, v2.18.3,
 * v2.19.1, v2.22.3, v2.23.4, v2.25.1 and v2.28.3; a version between uses the newest of these not
 * newer). Ring and tree with LL, LL128 and Simple, NVLS, NVLS tree and PAT with Simple; CollNet is
 * not represented.
 */
class NcclTuner
{
  public:
    /** @throws InputError if the version is not "major.minor" from 2.8 on */
    NcclTuner(const NcclEnvironment& environment, const GroupShape& shape);

    /**
     * @return microseconds that NCCL expects; nothing if it does not use that combination
     * @param bytes as nccl-tests counts size
     */
    std::optional<double> GetTime(CollectiveKind kind, AlgorithmProtocol how, uint64_t bytes) const;
    /**
     * @return what NCCL picks for a kind that has rings (all but all-to-all and send/recv); the
     *         first of equals in the order tree, ring, NVLS, NVLS tree, PAT, and LL, LL128, Simple
     */
    AlgorithmProtocol Choose(CollectiveKind kind, uint64_t bytes) const;

    /** @return GB/s of NCCL's model, before what it corrects by size */
    double GetBandwidth(CollectiveKind kind, AlgorithmProtocol how) const;
    /** @return microseconds of NCCL's model, before what it corrects by size */
    double GetLatency(CollectiveKind kind, AlgorithmProtocol how) const;

  private:
    double GetSwitchBandwidth(bool tree) const;
    bool IsEnabled(CollectiveKind kind, AlgorithmProtocol how) const;
    /** @return whether a host's trees use one NIC each, which the tuner believes to be slower */
    bool IsPlainTree() const;

    NcclEnvironment m_environment;
    GroupShape m_shape;
    uint32_t m_version; //!< 100 * major + minor
};

/** @return 100 * major + minor of "2.22" or "2.22.3" @throws InputError otherwise or below 2.8 */
uint32_t ParseNcclVersion(const std::string& text);

/** @return the largest whole k with 2^k <= @p value (0 for 0) */
uint32_t FloorLog2(uint64_t value);

/** @return the part of a host's rings over NVLink that so many of its GPUs have; 1 with switches */
double RingShare(const NcclEnvironment& environment, uint32_t localRanks);

/** What NCCL's search finds between hosts for a group. */
struct NetPaths
{
    double perNic{1};        //!< channels of the graph, a NIC
    double GBps{1};          //!< rate that NCCL takes each for
    double treeIntraGBps{1}; //!< the tree's inside hosts
    double channels{2};      //!< channels that collectives get, a NIC
};

/**
 * @return the paths of a group's graph between hosts
 *
 * As the profile says; where rings come back by their own NIC, one for each ordered pair of the
 * GPUs of a host, over the link between their processors, as many as the NIC's rate allows
 * (src/graph/search.cc, crossNic).
 */
NetPaths NetPathsOf(const NcclEnvironment& environment, const GroupShape& shape);

/** @return the channels that a collective on this shape gets at most */
uint32_t NcclChannels(const NcclEnvironment& environment, const GroupShape& shape);

} // namespace echo
} // namespace ns3

#endif /* ECHO_NCCL_TUNER_H */
