// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_COMPUTE_MODEL_H
#define ECHO_COMPUTE_MODEL_H

#include "ns3/echo-workload-graph.h"
#include "ns3/nstime.h"
#include "ns3/object.h"

namespace ns3
{
namespace echo
{

/** How long an operator takes on a GPU when nothing else runs on it. */
class ComputeModel : public Object
{
  public:
    static TypeId GetTypeId();
    /** @param op a COMPUTE, COPY or HOST operator */
    virtual Time GetDuration(const Operator& op, RankId rank) const = 0;

    /**
     * @return whether GetDuration is the same for all ranks, so that it is asked once for ranks
     *         that share a program, and equal ranks can be folded
     */
    virtual bool IsSameForAllRanks() const
    {
        return false;
    }
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_COMPUTE_MODEL_H */
