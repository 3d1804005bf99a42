// SPDX-License-Identifier: GPL-2.0-only
#include "echo-program-reader.h"

#include "echo-program-parser.h"
#include "echo-workload-keys.h"

#include "ns3/echo-workload-builder.h"

#include <map>
#include <set>
#include <utility>

namespace ns3
{
namespace echo
{

namespace
{

constexpr uint32_t ABSENT = 0xffffffff;

/** A name under `groups`: one group, or several of which each rank is in one at most. */
struct GroupFamily
{
    std::vector<CommGroupPtr> groups;
    std::vector<uint32_t> groupOf; //!< index into groups, or ABSENT, by rank
};

/** Reads groups and programs and gives each rank its own. */
class ProgramReader
{
  public:
    ProgramReader(const YamlNode& node, uint32_t ranks)
        : m_file(node.GetLocation().file), m_ranks(ranks), m_builder(ranks), m_entryOf(ranks, 0)
    {
        std::vector<RankId> all;
        for (uint32_t rank = 0; rank < ranks; ++rank)
        {
            all.emplace_back(rank);
        }
        if (!node.Has("groups") || !node.Get("groups").Has("world"))
        {
            AddFamily("world", GroupKind::WORLD, {all});
        }
        if (node.Has("groups"))
        {
            const YamlNode groups = node.Get("groups");
            for (const auto& name : groups.GetKeys())
            {
                ReadGroup(groups.Get(name), name);
            }
        }
        for (const auto& entry : node.Get("programs").GetEntries())
        {
            ReadProgram(entry);
        }
        node.RefuseUnknownKeys();
    }

    WorkloadGraphPtr Build()
    {
        return m_builder.Build();
    }

  private:
    /** A group is a list of ranks; several are a list of lists or a size and a stride; a map with
     * `ranks` or `groups` says the kind, too. */
    void ReadGroup(const YamlNode& node, const std::string& name)
    {
        GroupKind kind = GuessGroupKind(name);
        const bool isWrapped = node.IsMap() && !node.Has("size");
        if (isWrapped && node.Has("kind"))
        {
            kind = node.Get("kind").Parse<GroupKind>(ParseGroupKind);
        }
        // No assignment: yaml-cpp's would write into the file's tree.
        const YamlNode members =
            isWrapped ? node.Get(node.Has("groups") ? "groups" : "ranks") : node;
        if (isWrapped)
        {
            node.RefuseUnknownKeys();
        }
        AddFamily(name,
                  kind,
                  HoldsRankGroups(members)
                      ? ReadRankGroups(members, m_ranks)
                      : std::vector<std::vector<RankId>>{ReadRanks(members, m_ranks)});
    }

    void AddFamily(const std::string& name,
                   GroupKind kind,
                   const std::vector<std::vector<RankId>>& lists)
    {
        GroupFamily& family = m_families[name];
        family.groupOf.assign(m_ranks, ABSENT);
        for (const auto& list : lists)
        {
            const auto index = static_cast<uint32_t>(family.groups.size());
            for (RankId rank : list)
            {
                family.groupOf[rank.Get()] = index;
            }
            family.groups.push_back(m_builder.AddSeparateGroup(
                kind, lists.size() == 1 ? name : name + std::to_string(index), list));
        }
    }

    std::set<std::string> GetGroupNames() const
    {
        std::set<std::string> names;
        for (const auto& family : m_families)
        {
            names.insert(family.first);
        }
        return names;
    }

    void ReadProgram(const YamlNode& node)
    {
        const YamlNode ranksNode = node.Get("ranks");
        const std::vector<RankId> ranks = ReadRanks(ranksNode, m_ranks);
        const Time start = node.GetTime("start", Time());
        const ParsedProgram parsed = ProgramParser(GetGroupNames()).Read(node.Get("streams"));
        node.RefuseUnknownKeys();
        std::map<std::vector<uint32_t>, ExecutionGraphPtr> known; // by peers
        for (RankId rank : ranks)
        {
            const uint32_t line = node.GetLocation().line;
            if (m_entryOf[rank.Get()] != 0)
            {
                ranksNode.Fail("rank " + std::to_string(rank.Get()) +
                                   ", which has a program at line " +
                                   std::to_string(m_entryOf[rank.Get()]),
                               "one program a rank");
            }
            m_entryOf[rank.Get()] = line;
            const std::vector<CommGroupPtr> groups = BindGroups(parsed, rank);
            const auto [program, isNew] = known.try_emplace(FindPeers(parsed, rank, groups));
            if (isNew)
            {
                program->second = MakeProgram(parsed, program->first);
            }
            m_builder.SetProgram(rank, program->second, groups);
            if (!start.IsZero())
            {
                m_builder.SetStartTime(rank, start);
            }
        }
    }

