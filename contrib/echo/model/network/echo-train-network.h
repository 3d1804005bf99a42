// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TRAIN_NETWORK_H
#define ECHO_TRAIN_NETWORK_H

#include "echo-flow-streams.h"
#include "echo-network-model.h"
#include "echo-transfers.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Messages as trains of packets: what packets without congestion control do, many at once.
 *
 * Messages of one (source, destination, label) follow one another on one path, streams of a source
 * take turns train by train. A link serves trains in the order in which their first packets come
 * (FIFO), one after the other at its rate, headers included. A train is not stored: its first
 * packet is forwarded when it has arrived whole and the link is free, and a train does not end
 * before its last packet came and was forwarded. So a message alone takes exactly what packets
 * take, and in a queue the order of arrival is kept, which fair shares of a fluid forget: it
 * decides how communications that share a link drift apart. Events are those of packets divided by
 * the packets of a train.
 *
 * A source stops while the switch that it leads to holds too much of what it sent, as PFC has it
 * (dynamic threshold): what waits for a link holds up what is behind it.
 *
 * Left out: PFC between switches (their buffers are endless for one another), congestion control,
 * loss, failures, classes.
 */
class TrainNetwork : public NetworkModel
{
  public:
    static TypeId GetTypeId();

    void Prepare(Ptr<Router> router, RecordSink* sink) override;
    void Send(const Message& message, DeliveredCallback delivered) override;
    Fidelity GetFidelity() const override;
    void ReportLinks(RecordSink& sink, Time duration) const override;
    NetworkTotals GetTotals() const override;

  protected:
    void DoDispose() override;

  private:
    /** Messages of one (source, destination, label) that have not left the source; a path. */
    struct Stream
    {
        PoolQueue queue;
        uint64_t sent{0};  //!< payload of the head that has left
        uint64_t turn{0};  //!< payload by which it is its turn, of what it sent and was owed
        uint32_t parts{1}; //!< that share turns with it: its bytes count so many times
    };

    /** A train on its way. */
    struct Train
    {
        uint32_t stream{0};
        uint32_t transfer{0};
        uint32_t hop{0};
        uint64_t payload{0};
        uint64_t packets{0};
        bool isFirst{false};  //!< of its message
        bool isLast{false};   //!< of its message
        int64_t end{0};       //!< ps: its last byte is at the device that it comes to
        int64_t endBefore{0}; //!< ps: the last byte of its last packet but one is
    };

    /** A train that has not come in whole. */
    struct Coming
    {
        int64_t begin;        //!< ps: when its first packet was there
        int64_t end;          //!< ps: when its last byte will be
        int64_t transmission; //!< ps that what follows the first packet takes
    };

    /** What is before a train at a port. */
    struct Queue
    {
        int64_t there;   //!< ps of work that was there before its first packet
        int64_t between; //!< ps of work that comes with it, packet by packet, before its last one
    };

    /** One direction of one link. */
    struct Port
    {
        int64_t free{0}; //!< ps: all work that was announced will be done
        std::vector<Coming> coming;
        int64_t fullPacket{0};              //!< ps that one takes; 0: not used yet
        std::vector<int64_t> transmissions; //!< ps, by number of full packets; 0: not used yet
        int64_t firstHeader{0};             //!< ps that a message's first packet takes more
        int64_t delay{0};                   //!< ps
        int64_t busy{0};                    //!< ps
        int64_t longestQueue{0};            //!< ps that a train waited
        uint64_t payload{0};
        uint64_t wire{0}; //!< bytes, headers included
        DataRate rate;
    };

    /** A port that streams begin at. */
    struct Source
    {
        std::deque<uint32_t> streams;   //!< with something to send
        uint64_t turn{0};               //!< of the stream that was served last
        bool sends{false};              //!< a train, or waits to
        uint32_t device{0};             //!< that it leads to
        uint64_t held{0};               //!< bytes of its trains that are there or on their way
        std::deque<int64_t> departures; //!< ps: when some of these leave, mostly ascending
        bool waits{false};              //!< for one of these, none of which is known yet
    };

    /** Bytes that leave a switch. */
    struct Departure
    {
        int64_t time; //!< ps
        uint64_t bytes;
        uint32_t source; //!< port

        bool operator>(const Departure& other) const
        {
            return time > other.time;
        }
    };

    /** A switch that sources lead to. */
    struct Buffer
    {
        uint64_t held{0}; //!< bytes
        std::priority_queue<Departure, std::vector<Departure>, std::greater<Departure>> departures;
    };

    uint64_t GetPacketCount(uint64_t payload) const;
    Port& GetPort(PortId number);
    /** @return ps that a train takes on a port */
    int64_t GetTransmission(Port& port, uint64_t payload, uint64_t packets) const;
    /** @return whether the switch that a source leads to has paused it */
    bool IsPaused(Source& source, int64_t now);
    /** What a source has sent leaves the switch that it leads to. */
    void Release(PortId port, uint64_t bytes, int64_t time);
    uint64_t GetWireBytes(const Train& train) const;
    /** @return the stream that is served next: packets take turns, trains differ in length */
    uint32_t TakeTurn(Source& source);
    /** The port is free for the next train of the streams that begin at it. */
    void SendNext(PortId port);
    /** @return what a train waits for whose first packet came at @p now and whose last byte comes
     * at @p end, both ps */
    static Queue GetQueue(Port& port, int64_t now, int64_t end);
    /** The first packet of a train is at the next port of its path. */
    void Forward(uint32_t train);

    uint64_t m_mtu{4096};            //!< attribute Mtu
    uint64_t m_headerBytes{82};      //!< attribute HeaderBytes
    uint64_t m_firstHeaderBytes{16}; //!< attribute FirstHeaderBytes
    uint32_t m_trainPackets{64};     //!< attribute TrainPackets
    uint64_t m_bufferBytes{0};       //!< attribute BufferBytes
    double m_alpha{0};               //!< attribute PfcAlpha
    FlowStreams m_paths;             //!< of streams, by number; paths only
    std::vector<Stream> m_streams;
    std::vector<Port> m_ports;
    std::vector<int64_t> m_left; //!< by hop of all paths: when the stream's last train has left it
    std::vector<Source> m_sources; //!< by port
    std::vector<Buffer> m_buffers; //!< by device
    Transfers m_transfers{m_deliveredTrace};
    Pool<Train> m_trains; //!< on their way
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_TRAIN_NETWORK_H */
