// SPDX-License-Identifier: GPL-2.0-only
#include "echo-collective-list-reader.h"

#include "echo-workload-keys.h"

#include "ns3/echo-workload-builder.h"

#include <map>
#include <numeric>
#include <utility>

namespace ns3
{
namespace echo
{

namespace
{

constexpr int64_t MAX_REPEAT = 1000000;
constexpr uint32_t ABSENT = 0xffffffff;

/** One entry of the list. */
struct Entry
{
    std::string name;
    uint32_t line{0};
    CollectiveSpec spec;
    std::vector<std::vector<uint64_t>> splits; //!< all-to-all-v: by member
    uint32_t repeat{1};
    Time compute; //!< before each
    std::vector<CommGroupPtr> groups;
    std::vector<uint32_t> groupOf; //!< index into groups, or ABSENT, by rank
    /// send-recv: what each rank sends and receives.
    std::vector<std::vector<CommunicationDescription::Element>> elements;

    bool IsMessages() const
    {
        return spec.kind == CollectiveKind::SEND_RECV;
    }
};

/** Reads the entries, then builds one program for each way of taking part in them. */
class CollectiveListReader
{
  public:
    CollectiveListReader(const YamlNode& node, uint32_t ranks)
        : m_file(node.GetLocation().file), m_ranks(ranks), m_builder(ranks)
    {
        m_concurrent = node.GetBool("concurrent", false);
        for (const auto& entry : node.Get("collectives").GetEntries())
        {
            ReadEntry(entry);
        }
        if (m_entries.empty())
        {
            node.Get("collectives").Fail("an empty list", "collectives");
        }
        node.RefuseUnknownKeys();
    }

    WorkloadGraphPtr Build()
    {
        for (uint32_t rank = 0; rank < m_ranks; ++rank)
        {
            std::vector<CommGroupPtr> groups;
            for (const Entry& entry : m_entries)
            {
                if (entry.groupOf[rank] != ABSENT)
                {
                    groups.push_back(entry.groups[entry.groupOf[rank]]);
                }
            }
            const auto [program, isNew] = m_programs.try_emplace(RolesOf(RankId(rank)));
            if (isNew)
            {
                program->second = MakeProgram(RankId(rank));
            }
            m_builder.SetProgram(RankId(rank), program->second, std::move(groups));
        }
        return m_builder.Build();
    }

  private:
    void ReadEntry(const YamlNode& node)
    {
        node.RequireMap();
        Entry entry;
        const auto kind = node.Get("op").Parse<CollectiveKind>(ParseCollectiveKind);
        entry.line = node.GetLocation().line;
        entry.name = node.GetString("name", ToString(kind));
        entry.repeat = static_cast<uint32_t>(node.GetInteger("repeat", 1, 1, MAX_REPEAT));
        entry.compute = node.GetTime("compute", Time());
        entry.spec = ReadCollectiveSpec(node, kind);
        RequireElements(node, "bytes", entry.spec.bytes, entry.spec.dataType);
        entry.groupOf.assign(m_ranks, ABSENT);
        if (entry.IsMessages())
        {
            ReadPairs(node.Get("pairs"), entry);
        }
        else
        {
            ReadGroups(node, entry);
        }
        if (kind == CollectiveKind::ALL_TO_ALL_V)
        {
            ReadSplits(node.Get("splits"), entry);
            for (const auto& row : entry.splits)
            {
                for (const uint64_t bytes : row)
                {
                    RequireElements(node, "splits", bytes, entry.spec.dataType);
                }
            }
        }
        node.RefuseUnknownKeys();
        m_entries.push_back(std::move(entry));
    }

    /** Where a type is written, sizes are of its elements; the default is of any bytes. */
    static void RequireElements(const YamlNode& node,
                                const char* key,
                                uint64_t bytes,
                                DataType type)
    {
        if (node.Has("type") && bytes % BytesOf(type) != 0)
        {
            node.Get(key).Fail(std::to_string(bytes) + " B of " + ToString(type),
                               "a multiple of its " + std::to_string(BytesOf(type)) +
                                   " B, or no type");
        }
    }

    void ReadGroups(const YamlNode& node, Entry& entry)
    {
        std::vector<std::vector<RankId>> lists;
        if (node.Has("groups"))
        {
            if (node.Has("ranks"))
            {
                node.Get("ranks").Fail("'ranks' beside 'groups'", "one of them");
            }
            lists = ReadRankGroups(node.Get("groups"), m_ranks);
        }
        else
        {
            lists.push_back(node.Has("ranks") ? ReadRanks(node.Get("ranks"), m_ranks) : AllRanks());
        }
        for (const auto& list : lists)
        {
            if (entry.spec.root >= list.size())
            {
                node.Get("root").Fail("root " + std::to_string(entry.spec.root),
                                      "a member, 0 to " + std::to_string(list.size() - 1));
            }
            for (RankId rank : list)
            {
                entry.groupOf[rank.Get()] = static_cast<uint32_t>(entry.groups.size());
            }
            entry.groups.push_back(AddGroup(node, list));
        }
    }

