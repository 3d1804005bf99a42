// SPDX-License-Identifier: GPL-2.0-only
// What links are said to have carried, and what failures may say. 100 Gb/s = 12.5e9 B/s.

#include "case-harness.h"

#include "ns3/echo-report-tables.h"

using namespace ns3;
using namespace ns3::echo;
using testing::AllOf;
using testing::HasSubstr;

namespace
{

const std::string TWO_SPINES =
    CaseCluster(2, "{type: leaf-spine, hosts_per_leaf: 1, spines: 2, uplinks: 2}");
const std::string SEND =
    "workload: {collectives: [{op: send-recv, bytes: 64MiB, pairs: [[0, 1]]}]}\n";

std::string Text(const std::string& failures, const std::string& workload = SEND)
{
    return "echo: 1\nfidelity: flow\nnetwork: {reroute_delay: 0us}\n" + TWO_SPINES + workload +
           "failures:\n" + failures;
}

LinkRecord FindLink(const CapturedRun& run, const std::string& from, const std::string& to)
{
    for (const LinkRecord& link : run.links)
    {
        if (link.from == from && link.to == to)
        {
            return link;
        }
    }
    return {};
}

// At most 4 ms at 12.5 GB/s go one way before it is cut, the rest the other way.
TEST(FlowFailures, EachWayCountsWhatItCarried)
{
    constexpr uint64_t ALL = 64 << 20;
    for (const std::string spine : {"spine0", "spine1"})
    {
        const CapturedRun run = RunText(Text("  - {time: 4ms, switch: " + spine +
                                             ", state: down}\n"
                                             "  - {time: 4.5ms, switch: " +
                                             spine + ", state: up}\n"));
        ASSERT_EQ(run.error, "");
        uint64_t sum = 0;
        for (const std::string each : {"spine0", "spine1"})
        {
            const LinkRecord up = FindLink(run, "leaf0", each);
            const LinkRecord down = FindLink(run, each, "leaf1");
            EXPECT_EQ(up.payloadBytes, down.payloadBytes);
            EXPECT_NEAR(up.payloadBytes, 12.5e9 * up.busy.GetSeconds(), 1) << spine << " " << each;
            sum += up.payloadBytes;
        }
        EXPECT_EQ(sum, ALL);
        EXPECT_EQ(FindLink(run, "host0/nic0", "leaf0").payloadBytes, ALL);
        EXPECT_EQ(FindLink(run, "leaf1", "host1/nic0").payloadBytes, ALL);
    }
}

// A full link is full whatever its rate; its mean use is told in what the cluster gives it.
TEST(FlowFailures, PeakIsOfTheRateAtThatTime)
{
    for (const std::string time : {"0us", "4ms"}) // before or after full use at full rate
    {
        const CapturedRun run =
            RunText(Text("  - {time: " + time + ", switch: leaf0, rate: 10Gbps}\n"));
        ASSERT_EQ(run.error, "");
        const LinkRecord link = FindLink(run, "host0/nic0", "leaf0");
        EXPECT_DOUBLE_EQ(link.peakRate, 1) << time;
        EXPECT_EQ(link.rate, DataRate("100Gbps"));
    }
    // The spines' links are full at 10 Gb/s; the NIC's, at 100 Gb/s, is used by a tenth.
    const CapturedRun narrow = RunText(Text("  - {time: 0us, switch: spine0, rate: 10Gbps}\n"
                                            "  - {time: 0us, switch: spine1, rate: 10Gbps}\n"));
    EXPECT_DOUBLE_EQ(FindLink(narrow, "host0/nic0", "leaf0").peakRate, 0.1);
}

std::string ErrorOf(const std::string& failures)
{
    const CapturedRun run = RunText(Text(failures));
    EXPECT_EQ(run.exitCode, 2) << failures;
    return run.error;
}

TEST(Failures, NoRateIsAboveTheLinks)
{
    EXPECT_THAT(ErrorOf("  - {time: 0us, switch: leaf0, rate: 400Gbps}\n"),
                AllOf(HasSubstr("text.yaml:13: failures[0].rate"),
                      HasSubstr("'400Gbps' on host0/nic0 - leaf0"),
                      HasSubstr("at most 100 Gb/s, the rate of that link")));
    EXPECT_EQ(RunText(Text("  - {time: 0us, switch: leaf0, rate: 100Gbps}\n")).error, "");
}

// The link returns at 2 ms whichever end is named first and with the number that it alone can have.
TEST(Failures, ALinkIsTheSameFromBothEnds)
{
    const auto timeOf = [](const std::string& down, const std::string& up) {
        const CapturedRun run = RunText(Text("  - {time: 1ms, link: [" + down +
                                             "], state: down}\n"
                                             "  - {time: 2ms, link: [" +
                                             up + "], state: up}\n"));
        EXPECT_EQ(run.error, "") << up;
        return run.run.stepTime;
    };
    const std::string link = "host0/nic0, leaf0";
    const Time expected = timeOf(link, link);
    EXPECT_GT(expected, MicroSeconds(6300)); // 64 MiB take 5.4 ms, and 1 ms is lost
    EXPECT_EQ(timeOf(link, "leaf0, host0/nic0"), expected);
    EXPECT_EQ(timeOf("leaf0, host0/nic0, 0", link), expected);
    EXPECT_EQ(timeOf(link, link + ", 0"), expected);
}

TEST(Failures, NothingReturnsThatWasNotDown)
{
    EXPECT_THAT(ErrorOf("  - {time: 1ms, switch: spine0, state: down}\n"
                        "  - {time: 2ms, link: [spine0, leaf0], state: up}\n"),
                AllOf(HasSubstr("text.yaml:14: failures[1]"),
                      HasSubstr("'state: up' of leaf0 - spine0, which never went down before")));
    EXPECT_THAT(ErrorOf("  - {time: 1ms, switch: spine0, state: up}\n"
                        "  - {time: 2ms, switch: spine0, state: down}\n"),
                HasSubstr("text.yaml:13: failures[0]"));
    // The order is that of time, not of lines.
    EXPECT_EQ(RunText(Text("  - {time: 2ms, switch: spine0, state: up}\n"
                           "  - {time: 1ms, switch: spine0, state: down}\n"))
                  .error,
              "");
}

// A NIC that no rank of the job uses fails: the job goes on, what went there is named.
TEST(Failures, BackgroundTrafficToADeadNicEndsNoJob)
{
    for (const std::string fidelity : {"flow", "packet"})
    {
        const CapturedRun run =
            RunText("echo: 1\nfidelity: " + fidelity + "\n" + CaseCluster(4) +
                    "workload: {collectives: [{op: send-recv, bytes: 16MiB, pairs: [[0, 1]]}]}\n"
                    "failures: [{time: 100us, switch: host3/nic0, state: down}]\n"
                    "background: [{pattern: poisson, load: 0.2, bytes: 64KiB}]\n");
        ASSERT_EQ(run.error, "") << fidelity;
        EXPECT_THAT(run.run.warnings,
                    testing::Contains(AllOf(HasSubstr("background traffic did not arrive"),
                                            HasSubstr("to host3/nic0"))))
            << fidelity;
        EXPECT_GT(Milliseconds(run.run.stepTime), 16 * 1048576 / 12.5e6) << fidelity;
    }
}

// The link of the sender is cut for 10 us when all has arrived but the last acknowledgement, which
// then is lost: what the timer has sent again is none of the step's.
TEST(Failures, RepairAfterTheStepIsLeftOut)
{
    const std::string text =
        "echo: 1\nfidelity: packet\n" + CaseCluster(2) +
        "workload: {collectives: [{op: send-recv, bytes: 1MiB, pairs: [[0, 1]]}]}\n";
    const CapturedRun whole = RunText(text);
    ASSERT_EQ(whole.error, "");
    const Time step = whole.run.stepTime;
    const auto at = [&](Time late) {
        return std::to_string((step + late).GetNanoSeconds()) + "ns";
    };
    // The acknowledgement is on the way for two links of 1 us.
    const CapturedRun cut =
        RunText(text + "failures:\n  - {time: " + at(NanoSeconds(1500)) +
                ", switch: host0/nic0, state: down}\n  - {time: " + at(NanoSeconds(11500)) +
                ", switch: host0/nic0, state: up}\n");
    ASSERT_EQ(cut.error, "");
    EXPECT_EQ(cut.run.stepTime, step);
    EXPECT_GT(cut.links.size(), 0u);
    for (const LinkRecord& link : cut.links)
    {
        const LinkRecord& clean = FindLink(whole, link.from, link.to);
        EXPECT_LE(link.lastBusy, step + MicroSeconds(1)) << link.from;
        EXPECT_NEAR(MeanUtilization(link, step), MeanUtilization(clean, step), 0.01) << link.from;
    }
}

// Nor does it send again, at the rate of the job's own NICs, what can never arrive.
TEST(Failures, BackgroundTrafficWithoutAWayStops)
{
    const auto runWith = [](const std::string& failures) {
        return RunText("echo: 1\nfidelity: packet\n" + failures +
                       "network: {reroute_delay: 10us}\nplacement: {hosts: [0-3]}\n" +
                       CaseCluster(8,
                                   "{type: leaf-spine, hosts_per_leaf: 4, spines: 4, uplinks: 4, "
                                   "link_rate: 100Gbps, link_delay: 1us}") +
                       "workload: {collectives: [{op: all-reduce, bytes: 4MiB, repeat: 2}]}\n"
                       "background: [{pattern: poisson, load: 0.3, bytes: 64KiB}]\n");
    };
    const CapturedRun whole = runWith("");
    const CapturedRun cut = runWith("failures: [{time: 0us, switch: leaf1, state: down}]\n");
    ASSERT_EQ(cut.error, "");
    EXPECT_LT(Milliseconds(cut.run.stepTime), 1.2 * Milliseconds(whole.run.stepTime));
    EXPECT_LT(cut.run.drops, 1000u);
}

} // namespace
