// SPDX-License-Identifier: GPL-2.0-only
#include "echo-import-report.h"

#include "echo-kineto-health.h"

#include "ns3/echo-units.h"
#include "ns3/echo-workload-health.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace ns3
{
namespace echo
{

namespace
{

/** Recorded time of the kernels of one rank, and how many have none. */
struct KernelTime
{
    Time recorded;
    uint64_t untimed{0};
};

KernelTime KernelTimeOf(const ExecutionGraph& program)
{
    KernelTime result;
    for (const Operator& op : program.GetOperators())
    {
        if (op.type == OperatorType::COMPUTE || op.type == OperatorType::COPY)
        {
            result.recorded += op.duration;
            result.untimed += op.duration.IsZero() && (op.flops > 0 || op.memoryBytes > 0) ? 1 : 0;
        }
    }
    return result;
}

} // namespace

std::string ImportReport::Finish(const WorkloadGraph& workload, const std::string& file) const
{
    bool isEmpty = true;
    for (uint32_t rank = 0; rank < workload.GetRankCount() && isEmpty; ++rank)
    {
        isEmpty = workload.GetProgram(RankId(rank))->GetOperators().empty();
    }
    if (isEmpty)
    {
        throw InputError({file, 0, ""}, "neither kernels nor communications", "a workload");
    }
    const WorkloadHealth health(workload);
    const uint64_t kernels = health.GetOperatorCount(OperatorType::COMPUTE) +
                             health.GetOperatorCount(OperatorType::COPY);
    const uint64_t communications = health.GetOperatorCount(OperatorType::COLLECTIVE) +
                                    health.GetOperatorCount(OperatorType::POINT_TO_POINT);
    if (ranks > 1 && communications == 0)
    {
        std::string found = "no communication of " + std::to_string(ranks) + " ranks";
        for (const auto& [reason, count] : ignored)
        {
            found += (&reason == &ignored.begin()->first ? " besides " : ", ") +
                     std::to_string(count) + " " + reason;
        }
        throw InputError({file, 0, ""}, found, "collectives or messages");
    }
    Time least = Time::Max();
    Time most;
    uint64_t untimed = 0;
    std::set<const ExecutionGraph*> known; // looked up only
    for (uint32_t rank = 0; rank < workload.GetRankCount(); ++rank)
    {
        const ExecutionGraphPtr& program = workload.GetProgram(RankId(rank));
        if (known.insert(program.get()).second)
        {
            const KernelTime time = KernelTimeOf(*program);
            least = std::min(least, time.recorded);
            most = std::max(most, time.recorded);
            untimed += time.untimed;
        }
    }
    std::ostringstream out;
    out << format << ": " << ranks << " ranks, " << files << (files == 1 ? " file\n" : " files\n");
    out << health.ToString();
    out << "  kernel time of a rank: "
        << (least == most ? FormatTime(most) : FormatTime(least) + " to " + FormatTime(most))
        << "\n";
    if (untimed > 0)
    {
        out << "  kernels without a time: " << untimed
            << " of the different programs; operations and bytes are known (a scenario's "
               "compute.profile gives them times)\n";
    }
    for (const auto& note : notes)
    {
        out << "  " << note << "\n";
    }
    out << "  not used: ";
    const char* separator = "";
    for (const auto& [reason, count] : ignored)
    {
        out << separator << count << " " << reason;
        separator = ", ";
    }
    out << (ignored.empty() ? "nothing\n" : "\n");
    if (kernels == 0)
    {
        out << "  warning: no kernels: communication only\n";
    }
    for (const auto& warning : warnings)
    {
        out << "  warning: " << warning << "\n";
    }
    return out.str();
}

void RequireAllRanks(const std::vector<bool>& hasFile, const std::string& what)
{
    std::vector<uint32_t> found;
    std::vector<uint32_t> missing;
    for (uint32_t rank = 0; rank < hasFile.size(); ++rank)
    {
        (hasFile[rank] ? found : missing).push_back(rank);
    }
    if (!missing.empty())
    {
        throw InputError({"", 0, what},
                         (found.size() == 1 ? "a file for rank " : "files for ranks ") +
                             FormatRankList(found) + " of " + std::to_string(hasFile.size()) +
                             ": missing " + FormatRankList(missing),
                         "one a rank");
    }
}

} // namespace echo
} // namespace ns3
