// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_SLOWDOWN_MODEL_H
#define ECHO_SLOWDOWN_MODEL_H

#include "ns3/echo-workload-graph.h"
#include "ns3/nstime.h"
#include "ns3/object.h"

namespace ns3
{
namespace echo
{

/**
 * How much slower a kernel runs while a communication transfers on its GPU.
 * @see the paper, section 6
 */
class SlowdownModel : public Object
{
  public:
    static TypeId GetTypeId();

    /**
     * @param graph that holds the operators
     * @param op a COMPUTE operator of it
     * @param alone time of the kernel when nothing else runs
     * @param communication an operator of it that transfers beside the kernel
     * @return factor of at least 1 on the kernel's time while the two run side by side
     */
    virtual double GetFactor(const ExecutionGraph& graph,
                             const Operator& op,
                             Time alone,
                             const Operator& communication) const = 0;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_SLOWDOWN_MODEL_H */
