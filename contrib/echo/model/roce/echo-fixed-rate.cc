// SPDX-License-Identifier: GPL-2.0-only
#include "echo-fixed-rate.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(FixedRate);
NS_OBJECT_ENSURE_REGISTERED(NoCongestionControl);

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
    return m_rate.GetBitRate() > 0 ? "fixed-rate" : "none";
}

std::unique_ptr<RateState> FixedRate::MakeState(const PathProperties& path) const
{
    auto state = std::make_unique<RateState>();
    const double wanted = static_cast<double>(m_rate.GetBitRate());
    state->lineRate = path.lineRate;
    state->rate = wanted > 0 ? std::min(wanted, path.lineRate) : path.lineRate;
    state->limited = state->rate < path.lineRate;
    return state;
}

TypeId NoCongestionControl::GetTypeId()
{
    // Named as users write it.
    static TypeId tid = TypeId("ns3::echo::None")
                            .SetParent<FixedRate>()
                            .SetGroupName("Echo")
                            .AddConstructor<NoCongestionControl>();
    return tid;
}

} // namespace echo
} // namespace ns3
