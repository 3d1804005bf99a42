// SPDX-License-Identifier: GPL-2.0-only
#include "echo-nccl-chunks.h"
#include "echo-white-box-view.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace ns3
{
namespace echo
{

void CountSplits(const CollectivePlan& plan, CostQuery& query)
{
    const GroupLayout& layout = *plan.layout;
    const uint32_t ranks = layout.GetRanks();
    const double nics = std::max(layout.nicsPerHost, 1u);
    std::vector<double> inSent(ranks, 0);
    std::vector<double> inReceived(ranks, 0);
    std::vector<double> outSent(ranks, 0);
    std::vector<double> outReceived(ranks, 0);
    for (uint32_t source = 0; source < ranks; ++source)
    {
        for (uint32_t destination = 0; destination < ranks; ++destination)
        {
            if (source == destination)
            {
                continue;
            }
            const auto bytes = static_cast<double>(plan.splits.at(source).at(destination));
            const bool inside = layout.hostOf[source] == layout.hostOf[destination];
            (inside ? inSent : outSent)[source] += bytes;
            (inside ? inReceived : outReceived)[destination] += bytes;
        }
    }
    query.intraBytes = 0;
    query.interBytes = 0;
    for (const auto& host : layout.hosts)
    {
        double sent = 0;
        double received = 0;
        for (const uint32_t member : host)
        {
            query.intraBytes = std::max({query.intraBytes, inSent[member], inReceived[member]});
            // One rank's bytes leave through one NIC.
            query.interBytes =
                std::max({query.interBytes, nics * outSent[member], nics * outReceived[member]});
            sent += outSent[member];
            received += outReceived[member];
        }
        query.interBytes = std::max({query.interBytes, sent, received});
    }
}

namespace
{

/** What a message of an all-to-all has at most, bytes (NCCL_P2P_NET_CHUNKSIZE). */
constexpr double CHUNK = 131072;

/**
 * @return time that a rank's process serves the messages of an all-to-all to other hosts, us;
 *         nothing for messages that need no serving
 *
 * A peer takes a message for each chunk of a channel, and its further channels above 16 KiB each
 * (src/enqueue.cc: an eighth of that chunk).
 */
double ServiceOf(const MachineProfile& profile, double peers, double peerBytes, double channels)
{
    const double used = peerBytes > channels * CHUNK / 8 ? channels : 1;
    const double part = std::max(peerBytes / used, NCCL_LEAST_BYTES);
    if (profile.nccl.eagerBytes <= 0 || std::min(part, CHUNK) <= profile.nccl.eagerBytes)
    {
        return 0;
    }
    return profile.constants.messageUs * peers * used * std::max(1.0, std::ceil(part / CHUNK));
}

/**
 * Adds what the messages of an all-to-all to other hosts take beside their transfer. Where hosts
 * match all messages, those from one peer wait until they are matched, and above 16 KiB until they
 * are fetched, too, before they are on their way: Polaris takes 11 to 13 us a peer up to there and
 * 22 to 27 us for 32 and 64 KiB, on 2, 8 and 540 hosts. Else links carry some while others are
 * served.
 */
void AddService(const MachineProfile& profile,
                double peers,
                double peerBytes,
                double channels,
                double transfer,
                CostTerms& terms)
{
    constexpr double FETCHED = CHUNK / 8;
    const double eager = profile.nccl.eagerBytes;
    if (eager > 0 && eager < FETCHED)
    {
        terms.inter += profile.constants.messageUs * peers * (peerBytes > FETCHED ? 2 : 1);
        return;
    }
    const double served = ServiceOf(profile, peers, peerBytes, channels);
    terms.inter += Overlap(transfer, served, SIDE_BY_SIDE) - transfer;
}

} // namespace

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
    const PairParts outside = NcclPairParts(profile.nccl, shape, interBytes, true);
    if (pair)
    {
        const PairParts inside = NcclPairParts(profile.nccl, shape, intraBytes, false);
        intraTime = std::max(intraTime, inside.partBytes / (1000 * constants.pairChannelGBps));
        interTime = std::max(interTime, outside.partBytes / (1000 * constants.netChannelGBps));
    }
    CostTerms terms;
    const double offered = NcclChannels(profile.nccl, shape);
    const double perChannel =
        NcclBytesPerChannel(query.how.algorithm, query.how.protocol, shape.ranks);
    // Between hosts a peer has its channels whatever the bytes.
    const double channels =
        between ? std::min(offered, (pair ? 1 : shape.ranks - local) * outside.channels)
                : std::clamp(query.bytes / perChannel, 1.0, offered);
    terms.setup = SetupOf(constants, channels);
    // Peers of the host are served at once, by warps of the same blocks; for the others proxies
    // post one after the other.
    const double peers = shape.ranks - local;
    const double beyond = peers - 1;
    terms.synchronisation = pair ? 0 : std::max(0.0, beyond) * constants.peerUs;
    AddTransfer(terms, between ? protocol.interStepUs : protocol.intraStepUs, between);
    const double transfer = std::max(intraTime, interTime);
    AddTransfer(terms, transfer, interTime > intraTime);
    if (!pair && peers > 0)
    {
        const double peerBytes = interBytes / (local * peers);
        AddService(profile, peers, peerBytes, outside.channels, transfer, terms);
    }
    return terms;
}

} // namespace echo
} // namespace ns3