    /** Send-recv: [source, destination] of each message; all of an entry run at once. */
    void ReadPairs(const YamlNode& node, Entry& entry)
    {
        entry.elements.resize(m_ranks);
        for (const auto& pair : node.GetEntries())
        {
            const auto ends = pair.GetEntries();
            if (ends.size() != 2)
            {
                pair.Fail(std::to_string(ends.size()) + " entries", "[source, destination]");
            }
            const auto source = static_cast<uint32_t>(ends[0].AsInteger(0, m_ranks - 1));
            const auto destination = static_cast<uint32_t>(ends[1].AsInteger(0, m_ranks - 1));
            // The group is that of all ranks: a member's index is its rank.
            entry.elements[source].push_back({true, destination, entry.spec.bytes, 0});
            entry.elements[destination].push_back({false, source, entry.spec.bytes, 0});
            entry.groupOf[source] = 0;
            entry.groupOf[destination] = 0;
        }
        if (node.GetEntries().empty())
        {
            node.Fail("no pairs", "lists of [source, destination]");
        }
        entry.groups.push_back(AddGroup(node, AllRanks()));
    }

    void ReadSplits(const YamlNode& node, Entry& entry)
    {
        for (const auto& row : node.GetEntries())
        {
            entry.splits.push_back(ReadByteList(row));
        }
        for (const auto& group : entry.groups)
        {
            bool isSquare = entry.splits.size() == group->GetSize();
            for (const auto& row : entry.splits)
            {
                isSquare = isSquare && row.size() == group->GetSize();
            }
            if (!isSquare)
            {
                node.Fail("splits that do not fit a group of " + std::to_string(group->GetSize()) +
                              " ranks",
                          "a row a member with bytes to each member");
            }
        }
    }

    std::vector<RankId> AllRanks() const
    {
        std::vector<RankId> all;
        for (uint32_t rank = 0; rank < m_ranks; ++rank)
        {
            all.emplace_back(rank);
        }
        return all;
    }

    CommGroupPtr AddGroup(const YamlNode& node, const std::vector<RankId>& ranks)
    {
        const bool isWorld = ranks.size() == m_ranks && ranks == AllRanks();
        const GroupKind kind = isWorld ? GroupKind::WORLD : GroupKind::OTHER;
        // The name counts groups as they first appear.
        const std::string name =
            isWorld ? "world"
                    : m_groupNames.try_emplace(ranks, "group" + std::to_string(m_groupNames.size()))
                          .first->second;
        try
        {
            // Calls that run side by side must be matched apart.
            return m_concurrent ? m_builder.AddSeparateGroup(kind, name, ranks)
                                : m_builder.AddGroup(kind, name, ranks);
        }
        catch (const InputError& error)
        {
            throw error.At(node.GetLocation());
        }
    }

    /** Two ranks with equal roles share a program. */
    std::vector<uint32_t> RolesOf(RankId rank) const
    {
        std::vector<uint32_t> roles;
        for (const Entry& entry : m_entries)
        {
            const uint32_t group = entry.groupOf[rank.Get()];
            if (group == ABSENT)
            {
                roles.push_back(ABSENT);
            }
            else if (entry.IsMessages())
            {
                roles.push_back(rank.Get());
            }
            else
            {
                roles.push_back(entry.splits.empty() ? 0 : entry.groups[group]->IndexOf(rank));
            }
        }
        return roles;
    }

    ExecutionGraphPtr MakeProgram(RankId rank) const
    {
        ExecutionGraphBuilder builder(m_file);
        for (size_t i = 0; i < m_entries.size(); ++i)
        {
            const Entry& entry = m_entries[i];
            const uint32_t group = entry.groupOf[rank.Get()];
            if (group == ABSENT)
            {
                continue;
            }
            const StreamId stream = builder.GetStream(
                m_concurrent ? "communication" + std::to_string(i) : "communication");
            const uint32_t slot = builder.AddGroupSlot();
            CollectiveSpec spec = entry.spec;
            if (!entry.splits.empty())
            {
                spec.sendBytes = entry.splits[entry.groups[group]->IndexOf(rank)];
                spec.bytes =
                    std::accumulate(spec.sendBytes.begin(), spec.sendBytes.end(), uint64_t(0));
            }
            for (uint32_t k = 0; k < entry.repeat; ++k)
            {
                if (!entry.compute.IsZero())
                {
                    builder.SetLine(builder.AddCompute(stream, "compute", entry.compute),
                                    entry.line);
                }
                builder.SetLine(entry.IsMessages()
                                    ? builder.AddPointToPoint(
                                          stream, entry.name, slot, entry.elements[rank.Get()])
                                    : builder.AddCollective(stream, entry.name, slot, spec),
                                entry.line);
            }
        }
        return builder.Build();
    }

    std::string m_file;
    uint32_t m_ranks;
    bool m_concurrent{false};
    std::vector<Entry> m_entries;
    WorkloadBuilder m_builder;
    std::map<std::vector<RankId>, std::string> m_groupNames;
    std::map<std::vector<uint32_t>, ExecutionGraphPtr> m_programs; //!< by roles
};

} // namespace

WorkloadGraphPtr ReadCollectiveList(const YamlNode& node, uint32_t ranks)
{
    return CollectiveListReader(node, ranks).Build();
}

} // namespace echo
} // namespace ns3
