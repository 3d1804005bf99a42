// SPDX-License-Identifier: GPL-2.0-only
#include "echo-train-network.h"

#include "ns3/assert.h"
#include "ns3/double.h"
#include "ns3/echo-time-limit.h"
#include "ns3/echo-units.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(TrainNetwork);

namespace
{

/** Of the last train of a message, or fewer. */
constexpr uint64_t LAST_PACKETS = 8;
/** Before whatever may matter, ps. */
constexpr int64_t PAST = 1000000000000;

int64_t NowPs()
{
    return Simulator::Now().GetPicoSeconds();
}

} // namespace

TypeId TrainNetwork::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::TrainNetwork")
            .SetParent<NetworkModel>()
            .SetGroupName("Echo")
            .AddConstructor<TrainNetwork>()
            .AddAttribute("Mtu",
                          "Payload of a full packet, bytes",
                          UintegerValue(4096),
                          MakeUintegerAccessor(&TrainNetwork::m_mtu),
                          MakeUintegerChecker<uint64_t>(64, 65536))
            .AddAttribute("HeaderBytes",
                          "What each packet has on the wire beside payload: Ethernet 14 + 4 + "
                          "preamble 8 + gap 12, IP 20, UDP 8, BTH 12, ICRC 4",
                          UintegerValue(82),
                          MakeUintegerAccessor(&TrainNetwork::m_headerBytes),
                          MakeUintegerChecker<uint64_t>(0, 4096))
            .AddAttribute("FirstHeaderBytes",
                          "What the first packet of a message has beside that: RETH 16",
                          UintegerValue(16),
                          MakeUintegerAccessor(&TrainNetwork::m_firstHeaderBytes),
                          MakeUintegerChecker<uint64_t>(0, 4096))
            .AddAttribute("BufferBytes",
                          "Packet memory of a switch",
                          UintegerValue(32000000),
                          MakeUintegerAccessor(&TrainNetwork::m_bufferBytes),
                          MakeUintegerChecker<uint64_t>(1))
            .AddAttribute(
                "PfcAlpha",
                "A source is paused while the first switch holds more than this times its "
                "free memory of what it sent; 0: never",
                DoubleValue(0.125),
                MakeDoubleAccessor(&TrainNetwork::m_alpha),
                MakeDoubleChecker<double>(0, 64))
            .AddAttribute("TrainPackets",
                          "Packets of a full train; 1: every packet by itself",
                          UintegerValue(64),
                          MakeUintegerAccessor(&TrainNetwork::m_trainPackets),
                          MakeUintegerChecker<uint32_t>(1, 65536));
    return tid;
}

void TrainNetwork::Prepare(Ptr<Router> router, RecordSink* sink)
{
    m_transfers.SetSink(sink);
    m_paths.Prepare(router);
    m_ports.resize(m_paths.GetLinks().size());
    m_sources.resize(m_ports.size());
    m_buffers.resize(m_paths.GetTopology().GetDeviceCount());
}

void TrainNetwork::DoDispose()
{
    m_transfers.Clear();
    NetworkModel::DoDispose();
}

Fidelity TrainNetwork::GetFidelity() const
{
    return Fidelity::FLOW;
}

uint64_t TrainNetwork::GetPacketCount(uint64_t payload) const
{
    return (payload + m_mtu - 1) / m_mtu;
}

TrainNetwork::Port& TrainNetwork::GetPort(PortId number)
{
    Port& port = m_ports[number.Get()];
    if (port.fullPacket == 0)
    {
        const Topology& topology = m_paths.GetTopology();
        port.rate = topology.RateOf(number);
        port.delay = topology.DelayOf(number).GetPicoSeconds();
        const uint64_t packet = m_mtu + m_headerBytes;
        port.fullPacket = TxTime(packet, port.rate).GetPicoSeconds();
        port.transmissions.resize(m_trainPackets + 1);
        port.firstHeader = TxTime(m_firstHeaderBytes, port.rate).GetPicoSeconds();
    }
    return port;
}

int64_t TrainNetwork::GetTransmission(Port& port, uint64_t payload, uint64_t packets) const
{
    if (payload != m_mtu * packets)
    {
        return TxTime(payload + m_headerBytes * packets, port.rate).GetPicoSeconds();
    }
    int64_t& known = port.transmissions[packets];
    if (known == 0)
    {
        known = TxTime((m_mtu + m_headerBytes) * packets, port.rate).GetPicoSeconds();
    }
    return known;
}

