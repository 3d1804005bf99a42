// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_FIXED_RATE_H
#define ECHO_FIXED_RATE_H

#include "echo-congestion-control.h"

#include "ns3/data-rate.h"

namespace ns3
{
namespace echo
{

/** No congestion control: each queue pair sends at the line rate, or at a fixed lower one. */
class FixedRate : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    std::string GetName() const override;
    std::unique_ptr<RateState> MakeState(double lineRate) const override;

  private:
    DataRate m_rate; //!< attribute Rate
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_FIXED_RATE_H */
