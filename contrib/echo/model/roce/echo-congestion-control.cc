// SPDX-License-Identifier: GPL-2.0-only
#include "echo-congestion-control.h"

#include <cmath>

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(CongestionControl);

namespace
{

constexpr double BYTE_PS = 8e12; //!< ps of a byte at 1 b/s

} // namespace

TypeId CongestionControl::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::CongestionControl").SetParent<Object>().SetGroupName("Echo");
    return tid;
}

bool CongestionControl::UsesNotices() const
{
    return false;
}

int64_t CongestionControl::GetNoticeInterval() const
{
    return 0;
}

bool CongestionControl::UsesAcknowledgements() const
{
    return false;
}

bool CongestionControl::UsesRtt() const
{
    return false;
}

bool CongestionControl::UsesTelemetry() const
{
    return false;
}

uint32_t CongestionControl::GetTelemetryBytes(uint32_t) const
{
    return 0;
}

void CongestionControl::OnNotice(RateState&, int64_t) const
{
}

void CongestionControl::OnAcknowledgement(RateState&, const Acknowledgement&) const
{
}

void CongestionControl::OnLoss(RateState&, bool, int64_t) const
{
}

void CongestionControl::OnSend(RateState&, uint32_t, int64_t) const
{
}

int64_t CongestionControl::GetGap(const RateState& state, uint32_t wireBytes, int64_t) const
{
    return static_cast<int64_t>(std::ceil(wireBytes * BYTE_PS / state.rate));
}

} // namespace echo
} // namespace ns3
