// SPDX-License-Identifier: GPL-2.0-only
#include "echo-swift.h"

#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(Swift);

namespace
{

constexpr double BYTE_PS = 8e12;  //!< ps of a byte at 1 b/s
constexpr double TARGET_RTTS = 2; //!< BaseTarget 0: idle round-trip times

} // namespace

TypeId Swift::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::Swift")
            .SetParent<CongestionControl>()
            .SetGroupName("Echo")
            .AddConstructor<Swift>()
            .AddAttribute("BaseTarget",
                          "Target delay (round trip) without scaling. 0: twice the idle "
                          "round-trip time of the queue pair's path.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&Swift::m_baseTarget),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("HopTarget",
                          "Addition to the target for each link of the way there, h.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&Swift::m_hopTarget),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("FsRange",
                          "Largest addition to the target by flow scaling, in base targets.",
                          DoubleValue(5),
                          MakeDoubleAccessor(&Swift::m_flowRange),
                          MakeDoubleChecker<double>(0))
            .AddAttribute("FsMinCwnd",
                          "Window in packets below which flow scaling adds its largest.",
                          DoubleValue(0.1),
                          MakeDoubleAccessor(&Swift::m_leastScaled),
                          MakeDoubleChecker<double>(1e-6))
            .AddAttribute("FsMaxCwnd",
                          "Window in packets above which flow scaling adds nothing.",
                          DoubleValue(100),
                          MakeDoubleAccessor(&Swift::m_largestScaled),
                          MakeDoubleChecker<double>(1e-6))
            .AddAttribute("Ai",
                          "Additive increase, packets a round trip.",
                          DoubleValue(1),
                          MakeDoubleAccessor(&Swift::m_ai),
                          MakeDoubleChecker<double>(0))
            .AddAttribute("Beta",
                          "Multiplicative decrease.",
                          DoubleValue(0.8),
                          MakeDoubleAccessor(&Swift::m_beta),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("MaxMdf",
                          "Largest share of the window that a decrease takes.",
                          DoubleValue(0.5),
                          MakeDoubleAccessor(&Swift::m_largestCut),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("MinCwnd",
                          "Smallest window in packets.",
                          DoubleValue(0.001),
                          MakeDoubleAccessor(&Swift::m_leastWindow),
                          MakeDoubleChecker<double>(1e-6))
            .AddAttribute("RetxResetThreshold",
                          "Timeouts in a row that lead to the smallest window.",
                          UintegerValue(5),
                          MakeUintegerAccessor(&Swift::m_timeoutLimit),
                          MakeUintegerChecker<uint32_t>(1));
    return tid;
}

std::string Swift::GetName() const
{
    return "swift";
}

bool Swift::UsesAcknowledgements() const
{
    return true;
}

bool Swift::UsesRtt() const
{
    return true;
}

std::unique_ptr<RateState> Swift::MakeState(const PathProperties& path) const
{
    auto state = std::make_unique<SwiftState>();
    const double bytesPerPs = path.lineRate / BYTE_PS;
    const double baseRtt = static_cast<double>(path.baseRtt);
    state->lineRate = path.lineRate;
    state->packetBytes = path.mtuBytes;
    state->baseTarget = m_baseTarget.IsZero() ? TARGET_RTTS * baseRtt
                                              : static_cast<double>(m_baseTarget.GetPicoSeconds());
    state->baseTarget += path.hops * static_cast<double>(m_hopTarget.GetPicoSeconds());
    state->flowRange = m_flowRange * state->baseTarget;
    state->largestWindow = std::max(1.0, bytesPerPs * state->baseTarget / path.mtuBytes);
    state->rtt = path.baseRtt;
    state->lastDecrease = INT64_MIN / 2;
    SetWindow(*state, bytesPerPs * baseRtt / path.mtuBytes, 0);
    return state;
}

double Swift::GetTarget(const SwiftState& state) const
{
    const double a =
        state.flowRange / (1 / std::sqrt(m_leastScaled) - 1 / std::sqrt(m_largestScaled));
    const double b = -a / std::sqrt(m_largestScaled);
    return state.baseTarget + std::clamp(a / std::sqrt(state.window) + b, 0.0, state.flowRange);
}

void Swift::OnAcknowledgement(RateState& rate, const Acknowledgement& news) const
{
    SwiftState& state = static_cast<SwiftState&>(rate);
    if (news.newPackets == 0)
    {
        return;
    }
    state.timeouts = 0;
    if (news.rtt >= 0)
    {
        state.rtt = news.rtt; // else, of a packet sent again, the last one known
    }
    const double delay = static_cast<double>(state.rtt);
    const double target = GetTarget(state);
    if (delay < target)
    {
        const double packets = static_cast<double>(news.newPackets);
        SetWindow(state, state.window + m_ai * packets / std::max(state.window, 1.0), news.now);
    }
    else if (news.now - state.lastDecrease >= state.rtt)
    {
        const double factor = std::max(1 - m_beta * (delay - target) / delay, 1 - m_largestCut);
        SetWindow(state, state.window * factor, news.now);
    }
}

void Swift::OnLoss(RateState& rate, bool timeout, int64_t now) const
{
    SwiftState& state = static_cast<SwiftState&>(rate);
    state.timeouts += timeout ? 1 : 0;
    if (state.timeouts >= m_timeoutLimit)
    {
        SetWindow(state, m_leastWindow, now);
    }
    else if (now - state.lastDecrease >= state.rtt)
    {
        SetWindow(state, state.window * (1 - m_largestCut), now);
    }
}

int64_t Swift::GetGap(const RateState& state, uint32_t, int64_t) const
{
    return static_cast<const SwiftState&>(state).pacingDelay;
}

void Swift::SetWindow(SwiftState& state, double window, int64_t now) const
{
    const double bounded = std::clamp(window, m_leastWindow, state.largestWindow);
    if (bounded < state.window)
    {
        state.lastDecrease = now;
    }
    state.window = bounded;
    state.limited = bounded < 1;
    state.windowBytes = std::max(bounded, 1.0) * state.packetBytes;
    const double delay = static_cast<double>(state.rtt) / bounded;
    state.pacingDelay = state.limited ? static_cast<int64_t>(std::ceil(delay)) : 0;
    state.rate = state.limited ? state.packetBytes * BYTE_PS / delay : state.lineRate;
}

} // namespace echo
} // namespace ns3
