// SPDX-License-Identifier: GPL-2.0-only
// Several jobs that share a cluster.

#include "case-harness.h"

#include "ns3/echo-report-tables.h"
#include "ns3/echo-run-summary.h"

#include <sstream>

using namespace ns3;
using namespace ns3::echo;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace
{

const std::vector<std::string> FIDELITIES{"packet", "flow", "analytical", "hybrid"};

/** Two leaves of four hosts that one uplink of 100 Gb/s each joins through one spine. */
std::string NarrowCluster()
{
    return CaseCluster(8,
                       "{type: leaf-spine, hosts_per_leaf: 4, spines: 1, uplinks: 1, "
                       "link_delay: 1us}");
}

std::string Job(const std::string& name,
                const std::string& hosts,
                const std::string& collective,
                const std::string& more = "")
{
    return "  - {name: " + name + ", placement: {hosts: " + hosts + "}, " + more +
           "workload: {collectives: [" + collective + "]}}\n";
}

/** Host 0 sends 64 MiB to host 4, host 1 to host 5: both over the one uplink. */
const std::string MESSAGE = "{op: send-recv, bytes: 64MiB, pairs: [[0, 1]]}";
const double ALONE_MS = 67108864 * 8 / 100e9 * 1e3; // 5.36870912: 64 MiB at 100 Gb/s

CapturedRun RunJobs(const std::string& fidelity, const std::string& rest)
{
    return RunText("echo: 1\nname: jobs\nfidelity: " + fidelity + "\n" + rest);
}

const JobRecord& FindByName(const CapturedRun& run, const std::string& name)
{
    for (const JobRecord& job : run.run.jobs)
    {
        if (job.name == name)
        {
            return job;
        }
    }
    throw std::runtime_error("no job " + name + ": " + run.error);
}

std::string ErrorOf(const std::string& rest)
{
    const CapturedRun run = RunJobs("flow", rest);
    EXPECT_EQ(run.exitCode, 2) << rest;
    return run.error;
}

/** Everything but names, in the order in which it came. */
std::string RowsOf(const CapturedRun& run)
{
    std::ostringstream rows;
    for (const auto& r : run.collectives)
    {
        rows << r.id << ' ' << r.firstMember << ' ' << r.ranks << ' ' << r.bytes << ' '
             << r.firstJoin << ' ' << r.start << ' ' << r.end << ' ' << r.contended << '\n';
    }
    for (const auto& r : run.ranks)
    {
        rows << r.rank << ' ' << r.host << ' ' << r.compute << ' ' << r.exposedCommunication << ' '
             << r.waiting << ' ' << r.idle << ' ' << r.firstStart << ' ' << r.lastEnd << '\n';
    }
    for (const auto& r : run.links)
    {
        rows << r.port << ' ' << r.wireBytes << ' ' << r.packets << ' ' << r.busy << ' '
             << r.maxQueueBytes << '\n';
    }
    for (const auto& r : run.flows)
    {
        rows << r.source << ' ' << r.destination << ' ' << r.label << ' ' << r.end << '\n';
    }
    for (const auto& r : run.run.jobs)
    {
        rows << r.firstRank << ' ' << r.ranks << ' ' << r.hosts << ' ' << r.start << ' '
             << r.stepTime << ' ' << r.alone.value_or(Time()) << '\n';
    }
    return rows.str();
}

} // namespace

// Through one uplink each of two equal messages gets half: twice the time of one.
TEST(Jobs, MeetOnLinksInEveryFidelity)
{
    for (const std::string& fidelity : FIDELITIES)
    {
        const CapturedRun run =
            RunJobs(fidelity,
                    NarrowCluster() + "compare_alone: true\njobs:\n" + Job("a", "[0, 4]", MESSAGE) +
                        Job("b", "[1, 5]", MESSAGE));
        ASSERT_EQ(run.error, "") << fidelity;
        ASSERT_EQ(run.run.jobs.size(), 2u);
        for (const JobRecord& job : run.run.jobs)
        {
            // Packets add headers: 4096 B of payload are about 4,180 on the wire.
            EXPECT_NEAR(Milliseconds(*job.alone), ALONE_MS, 0.03 * ALONE_MS) << fidelity;
            EXPECT_NEAR(job.stepTime.GetDouble() / job.alone->GetDouble(), 2, 0.01) << fidelity;
            EXPECT_EQ(job.ranks, 2u);
            EXPECT_EQ(job.hosts, 2u);
        }
    }
}

