// SPDX-License-Identifier: GPL-2.0-only
#include "synthetic-run.h"

#include "ns3/echo-fingerprint.h"

#include <algorithm>
#include <array>
#include <map>

using namespace ns3;
using namespace ns3::echo;

namespace
{

/** @return a time from @p low to twice that, fixed by the numbers */
Time Jitter(Time low, uint64_t a, uint64_t b, uint64_t c)
{
    Fingerprint hash;
    hash.Add(a);
    hash.Add(b);
    hash.Add(c);
    const int64_t ps = low.GetPicoSeconds();
    return PicoSeconds(ps + static_cast<int64_t>(hash.GetValue() % static_cast<uint64_t>(ps)));
}

/** Makes operators and collectives of all ranks, pass by pass. */
class Composer
{
  public:
    Composer(const SyntheticShape& shape, SyntheticRun& run)
        : m_shape(shape), m_run(run), m_free(shape.ranks), m_ops(shape.ranks, 0)
    {
    }

    void Pass(uint32_t microBatch, bool forward);
    void Gradients();

  private:
    uint32_t StageSize() const
    {
        return m_shape.ranks / m_shape.pipeline;
    }

    OperatorRecord& Add(uint32_t rank, uint32_t stream, const std::string& name)
    {
        OperatorRecord op;
        op.rank = RankId(rank);
        op.stream = StreamId(stream);
        op.op = OperatorId(m_ops[rank]++);
        op.name = name;
        m_run.operators.push_back(op);
        return m_run.operators.back();
    }

    void Kernel(uint32_t rank, const std::string& name, Time low, uint64_t key)
    {
        OperatorRecord& op = Add(rank, 0, name);
        op.ready = op.start = m_free[rank];
        op.end = m_free[rank] = op.start + Jitter(low, rank, key, 0);
        op.slowdown = key % 7 == 0 ? (op.end - op.start) / 10 : Time();
    }

    /** All members join when they are free, transfer together; blocks their compute if told. */
    void Communicate(const std::vector<uint32_t>& members,
                     CollectiveKind kind,
                     GroupKind group,
                     uint64_t bytes,
                     Time low,
                     bool blocks);

