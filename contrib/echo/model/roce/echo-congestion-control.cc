// SPDX-License-Identifier: GPL-2.0-only
#include "echo-congestion-control.h"

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(CongestionControl);

TypeId CongestionControl::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::CongestionControl").SetParent<Object>().SetGroupName("Echo");
    return tid;
}

void CongestionControl::OnNotice(RateState&, int64_t) const
{
}

void CongestionControl::OnSend(RateState&, uint32_t, int64_t) const
{
}

} // namespace echo
} // namespace ns3