// Small messages hardly notice one another on an uplink, of whatever else their time consists.
TEST(Jobs, MeetingInPacketsAddsNoLatency)
{
    const std::string small = "{op: all-reduce, bytes: 8KiB}";
    for (const std::string profile : {"derived", "../calibration/profiles/h100-sxm.yaml"})
    {
        const CapturedRun run = RunJobs("hybrid",
                                        NarrowCluster() + "estimator: {profile: " + profile +
                                            "}\n" + "compare_alone: true\njobs:\n" +
                                            Job("a", "[0, 4]", small) + Job("b", "[1, 5]", small));
        ASSERT_EQ(run.error, "") << profile;
        for (const JobRecord& job : run.run.jobs)
        {
            EXPECT_GE(job.stepTime, *job.alone) << profile;
            EXPECT_LE(job.stepTime.GetDouble(), 1.05 * job.alone->GetDouble()) << profile;
        }
        EXPECT_GT(run.run.packets, 0u) << profile; // they met
    }
}

// Neither a host nor a link in common: each job is what it is alone, to the picosecond, and the
// first what it is as a scenario of its own.
TEST(Jobs, LeaveOneAnotherAlone)
{
    const std::string reduce = "{op: all-reduce, bytes: 8MiB, repeat: 3, compute: 100us}";
    for (const std::string& fidelity : FIDELITIES)
    {
        const CapturedRun both =
            RunJobs(fidelity,
                    CaseCluster(8) + "compare_alone: true\njobs:\n" + Job("a", "0-3", reduce) +
                        Job("b", "4-7", "{op: all-to-all, bytes: 4MiB, repeat: 5}"));
        ASSERT_EQ(both.error, "") << fidelity;
        for (const JobRecord& job : both.run.jobs)
        {
            EXPECT_EQ(job.stepTime, *job.alone) << fidelity << ' ' << job.name;
            EXPECT_GT(job.stepTime, Time());
            EXPECT_EQ(job.compute + job.exposedCommunication + job.waiting + job.idle,
                      job.stepTime);
        }
        const CapturedRun single = RunJobs(
            fidelity, CaseCluster(8) + "ranks: 4\nworkload: {collectives: [" + reduce + "]}\n");
        EXPECT_EQ(single.run.stepTime, FindByName(both, "a").stepTime) << fidelity;
        EXPECT_EQ(both.run.stepTime, Max(both.run.jobs[0].stepTime, both.run.jobs[1].stepTime));
    }
}

// a has the uplink for itself for 2 ms and needs 3.369 ms more, which at half the rate takes
// 6.737 ms. By then b has had as much, 3.369 ms of its 5.369, and takes 2 ms for the rest.
TEST(Jobs, StartWhenTheyAreTold)
{
    const CapturedRun run = RunJobs("flow",
                                    NarrowCluster() + "jobs:\n" + Job("a", "[0, 4]", MESSAGE) +
                                        Job("b", "[1, 5]", MESSAGE, "start: 2ms, "));
    const JobRecord& a = FindByName(run, "a");
    const JobRecord& b = FindByName(run, "b");
    const double expected = 2 + 2 * (ALONE_MS - 2);
    EXPECT_EQ(a.start, Time());
    EXPECT_EQ(b.start, MilliSeconds(2));
    EXPECT_NEAR(Milliseconds(a.stepTime), expected, 0.02); // 4 links of 1 us
    EXPECT_NEAR(Milliseconds(b.stepTime), expected, 0.02);
    EXPECT_EQ(run.run.stepTime, b.start + b.stepTime);
    EXPECT_FALSE(a.alone.has_value());
    // Rows of ranks add up to the whole: before its job begins a rank is idle.
    ASSERT_EQ(run.ranks.size(), 4u);
    for (const RankRecord& r : run.ranks)
    {
        EXPECT_EQ(r.compute + r.exposedCommunication + r.waiting + r.idle, run.run.stepTime);
    }
    EXPECT_EQ(run.ranks[2].idle, MilliSeconds(2));
}

// Links count over the step, wherever on the clock it lies: each NIC sends all of it.
TEST(Jobs, LinksAreFullOfAStepThatStartsLate)
{
    const CapturedRun run =
        RunJobs("flow",
                CaseCluster(4) + "jobs:\n" + Job("a", "0-1", MESSAGE, "start: 20ms, ") +
                    Job("b", "2-3", MESSAGE, "start: 20ms, "));
    ASSERT_EQ(run.error, "");
    ASSERT_EQ(run.links.size(), 4u);
    for (const LinkRecord& link : run.links)
    {
        EXPECT_NEAR(MeanUtilization(link, run.run.stepTime), 1, 0.001) << link.from;
    }
}

