// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_FLOW_STREAMS_H
#define ECHO_FLOW_STREAMS_H

#include "echo-flow-weight.h"
#include "echo-fluid-progress.h"

#include "ns3/echo-pool.h"
#include "ns3/echo-router.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/** All messages of one (source, destination, label), one after the other on one path. */
struct FlowStream
{
    FluidProgress progress; //!< of the head
    uint32_t version{0};    //!< number of changes of its rate
    bool active{false};     //!< sends
    bool expected{false};   //!< when its head will be through is noted, at the present rate
    PortId bottleneck;      //!< full link on which nobody has more; invalid: rate not found yet
    uint32_t slot{0};       //!< its place among active streams
    PoolQueue queue;        //!< messages: the head, which is being sent, and those that wait
    uint64_t unbooked{0};   //!< bytes of the head that no link has counted yet
    int64_t delay{0};       //!< of the path, ps
    uint32_t parts{1};      //!< that share links as one stream, each with as much of its share
    uint64_t visit{0};      //!< number of the last update of rates that met it
    uint64_t trialRate{0};  //!< bit/s, found so far in that update
    PortId trialBottleneck; //!< found so far in that update
};

/** The transmitting ports of a path, in order. */
struct FlowPath
{
    const PortId* first;
    const PortId* last; //!< one behind

    const PortId* begin() const
    {
        return first;
    }

    const PortId* end() const
    {
        return last;
    }

    PortId operator[](uint32_t hop) const
    {
        return first[hop];
    }
};

/** One direction of one link, and who uses it. */
struct FlowLink
{
    struct User
    {
        uint32_t stream;
        uint32_t hop; //!< its place among the hops of all paths
    };

    /** @return the largest part of the rate that it had at the time which was given out */
    double GetPeakShare() const
    {
        return std::max(peakShare, static_cast<double>(peakRate) / static_cast<double>(rate));
    }

    uint64_t capacity{0};    //!< bit/s; 0 while it is cut
    uint64_t rate{0};        //!< bit/s while it is not cut
    uint64_t allocated{0};   //!< bit/s: sum of its users' rates
    std::vector<User> users; //!< active streams
    uint64_t weight{0};      //!< of these together (FlowWeight)
    uint64_t bytes{0};       //!< of messages that are through or went on elsewhere
    int64_t busySince{0};    //!< ps, while it has users
    int64_t busy{0};         //!< ps, up to busySince or the last user's end
    int64_t lastBusy{0};     //!< ps
    uint64_t peakRate{0};    //!< bit/s: the most that was given out of its present rate
    double peakShare{0};     //!< the most of a rate before that
    uint32_t slot{0};        //!< its place among links in use
    uint64_t visit{0};       //!< number of the last update of rates that met it
    uint32_t number{0};      //!< in that update
    bool inDoubt{false};     //!< to be checked in that update
};

/** The streams and links of a FlowNetwork: paths and who shares what. Knows no events. */
class FlowStreams
{
  public:
    /** To be called first. */
    void Prepare(Ptr<Router> router);

    /** Links may be cut: a stream that no path joins at present has none, and waits. */
    void AllowCuts()
    {
        m_allowsCuts = true;
    }

    /**
     * @return the number of the stream, made at first use
     * @throws UnsupportedError if no path joins the two
     */
    uint32_t FindOrAdd(DeviceId source, DeviceId destination, uint64_t label);

    /** Finds the path again, links having changed. An active stream whose path changes has rate 0.
     */
    void Reroute(uint32_t stream, int64_t now);

    /** @return the stream's source and destination */
    std::pair<DeviceId, DeviceId> GetEnds(uint32_t stream) const
    {
        return {std::get<0>(m_keys[stream]), std::get<1>(m_keys[stream])};
    }

    FlowStream& Get(uint32_t stream)
    {
        return m_streams[stream];
    }

    FlowPath GetPath(uint32_t stream) const
    {
        const Span span = m_paths[stream];
        return {m_hops.data() + span.first, m_hops.data() + span.first + span.count};
    }

    /** @return links on the stream's path */
    uint32_t CountHops(uint32_t stream) const
    {
        return m_paths[stream].count;
    }

    /** @return the place of its first hop among the hops of all paths */
    uint32_t GetFirstHop(uint32_t stream) const
    {
        return m_paths[stream].first;
    }

    FlowLink& GetLink(PortId port)
    {
        return m_links[port.Get()];
    }

    const std::vector<FlowLink>& GetLinks() const
    {
        return m_links;
    }

    const Topology& GetTopology() const
    {
        return *m_router->GetTopology();
    }

    /** @return streams, active or not */
    size_t GetCount() const
    {
        return m_streams.size();
    }

    /** @return active streams, in no particular order that still repeats from run to run */
    const std::vector<uint32_t>& GetActive() const
    {
        return m_active;
    }

    /** @return links with users, ordered as GetActive */
    const std::vector<PortId>& GetUsedLinks() const
    {
        return m_used;
    }

    /** The stream becomes active at @p now (ps), at rate 0, and uses its links. Its `parts` stay
     * until it stops. */
    void Enter(uint32_t stream, int64_t now);
    /** The stream stops. */
    void Leave(uint32_t stream, int64_t now);
    /** Links of its path count @p bytes of its head, which they carried. */
    void Book(uint32_t stream, uint64_t bytes);
    /** Its rate is @p bitsPerSecond from @p now on. */
    void SetRate(uint32_t stream, uint64_t bitsPerSecond, int64_t now);

    /** The same where what links have given out is set by the caller. */
    void TakeShare(uint32_t number, uint64_t bitsPerSecond, PortId bottleneck, int64_t now)
    {
        FlowStream& stream = m_streams[number];
        stream.bottleneck = bottleneck;
        if (stream.progress.GetRate() != bitsPerSecond)
        {
            stream.progress.SetRate(bitsPerSecond, now);
            ++stream.version;
            stream.expected = false;
        }
    }

  private:
    using Key = std::tuple<DeviceId, DeviceId, uint64_t>;

    struct KeyHash
    {
        size_t operator()(const Key& key) const;
    };

    /** A path among all hops. */
    struct Span
    {
        uint32_t first;
        uint32_t count;
    };

    void TakePath(uint32_t stream);

    Ptr<Router> m_router;
    bool m_allowsCuts{false};
    std::unordered_map<Key, uint32_t, KeyHash> m_index; //!< looked up only
    std::vector<FlowStream> m_streams;
    std::vector<uint32_t> m_active;
    std::vector<PortId> m_used;    //!< links with users
    std::vector<PortId> m_hops;    //!< all paths
    std::vector<Span> m_paths;     //!< by stream
    std::vector<Key> m_keys;       //!< by stream
    std::vector<uint32_t> m_slots; //!< by hop: the stream's place among the link's users
    std::vector<FlowLink> m_links; //!< by port
    std::vector<PortId> m_path;    //!< the last path found; kept for its memory
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_FLOW_STREAMS_H */
