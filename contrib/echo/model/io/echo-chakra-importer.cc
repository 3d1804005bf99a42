// SPDX-License-Identifier: GPL-2.0-only
#include "echo-chakra-importer.h"

#include "echo-chakra-program.h"
#include "echo-chakra-roofline.h"
#include "echo-import-report.h"
#include "echo-input-file.h"
#include "echo-kineto-health.h"
#include "echo-rank-replica.h"

#include "ns3/echo-workload-builder.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>

namespace ns3
{
namespace echo
{

namespace
{

const uint32_t MAX_RANKS = 1u << 20;

using Groups = std::map<std::string, std::vector<uint32_t>>;

class Importer
{
  public:
    explicit Importer(const ChakraOptions& options) : m_options(options)
    {
    }

    ImportedJob Import(const std::vector<std::string>& paths);

  private:
    void AddFile(const std::string& path);
    void AddGroups(const std::string& path, Groups groups);
    void AddTrace(const std::string& path, ChakraTrace trace);
    void SetReplica();
    void CheckRanks();
    void ResolveGroups();
    std::vector<uint32_t> MembersOf(uint32_t rank, const std::string& name, uint32_t& twin) const;
    std::vector<CommGroupPtr> Bind(WorkloadBuilder& builder,
                                   SharedGroups& shared,
                                   uint32_t rank,
                                   const ChakraProgram& program) const;
    WorkloadGraphPtr Build();

