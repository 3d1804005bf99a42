// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_NCCL_CHUNKS_H
#define ECHO_NCCL_CHUNKS_H

#include "echo-machine-profile.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace echo
{

/*
 * How NCCL cuts a buffer: buffers of 4 MiB (Simple), 4800 KiB (LL128) and 256 KiB (LL) a channel
 * and peer in 8 slots (src/init.cc, src/include/device.h); payload of a slot 512 KiB, 576000 B
 * (120 of 128 bytes), 16 KiB (4 of 8 bytes).
 */

/** @return the payload of one slot of a channel, bytes */
double NcclSlotBytes(CollectiveProtocol protocol);
/** @return bytes sent for each byte of payload: LL sends 4 B of flags with 4, LL128 8 with 120 */
double NcclWireFactor(CollectiveProtocol protocol);

/**
 * @return bytes of a buffer that make NCCL use one more channel (src/enqueue.cc: threads of a
 *         block times bytes a thread: 512 x 8 for LL, 640 x 8 for LL128, 512 x 64 for Simple;
 *         a ring with LL counts them for each rank)
 */
double NcclBytesPerChannel(CollectiveAlgorithmKind algorithm,
                           CollectiveProtocol protocol,
                           uint32_t ranks);

/**
 * @return bytes that a receiver takes before it sends on: LL 4 KiB (512 threads, 8 bytes), LL128
 *         38400 B (640 threads, 64 bytes, 15 of 16), Simple 32 KiB (least slice, 1/32 of 1 MiB)
 */
double NcclGrainBytes(CollectiveProtocol protocol);

/**
 * @return chunk sizes that the tree may use with @p channelBytes a channel, largest first: the one
 *         that NCCL's rule gives, then the smaller ones it would give for fewer bytes
 *
 * Each comes with the largest number of bytes a channel for which the rule gives it (the first
 * with @p channelBytes): NCCL halves the chunk while the bytes make fewer chunks than a count that
 * depends on the depth (src/enqueue.cc; LL128: 64 and 16 times (1 + log2 hosts + 0.1 ranks a host)
 * over ranks a host; Simple: 8, 4 and 1 times the depth).
 */
struct TreeChunk
{
    double chunkBytes{0};
    double channelBytes{0};
};

std::vector<TreeChunk> NcclTreeChunks(CollectiveProtocol protocol,
                                      const GroupShape& shape,
                                      double channelBytes);

/**
 * @return GPUs of a host that NVLink SHARP has reduce a part each: all, at most 32
 *         (NCCL_MAX_NVLS_ARITY, src/include/device.h and src/graph/search.cc); between hosts each
 *         uses one NIC
 */
double NcclSwitchHeads(const GroupShape& shape);

/**
 * @return chunk sizes that NVLink SHARP may use, as NcclTreeChunks
 *
 * NVLS starts from 128 KiB and takes 64, 32, 16 KiB while a buffer has less than 64, 8, 2 times
 * what all channels and heads (NcclSwitchHeads) move at once; its tree between hosts starts from
 * 128 KiB (64 KiB from four hosts on) and takes 64 and 32 KiB below 4 and 1 times that
 * (src/enqueue.cc). Here the limits in @c channelBytes are bytes of the whole buffer.
 * @param channelBytes bytes a channel
 * @param bytes of the whole buffer
 */
std::vector<TreeChunk> NcclSwitchChunks(const GroupShape& shape, double channelBytes, double bytes);

/** Payload of the least that a message carries, a line of LL. */
inline constexpr double NCCL_LEAST_BYTES = 8;

/** What a channel of a ring sends in a step. */
struct StepMessages
{
    double count{1};
    double bytes{0}; //!< payload of one
};

/**
 * @return the messages that carry @p pieceBytes of a channel to the next host
 *
 * A slot each with LL and LL128. With Simple a slice each: half of a piece, at least 32 KiB and at
 * most two slots (src/device/primitives.h: 2 slices a chunk of 4 slots, of at least 1/32 of two
 * slots each), so that a piece of 32 KiB is one message and one of 64 KiB two.
 */
StepMessages NcclStepMessages(CollectiveProtocol protocol, double pieceBytes);

/** How a send to one peer is cut. */
struct PairParts
{
    double channels{1};
    /// What a channel moves; no less than for fewer bytes, where those would take fewer channels.
    double partBytes{0};
};

/**
 * @return how a send of @p bytes to one peer is cut (src/enqueue.cc, src/graph/paths.cc)
 *
 * Inside a host with NVLink: as many channels a peer as the collective's, rounded up to a power of
 * two, at least that over the ranks; more, doubling, while a channel's part is above 16 MiB (PCIe:
 * two channels, 4 MiB). Between hosts: two, or one if the peers of a rank, eight at a time, would
 * not fit the channels.
 */
PairParts NcclPairParts(const NcclEnvironment& environment,
                        const GroupShape& shape,
                        double bytes,
                        bool betweenHosts);

} // namespace echo
} // namespace ns3

#endif /* ECHO_NCCL_CHUNKS_H */