TEST(Jobs, OrderAndNamesChangeNothing)
{
    const std::string first = "{op: all-to-all, bytes: 2MiB, repeat: 2}";
    const std::string second = "{op: all-reduce, bytes: 2MiB, repeat: 3, compute: 50us}";
    const std::string third = "{op: all-gather, bytes: 3MiB, repeat: 2}";
    for (const std::string& fidelity : FIDELITIES)
    {
        const std::string head = NarrowCluster() + "compare_alone: true\njobs:\n";
        const CapturedRun run =
            RunJobs(fidelity,
                    head + Job("a", "[0, 4, 5]", first) + Job("b", "[1, 6]", second) +
                        Job("c", "[2, 3, 7]", third));
        const CapturedRun other =
            RunJobs(fidelity,
                    head + Job("x.1", "[2, 3, 7]", third) + Job("zz", "[0, 4, 5]", first) +
                        Job("y", "[1, 6]", second));
        ASSERT_EQ(run.error, "");
        EXPECT_EQ(RowsOf(run), RowsOf(other)) << fidelity;
        EXPECT_EQ(FindByName(other, "zz").firstRank, RankId(0));
        EXPECT_THAT(other.collectives[0].groupName, HasSubstr("/"));
    }
}

// Hosts may be shared: of the two GPUs of each host one is of either job, and so are the NICs'
// bytes.
TEST(Jobs, ShareHosts)
{
    const std::string cluster =
        "cluster: {echo_cluster: 1, name: pairs, hosts: 4, gpu: {name: any}, "
        "host: {gpus: 2, nics: 1, nic: {rate: 100Gbps, delay: 1us}, "
        "nvlink: {type: nvswitch, rate: 50GB/s, delay: 1us}}, "
        "fabric: {type: single-switch}}\n";
    const std::string reduce = "workload: {collectives: [{op: all-reduce, bytes: 16MiB, algorithm: "
                               "ring, channels: 1}]}";
    const CapturedRun run =
        RunJobs("flow",
                cluster + "compare_alone: true\njobs:\n" +
                    "  - {name: even, placement: {hosts: 0-3, gpus: 0}, " + reduce + "}\n" +
                    "  - {name: odd, placement: {gpus: [host0/gpu1, host1/gpu1, host2/gpu1, "
                    "host3/gpu1]}, " +
                    reduce + "}\n");
    ASSERT_EQ(run.error, "");
    for (const JobRecord& job : run.run.jobs)
    {
        EXPECT_EQ(job.hosts, 4u);
        EXPECT_NEAR(job.stepTime.GetDouble() / job.alone->GetDouble(), 2, 0.02) << job.name;
    }
}

// Of each job's equal ranks one runs while jobs do not meet; where they do, all do.
TEST(Jobs, FoldWithinAJob)
{
    const auto simulated = [](const std::string& cluster, const std::string& folding) {
        const std::string yaml = "echo: 1\nname: jobs\nfidelity: analytical\n" + cluster +
                                 "jobs:\n" + Job("a", "[0, 4]", "{op: all-reduce, bytes: 8MiB}") +
                                 Job("b", "[1, 5]", "{op: all-reduce, bytes: 8MiB}");
        ScenarioOverrides overrides;
        overrides.sets = {"timeline.folding=" + folding};
        return RunText(yaml, overrides).run;
    };
    const RunRecord apart = simulated(CaseCluster(8), "auto");
    EXPECT_EQ(apart.simulatedRanks, 2u);
    EXPECT_EQ(apart.jobs[0].stepTime, apart.jobs[1].stepTime);
    EXPECT_EQ(apart.stepTime, simulated(CaseCluster(8), "off").stepTime);
    const RunRecord together = simulated(NarrowCluster(), "auto");
    EXPECT_EQ(together.simulatedRanks, 4u);
    EXPECT_EQ(together.stepTime, simulated(NarrowCluster(), "off").stepTime);
    EXPECT_GT(together.stepTime, apart.stepTime);
    const auto isSaid = testing::Contains(HasSubstr("what that costs jobs is left out"));
    EXPECT_THAT(simulated(NarrowCluster(), "on").warnings, isSaid);
    EXPECT_THAT(together.warnings, Not(isSaid));
    EXPECT_THAT(apart.warnings, Not(isSaid));
}

TEST(Jobs, AreNamedWhereOneStalls)
{
    // Each waits for the other's send.
    const std::string programs =
        "workload: {programs: [{ranks: 0, streams: {main: [{receive: 1MiB, from: 1, name: want}, "
        "{send: 1MiB, to: 1}]}}, {ranks: 1, streams: {main: [{receive: 1MiB, from: 0}, {send: "
        "1MiB, to: 0}]}}]}";
    for (const std::string& fidelity : FIDELITIES)
    {
        const CapturedRun run =
            RunJobs(fidelity,
                    CaseCluster(4) + "jobs:\n" + Job("well", "[0, 1]", MESSAGE) +
                        "  - {name: ill, placement: {hosts: 2-3}, " + programs + "}\n");
        EXPECT_EQ(run.exitCode, 3) << fidelity;
        EXPECT_THAT(run.error,
                    AllOf(HasSubstr("rank 2 (rank 0 of job ill)"),
                          HasSubstr("'want'"),
                          HasSubstr("group ill/world"),
                          Not(HasSubstr("of job well"))))
            << fidelity;
    }
}

