// SPDX-License-Identifier: GPL-2.0-only
#include "echo-chakra-order.h"

#include <algorithm>
#include <deque>
#include <map>
#include <queue>
#include <tuple>

namespace ns3
{
namespace echo
{

namespace
{

using Place = std::pair<uint32_t, uint32_t>; //!< rank, node

/** What runs one node at a time: its ready nodes, lowest id first. */
struct Unit
{
    std::priority_queue<std::pair<uint64_t, uint32_t>,
                        std::vector<std::pair<uint64_t, uint32_t>>,
                        std::greater<>>
        ready; //!< id, node
    bool isBusy{false};
};

struct RankState
{
    std::vector<uint32_t> waiting; //!< by node: dependencies that are not done
    std::vector<uint32_t> firstChild;
    std::vector<uint32_t> children;
    std::map<int64_t, Unit> units; //!< by UnitOf()
    std::vector<bool> isDone;
};

/** One instance of a collective. */
struct Instance
{
    std::vector<Place> members; //!< that have come to it
};

/** Messages of one sender, receiver and tag. */
struct Channel
{
    std::deque<Place> sent;     //!< arrived, without a receive yet
    std::deque<Place> expected; //!< receives that are ready
};

class Scheduler
{
  public:
    Scheduler(const ChakraJob& job,
              const std::vector<std::vector<uint32_t>>& dependencies,
              const ChakraSpeeds& speeds);
    ChakraOrder Run();

  private:
    const ChakraNode& NodeAt(Place place) const
    {
        return m_job.traces[place.first].nodes[place.second];
    }

    double SecondsOf(const ChakraNode& node) const;
    void Release(Place place);
    void Start(uint32_t rank, Unit& unit);
    void Join(Place place);
    void Send(Place place);
    void Receive(Place place);
    void Arrive(Place send);
    void Finish(Place place);
    void FinishLater(Place place, double seconds);
    void AddReceives();
    void AddRest();

