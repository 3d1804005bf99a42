// SPDX-License-Identifier: GPL-2.0-only
#include "echo-kineto-importer.h"

#include "echo-kineto-collectives.h"
#include "echo-kineto-files.h"
#include "echo-kineto-measured.h"
#include "echo-kineto-program.h"
#include "echo-kineto-steps.h"
#include "echo-rank-replica.h"

#include <algorithm>
#include <exception>

namespace ns3
{
namespace echo
{

namespace
{

/** Nothing of a step is farther from it; also keeps picoseconds within 64 bits. */
const int64_t ONE_DAY = 86400LL * 1000000000;

/** @throws InputError if something of the step is recorded at a time that cannot be of it */
void CheckTimes(const KinetoTrace& trace, const StepTimeline& timeline)
{
    const StepWindow& window = timeline.window;
    auto check = [&](int64_t start, int64_t end, const std::string& name) {
        if (start < window.start - ONE_DAY || end > window.start + ONE_DAY)
        {
            throw InputError({trace.file, 0, name},
                             "a time more than a day from the step's start",
                             "times of one clock");
        }
    };
    check(window.start, window.end, "step");
    for (const auto& entry : timeline.activities)
    {
        const GpuActivity& activity = trace.activities[entry.activity];
        check(activity.start, activity.end, ShortKernelName(trace.names[activity.name]));
    }
    for (const auto& call : trace.calls)
    {
        if (call.start >= window.start && call.start < window.end)
        {
            check(call.start, call.end, trace.names[call.name]);
        }
    }
    for (int64_t busy : timeline.busyUntil)
    {
        check(window.start, busy, "work of earlier steps");
    }
}

/** Frees what nobody asks for once the step is analysed. */
void ForgetCalls(KinetoTrace& trace, KinetoLinks& links)
{
    std::deque<HostCall>().swap(trace.calls);
    std::vector<CommunicationRange>().swap(trace.ranges);
    std::map<int64_t, SyncRecord>().swap(trace.syncs);
    for (auto& thread : trace.threads)
    {
        std::vector<int64_t>().swap(thread.boundaries);
    }
    std::vector<uint32_t>().swap(links.callOf);
}

class Importer
{
  public:
    explicit Importer(const KinetoOptions& options) : m_options(options)
    {
    }

    ImportedWorkload Import(const std::vector<std::string>& paths);

  private:
    void SetRanks();
    template <typename Action>
    void Try(Action action);
    void Communicate();
    [[noreturn]] void FailWithoutCommunication() const;
    void Build();
    CommGroupPtr AddGroup(WorkloadBuilder& builder, const KinetoGroup& group) const;

