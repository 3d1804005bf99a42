// SPDX-License-Identifier: GPL-2.0-only
#include "echo-nccl-tests-words.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

namespace ns3
{
namespace echo
{

std::vector<std::string> SplitWords(const std::string& line)
{
    std::istringstream in(line);
    std::vector<std::string> words;
    std::string word;
    while (in >> word)
    {
        words.push_back(word);
    }
    return words;
}

std::vector<std::string> SplitCommas(const std::string& line)
{
    std::vector<std::string> cells;
    std::istringstream in(line);
    std::string cell;
    while (std::getline(in, cell, ','))
    {
        const size_t begin = cell.find_first_not_of(" \t\r");
        const size_t end = cell.find_last_not_of(" \t\r");
        cells.push_back(begin == std::string::npos ? "" : cell.substr(begin, end - begin + 1));
    }
    if (!line.empty() && line.back() == ',')
    {
        cells.emplace_back();
    }
    return cells;
}

bool IsDigits(const std::string& text)
{
    return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return std::isdigit(c) != 0;
    });
}

std::string StripLauncherPrefix(const std::string& line)
{
    const size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string::npos)
    {
        return "";
    }
    // Open MPI's --tag-output and --output tag: "[job,rank]<stdout>:" with or without the colon.
    if (line[begin] == '[')
    {
        const size_t close = line.find(']', begin);
        const size_t tag = close == std::string::npos ? close : line.find("<std", close);
        const size_t end = tag == close + 1 ? line.find('>', tag) : std::string::npos;
        if (tag != std::string::npos && end != std::string::npos)
        {
            const bool colon = end + 1 < line.size() && line[end + 1] == ':';
            return line.substr(end + (colon ? 2 : 1));
        }
        return line;
    }
    // Slurm's --label and PBS' -l: "rank: ", "host: "; PALS' -l: "host rank: ".
    const size_t colon = line.find(": ", begin);
    const size_t blank = line.find_first_of(" \t#", begin);
    const bool ranked = colon != std::string::npos && blank < colon && line[blank] != '#' &&
                        IsDigits(line.substr(blank + 1, colon - blank - 1));
    if (colon != std::string::npos && colon - begin <= 64 && (blank > colon || ranked))
    {
        const std::string rest = line.substr(colon + 2);
        const std::vector<std::string> words = SplitWords(rest);
        const bool said = line.compare(begin, colon - begin, "nodes") == 0 ||
                          line.compare(begin, colon - begin, "ngpus") == 0 ||
                          line.compare(begin, colon - begin, "op") == 0;
        if (!said && !words.empty() &&
            (words[0][0] == '#' || (words.size() > 2 && IsDigits(words[0])) || words[0] == "size" ||
             words[0] == "Rank" || words[0] == "nThread"))
        {
            return rest;
        }
    }
    return line;
}

std::optional<CollectiveKind> FindOperation(std::string name)
{
    if (const size_t end = name.find("_perf"); end != std::string::npos)
    {
        name.resize(end);
    }
    std::replace(name.begin(), name.end(), '_', '-');
    static const std::map<std::string, CollectiveKind> kinds{
        {"all-reduce", CollectiveKind::ALL_REDUCE},
        {"allreduce", CollectiveKind::ALL_REDUCE},
        {"all-gather", CollectiveKind::ALL_GATHER},
        {"allgather", CollectiveKind::ALL_GATHER},
        {"reduce-scatter", CollectiveKind::REDUCE_SCATTER},
        {"reducescatter", CollectiveKind::REDUCE_SCATTER},
        {"broadcast", CollectiveKind::BROADCAST},
        {"reduce", CollectiveKind::REDUCE},
        {"alltoall", CollectiveKind::ALL_TO_ALL},
        {"all-to-all", CollectiveKind::ALL_TO_ALL},
        {"sendrecv", CollectiveKind::SEND_RECV},
        {"send-recv", CollectiveKind::SEND_RECV}};
    const auto it = kinds.find(name);
    return it == kinds.end() ? std::nullopt : std::make_optional(it->second);
}

std::optional<CollectiveKind> FindOperationInFileName(const std::string& path)
{
    std::string name = std::filesystem::path(path).stem().string();
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
        return static_cast<char>(c == '_' || c == '.' ? '-' : std::tolower(c));
    });
    // Longest first, so that "reduce" is not found in "all-reduce".
    for (const char* word : {"reduce-scatter",
                             "reducescatter",
                             "all-reduce",
                             "allreduce",
                             "all-gather",
                             "allgather",
                             "all-to-all",
                             "alltoall",
                             "send-recv",
                             "sendrecv",
                             "broadcast",
                             "reduce"})
    {
        const std::string text(word);
        const size_t at = name.find(text);
        if (at == std::string::npos)
        {
            continue;
        }
        const size_t end = at + text.size();
        if ((at == 0 || name[at - 1] == '-') && (end == name.size() || name[end] == '-'))
        {
            return FindOperation(text);
        }
    }
    return std::nullopt;
}

bool IsElementType(const std::string& word)
{
    static const std::set<std::string> types{"int8",
                                             "uint8",
                                             "int32",
                                             "uint32",
                                             "int64",
                                             "uint64",
                                             "half",
                                             "float",
                                             "double",
                                             "bfloat16",
                                             "fp8_e4m3",
                                             "fp8_e5m2",
                                             "f8e4m3",
                                             "f8e5m2"};
    return types.count(word) > 0;
}

bool IsValue(const std::string& word)
{
    if (word == "N/A")
    {
        return true;
    }
    char* end = nullptr;
    std::strtod(word.c_str(), &end);
    return !word.empty() && *end == '\0';
}

std::string NcclRelease(const std::string& text)
{
    if (IsDigits(text) && text.size() == 5)
    {
        return text.substr(0, 1) + "." + std::to_string(std::atoi(text.substr(1, 2).c_str()));
    }
    const size_t dot = text.find('.');
    if (dot == std::string::npos || !IsDigits(text.substr(0, dot)))
    {
        return "";
    }
    const std::string minor = text.substr(dot + 1, text.find('.', dot + 1) - dot - 1);
    return IsDigits(minor) ? text.substr(0, dot) + "." + minor : "";
}

} // namespace echo
} // namespace ns3