    const SyntheticShape& m_shape;
    SyntheticRun& m_run;
    std::vector<Time> m_free; //!< when each rank's compute stream is free
    std::vector<uint32_t> m_ops;
};

void Composer::Communicate(const std::vector<uint32_t>& members,
                           CollectiveKind kind,
                           GroupKind group,
                           uint64_t bytes,
                           Time low,
                           bool blocks)
{
    CollectiveRecord c;
    c.id = CollectiveId(static_cast<uint32_t>(m_run.collectives.size()));
    c.kind = kind;
    c.group = group;
    c.groupName = std::string(ToString(group)) + std::to_string(members.front());
    c.firstMember = RankId(members.front());
    c.ranks = static_cast<uint32_t>(members.size());
    const auto [lowest, highest] = std::minmax_element(members.begin(), members.end());
    c.hosts = *highest / m_shape.gpusPerHost - *lowest / m_shape.gpusPerHost + 1;
    c.bytes = bytes;
    c.algorithm = CollectiveAlgorithmKind::RING;
    c.protocol = CollectiveProtocol::SIMPLE;
    c.channels = 4;
    c.fidelity = group == GroupKind::TENSOR ? Fidelity::ANALYTICAL
                 : group == GroupKind::DATA ? Fidelity::PACKET
                                            : Fidelity::FLOW;
    c.firstJoin = c.start = m_free[members.front()];
    for (const uint32_t rank : members)
    {
        c.firstJoin = std::min(c.firstJoin, m_free[rank]);
        c.start = std::max(c.start, m_free[rank]);
    }
    c.end = c.start + Jitter(low, members.front(), c.id.Get(), 1);
    c.estimate = c.fidelity == Fidelity::ANALYTICAL ? c.end - c.start : low;
    c.payloadBytes = 2 * bytes;
    c.linkUtilization = c.fidelity == Fidelity::ANALYTICAL ? 0 : 0.75;
    c.extrapolated = c.id.Get() % 50 == 49;
    c.contended = group == GroupKind::DATA;
    m_run.collectives.push_back(c);
    for (const uint32_t rank : members)
    {
        OperatorRecord& op = Add(rank,
                                 1 + static_cast<uint32_t>(group),
                                 std::string(ToString(kind)) + " " + c.groupName);
        op.activity = ActivityKind::COMMUNICATION;
        op.group = group;
        op.bytes = bytes;
        op.collective = c.id;
        op.ready = m_free[rank];
        op.start = c.start;
        op.end = c.end;
        m_free[rank] = blocks ? c.end : m_free[rank];
    }
    if (c.fidelity != Fidelity::ANALYTICAL)
    {
        FlowRecord flow;
        flow.id = m_run.flows.size();
        flow.collective = c.id;
        flow.source = DeviceId(members.front());
        flow.destination = DeviceId(members.back());
        flow.bytes = bytes;
        flow.start = c.start;
        flow.end = c.end;
        flow.packets = bytes / 4096;
        flow.hops = 4;
        m_run.flows.push_back(flow);
    }
}

void Composer::Pass(uint32_t microBatch, bool forward)
{
    const uint32_t stages = m_shape.pipeline;
    for (uint32_t s = 0; s < stages; ++s)
    {
        const uint32_t stage = forward ? s : stages - 1 - s;
        const uint32_t first = stage * StageSize();
        for (uint32_t layer = 0; layer < m_shape.layers; ++layer)
        {
            for (const char* half : {"attention", "mlp"})
            {
                const uint64_t key = (microBatch * 2 + forward) * 1000 + layer;
                for (uint32_t rank = first; rank < first + StageSize(); ++rank)
                {
                    Kernel(rank,
                           std::string(forward ? "forward " : "backward ") + half,
                           MicroSeconds(forward ? 40 : 80),
                           key);
                }
                for (uint32_t rank = first;
                     m_shape.communication && m_shape.tensor > 1 && rank < first + StageSize();
                     rank += m_shape.tensor)
                {
                    std::vector<uint32_t> members;
                    for (uint32_t i = 0; i < m_shape.tensor; ++i)
                    {
                        members.push_back(rank + i);
                    }
                    Communicate(members,
                                CollectiveKind::ALL_REDUCE,
                                GroupKind::TENSOR,
                                16 << 20,
                                MicroSeconds(15),
                                true);
                }
            }
        }
        const uint32_t next = forward ? stage + 1 : stage - 1;
        for (uint32_t i = 0; m_shape.communication && next < stages && i < StageSize(); ++i)
        {
            const uint32_t to = next * StageSize() + i;
            m_free[to] = std::max(m_free[to], m_free[first + i]);
            Communicate({first + i, to},
                        CollectiveKind::SEND_RECV,
                        GroupKind::PIPELINE,
                        4 << 20,
                        MicroSeconds(30),
                        false);
            m_free[to] = std::max(m_free[to], m_run.collectives.back().end);
        }
    }
}

void Composer::Gradients()
{
    const uint32_t groups = StageSize() / m_shape.tensor;
    for (uint32_t stage = 0; m_shape.communication && groups > 1 && stage < m_shape.pipeline;
         ++stage)
    {
        for (uint32_t t = 0; t < m_shape.tensor; ++t)
        {
            std::vector<uint32_t> members;
            for (uint32_t g = 0; g < groups; ++g)
            {
                members.push_back(stage * StageSize() + g * m_shape.tensor + t);
            }
            Communicate(members,
                        CollectiveKind::ALL_REDUCE,
                        GroupKind::DATA,
                        256 << 20,
                        MicroSeconds(900),
                        false);
        }
    }
    for (uint32_t rank = 0; rank < m_shape.ranks; ++rank)
    {
        Kernel(rank, "optimizer <b>&amp;", MicroSeconds(300), 99999);
    }
}

} // namespace

