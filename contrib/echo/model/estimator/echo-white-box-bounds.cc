// SPDX-License-Identifier: GPL-2.0-only
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

/** Bytes that a GPU sends inside its host, and all NICs of a host, in one direction. */
struct Bytes
{
    double intra{0};
    double inter{0};
};

/**
 * Trees: a GPU within a chain sends a byte to both sides. Of a double binary tree each half of the
 * bytes has its own, in which a host sends to its parent and to each child: of two hosts each sends
 * a byte once, of three 3/2 times, and of more one that is inside one tree, with two children, and
 * a leaf of the other, 3/2 + 1/2 times.
 */
Bytes TreeBytes(const GroupShape& shape, double bytes)
{
    return {(shape.localRanks > 2 ? 2 : shape.localRanks - 1.0) * bytes,
            std::min(shape.hosts / 2.0, 2.0) * (shape.hosts > 1 ? bytes : 0)};
}

Bytes RingBytes(const GroupShape& shape, const CostQuery& query)
{
    const double ranks = shape.ranks;
    const double times = query.kind == Kind::ALL_REDUCE ? 2 : 1;
    const double sent = times * (ranks - 1) / ranks * query.bytes;
    return {shape.localRanks > 1 ? sent : 0, shape.hosts > 1 ? sent : 0};
}

Bytes BytesOf(const GroupShape& shape, const CostQuery& query)
{
    const double local = shape.localRanks;
    switch (query.kind)
    {
    case Kind::ALL_REDUCE:
    case Kind::ALL_GATHER:
    case Kind::REDUCE_SCATTER:
        break;
    case Kind::BROADCAST:
    case Kind::REDUCE:
        return {local > 1 ? query.bytes : 0, shape.hosts > 1 ? query.bytes : 0};
    case Kind::ALL_TO_ALL:
        return {query.bytes * (local - 1) / shape.ranks,
                local * query.bytes * (shape.ranks - local) / shape.ranks};
    case Kind::ALL_TO_ALL_V:
        return {std::max(query.intraBytes, 0.0), std::max(query.interBytes, 0.0)};
    case Kind::SEND_RECV:
        return {query.betweenHosts ? 0 : query.bytes, query.betweenHosts ? query.bytes : 0};
    case Kind::BARRIER:
        return {};
    }
    switch (query.how.algorithm)
    {
    case CollectiveAlgorithmKind::TREE:
        return TreeBytes(shape, query.bytes);
    case CollectiveAlgorithmKind::NVLS:
    case CollectiveAlgorithmKind::NVLS_TREE:
        // A link carries all of the sums and, of one that reduces, its share.
        return {query.bytes * (1 + 1 / NcclSwitchHeads(shape)),
                TreeBytes(shape, query.bytes).inter};
    default:
        return RingBytes(shape, query);
    }
}

/**
 * @return NICs of a host over which the busiest one's load is spread evenly. A channel of rings,
 *         chains and trees leaves by one; NVLink SHARP's sums leave by those of all GPUs, messages
 *         by their senders'.
 */
double NicsInUse(const MachineProfile& profile, const GroupShape& shape, const CostQuery& query)
{
    const double nics = std::max(shape.nics, 1u);
    switch (query.how.algorithm)
    {
    case CollectiveAlgorithmKind::RING:
    case CollectiveAlgorithmKind::TREE:
        break;
    default:
        return nics;
    }
    const ChannelUse channels = ChannelUseOf(profile, shape, query);
    if (channels.used <= nics)
    {
        return channels.used;
    }
    return channels.used < channels.maximum ? nics
                                            : channels.used / std::ceil(channels.used / nics);
}

double SlowerOf(double profileGBps, double clusterGBps)
{
    return profileGBps > 0 ? std::min(profileGBps, clusterGBps) : clusterGBps;
}

} // namespace

Duty LeastTransfer(const MachineProfile& profile, const GroupShape& shape, const CostQuery& query)
{
    const Bytes bytes = BytesOf(shape, query);
    const double nics = query.kind == Kind::SEND_RECV ? 1 : NicsInUse(profile, shape, query);
    // Infinite where unknown.
    const double gpu = SlowerOf(profile.linkGpuGBps, query.links.gpuGBps);
    const double nic = SlowerOf(profile.linkNicGBps, query.links.nicGBps) * nics;
    return {bytes.intra / (1000 * gpu), bytes.inter / (1000 * nic)};
}

} // namespace echo
} // namespace ns3
