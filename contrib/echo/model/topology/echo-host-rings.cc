// SPDX-License-Identifier: GPL-2.0-only
#include "echo-host-rings.h"

#include <algorithm>
#include <cstddef>
#include <map>

namespace ns3
{
namespace echo
{

namespace
{

using Ring = std::vector<uint32_t>;

/**
 * Lists round trips through all places over links, each once, whatever its direction; if asked to,
 * such in which a place passes on between two others that no link joins: it is listed between them.
 */
class RoundTrips
{
  public:
    explicit RoundTrips(const LinkUnits& units, bool passOn = false)
        : m_units(units), m_passOn(passOn), m_visited(units.size(), false)
    {
        m_trip.push_back(0);
        m_visited[0] = true;
        Extend();
    }

    const std::vector<Ring>& Get() const
    {
        return m_found;
    }

  private:
    void Extend()
    {
        if (++m_steps > MOST_STEPS)
        {
            return;
        }
        const uint32_t last = m_trip.back();
        if (++m_count == m_units.size())
        {
            const bool again = !m_passOn && m_trip[1] > last; // the other way round
            Cross(last, 0, [&] {
                if (!again)
                {
                    m_found.push_back(m_trip);
                }
            });
        }
        for (uint32_t next = 1; next < m_units.size(); ++next)
        {
            if (!m_visited[next])
            {
                Cross(last, next, [&] {
                    m_visited[next] = true;
                    m_trip.push_back(next);
                    Extend();
                    m_trip.pop_back();
                    m_visited[next] = false;
                });
            }
        }
        --m_count;
    }

    /** Goes on with @p rest over a link, or over each place between where there is none. */
    template <typename Rest>
    void Cross(uint32_t from, uint32_t to, const Rest& rest)
    {
        if (m_units[from][to] > 0)
        {
            rest();
            return;
        }
        for (uint32_t via = 0; m_passOn && via < m_units.size(); ++via)
        {
            if (m_units[from][via] > 0 && m_units[via][to] > 0)
            {
                m_trip.push_back(via);
                rest();
                m_trip.pop_back();
            }
        }
    }

    static constexpr uint32_t MOST_STEPS = 20000; //!< all of 8 places joined all to all: 13,700

    const LinkUnits& m_units;
    bool m_passOn;
    std::vector<bool> m_visited;
    Ring m_trip;
    size_t m_count{0}; //!< places visited
    uint32_t m_steps{0};
    std::vector<Ring> m_found;
};

/** Adds to the units of the links of a round trip. */
void Change(LinkUnits& units, const Ring& trip, int by)
{
    for (size_t i = 0; i < trip.size(); ++i)
    {
        const uint32_t a = trip[i];
        const uint32_t b = trip[(i + 1) % trip.size()];
        units[a][b] += static_cast<uint32_t>(by); // wraps and comes back
        units[b][a] += static_cast<uint32_t>(by);
    }
}

/** Finds the most round trips that the links carry side by side. */
class TripPacker
{
  public:
    TripPacker(const LinkUnits& units, const std::vector<Ring>& trips)
        : m_left(units), m_trips(trips), m_bound(UINT32_MAX)
    {
        for (const auto& row : units) // a round trip takes two units of each place
        {
            uint32_t sum = 0;
            for (const uint32_t count : row)
            {
                sum += count;
            }
            m_bound = std::min(m_bound, sum / 2);
        }
        Add(0);
    }

    const std::vector<size_t>& GetBest() const
    {
        return m_best;
    }

  private:
    void Add(size_t first)
    {
        if (m_chosen.size() > m_best.size())
        {
            m_best = m_chosen;
        }
        for (size_t trip = first; trip < m_trips.size(); ++trip)
        {
            if (m_best.size() >= m_bound || ++m_steps > MOST_STEPS)
            {
                return;
            }
            if (Fits(m_trips[trip]))
            {
                Change(m_left, m_trips[trip], -1);
                m_chosen.push_back(trip);
                Add(trip); // links may carry it again
                m_chosen.pop_back();
                Change(m_left, m_trips[trip], 1);
            }
        }
    }

    /** A trip that passes on may take a link twice; what is below zero wraps. */
    bool Fits(const Ring& trip)
    {
        Change(m_left, trip, -1);
        bool fits = true;
        for (size_t i = 0; i < trip.size(); ++i)
        {
            fits = fits && m_left[trip[i]][trip[(i + 1) % trip.size()]] <= uint32_t{INT32_MAX};
        }
        Change(m_left, trip, 1);
        return fits;
    }

    static constexpr uint32_t MOST_STEPS = 200000;

