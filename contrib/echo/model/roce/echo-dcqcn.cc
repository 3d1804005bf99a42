// SPDX-License-Identifier: GPL-2.0-only
#include "echo-dcqcn.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoDcqcn");
NS_OBJECT_ENSURE_REGISTERED(Dcqcn);

namespace
{

constexpr double BYTE_PS = 8e12;           //!< ps of a byte at 1 b/s
constexpr double NEARLY = 1 - 1.0 / 1024;  //!< this share of the line rate counts as all of it
constexpr double NEGLIGIBLE_ALPHA = 1e-12; //!< no rate changes by it

} // namespace

TypeId Dcqcn::GetTypeId()
{
    // Times are whole nanoseconds here: this runs before ns-3 counts in picoseconds.
    static TypeId tid =
        TypeId("ns3::echo::Dcqcn")
            .SetParent<CongestionControl>()
            .SetGroupName("Echo")
            .AddConstructor<Dcqcn>()
            .AddAttribute("G",
                          "Gain g of alpha.",
                          DoubleValue(1.0 / 256),
                          MakeDoubleAccessor(&Dcqcn::m_g),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("F",
                          "Steps of fast recovery.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&Dcqcn::m_f),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("K",
                          "Time without a CNP after which alpha decays.",
                          TimeValue(MicroSeconds(1)),
                          MakeTimeAccessor(&Dcqcn::m_k),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("T",
                          "Rate timer: a step of increase each.",
                          TimeValue(MicroSeconds(300)),
                          MakeTimeAccessor(&Dcqcn::m_t),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("B",
                          "Byte counter: a step of increase each time so many bytes were sent. 0: "
                          "none.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&Dcqcn::m_b),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("N",
                          "Least time between two CNPs of a queue pair.",
                          TimeValue(MicroSeconds(4)),
                          MakeTimeAccessor(&Dcqcn::m_n),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("CutInterval",
                          "Least time between two cuts of a queue pair; CNPs between count for "
                          "alpha only.",
                          TimeValue(MicroSeconds(4)),
                          MakeTimeAccessor(&Dcqcn::m_cutInterval),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("LargestCut",
                          "No cut takes more than this share of the rate (1 - rpg_min_dec_fac of "
                          "ConnectX NICs).",
                          DoubleValue(0.5),
                          MakeDoubleAccessor(&Dcqcn::m_largestCut),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("ClampTargetRate",
                          "Each cut sets R_T to R_C. False: only one after the rate timer has run.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&Dcqcn::m_clamp),
                          MakeBooleanChecker())
            .AddAttribute("Rai",
                          "R_AI, step of additive increase.",
                          DataRateValue(DataRate("50Mb/s")),
                          MakeDataRateAccessor(&Dcqcn::m_rai),
                          MakeDataRateChecker())
            .AddAttribute("Rhai",
                          "R_HAI, step of hyper increase.",
                          DataRateValue(DataRate("100Mb/s")),
                          MakeDataRateAccessor(&Dcqcn::m_rhai),
                          MakeDataRateChecker())
            .AddAttribute("MinRate",
                          "No cut goes below this.",
                          DataRateValue(DataRate("100Mb/s")),
                          MakeDataRateAccessor(&Dcqcn::m_minRate),
                          MakeDataRateChecker())
            .AddAttribute("InitialAlpha",
                          "Alpha before the first CNP.",
                          DoubleValue(1),
                          MakeDoubleAccessor(&Dcqcn::m_initialAlpha),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("ReferenceRate",
                          "Rai and Rhai are for links of this rate and grow in proportion to the "
                          "line rate. 0: they do not.",
                          DataRateValue(DataRate("100Gb/s")),
                          MakeDataRateAccessor(&Dcqcn::m_referenceRate),
                          MakeDataRateChecker())
            .AddAttribute("WindowBdps",
                          "Window of a queue pair at line rate, as a multiple of what the line "
                          "carries in the round-trip time of its idle path; smaller in proportion "
                          "to the rate. 0: none.",
                          DoubleValue(1),
                          MakeDoubleAccessor(&Dcqcn::m_windowBdps),
                          MakeDoubleChecker<double>(0));
    return tid;
}

std::string Dcqcn::GetName() const
{
    return "dcqcn";
}

std::unique_ptr<RateState> Dcqcn::MakeState(const PathProperties& path) const
{
    auto state = std::make_unique<DcqcnState>();
    state->lineRate = path.lineRate;
    state->rate = path.lineRate;
    state->targetRate = path.lineRate;
    state->alpha = m_initialAlpha;
    state->fullWindow = m_windowBdps * path.lineRate * static_cast<double>(path.baseRtt) / BYTE_PS;
    state->windowBytes = state->fullWindow;
    return state;
}

bool Dcqcn::UsesNotices() const
{
    return true;
}

int64_t Dcqcn::GetNoticeInterval() const
{
    return m_n.GetPicoSeconds();
}

double Dcqcn::GetScale(const RateState& state) const
{
    const double reference = static_cast<double>(m_referenceRate.GetBitRate());
    return reference > 0 ? state.lineRate / reference : 1;
}

void Dcqcn::DecayAlpha(DcqcnState& state, int64_t now) const
{
    const int64_t k = m_k.GetPicoSeconds();
    for (; state.alphaSince + k <= now && state.alpha > 0; state.alphaSince += k)
    {
        state.alpha *= 1 - m_g;
        if (state.alpha < NEGLIGIBLE_ALPHA)
        {
            state.alpha = 0;
        }
    }
}

void Dcqcn::OnNotice(RateState& rate, int64_t now) const
{
    DcqcnState& state = static_cast<DcqcnState&>(rate);
    if (state.alphaSince >= 0)
    {
        DecayAlpha(state, now);
    }
    if (state.limited)
    {
        RunTimer(state, now);
    }
    const double alpha = state.alpha;
    state.alpha = (1 - m_g) * state.alpha + m_g;
    state.alphaSince = now;
    if (now - state.cutSince < m_cutInterval.GetPicoSeconds())
    {
        return;
    }
    if (m_clamp || state.timerStage > 0)
    {
        state.targetRate = state.rate;
    }
    const double least = std::min(static_cast<double>(m_minRate.GetBitRate()), state.lineRate);
    state.rate = std::max(state.rate * (1 - std::min(alpha / 2, m_largestCut)), least);
    state.cutSince = now;
    state.timerSince = now;
    state.bytesSince = 0;
    state.timerStage = 0;
    state.byteStage = 0;
    state.limited = state.rate < state.lineRate;
    state.windowBytes = state.fullWindow * (state.rate / state.lineRate);
    NS_LOG_LOGIC("CNP: rate " << state.rate << " b/s, alpha " << state.alpha);
}

void Dcqcn::OnSend(RateState& rate, uint32_t wireBytes, int64_t now) const
{
    DcqcnState& state = static_cast<DcqcnState&>(rate);
    RunTimer(state, now);
    if (m_b == 0)
    {
        return;
    }
    state.bytesSince += wireBytes;
    while (state.limited && state.bytesSince >= m_b)
    {
        state.bytesSince -= m_b;
        Increase(state);
        ++state.byteStage;
    }
}

int64_t Dcqcn::GetGap(const RateState& rate, uint32_t wireBytes, int64_t now) const
{
    // The rate timer may run meanwhile: a slow sender need not wait at a rate it has no more.
    DcqcnState state = static_cast<const DcqcnState&>(rate);
    double left = wireBytes;
    int64_t time = now;
    while (state.limited)
    {
        const int64_t next = state.timerSince + m_t.GetPicoSeconds();
        const double sent = static_cast<double>(next - time) * state.rate / BYTE_PS;
        if (sent >= left)
        {
            break;
        }
        left -= std::max(sent, 0.0);
        time = std::max(time, next);
        RunTimer(state, next);
    }
    return time - now + static_cast<int64_t>(std::ceil(left * BYTE_PS / state.rate));
}

void Dcqcn::RunTimer(DcqcnState& state, int64_t now) const
{
    const int64_t t = m_t.GetPicoSeconds();
    while (state.limited && state.timerSince + t <= now)
    {
        state.timerSince += t;
        Increase(state);
        ++state.timerStage;
    }
}

void Dcqcn::Increase(DcqcnState& state) const
{
    const bool counts = m_b > 0;
    const uint32_t least = counts ? std::min(state.timerStage, state.byteStage) : state.timerStage;
    if (least > m_f)
    {
        const uint32_t steps = counts ? least - m_f : 1;
        state.targetRate += steps * static_cast<double>(m_rhai.GetBitRate()) * GetScale(state);
    }
    else if (std::max(state.timerStage, state.byteStage) >= m_f)
    {
        state.targetRate += static_cast<double>(m_rai.GetBitRate()) * GetScale(state);
    }
    state.targetRate = std::min(state.targetRate, state.lineRate);
    state.rate = (state.targetRate + state.rate) / 2;
    if (state.rate >= NEARLY * state.lineRate)
    {
        state.rate = state.lineRate;
        state.limited = false;
    }
    state.windowBytes = state.fullWindow * (state.rate / state.lineRate);
}

} // namespace echo
} // namespace ns3