    const KinetoOptions& m_options;
    KinetoFiles m_files;
    uint32_t m_ranks{0}; //!< of the job that is built
    std::vector<KinetoRankStep> m_steps;
    std::vector<KinetoInstance> m_instances; //!< collectives on all their members
    std::exception_ptr m_problem;            //!< why the files cannot be imported
    ImportedWorkload m_result;
};

/** As recorded, or as many as one rank is to stand for. */
void Importer::SetRanks()
{
    m_ranks = m_files.worldSize;
    if (m_options.replicate.empty() || m_options.replicate == "none")
    {
        if (m_options.ranks > 0 && m_options.ranks != m_ranks)
        {
            throw InputError({"", 0, "ranks"},
                             std::to_string(m_options.ranks) + " for a job recorded on " +
                                 std::to_string(m_ranks),
                             "replicate: dp with it");
        }
        return;
    }
    if (m_options.replicate != "dp")
    {
        throw InputError({"", 0, "replicate"}, "'" + m_options.replicate + "'", "none or dp");
    }
    if (m_files.ranks.size() != 1)
    {
        throw InputError({"", 0, "replicate"},
                         std::to_string(m_files.ranks.size()) + " ranks with profiler files",
                         "the file of one rank, which stands for all");
    }
    m_files.isCopied = true;
    m_ranks = m_options.ranks > 0 ? m_options.ranks : m_ranks;
    m_result.health.warnings.push_back(
        "replicate: dp: the trace of rank " + std::to_string(m_files.ranks.front().rank) + " of " +
        std::to_string(m_files.worldSize) + " stands for all " + std::to_string(m_ranks) +
        " ranks, as if they were equal; groups of the whole job span it, smaller ones are laid "
        "out as recorded");
}

CommGroupPtr Importer::AddGroup(WorkloadBuilder& builder, const KinetoGroup& group) const
{
    std::vector<RankId> ranks;
    for (uint32_t rank : group.ranks)
    {
        ranks.emplace_back(rank);
    }
    const GroupKind kind = ranks.size() == m_ranks ? GroupKind::WORLD : GroupKind::OTHER;
    return builder.AddGroup(
        kind, "ranks " + FormatRankList(group.ranks), std::move(ranks), group.communicator);
}

void Importer::Build()
{
    WorkloadBuilder builder(m_ranks);
    std::vector<ExecutionGraphPtr> programs;
    for (const auto& step : m_steps)
    {
        programs.push_back(BuildKinetoProgram(step.files->trace,
                                              step.timeline,
                                              step.communications,
                                              static_cast<uint32_t>(step.groups.size()),
                                              m_options.keepGaps));
    }
    std::map<KinetoGroup, GroupId> groupIds;
    SharedGroups shared(m_ranks);
    std::map<uint32_t, uint32_t> stepOf;
    for (uint32_t i = 0; i < m_steps.size(); ++i)
    {
        stepOf[m_steps[i].files->rank] = i;
    }
    for (uint32_t rank = 0; rank < m_ranks; ++rank)
    {
        const auto own = stepOf.find(rank);
        const uint32_t index =
            own != stepOf.end() ? own->second : rank % static_cast<uint32_t>(m_steps.size());
        const KinetoRankStep& step = m_steps[index];
        auto bind = [&](uint32_t slot) {
            KinetoGroup mine = step.groups[slot];
            if (own == stepOf.end() || m_ranks != m_files.worldSize)
            {
                const RankReplica replica{
                    step.files->trace.file, step.files->rank, m_files.worldSize, m_ranks};
                mine.ranks = replica.GetMembers(step.groups[slot].ranks, rank);
            }
            const CommGroupPtr added = AddGroup(builder, mine);
            groupIds[mine] = added->GetId();
            return added;
        };
        std::vector<CommGroupPtr> groups;
        for (uint32_t slot = 0; slot < step.groups.size(); ++slot)
        {
            groups.push_back(m_files.isCopied
                                 ? shared.Get(index, slot, rank, [&] { return bind(slot); })
                                 : bind(slot));
        }
        builder.SetProgram(RankId(rank), programs[index], std::move(groups));
        builder.SetStartTime(RankId(rank),
                             NanoSeconds(step.timeline.window.start + step.clockShift));
    }
    m_result.graph = builder.Build();
    SetMeasuredCollectives(m_steps, m_instances, groupIds, m_result);
}

/** Keeps the first problem, so that the health report comes before it. */
template <typename Action>
void Importer::Try(Action action)
{
    try
    {
        action();
    }
    catch (const std::runtime_error&)
    {
        m_problem = m_problem ? m_problem : std::current_exception();
    }
}

void Importer::Communicate()
{
    for (auto& step : m_steps)
    {
        Try([&] { ResolveCommunications(step, m_files.worldSize, m_result.health); });
    }
    if (!m_problem)
    {
        Try([&] { m_instances = MatchCollectives(m_steps, m_files.isCopied); });
    }
    const bool hasAny = std::any_of(m_steps.begin(), m_steps.end(), [](const auto& step) {
        return !step.links.records.empty();
    });
    Try([&] {
        if (m_ranks > 1 && !hasAny)
        {
            FailWithoutCommunication();
        }
    });
}

/** Names kernels that look like communication, and what of them was not recorded. */
void Importer::FailWithoutCommunication() const
{
    std::string names;
    uint64_t count = 0;
    for (const auto& [name, kernels] : m_result.health.otherCommunications)
    {
        names += (names.empty() ? "" : ", ") + name;
        count += kernels.count;
    }
    const std::string found =
        "no communication in the step of " + std::to_string(m_ranks) + " ranks";
    throw InputError(
        {m_files.ranks.front().trace.file, 0, ""},
        found + (count == 0
                     ? ""
                     : " but " + std::to_string(count) + (count == 1 ? " kernel" : " kernels") +
                           " outside NCCL and RCCL of unknown size or group (" + names + ")"),
        count == 0 ? "NCCL or RCCL kernels"
                   : "NCCL or RCCL kernels, or the operators that launched these with their input "
                     "shapes (record_shapes) and one process group in distributedInfo (pg_config)");
}

ImportedWorkload Importer::Import(const std::vector<std::string>& paths)
{
    const bool isReplicated = m_options.replicate == "dp";
    if (isReplicated && m_options.missingRanks == "refuse")
    {
        throw InputError({"", 0, "missing_ranks"}, "refuse beside replicate: dp", "one of them");
    }
    m_files = ReadKinetoFiles(paths, isReplicated ? "copy" : m_options.missingRanks);
    m_result.health.warnings = m_files.warnings;
    SetRanks();
    m_result.health.worldSize = m_ranks;
    for (const auto& rank : m_files.ranks)
    {
        KinetoRankStep step;
        step.files = &rank;
        step.links = LinkKineto(rank.trace, rank.executionTrace ? &*rank.executionTrace : nullptr);
        m_steps.push_back(std::move(step));
    }
    const KinetoStepChoice choice = ChooseKinetoSteps(m_steps, m_options.step);
    m_result.health.warnings.insert(
        m_result.health.warnings.end(), choice.warnings.begin(), choice.warnings.end());
    for (size_t i = 0; i < m_steps.size(); ++i)
    {
        KinetoTrace& trace = m_files.ranks[i].trace;
        m_steps[i].timeline = AnalyseStep(trace, m_steps[i].links, WindowOfSteps(trace, choice));
        CheckTimes(trace, m_steps[i].timeline);
        ForgetCalls(trace, m_steps[i].links);
    }
    DropCommonBacklog(m_steps, m_result.health);
    for (const auto& step : m_steps)
    {
        Try([&] { AddRankHealth(step, choice.GetName(), m_result.health); });
    }
    Communicate();
    if (m_options.alignClocks)
    {
        AlignClocks(m_steps, m_instances, m_result.health);
    }
    Try([&] { SetMeasuredRanks(m_steps, m_result); });
    m_result.health.WarnOfCommunications();
    if (m_options.onHealth)
    {
        m_options.onHealth(m_result.health);
    }
    if (m_problem)
    {
        std::rethrow_exception(m_problem);
    }
    Build();
    return std::move(m_result);
}

} // namespace

ImportedWorkload ImportKineto(const std::vector<std::string>& paths, const KinetoOptions& options)
{
    return Importer(options).Import(paths);
}

} // namespace echo
} // namespace ns3
