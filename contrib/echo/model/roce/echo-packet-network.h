// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_PACKET_NETWORK_H
#define ECHO_PACKET_NETWORK_H

#include "echo-congestion-control.h"
#include "echo-queue-pair.h"
#include "echo-roce-device.h"
#include "echo-roce-fabric.h"
#include "echo-roce-failures.h"

#include "ns3/echo-network-model.h"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

class RoceNic;

/**
 * Packet fidelity: serves messages between NICs by RoCEv2 queue pairs over the topology's fabric
 * (NICs, leaf, spine and core switches), each an ns-3 node with RocePorts.
 *
 * A pair of NICs and a label share one queue pair and one path each way (Router, per-flow ECMP;
 * acknowledgements are a flow of their own and may return another way).
 * Bytes on the wire are RoceOverhead's; its parts are attributes, so that the convention of other
 * simulators can be set.
 * One message alone takes exactly what store-and-forward of its packets takes: over links of one
 * rate R with total delay d, (wire bytes) / R + (links - 1) (largest packet's wire bytes) / R + d,
 * each packet's time on each link rounded up to a picosecond.
 *
 * What happens at one instant, in order: devices handle what is due (RoceAgenda); then deliveries
 * are told, in order of (source, destination, label); then messages given to Send at this instant
 * enter their queue pairs, in the same order. So results do not depend on ns-3's scheduler.
 */
class PacketNetwork : public NetworkModel
{
  public:
    static TypeId GetTypeId();
    PacketNetwork();
    ~PacketNetwork() override;

    /**
     * @throws InputError if an attribute does not fit (unknown congestion control, switch buffer
     * below its headrooms)
     */
    void Prepare(Ptr<Router> router, RecordSink* sink) override;
    /** @throws UnsupportedError if an end is no NIC, both are one NIC, or no path joins them */
    /** Failures to come, and their ends; before Prepare. */
    void SetLinkEvents(std::vector<LinkEvent> events);
    /** Classes of data packets, 1 to 8; before Prepare. At first one for all. */
    void SetTrafficClasses(std::vector<TrafficClass> classes);
    void Send(const Message& message, DeliveredCallback delivered) override;
    Fidelity GetFidelity() const override;
    void ReportLinks(RecordSink& sink, Time duration) const override;
    NetworkTotals GetTotals() const override;
    /** @return what was unreachable, or a deadlock of pauses, with times */
    std::string DescribeTrouble() const override;

    /** @return the port with the topology's number, or null if its link is not of the fabric */
    Ptr<RocePort> GetPort(PortId port) const;
    /** @return the NIC or switch of a topology device, or null */
    Ptr<RoceDevice> GetDevice(DeviceId device) const;

    /** Packets that exist now: on links, in queues. */
    uint64_t GetAlivePackets() const
    {
        return m_pool.GetAlive();
    }

    /** @return packets for which there is memory: the most that existed at a time, rounded up */
    uint64_t GetPacketCapacity() const
    {
        return m_pool.GetCapacity();
    }

    /** @return queue pairs made so far */
    uint64_t GetQueuePairCount() const
    {
        return m_queuePairs.size();
    }

  protected:
    void DoDispose() override;

  private:
    /** A finished message whose callback is due. */
    struct Delivery
    {
        QueuePair* queuePair;
        DeliveredCallback callback;
        FlowRecord record;
    };

    /** A message on its way into its queue pair. */
    struct Entry
    {
        QueuePair* queuePair;
        RoceMessage message;
    };

