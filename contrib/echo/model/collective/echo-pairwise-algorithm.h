// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_PAIRWISE_ALGORITHM_H
#define ECHO_PAIRWISE_ALGORITHM_H

#include "echo-collective-algorithm.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Grouped sends and receives: all-to-all(-v) and send/recv, one message a pair and direction.
 *
 * All-to-all: in round r a rank sends to the one r places on (hosts in layout order) and receives
 * from the one r places back, so no rank is sent to by two at once. A limited number of rounds are
 * in flight at a time: the next round begins when the message of an earlier one has arrived. What a
 * member keeps is not sent; pairs without bytes are skipped on both sides.
 *
 * Rounds take turns with the channels; messages are not cut into pieces, as nothing is passed on.
 */
class PairwiseAlgorithm : public CollectiveAlgorithm
{
  public:
    static TypeId GetTypeId();
    bool Supports(CollectiveKind kind) const override;
    std::vector<Lane> MakeLanes(const CollectivePlan& plan, uint32_t member) const override;
    std::vector<Connection> GetConnections(const CollectivePlan& plan) const override;

  private:
    uint32_t m_rounds{0}; //!< attribute RoundsInFlight
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_PAIRWISE_ALGORITHM_H */
