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

} // namespace echo
} // namespace ns3

#endif /* ECHO_NCCL_CHUNKS_H */
