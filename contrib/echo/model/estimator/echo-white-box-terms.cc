// SPDX-License-Identifier: GPL-2.0-only
#include "echo-white-box-terms.h"

#include "echo-nccl-chunks.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace echo
{

namespace
{

using Kind = CollectiveKind;

constexpr double MEBIBYTE = 1048576;

/** One channel's view of the machine. */
struct ChannelView
{
    double maximum{1}; //!< channels that the collective may use
    double used{1};    //!< channels in use for this many bytes
    double intraStep{0};
    double interStep{0};
    double intraRate{1}; //!< bytes a microsecond
    double interRate{1};
    double grain{0};
};

ChannelView ViewOf(const MachineProfile& profile, const GroupShape& shape, const CostQuery& query)
{
    const MachineConstants& constants = profile.constants;
    const uint32_t index = ProtocolIndex(query.how.protocol);
    const ProtocolConstants& protocol = constants.protocols[index];
    const double offered = NcclChannels(profile.nccl, shape);
    ChannelView view;
    view.maximum = query.channels > 0 ? query.channels : offered;
    const double perChannel =
        NcclBytesPerChannel(query.how.algorithm, query.how.protocol, shape.ranks);
    view.used = std::clamp(query.bytes / perChannel, 1.0, view.maximum);
    view.intraStep = protocol.intraStepUs;
    view.interStep = protocol.interStepUs;
    // Fewer channels than NCCL offers cannot fill the links, more cannot make them faster. GB/s are
    // 1000 bytes a microsecond.
    const double share = 1000 / std::max(view.maximum, offered);
    view.intraRate = share * constants.gpuGBps * protocol.intraEfficiency;
    view.interRate =
        share * constants.nicGBps * std::max(shape.nics, 1u) * protocol.interEfficiency;
    if (query.how.protocol == CollectiveProtocol::LL)
    {
        view.intraRate = std::min(view.intraRate, 1000 * constants.llChannelGBps);
    }
    view.grain = NcclGrainBytes(query.how.protocol);
    return view;
}

double SetupOf(const MachineConstants& constants, double channels)
{
    return constants.setupUs + channels * constants.setupPerChannelUs;
}

/** Adds a transfer to the term of the link that governs it. */
void AddTransfer(CostTerms& terms, double time, bool between)
{
    (between ? terms.inter : terms.intra) += time;
}

CostTerms RingTerms(const MachineProfile& profile, const GroupShape& shape, const CostQuery& query)
{
    const MachineConstants& constants = profile.constants;
    const ChannelView view = ViewOf(profile, shape, query);
    const bool twice = query.kind == Kind::ALL_REDUCE;
    const double steps = (twice ? 2.0 : 1.0) * (shape.ranks - 1);
    // A piece goes nearly once (all-reduce: twice) round the ring, over one link between hosts for
    // each host; it may start just before one.
    const double between = shape.hosts > 1 ? std::min(steps, (twice ? 2.0 : 1.0) * shape.hosts) : 0;
    const double piece = query.bytes / shape.ranks / view.used;
    const double grain = std::min(piece, view.grain);
    const double intraPath = (steps - between) * (view.intraStep + grain / view.intraRate);
    const double interPath = between * (view.interStep + grain / view.interRate);
    const double path = intraPath + interPath;
    const bool slowBetween = between > 0 && view.interRate < view.intraRate;
    const bool slowInside = steps > between && !slowBetween;
    const double rate = slowInside ? view.intraRate : view.interRate;
    const double load = (steps + constants.ringTail) * piece / rate;
    const double exponent = constants.overlapExponent;
    const double total =
        load > 0 ? std::pow(std::pow(path, exponent) + std::pow(load, exponent), 1 / exponent)
                 : path;
    CostTerms terms;
    terms.setup = SetupOf(constants, view.used);
    AddTransfer(terms, steps * piece / rate, !slowInside);
    // What the steps add to the transfer is split as their latencies are; the tail synchronises.
    terms.synchronisation = constants.ringTail * piece / rate;
    const double exposed = std::max(0.0, total - load);
    if (path > 0)
    {
        terms.intra += exposed * intraPath / path;
        terms.inter += exposed * interPath / path;
    }
    return terms;
}

/** The tree with one chunk size, for @p bytes of at most the query's. */
CostTerms TreeTermsWith(const MachineProfile& profile,
                        const GroupShape& shape,
                        const ChannelView& view,
                        double channelBytes,
                        double chunk)
{
    const MachineConstants& constants = profile.constants;
    const double first = std::min(chunk, channelBytes);
    const double further = std::max(0.0, channelBytes / chunk - 1);
    const double levels = shape.hosts > 1 ? std::ceil(std::log2(shape.hosts)) : 0;
    const double loads = shape.hosts == 2 ? 1 : 2; // times that a host sends each byte
    CostTerms terms;
    terms.setup = SetupOf(constants, view.used);
    terms.intra = 2 * (shape.localRanks - 1.0) *
                  (view.intraStep + std::min(first, view.grain) / view.intraRate);
    terms.inter = 2 * levels * (view.interStep + first / view.interRate);
    const double intraChunk = shape.localRanks > 1 ? 2 * chunk / view.intraRate : 0;
    const double interChunk = levels > 0 ? loads * chunk / view.interRate : 0;
    AddTransfer(terms,
                further * constants.treeBandwidthFactor * std::max(intraChunk, interChunk),
                interChunk > intraChunk);
    terms.synchronisation = further * constants.treeChunkUs;
    return terms;
}

CostTerms TreeTerms(const MachineProfile& profile, const GroupShape& shape, const CostQuery& query)
{
    const ChannelView view = ViewOf(profile, shape, query);
    CostTerms longest;
    for (const TreeChunk& choice :
         NcclTreeChunks(query.how.protocol, shape, query.bytes / view.used))
    {
        const CostTerms terms =
            TreeTermsWith(profile, shape, view, choice.channelBytes, choice.chunkBytes);
        if (terms.GetTotal() > longest.GetTotal())
        {
            longest = terms;
        }
    }
    return longest;
}

/** Broadcast and reduce: a pipelined chain of all ranks. */
CostTerms ChainTerms(const MachineProfile& profile, const GroupShape& shape, const CostQuery& query)
{
    const ChannelView view = ViewOf(profile, shape, query);
    const double channelBytes = query.bytes / view.used;
    const double chunk = NcclSlotBytes(query.how.protocol);
    const double first = std::min(chunk, channelBytes);
    const double inside = std::min(first, view.grain);
    const double between = shape.hosts - 1.0;
    CostTerms terms;
    terms.setup = SetupOf(profile.constants, view.used);
    terms.intra = (shape.ranks - 1.0 - between) * (view.intraStep + inside / view.intraRate);
    terms.inter = between * (view.interStep + first / view.interRate);
    const bool slowInside =
        shape.hosts <= 1 || (shape.localRanks > 1 && view.intraRate <= view.interRate);
    const double rate = slowInside ? view.intraRate : view.interRate;
    AddTransfer(terms, (channelBytes - first) / rate, !slowInside);
    return terms;
}

CostTerms PairwiseTerms(const MachineProfile& profile,
                        const GroupShape& shape,
                        const CostQuery& query)
{
    const MachineConstants& constants = profile.constants;
    const ProtocolConstants& protocol = constants.protocols[ProtocolIndex(query.how.protocol)];
    const bool pair = query.kind == Kind::SEND_RECV;
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
    const double intraPart = pair ? constants.pairIntraEfficiency : constants.pairwiseEfficiency;
    const double interPart = pair ? constants.pairInterEfficiency : constants.pairwiseEfficiency;
    const double intraTime =
        intraBytes / (1000 * intraPart * constants.gpuGBps * protocol.intraEfficiency);
    const double interTime =
        interBytes / (1000 * interPart * constants.nicGBps * nics * protocol.interEfficiency);
    CostTerms terms;
    const double channels = std::clamp(
        query.bytes / NcclBytesPerChannel(query.how.algorithm, query.how.protocol, shape.ranks),
        1.0,
        static_cast<double>(NcclChannels(profile.nccl, shape)));
    terms.setup = SetupOf(constants, channels);
    terms.synchronisation = pair ? 0 : (shape.ranks - 2.0) * constants.peerUs;
    AddTransfer(terms, between ? protocol.interStepUs : protocol.intraStepUs, between);
    AddTransfer(terms, std::max(intraTime, interTime), interTime > intraTime);
    return terms;
}

/** @return @p terms, or those of a reduction in the switch if that is quicker */
CostTerms WithSwitchReduction(const MachineProfile& profile,
                              const GroupShape& shape,
                              const CostQuery& query,
                              const CostTerms& terms)
{
    const MachineConstants& constants = profile.constants;
    if (constants.nvlsGBps <= 0 || shape.hosts > 1 || shape.ranks < 3)
    {
        return terms;
    }
    CostTerms reduced;
    reduced.setup = terms.setup;
    reduced.synchronisation = constants.nvlsUs;
    reduced.intra = query.bytes * (shape.ranks + 1.0) / shape.ranks / (1000 * constants.nvlsGBps);
    return reduced.GetTotal() < terms.GetTotal() ? reduced : terms;
}

double ReducedBytes(const GroupShape& shape, const CostQuery& query)
{
    switch (query.kind)
    {
    case Kind::ALL_REDUCE:
    case Kind::REDUCE_SCATTER:
        return query.bytes * (shape.ranks - 1.0) / shape.ranks;
    case Kind::REDUCE:
        return query.bytes;
    default:
        return 0;
    }
}

CostTerms TermsOf(const MachineProfile& profile, const GroupShape& shape, const CostQuery& query)
{
    switch (query.kind)
    {
    case Kind::ALL_REDUCE:
        return WithSwitchReduction(profile,
                                   shape,
                                   query,
                                   query.how.algorithm == CollectiveAlgorithmKind::TREE
                                       ? TreeTerms(profile, shape, query)
                                       : RingTerms(profile, shape, query));
    case Kind::ALL_GATHER:
    case Kind::REDUCE_SCATTER:
        return RingTerms(profile, shape, query);
    case Kind::BROADCAST:
    case Kind::REDUCE:
        return ChainTerms(profile, shape, query);
    case Kind::ALL_TO_ALL:
    case Kind::ALL_TO_ALL_V:
    case Kind::SEND_RECV:
        return PairwiseTerms(profile, shape, query);
    case Kind::BARRIER:
        break;
    }
    CostQuery least = query;
    least.kind = Kind::ALL_REDUCE;
    least.bytes = BARRIER_BYTES;
    least.how.protocol = CollectiveProtocol::LL;
    return TermsOf(profile, shape, least);
}

} // namespace

CostTerms EvaluateWhiteBox(const MachineProfile& profile,
                           const GroupShape& shape,
                           const CostQuery& query)
{
    CostTerms terms;
    if (shape.ranks > 1)
    {
        terms = TermsOf(profile, shape, query);
        terms.reduction +=
            profile.constants.reductionUsPerMiB * ReducedBytes(shape, query) / MEBIBYTE;
    }
    const double issue = profile.constants.hostIssueUs * (query.oneThread ? shape.ranks : 1);
    terms.setup += std::max(0.0, issue - terms.GetTotal());
    return terms;
}

} // namespace echo
} // namespace ns3
