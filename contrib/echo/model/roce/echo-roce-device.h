// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_ROCE_DEVICE_H
#define ECHO_ROCE_DEVICE_H

#include "echo-roce-agenda.h"
#include "echo-roce-packet.h"
#include "echo-roce-port.h"
#include "echo-traffic-class.h"

#include "ns3/node.h"
#include "ns3/object.h"
#include "ns3/random-variable-stream.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace echo
{

/** What all devices of one packet network share. */
struct RoceParameters
{
    uint32_t mtuBytes{4096};              //!< payload of a full packet
    RoceOverhead overhead;                //!< beside the payload, without telemetry
    uint32_t telemetryBytes{0};           //!< most that telemetry adds to a packet
    bool telemetry{false};                //!< switches write into packets what they see
    bool selectiveRepeat{false};          //!< else go-back-N
    int64_t retransmitTimeout{0};         //!< ps
    bool randomLoss{false};               //!< links may lose data packets by chance
    bool failures{false};                 //!< links may be cut
    bool lazy{true};                      //!< see RocePort
    bool runAhead{true};                  //!< switches handle what they know of in one event
    bool lossless{true};                  //!< priority flow control
    bool congestionNotices{false};        //!< switches mark and receivers send CNPs
    int64_t noticeInterval{0};            //!< ps between two CNPs of a queue pair
    bool reorder{false};                  //!< packets of a flow overtake one another
    bool discardsEarly{false};            //!< few do, and receivers drop what comes early
    std::vector<TrafficClass> classes{1}; //!< of data packets, 1 to 8

    /** @return true if packets may get lost, so that lost ones must be found by timers */
    bool CanLose() const
    {
        return randomLoss || failures || !lossless || discardsEarly;
    }

    /** @return the largest packet on the wire, bytes */
    uint32_t GetFullWireBytes() const
    {
        return mtuBytes + overhead.data + overhead.first + telemetryBytes;
    }
};

/**
 * A switch or NIC, aggregated to an ns-3 node: ports and an agenda.
 *
 * Order of what falls on one instant at a device: transmissions that end, by port; then arrivals,
 * by port; then timers.
 */
class RoceDevice : public Object
{
  public:
    static TypeId GetTypeId();
    RoceDevice();
    ~RoceDevice() override;

    /** To be called first. @p parameters and @p pool outlive the device. */
    void Prepare(Ptr<Node> node, const RoceParameters* parameters, RocePacketPool* pool);
    /** Adds ports in order of their index; all of them before Seal. */
    void AddPort(Ptr<RocePort> port);
    /** Ends adding ports; they are connected by then. */
    void Seal();
    /** @param stream fixed stream number of the device's random choices */
    void AssignStream(int64_t stream);

    uint32_t GetPortCount() const
    {
        return static_cast<uint32_t>(m_ports.size());
    }

    RocePort& GetPort(uint32_t index) const
    {
        return *m_ports[index];
    }

    /** Called by the agenda. */
    void Handle(uint32_t slot, int64_t now);

    // On large fabrics what an event touches has left the processor's caches since the last one of
    // its device, and each access waits for the one before it. Asked for together, they wait once.

    /** Brings the device itself into the caches. */
    void Prefetch() const
    {
        const auto* bytes = reinterpret_cast<const unsigned char*>(this);
        for (size_t i = 0; i < sizeof(RoceDevice); i += 64)
        {
            __builtin_prefetch(bytes + i);
        }
    }

    /** The same for what slots before @p end will touch. @p times are those of all slots. */
    void Prefetch(const int64_t* times, int64_t end) const;

    /**
     * @return the next data packet to leave by @p port, whose waiting count is above zero; null if
     * what waited needs nothing any more
     */
    virtual RocePacket* PullData(RocePort& port, int64_t now) = 0;

    /** The port's link is cut, as seen from this end: what is here or on its way is lost. */
    void CutLink(uint32_t port, int64_t now);
    /** It is whole again. */
    virtual void RestoreLink(uint32_t port, int64_t now);

    /** Packets lost at random. */
    uint64_t GetRandomDrops() const
    {
        return m_randomDrops;
    }

  protected:
    void DoDispose() override;
    /** A data, acknowledgement or CNP packet has arrived at @p port. */
    virtual void Receive(uint32_t port, RocePacket* packet, int64_t now) = 0;
    /** A data packet that waited at a port is lost with the port's link. */
    virtual void OnLost(const RocePacket& packet, int64_t now);
    /** @return ps for which the device knows all that will reach it */
    virtual int64_t GetLookahead() const;
    /** @return true if the device uses its timer */
    virtual bool HasTimer() const;
    virtual void OnTimer(int64_t now);
    virtual void DoSeal();

    /** Sets the timer slot. */
    void SetTimer(int64_t time)
    {
        m_agenda->Set(2 * GetPortCount(), time);
    }

    const RoceParameters& GetParameters() const
    {
        return *m_parameters;
    }

    RocePacketPool& GetPool() const
    {
        return *m_pool;
    }

    double GetRandom() const
    {
        return m_random->GetValue();
    }

    /** Brings what PullData of @p port touches into the processor's caches. */
    virtual void PrefetchData(const RocePort& port) const;

  private:
    std::vector<RocePort*> m_ports;              //!< by index; held by the node
    std::vector<RocePort*> m_peers;              //!< by index: other ends of the links
    RoceAgenda* m_agenda{nullptr};               //!< shared with the scheduler
    const RoceParameters* m_parameters{nullptr}; //!< of the network
    RocePacketPool* m_pool{nullptr};             //!< of the network
    Ptr<UniformRandomVariable> m_random;         //!< marking and loss
    uint64_t m_randomDrops{0};                   //!< lost at random
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_ROCE_DEVICE_H */