void TrainNetwork::Send(const Message& message, DeliveredCallback delivered)
{
    NS_ASSERT_MSG(message.bytes > 0, "a message needs bytes");
    const uint32_t number = m_paths.FindOrAdd(message.source, message.destination, message.label);
    if (number >= m_streams.size())
    {
        m_streams.resize(number + 1);
        m_left.resize(m_left.size() + m_paths.CountHops(number), -PAST);
    }
    Stream& stream = m_streams[number];
    const bool isIdle = stream.queue.IsEmpty();
    m_transfers.Append(stream.queue,
                       m_transfers.Add(message, m_paths.CountHops(number), std::move(delivered)));
    if (!isIdle)
    {
        return;
    }
    stream.sent = 0;
    const PortId port = m_paths.GetPath(number)[0];
    Source& source = m_sources[port.Get()];
    // Parts of one message take turns in what is one stream's; each waits for those before it.
    stream.parts = message.parts;
    const uint64_t before = message.part * std::min(message.bytes, m_mtu * m_trainPackets);
    stream.turn = std::max(stream.turn, source.turn + before);
    source.streams.push_back(number);
    if (!source.sends)
    {
        source.sends = true;
        source.device = m_paths.GetTopology().NeighborOf(port).Get();
        SendNext(port);
    }
}

uint64_t TrainNetwork::GetWireBytes(const Train& train) const
{
    return train.payload + m_headerBytes * train.packets + (train.isFirst ? m_firstHeaderBytes : 0);
}

bool TrainNetwork::IsPaused(Source& source, int64_t now)
{
    Buffer& buffer = m_buffers[source.device];
    while (!buffer.departures.empty() && buffer.departures.top().time <= now)
    {
        const Departure& gone = buffer.departures.top();
        buffer.held -= gone.bytes;
        m_sources[gone.source].held -= gone.bytes;
        buffer.departures.pop();
    }
    while (!source.departures.empty() && source.departures.front() <= now)
    {
        source.departures.pop_front();
    }
    const uint64_t free = m_bufferBytes - std::min(m_bufferBytes, buffer.held);
    return m_alpha > 0 && source.held > 0 &&
           static_cast<double>(source.held) > m_alpha * static_cast<double>(free);
}

void TrainNetwork::Release(PortId port, uint64_t bytes, int64_t time)
{
    Source& source = m_sources[port.Get()];
    m_buffers[source.device].departures.push({time, bytes, port.Get()});
    source.departures.push_back(time);
    if (source.waits)
    {
        source.waits = false;
        Simulator::Schedule(PicoSeconds(time - NowPs()), &TrainNetwork::SendNext, this, port);
    }
}

uint32_t TrainNetwork::TakeTurn(Source& source)
{
    const auto next = std::min_element(
        source.streams.begin(), source.streams.end(), [this](uint32_t a, uint32_t b) {
            return m_streams[a].turn < m_streams[b].turn;
        });
    const uint32_t number = *next;
    source.streams.erase(next);
    source.turn = m_streams[number].turn;
    return number;
}

void TrainNetwork::SendNext(PortId port)
{
    Source& source = m_sources[port.Get()];
    if (source.streams.empty())
    {
        source.sends = false;
        return;
    }
    const int64_t now = NowPs();
    if (IsPaused(source, now))
    {
        source.waits = source.departures.empty();
        if (!source.waits)
        {
            const int64_t next = source.departures.front();
            Simulator::Schedule(PicoSeconds(next - now), &TrainNetwork::SendNext, this, port);
        }
        return;
    }
    const uint32_t number = TakeTurn(source);
    Stream& stream = m_streams[number];
    const uint64_t left = m_transfers.Get(stream.queue.first).bytes - stream.sent;
    Train train;
    train.stream = number;
    train.transfer = stream.queue.first;
    // Towards its end a message's trains are shorter: ends come in the order of packets.
    const uint64_t half = (GetPacketCount(left) + 1) / 2;
    const uint64_t packets =
        std::min<uint64_t>(m_trainPackets, std::max<uint64_t>(half, LAST_PACKETS));
    train.payload = std::min(left, m_mtu * packets);
    train.packets = train.payload < left ? packets : GetPacketCount(left);
    train.isFirst = stream.sent == 0;
    train.isLast = train.payload == left;
    train.end = train.endBefore = now - PAST; // all there
    stream.sent += train.payload;
    stream.turn += train.payload * stream.parts;
    if (train.isLast)
    {
        m_transfers.PopFirst(stream.queue);
        stream.sent = 0;
    }
    if (!stream.queue.IsEmpty())
    {
        source.streams.push_back(number);
    }
    if (m_paths.CountHops(number) > 1)
    {
        const uint64_t bytes = GetWireBytes(train);
        source.held += bytes;
        m_buffers[source.device].held += bytes;
    }
    Forward(m_trains.Add(train));
    const int64_t free = GetPort(port).free;
    Simulator::Schedule(PicoSeconds(free - now), &TrainNetwork::SendNext, this, port);
}

