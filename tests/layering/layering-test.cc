// SPDX-License-Identifier: GPL-2.0-only
// The rooms of contrib/echo/rooms.txt: who may include whom, and how large a file may grow.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace
{

const fs::path MODULE = fs::path(ECHO_SOURCE_DIR) / "contrib/echo";

struct SourceFile
{
    fs::path path;
    std::string room;
    std::vector<std::string> lines;
};

std::vector<SourceFile> AllSources()
{
    std::vector<SourceFile> files;
    for (const auto& entry : fs::recursive_directory_iterator(MODULE))
    {
        const fs::path extension = entry.path().extension();
        if (extension != ".h" && extension != ".cc")
        {
            continue;
        }
        const fs::path relative = fs::relative(entry.path(), MODULE);
        auto part = relative.begin();
        std::string room = (part++)->string();
        if (room == "model")
        {
            room = part->string();
        }
        SourceFile file{entry.path(), room, {}};
        std::ifstream in(entry.path());
        for (std::string line; std::getline(in, line);)
        {
            file.lines.push_back(line);
        }
        files.push_back(file);
    }
    return files;
}

std::map<std::string, std::set<std::string>> ReadRooms()
{
    std::map<std::string, std::set<std::string>> rooms;
    std::ifstream in(MODULE / "rooms.txt");
    for (std::string line; std::getline(in, line);)
    {
        if (line.empty() || line[0] == '#')
        {
            continue;
        }
        std::istringstream words(line);
        std::string room;
        std::string word;
        words >> room >> word;
        std::set<std::string>& allowed = rooms[room];
        while (words >> word)
        {
            allowed.insert(word);
        }
    }
    return rooms;
}

TEST(Layering, RoomsIncludeOnlyWhatRoomsTxtAllows)
{
    const auto rooms = ReadRooms();
    ASSERT_EQ(rooms.size(), 12u);
    const auto files = AllSources();
    std::map<std::string, std::string> roomOfHeader;
    for (const auto& file : files)
    {
        if (file.path.extension() == ".h")
        {
            const std::string name = file.path.filename().string();
            EXPECT_EQ(roomOfHeader.count(name), 0u) << name << " exists twice; headers are flat";
            roomOfHeader[name] = file.room;
        }
    }
    const std::regex include("^#include \"(ns3/)?(echo-[^\"]+)\"");
    for (const auto& file : files)
    {
        if (rooms.count(file.room) == 0)
        {
            continue; // examples and tests may use everything
        }
        const auto& allowed = rooms.at(file.room);
        for (const auto& line : file.lines)
        {
            std::smatch match;
            if (!std::regex_search(line, match, include))
            {
                continue;
            }
            const std::string header = match[2];
            ASSERT_EQ(roomOfHeader.count(header), 1u) << file.path << " includes " << header;
            const std::string& target = roomOfHeader[header];
            EXPECT_TRUE(target == file.room || allowed.count(target) || allowed.count("*"))
                << file.path << " (" << file.room << ") includes " << header << " (" << target
                << "), which rooms.txt does not allow";
            EXPECT_EQ(match[1].matched, target != file.room)
                << file.path << ": write \"ns3/" << header
                << "\" across rooms and without ns3/ inside one";
        }
    }
}

TEST(Layering, RoomsFormADirectedAcyclicGraph)
{
    const auto rooms = ReadRooms();
    std::set<std::string> known;
    // rooms.txt lists a room after everything that it may include.
    std::ifstream in(MODULE / "rooms.txt");
    for (std::string line; std::getline(in, line);)
    {
        if (line.empty() || line[0] == '#')
        {
            continue;
        }
        const std::string room = line.substr(0, line.find(' '));
        for (const auto& target : rooms.at(room))
        {
            EXPECT_TRUE(target == "*" || known.count(target)) << room << " before " << target;
        }
        known.insert(room);
    }
}

TEST(Layering, EverySourceIsListedInCMake)
{
    std::ifstream in(MODULE / "CMakeLists.txt");
    std::ostringstream text;
    text << in.rdbuf();
    for (const auto& file : AllSources())
    {
        if (file.room == "examples")
        {
            continue;
        }
        const std::string relative = fs::relative(file.path, MODULE).generic_string();
        EXPECT_NE(text.str().find(relative), std::string::npos) << relative << " is not listed";
    }
}

TEST(Layering, FilesStaySmall)
{
    std::vector<size_t> lengths;
    for (const auto& file : AllSources())
    {
        EXPECT_LE(file.lines.size(), 450u) << file.path;
        lengths.push_back(file.lines.size());
    }
    std::sort(lengths.begin(), lengths.end());
    EXPECT_LE(lengths[lengths.size() / 2], 200u) << "median length of a file";
}

TEST(Layering, ForbiddenCalls)
{
    const std::vector<std::pair<std::regex, std::string>> forbidden{
        {std::regex("CalculateBytesTxTime"), "wraps at 512 MiB; use TxTime"},
        {std::regex("std::rand\\b|\\bsrand\\("), "not reproducible; use a RandomVariableStream"},
        {std::regex("\\bgetenv\\("), "inputs belong in the scenario"},
        {std::regex("\\b(std::)?exit\\("), "only main ends the process"},
        {std::regex("std::regex"), "slow and recursive; parse by hand in the module"},
    };
    for (const auto& file : AllSources())
    {
        for (size_t i = 0; i < file.lines.size(); ++i)
        {
            const size_t comment = file.lines[i].find("//");
            const std::string code = file.lines[i].substr(0, comment);
            if (code.find_first_not_of(' ') != std::string::npos &&
                code[code.find_first_not_of(' ')] == '*')
            {
                continue;
            }
            for (const auto& [pattern, reason] : forbidden)
            {
                EXPECT_FALSE(std::regex_search(code, pattern))
                    << file.path << ":" << i + 1 << ": " << reason;
            }
        }
    }
}

TEST(Layering, YamlAndJsonStayInTheirRooms)
{
    const std::regex yaml("#include <(yaml-cpp|simdjson)");
    const std::regex boost("#include <boost/graph");
    size_t boostFiles = 0;
    for (const auto& file : AllSources())
    {
        bool usesBoostGraph = false;
        for (const auto& line : file.lines)
        {
            if (std::regex_search(line, yaml))
            {
                EXPECT_EQ(file.room, "io") << file.path;
            }
            usesBoostGraph = usesBoostGraph || std::regex_search(line, boost);
        }
        if (usesBoostGraph)
        {
            ++boostFiles;
            EXPECT_EQ(file.path.extension(), ".cc") << file.path << ": slow to compile in a header";
        }
    }
    EXPECT_GE(boostFiles, 1u);
}

} // namespace
