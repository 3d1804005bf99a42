// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_COST_MODEL_H
#define ECHO_COST_MODEL_H

#include "ns3/echo-collective-algorithm.h"
#include "ns3/nstime.h"
#include "ns3/object.h"

#include <cstdint>
#include <string>

namespace ns3
{
namespace echo
{

/** The terms of an estimate (Echo paper, section 5, equation 1); they add up to the total. */
struct CostBreakdown
{
    Time setup;             //!< launch and connection set-up
    Time intra;             //!< transfer inside hosts
    Time inter;             //!< transfer between hosts
    Time reduction;         //!< reducing
    Time synchronisation;   //!< per-step flags, fences, rounds
    uint64_t chunkBytes{0}; //!< what a channel moves in one step; 0: unknown
    double rounds{0};       //!< steps that follow each other in a channel; 0: unknown
    bool extrapolated{false};
    std::string reason; //!< why extrapolated ("64 ranks, calibrated for 8 to 32"), else empty

    Time GetTotal() const
    {
        return setup + intra + inter + reduction + synchronisation;
    }
};

/**
 * Closed-form cost of one collective, from the moment its last member has joined. Stateless and
 * deterministic; time never falls when bytes grow.
 */
class CostModel : public Object
{
  public:
    static TypeId GetTypeId();
    /** @throws UnsupportedError if the model has no terms for the plan's kind or algorithm */
    virtual CostBreakdown Estimate(const CollectivePlan& plan) const = 0;
    /**
     * @return whether estimates know the links between hosts that the plan uses; if not, they hold
     *         for a fabric that carries all that the NICs send
     */
    virtual bool KnowsFabric() const
    {
        return true;
    }

    /** @return bytes on links between hosts for a byte of payload, as far as estimates count them
     */
    virtual double GetWirePart() const
    {
        return 1;
    }
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_COST_MODEL_H */