    const ChakraOptions& m_options;
    std::string m_groupFile;
    std::optional<Groups> m_groups;
    std::map<std::string, uint32_t> m_twinOf; //!< which of several groups of the same members
    std::map<uint32_t, ChakraTrace> m_traces; //!< by rank, until all are read
    ChakraJob m_job;
    std::optional<RankReplica> m_replica;              //!< if one rank stands for all
    std::vector<uint32_t> m_twins;                     //!< of each of the job's groups
    std::vector<std::vector<uint32_t>> m_dependencies; //!< by rank: indices
    uint64_t m_placeholders{0};                        //!< dependencies on a root placeholder
    ImportReport m_report;
};

void Importer::AddGroups(const std::string& path, Groups groups)
{
    if (m_groups)
    {
        throw InputError({path, 0, ""},
                         "a second file of process groups (the first is " + m_groupFile + ")",
                         "one");
    }
    std::map<std::vector<uint32_t>, uint32_t> count;
    for (const auto& [name, members] : groups)
    {
        m_twinOf[name] = count[members]++;
    }
    m_groups = std::move(groups);
    m_groupFile = path;
}

void Importer::AddTrace(const std::string& path, ChakraTrace trace)
{
    const auto rank = ChakraRankOf(path);
    if (!rank || *rank >= MAX_RANKS)
    {
        throw InputError({path, 0, ""},
                         "a trace whose name has no rank before its ending",
                         "a name such as trace.0.et");
    }
    const auto [entry, isNew] = m_traces.emplace(*rank, std::move(trace));
    if (!isNew)
    {
        throw InputError({path, 0, ""},
                         "rank " + std::to_string(*rank) + ", which " + entry->second.file +
                             " has too",
                         "one trace a rank");
    }
}

void Importer::AddFile(const std::string& path)
{
    if (HasEnding(path, ".json") || HasEnding(path, ".json.gz"))
    {
        ChakraJson json = ReadChakraJson(path);
        if (json.isGroups)
        {
            AddGroups(path, std::move(json.groups));
            return;
        }
        AddTrace(path, std::move(*json.trace));
        return;
    }
    AddTrace(path, ReadChakraProtobuf(path));
}

/** One rank's trace stands for all. */
void Importer::SetReplica()
{
    const auto& [rank, trace] = *m_traces.begin();
    if (m_traces.size() != 1)
    {
        throw InputError({"", 0, "replicate"},
                         "traces of " + std::to_string(m_traces.size()) + " ranks",
                         "that of one rank, which stands for all");
    }
    bool hasCollectives = false;
    for (const ChakraNode& node : trace.nodes)
    {
        hasCollectives = hasCollectives || node.type == ChakraNodeType::COLLECTIVE;
        if (node.type == ChakraNodeType::SEND || node.type == ChakraNodeType::RECEIVE)
        {
            throw InputError({trace.file, 0, "node " + std::to_string(node.id)},
                             "a message, whose ranks are not alike",
                             "collectives only, or a trace for every rank");
        }
    }
    const bool spansAll = !m_groups && trace.groups.empty() &&
                          std::all_of(trace.groupNames.begin(),
                                      trace.groupNames.end(),
                                      [](const auto& name) { return name.empty() || name == "0"; });
    if (m_options.ranks > 0 && spansAll && m_options.ranks > rank)
    {
        m_job.ranks = m_options.ranks; // nothing else says how many
    }
    if (m_options.ranks == 0 ? spansAll && hasCollectives : m_options.ranks != m_job.ranks)
    {
        throw InputError({trace.file, 0, "ranks"},
                         m_options.ranks == 0 ? "none, but collectives of all ranks"
                                              : std::to_string(m_options.ranks) + " for a job of " +
                                                    std::to_string(m_job.ranks),
                         spansAll ? "more than the trace's rank"
                                  : "as many: which groups are data parallel is not said");
    }
    m_replica = RankReplica{trace.file, rank, m_job.ranks, m_job.ranks};
    m_report.notes.push_back("replicate: dp: the trace of rank " + std::to_string(rank) +
                             " stands for all " + std::to_string(m_job.ranks) +
                             " ranks, as if they were equal; their groups are laid out as its are");
}

/** As many ranks as files and process groups name. */
void Importer::CheckRanks()
{
    if (m_traces.empty())
    {
        throw InputError({m_groupFile, 0, ""}, "no traces", "one a rank, such as trace.0.et");
    }
    uint32_t ranks = m_traces.rbegin()->first + 1;
    if (m_groups)
    {
        for (const auto& [name, members] : *m_groups)
        {
            for (uint32_t rank : members)
            {
                ranks = std::max(ranks, rank + 1);
            }
        }
    }
    m_job.ranks = ranks;
    if (m_options.replicate == "dp")
    {
        SetReplica();
    }
    else
    {
        if (m_options.ranks > 0 && m_options.ranks != ranks)
        {
            throw InputError({m_traces.begin()->second.file, 0, "ranks"},
                             std::to_string(m_options.ranks) + " for traces of " +
                                 std::to_string(ranks) + " ranks",
                             "as many, or replicate: dp with the trace of one rank");
        }
        std::vector<bool> hasFile(ranks, false);
        for (const auto& [rank, trace] : m_traces)
        {
            hasFile[rank] = true;
        }
        RequireAllRanks(hasFile, "Chakra traces");
    }
    for (auto& [rank, trace] : m_traces)
    {
        m_job.traces.push_back(std::move(trace));
    }
    m_traces.clear();
}

/**
 * @param twin which of several groups of the same members it is
 * @return members of a process group as a rank knows it
 */
std::vector<uint32_t> Importer::MembersOf(uint32_t rank,
                                          const std::string& name,
                                          uint32_t& twin) const
{
    const ChakraTrace& trace = m_job.traces[rank];
    auto all = [this] {
        std::vector<uint32_t> ranks(m_job.ranks);
        std::iota(ranks.begin(), ranks.end(), 0u);
        return ranks;
    };
    twin = 0;
    const auto own = trace.groups.find(name);
    if (own != trace.groups.end())
    {
        for (const auto& [other, members] : trace.groups)
        {
            twin += other < name && members == own->second ? 1 : 0;
        }
        return own->second.empty() ? all() : own->second;
    }
    const auto known = m_groups ? m_groups->find(name) : Groups::const_iterator();
    if (m_groups && known != m_groups->end())
    {
        twin = m_twinOf.at(name);
        return known->second;
    }
    if (name.empty() || name == "0")
    {
        return all();
    }
    throw InputError({trace.file, 0, "process group '" + name + "'"},
                     "no members of it",
                     "a file of process groups {\"" + name + "\": [ranks]} beside the traces");
}

void Importer::ResolveGroups()
{
    std::map<std::pair<std::vector<uint32_t>, uint32_t>, uint32_t> numbers;
    auto numberOf = [&](const std::vector<uint32_t>& members, uint32_t twin) {
        const auto [entry, isNew] = numbers.emplace(std::make_pair(members, twin),
                                                    static_cast<uint32_t>(m_job.groups.size()));
        if (isNew)
        {
            m_job.groups.push_back(members);
            m_twins.push_back(twin);
        }
        return entry->second;
    };
    for (uint32_t rank = 0; rank < m_job.traces.size(); ++rank)
    {
        const ChakraTrace& trace = m_job.traces[rank];
        m_job.groupOf.emplace_back();
        for (const std::string& name : trace.groupNames)
        {
            uint32_t twin = 0;
            const std::vector<uint32_t> members = MembersOf(rank, name, twin);
            for (uint32_t member : members)
            {
                if (member >= m_job.ranks)
                {
                    throw InputError({trace.file, 0, "process group '" + name + "'"},
                                     "rank " + std::to_string(member),
                                     "0 to " + std::to_string(m_job.ranks - 1));
                }
            }
            const uint32_t user = m_replica ? m_replica->rank : rank;
            if (std::find(members.begin(), members.end(), user) == members.end())
            {
                throw InputError({trace.file, 0, "process group '" + name + "'"},
                                 "a group without rank " + std::to_string(user) + ", which uses it",
                                 "one that holds it");
            }
            m_job.groupOf.back().push_back(numberOf(members, twin));
        }
    }
}

std::vector<CommGroupPtr> Importer::Bind(WorkloadBuilder& builder,
                                         SharedGroups& shared,
                                         uint32_t rank,
                                         const ChakraProgram& program) const
{
    const uint32_t ranks = m_replica ? m_replica->ranks : m_job.ranks;
    auto add = [&](const std::vector<uint32_t>& members, uint32_t number) {
        std::vector<RankId> ids(members.begin(), members.end());
        std::vector<uint32_t> sorted = members;
        std::sort(sorted.begin(), sorted.end());
        const GroupKind kind = ids.size() == ranks ? GroupKind::WORLD : GroupKind::OTHER;
        // Messages of two ranks and a process group of the two are apart.
        const uint32_t twin = number < m_twins.size() ? m_twins[number] : UINT32_MAX;
        return builder.AddGroup(kind, "ranks " + FormatRankList(sorted), std::move(ids), twin);
    };
    std::vector<CommGroupPtr> groups;
    for (uint32_t slot = 0; slot < program.slots.size(); ++slot)
    {
        const auto& members = program.slots[slot].first;
        const uint32_t number = program.slots[slot].second;
        groups.push_back(m_replica ? shared.Get(0,
                                                slot,
                                                rank,
                                                [&, number] {
                                                    return add(m_replica->GetMembers(members, rank),
                                                               number);
                                                })
                                   : add(members, number));
    }
    return groups;
}

WorkloadGraphPtr Importer::Build()
{
    const ChakraOrder order = OrderChakra(m_job, m_dependencies, ChakraSpeeds());
    WorkloadBuilder builder(m_replica ? m_replica->ranks : m_job.ranks);
    SharedGroups shared(m_replica ? m_replica->ranks : 0);
    ProgramPool pool;
    for (uint32_t index = 0; index < m_job.traces.size(); ++index)
    {
        ChakraTrace& trace = m_job.traces[index];
        if (order.nodes[index].size() < trace.nodes.size())
        {
            RefuseChakraCycle(trace, m_dependencies[index]);
        }
        RefuseUnknownPeers(trace, m_job.ranks);
        ChakraProgram program =
            BuildChakraProgram(m_job, index, m_dependencies[index], order, m_report.ignored);
        const ExecutionGraphPtr sealed = pool.Seal(std::move(program.draft), trace.file);
        const uint32_t copies = m_replica ? m_replica->ranks : 1;
        for (uint32_t copy = 0; copy < copies; ++copy)
        {
            const uint32_t rank = m_replica ? copy : index;
            builder.SetProgram(RankId(rank), sealed, Bind(builder, shared, rank, program));
        }
        std::vector<ChakraNode>().swap(trace.nodes);
    }
    return builder.Build();
}

ImportedJob Importer::Import(const std::vector<std::string>& paths)
{
    if (!m_options.replicate.empty() && m_options.replicate != "none" &&
        m_options.replicate != "dp")
    {
        throw InputError({"", 0, "replicate"}, "'" + m_options.replicate + "'", "none or dp");
    }
    if (!m_options.groups.empty())
    {
        ChakraJson json = ReadChakraJson(m_options.groups);
        if (!json.isGroups)
        {
            throw InputError(
                {m_options.groups, 0, ""}, "a trace", "process groups {\"name\": [ranks]}");
        }
        AddGroups(m_options.groups, std::move(json.groups));
    }
    const auto files = FindInputFiles(paths, {".et", ".et.gz", ".json", ".json.gz"});
    for (const auto& file : files)
    {
        std::error_code ignored;
        if (m_groupFile.empty() || !std::filesystem::equivalent(file, m_groupFile, ignored))
        {
            AddFile(file);
        }
    }
    CheckRanks();
    ResolveGroups();
    for (uint32_t rank = 0; rank < m_job.traces.size(); ++rank)
    {
        m_dependencies.push_back(ResolveChakraDependencies(m_job.traces[rank], m_placeholders));
    }
    if (!m_options.system.empty())
    {
        GiveChakraTimes(m_job.traces, m_options.system);
        m_report.notes.push_back("kernels without a recorded time take that of the roofline of " +
                                 m_options.system);
    }
    m_report.format = "Chakra";
    m_report.ranks = m_replica ? m_replica->ranks : m_job.ranks;
    m_report.files = static_cast<uint32_t>(m_job.traces.size());
    if (m_groups)
    {
        m_report.notes.push_back("process groups: " + std::to_string(m_groups->size()) + ", from " +
                                 m_groupFile);
    }
    uint64_t issuers = 0;
    uint64_t parents = 0;
    for (const auto& trace : m_job.traces)
    {
        issuers += trace.issuers;
        parents += trace.parents;
    }
    if (parents > 0)
    {
        m_report.notes.push_back(
            std::to_string(parents) +
            " control dependencies are not used: in traces converted from PyTorch's they name the "
            "enclosing operator, and Chakra's feeder follows data dependencies alone");
    }
    if (issuers > 0)
    {
        m_report.notes.push_back(std::to_string(issuers) +
                                 " CPU operators that issue communications are CPU time");
    }
    if (m_placeholders > 0)
    {
        m_report.warnings.push_back(std::to_string(m_placeholders) +
                                    " dependencies on node 0, which is not there, are taken for "
                                    "the format's root placeholder");
    }
    ImportedJob job;
    const std::string empty = DescribeEmptyKernels(m_job.traces);
    if (!empty.empty())
    {
        m_report.warnings.push_back(empty);
        job.warnings.push_back(empty);
    }
    const std::string first = m_job.traces.front().file;
    job.graph = Build();
    job.report = m_report.Finish(*job.graph, first);
    return job;
}

} // namespace

ImportedJob ImportChakra(const std::vector<std::string>& paths, const ChakraOptions& options)
{
    return Importer(options).Import(paths);
}

} // namespace echo
} // namespace ns3