SyntheticRun::SyntheticRun(const SyntheticShape& shape)
{
    MakeTimeline(shape);
    MakeNetwork(shape);
    MakeRanks(shape);
    MakeJobs(shape);
    MakeLinks();
    run.scenario = shape.scenario;
    run.fidelity = Fidelity::HYBRID;
    run.ranks = shape.ranks;
    run.hosts = (shape.ranks + shape.gpusPerHost - 1) / shape.gpusPerHost;
    run.congestionControl = flows.empty() ? "" : "dcqcn";
    for (const auto& flow : flows)
    {
        run.packets += flow.packets;
        run.packetHops += flow.packets * flow.hops;
    }
    if (shape.communication)
    {
        run.warnings = {"the scenario is made up: \"<script>alert(1)</script>\" & more"};
    }
    run.wallSeconds = 2;
    run.cpuSeconds = 1.5;
    run.peakMemoryBytes = 123456789;
    run.events = 1000;
}

void SyntheticRun::MakeTimeline(const SyntheticShape& shape)
{
    Composer composer(shape, *this);
    for (uint32_t m = 0; m < shape.microBatches; ++m)
    {
        composer.Pass(m, true);
    }
    for (uint32_t m = 0; m < shape.microBatches; ++m)
    {
        composer.Pass(m, false);
    }
    composer.Gradients();
    const auto byEnd = [](const auto& a, const auto& b) { return a.end < b.end; };
    std::stable_sort(operators.begin(), operators.end(), byEnd);
    std::stable_sort(collectives.begin(), collectives.end(), byEnd);
    std::stable_sort(flows.begin(), flows.end(), byEnd);
}

/** Equal parts; the first took twice as long as alone, the others were not compared. */
void SyntheticRun::MakeJobs(const SyntheticShape& shape)
{
    for (uint32_t i = 0; i < shape.jobs; ++i)
    {
        JobRecord job;
        job.name = "job" + std::to_string(i);
        job.firstRank = RankId(i * shape.ranks / shape.jobs);
        job.ranks = (i + 1) * shape.ranks / shape.jobs - job.firstRank.Get();
        job.hosts = 1;
        job.stepTime = run.stepTime;
        job.compute = job.stepTime / 2;
        job.idle = job.stepTime - job.compute;
        if (i == 0)
        {
            job.alone = job.stepTime / 2;
        }
        run.jobs.push_back(job);
    }
}

void SyntheticRun::MakeRanks(const SyntheticShape& shape)
{
    Time first = Time::Max();
    Time last;
    std::vector<std::map<Time, std::array<int, 3>>> changes(shape.ranks);
    ranks.resize(shape.ranks);
    for (uint32_t r = 0; r < shape.ranks; ++r)
    {
        ranks[r].rank = RankId(r);
        ranks[r].host = r / shape.gpusPerHost;
        ranks[r].firstStart = Time::Max();
    }
    for (const auto& op : operators)
    {
        auto& change = changes[op.rank.Get()];
        RankRecord& rank = ranks[op.rank.Get()];
        const bool communication = op.activity == ActivityKind::COMMUNICATION;
        ++change[op.start][communication ? 1 : 0];
        --change[op.end][communication ? 1 : 0];
        ++change[op.ready][2];
        --change[op.start][2];
        rank.slowdown += op.slowdown;
        rank.firstStart = std::min(rank.firstStart, op.start);
        rank.lastEnd = std::max(rank.lastEnd, op.end);
        first = std::min(first, op.start);
        last = std::max(last, op.end);
    }
    run.stepTime = last - first;
    for (uint32_t r = 0; r < shape.ranks; ++r)
    {
        std::array<int, 3> running{};
        Time at = first;
        const auto account = [&](Time until) {
            const Time span = until - at;
            RankRecord& rank = ranks[r];
            (running[0] > 0   ? rank.compute
             : running[1] > 0 ? rank.exposedCommunication
             : running[2] > 0 ? rank.waiting
                              : rank.idle) += span;
            rank.communication += running[1] > 0 ? span : Time();
            at = until;
        };
        for (const auto& [time, change] : changes[r])
        {
            account(time);
            for (size_t i = 0; i < 3; ++i)
            {
                running[i] += change[i];
            }
        }
        account(last);
    }
}