TrainNetwork::Queue TrainNetwork::GetQueue(Port& port, int64_t now, int64_t end)
{
    double coming = 0;
    double before = 0;
    auto& all = port.coming;
    for (size_t i = 0; i < all.size();)
    {
        if (all[i].end <= now)
        {
            all[i] = all.back();
            all.pop_back();
            continue;
        }
        const double rate = static_cast<double>(all[i].transmission) /
                            static_cast<double>(all[i].end - all[i].begin);
        coming += rate * static_cast<double>(all[i].end - now);
        before += rate * static_cast<double>(std::clamp(end, now, all[i].end) - now);
        ++i;
    }
    const int64_t backlog = std::max<int64_t>(port.free - now - static_cast<int64_t>(coming), 0);
    return {
        backlog,
        std::min(static_cast<int64_t>(before), std::max(port.free - now, int64_t{0}) - backlog)};
}

void TrainNetwork::Forward(uint32_t number)
{
    Train& train = m_trains[number];
    Port& port = GetPort(m_paths.GetPath(train.stream)[train.hop]);
    const int64_t now = NowPs();
    const uint64_t packets = train.packets;
    const int64_t first = train.isFirst ? port.firstHeader : 0;
    const int64_t transmission = GetTransmission(port, train.payload, packets) + first;
    const int64_t firstPacket = packets > 1 ? port.fullPacket + first : transmission;
    int64_t lastPacket = transmission;
    if (packets > 1)
    {
        lastPacket = GetTransmission(port, train.payload - (packets - 1) * m_mtu, 1);
    }
    const Queue queue = GetQueue(port, now, train.end);
    const int64_t backlog = queue.there;
    port.longestQueue = std::max(port.longestQueue, backlog);
    port.free = std::max(port.free, now) + transmission;
    const int64_t served = now + backlog + queue.between + transmission;
    port.busy += transmission;
    port.payload += train.payload;
    port.wire += GetWireBytes(train);
    if (train.end > now)
    {
        port.coming.push_back({now, train.end, transmission - firstPacket});
    }
    // The last packet but one: of the train, else of the one before it in the stream.
    int64_t& left = m_left[m_paths.GetFirstHop(train.stream) + train.hop];
    const int64_t before =
        packets > 1 ? std::max(train.endBefore + port.fullPacket, served - lastPacket) : left;
    left = std::max(served, std::max(train.end, before) + lastPacket);
    train.end = left + port.delay;
    train.endBefore = before + port.delay;
    if (train.hop == 1)
    {
        Release(m_paths.GetPath(train.stream)[0], GetWireBytes(train), left);
    }
    if (++train.hop < m_paths.CountHops(train.stream))
    {
        WithinClock(PicoSeconds(train.end));
        Simulator::Schedule(
            PicoSeconds(backlog + firstPacket + port.delay), &TrainNetwork::Forward, this, number);
        return;
    }
    if (train.isLast)
    {
        Simulator::Schedule(
            PicoSeconds(train.end - now), &Transfers::Deliver, &m_transfers, train.transfer);
    }
    m_trains.Take(number);
}

void TrainNetwork::ReportLinks(RecordSink& sink, Time) const
{
    const Topology& topology = m_paths.GetTopology();
    for (uint32_t number = 0; number < m_ports.size(); ++number)
    {
        const Port& port = m_ports[number];
        if (port.payload == 0)
        {
            continue;
        }
        LinkRecord record = topology.DescribeLink(PortId(number));
        record.payloadBytes = port.payload;
        record.wireBytes = port.wire;
        record.busy = PicoSeconds(port.busy);
        record.lastBusy = PicoSeconds(port.free);
        record.maxQueueBytes = static_cast<uint64_t>(static_cast<double>(port.longestQueue) *
                                                     1e-12 * BytesPerSecond(port.rate));
        sink.OnLink(record);
    }
}

NetworkTotals TrainNetwork::GetTotals() const
{
    NetworkTotals totals;
    totals.liveFlows = m_transfers.GetCount();
    return totals;
}

} // namespace echo
} // namespace ns3
