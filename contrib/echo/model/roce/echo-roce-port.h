// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_ROCE_PORT_H
#define ECHO_ROCE_PORT_H

#include "echo-roce-agenda.h"
#include "echo-roce-channel.h"
#include "echo-roce-net-device.h"
#include "echo-roce-packet.h"
#include "echo-roce-port-trace.h"
#include "echo-traffic-class.h"

#include "ns3/data-rate.h"
#include "ns3/traced-callback.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ns3
{
namespace echo
{

class RoceDevice;

/**
 * One end of a full-duplex Ethernet link: transmits packets one after the other and holds the
 * packets that are on the way to the other end.
 *
 * Control packets (acknowledgements, CNP and pause frames) have strict priority and are never
 * paused. Data packets are of one or more traffic classes (TrafficClass), each stopped on its own
 * by priority flow control (IEEE 802.1Qbb). Where data waits is the device's matter
 * (RoceDevice::PullData): a switch queues packets here, a NIC makes them when their turn comes.
 *
 * With attribute `Lazy` the end of a transmission is an event only if something waits for it. The
 * plain port, with an event each and a busy flag, is the oracle that the lazy one must equal.
 *
 * Users see an ns-3 NetDevice with trace sources; packets come from queue pairs, not from Send().
 * Traces give the time of what they tell, which is Simulator::Now() unless the device runs ahead
 * (PacketNetwork's RunAhead). Only for a trace is an ns3::Packet made, with all headers.
 */
class RocePort : public RoceNetDevice
{
  public:
    using PacketTracedCallback = void (*)(Time at, Ptr<const Packet> packet);
    using QueueTracedCallback = void (*)(Time at, uint64_t bytes);
    using PauseTracedCallback = void (*)(Time at, uint32_t trafficClass);

    static TypeId GetTypeId();
    RocePort();

    // Wiring, before time zero.

    /** @param index transmit-done slot in the agenda; also the number of the port */
    void Install(RoceDevice* device, RoceAgenda* agenda, uint32_t index, uint32_t arrivalSlot);
    /** To be called if there are several traffic classes. @p quantum as ClassScheduler */
    void SetClasses(const std::vector<TrafficClass>& classes, uint32_t quantum);
    /** Called by RoceChannel. */
    void Connect(RoceChannel* channel, RocePort* peer);

    // The data path. Times are picoseconds.

    /** @return true while a packet is being transmitted */
    bool IsBusy(int64_t now) const
    {
        return m_lazy ? m_freeAt > now : m_busy;
    }

    /** @return true if a data packet of the class may start now (then nothing that may waits) */
    bool IsFreeForData(uint32_t trafficClass, int64_t now) const
    {
        return !IsPaused(trafficClass) && !IsBusy(now);
    }

    /** @return true if the other end has stopped the class */
    bool IsPaused(uint32_t trafficClass) const
    {
        return ((m_pausedClasses >> trafficClass) & 1) != 0;
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
        const uint32_t c = packet->trafficClass;
        m_data.Push(packet);
        m_statistics.maxQueueBytes = std::max(m_statistics.maxQueueBytes, m_data.GetBytes());
        m_waitingClasses |= static_cast<uint8_t>(1u << c);
        if (m_traced)
        {
            TraceQueue(true, *packet, now);
        }
        if (!IsPaused(c))
        {
            ArmOnce(now);
        }
    }

    /** @return the queued data packet whose turn it is; one that may be sent is queued */
    RocePacket* DequeueData(int64_t now)
    {
        RocePacket* packet = m_data.Pop(GetEligible());
        if (m_data.IsEmpty(packet->trafficClass))
        {
            SetWaiting(packet->trafficClass, false);
        }
        if (m_traced)
        {
            TraceQueue(false, *packet, now);
        }
        return packet;
    }

    /** @return bit c: class c has something to send and is not paused */
    uint32_t GetEligible() const
    {
        return m_waitingClasses & ~uint32_t{m_pausedClasses};
    }

    bool HasClasses() const
    {
        return m_data.HasClasses();
    }

    /** NICs with classes: @return the class whose turn it is; something that may be sent waits */
    uint32_t PickClass();

    /** NICs with classes: a packet was made. */
    void ChargeClass(uint32_t trafficClass, uint32_t bytes);

    /** Something may wait for this port: starts it if the port is idle. */
    void Wake(int64_t now);

    /** NICs: whether sources of data of a class wait for this port. */
    void SetWaiting(uint32_t trafficClass, bool waits)
    {
        const auto bit = static_cast<uint8_t>(1u << trafficClass);
        m_waitingClasses =
            static_cast<uint8_t>(waits ? m_waitingClasses | bit : m_waitingClasses & ~bit);
    }

    /** The transmit-done slot's time has come. */
    void OnTransmitDone(int64_t now);

    /** A pause frame from the other end: stops or restarts a traffic class. */
    void OnPause(bool pause, uint32_t trafficClass, int64_t now);

    // Failures.

    /**
     * The link is cut: nothing starts until it is whole again, and packets that had left (@p
     * onWire) or not (@p waiting) are lost.
     */
    void GoDown(int64_t now, RocePacketQueue& onWire, RocePacketQueue& waiting);
    /** The link is whole again. */
    void GoUp(int64_t now);
    /** Packets that start from now on take this rate. */
    void ChangeRate(DataRate rate);

    bool IsUp() const;

    /** @return chance that a data packet that this port sends is lost on the link */
    double GetLossRate() const;

    void SetLossRate(double rate);

    /** @return when the present transmission ends or the last one ended */
    int64_t GetFreeAt() const;

    /** @return what waits here; NICs: nothing */
    const DataQueues& GetData() const
    {
        return m_data;
    }

    /** @return ps until all data queued here will have left; a far time if it is paused or down */
    int64_t GetBacklog(uint32_t trafficClass, int64_t now) const;

    /** @return ps: start of the present pause */
    int64_t GetPausedSince() const;

    /** @return the packet that arrives now at the other end */
    RocePacket* TakeArrival()
    {
        return m_wire.Pop();
    }

    /** @return the packet that will arrive next at the other end, or null */
    const RocePacket* PeekArrival() const
    {
        return m_wire.Front();
    }

    /** Brings what a packet that starts here touches into the processor's caches. */
    void Prefetch() const
    {
        __builtin_prefetch(&m_freeAt);
        __builtin_prefetch(&m_wire);
        __builtin_prefetch(&m_data);
        __builtin_prefetch(&m_statistics.busy);
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

    void CountMark(const RocePacket& packet, int64_t now)
    {
        ++m_statistics.marks;
        if (m_traced)
        {
            TraceMark(packet, now);
        }
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

    bool IsLinkUp() const override;

  private:
    static constexpr int WINDOW_SHIFT = 26; //!< 2^26 ps

    bool HasWaiting() const
    {
        return !m_control.IsEmpty() || GetEligible() != 0;
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

    /** @return the waiting pause frame of a class, taken out; or null */
    RocePacket* TakePause(uint32_t trafficClass);
    void CloseWindow(int64_t now);
    void TraceQueue(bool enqueued, const RocePacket& packet, int64_t now);
    void TraceMark(const RocePacket& packet, int64_t now);
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
    DataQueues m_data;                 //!< waiting, data (switches)
    uint32_t m_index{0};               //!< transmit-done slot
    uint32_t m_peerSlot{0};            //!< arrival slot at the other end
    uint8_t m_waitingClasses{0};       //!< bit c: packets (switch) or queue pairs (NIC) wait
    uint8_t m_pausedClasses{0};        //!< bit c: class c is stopped by the other end
    bool m_lazy{true};                 //!< attribute Lazy
    bool m_busy{false};                //!< plain port: a transmission has not ended
    bool m_armed{false};               //!< the transmit-done slot is set
    bool m_traced{false};              //!< a trace of this port or of the other end is connected
    int64_t m_window{0};               //!< number of the window of peakRate
    int64_t m_windowStartBusy{0};      //!< busy when it began
    RocePortStatistics m_statistics;   //!< counters
    RoceDevice* m_device{nullptr};     //!< whose port
    RocePort* m_peer{nullptr};         //!< other end

    // Cold.
    bool m_stamping{false};    //!< writes telemetry
    uint32_t m_arrivalSlot{0}; //!< slot of arrivals at this port
    uint32_t m_cachedBytes{0}; //!< last size timed at a rate without whole ps a byte
    int64_t m_cachedTime{0};   //!< its time
    int64_t m_pausedSince{0};  //!< start of the present pause
    bool m_up{true};           //!< the link is whole
    int64_t m_freeAtDown{0};   //!< m_freeAt of before the link was cut
    double m_lossRate{0};      //!< chance of loss on the link
    double m_psOfByte{0};      //!< as m_psPerByte, whole or not
    DataRate m_rate;           //!< attribute DataRate

    RocePortTrace<RocePort, Time, Ptr<const Packet>> m_transmitTrace; //!< "Transmit"
    RocePortTrace<RocePort, Time, Ptr<const Packet>> m_receiveTrace;  //!< "Receive"
    RocePortTrace<RocePort, Time, Ptr<const Packet>> m_dropTrace;     //!< "Drop"
    RocePortTrace<RocePort, Time, uint64_t> m_queueTrace;             //!< "Queue"
    RocePortTrace<RocePort, Time, Ptr<const Packet>> m_enqueueTrace;  //!< "Enqueue"
    RocePortTrace<RocePort, Time, Ptr<const Packet>> m_dequeueTrace;  //!< "Dequeue"
    RocePortTrace<RocePort, Time, Ptr<const Packet>> m_markTrace;     //!< "Mark"
    RocePortTrace<RocePort, Time, uint32_t> m_pauseTrace;             //!< "Pause"
    RocePortTrace<RocePort, Time, uint32_t> m_resumeTrace;            //!< "Resume"
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_ROCE_PORT_H */