    const ChakraJob& m_job;
    const std::vector<std::vector<uint32_t>>& m_dependencies;
    const ChakraSpeeds& m_speeds;
    std::vector<RankState> m_ranks;
    std::map<std::tuple<uint32_t, uint32_t>, uint64_t> m_joined;    //!< by group and rank
    std::map<std::tuple<uint32_t, uint64_t>, Instance> m_instances; //!< by group and number
    std::map<std::tuple<uint32_t, uint32_t, int32_t>, Channel> m_channels;
    std::map<Place, Place> m_receiveOf; //!< by send
    /// Time, number, node: numbers keep the order of equal times.
    std::priority_queue<std::tuple<double, uint64_t, Place>,
                        std::vector<std::tuple<double, uint64_t, Place>>,
                        std::greater<>>
        m_events;
    std::vector<Place> m_free; //!< nodes that wait for nothing
    uint64_t m_number{0};
    double m_now{0};
    ChakraOrder m_order;
};

/** @return which unit of a rank runs a node: a GPU stream (from 0), else below 0 */
int64_t UnitOf(const ChakraNode& node)
{
    switch (node.type)
    {
    case ChakraNodeType::COMPUTE:
        return node.isOnCpu ? -1 : std::max<int64_t>(node.stream, 0);
    case ChakraNodeType::MEMORY_LOAD:
    case ChakraNodeType::MEMORY_STORE:
        return -2;
    default:
        return -3;
    }
}

Scheduler::Scheduler(const ChakraJob& job,
                     const std::vector<std::vector<uint32_t>>& dependencies,
                     const ChakraSpeeds& speeds)
    : m_job(job), m_dependencies(dependencies), m_speeds(speeds), m_ranks(job.traces.size())
{
    m_order.nodes.resize(job.traces.size());
    m_order.receives.resize(job.traces.size());
    for (uint32_t rank = 0; rank < job.traces.size(); ++rank)
    {
        const ChakraTrace& trace = job.traces[rank];
        RankState& state = m_ranks[rank];
        const auto count = static_cast<uint32_t>(trace.nodes.size());
        state.waiting.resize(count);
        state.firstChild.assign(count + 1, 0);
        state.isDone.assign(count, false);
        m_order.nodes[rank].reserve(count);
        for (uint32_t i = 0; i < count; ++i)
        {
            const ChakraNode& node = trace.nodes[i];
            state.waiting[i] = node.dependencyCount;
            for (uint32_t k = 0; k < node.dependencyCount; ++k)
            {
                ++state.firstChild[dependencies[rank][node.firstDependency + k] + 1];
            }
            if (node.dependencyCount == 0)
            {
                m_free.emplace_back(rank, i);
            }
        }
        for (uint32_t i = 0; i < count; ++i)
        {
            state.firstChild[i + 1] += state.firstChild[i];
        }
        std::vector<uint32_t> next(state.firstChild.begin(), state.firstChild.end() - 1);
        state.children.resize(state.firstChild[count]);
        for (uint32_t i = 0; i < count; ++i)
        {
            const ChakraNode& node = trace.nodes[i];
            for (uint32_t k = 0; k < node.dependencyCount; ++k)
            {
                state.children[next[dependencies[rank][node.firstDependency + k]]++] = i;
            }
        }
    }
}

double Scheduler::SecondsOf(const ChakraNode& node) const
{
    switch (node.type)
    {
    case ChakraNodeType::COMPUTE:
    case ChakraNodeType::MEMORY_LOAD:
    case ChakraNodeType::MEMORY_STORE:
        return node.duration.IsZero()
                   ? std::max(node.operations / m_speeds.operationsPerSecond,
                              static_cast<double>(node.tensorBytes) / m_speeds.memoryBytesPerSecond)
                   : node.duration.GetSeconds();
    default:
        return m_speeds.messageSeconds +
               static_cast<double>(node.communicationBytes) / m_speeds.networkBytesPerSecond;
    }
}

void Scheduler::FinishLater(Place place, double seconds)
{
    m_events.emplace(m_now + seconds, m_number++, place);
}

/** Nothing that a node waits for is left. */
void Scheduler::Release(Place place)
{
    const ChakraNode& node = NodeAt(place);
    const int64_t index = UnitOf(node);
    if (index != -3)
    {
        Unit& unit = m_ranks[place.first].units[index];
        unit.ready.emplace(node.id, place.second);
        return; // started when all that becomes ready now is known
    }
    switch (node.type)
    {
    case ChakraNodeType::COLLECTIVE:
        Join(place);
        break;
    case ChakraNodeType::SEND:
        Send(place);
        break;
    case ChakraNodeType::RECEIVE:
        Receive(place);
        break;
    default:
        m_order.nodes[place.first].push_back(place.second);
        FinishLater(place, 0);
        break;
    }
}

void Scheduler::Start(uint32_t rank, Unit& unit)
{
    if (unit.isBusy || unit.ready.empty())
    {
        return;
    }
    const Place place(rank, unit.ready.top().second);
    unit.ready.pop();
    unit.isBusy = true;
    m_order.nodes[rank].push_back(place.second);
    FinishLater(place, SecondsOf(NodeAt(place)));
}

void Scheduler::Join(Place place)
{
    m_order.nodes[place.first].push_back(place.second);
    const uint32_t group = m_job.groupOf[place.first][NodeAt(place).group];
    const uint64_t number = m_joined[{group, place.first}]++;
    Instance& instance = m_instances[{group, number}];
    instance.members.push_back(place);
    if (instance.members.size() < std::min(m_job.groups[group].size(), m_ranks.size()))
    {
        return;
    }
    const double seconds = SecondsOf(NodeAt(place));
    for (const Place& member : instance.members)
    {
        FinishLater(member, seconds);
    }
    m_instances.erase({group, number});
}

void Scheduler::Send(Place place)
{
    m_order.nodes[place.first].push_back(place.second);
    FinishLater(place, SecondsOf(NodeAt(place)));
}

void Scheduler::Receive(Place place)
{
    const ChakraNode& node = NodeAt(place);
    Channel& channel = m_channels[{node.peer, place.first, node.tag}];
    if (channel.sent.empty())
    {
        channel.expected.push_back(place);
        return;
    }
    m_receiveOf[channel.sent.front()] = place;
    channel.sent.pop_front();
    m_order.nodes[place.first].push_back(place.second);
    FinishLater(place, 0);
}

void Scheduler::Arrive(Place send)
{
    const ChakraNode& node = NodeAt(send);
    Channel& channel = m_channels[{send.first, node.peer, node.tag}];
    if (channel.expected.empty())
    {
        channel.sent.push_back(send);
        return;
    }
    const Place receive = channel.expected.front();
    channel.expected.pop_front();
    m_receiveOf[send] = receive;
    m_order.nodes[receive.first].push_back(receive.second);
    FinishLater(receive, 0);
}

void Scheduler::Finish(Place place)
{
    RankState& state = m_ranks[place.first];
    const ChakraNode& node = NodeAt(place);
    state.isDone[place.second] = true;
    if (const int64_t index = UnitOf(node); index != -3)
    {
        state.units[index].isBusy = false;
    }
    else if (node.type == ChakraNodeType::SEND)
    {
        Arrive(place);
    }
    for (uint32_t i = state.firstChild[place.second]; i < state.firstChild[place.second + 1]; ++i)
    {
        const uint32_t child = state.children[i];
        if (--state.waiting[child] == 0)
        {
            Release({place.first, child});
        }
    }
}

/** Receives from a peer in the order of its sends; those without a send at the end. */
void Scheduler::AddReceives()
{
    std::vector<std::vector<bool>> isAdded;
    for (const auto& trace : m_job.traces)
    {
        isAdded.emplace_back(trace.nodes.size(), false);
    }
    for (uint32_t rank = 0; rank < m_ranks.size(); ++rank)
    {
        for (uint32_t node : m_order.nodes[rank])
        {
            const auto receive = m_receiveOf.find({rank, node});
            if (receive != m_receiveOf.end())
            {
                const Place place = receive->second;
                m_order.receives[place.first].push_back(place.second);
                isAdded[place.first][place.second] = true;
            }
        }
    }
    for (uint32_t rank = 0; rank < m_ranks.size(); ++rank)
    {
        for (uint32_t node = 0; node < m_job.traces[rank].nodes.size(); ++node)
        {
            if (m_job.traces[rank].nodes[node].type == ChakraNodeType::RECEIVE &&
                !isAdded[rank][node])
            {
                m_order.receives[rank].push_back(node);
            }
        }
    }
}

/** Nodes behind a communication that never ends; what is wrong is for the checks to say. */
void Scheduler::AddRest()
{
    for (uint32_t rank = 0; rank < m_ranks.size(); ++rank)
    {
        std::vector<bool> isIn(m_job.traces[rank].nodes.size(), false);
        for (uint32_t node : m_order.nodes[rank])
        {
            isIn[node] = true;
        }
        std::vector<uint32_t> waiting;
        std::deque<uint32_t> ready;
        const auto& nodes = m_job.traces[rank].nodes;
        for (uint32_t i = 0; i < nodes.size(); ++i)
        {
            uint32_t open = 0;
            for (uint32_t k = 0; k < nodes[i].dependencyCount; ++k)
            {
                open += isIn[m_dependencies[rank][nodes[i].firstDependency + k]] ? 0 : 1;
            }
            waiting.push_back(open);
            if (!isIn[i] && open == 0)
            {
                ready.push_back(i);
            }
        }
        const RankState& state = m_ranks[rank];
        while (!ready.empty())
        {
            const uint32_t node = ready.front();
            ready.pop_front();
            m_order.nodes[rank].push_back(node);
            for (uint32_t i = state.firstChild[node]; i < state.firstChild[node + 1]; ++i)
            {
                if (--waiting[state.children[i]] == 0)
                {
                    ready.push_back(state.children[i]);
                }
            }
        }
    }
}

ChakraOrder Scheduler::Run()
{
    auto startAll = [this](uint32_t rank) {
        for (auto& [index, unit] : m_ranks[rank].units)
        {
            Start(rank, unit);
        }
    };
    for (const Place& place : m_free)
    {
        Release(place);
    }
    for (uint32_t rank = 0; rank < m_ranks.size(); ++rank)
    {
        startAll(rank);
    }
    while (!m_events.empty())
    {
        const auto [time, number, place] = m_events.top();
        m_events.pop();
        m_now = time;
        Finish(place);
        startAll(place.first);
    }
    AddRest();
    AddReceives();
    return std::move(m_order);
}

} // namespace

ChakraOrder OrderChakra(const ChakraJob& job,
                        const std::vector<std::vector<uint32_t>>& dependencies,
                        const ChakraSpeeds& speeds)
{
    return Scheduler(job, dependencies, speeds).Run();
}

} // namespace echo
} // namespace ns3