    LinkUnits m_left;
    const std::vector<Ring>& m_trips;
    uint32_t m_bound; //!< no more round trips than this
    std::vector<size_t> m_chosen;
    std::vector<size_t> m_best;
    uint32_t m_steps{0};
};

void AddRing(const Ring& ring, HostRings& rings)
{
    std::vector<uint32_t> positions(ring.size());
    for (uint32_t i = 0; i < ring.size(); ++i)
    {
        positions[ring[i]] = i;
    }
    rings.places.push_back(ring);
    rings.positions.push_back(std::move(positions));
}

/** The round trip as two rings, which take its links. */
void AddBothWays(Ring ring, LinkUnits& left, HostRings& rings)
{
    Change(left, ring, -1);
    AddRing(ring, rings);
    std::reverse(ring.begin() + 1, ring.end());
    AddRing(ring, rings);
}

/**
 * Adds rings so that each link carries at most two in a direction, if that makes more than twice as
 * many: an odd number of links at each GPU leaves one of them idle otherwise.
 * @param left what the rings so far leave of the units
 */
void AddShared(const LinkUnits& units,
               LinkUnits left,
               const std::vector<Ring>& trips,
               HostRings& rings)
{
    for (size_t a = 0; a < units.size(); ++a)
    {
        for (size_t b = 0; b < units.size(); ++b)
        {
            left[a][b] += units[a][b];
        }
    }
    const TripPacker packer(left, trips);
    if (2 * packer.GetBest().size() > rings.places.size())
    {
        for (const size_t trip : packer.GetBest())
        {
            AddBothWays(trips[trip], left, rings);
        }
    }
}

} // namespace

HostRings FindHostRings(const LinkUnits& units)
{
    HostRings rings;
    if (units.size() < 3)
    {
        return rings;
    }
    const RoundTrips trips(units);
    const TripPacker packer(units, trips.Get());
    LinkUnits left = units;
    for (const size_t trip : packer.GetBest())
    {
        AddBothWays(trips.Get()[trip], left, rings);
    }
    // Where trips are too many to list, those listed are much alike: more may fit beside them.
    for (;;)
    {
        const RoundTrips more(left);
        if (more.Get().empty())
        {
            break;
        }
        AddBothWays(more.Get().front(), left, rings);
    }
    AddShared(units, left, trips.Get(), rings);
    return rings;
}

double CountRings(const LinkUnits& units)
{
    // Rate of a ring whose data some GPU passes on, over one that needs none: the GPU behind it
    // reads (NCCL's indirect peers, src/transport/p2p.cc), and over the link that brings a ring's 9
    // flits of 16 B for each 128 B go the requests, a flit each, of the ring the other way round.
    constexpr double READ_THROUGH = 9.0 / 10;
    if (units.size() < 2)
    {
        return 1;
    }
    if (units.size() == 2)
    {
        return std::max(units[0][1], 1u); // to and back over the same links
    }
    const RoundTrips direct(units);
    if (const size_t trips = TripPacker(units, direct.Get()).GetBest().size(); trips > 0)
    {
        return 2.0 * static_cast<double>(trips);
    }
    // NCCL takes longer ways only where there is no direct one.
    const RoundTrips longer(units, true);
    const size_t trips = TripPacker(units, longer.Get()).GetBest().size();
    return trips > 0 ? 2 * READ_THROUGH * static_cast<double>(trips) : 1;
}

LinkUnits CountLinkUnits(const Topology& topology, const std::vector<DeviceId>& gpus)
{
    std::map<DeviceId, size_t> place;
    for (size_t i = 0; i < gpus.size(); ++i)
    {
        place[gpus[i]] = i;
    }
    std::vector<std::vector<uint64_t>> rates(gpus.size(), std::vector<uint64_t>(gpus.size(), 0));
    uint64_t slowest = UINT64_MAX;
    for (size_t i = 0; i < gpus.size(); ++i)
    {
        for (const PortId port : topology.GetPorts(gpus[i]))
        {
            const auto peer = place.find(topology.OwnerOf(Topology::PeerOf(port)));
            if (peer != place.end())
            {
                rates[i][peer->second] += topology.RateOf(port).GetBitRate();
                slowest = std::min(slowest, topology.RateOf(port).GetBitRate());
            }
        }
    }
    LinkUnits units(gpus.size(), std::vector<uint32_t>(gpus.size(), 0));
    for (size_t i = 0; i < gpus.size(); ++i)
    {
        for (size_t j = 0; j < gpus.size(); ++j)
        {
            units[i][j] = static_cast<uint32_t>(rates[i][j] / slowest);
        }
    }
    return units;
}

} // namespace echo
} // namespace ns3
