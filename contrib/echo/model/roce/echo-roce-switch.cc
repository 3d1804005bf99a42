// SPDX-License-Identifier: GPL-2.0-only
#include "echo-roce-switch.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/echo-error.h"
#include "ns3/echo-units.h"
#include "ns3/log.h"
#include "ns3/uinteger.h"

#include <cmath>
#include <numeric>

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoRoceSwitch");
NS_OBJECT_ENSURE_REGISTERED(RoceSwitch);

namespace
{

constexpr uint64_t DEFAULT_BUFFER = 32000000; //!< HPCC's BUFFER_SIZE 32 (MB)
constexpr double REFERENCE_RATE = 100e9;      //!< of EcnKmin and EcnKmax, bits per second
constexpr double PS_PER_SECOND = 1e12;        //!< picoseconds
constexpr uint32_t MARGIN_PACKETS = 2;        //!< PfcMargin 0

} // namespace

TypeId RoceSwitch::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::RoceSwitch")
            .SetParent<RoceDevice>()
            .SetGroupName("Echo")
            .AddConstructor<RoceSwitch>()
            .AddAttribute("BufferBytes",
                          "Packet memory. 0: 32 MB, or twice the headrooms if that is more.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RoceSwitch::m_bufferBytes),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("PfcAlpha",
                          "An ingress port may hold this times the free shared memory before its "
                          "link is paused.",
                          DoubleValue(0.125),
                          MakeDoubleAccessor(&RoceSwitch::m_alpha),
                          MakeDoubleChecker<double>(1e-6, 64))
            .AddAttribute("PfcMargin",
                          "Bytes below its threshold that a paused port must fall before its link "
                          "restarts. 0: two full packets.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RoceSwitch::m_margin),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("EcnKmin",
                          "Queue bytes at 100 Gb/s (in proportion to the rate) above which packets "
                          "are marked by chance.",
                          UintegerValue(400000),
                          MakeUintegerAccessor(&RoceSwitch::m_kmin),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("EcnKmax",
                          "Queue bytes at 100 Gb/s (in proportion to the rate) above which all "
                          "packets are marked.",
                          UintegerValue(1600000),
                          MakeUintegerAccessor(&RoceSwitch::m_kmax),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("EcnPmax",
                          "Chance of a mark at Kmax; from 0 at Kmin it rises in proportion.",
                          DoubleValue(0.2),
                          MakeDoubleAccessor(&RoceSwitch::m_pmax),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("EcnMarkAtDequeue",
                          "Mark by the queue that a packet leaves behind when it departs (sooner "
                          "heard of), not by the queue that it meets (as in DCQCN's paper).",
                          BooleanValue(true),
                          MakeBooleanAccessor(&RoceSwitch::m_markAtDequeue),
                          MakeBooleanChecker());
    return tid;
}

void RoceSwitch::DoSeal()
{
    const uint32_t full = GetParameters().GetFullWireBytes();
    const auto classes = static_cast<uint32_t>(GetParameters().classes.size());
    m_classShift = 0;
    while ((1u << m_classShift) < classes)
    {
        ++m_classShift;
    }
    std::vector<uint64_t> headrooms(size_t{GetPortCount()} << m_classShift, 0);
    m_thresholds.clear();
    for (uint32_t i = 0; i < GetPortCount(); ++i)
    {
        RocePort& port = GetPort(i);
        if (GetParameters().telemetry)
        {
            port.SetStamping();
        }
        const double rate = port.GetBitRate();
        m_thresholds.push_back({static_cast<double>(m_kmin) * rate / REFERENCE_RATE,
                                static_cast<double>(m_kmax) * rate / REFERENCE_RATE});
        const double delay = static_cast<double>(port.GetDelayPicoseconds());
        const double inFlight = std::ceil(rate / 8 * (delay / PS_PER_SECOND));
        std::fill_n(
            headrooms.begin() + AccountOf(i, 0),
            std::max(classes, 1u),
            SwitchBuffer::ComputeHeadroom(static_cast<uint64_t>(inFlight), full, RoceWire::PAUSE));
    }
    const uint64_t reserved = std::accumulate(headrooms.begin(), headrooms.end(), uint64_t{0});
    if (!GetParameters().lossless)
    {
        headrooms.clear();
    }
    uint64_t capacity = m_bufferBytes;
    if (capacity == 0)
    {
        capacity = std::max(DEFAULT_BUFFER, 2 * reserved);
    }
    else if (!headrooms.empty() && capacity < reserved + full)
    {
        throw InputError(SourceLocation{"", 0, "ns3::echo::RoceSwitch::BufferBytes"},
                         std::to_string(capacity),
                         "at least " + std::to_string(reserved + full) +
                             ", the headrooms of its ports for lossless operation and a packet");
    }
    const uint64_t margin = m_margin == 0 ? uint64_t{MARGIN_PACKETS} * full : m_margin;
    m_buffer.Configure(capacity, GetPortCount() << m_classShift, headrooms, m_alpha, margin);
}

void RoceSwitch::SetForwarding(std::unique_ptr<SwitchForwarding> forwarding)
{
    m_forwarding = std::move(forwarding);
}

int64_t RoceSwitch::GetLookahead() const
{
    if (!GetParameters().runAhead || GetPortCount() == 0)
    {
        return 0;
    }
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < GetPortCount(); ++i)
    {
        // A pause frame is the shortest that there is.
        const RocePort& port = GetPort(i);
        const int64_t frame = TxTime(RoceWire::PAUSE, port.GetDataRate()).GetPicoSeconds();
        least = std::min(least, port.GetDelayPicoseconds() + frame);
    }
    return least;
}

void RoceSwitch::Receive(uint32_t port, RocePacket* packet, int64_t now)
{
    RocePort* way = packet->out;
    if (way)
    {
        packet->out = *++packet->route;
    }
    else if (!(way = Forward(port, packet, now)))
    {
        return;
    }
    RocePort& out = *way;
    if (packet->kind != RocePacketKind::DATA)
    {
        out.SendControl(packet, now);
        return;
    }
    if (out.IsFreeForData(packet->trafficClass, now))
    {
        out.Start(packet, now);
        return;
    }
    Hold(port, out, packet, now);
}

RocePort* RoceSwitch::Forward(uint32_t port, RocePacket* packet, int64_t now)
{
    RocePort* out = m_forwarding->Choose(*packet, now);
    if (out && out->IsUp())
    {
        return out;
    }
    NS_LOG_LOGIC("no way for packet " << packet->sequence);
    ++m_routeDrops;
    (out ? out : GetPort(port).GetPeer())->CountDrop(*packet, now);
    GetPool().Give(packet);
    return nullptr;
}

void RoceSwitch::Hold(uint32_t port, RocePort& out, RocePacket* packet, int64_t now)
{
    const SwitchBuffer::Verdict verdict =
        m_buffer.Admit(AccountOf(port, packet->trafficClass), packet->wireBytes);
    if (verdict == SwitchBuffer::Verdict::DROPPED)
    {
        NS_LOG_LOGIC("buffer full: packet " << packet->sequence << " dropped");
        ++m_bufferDrops;
        GetPort(port).GetPeer()->CountDrop(*packet, now);
        GetPool().Give(packet);
        return;
    }
    if (!m_markAtDequeue && GetParameters().congestionNotices)
    {
        MaybeMark(out, packet, now);
    }
    packet->ingress = port;
    out.EnqueueData(packet, now);
    if (verdict == SwitchBuffer::Verdict::HELD_AND_PAUSE)
    {
        SendPause(port, packet->trafficClass, true, now);
    }
}

RocePacket* RoceSwitch::PullData(RocePort& port, int64_t now)
{
    RocePacket* packet = port.DequeueData(now);
    if (m_markAtDequeue && GetParameters().congestionNotices)
    {
        MaybeMark(port, packet, now);
    }
    Release(*packet, now);
    return packet;
}

void RoceSwitch::Release(const RocePacket& packet, int64_t now)
{
    if (m_buffer.Release(AccountOf(packet.ingress, packet.trafficClass), packet.wireBytes))
    {
        SendPause(packet.ingress, packet.trafficClass, false, now);
    }
}

void RoceSwitch::MaybeMark(RocePort& port, RocePacket* packet, int64_t now)
{
    const double queue = static_cast<double>(port.GetData().GetClassBytes(packet->trafficClass));
    const Thresholds& k = m_thresholds[port.GetIndex()];
    if (queue <= k.kmin || packet->congestion)
    {
        return;
    }
    if (queue > k.kmax || GetRandom() < m_pmax * (queue - k.kmin) / (k.kmax - k.kmin))
    {
        packet->congestion = true;
        port.CountMark(*packet, now);
    }
}

void RoceSwitch::OnLost(const RocePacket& packet, int64_t now)
{
    ++m_routeDrops;
    Release(packet, now);
}

void RoceSwitch::RestoreLink(uint32_t port, int64_t now)
{
    RoceDevice::RestoreLink(port, now);
    for (uint32_t c = 0; c < GetParameters().classes.size(); ++c)
    {
        // The other end has forgotten that it was stopped.
        if (m_buffer.IsPaused(AccountOf(port, c)))
        {
            SendPause(port, c, true, now);
        }
    }
}

void RoceSwitch::SendPause(uint32_t port, uint32_t trafficClass, bool pause, int64_t now)
{
    RocePacket* frame = GetPool().Take();
    *frame = RocePacket{};
    frame->wireBytes = RoceWire::PAUSE;
    frame->kind = pause ? RocePacketKind::PAUSE : RocePacketKind::RESUME;
    frame->trafficClass = static_cast<uint8_t>(trafficClass);
    if (RocePacket* waiting = GetPort(port).SendPause(frame, now))
    {
        GetPool().Give(waiting);
        GetPool().Give(frame);
    }
}

} // namespace echo
} // namespace ns3