    void FillParameters();
    void PrepareForwarding();
    QueuePair& GetQueuePair(const Message& message);
    void RefuseEnds(const Message& message) const;
    /** @return the ports that a flow passes; while links are cut and none leads there: once all
     *          are up again */
    std::vector<PortId> FindWay(DeviceId source, DeviceId destination, uint64_t label) const;
    /** @return ps that a packet of @p wireBytes takes on idle links, each at its full rate */
    int64_t IdleTime(const std::vector<PortId>& way, uint32_t wireBytes) const;
    /** Ways have changed: flows of NICs with several ports take the port of their new way. */
    void MoveQueuePairs();
    /** @return whether there is a way to the receiver and back */
    bool CanArrive(const QueuePair& pair) const;
    /** Stops the simulation if messages can never arrive. */
    void CheckReachability();
    /** Stops the simulation at a deadlock, where timers would keep it going for ever. */
    void WatchForDeadlock();
    void Stop(const std::string& trouble);
    /** Says why counters are zero. */
    void ExplainZeros(NetworkTotals& totals) const;
    void CreateControl();
    std::unique_ptr<QueuePair> MakeQueuePair(const QueuePair::Key& key);
    /** @return the NIC that a queue pair sends by */
    RoceNic& GetNic(const QueuePair& queuePair) const;
    void OnDelivered(QueuePair& queuePair, int64_t now);
    void FlushSoon();
    /** Tells deliveries, then lets new messages into their queue pairs. */
    void Flush();

    RoceParameters m_parameters;              //!< shared with the devices; attributes
    uint32_t m_mtuBytes{4096};                //!< attribute Mtu
    uint32_t m_ackInterval{4};                //!< attribute AckInterval
    uint64_t m_windowBytes{0};                //!< attribute WindowBytes
    double m_windowBdps{0};                   //!< attribute WindowBdps
    uint32_t m_dataHeaderBytes{0};            //!< attribute DataHeaderBytes
    uint32_t m_firstHeaderBytes{0};           //!< attribute FirstHeaderBytes
    uint32_t m_ackBytes{0};                   //!< attribute AckBytes
    uint32_t m_cnpBytes{0};                   //!< attribute CnpBytes
    std::string m_retransmission;             //!< attribute Retransmission
    double m_lossRate{0};                     //!< attribute LossRate
    bool m_lossless{true};                    //!< attribute Lossless
    Time m_retransmitTimeout;                 //!< attribute RetransmitTimeout
    bool m_lazy{true};                        //!< attribute Lazy
    bool m_runAhead{true};                    //!< attribute RunAhead
    int64_t m_firstStream{0};                 //!< attribute Stream
    std::string m_controlType;                //!< attribute CongestionControl
    std::string m_balancerType;               //!< attribute LoadBalancer
    uint64_t m_reorderBytes{0};               //!< attribute ReorderBytes
    Time m_rerouteDelay;                      //!< attribute RerouteDelay
    Time m_deadlockInterval;                  //!< attribute DeadlockInterval
    bool m_watches{false};                    //!< attribute WatchForDeadlock
    std::vector<LinkEvent> m_linkEvents;      //!< to be played
    std::vector<TrafficClass> m_classes{1};   //!< of data packets
    std::unique_ptr<RoceFailures> m_failures; //!< null: none
    EventId m_watch;                          //!< WatchForDeadlock
    std::string m_trouble;                    //!< why the simulation was stopped
    std::set<QueuePair::Key> m_background;    //!< of these, nobody waits for what they carry
    std::string m_lostBackground;             //!< what of it has no way
    RocePacketPool m_pool;                    //!< all packets
    Ptr<Router> m_router;                     //!< paths
    Ptr<Router> m_idleRouter;                 //!< all links up; null: links do not fail
    TopologyPtr m_topology;                   //!< the router's
    RecordSink* m_sink{nullptr};              //!< may be null
    Ptr<CongestionControl> m_control;         //!< policy
    std::unique_ptr<RoceFabric> m_fabric;     //!< nodes, ports, links
    std::map<QueuePair::Key, std::unique_ptr<QueuePair>> m_queuePairs; //!< made when first used
    std::vector<Delivery> m_deliveries;                                //!< of this instant
    std::vector<Entry> m_entries;                                      //!< of this instant
    bool m_flushing{false};                                            //!< Flush is scheduled
    uint64_t m_messages{0};                                            //!< given to Send
    uint64_t m_live{0};                                                //!< not delivered yet
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_PACKET_NETWORK_H */
