// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_ROCE_PORT_H
#define ECHO_ROCE_PORT_H

#include "echo-roce-agenda.h"
#include "echo-roce-channel.h"
#include "echo-roce-packet.h"
#include "echo-roce-port-trace.h"

#include "ns3/data-rate.h"
#include "ns3/mac48-address.h"
#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/traced-callback.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace ns3
{
namespace echo
{

class RoceDevice;
/**
 * One end of a full-duplex Ethernet link: transmits packets one after the other and holds the
 * packets that are on the way to the other end.
 *
 * Two classes: control (acknowledgements, CNP and pause frames; strict priority, never paused) and
 * data (stopped by priority flow control, IEEE 802.1Qbb). Where data waits is the device's matter
 * (RoceDevice::PullData): a switch queues packets here, a NIC makes them when their turn comes.
 *
 * With attribute `Lazy` the end of a transmission is an event only if something waits for it. The
 * plain port has one for each transmission, and a busy flag in place of comparing times; it is
 * kept as the oracle that the lazy port must equal to the picosecond.
 *
 * Users see an ns-3 NetDevice with trace sources; packets come from queue pairs, not from Send().
 * Traces give the time of what they tell, which is Simulator::Now() unless the device runs ahead
 * (PacketNetwork's RunAhead). Only for a trace is an ns3::Packet made, with all headers.
 */
class RocePort : public NetDevice
{
  public:
    using PacketTracedCallback = void (*)(Time at, Ptr<const Packet> packet);
    using QueueTracedCallback = void (*)(Time at, uint64_t bytes);
    using PauseTracedCallback = void (*)(Time at, bool paused);

    static TypeId GetTypeId();
    RocePort();

    // Wiring, before time zero.

    /** @param index transmit-done slot in the agenda; also the number of the port */
    void Install(RoceDevice* device, RoceAgenda* agenda, uint32_t index, uint32_t arrivalSlot);
    /** Called by RoceChannel. */
    void Connect(RoceChannel* channel, RocePort* peer);

    // The data path. Times are picoseconds.

    /** @return true while a packet is being transmitted */
    bool IsBusy(int64_t now) const
    {
        return m_lazy ? m_freeAt > now : m_busy;
    }

    /** @return true if a data packet may start now (then nothing waits) */
    bool IsFreeForData(int64_t now) const
    {
        return !m_paused && !IsBusy(now);
    }

    /** Starts a packet on an idle port. */
    void Start(RocePacket* packet, int64_t now)
    {
        Transmit(packet, now);
        if (!m_lazy || m_armed || HasWaiting())
        {
            Arm();
        }
    }

    /** Starts or queues a packet of the control class. */
    void SendControl(RocePacket* packet, int64_t now)
    {
        if (!IsBusy(now))
        {
            Start(packet, now);
            return;
        }
        m_control.Push(packet);
        ArmOnce(now);
    }

    /**
     * Starts or queues a pause frame, before all other packets. One that still waits and this one
     * cancel each other, as they are opposite.
     * @return the frame that waited, to be given back together with @p packet; else null
     */
    RocePacket* SendPause(RocePacket* packet, int64_t now);

    /** Queues a data packet (switches); the port is busy or paused. */
    void EnqueueData(RocePacket* packet, int64_t now)
    {
        m_data.Push(packet);
        m_queueBytes += packet->wireBytes;
        m_statistics.maxQueueBytes = std::max(m_statistics.maxQueueBytes, m_queueBytes);
        ++m_waiting;
        if (m_traced)
        {
            m_queueTrace(TimeStep(static_cast<uint64_t>(now)), m_queueBytes);
        }
        if (!m_paused)
        {
            ArmOnce(now);
        }
    }

    /** @return the oldest queued data packet; the queue is not empty */
    RocePacket* DequeueData(int64_t now)
    {
        RocePacket* packet = m_data.Pop();
        m_queueBytes -= packet->wireBytes;
        --m_waiting;
        if (m_traced)
        {
            m_queueTrace(TimeStep(static_cast<uint64_t>(now)), m_queueBytes);
        }
        return packet;
    }

    /** Something may wait for this port: starts it if the port is idle. */
    void Wake(int64_t now);

    /** NICs: how many sources of data wait for this port. */
    void SetWaiting(uint32_t sources)
    {
        m_waiting = sources;
    }

    /** The transmit-done slot's time has come. */
    void OnTransmitDone(int64_t now);

    /** A pause frame from the other end: stops or restarts the data class. */
    void OnPause(bool pause, int64_t now);

    /** @return when the present transmission ends or the last one ended */
    int64_t GetFreeAt() const
    {
        return m_freeAt;
    }

    uint64_t GetQueueBytes() const
    {
        return m_queueBytes;
    }

    /** @return the packet that arrives now at the other end */
    RocePacket* TakeArrival()
    {
        return m_wire.Pop();
    }

    /** @return when the next packet arrives at the other end, or NEVER */
    int64_t GetNextArrival() const
    {
        return m_wire.IsEmpty() ? RoceAgenda::NEVER : m_wire.Front()->arrival;
    }

    /** @return transmission time of @p bytes in ps, rounded up */
    int64_t TxPicoseconds(uint32_t bytes)
    {
        if (m_psPerByte > 0)
        {
            return m_psPerByte * bytes;
        }
        return bytes == m_cachedBytes ? m_cachedTime : ComputeTx(bytes);
    }

    void CountMark()
    {
        ++m_statistics.marks;
    }

    /** A packet that this port sent is lost at the other end. */
    void CountDrop(const RocePacket& packet, int64_t now)
    {
        ++m_statistics.drops;
        if (m_traced)
        {
            TraceDrop(packet, now);
        }
    }

    /** A packet that this port sent has arrived at the other end. */
    void NoteArrival(const RocePacket& packet, int64_t now)
    {
        if (m_traced)
        {
            TraceArrival(packet, now);
        }
    }

    /** Called by a trace source of this port when someone connects. */
    void SetTraced();

    /** Makes the port write its state into each data packet that it starts (switches). */
    void SetStamping()
    {
        m_stamping = true;
        m_traced = true;
    }

    uint32_t GetIndex() const
    {
        return m_index;
    }

    int64_t GetDelayPicoseconds() const
    {
        return m_delay;
    }

    RoceDevice* GetOwner() const
    {
        return m_device;
    }

    RocePort* GetPeer() const
    {
        return m_peer;
    }

    /** @return bits per second as a real number, for rate control */
    double GetBitRate() const
    {
        return static_cast<double>(m_rate.GetBitRate());
    }

    DataRate GetDataRate() const
    {
        return m_rate;
    }

    const RocePortStatistics& GetCounters() const
    {
        return m_statistics;
    }

    /** @return counters, with the present pause and window closed at @p now */
    RocePortStatistics GetStatistics(int64_t now) const;

    // ns-3's NetDevice.

    void SetIfIndex(const uint32_t index) override;
    uint32_t GetIfIndex() const override;
    Ptr<Channel> GetChannel() const override;
    void SetAddress(Address address) override;
    Address GetAddress() const override;
    bool SetMtu(const uint16_t mtu) override;
    uint16_t GetMtu() const override;
    bool IsLinkUp() const override;
    void AddLinkChangeCallback(Callback<void> callback) override;
    bool IsBroadcast() const override;
    Address GetBroadcast() const override;
    bool IsMulticast() const override;
    Address GetMulticast(Ipv4Address multicastGroup) const override;
    Address GetMulticast(Ipv6Address addr) const override;
    bool IsBridge() const override;
    bool IsPointToPoint() const override;
    /** @return false: data leaves by queue pairs only */
    bool Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber) override;
    /** @return false, as Send */
    bool SendFrom(Ptr<Packet> packet,
                  const Address& source,
                  const Address& dest,
                  uint16_t protocolNumber) override;
    Ptr<Node> GetNode() const override;
    void SetNode(Ptr<Node> node) override;
    bool NeedsArp() const override;
    void SetReceiveCallback(ReceiveCallback cb) override;
    void SetPromiscReceiveCallback(PromiscReceiveCallback cb) override;
    bool SupportsSendFrom() const override;

  protected:
    void DoDispose() override;

  private:
    static constexpr int WINDOW_SHIFT = 26; //!< 2^26 ps

    bool HasWaiting() const
    {
        return !m_control.IsEmpty() || (m_waiting > 0 && !m_paused);
    }

    /** Sets the transmit-done slot to the end of the present transmission. */
    void Arm()
    {
        m_armed = true;
        m_agenda->Set(m_index, m_freeAt);
    }

    /** Something waits: a transmission under way needs its end as an event. */
    void ArmOnce(int64_t now)
    {
        if (!m_armed && IsBusy(now))
        {
            Arm();
        }
    }

    /** @return what to send next, or null */
    RocePacket* Next(int64_t now);

    /** Puts a packet on the wire. */
    void Transmit(RocePacket* packet, int64_t now)
    {
        const int64_t tx = TxPicoseconds(packet->wireBytes);
        m_freeAt = now + tx;
        m_busy = true;
        packet->arrival = m_freeAt + m_delay;
        if (m_wire.IsEmpty())
        {
            m_peerAgenda->Set(m_peerSlot, packet->arrival);
        }
        m_wire.Push(packet);
        if (packet->kind < RocePacketKind::PAUSE)
        {
            ++m_statistics.packets;
            m_statistics.wireBytes += packet->wireBytes;
            m_statistics.payloadBytes += packet->payloadBytes;
        }
        if ((now >> WINDOW_SHIFT) != m_window)
        {
            CloseWindow(now);
        }
        m_statistics.busy += tx;
        if (m_traced)
        {
            TraceTransmit(*packet, now);
        }
    }

    void CloseWindow(int64_t now);
    /** Telemetry and the trace of a packet that starts now. */
    void TraceTransmit(RocePacket& packet, int64_t now);
    void TraceArrival(const RocePacket& packet, int64_t now);
    void TraceDrop(const RocePacket& packet, int64_t now);
    int64_t ComputeTx(uint32_t bytes);

    // Hot: what each packet touches.
    int64_t m_freeAt{0};               //!< end of the present or last transmission
    int64_t m_delay{0};                //!< of the link
    int64_t m_psPerByte{0};            //!< if whole, else 0
    RoceAgenda* m_agenda{nullptr};     //!< of the device
    RoceAgenda* m_peerAgenda{nullptr}; //!< of the device at the other end
    RocePacketQueue m_wire;            //!< on the way to the other end, in order
    RocePacketQueue m_control;         //!< waiting, control class
    RocePacketQueue m_data;            //!< waiting, data class (switches)
    uint32_t m_index{0};               //!< transmit-done slot
    uint32_t m_peerSlot{0};            //!< arrival slot at the other end
    uint32_t m_waiting{0};             //!< data packets (switch) or queue pairs (NIC) waiting
    bool m_lazy{true};                 //!< attribute Lazy
    bool m_busy{false};                //!< plain port: a transmission has not ended
    bool m_armed{false};               //!< the transmit-done slot is set
    bool m_traced{false};              //!< a trace of a port of the link is connected, or stamping
    bool m_paused{false};              //!< data class stopped by the other end
    uint64_t m_queueBytes{0};          //!< in m_data
    int64_t m_window{0};               //!< number of the window of peakRate
    int64_t m_windowStartBusy{0};      //!< busy when it began
    RocePortStatistics m_statistics;   //!< counters
    RoceDevice* m_device{nullptr};     //!< whose port
    RocePort* m_peer{nullptr};         //!< other end

    // Cold.
    bool m_stamping{false};          //!< writes telemetry
    uint32_t m_arrivalSlot{0};       //!< slot of arrivals at this port
    uint32_t m_cachedBytes{0};       //!< last size timed at a rate without whole ps a byte
    int64_t m_cachedTime{0};         //!< its time
    int64_t m_pausedSince{0};        //!< start of the present pause
    DataRate m_rate;                 //!< attribute DataRate
    uint32_t m_mtu{4096};            //!< for NetDevice
    uint32_t m_ifIndex{0};           //!< for NetDevice
    Mac48Address m_address;          //!< for NetDevice
    RoceChannel* m_channel{nullptr}; //!< the link (it holds the ports)
    Node* m_node{nullptr};           //!< ns-3's node (it holds the ports)
    TracedCallback<> m_linkChange;   //!< for NetDevice

    RocePortTrace<RocePort, Time, Ptr<const Packet>> m_transmitTrace; //!< "Transmit"
    RocePortTrace<RocePort, Time, Ptr<const Packet>> m_receiveTrace;  //!< "Receive"
    RocePortTrace<RocePort, Time, Ptr<const Packet>> m_dropTrace;     //!< "Drop"
    RocePortTrace<RocePort, Time, uint64_t> m_queueTrace;             //!< "Queue"
    RocePortTrace<RocePort, Time, bool> m_pauseTrace;                 //!< "Pause"
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_ROCE_PORT_H */
