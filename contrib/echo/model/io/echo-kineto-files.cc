// SPDX-License-Identifier: GPL-2.0-only
#include "echo-kineto-files.h"

#include "echo-input-file.h"
#include "echo-kineto-health.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

namespace ns3
{
namespace echo
{

namespace
{

const uint32_t MAX_RANKS = 1u << 20;

/** @return the number that starts at @p at, if digits stand there; MAX_RANKS: that or more */
std::optional<uint32_t> NumberAt(const std::string& text, size_t at)
{
    uint64_t number = 0;
    size_t digits = 0;
    for (; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])); ++at, ++digits)
    {
        number = std::min<uint64_t>(number * 10 + static_cast<uint64_t>(text[at] - '0'), MAX_RANKS);
    }
    return digits > 0 ? std::optional<uint32_t>(static_cast<uint32_t>(number)) : std::nullopt;
}

class FileSet
{
  public:
    void Add(const std::string& path);
    KinetoFiles Finish(const std::string& missingRanks);

  private:
    uint32_t RankOf(const KinetoTrace& trace);
    void AddProfiles();
    void AddExecutionTraces();
    uint32_t FindWorldSize() const;
    void CheckMissing(const std::string& missingRanks);

    std::vector<KinetoTrace> m_profiles;
    std::vector<ExecutionTrace> m_executionTraces;
    std::map<uint32_t, KinetoRank> m_ranks;
    KinetoFiles m_files;
};

void FileSet::Add(const std::string& path)
{
    if (RecognizeTrace(path) == TraceFormat::EXECUTION_TRACE)
    {
        m_executionTraces.push_back(ReadExecutionTrace(path));
        return;
    }
    KinetoTrace trace = ReadKinetoTrace(path);
    const bool hasKernels =
        std::any_of(trace.activities.begin(), trace.activities.end(), [](const auto& activity) {
            return activity.kind == GpuActivity::Kind::KERNEL ||
                   activity.kind == GpuActivity::Kind::COMMUNICATION;
        });
    if (!hasKernels)
    {
        throw InputError({path, 0, ""},
                         "a CPU-only profile (no GPU kernels found)",
                         "one that records the GPU (ProfilerActivity.CUDA)");
    }
    if (trace.recordedShare < 0.5)
    {
        char share[16];
        std::snprintf(share, sizeof(share), "%.1f", trace.recordedShare * 100);
        m_files.warnings.push_back(
            path + " holds " + share +
            " % of what the profiler recorded (a sample or a filtered file): step times that are "
            "simulated from it mean nothing");
    }
    m_profiles.push_back(std::move(trace));
}

uint32_t FileSet::RankOf(const KinetoTrace& trace)
{
    const auto named = RankFromFileName(trace.file, m_profiles.size() > 1);
    if (trace.rank >= 0 && trace.rank < MAX_RANKS)
    {
        const auto rank = static_cast<uint32_t>(trace.rank);
        if (named && *named < MAX_RANKS && *named != rank)
        {
            m_files.warnings.push_back(trace.file + " is of rank " + std::to_string(rank) +
                                       " by its distributedInfo, not " + std::to_string(*named));
        }
        return rank;
    }
    if (trace.rank >= MAX_RANKS)
    {
        throw InputError({trace.file, 0, "distributedInfo"},
                         "rank " + std::to_string(trace.rank),
                         "a rank from 0 to " + std::to_string(MAX_RANKS - 1));
    }
    if (named && *named < MAX_RANKS)
    {
        return *named;
    }
    if (m_profiles.size() == 1)
    {
        return 0;
    }
    if (named)
    {
        throw InputError({trace.file, 0, ""},
                         "a rank in its name that is too large",
                         "a rank from 0 to " + std::to_string(MAX_RANKS - 1));
    }
    throw InputError({trace.file, 0, ""},
                     "no rank in the file (distributedInfo) or its name",
                     "one, for instance rank3.json");
}

void FileSet::AddProfiles()
{
    for (auto& trace : m_profiles)
    {
        const uint32_t rank = RankOf(trace);
        const auto known = m_ranks.find(rank);
        if (known != m_ranks.end())
        {
            throw InputError({trace.file, 0, ""},
                             "rank " + std::to_string(rank) + ", which " +
                                 known->second.trace.file + " has too",
                             "one profiler file a rank");
        }
        KinetoRank& entry = m_ranks[rank];
        entry.rank = rank;
        entry.trace = std::move(trace);
    }
}

void FileSet::AddExecutionTraces()
{
    for (auto& trace : m_executionTraces)
    {
        const auto named = RankFromFileName(trace.file, m_executionTraces.size() > 1);
        auto rank = named ? m_ranks.find(*named) : m_ranks.end();
        if (!named)
        {
            const std::string process = std::to_string(trace.pid) + "/";
            rank = std::find_if(m_ranks.begin(), m_ranks.end(), [&process](const auto& entry) {
                const auto& threads = entry.second.trace.threads;
                return std::any_of(threads.begin(), threads.end(), [&process](const auto& thread) {
                    return thread.name.compare(0, process.size(), process) == 0;
                });
            });
        }
        if (rank == m_ranks.end())
        {
            m_files.warnings.push_back(trace.file +
                                       " is not used: it belongs to none of the profiler files");
            continue;
        }
        if (rank->second.executionTrace)
        {
            throw InputError({trace.file, 0, ""},
                             "rank " + std::to_string(rank->first) + ", which " +
                                 rank->second.executionTrace->file + " has too",
                             "one execution trace a rank");
        }
        rank->second.executionTrace = std::move(trace);
    }
}

