// SPDX-License-Identifier: GPL-2.0-only
#include "echo-nccl-chunks.h"
#include "echo-white-box-view.h"

#include "ns3/echo-error.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace ns3
{
namespace echo
{

namespace
{

/** @return levels of the tree between hosts */
double LevelsOf(const GroupShape& shape)
{
    return shape.hosts > 1 ? std::ceil(std::log2(shape.hosts)) : 0;
}

/** @return times that a host sends each byte of a tree's channel */
double LoadsOf(const GroupShape& shape)
{
    return shape.hosts == 2 ? 1 : 2;
}

/**
 * Adds what a tree takes beside set-up and its first chunk's hops inside a host where the chunks
 * that are on their way to a host share the NIC and arrive together: up to treeBurstBytes of a
 * channel wait for each other at every level, up and down; what is beyond follows as fast as the
 * busiest link takes it.
 */
void AddBursts(const MachineConstants& constants,
               const GroupShape& shape,
               const ChannelView& view,
               double channelBytes,
               double chunk,
               CostTerms& terms)
{
    const double burst = std::min(channelBytes, std::max(chunk, constants.treeBurstBytes));
    const double rest = channelBytes - burst;
    // A GPU sends to both of its neighbours in the chain.
    const double passes = shape.localRanks > 1 ? 2 / view.intraRate : 0;
    const double loads = LoadsOf(shape);
    terms.intra += burst * passes;
    terms.inter += 2 * LevelsOf(shape) * (view.interStep + burst / view.interRate);
    const double intra = rest * passes;
    const double inter = loads * rest / view.interRate;
    AddTransfer(terms, constants.treeBandwidthFactor * std::max(intra, inter), inter > intra);
    terms.synchronisation = rest / chunk * loads * constants.treeChunkUs;
}

/** The tree with one chunk size, for @p bytes of at most the query's. */
CostTerms TreeTermsWith(const MachineProfile& profile,
                        const GroupShape& shape,
                        const CostQuery& query,
                        const ChannelView& view,
                        double channelBytes,
                        double chunk)
{
    const MachineConstants& constants = profile.constants;
    const double first = std::min(chunk, channelBytes);
    const double further = std::max(0.0, channelBytes / chunk - 1);
    const double levels = LevelsOf(shape);
    const double loads = LoadsOf(shape);
    // With Simple the trees have one slice a chunk: a chunk is passed on when all of it is there.
    const double grain = ProtocolIndex(query.how.protocol) == 2 ? chunk : view.grain;
    CostTerms terms;
    terms.setup = SetupOf(constants, view.used);
    terms.intra =
        2 * (shape.localRanks - 1.0) * (view.intraStep + std::min(first, grain) / view.intraRate);
    if (constants.treeBurstBytes >= 1 && levels > 0 && ProtocolIndex(query.how.protocol) == 2)
    {
        AddBursts(constants, shape, view, channelBytes, chunk, terms);
        return terms;
    }
    // A chunk has the NICs to itself until later chunks go up while it comes down.
    const double met = levels > 0 ? std::min(1.0, further / (2 * levels)) : 0;
    const double slower = std::max(0.0, loads * constants.treeBandwidthFactor - 1);
    const double hop = (1 + met * slower / view.netStages) * first;
    // A host is inside of one of the two trees, so that half of its channels arrive at once.
    const double copy = levels > 0 ? CopyOf(constants, query.how.protocol, first) : 0;
    const double together = ServedTogether(shape, view);
    const double copies = copy * std::max(1.0, together / 2);
    terms.inter = 2 * levels * (view.interStep + copies + hop / view.interRate);
    const double intraChunk = shape.localRanks > 1 ? 2 * chunk / view.intraRate : 0;
    const double interChunk = levels > 0 ? loads * chunk / (view.interRate * view.netStages) : 0;
    AddTransfer(terms,
                further * constants.treeBandwidthFactor * std::max(intraChunk, interChunk),
                interChunk > intraChunk);
    // A message of Simple is read after a flush through the NIC; LL and LL128 carry flags.
    const double syncs = ProtocolIndex(query.how.protocol) == 2 && levels > 0 ? loads : 1;
    terms.synchronisation = further * (syncs * constants.treeChunkUs + loads * together * copy);
    return terms;
}

/** @return what two transfers take that hide behind each other as far as @p exponent says */
double TogetherWith(double exponent, double one, double other)
{
    const double longer = std::max(one, other);
    if (exponent <= 0 || longer <= 0)
    {
        return longer;
    }
    const double power = std::max(exponent, 1.0);
    return longer * std::pow(1 + std::pow(std::min(one, other) / longer, power), 1 / power);
}

/**
 * What NVLink SHARP takes for its links, in shares of what 8 GPUs take at 9/8 of the bytes, and for
 * copying the bytes into and out of its buffers, which does not depend on how many GPUs there are.
 * At 8 GiB 5 to 8 H200 have 259, 261, 268 and 270 GB/s of the buffer, 6 to 8 B200 467, 473 and 479
 * (github.com/stas00/ml-engineering, network/README.md at 744d01e18b): from link loads alone, 6/5
 * to 9/8, would follow 253 to 270 and 462 to 479.
 */
constexpr double NVLS_LINK_PART = 2.0 / 3.0;
constexpr double NVLS_OWN_LOAD = 9.0 / 8 * (1 - NVLS_LINK_PART);

/** NVLink SHARP with one chunk size, for @p bytes of at most the query's. */
CostTerms SwitchTermsWith(const MachineProfile& profile,
                          const GroupShape& shape,
                          double channels,
                          double bytes,
                          double chunk)
{
    const MachineConstants& constants = profile.constants;
    const double heads = NcclSwitchHeads(shape);
    const double round = channels * heads * chunk; // bytes that all channels and heads move at once
    const double rounds = std::max(1.0, bytes / round);
    // A link carries all of the sums and one share; the rest is each GPU's own.
    const double load = NVLS_OWN_LOAD + NVLS_LINK_PART * (heads + 1) / heads;
    // Fewer channels than NCCL takes for it have as much less of the links' rate.
    const double offered = std::max(profile.nccl.nvlsChannels, 1u);
    const double intra =
        bytes * load / (1000 * constants.nvlsGBps * std::min(1.0, channels / offered));
    CostTerms terms;
    terms.setup = SetupOf(constants, channels);
    terms.synchronisation = constants.nvlsUs + rounds * constants.nvlsChunkUs;
    if (shape.hosts <= 1)
    {
        terms.intra = intra;
        return terms;
    }
    const double levels = LevelsOf(shape);
    const double loads = LoadsOf(shape);
    const double used = std::min(static_cast<double>(std::max(shape.nics, 1u)), heads);
    const double nics = 1000 * constants.nicGBps * used;
    const double first = std::min(bytes, round);
    const double rest = bytes - first;
    const double inter = loads * rest * constants.treeBandwidthFactor / nics;
    terms.inter = levels * (2 * constants.protocols[2].interStepUs +
                            (first + 2 * std::min(first, rest)) / nics);
    AddTransfer(terms, TogetherWith(constants.nvlsOverlapExponent, intra, inter), inter > intra);
    return terms;
}

} // namespace

CostTerms TreeTerms(const MachineProfile& profile, const GroupShape& shape, const CostQuery& query)
{
    const ChannelView view = ViewOf(profile, shape, query);
    CostTerms longest;
    for (const TreeChunk& choice :
         NcclTreeChunks(query.how.protocol, shape, query.bytes / view.used))
    {
        const CostTerms terms =
            TreeTermsWith(profile, shape, query, view, choice.channelBytes, choice.chunkBytes);
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
    ChannelView view = ViewOf(profile, shape, query);
    if (shape.hosts == 2)
    {
        view.interRate *= profile.constants.simplexGain; // no host both receives and sends
    }
    const double channelBytes = query.bytes / view.used;
    const double chunk = NcclSlotBytes(query.how.protocol);
    const double first = std::min(chunk, channelBytes);
    const double inside = std::min(first, view.grain);
    const double between = shape.hosts - 1.0;
    CostTerms terms;
    terms.setup = SetupOf(profile.constants, view.used);
    if (!query.backToBack)
    {
        terms.intra = (shape.ranks - 1.0 - between) * (view.intraStep + inside / view.intraRate);
        terms.inter = between * (view.interStep + first / view.interRate);
    }
    const bool slowInside =
        shape.hosts <= 1 || (shape.localRanks > 1 && view.intraRate <= view.interRate);
    const double rate = slowInside ? view.intraRate : view.interRate;
    // What is not in the hops already: inside a host these are of grains, between hosts of chunks.
    const double inHops = query.backToBack ? 0 : slowInside ? inside : first;
    AddTransfer(terms, (channelBytes - inHops) / rate, !slowInside);
    return terms;
}

CostTerms SwitchTerms(const MachineProfile& profile,
                      const GroupShape& shape,
                      const CostQuery& query)
{
    if (profile.constants.nvlsGBps <= 0)
    {
        throw UnsupportedError(std::string("algorithm '") + ToString(query.how.algorithm) +
                               "': profile " + profile.name + " has no NVLink SHARP");
    }
    const double channels =
        query.channels > 0 ? query.channels : std::max(profile.nccl.nvlsChannels, 1u);
    CostTerms longest;
    for (const TreeChunk& choice : NcclSwitchChunks(shape, query.bytes / channels, query.bytes))
    {
        const CostTerms terms =
            SwitchTermsWith(profile, shape, channels, choice.channelBytes, choice.chunkBytes);
        if (terms.GetTotal() > longest.GetTotal())
        {
            longest = terms;
        }
    }
    return longest;
}

CostTerms PatTerms(const MachineProfile& profile, const GroupShape& shape, const CostQuery& query)
{
    // NCCL takes three quarters of the ring's bandwidth (src/graph/tuning.cc); log2 n rounds.
    constexpr double PART = 0.75;
    const ChannelView view = ViewOf(profile, shape, query);
    const double rounds = std::ceil(std::log2(shape.ranks));
    CostTerms terms;
    terms.setup = SetupOf(profile.constants, view.used);
    terms.synchronisation = rounds * view.interStep;
    terms.inter = query.bytes * (shape.ranks - 1.0) / shape.ranks /
                  (PART * view.interRate * std::max(view.maximum, 1.0));
    return terms;
}

} // namespace echo
} // namespace ns3