    std::vector<CommGroupPtr> BindGroups(const ParsedProgram& parsed, RankId rank) const
    {
        std::vector<CommGroupPtr> groups;
        for (uint32_t slot = 0; slot < parsed.groups.size(); ++slot)
        {
            const GroupFamily& family = m_families.at(parsed.groups[slot]);
            const uint32_t index = family.groupOf[rank.Get()];
            if (index == ABSENT)
            {
                for (const auto& op : parsed.operators)
                {
                    const bool communicates = op.type == OperatorType::COLLECTIVE ||
                                              op.type == OperatorType::POINT_TO_POINT;
                    if (communicates && op.slot == slot)
                    {
                        op.node.Fail("group '" + parsed.groups[slot] +
                                         "', which does not hold rank " +
                                         std::to_string(rank.Get()),
                                     "a group that holds it");
                    }
                }
            }
            groups.push_back(family.groups[index]);
        }
        return groups;
    }

    /** @return indices in the group of all peers of all messages, in order */
    static std::vector<uint32_t> FindPeers(const ParsedProgram& parsed,
                                           RankId rank,
                                           const std::vector<CommGroupPtr>& groups)
    {
        std::vector<uint32_t> peers;
        for (const auto& op : parsed.operators)
        {
            for (const auto& message : op.messages)
            {
                const CommGroup& group = *groups[op.slot];
                const int64_t peer =
                    message.isRelative ? int64_t(group.IndexOf(rank)) + message.peer
                                       : group.IndexOf(RankId(static_cast<uint32_t>(message.peer)));
                if (peer < 0 || peer >= group.GetSize())
                {
                    message.node.Get(message.isSend ? "to" : "from")
                        .Fail("a peer of rank " + std::to_string(rank.Get()) +
                                  " that is not in group " + group.GetName(),
                              "a member");
                }
                peers.push_back(static_cast<uint32_t>(peer));
            }
        }
        return peers;
    }

    ExecutionGraphPtr MakeProgram(const ParsedProgram& parsed,
                                  const std::vector<uint32_t>& peers) const
    {
        ExecutionGraphBuilder builder(m_file);
        for (size_t slot = 0; slot < parsed.groups.size(); ++slot)
        {
            builder.AddGroupSlot();
        }
        std::map<std::string, std::vector<OperatorId>> named; // the last repetition
        std::vector<OperatorId> first;
        auto peer = peers.begin();
        for (const auto& op : parsed.operators)
        {
            std::vector<CommunicationDescription::Element> elements;
            for (const auto& message : op.messages)
            {
                elements.push_back({message.isSend, *peer++, message.bytes, message.tag});
            }
            OperatorId id;
            for (uint32_t i = 0; i < op.repeat; ++i)
            {
                id = AddOperator(builder, op, elements);
                if (i == 0)
                {
                    first.push_back(id);
                }
            }
            named[op.name].push_back(id);
        }
        for (size_t i = 0; i < parsed.operators.size(); ++i)
        {
            for (const auto& after : parsed.operators[i].after)
            {
                const auto it = named.find(after.AsString());
                if (it == named.end())
                {
                    after.Fail("'" + after.AsString() + "'",
                               "the name of an operator of this program");
                }
                if (it->second.size() > 1)
                {
                    after.Fail("'" + after.AsString() + "', the name of " +
                                   std::to_string(it->second.size()) + " operators",
                               "a name of one");
                }
                builder.AddDependency(first[i], it->second.front());
            }
        }
        return builder.Build();
    }

    static OperatorId AddOperator(ExecutionGraphBuilder& builder,
                                  const ParsedOperator& op,
                                  const std::vector<CommunicationDescription::Element>& elements)
    {
        const StreamId stream = builder.GetStream(op.stream);
        OperatorId id;
        switch (op.type)
        {
        case OperatorType::COMPUTE:
            id = builder.AddCompute(stream, op.name, op.duration, op.flops, op.memoryBytes);
            if (op.hasCounters)
            {
                builder.SetCounters(id, op.counters);
            }
            break;
        case OperatorType::COPY:
            id = builder.AddCopy(stream, op.name, op.duration, op.memoryBytes);
            break;
        case OperatorType::HOST:
            id = builder.AddHost(stream, op.name, op.duration);
            break;
        case OperatorType::COLLECTIVE:
            id = builder.AddCollective(stream, op.name, op.slot, op.spec);
            break;
        case OperatorType::POINT_TO_POINT:
            id = builder.AddPointToPoint(stream, op.name, op.slot, elements);
            break;
        case OperatorType::MARKER:
            id = builder.AddMarker(stream, op.name);
            break;
        }
        builder.SetLine(id, op.node.GetLocation().line);
        return id;
    }

    std::string m_file;
    uint32_t m_ranks;
    WorkloadBuilder m_builder;
    std::map<std::string, GroupFamily> m_families;
    std::vector<uint32_t> m_entryOf; //!< line of its program, or 0, by rank
};

} // namespace

WorkloadGraphPtr ReadPrograms(const YamlNode& node, uint32_t ranks)
{
    return ProgramReader(node, ranks).Build();
}

} // namespace echo
} // namespace ns3
