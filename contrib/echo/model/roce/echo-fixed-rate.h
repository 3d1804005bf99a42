// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_FIXED_RATE_H
#define ECHO_FIXED_RATE_H

#include "echo-congestion-control.h"

#include "ns3/data-rate.h"

namespace ns3
{
namespace echo
{

/** Each queue pair sends at a fixed rate; the line rate if none is given. */
class FixedRate : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    std::string GetName() const override;
    std::unique_ptr<RateState> MakeState(const PathProperties& path) const override;

  private:
    DataRate m_rate; //!< attribute Rate
};

/**
 * No congestion control, TypeId ns3::echo::None: queue pairs send at the line rate until paused (or
 * until PacketNetwork's window is full).
 */
class NoCongestionControl : public FixedRate
{
  public:
    static TypeId GetTypeId();
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_FIXED_RATE_H */
