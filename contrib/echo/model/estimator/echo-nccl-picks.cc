// SPDX-License-Identifier: GPL-2.0-only
#include "echo-nccl-picks.h"

#include "echo-nccl-chunks.h"

#include "ns3/echo-collective-selector.h"
#include "ns3/echo-error.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace ns3
{
namespace echo
{

namespace
{

using Algorithm = CollectiveAlgorithmKind;
using Protocol = CollectiveProtocol;

/** @return the candidate that NCCL's tuner takes for the least time */
AlgorithmProtocol TunerPick(const NcclTuner& tuner,
                            const std::vector<AlgorithmProtocol>& candidates,
                            CollectiveKind kind,
                            uint64_t bytes)
{
    AlgorithmProtocol best = candidates.front();
    std::optional<double> least;
    for (const AlgorithmProtocol& candidate : candidates)
    {
        const std::optional<double> time = tuner.GetTime(kind, candidate, bytes);
        if (time && (!least || *time < *least))
        {
            least = time;
            best = candidate;
        }
    }
    return best;
}

} // namespace

bool IsPairwise(CollectiveKind kind)
{
    return kind == CollectiveKind::ALL_TO_ALL || kind == CollectiveKind::ALL_TO_ALL_V ||
           kind == CollectiveKind::SEND_RECV;
}

std::vector<AlgorithmProtocol> CandidatesOf(const CollectiveSpec& spec)
{
    std::vector<AlgorithmProtocol> candidates;
    const bool pairwise = IsPairwise(spec.kind);
    for (const Algorithm algorithm : {Algorithm::TREE,
                                      Algorithm::RING,
                                      Algorithm::NVLS,
                                      Algorithm::NVLS_TREE,
                                      Algorithm::PAT,
                                      Algorithm::PAIRWISE})
    {
        for (const Protocol protocol : {Protocol::LL, Protocol::LL128, Protocol::SIMPLE})
        {
            const bool asked = spec.protocol != Protocol::AUTO;
            const bool simpleOnly = algorithm == Algorithm::NVLS ||
                                    algorithm == Algorithm::NVLS_TREE ||
                                    algorithm == Algorithm::PAT;
            if (simpleOnly && protocol != Protocol::SIMPLE)
            {
                continue;
            }
            if (CanCarryOut(algorithm, spec.kind) &&
                (spec.algorithm == Algorithm::AUTO || spec.algorithm == algorithm) &&
                (!asked || spec.protocol == protocol) &&
                (asked || !pairwise || protocol != Protocol::LL128))
            {
                candidates.push_back({algorithm, protocol});
            }
        }
    }
    if (candidates.empty())
    {
        throw UnsupportedError(std::string("algorithm '") + ToString(spec.algorithm) +
                               "' cannot carry out " + ToString(spec.kind));
    }
    return candidates;
}

std::vector<AlgorithmProtocol> PairCandidatesOf(const CollectiveSpec& spec, const GroupShape& shape)
{
    const bool isFree = spec.algorithm == Algorithm::AUTO || spec.algorithm == Algorithm::PAIRWISE;
    if (isFree && shape.hosts > 1 && spec.protocol == Protocol::AUTO)
    {
        return {{Algorithm::PAIRWISE, Protocol::SIMPLE}};
    }
    return CandidatesOf(spec);
}

std::vector<AlgorithmProtocol> EnabledOf(const NcclTuner& tuner,
                                         const std::vector<AlgorithmProtocol>& candidates,
                                         CollectiveKind kind)
{
    std::vector<AlgorithmProtocol> enabled;
    for (const AlgorithmProtocol& candidate : candidates)
    {
        if (tuner.GetTime(kind, candidate, 1))
        {
            enabled.push_back(candidate);
        }
    }
    return enabled.empty() ? candidates : enabled;
}

double NcclChannelsUsed(const NcclEnvironment& environment,
                        AlgorithmProtocol how,
                        double bytes,
                        const GroupShape& shape)
{
    if (how.algorithm == Algorithm::NVLS || how.algorithm == Algorithm::NVLS_TREE)
    {
        return std::max(environment.nvlsChannels, 1u);
    }
    return std::clamp(bytes / NcclBytesPerChannel(how.algorithm, how.protocol, shape.ranks),
                      1.0,
                      static_cast<double>(NcclChannels(environment, shape)));
}

std::vector<NcclPick> ListNcclPicks(const NcclTuner& tuner,
                                    const std::vector<AlgorithmProtocol>& candidates,
                                    CollectiveKind kind)
{
    // A grid of 16 sizes to each doubling up to 2^44 bytes: fine enough against the tuner's own
    // inaccuracy.
    std::vector<NcclPick> picks;
    for (uint32_t step = 0; step <= 16 * 44; ++step)
    {
        const double bytes = std::exp2(step / 16.0);
        const AlgorithmProtocol how =
            TunerPick(tuner, candidates, kind, static_cast<uint64_t>(bytes));
        if (picks.empty() || !(picks.back().how == how))
        {
            picks.push_back({bytes, how, INFINITY});
        }
        picks.back().maxBytes = bytes;
    }
    picks.back().maxBytes = INFINITY;
    return picks;
}

double NcclPick::Bound(double us, double bytes) const
{
    return std::max(linksUs, std::min(mostUs, std::max(us, leastUs + leastUsPerByte * bytes)));
}

const NcclPick& FindPick(const std::vector<NcclPick>& picks, double bytes)
{
    return *std::find_if(picks.begin(), picks.end(), [bytes](const NcclPick& pick) {
        return bytes <= pick.maxBytes; // the last one's is infinite
    });
}

} // namespace echo
} // namespace ns3