TEST(Jobs, AreRefusedWithTheReason)
{
    const std::string cluster = CaseCluster(4);
    EXPECT_THAT(ErrorOf(cluster + "jobs:\n" + Job("a", "0-2", "{op: barrier}") +
                        Job("b", "2-3", "{op: barrier}")),
                AllOf(HasSubstr("host2/gpu0"), HasSubstr("'b'"), HasSubstr("'a'")));
    EXPECT_THAT(ErrorOf(cluster + "jobs:\n" + Job("a", "0-1", "{op: barrier}") +
                        Job("a", "2-3", "{op: barrier}")),
                HasSubstr("'a' twice"));
    EXPECT_THAT(ErrorOf(cluster + "ranks: 4\njobs:\n" + Job("a", "0-1", "{op: barrier}")),
                HasSubstr("'ranks' beside 'jobs'"));
    EXPECT_THAT(
        ErrorOf(cluster + "jobs:\n  - {name: a, workload: {collectives: [{op: barrier}]}}\n"),
        HasSubstr("job 'a' without 'placement'"));
    EXPECT_THAT(ErrorOf(cluster + "jobs:\n  - {name: a, placement: {order: linear}, workload: "
                                  "{collectives: [{op: barrier}]}}\n"),
                HasSubstr("neither hosts nor gpus"));
    EXPECT_THAT(ErrorOf(cluster + "jobs:\n" + Job("a", "2-4", "{op: barrier}")),
                AllOf(HasSubstr("'2-4'"), HasSubstr("from 0 to 3")));
    EXPECT_THAT(ErrorOf(cluster + "jobs:\n" + Job("a", "[1, 0-2]", "{op: barrier}")),
                HasSubstr("1 twice"));
    EXPECT_THAT(ErrorOf(cluster + "jobs:\n" + Job("a", "3-1", "{op: barrier}")),
                HasSubstr("'3-1'"));
    EXPECT_THAT(ErrorOf(cluster + "jobs:\n" + Job("a", "0-1", "{op: barrier}", "ranks: 3, ")),
                HasSubstr("2 GPUs, expected 3 or more"));
    EXPECT_THAT(ErrorOf(cluster + "jobs:\n" + Job("a/b", "0-1", "{op: barrier}")),
                HasSubstr("'a/b'"));
    EXPECT_THAT(ErrorOf(cluster + "jobs: []\n"), HasSubstr("no job"));
    EXPECT_THAT(ErrorOf(cluster + "jobs:\n" + Job("a", "0-1", "{op: barrier}", "colour: red, ")),
                AllOf(HasSubstr("colour"), HasSubstr("jobs[0]")));
    EXPECT_THAT(
        ErrorOf(cluster + "compare_alone: true\nworkload: {collectives: [{op: barrier}]}\n"),
        HasSubstr("compare_alone"));
}

// Entries of the list can be set from the command line, as a study does.
TEST(Jobs, CanBeSetByNumber)
{
    const std::string yaml = "echo: 1\nname: jobs\nfidelity: flow\n" + NarrowCluster() + "jobs:\n" +
                             Job("a", "[0, 4]", MESSAGE) + Job("b", "[1, 5]", MESSAGE);
    ScenarioOverrides overrides;
    overrides.sets = {"jobs.1.placement.hosts=[5, 6]"};
    const CapturedRun run = RunText(yaml, overrides);
    ASSERT_EQ(run.error, "");
    EXPECT_NEAR(Milliseconds(run.run.stepTime), ALONE_MS, 0.01);
    overrides.sets = {"jobs.2.start=1ms"};
    EXPECT_THAT(RunText(yaml, overrides).error, HasSubstr("no entry '2' in a list of 2"));
}

// Hosts of a single job, too.
TEST(Placement, TakesTheNamedHosts)
{
    const std::string rest = "workload: {collectives: [{op: all-reduce, bytes: 1MiB}]}\n";
    const CapturedRun run =
        RunJobs("flow", CaseCluster(8) + "placement: {hosts: [6, 2-4]}\n" + rest);
    ASSERT_EQ(run.ranks.size(), 4u);
    EXPECT_EQ(run.ranks[0].host, 6u);
    EXPECT_EQ(run.ranks[3].host, 4u);
    EXPECT_TRUE(run.run.jobs.empty());
    const CapturedRun fewer =
        RunJobs("flow", CaseCluster(8) + "ranks: 2\nplacement: {hosts: 4-7}\n" + rest);
    EXPECT_EQ(fewer.ranks.size(), 2u);
    EXPECT_EQ(fewer.ranks[1].host, 5u);
}
