// SPDX-License-Identifier: GPL-2.0-only
#include "echo-nccl-chunks.h"

#include "echo-nccl-tuner.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace echo
{

namespace
{

/** Halve while there are fewer than `count` chunks and the chunk is above `floorBytes`. */
struct Halving
{
    double count;
    double floorBytes;
};

std::vector<Halving> HalvingsOf(CollectiveProtocol protocol, const GroupShape& shape)
{
    const double local = std::max(shape.localRanks, 1u);
    const double levels = FloorLog2(shape.hosts);
    if (protocol == CollectiveProtocol::LL128)
    {
        const double steps = 1 + levels + 0.1 * local;
        // NCCL compares a whole number of chunks with these: fewer than the next whole number.
        return {{std::ceil(steps * 64 / local), 131072}, {std::ceil(steps * 16 / local), 32768}};
    }
    if (protocol == CollectiveProtocol::SIMPLE)
    {
        const double depth = local - 1 + levels;
        return {{8 * depth, 131072}, {4 * depth, 65536}, {depth, 32768}};
    }
    return {};
}

} // namespace

double NcclSlotBytes(CollectiveProtocol protocol)
{
    switch (protocol)
    {
    case CollectiveProtocol::LL:
        return 16384;
    case CollectiveProtocol::LL128:
        return 576000;
    case CollectiveProtocol::SIMPLE:
    case CollectiveProtocol::AUTO:
        break;
    }
    return 524288;
}

double NcclWireFactor(CollectiveProtocol protocol)
{
    switch (protocol)
    {
    case CollectiveProtocol::LL:
        return 2;
    case CollectiveProtocol::LL128:
        return 16.0 / 15;
    case CollectiveProtocol::SIMPLE:
    case CollectiveProtocol::AUTO:
        break;
    }
    return 1;
}

double NcclBytesPerChannel(CollectiveAlgorithmKind algorithm,
                           CollectiveProtocol protocol,
                           uint32_t ranks)
{
    switch (protocol)
    {
    case CollectiveProtocol::LL:
        return 4096.0 * (algorithm == CollectiveAlgorithmKind::RING ? ranks : 1);
    case CollectiveProtocol::LL128:
        return 5120;
    case CollectiveProtocol::SIMPLE:
    case CollectiveProtocol::AUTO:
        break;
    }
    return 32768;
}

double NcclGrainBytes(CollectiveProtocol protocol)
{
    switch (protocol)
    {
    case CollectiveProtocol::LL:
        return 4096;
    case CollectiveProtocol::LL128:
        return 38400;
    case CollectiveProtocol::SIMPLE:
    case CollectiveProtocol::AUTO:
        break;
    }
    return 32768;
}

std::vector<TreeChunk> NcclTreeChunks(CollectiveProtocol protocol,
                                      const GroupShape& shape,
                                      double channelBytes)
{
    // LL128 compares chunks with their flags, 16/15 of the payload.
    const double wire = protocol == CollectiveProtocol::LL128 ? NcclWireFactor(protocol) : 1;
    const std::vector<Halving> halvings = HalvingsOf(protocol, shape);
    // A chunk stays if no halving that looks at it finds too few of it.
    const auto need = [&halvings](double chunk) {
        double most = 0;
        for (const Halving& halving : halvings)
        {
            most = std::max(most, chunk > halving.floorBytes ? halving.count * chunk : 0);
        }
        return most;
    };
    std::vector<TreeChunk> chunks;
    double bound = channelBytes;
    for (double chunk = NcclSlotBytes(protocol) * wire;; chunk /= 2)
    {
        const double least = need(chunk);
        if (channelBytes >= least)
        {
            chunks.push_back({chunk / wire, bound});
        }
        if (least <= 0)
        {
            return chunks;
        }
        bound = std::min(channelBytes, least);
    }
}

double NcclSwitchHeads(const GroupShape& shape)
{
    constexpr uint32_t MOST = 32;
    return std::clamp(shape.localRanks, 1u, MOST);
}

std::vector<TreeChunk> NcclSwitchChunks(const GroupShape& shape, double channelBytes, double bytes)
{
    struct Limit
    {
        double chunk;
        double times; //!< the chunk stays from so many rounds on
    };

    static const std::vector<Limit> ALONE{{131072, 64}, {65536, 8}, {32768, 2}, {16384, 0}};
    static const std::vector<Limit> TREE{{131072, 4}, {65536, 1}, {32768, 0}};
    const std::vector<Limit>& limits = shape.hosts > 1 ? TREE : ALONE;
    const double channels = bytes / std::max(channelBytes, 1.0);
    const double atOnce = channels * NcclSwitchHeads(shape);
    std::vector<TreeChunk> chunks;
    double bound = bytes;
    for (const Limit& limit : limits)
    {
        if (shape.hosts >= 4 && limit.chunk > 65536)
        {
            continue;
        }
        const double least = limit.times * atOnce * limit.chunk;
        if (bytes >= least)
        {
            chunks.push_back({limit.chunk, bound});
        }
        bound = std::min(bytes, least);
    }
    return chunks;
}

StepMessages NcclStepMessages(CollectiveProtocol protocol, double pieceBytes)
{
    const double slot = NcclSlotBytes(protocol);
    double message = slot;
    if (ProtocolIndex(protocol) == 2)
    {
        message = std::clamp(pieceBytes / 2, NcclGrainBytes(protocol), 2 * slot);
    }
    return {std::max(1.0, std::ceil(pieceBytes / message)),
            std::max(std::min(pieceBytes, message), NCCL_LEAST_BYTES)};
}

PairParts NcclPairParts(const NcclEnvironment& environment,
                        const GroupShape& shape,
                        double bytes,
                        bool betweenHosts)
{
    const auto powerOfTwo = [](double value) { return std::exp2(std::ceil(std::log2(value))); };
    const double all = powerOfTwo(std::max(NcclChannels(environment, shape), 1u));
    constexpr double PEERS_AT_ONCE = 8;
    if (betweenHosts)
    {
        const double most = 2;
        const double channels = most * std::ceil(shape.ranks / PEERS_AT_ONCE) > all ? 1 : most;
        return {channels, bytes / channels};
    }
    constexpr double CHUNK = 524288;
    const double most = environment.nvlink ? all : std::min(all, 2.0);
    const double chunk = environment.nvlink ? CHUNK : CHUNK / 4;
    double channels = most;
    while (channels * shape.ranks > all && channels > 1)
    {
        channels /= 2;
    }
    channels = std::min(channels, std::max(1.0, bytes / (chunk / 8)));
    double least = 0;
    while (bytes / channels > 32 * chunk && 2 * channels <= most)
    {
        channels *= 2;
        least = 32 * chunk;
    }
    return {channels, std::max(bytes / channels, least)};
}

} // namespace echo
} // namespace ns3
