// SPDX-License-Identifier: GPL-2.0-only
// Folding of equal ranks: one runs for all, and nothing that users see changes.

#include "case-harness.h"

#include "ns3/boolean.h"
#include "ns3/echo-analytical-backend.h"
#include "ns3/echo-derived-cost-model.h"
#include "ns3/echo-recorded-compute-model.h"
#include "ns3/echo-run-summary.h"
#include "ns3/echo-shortest-path-router.h"
#include "ns3/echo-simulator-guard.h"
#include "ns3/echo-training-job.h"
#include "ns3/echo-workload-builder.h"

#include <signal.h>

#include <algorithm>
#include <sstream>

using namespace ns3;
using namespace ns3::echo;
using testing::HasSubstr;

namespace
{

/** A summary and all rows that must not depend on folding. */
struct Outcome : public SummarySink
{
    void OnCollective(const CollectiveRecord& record) override
    {
        SummarySink::OnCollective(record);
        std::ostringstream row;
        row << ToString(record.kind) << ' ' << record.ranks << ' ' << record.hosts << ' '
            << record.bytes << ' ' << record.firstJoin.GetTimeStep() << ' '
            << record.start.GetTimeStep() << ' ' << record.end.GetTimeStep() << ' '
            << record.payloadBytes << ' ' << record.contended << record.extrapolated;
        collectives.insert(collectives.end(), record.replicas, row.str());
        ++rows;
    }

    void OnLink(const LinkRecord& record) override
    {
        SummarySink::OnLink(record);
        links.emplace_back(record.port, record.wireBytes);
    }

    void OnRank(const RankRecord& record) override
    {
        SummarySink::OnRank(record);
        std::ostringstream row;
        for (const Time& time : {record.compute,
                                 record.exposedCommunication,
                                 record.waiting,
                                 record.idle,
                                 record.communication,
                                 record.slowdown,
                                 record.firstStart,
                                 record.lastEnd})
        {
            row << time.GetTimeStep() << ' ';
        }
        row << record.host;
        ranks.push_back(row.str());
    }

