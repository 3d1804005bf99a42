// SPDX-License-Identifier: GPL-2.0-only
#include "echo-nccl-chunks.h"
#include "echo-white-box-view.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

CostTerms PairwiseTerms(const MachineProfile& profile,
                        const GroupShape& shape,
                        const CostQuery& query)
{
    const MachineConstants& constants = profile.constants;
    const ProtocolConstants& protocol = constants.protocols[ProtocolIndex(query.how.protocol)];
    const bool pair = query.kind == CollectiveKind::SEND_RECV;
    const double local = shape.localRanks;
    double intraBytes = query.intraBytes;
    double interBytes = query.interBytes;
    if (pair)
    {
        intraBytes = query.betweenHosts ? 0 : query.bytes;
        interBytes = query.betweenHosts ? query.bytes : 0;
    }
    else if (intraBytes < 0 || interBytes < 0)
    {
        intraBytes = query.bytes * (local - 1) / shape.ranks;
        interBytes = local * query.bytes * (shape.ranks - local) / shape.ranks;
    }
    const bool between = pair ? query.betweenHosts : shape.hosts > 1;
    const double nics = pair ? 1 : std::max(shape.nics, 1u);
    const double part = constants.pairwiseEfficiency;
    const double intraRate = part * GpuRateOf(profile, shape) * protocol.intraEfficiency;
    const double interRate = part * constants.nicGBps * nics * protocol.interEfficiency;
    double intraTime = intraBytes / (1000 * intraRate);
    double interTime = interBytes / (1000 * interRate);
    if (pair)
    {
        const PairParts inside = NcclPairParts(profile.nccl, shape, intraBytes, false);
        const PairParts outside = NcclPairParts(profile.nccl, shape, interBytes, true);
        intraTime = std::max(intraTime, inside.partBytes / (1000 * constants.pairChannelGBps));
        interTime = std::max(interTime, outside.partBytes / (1000 * constants.netChannelGBps));
    }
    CostTerms terms;
    const double channels = std::clamp(
        query.bytes / NcclBytesPerChannel(query.how.algorithm, query.how.protocol, shape.ranks),
        1.0,
        static_cast<double>(NcclChannels(profile.nccl, shape)));
    terms.setup = SetupOf(constants, channels);
    // Peers of the host are served at once, by warps of the same blocks; for the others proxies
    // post one after the other.
    const double beyond = shape.ranks - local - 1;
    terms.synchronisation = pair ? 0 : std::max(0.0, beyond) * constants.peerUs;
    AddTransfer(terms, between ? protocol.interStepUs : protocol.intraStepUs, between);
    AddTransfer(terms, std::max(intraTime, interTime), interTime > intraTime);
    return terms;
}

} // namespace echo
} // namespace ns3
