// SPDX-License-Identifier: GPL-2.0-only
#include "echo-tracer-importer.h"

#include "echo-import-report.h"
#include "echo-input-file.h"
#include "echo-program-draft.h"
#include "echo-tracer-graph.h"

#include "ns3/echo-workload-builder.h"

#include <algorithm>
#include <optional>

namespace ns3
{
namespace echo
{

namespace
{

class Importer
{
  public:
    Importer(uint32_t ranks, uint32_t defaultRanks) : m_ranks(ranks), m_defaultRanks(defaultRanks)
    {
    }

    ImportedJob Import(const std::vector<std::string>& paths);

  private:
    using Operators = std::vector<uint32_t>;

    void AddFile(const std::string& path);
    void AddNode(uint32_t index);
    Operators WaitedBy(uint32_t index) const;
    void Reduce(Operators& operators) const;
    void AddBucket(const TracerNode& node, const Operators& waited, Operators& done);
    uint32_t ElementBytesOf(uint32_t bucket) const;

    uint32_t m_ranks;
    uint32_t m_defaultRanks;
    std::string m_graphFile;
    TracerFile m_graph;
    std::string m_profileFile;
    std::map<std::string, Time> m_times;
    std::unordered_map<std::string, uint32_t> m_indexOf; //!< looked up only
    std::vector<Operators> m_done;                       //!< by node: ends with it
    ProgramDraft m_draft;
    ImportReport m_report;
    uint64_t m_timed{0};
    uint64_t m_buckets{0};
};

void Importer::AddFile(const std::string& path)
{
    TracerFile file = ReadTracerFile(path);
    std::string& known = file.isGraph ? m_graphFile : m_profileFile;
    if (!known.empty())
    {
        throw InputError({path, 0, ""},
                         std::string(file.isGraph ? "a second graph" : "a second profile") +
                             " (the first is " + known + ")",
                         "one graph and at most one profile");
    }
    known = path;
    if (file.isGraph)
    {
        m_graph = std::move(file);
        return;
    }
    m_times = std::move(file.times);
}

/** Leaves the last operator of each stream. */
void Importer::Reduce(Operators& operators) const
{
    std::map<uint32_t, uint32_t> last;
    for (uint32_t op : operators)
    {
        uint32_t& known = last.emplace(m_draft.GetEntry(op).stream, op).first->second;
        known = std::max(known, op);
    }
    operators.clear();
    for (const auto& [stream, op] : last)
    {
        operators.push_back(op);
    }
}

Importer::Operators Importer::WaitedBy(uint32_t index) const
{
    const TracerNode& node = m_graph.nodes[index];
    Operators operators;
    for (const std::string& name : node.after)
    {
        const auto known = m_indexOf.find(name);
        if (known == m_indexOf.end() || known->second >= index)
        {
            throw InputError({m_graphFile, 0, "operator '" + node.name + "'"},
                             "an input '" + name + "' that is " +
                                 (known == m_indexOf.end() ? "not there" : "not before it"),
                             "an operator before it in the list");
        }
        const Operators& done = m_done[known->second];
        operators.insert(operators.end(), done.begin(), done.end());
    }
    Reduce(operators);
    return operators;
}

/** Gradients have the type of what is accumulated into the bucket. */
uint32_t Importer::ElementBytesOf(uint32_t bucket) const
{
    std::optional<uint32_t> next = bucket;
    while (next)
    {
        const std::vector<std::string>& inputs = m_graph.nodes[*next].after;
        next.reset();
        for (const std::string& name : inputs)
        {
            const uint32_t index = m_indexOf.at(name);
            const TracerNode& node = m_graph.nodes[index];
            if (!node.inputs.empty())
            {
                return node.inputs.front().GetElementBytes();
            }
            if (node.op == "ddp_pre")
            {
                next = index; // stands before it in the list
                break;
            }
        }
    }
    return 4;
}

void Importer::AddBucket(const TracerNode& node, const Operators& waited, Operators& done)
{
    ++m_buckets;
    CommunicationDescription communication;
    communication.spec.bytes = node.bucketElements * ElementBytesOf(m_indexOf.at(node.name));
    if (communication.spec.bytes == 0)
    {
        throw InputError({m_graphFile, 0, "operator '" + node.name + "'"},
                         "no bucket_size",
                         "the bucket's number of elements");
    }
    ProgramDraft::Entry entry;
    entry.type = OperatorType::COLLECTIVE;
    entry.stream = m_draft.GetStream("nccl");
    entry.name = m_draft.GetName(node.name);
    entry.communication = m_draft.AddCommunication(std::move(communication));
    const uint32_t op = m_draft.Add(entry);
    for (uint32_t dependency : waited)
    {
        m_draft.AddDependency(op, dependency);
    }
    done = {op};
}

void Importer::AddNode(uint32_t index)
{
    const TracerNode& node = m_graph.nodes[index];
    Operators waited = WaitedBy(index);
    if (!m_indexOf.emplace(node.name, index).second)
    {
        throw InputError({m_graphFile, 0, "operator '" + node.name + "'"}, "a second one", "one");
    }
    Operators& done = m_done[index];
    if (node.op == "ddp_Allreduce")
    {
        AddBucket(node, waited, done);
        return;
    }
    ProgramDraft::Entry entry;
    const auto time = m_times.find(node.name);
    if (time != m_times.end())
    {
        entry.duration = time->second;
        ++m_timed;
    }
    const bool isView = IsTracerView(node);
    if (!isView)
    {
        entry.flops = CountTracerOperations(node);
        entry.memoryBytes = node.weight.GetBytes();
        for (const auto* tensors : {&node.inputs, &node.outputs})
        {
            for (const TracerTensor& tensor : *tensors)
            {
                entry.memoryBytes += tensor.GetBytes();
            }
        }
    }
    if (entry.duration.IsZero() && entry.flops + entry.memoryBytes == 0)
    {
        ++m_report.ignored[isView ? "operators that only view tensors"
                                  : "operators without a time or tensors"];
        done = std::move(waited);
        return;
    }
    entry.type = OperatorType::COMPUTE;
    entry.stream = m_draft.GetStream("gpu");
    entry.name = m_draft.GetName(node.name);
    entry.line = index;
    const uint32_t op = m_draft.Add(entry);
    for (uint32_t dependency : waited)
    {
        m_draft.AddDependency(op, dependency);
    }
    done = {op};
}

ImportedJob Importer::Import(const std::vector<std::string>& paths)
{
    for (const auto& path : FindInputFiles(paths, {".json", ".json.gz"}))
    {
        AddFile(path);
    }
    if (m_graphFile.empty())
    {
        throw InputError({m_profileFile, 0, ""},
                         "times only",
                         "a graph too: the profile says nothing of what waits for what");
    }
    m_done.resize(m_graph.nodes.size());
    for (uint32_t i = 0; i < m_graph.nodes.size(); ++i)
    {
        AddNode(i);
    }
    if (m_buckets > 0 && m_ranks == 0)
    {
        m_ranks = m_defaultRanks;
    }
    if (m_buckets > 0 && m_ranks < 2)
    {
        throw InputError({m_graphFile, 0, ""},
                         std::to_string(m_buckets) + " gradient buckets and no number of ranks",
                         "--ranks=N, or ranks: N in a scenario's import, of at least 2");
    }
    const uint32_t ranks = std::max(m_ranks, 1u);
    m_draft.SetSlots(1);
    const ExecutionGraphPtr program = m_draft.Build(m_graphFile);
    WorkloadBuilder builder(ranks);
    std::vector<RankId> all;
    for (uint32_t rank = 0; rank < ranks; ++rank)
    {
        all.emplace_back(rank);
    }
    const CommGroupPtr group = builder.AddGroup(GroupKind::DATA, "all ranks", all);
    for (RankId rank : all)
    {
        builder.SetProgram(rank, program, {group});
    }
    m_report.format = "Echo tracer";
    m_report.ranks = ranks;
    m_report.files = m_profileFile.empty() ? 1 : 2;
    m_report.notes.push_back(
        m_profileFile.empty()
            ? "no profile: operators have no times, only operations and bytes by their shapes"
            : std::to_string(m_timed) + " of " + std::to_string(m_graph.nodes.size()) +
                  " operators have a time in " + m_profileFile);
    if (ranks > 1)
    {
        m_report.notes.push_back("replicated over data parallel ranks: all " +
                                 std::to_string(ranks) + " ranks run this graph");
    }
    ImportedJob job;
    job.graph = builder.Build();
    job.report = m_report.Finish(*job.graph, m_graphFile);
    return job;
}

} // namespace

ImportedJob ImportTracer(const std::vector<std::string>& paths,
                         uint32_t ranks,
                         uint32_t defaultRanks)
{
    return Importer(ranks, defaultRanks).Import(paths);
}

} // namespace echo
} // namespace ns3
