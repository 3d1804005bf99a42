// SPDX-License-Identifier: GPL-2.0-only
#include "echo-placement.h"

#include "ns3/echo-error.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

namespace ns3
{
namespace echo
{

namespace
{

void RequireRanksFit(const Topology& topology, uint32_t ranks)
{
    const size_t gpus = topology.GetDevices(DeviceRole::GPU).size();
    if (ranks == 0 || ranks > gpus)
    {
        throw InputError({"", 0, "ranks"},
                         std::to_string(ranks) + " ranks for " + std::to_string(gpus) + " GPUs",
                         "from 1 rank to one for each GPU");
    }
}

/** Consecutive ranks on consecutive GPUs of a host, and on the same GPUs of the hosts after it. */
struct Run
{
    uint32_t firstRank;
    uint32_t ranks; //!< on each host
    uint32_t firstHost;
    uint32_t hosts;
    uint32_t firstGpu;
};

std::string Span(const std::string& prefix, uint32_t first, uint32_t count)
{
    const std::string text = prefix + std::to_string(first);
    return count == 1 ? text : text + "-" + prefix + std::to_string(first + count - 1);
}

std::string DescribeRun(const Run& run)
{
    const uint32_t ranks = run.ranks * run.hosts;
    const std::string first = std::to_string(run.firstRank);
    const std::string last = std::to_string(run.firstRank + ranks - 1);
    return (ranks == 1 ? "rank " + first : "ranks " + first + "-" + last) + " on " +
           Span("host", run.firstHost, run.hosts) + " (" + Span("gpu", run.firstGpu, run.ranks) +
           (run.hosts > 1 ? " each)" : ")");
}

/** Runs of one host each. */
std::vector<Run> FindRuns(const Topology& topology,
                          const std::vector<DeviceId>& gpus,
                          uint32_t first,
                          uint32_t count)
{
    std::vector<Run> runs;
    for (uint32_t rank = first; rank < first + count; ++rank)
    {
        const Device& gpu = topology.GetDevice(gpus[rank]);
        if (!runs.empty() && runs.back().firstHost == gpu.host.Get() &&
            runs.back().firstGpu + runs.back().ranks == gpu.index)
        {
            ++runs.back().ranks;
        }
        else
        {
            runs.push_back({rank, 1, gpu.host.Get(), 1, gpu.index});
        }
    }
    return runs;
}

/** Joins equal runs on consecutive hosts where there are at least FOLD of them. */
std::vector<Run> FoldRuns(const std::vector<Run>& runs)
{
    constexpr size_t FOLD = 3;
    std::vector<Run> folded;
    for (size_t i = 0; i < runs.size();)
    {
        size_t end = i + 1;
        while (end < runs.size() && runs[end].ranks == runs[i].ranks &&
               runs[end].firstGpu == runs[i].firstGpu &&
               runs[end].firstHost == runs[end - 1].firstHost + 1)
        {
            ++end;
        }
        end = end - i >= FOLD ? end : i + 1;
        folded.push_back(runs[i]);
        folded.back().hosts = static_cast<uint32_t>(end - i);
        i = end;
    }
    return folded;
}

} // namespace

Placement Placement::Linear(TopologyPtr topology, uint32_t ranks)
{
    RequireRanksFit(*topology, ranks);
    std::vector<DeviceId> gpus;
    gpus.reserve(ranks);
    for (uint32_t host = 0; host < topology->GetHostCount(); ++host)
    {
        for (const DeviceId gpu : topology->GetGpus(HostId(host)))
        {
            if (gpus.size() < ranks)
            {
                gpus.push_back(gpu);
            }
        }
    }
    return Placement(std::move(topology), std::move(gpus));
}

Placement Placement::RoundRobin(TopologyPtr topology, uint32_t ranks)
{
    RequireRanksFit(*topology, ranks);
    std::vector<DeviceId> gpus;
    gpus.reserve(ranks);
    for (uint32_t round = 0; gpus.size() < ranks; ++round)
    {
        for (uint32_t host = 0; host < topology->GetHostCount() && gpus.size() < ranks; ++host)
        {
            const auto& onHost = topology->GetGpus(HostId(host));
            if (round < onHost.size())
            {
                gpus.push_back(onHost[round]);
            }
        }
    }
    return Placement(std::move(topology), std::move(gpus));
}

Placement::Placement(TopologyPtr topology, std::vector<DeviceId> gpus)
    : m_topology(std::move(topology)), m_gpus(std::move(gpus))
{
    RequireRanksFit(*m_topology, GetRankCount());
    std::set<DeviceId> used;
    for (uint32_t rank = 0; rank < m_gpus.size(); ++rank)
    {
        const SourceLocation where{"", 0, "placement of rank " + std::to_string(rank)};
        const DeviceId gpu = m_gpus[rank];
        if (gpu.Get() >= m_topology->GetDeviceCount())
        {
            throw InputError(where, "a device that is not in the cluster", "a GPU");
        }
        const Device& device = m_topology->GetDevice(gpu);
        if (device.role != DeviceRole::GPU)
        {
            throw InputError(where, device.name + ", a " + ToString(device.role), "a GPU");
        }
        if (!used.insert(gpu).second)
        {
            throw InputError(where, device.name + " for a second rank", "one rank on a GPU");
        }
    }
}

HostId Placement::GetHost(RankId rank) const
{
    return m_topology->GetDevice(GetGpu(rank)).host;
}

DeviceId Placement::GetNic(RankId rank) const
{
    return m_topology->GetNicOf(GetGpu(rank));
}

std::pair<DeviceId, DeviceId> Placement::GetNicPair(RankId source, RankId destination) const
{
    const DeviceId own = GetNic(source);
    const DeviceId theirs = GetNic(destination);
    if (!own.IsValid() || !theirs.IsValid())
    {
        return {own, theirs};
    }
    const auto& nics = m_topology->GetNics(GetHost(source));
    if (m_topology->HasNvSwitch(GetHost(source)) &&
        nics.size() == m_topology->GetNics(GetHost(destination)).size())
    {
        return {nics[m_topology->GetDevice(theirs).index], theirs};
    }
    return {own, theirs};
}

uint32_t Placement::GetUsedHostCount() const
{
    std::set<HostId> used;
    for (const DeviceId gpu : m_gpus)
    {
        used.insert(m_topology->GetDevice(gpu).host);
    }
    return static_cast<uint32_t>(used.size());
}

std::string Placement::Describe(RankId first, uint32_t count) const
{
    const std::vector<Run> runs = FoldRuns(FindRuns(*m_topology, m_gpus, first.Get(), count));
    constexpr size_t SHOWN = 16;
    std::string text;
    for (size_t i = 0; i < runs.size(); ++i)
    {
        if (i == SHOWN && runs.size() > SHOWN + 1)
        {
            text += ", ... (" + std::to_string(runs.size() - SHOWN - 1) + " more)";
            i = runs.size() - 1;
        }
        text += (text.empty() ? "" : ", ") + DescribeRun(runs[i]);
    }
    return text;
}

/** @return places in @p members, one of each NIC in turn; NICs and members in their order */
std::vector<uint32_t> EntriesOf(const std::vector<uint32_t>& members,
                                const CommGroup& group,
                                const Placement& placement)
{
    std::map<DeviceId, uint32_t> taken;
    std::vector<std::pair<uint32_t, uint32_t>> turns; // turn at its NIC, place
    for (uint32_t place = 0; place < members.size(); ++place)
    {
        turns.emplace_back(taken[placement.GetNic(group.GetRank(members[place]))]++, place);
    }
    std::sort(turns.begin(), turns.end());
    std::vector<uint32_t> entries;
    for (const auto& turn : turns)
    {
        entries.push_back(turn.second);
    }
    return entries;
}

/** Leaves the first rings, which the links carry side by side. */
void LeaveSideBySide(LinkUnits units, HostRings& rings)
{
    size_t fitting = 0;
    for (const auto& ring : rings.places)
    {
        for (size_t i = 0; i < ring.size(); ++i)
        {
            if (units[ring[i]][ring[(i + 1) % ring.size()]]-- == 0)
            {
                rings.places.resize(fitting);
                rings.positions.resize(fitting);
                return;
            }
        }
        ++fitting;
    }
}

/** Rings of the members of one host; those of hosts alike are searched once. */
std::shared_ptr<const HostRings> RingsOf(
    const std::vector<uint32_t>& members,
    const CommGroup& group,
    const Placement& placement,
    bool alone,
    std::map<LinkUnits, std::shared_ptr<const HostRings>>& known)
{
    static const auto NONE = std::make_shared<const HostRings>();
    if (members.size() < 3)
    {
        return NONE; // any order is the same ring
    }
    std::vector<DeviceId> gpus;
    for (const uint32_t member : members)
    {
        gpus.push_back(placement.GetGpu(group.GetRank(member)));
    }
    const LinkUnits units = CountLinkUnits(*placement.GetTopology(), gpus);
    auto& rings = known[units];
    if (!rings)
    {
        HostRings found = FindHostRings(units);
        if (!alone)
        {
            // NICs limit rings of several hosts: more orders would load them unevenly.
            LeaveSideBySide(units, found);
        }
        rings = std::make_shared<const HostRings>(std::move(found));
    }
    return rings;
}

/**
 * Rings of channels that leave a host by one of its NICs: of each turn of @p entries the ring that
 * ends at the NIC least used until then; of equals at the NIC where the channel enters (NCCL keeps
 * to one NIC, graph/search.cc without crossNic), then the ring least used.
 */
std::shared_ptr<const HostRings> SpreadOverNics(const HostRings& rings,
                                                const std::vector<uint32_t>& members,
                                                const std::vector<uint32_t>& entries,
                                                const CommGroup& group,
                                                const Placement& placement)
{
    const auto nicAt = [&](uint32_t place) {
        return placement.GetNic(group.GetRank(members[place]));
    };
    auto spread = std::make_shared<HostRings>();
    std::map<DeviceId, uint32_t> leaving;
    std::vector<uint32_t> taken(rings.places.size(), 0);
    for (const uint32_t entry : entries)
    {
        const auto exitOf = [&](size_t ring) {
            const auto& places = rings.places[ring];
            return nicAt(
                places[(rings.positions[ring][entry] + places.size() - 1) % places.size()]);
        };
        size_t best = 0;
        std::tuple<uint32_t, bool, uint32_t> least;
        for (size_t ring = 0; ring < rings.places.size(); ++ring)
        {
            const DeviceId nic = exitOf(ring);
            const std::tuple<uint32_t, bool, uint32_t> use{
                leaving[nic], nic != nicAt(entry), taken[ring]};
            if (ring == 0 || use < least)
            {
                best = ring;
                least = use;
            }
        }
        ++leaving[exitOf(best)];
        ++taken[best];
        spread->places.push_back(rings.places[best]);
        spread->positions.push_back(rings.positions[best]);
    }
    return spread;
}

GroupLayoutPtr MakeGroupLayout(CommGroupPtr group, PlacementPtr placement)
{
    auto layout = std::make_shared<GroupLayout>();
    const Topology& topology = *placement->GetTopology();
    // Device ids would do as well, but index order is what is promised.
    std::vector<std::tuple<HostId, uint32_t, uint32_t>> members; // host, GPU index, member
    for (uint32_t member = 0; member < group->GetSize(); ++member)
    {
        const RankId rank = group->GetRank(member);
        if (rank.Get() >= placement->GetRankCount())
        {
            throw InputError({"", 0, "group " + group->GetName()},
                             "rank " + std::to_string(rank.Get()) + ", which runs on no GPU",
                             "ranks below " + std::to_string(placement->GetRankCount()));
        }
        const Device& gpu = topology.GetDevice(placement->GetGpu(rank));
        members.emplace_back(gpu.host, gpu.index, member);
    }
    std::sort(members.begin(), members.end());
    layout->hostOf.resize(members.size());
    HostId current;
    for (const auto& [host, index, member] : members)
    {
        if (host != current)
        {
            layout->hosts.emplace_back();
            current = host;
        }
        layout->hosts.back().push_back(member);
        layout->hostOf[member] = layout->GetHosts() - 1;
    }
    layout->minLocal = std::numeric_limits<uint32_t>::max();
    layout->nicsPerHost = std::numeric_limits<uint32_t>::max();
    std::map<LinkUnits, std::shared_ptr<const HostRings>> rings;
    for (const auto& host : layout->hosts)
    {
        const auto local = static_cast<uint32_t>(host.size());
        layout->minLocal = std::min(layout->minLocal, local);
        layout->maxLocal = std::max(layout->maxLocal, local);
        std::set<DeviceId> nics;
        for (const uint32_t member : host)
        {
            const DeviceId nic = placement->GetNic(group->GetRank(member));
            if (nic.IsValid())
            {
                nics.insert(nic);
            }
        }
        layout->nicsPerHost = std::min(layout->nicsPerHost, static_cast<uint32_t>(nics.size()));
        layout->entries.push_back(EntriesOf(host, *group, *placement));
        const bool alone = layout->hosts.size() == 1;
        auto found = RingsOf(host, *group, *placement, alone, rings);
        if (!alone && !found->IsEmpty())
        {
            found = SpreadOverNics(*found, host, layout->entries.back(), *group, *placement);
        }
        layout->rings.push_back(std::move(found));
    }
    layout->group = std::move(group);
    layout->placement = std::move(placement);
    return layout;
}

} // namespace echo
} // namespace ns3
