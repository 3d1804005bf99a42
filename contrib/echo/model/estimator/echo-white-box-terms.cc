// SPDX-License-Identifier: GPL-2.0-only
#include "echo-white-box-terms.h"

#include "echo-nccl-chunks.h"
#include "echo-white-box-view.h"

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

/** LL moves single lines: the shorter of latency and transfer hides almost wholly. */
constexpr double LL_EXPONENT = 4;
constexpr double LL_STAGES = 4;

} // namespace

void CostTerms::Stretch(double us)
{
    const double rest = GetTotal() - setup;
    if (us < setup || rest <= 0)
    {
        *this = {us, 0, 0, 0, 0};
        return;
    }
    const double part = (us - setup) / rest;
    for (double* term : {&intra, &inter, &reduction, &synchronisation})
    {
        *term *= part;
    }
}

double SetupOf(const MachineConstants& constants, double channels)
{
    return constants.setupUs + channels * constants.setupPerChannelUs;
}

double GpuRateOf(const MachineProfile& profile, const GroupShape& shape)
{
    return profile.constants.gpuGBps * RingShare(profile.nccl, shape.localRanks);
}

ChannelUse ChannelUseOf(const MachineProfile& profile,
                        const GroupShape& shape,
                        const CostQuery& query)
{
    ChannelUse channels;
    channels.offered = NcclChannels(profile.nccl, shape);
    channels.maximum = query.channels > 0 ? query.channels : channels.offered;
    const double perChannel =
        NcclBytesPerChannel(query.how.algorithm, query.how.protocol, shape.ranks);
    channels.used = std::clamp(query.bytes / perChannel, 1.0, channels.maximum);
    return channels;
}

ChannelView ViewOf(const MachineProfile& profile, const GroupShape& shape, const CostQuery& query)
{
    const MachineConstants& constants = profile.constants;
    const uint32_t index = ProtocolIndex(query.how.protocol);
    const ProtocolConstants& protocol = constants.protocols[index];
    ChannelView view{ChannelUseOf(profile, shape, query)};
    view.intraStep = protocol.intraStepUs;
    view.interStep = protocol.interStepUs;
    // Fewer channels than NCCL offers cannot fill the links, more cannot make them faster. GB/s are
    // 1000 bytes a microsecond.
    const double share = 1000 / std::max(view.maximum, view.offered);
    const double gpu = GpuRateOf(profile, shape);
    view.intraRate = share * gpu * protocol.intraEfficiency;
    view.interRate =
        share * constants.nicGBps * std::max(shape.nics, 1u) * protocol.interEfficiency;
    if (query.how.protocol == CollectiveProtocol::LL)
    {
        // A step's latency covers what the threads of a block take at once; the channels in use
        // share the links.
        const double links = 1000 * gpu * protocol.intraEfficiency / view.used;
        view.intraRate = std::min(links, 1000 * constants.llChannelGBps);
    }
    // A message of LL is written, sent, received and read one after the other; each of these takes
    // another message meanwhile.
    view.netStages = query.how.protocol == CollectiveProtocol::LL ? LL_STAGES : 1;
    view.grain =
        query.how.protocol == CollectiveProtocol::LL ? 0 : NcclGrainBytes(query.how.protocol);
    view.exponent =
        query.how.protocol == CollectiveProtocol::LL ? LL_EXPONENT : constants.overlapExponent;
    return view;
}

double ServedTogether(const GroupShape& shape, const ChannelView& view)
{
    const double servers = shape.nics >= shape.localRanks ? shape.nics : 1;
    return std::max(1.0, std::max(1.0, std::floor(view.used)) / servers);
}

namespace
{

/**
 * @return time that a host's processor serves the messages of a ring's step, us; nothing for
 *         messages that need neither serving nor copying
 *
 * Processes serve side by side where each GPU has a NIC, as each channel then leaves by the GPU of
 * its NIC. Where GPUs share NICs, one and the same GPU is next to them: channels of Polaris take
 * one after the other, with one, two and four channels alike. A message is of a whole channel:
 * NCCL opens the next one when there is enough for it (src/enqueue.cc).
 */
double ServiceOf(const MachineProfile& profile,
                 const GroupShape& shape,
                 const CostQuery& query,
                 const ChannelView& view,
                 double piece)
{
    const double channels = std::max(1.0, std::floor(view.used));
    const StepMessages messages =
        NcclStepMessages(query.how.protocol, piece * view.used / channels);
    const bool isServed = profile.nccl.eagerBytes > 0 && messages.bytes > profile.nccl.eagerBytes;
    const double one = (isServed ? profile.constants.messageUs : 0) +
                       CopyOf(profile.constants, query.how.protocol, messages.bytes);
    return one * messages.count * ServedTogether(shape, view);
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
    const bool ll = query.how.protocol == CollectiveProtocol::LL;
    const double interGrain = ll ? std::min(piece, NcclSlotBytes(query.how.protocol)) : grain;
    const double copy = CopyOf(constants, query.how.protocol, piece);
    const double interPath = between * (view.interStep + copy + interGrain / view.interRate);
    const double interRate = view.interRate * view.netStages;
    const double path = intraPath + interPath;
    const bool slowBetween = between > 0 && interRate < view.intraRate;
    const bool slowInside = steps > between && !slowBetween;
    const double rate = slowInside ? view.intraRate : interRate;
    const double load = (steps + constants.ringTail) * piece / rate;
    const bool ofNet = !slowInside && constants.netOverlapExponent > 0 &&
                       query.how.protocol != CollectiveProtocol::LL;
    const double exponent = ofNet ? std::max(1.0, constants.netOverlapExponent) : view.exponent;
    const double served = between > 0 ? steps * ServiceOf(profile, shape, query, view, piece) : 0;
    const double total = Overlap(Overlap(path, load, exponent), served, SIDE_BY_SIDE);
    CostTerms terms;
    terms.setup = SetupOf(constants, view.used);
    AddTransfer(terms, steps * piece / rate, !slowInside);
    // What the steps add to the transfer is split as their latencies and messages are; the tail
    // synchronises.
    terms.synchronisation = constants.ringTail * piece / rate;
    const double exposed = std::max(0.0, total - load);
    if (path + served > 0)
    {
        terms.intra += exposed * intraPath / (path + served);
        terms.inter += exposed * (interPath + served) / (path + served);
    }
    return terms;
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
    case Kind::ALL_GATHER:
    case Kind::REDUCE_SCATTER:
        switch (query.how.algorithm)
        {
        case CollectiveAlgorithmKind::TREE:
            return TreeTerms(profile, shape, query);
        case CollectiveAlgorithmKind::NVLS:
        case CollectiveAlgorithmKind::NVLS_TREE:
            return SwitchTerms(profile, shape, query);
        case CollectiveAlgorithmKind::PAT:
            return PatTerms(profile, shape, query);
        default:
            return RingTerms(profile, shape, query);
        }
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
        const Duty least = LeastTransfer(profile, shape, query);
        const double longest = std::max(least.intra, least.inter);
        const double lacking = longest - (terms.GetTotal() - terms.setup);
        AddTransfer(terms, std::max(0.0, lacking), least.inter >= least.intra);
        terms.reduction +=
            profile.constants.reductionUsPerMiB * ReducedBytes(shape, query) / MEBIBYTE;
    }
    const double issue = profile.constants.hostIssueUs * (query.oneThread ? shape.ranks : 1);
    terms.setup += std::max(0.0, issue - terms.GetTotal());
    return terms;
}

} // namespace echo
} // namespace ns3