    std::vector<std::string> collectives; //!< one an instance
    uint64_t rows{0};
    std::vector<std::pair<PortId, uint64_t>> links;
    std::vector<std::string> ranks;
    uint32_t simulated{0};
};

Outcome Simulate(const std::string& yaml, const std::string& folding)
{
    ScenarioOverrides overrides;
    overrides.sets = {"timeline.folding=" + folding};
    overrides.fidelity = "analytical";
    const std::string name = std::string(ECHO_SOURCE_DIR) + "/scenarios/text.yaml";
    ScenarioRunner runner(ReadScenario(YamlNode::LoadText(yaml, name), overrides));
    Outcome outcome;
    const RunRecord run = runner.Run([&]() -> RecordSink& {
        outcome = Outcome();
        return outcome;
    });
    outcome.OnRun(run);
    outcome.simulated = run.simulatedRanks;
    std::sort(outcome.collectives.begin(), outcome.collectives.end());
    return outcome;
}

/** @return the folded outcome, which must equal the unfolded one */
Outcome ExpectSame(const std::string& yaml)
{
    // What communications that meet cost each other is not the same for all of equal ranks.
    const std::string marked = yaml + "estimator: {contention: marked}\n";
    const Outcome all = Simulate(marked, "off");
    const Outcome folded = Simulate(marked, "on");
    const RunSummary& a = all.GetSummary();
    const RunSummary& b = folded.GetSummary();
    EXPECT_EQ(all.simulated, a.run.ranks);
    EXPECT_LT(folded.simulated, all.simulated);
    EXPECT_EQ(a.run.stepTime, b.run.stepTime);
    EXPECT_EQ(a.fingerprint, b.fingerprint);
    EXPECT_EQ(a.operators, b.operators);
    EXPECT_EQ(a.collectives, b.collectives);
    EXPECT_EQ(a.contended, b.contended);
    EXPECT_EQ(a.bytesOnWire, b.bytesOnWire);
    EXPECT_EQ(a.warnings, b.warnings);
    EXPECT_EQ(all.collectives, folded.collectives);
    EXPECT_EQ(all.links, folded.links);
    EXPECT_EQ(all.ranks, folded.ranks);
    EXPECT_EQ(a.totals.size(), b.totals.size());
    for (size_t i = 0; i < std::min(a.totals.size(), b.totals.size()); ++i)
    {
        EXPECT_EQ(a.totals[i].duration, b.totals[i].duration);
        EXPECT_EQ(a.totals[i].waiting, b.totals[i].waiting);
        EXPECT_EQ(a.totals[i].contended, b.totals[i].contended);
        EXPECT_DOUBLE_EQ(a.totals[i].largestUtilization, b.totals[i].largestUtilization);
    }
    return folded;
}

/** A small GPT on Polaris-like hosts of 4 GPUs and 2 NICs, eight hosts a leaf. */
std::string Gpt(const std::string& parallel,
                uint32_t hosts,
                const std::string& model = "",
                const std::string& more = "")
{
    return "echo: 1\nname: folding\ncluster: clusters/polaris.yaml\nhosts: " +
           std::to_string(hosts) +
           "\ncompute: {profile: ../calibration/compute/gemm-efficiency.yaml}\n" + more +
           "workload:\n  generate:\n    model: {kind: gpt, layers: 12, hidden: 768, heads: 12, "
           "sequence: 512, vocabulary: 8192" +
           model + "}\n    parallel: {" + parallel +
           "}\n    batch: {micro_batch: 1, micro_batches: 6}\n"
           "    precision: {parameters: bf16, gradients: bf16}\n";
}

TEST(Folding, TensorPipelineAndDataParallelGptIsTheSame)
{
    const Outcome folded = ExpectSame(Gpt("tp: 2, pp: 4, dp: 16, overlap_gradients: true", 32));
    // Stages that differ, and ways between them of one leaf or two.
    EXPECT_LE(folded.simulated, 16u);
    EXPECT_LT(folded.rows, folded.GetSummary().collectives / 4);
    EXPECT_GT(folded.GetSummary().contended, 0u);
}

TEST(Folding, SlowdownOfKernelsIsTheSame)
{
    ExpectSame("echo: 1\nname: folding\ncluster: clusters/polaris.yaml\nhosts: 8\n"
               "compute: {profile: ../calibration/compute/gemm-efficiency.yaml, slowdown: 1.3}\n"
               "workload:\n  generate:\n    model: {kind: gpt, layers: 8, hidden: 768, heads: 12, "
               "sequence: 512, vocabulary: 8192}\n"
               "    parallel: {tp: 2, pp: 2, dp: 8, overlap_gradients: true}\n"
               "    batch: {micro_batch: 1, micro_batches: 3}\n"
               "    precision: {parameters: bf16, gradients: bf16}\n");
}

TEST(Folding, MixtureOfExpertsIsTheSame)
{
    // Expert groups on one host, and on two.
    ExpectSame(Gpt("tp: 1, ep: 4, dp: 16", 4, ", experts: 8, top_k: 2"));
    ExpectSame(
        Gpt("tp: 2, ep: 4, pp: 2, dp: 8, sequence_parallel: true", 8, ", experts: 4, top_k: 2"));
}

TEST(Folding, OddNumbersOnUnevenHostsAreTheSame)
{
    // Groups of 3 on hosts of 4 GPUs: some on one host, others on two, and a host half full.
    ExpectSame(Gpt("tp: 3, pp: 2, dp: 8", 12));
    ExpectSame(Gpt("tp: 1, pp: 3, dp: 5", 4));
    ExpectSame(Gpt("tp: 2, pp: 2, dp: 6", 6, "", "placement: {order: round-robin}\n"));
}

TEST(Folding, CollectivesWithRootsAndUnevenSplitsAreTheSame)
{
    // 16 ranks in two groups; in each the broadcast's root computes first.
    const std::string text =
        "echo: 1\nname: folding\ncluster: clusters/polaris.yaml\nhosts: 4\nworkload:\n"
        "  groups: {half: {size: 8}}\n  programs:\n"
        "    - ranks: [0, 8]\n      streams:\n        s:\n"
        "          - {compute: 50us, name: load}\n"
        "          - {collective: broadcast, bytes: 8MiB, root: 0, group: half}\n"
        "          - {compute: 10us, name: work}\n"
        "    - ranks: [1-7, 9-15]\n      streams:\n        s:\n"
        "          - {collective: broadcast, bytes: 8MiB, root: 0, group: half}\n"
        "          - {compute: 10us, name: work}\n";
    ExpectSame(text);
    // Rows of an all-to-all-v belong to one group: each has programs of its own, and runs as they
    // are.
    const std::string uneven = "echo: 1\nname: folding\n" + CaseCluster(4) +
                               "workload:\n  collectives:\n"
                               "    - {op: all-to-all-v, ranks: [0, 1], "
                               "splits: [[0, 1KiB], [2KiB, 0]]}\n"
                               "    - {op: all-to-all-v, ranks: [2, 3], "
                               "splits: [[0, 1KiB], [2KiB, 0]]}\n";
    const Outcome all = Simulate(uneven, "off");
    const Outcome folded = Simulate(uneven, "on");
    EXPECT_EQ(all.GetSummary().fingerprint, folded.GetSummary().fingerprint);
    EXPECT_EQ(all.collectives, folded.collectives);
}

TEST(Folding, UnequalLoadsOfExpertsAreTheSame)
{
    // Four expert ranks with loads of their own, in eight groups with the same loads: on one host
    // each, on two, and beside stages.
    const Outcome folded = ExpectSame(
        Gpt("tp: 1, ep: 4, dp: 32, expert_load: [4, 2, 1, 1]", 8, ", experts: 8, top_k: 2"));
    EXPECT_LE(folded.simulated, 8u); // a class a load, and few for the places of replicas
    ExpectSame(Gpt("tp: 1, ep: 8, dp: 16, expert_load: [1, 1, 1, 1, 1, 1, 1, 9]",
                   4,
                   ", experts: 8, top_k: 2"));
    ExpectSame(
        Gpt("tp: 1, ep: 4, pp: 2, dp: 16, expert_load: [0, 1, 2, 3]", 8, ", experts: 4, top_k: 1"));
}

TEST(Folding, SaysWhyItCannot)
{
    ScenarioOverrides overrides;
    overrides.sets = {"timeline.folding=on"};
    overrides.fidelity = "flow";
    const std::string name = std::string(ECHO_SOURCE_DIR) + "/scenarios/text.yaml";
    ScenarioRunner runner(ReadScenario(
        YamlNode::LoadText("echo: 1\nranks: 4\n" + CaseCluster(4) +
                               "workload: {collectives: [{op: all-reduce, bytes: 1MiB}]}\n",
                           name),
        overrides));
    SummarySink sink;
    const RunRecord run = runner.Run([&]() -> RecordSink& { return sink; });
    EXPECT_THAT(run.warnings, testing::Contains(HasSubstr("not folded")));
}

TEST(Folding, AStallIsToldAsWithoutIt)
{
    // Four equal pairs that each wait for the other's send.
    std::string text =
        "echo: 1\nfidelity: analytical\nranks: 8\n" + CaseCluster(8) + "workload:\n  programs:\n";
    for (int rank = 0; rank < 8; ++rank)
    {
        const std::string peer = std::to_string(rank ^ 1);
        text += "    - ranks: [" + std::to_string(rank) + "]\n      streams:\n        s:\n";
        text += "          - {receive: 1MiB, from: " + peer + ", name: want}\n";
        text += "          - {send: 1MiB, to: " + peer + ", name: give}\n";
    }
    const CapturedRun unfolded = RunText(text);
    ScenarioOverrides overrides;
    overrides.sets = {"timeline.folding=on"};
    const CapturedRun folded = RunText(text, overrides);
    EXPECT_EQ(folded.exitCode, 3);
    EXPECT_EQ(folded.error, unfolded.error);
}

/** Eight ranks with one program: 10 us of work, an all-reduce of all, 10 us more. */
WorkloadGraphPtr EightEqual(Time lateStart)
{
    ExecutionGraphBuilder program;
    const StreamId stream = program.GetStream("s");
    const uint32_t slot = program.AddGroupSlot();
    program.AddCompute(stream, "before", MicroSeconds(10));
    CollectiveSpec spec;
    spec.bytes = 1 << 20;
    program.AddCollective(stream, "reduce", slot, spec);
    program.AddCompute(stream, "after", MicroSeconds(10));
    const ExecutionGraphPtr graph = program.Build();
    WorkloadBuilder builder(8);
    std::vector<RankId> ranks;
    for (uint32_t i = 0; i < 8; ++i)
    {
        ranks.emplace_back(i);
    }
    const CommGroupPtr world = builder.AddGroup(GroupKind::DATA, "world", ranks);
    for (const RankId rank : ranks)
    {
        builder.SetProgram(rank, graph, {world});
    }
    builder.SetStartTime(RankId(5), lateStart);
    return builder.Build();
}

/** As recorded, but one rank is slower. */
class Straggler : public ComputeModel
{
  public:
    Time GetDuration(const Operator& op, RankId rank) const override
    {
        return rank == RankId(3) ? op.duration + MicroSeconds(7) : op.duration;
    }
};

/** @return simulated ranks and step time */
std::pair<uint32_t, Time> RunJob(WorkloadGraphPtr workload, Ptr<ComputeModel> compute, bool folds)
{
    SimulatorGuard guard;
    const std::string cluster =
        "echo: 1\n" + CaseCluster(8) + "workload: {collectives: [{op: barrier}]}\n";
    const Scenario scenario = ReadScenario(
        YamlNode::LoadText(cluster, std::string(ECHO_SOURCE_DIR) + "/scenarios/t"), {});
    const auto placement =
        std::make_shared<const Placement>(Placement::Linear(scenario.cluster.topology, 8));
    Ptr<ShortestPathRouter> router = CreateObject<ShortestPathRouter>();
    router->Prepare(scenario.cluster.topology);
    Ptr<DerivedCostModel> cost = CreateObject<DerivedCostModel>();
    cost->SetRouter(router);
    Ptr<AnalyticalBackend> backend = CreateObject<AnalyticalBackend>();
    backend->SetCostModel(cost);
    backend->SetRouter(router);
    backend->Prepare(placement, CreateObject<FixedSelector>(), nullptr);
    Ptr<TrainingJob> job = CreateObject<TrainingJob>();
    job->SetAttribute("Folding", BooleanValue(folds));
    job->Prepare(std::move(workload), backend, compute, nullptr, nullptr);
    job->Start();
    Simulator::Run();
    EXPECT_TRUE(job->IsFinished());
    const std::pair<uint32_t, Time> result{job->GetSimulatedRankCount(), job->GetStepTime()};
    job->Dispose();
    backend->Dispose();
    return result;
}

TEST(Folding, ALateRankIsAClassOfItsOwn)
{
    const auto recorded = CreateObject<RecordedComputeModel>();
    EXPECT_EQ(RunJob(EightEqual(Time()), recorded, true).first, 1u);
    const auto late = RunJob(EightEqual(MicroSeconds(3)), recorded, true);
    EXPECT_EQ(late.first, 2u);
    EXPECT_EQ(late.second, RunJob(EightEqual(MicroSeconds(3)), recorded, false).second);
}

TEST(Folding, IsRefusedWhereRanksHaveTheirOwnKernelTimes)
{
    const auto alone = RunJob(EightEqual(Time()), CreateObject<RecordedComputeModel>(), false);
    const auto slow = RunJob(EightEqual(Time()), CreateObject<Straggler>(), true);
    EXPECT_EQ(slow.first, 8u);
    EXPECT_EQ(slow.second, alone.second + MicroSeconds(14)) << "all wait for rank 3";
}

/** Asks the process to stop at the first communication. */
class StoppingSink : public RecordSink
{
  public:
    void OnCollective(const CollectiveRecord&) override
    {
        if (!m_asked)
        {
            m_asked = true; // a second signal would end the process
            raise(SIGTERM);
        }
    }

  private:
    bool m_asked{false};
};

// A run that a signal stops is not simulated again unfolded, as a stalled one is.
TEST(Folding, ASignalEndsTheRun)
{
    const std::string yaml = Gpt("tp: 2, dp: 4", 2) + "estimator: {contention: marked}\n";
    ScenarioRunner runner(ReadScenario(
        YamlNode::LoadText(yaml, std::string(ECHO_SOURCE_DIR) + "/scenarios/text.yaml"), {}));
    uint32_t runs = 0;
    StoppingSink sink;
    EXPECT_THROW(runner.Run([&]() -> RecordSink& {
        ++runs;
        return sink;
    }),
                 StallError);
    EXPECT_EQ(runs, 1u);
}

} // namespace
