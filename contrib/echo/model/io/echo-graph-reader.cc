// SPDX-License-Identifier: GPL-2.0-only
// Compiled where simdjson is there; else echo-trace-readers-missing.cc.
#include "echo-graph-reader.h"

#include "echo-input-file.h"
#include "echo-json-values.h"
#include "echo-program-file.h"

#include "ns3/echo-workload-builder.h"

#include <filesystem>
#include <map>

namespace ns3
{
namespace echo
{

namespace
{

struct FileGroup
{
    GroupKind kind{GroupKind::OTHER};
    std::string name;
    std::vector<RankId> ranks;
};

struct FileRank
{
    std::string program;
    Time start;
    std::vector<uint64_t> groups;
};

/** workload.json as it stands. */
struct WorkloadFile
{
    uint64_t version{0};
    std::vector<FileGroup> groups;
    std::vector<FileRank> ranks;
};

FileGroup ReadGroup(const JsonValues& read, json::value& value)
{
    FileGroup group;
    read.ForEachField(value, [&](std::string_view key, json::value& entry) {
        if (key == "kind")
        {
            group.kind = read.Word(entry, ParseGroupKind);
        }
        else if (key == "name")
        {
            group.name = read.Text(entry);
        }
        else if (key == "ranks")
        {
            read.ForEach(entry,
                         [&](json::value& rank) { group.ranks.emplace_back(read.Index(rank)); });
        }
        else
        {
            read.FailKey(key);
        }
    });
    return group;
}

FileRank ReadRank(const JsonValues& read, json::value& value)
{
    FileRank rank;
    read.ForEachField(value, [&](std::string_view key, json::value& entry) {
        if (key == "program")
        {
            rank.program = read.Text(entry);
        }
        else if (key == "start_us")
        {
            rank.start = read.Microseconds(entry);
        }
        else if (key == "groups")
        {
            rank.groups = read.Numbers(entry);
        }
        else
        {
            read.FailKey(key);
        }
    });
    return rank;
}

WorkloadFile ReadWorkloadFile(JsonValues& read, const std::string& path)
{
    WorkloadFile file;
    ScanJson(ReadInputFile(path), path, [&](json::document& document) {
        json::value root = document.get_value();
        read.ForEachField(root, [&](std::string_view key, json::value& value) {
            if (key == "echo_graph")
            {
                file.version = read.Number(value);
            }
            else if (key == "groups")
            {
                read.ForEach(value, [&](json::value& entry) {
                    read.SetItem("group " + std::to_string(file.groups.size()));
                    file.groups.push_back(ReadGroup(read, entry));
                });
            }
            else if (key == "ranks")
            {
                read.ForEach(value, [&](json::value& entry) {
                    read.SetItem("rank " + std::to_string(file.ranks.size()));
                    file.ranks.push_back(ReadRank(read, entry));
                });
            }
            else
            {
                read.FailKey(key);
            }
            read.SetItem("");
        });
    });
    if (file.version != 1)
    {
        read.Fail("echo_graph " + std::to_string(file.version), "1");
    }
    return file;
}

} // namespace

WorkloadGraphPtr ReadExecutionGraphs(const std::string& folder)
{
    namespace fs = std::filesystem;
    const std::string path = (fs::path(folder) / "workload.json").string();
    JsonValues read(path);
    const WorkloadFile file = ReadWorkloadFile(read, path);

    WorkloadBuilder builder(static_cast<uint32_t>(file.ranks.size()));
    std::vector<CommGroupPtr> groups;
    std::map<std::pair<GroupKind, std::vector<RankId>>, uint32_t> communicators;
    for (const FileGroup& group : file.groups)
    {
        const uint32_t communicator = communicators[{group.kind, group.ranks}]++;
        groups.push_back(builder.AddGroup(group.kind, group.name, group.ranks, communicator));
    }
    std::map<std::string, ExecutionGraphPtr> programs;
    for (uint32_t i = 0; i < file.ranks.size(); ++i)
    {
        const FileRank& rank = file.ranks[i];
        read.SetItem("rank " + std::to_string(i));
        if (rank.program.empty() || fs::path(rank.program).filename() != rank.program)
        {
            read.Fail("program '" + rank.program + "'", "the name of a file beside this one");
        }
        ExecutionGraphPtr& program = programs[rank.program];
        if (!program)
        {
            program = ReadProgramFile((fs::path(folder) / rank.program).string());
        }
        std::vector<CommGroupPtr> bound;
        for (uint64_t group : rank.groups)
        {
            if (group >= groups.size())
            {
                read.Fail("group " + std::to_string(group),
                          "one of " + std::to_string(groups.size()));
            }
            bound.push_back(groups[group]);
        }
        builder.SetProgram(RankId(i), program, std::move(bound));
        builder.SetStartTime(RankId(i), rank.start);
    }
    return builder.Build();
}

} // namespace echo
} // namespace ns3