void SyntheticRun::MakeNetwork(const SyntheticShape& shape)
{
    const uint32_t hosts = (shape.ranks + shape.gpusPerHost - 1) / shape.gpusPerHost;
    const uint32_t gpus = std::min(shape.gpusPerHost, shape.ranks);
    const auto add = [&](const std::string& name, DeviceRole role, HostId host) {
        network.nodes.push_back({name, role, host});
        return static_cast<uint32_t>(network.nodes.size() - 1);
    };
    std::vector<std::vector<uint32_t>> nics(hosts);
    for (uint32_t h = 0; h < hosts; ++h)
    {
        const std::string host = "host" + std::to_string(h) + "/";
        std::vector<uint32_t> hostGpus;
        for (uint32_t g = 0; g < gpus; ++g)
        {
            hostGpus.push_back(add(host + "gpu" + std::to_string(g), DeviceRole::GPU, HostId(h)));
        }
        const uint32_t nvs = add(host + "nvswitch0", DeviceRole::NV_SWITCH, HostId(h));
        for (uint32_t g = 0; g < gpus; ++g)
        {
            nics[h].push_back(add(host + "nic" + std::to_string(g), DeviceRole::NIC, HostId(h)));
            network.edges.push_back({hostGpus[g], nvs, DataRate("3600Gbps")});
            network.edges.push_back({hostGpus[g], nics[h][g], DataRate("512Gbps")});
        }
    }
    std::vector<uint32_t> leaves;
    for (uint32_t g = 0; hosts > 1 && g < gpus; ++g)
    {
        leaves.push_back(add("leaf" + std::to_string(g), DeviceRole::LEAF, HostId()));
        for (uint32_t h = 0; h < hosts; ++h)
        {
            network.edges.push_back({nics[h][g], leaves[g], DataRate("400Gbps")});
        }
    }
    for (uint32_t s = 0; hosts > 1 && s < 4; ++s)
    {
        const uint32_t spine = add("spine" + std::to_string(s), DeviceRole::SPINE, HostId());
        for (const uint32_t leaf : leaves)
        {
            network.edges.push_back({leaf, spine, DataRate("400Gbps")});
        }
    }
}

void SyntheticRun::MakeLinks()
{
    if (collectives.empty())
    {
        return;
    }
    for (uint32_t l = 0; l < network.edges.size(); ++l)
    {
        for (uint32_t side = 0; side < 2; ++side)
        {
            const auto& edge = network.edges[l];
            LinkRecord link;
            link.link = LinkId(l);
            link.port = PortId(2 * l + side);
            const auto& from = network.nodes[side == 0 ? edge.a : edge.b];
            const auto& to = network.nodes[side == 0 ? edge.b : edge.a];
            link.from = from.name;
            link.to = to.name;
            link.fromRole = from.role;
            link.toRole = to.role;
            link.rate = edge.rate;
            Fingerprint hash;
            hash.Add(l);
            hash.Add(side);
            const uint64_t share = hash.GetValue() % 100;
            if (share < 10)
            {
                continue; // carried nothing
            }
            const double seconds = run.stepTime.GetSeconds() * static_cast<double>(share) / 120;
            link.wireBytes =
                static_cast<uint64_t>(static_cast<double>(edge.rate.GetBitRate()) / 8 * seconds);
            link.payloadBytes = link.wireBytes / 66 * 64;
            link.packets = link.wireBytes / 4224;
            link.busy = Seconds(seconds);
            link.lastBusy = run.stepTime;
            link.peakRate = 1;
            link.maxQueueBytes = share * 4096;
            link.ecnMarks = share > 80 ? share : 0;
            link.pauses = share > 95 ? share - 90 : 0;
            link.drops = share == 42 ? 3 : 0;
            links.push_back(link);
        }
    }
}

void SyntheticRun::Replay(RecordSink& sink) const
{
    size_t c = 0;
    size_t f = 0;
    for (const auto& op : operators)
    {
        for (; f < flows.size() && flows[f].end <= op.end; ++f)
        {
            sink.OnFlow(flows[f]);
        }
        for (; c < collectives.size() && collectives[c].end <= op.end; ++c)
        {
            sink.OnCollective(collectives[c]);
        }
        sink.OnOperator(op);
    }
    for (const auto& rank : ranks)
    {
        sink.OnRank(rank);
    }
    for (const auto& link : links)
    {
        sink.OnLink(link);
    }
    sink.OnRun(run);
}