/** As recorded, else the largest rank or group that anything names. */
uint32_t FileSet::FindWorldSize() const
{
    int64_t known = -1;
    int64_t least = static_cast<int64_t>(m_ranks.rbegin()->first) + 1;
    const KinetoTrace* first = nullptr;
    for (const auto& [rank, entry] : m_ranks)
    {
        const KinetoTrace& trace = entry.trace;
        if (trace.worldSize > 0)
        {
            if (first && trace.worldSize != known)
            {
                throw InputError({trace.file, 0, "distributedInfo"},
                                 "world_size " + std::to_string(trace.worldSize),
                                 std::to_string(known) + " as in " + first->file);
            }
            known = trace.worldSize;
            first = &trace;
        }
        auto count = [&least](const CommunicationRecord& record) {
            least = std::max(least, record.groupSize);
            for (uint32_t member : record.ranks)
            {
                least = std::max(least, static_cast<int64_t>(member) + 1);
            }
        };
        for (const auto& record : trace.records)
        {
            count(record);
        }
        for (const auto& range : trace.ranges)
        {
            count(range.record);
        }
        if (entry.executionTrace)
        {
            for (const auto& [name, size] : entry.executionTrace->groupSizes)
            {
                least = std::max(least, size);
            }
        }
    }
    const int64_t size = known > 0 ? known : least;
    if (size > MAX_RANKS)
    {
        throw InputError({m_ranks.rbegin()->second.trace.file, 0, ""},
                         "a job or a group of " + std::to_string(size) + " ranks",
                         "at most " + std::to_string(MAX_RANKS));
    }
    if (m_ranks.rbegin()->first >= size)
    {
        throw InputError({m_ranks.rbegin()->second.trace.file, 0, ""},
                         "rank " + std::to_string(m_ranks.rbegin()->first) + " of " +
                             std::to_string(size) + " ranks",
                         "a rank from 0 to " + std::to_string(size - 1));
    }
    return static_cast<uint32_t>(size);
}

void FileSet::CheckMissing(const std::string& missingRanks)
{
    std::vector<uint32_t> found;
    std::vector<uint32_t> missing;
    for (uint32_t rank = 0; rank < m_files.worldSize; ++rank)
    {
        (m_ranks.count(rank) > 0 ? found : missing).push_back(rank);
    }
    if (missing.empty())
    {
        return;
    }
    const std::string which = (found.size() == 1 ? "a file for rank " : "files for ranks ") +
                              FormatRankList(found) + " of " + std::to_string(m_files.worldSize);
    m_files.isCopied = missingRanks == "copy" || (missingRanks == "auto" && found.size() == 1);
    if (!m_files.isCopied)
    {
        throw InputError({"", 0, "profiler files"},
                         which + ": missing " + FormatRankList(missing),
                         "one a rank");
    }
    m_files.warnings.push_back(which + ": missing " + FormatRankList(missing) +
                               (found.size() == 1 ? ", which take the program of rank "
                                                  : ", which take in turn the programs of ranks ") +
                               FormatRankList(found));
}

KinetoFiles FileSet::Finish(const std::string& missingRanks)
{
    if (m_profiles.empty())
    {
        throw InputError({m_executionTraces.empty() ? "" : m_executionTraces.front().file, 0, ""},
                         "PyTorch execution traces only",
                         "profiler files too: they hold the GPU's times");
    }
    AddProfiles();
    AddExecutionTraces();
    m_files.worldSize = FindWorldSize();
    CheckMissing(missingRanks);
    for (auto& [rank, entry] : m_ranks)
    {
        m_files.ranks.push_back(std::move(entry));
    }
    return std::move(m_files);
}

} // namespace

std::optional<uint32_t> RankFromFileName(const std::string& path, bool takeAnyNumber)
{
    std::string name = std::filesystem::path(path).filename().string();
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
        return static_cast<char>(std::tolower(c));
    });
    for (const std::string word : {"rank", "worker"})
    {
        for (size_t at = name.find(word); at != std::string::npos; at = name.find(word, at + 1))
        {
            size_t digits = at + word.size();
            while (digits < name.size() &&
                   std::string("_-. #=").find(name[digits]) != std::string::npos)
            {
                ++digits;
            }
            if (const auto number = NumberAt(name, digits))
            {
                return number;
            }
        }
    }
    if (!takeAnyNumber)
    {
        return std::nullopt;
    }
    std::optional<uint32_t> only;
    const size_t end = name.find(".json");
    for (size_t at = 0; at < std::min(end, name.size()); ++at)
    {
        const bool isStart = std::isdigit(static_cast<unsigned char>(name[at])) &&
                             (at == 0 || !std::isdigit(static_cast<unsigned char>(name[at - 1])));
        if (isStart)
        {
            if (only)
            {
                return std::nullopt; // several numbers: which one it is cannot be told
            }
            only = NumberAt(name, at);
        }
    }
    return only < MAX_RANKS ? only : std::nullopt; // a date or a process
}

KinetoFiles ReadKinetoFiles(const std::vector<std::string>& paths, const std::string& missingRanks)
{
    if (missingRanks != "auto" && missingRanks != "copy" && missingRanks != "refuse")
    {
        throw InputError(
            {"", 0, "missing ranks"}, "'" + missingRanks + "'", "auto, copy or refuse");
    }
    FileSet files;
    for (const auto& path : FindInputFiles(paths, {".json", ".json.gz"}))
    {
        files.Add(path);
    }
    return files.Finish(missingRanks);
}

} // namespace echo
} // namespace ns3
