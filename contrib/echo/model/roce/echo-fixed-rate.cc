// SPDX-License-Identifier: GPL-2.0-only
#include "echo-fixed-rate.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(FixedRate);

TypeId FixedRate::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::FixedRate")
                            .SetParent<CongestionControl>()
                            .SetGroupName("Echo")
                            .AddConstructor<FixedRate>()
                            .AddAttribute("Rate",
                                          "Rate of each queue pair, headers included; 0: the rate "
                                          "of its NIC's port.",
                                          DataRateValue(DataRate(0)),
                                          MakeDataRateAccessor(&FixedRate::m_rate),
                                          MakeDataRateChecker());
    return tid;
}

std::string FixedRate::GetName() const
{
    return "none";
}

std::unique_ptr<RateState> FixedRate::MakeState(double lineRate) const
{
    auto state = std::make_unique<RateState>();
    const double wanted = static_cast<double>(m_rate.GetBitRate());
    state->lineRate = lineRate;
    state->rate = wanted > 0 ? std::min(wanted, lineRate) : lineRate;
    state->limited = state->rate < lineRate;
    return state;
}

} // namespace echo
} // namespace ns3
