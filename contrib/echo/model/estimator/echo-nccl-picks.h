// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_NCCL_PICKS_H
#define ECHO_NCCL_PICKS_H

#include "echo-nccl-tuner.h"

#include "ns3/echo-collective-spec.h"

#include <vector>

namespace ns3
{
namespace echo
{

/** What NCCL's tuner picks for the sizes up to one. */
struct NcclPick
{
    double maxBytes{0}; //!< up to here, from where the one before ends; the last: infinite
    AlgorithmProtocol how;
    double mostUs{0};         //!< least time that a larger size takes by the pick that begins there
    double leastUs{0};        //!< with leastUsPerByte: a bound from below, so that no pick's time
    double leastUsPerByte{0}; //!< jumps where the next one begins
    double linksUs{0};        //!< what the links take for the bytes of the picks before, at least

    /** @return the time of a formula within the bounds */
    double Bound(double us, double bytes) const;
};

/** @return whether a kind is made of grouped sends and receives, for which the tuner has no model
 */
bool IsPairwise(CollectiveKind kind);

/**
 * @return what the kind can use and the spec leaves open
 * @throws UnsupportedError if nothing can
 */
std::vector<AlgorithmProtocol> CandidatesOf(const CollectiveSpec& spec);

/**
 * @return CandidatesOf grouped sends and receives: between hosts just Simple, for which alone there
 *         are the buffers that all peers share (src/transport/net.cc), if nothing else is asked for
 */
std::vector<AlgorithmProtocol> PairCandidatesOf(const CollectiveSpec& spec,
                                                const GroupShape& shape);

/** @return the candidates that NCCL does not disable (all of them if it would disable all) */
std::vector<AlgorithmProtocol> EnabledOf(const NcclTuner& tuner,
                                         const std::vector<AlgorithmProtocol>& candidates,
                                         CollectiveKind kind);

/**
 * @return channels that NCCL uses of those it offers: each further one begins with as many bytes as
 *         those before have (NcclBytesPerChannel), and is counted in part while it has fewer
 */
double NcclChannelsUsed(const NcclEnvironment& environment,
                        AlgorithmProtocol how,
                        double bytes,
                        const GroupShape& shape);

/** @return the tuner's picks by size, all with infinite NcclPick::mostUs */
std::vector<NcclPick> ListNcclPicks(const NcclTuner& tuner,
                                    const std::vector<AlgorithmProtocol>& candidates,
                                    CollectiveKind kind);

/** @return the pick for so many bytes */
const NcclPick& FindPick(const std::vector<NcclPick>& picks, double bytes);

} // namespace echo
} // namespace ns3

#endif /* ECHO_NCCL_PICKS_H */
