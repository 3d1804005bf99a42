// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_COLLECTIVE_SPEC_H
#define ECHO_COLLECTIVE_SPEC_H

#include "echo-enums.h"
#include "echo-ids.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * What one member asks of a collective.
 *
 * `bytes` is what nccl-tests calls size: all-reduce, broadcast, reduce: the buffer; all-gather: the
 * gathered output; reduce-scatter: the input before scattering; all-to-all(-v): what one rank
 * sends in total, its own part included; send-recv: the message; barrier: 0.
 */
struct CollectiveSpec
{
    CollectiveKind kind{CollectiveKind::ALL_REDUCE};
    uint64_t bytes{0};
    DataType dataType{DataType::FP32};
    uint32_t root{0}; //!< index in the group (broadcast, reduce)
    /// all-to-all-v only: bytes this member sends to each member, in group order (own part too).
    std::vector<uint64_t> sendBytes;
    /// all-to-all-v only, optional: bytes this member expects from each; checked against senders.
    std::vector<uint64_t> receiveBytes;
    CollectiveAlgorithmKind algorithm{
        CollectiveAlgorithmKind::AUTO};                    //!< AUTO: the selector decides
    CollectiveProtocol protocol{CollectiveProtocol::AUTO}; //!< AUTO: the selector decides
    uint32_t channels{0};                                  //!< 0: the selector decides
};

/** One send or one receive of a (possibly batched) point-to-point operation. */
struct PointToPointElement
{
    bool isSend{true};
    RankId peer;       //!< the other rank
    uint64_t bytes{0}; //!< message size
    int32_t tag{0};    //!< matches sends with receives; NCCL has none: 0
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_COLLECTIVE_SPEC_H */
