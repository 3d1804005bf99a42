// SPDX-License-Identifier: GPL-2.0-only
#include "echo-hpcc.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(Hpcc);

namespace
{

constexpr double BYTE_PS = 8e12; //!< ps of a byte at 1 b/s

} // namespace

TypeId Hpcc::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::Hpcc")
            .SetParent<CongestionControl>()
            .SetGroupName("Echo")
            .AddConstructor<Hpcc>()
            .AddAttribute("Eta",
                          "Target utilisation of links, eta.",
                          DoubleValue(0.95),
                          MakeDoubleAccessor(&Hpcc::m_eta),
                          MakeDoubleChecker<double>(0.01, 1))
            .AddAttribute("MaxStage",
                          "Steps of additive increase before a multiplicative one.",
                          UintegerValue(5),
                          MakeUintegerAccessor(&Hpcc::m_maxStage),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("Rai",
                          "W_AI over T, step of additive increase.",
                          DataRateValue(DataRate("50Mb/s")),
                          MakeDataRateAccessor(&Hpcc::m_rai),
                          MakeDataRateChecker())
            .AddAttribute("MinRate",
                          "No queue pair is slower than this.",
                          DataRateValue(DataRate("100Mb/s")),
                          MakeDataRateAccessor(&Hpcc::m_minRate),
                          MakeDataRateChecker())
            .AddAttribute("BaseRtt",
                          "T of all queue pairs. 0: of each, that of its idle path.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&Hpcc::m_baseRtt),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("FastReact",
                          "React to each acknowledgement, not only once a round trip.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&Hpcc::m_fastReact),
                          MakeBooleanChecker())
            .AddAttribute("TimeUnit",
                          "Telemetry counts time in these.",
                          TimeValue(NanoSeconds(1)),
                          MakeTimeAccessor(&Hpcc::m_timeUnit),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("TxBytesUnit",
                          "Telemetry counts bytes sent in units of so many.",
                          UintegerValue(128),
                          MakeUintegerAccessor(&Hpcc::m_txUnit),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("QueueUnit",
                          "Telemetry counts queued bytes in units of so many.",
                          UintegerValue(80),
                          MakeUintegerAccessor(&Hpcc::m_queueUnit),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("TelemetryBytes",
                          "Wire bytes of telemetry in a packet beside those of the links.",
                          UintegerValue(2),
                          MakeUintegerAccessor(&Hpcc::m_fixedBytes),
                          MakeUintegerChecker<uint32_t>(0, 1024))
            .AddAttribute("HopBytes",
                          "Wire bytes of telemetry of one link.",
                          UintegerValue(8),
                          MakeUintegerAccessor(&Hpcc::m_hopBytes),
                          MakeUintegerChecker<uint32_t>(0, 1024))
            .AddAttribute("ReservedHops",
                          "Links that each packet has room for. 0: those of its way.",
                          UintegerValue(5),
                          MakeUintegerAccessor(&Hpcc::m_reservedHops),
                          MakeUintegerChecker<uint32_t>());
    return tid;
}

std::string Hpcc::GetName() const
{
    return "hpcc";
}

bool Hpcc::UsesAcknowledgements() const
{
    return true;
}

bool Hpcc::UsesTelemetry() const
{
    return true;
}

uint32_t Hpcc::GetTelemetryBytes(uint32_t switches) const
{
    return m_fixedBytes + m_hopBytes * (m_reservedHops > 0 ? m_reservedHops : switches);
}

std::unique_ptr<RateState> Hpcc::MakeState(const PathProperties& path) const
{
    auto state = std::make_unique<HpccState>();
    state->lineRate = path.lineRate;
    state->baseRtt =
        static_cast<double>(m_baseRtt.IsZero() ? path.baseRtt : m_baseRtt.GetPicoSeconds());
    SetWindow(*state, path.lineRate * state->baseRtt / BYTE_PS);
    state->referenceWindow = state->windowBytes;
    return state;
}

void Hpcc::OnAcknowledgement(RateState& rate, const Acknowledgement& news) const
{
    HpccState& state = static_cast<HpccState&>(rate);
    const RoceTelemetry links = Round(*news.telemetry);
    if (!state.started || links.hops != state.links.hops)
    {
        // Nothing to compare with: the first, or the way has changed.
        state.started = true;
        state.links = links;
        state.lastUpdate = news.nextSequence;
        return;
    }
    if (links.hops == 0 || links.hop[0].time <= state.links.hop[0].time)
    {
        return; // no switches; an answer to the same packet; one that was overtaken
    }
    const bool update = news.sequence > state.lastUpdate;
    if (!update && !m_fastReact)
    {
        return;
    }
    MeasureUtilisation(state, links);
    SetWindow(state, ComputeWindow(state, update));
    if (update)
    {
        state.referenceWindow = state.windowBytes;
        state.lastUpdate = news.nextSequence;
    }
}

RoceTelemetry Hpcc::Round(const RoceTelemetry& exact) const
{
    const int64_t timeUnit = std::max<int64_t>(1, m_timeUnit.GetPicoSeconds());
    RoceTelemetry links;
    links.hops = exact.hops;
    for (uint32_t i = 0; i < exact.hops; ++i)
    {
        const RoceHopTelemetry& hop = exact.hop[i];
        links.hop[i] = {hop.time - hop.time % timeUnit,
                        hop.txBytes - hop.txBytes % m_txUnit,
                        hop.queueBytes - hop.queueBytes % m_queueUnit,
                        hop.rate};
    }
    return links;
}

void Hpcc::MeasureUtilisation(HpccState& state, const RoceTelemetry& links) const
{
    double most = 0;
    double tau = 0;
    for (uint32_t i = 0; i < links.hops; ++i)
    {
        const RoceHopTelemetry& now = links.hop[i];
        const RoceHopTelemetry& before = state.links.hop[i];
        const double time = static_cast<double>(std::max<int64_t>(1, now.time - before.time));
        const double sent = static_cast<double>(now.txBytes - before.txBytes);
        const double queue = static_cast<double>(std::min(now.queueBytes, before.queueBytes));
        const double bytesPerPs = now.rate / BYTE_PS;
        const double load = queue / (bytesPerPs * state.baseRtt) + sent / time / bytesPerPs;
        if (load >= most)
        {
            most = load;
            tau = time;
        }
    }
    const double weight = std::min(tau / state.baseRtt, 1.0);
    state.utilisation = (1 - weight) * state.utilisation + weight * most;
    state.links = links;
}

double Hpcc::ComputeWindow(HpccState& state, bool update) const
{
    const double step = static_cast<double>(m_rai.GetBitRate()) * state.baseRtt / BYTE_PS;
    if (state.utilisation >= m_eta || state.stage >= m_maxStage)
    {
        state.stage = update ? 0 : state.stage;
        return state.referenceWindow / (state.utilisation / m_eta) + step;
    }
    state.stage += update ? 1 : 0;
    return state.referenceWindow + step;
}

void Hpcc::SetWindow(HpccState& state, double window) const
{
    const double full = state.lineRate * state.baseRtt / BYTE_PS;
    const double least =
        std::min(static_cast<double>(m_minRate.GetBitRate()) * state.baseRtt / BYTE_PS, full);
    state.windowBytes = std::clamp(window, least, full);
    state.rate = state.windowBytes * BYTE_PS / state.baseRtt;
    state.limited = state.windowBytes < full;
    if (!state.limited)
    {
        state.rate = state.lineRate;
    }
}

} // namespace echo
} // namespace ns3
