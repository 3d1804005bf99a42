// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_WHITE_BOX_TERMS_H
#define ECHO_WHITE_BOX_TERMS_H

#include "echo-machine-profile.h"
#include "echo-nccl-tuner.h"

#include <cmath>
#include <cstdint>

namespace ns3
{
namespace echo
{

/** The terms of one collective in microseconds; they add up. */
struct CostTerms
{
    double setup{0};
    double intra{0};
    double inter{0};
    double reduction{0};
    double synchronisation{0};

    double GetTotal() const
    {
        return setup + intra + inter + reduction + synchronisation;
    }

    /** Makes the total @p us: set-up stays as it is, unless it alone takes longer. */
    void Stretch(double us);
};

/** Rates of links in one direction, GB/s. */
struct LinkRates
{
    double gpuGBps{INFINITY}; //!< all links of a GPU to others of its host
    double nicGBps{INFINITY}; //!< one NIC to the fabric
};

/** What a collective asks of the formulas. */
struct CostQuery
{
    CollectiveKind kind{CollectiveKind::ALL_REDUCE};
    double bytes{0}; //!< as nccl-tests counts size; all-to-all-v: see intraBytes, interBytes
    AlgorithmProtocol how;
    uint32_t channels{0};     //!< 0: what NCCL gives
    double intraBytes{-1};    //!< all-to-all-v: most that a rank sends or receives inside its host
    double interBytes{-1};    //!< all-to-all-v: most that a host sends to or receives from others
    bool betweenHosts{false}; //!< send/recv: the two are on different hosts
    bool oneThread{false};    //!< one thread issues the kernels of all ranks (of one host)
    bool backToBack{false};   //!< calls follow each other, and none waits for the last one's end
    LinkRates links;          //!< of the cluster; infinite: those of the profile's machine
};

/**
 * The white-box formulas: the terms of the Echo paper (section 5, equation 1) worked out from
 * NCCL's structure. n ranks on M hosts, k of them on one; c bytes a step and channel; C channels in
 * use; a step takes l (intraStepUs, interStepUs); a channel's share of the links is b = e G / C_max
 * inside hosts (gpuGBps) and B = e N nics / C_max between (nicGBps), e the protocol's efficiency; g
 * is the grain (echo-nccl-chunks.h; LL: none, and e G / C instead of e G / C_max, at most
 * llChannelGBps, as its step takes what the threads of a block hold at once). G counts for all GPUs
 * of a host; where they are joined by single links, the rings that fewer of them allow have their
 * part.
 *
 * - All: setup = setupUs + C setupPerChannelUs; the whole is at least hostIssueUs times the GPUs
 *   that one thread issues.
 * - Ring (all-reduce 2(n-1) steps, all-gather and reduce-scatter n-1): c = S / (n C). A piece of
 *   data on its way takes P = sum over its hops of l + min(c, g) / rate; the slowest link takes L =
 *   (steps + ringTail) c / rate. Together (P^q + L^q)^(1/q), q = overlapExponent, or
 *   netOverlapExponent where the slowest link is between hosts: 1 if nothing overlaps, infinite if
 *   the shorter hides behind the longer. Where messages above eagerBytes are served one after the
 *   other, D = steps C messages(c) messageUs / servers beside, by the fourth power.
 *   A message of LL of more than 2 KiB of payload takes copyUs more: at each hop between hosts in
 * P, and in D.
 * - NVLink SHARP (all-reduce): nvlsUs + R nvlsChunkUs + S (3/8 + 2/3 (j + 1) / j) / nvlsGBps, as a
 *   link carries all of the sums and one share, and a GPU copies all into and out of buffers; j =
 *   min(k, 32) GPUs reduce; R = S / (C j chunk) rounds, at least one. Between hosts as a tree:
 *   ceil(log2 M) (2 l + (r + 2 min(r, S - r)) / NICs) beside, r = min(S, a round's bytes), and the
 *   transfer above is (t^q + u^q)^(1/q), u = f (S - r) treeBandwidthFactor / NICs and q =
 *   nvlsOverlapExponent (0: the longer). The first round's halves go up in one tree while they come
 * down in the other; later ones meet full NICs.
 * - PAT (all-gather, reduce-scatter): ceil(log2 n) l + S (n-1)/n over 3/4 of the NICs.
 * - Tree (all-reduce): K = S / (C chunk) chunks go up and down the double binary tree (chains of k
 *   in hosts, log2 M levels between): 2 ((k-1)(l + min(chunk, g)/b) + ceil(log2 M)(l + h chunk/B))
 *   for the first (Simple: all of a chunk in g's place, as its slices are chunks), and for each
 *   further one s treeChunkUs + treeBandwidthFactor max(2 chunk/b, f chunk/B), as a chain loads its
 *   links in both directions, and a host sends each byte f = 2 times (two hosts: once). s = f with
 *   Simple, each of whose messages is flushed before the GPU reads it, else 1. h grows from 1 (one
 *   chunk) to f treeBandwidthFactor, at least 1, as chunks fill the 2 ceil(log2 M) hops and meet.
 *   With treeBurstBytes W and Simple between hosts, the chunks on their way to a host arrive
 *   together: w = min(S / C, max(W, chunk)) takes 2 w/b + 2 ceil(log2 M)(l + w/B) in their place,
 *   and what is beyond treeBandwidthFactor max(2/b, f/B) a byte and f treeChunkUs a chunk.
 *   Copies of LL take 2 ceil(log2 M) max(1, m / 2) copyUs, m the channels of a NIC, of which half
 *   are of the tree that a host is inside of; each further chunk f m copyUs.
 * - A message of LL between hosts is written to the host's memory, sent, received and read, one
 *   after the other: a hop takes all four (l + message/B), while a channel moves four messages at
 *   once (4 B in the place of B where transfers follow each other).
 * - Broadcast, reduce: one chain of n-1 hops: hops as in the ring (between hosts of chunks) plus
 * what is in no hop of a channel's bytes / slowest rate; of two hosts, B simplexGain, as none both
 * sends and receives. Of calls back to back only the channel's bytes / slowest rate: a rank is done
 * when its data is in the buffers of the next one, and begins the next call while they are under
 * way.
 * - All-to-all: l of the farthest peer + peerUs for each further one of another host + the larger
 * of the bytes inside and between hosts over pairwiseEfficiency times G and N nics, beside the
 *   serving of a rank's messages; where all messages are served, after messageUs for each peer of
 *   another host, twice above 16 KiB a peer. Send/recv: l +
 * the longer of bytes over pairwiseEfficiency times G or N and what one of the pair's channels
 * moves over pairChannelGBps or netChannelGBps.
 * - Barrier: an all-reduce of 8 B.
 * - reduction = reductionUsPerMiB times the bytes that a rank reduces.
 * - All but set-up take at least the bytes over the links' own rates (LeastTransfer): the slower
 *   of the profile's and the cluster's.
 *
 * The time never falls when bytes grow: where a larger chunk of the tree would shorten it, the time
 * of fewer bytes with the smaller chunk holds.
 *
 * The paper's equations 2 to 5 as printed lack units and a term; this is not them but what they
 * stand for: rounds become chunks and loops computed by NCCL's rules, and the parameters are a
 * handful of constants of the machine instead of a table by chunk size.
 */
CostTerms EvaluateWhiteBox(const MachineProfile& profile,
                           const GroupShape& shape,
                           const CostQuery& query);

} // namespace echo
} // namespace ns3

#endif /* ECHO_WHITE_BOX_TERMS_H */
