// SPDX-License-Identifier: GPL-2.0-only
// Messages as fluid.

#include "lottery.h"
#include "network-rig.h"

#include "ns3/double.h"
#include "ns3/echo-error.h"
#include "ns3/echo-units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

using namespace ns3;
using namespace ns3::echo;
using testing::ElementsAre;
using testing::HasSubstr;

namespace
{

/** Sends messages straight over a FlowNetwork and keeps arrival times. */
struct FlowRig : public NetworkRig
{
    explicit FlowRig(const SmallCluster& cluster) : NetworkRig(cluster)
    {
        flow = CreateObject<FlowNetwork>();
        flow->Prepare(router, &records);
    }

    DeviceId Nic(uint32_t host) const
    {
        return topology->GetNics(HostId(host))[0];
    }

    void Send(uint32_t from, uint32_t to, uint64_t bytes, uint64_t label, Time at = Time())
    {
        const size_t index = arrivals.size();
        arrivals.emplace_back(-1);
        Simulator::Schedule(at, [=] {
            flow->Send({Nic(from), Nic(to), bytes, label, 0, CollectiveId()},
                       [=] { arrivals[index] = Simulator::Now().GetPicoSeconds(); });
        });
    }

    std::vector<int64_t> arrivals; //!< ps; -1: not yet
};

// The contract: delays, and bytes at the least rate, rounded up to a picosecond.
TEST(FlowNetwork, OneMessageOnAnIdlePathIsExact)
{
    for (const std::string rate : {"100Gbps", "400Gbps", "333Mbps", "7bps"})
    {
        for (const uint64_t bytes : {1u, 4096u, 1000003u})
        {
            SmallCluster cluster;
            cluster.hostsPerLeaf = 4;
            cluster.nicRate = rate;
            cluster.uplinkRate = "800Gbps";
            FlowRig rig(cluster);
            rig.Send(0, 7, bytes, 1, NanoSeconds(5));
            Simulator::Run();
            // host0 - leaf0 - spine0 - leaf1 - host7: 4 links of 1 us
            EXPECT_EQ(rig.arrivals[0],
                      5000 + 4000000 + TxTime(bytes, DataRate(rate)).GetPicoSeconds());
            EXPECT_EQ(rig.flow->GetTotals().liveFlows, 0u);
        }
    }
}

TEST(FlowNetwork, NeverDeliversFromInsideSend)
{
    SmallCluster cluster;
    cluster.nicDelay = Time();
    FlowRig rig(cluster);
    bool inside = true;
    bool delivered = false;
    rig.flow->Send({rig.Nic(0), rig.Nic(1), 1, 0, 0, CollectiveId()}, [&] {
        EXPECT_FALSE(inside);
        delivered = true;
    });
    inside = false;
    EXPECT_EQ(rig.flow->GetTotals().liveFlows, 1u);
    Simulator::Run();
    EXPECT_TRUE(delivered);
}

// Same pair and label: one after the other, 80 ps a byte; two labels: side by side at half the
// rate. 1000 B alone take 80 ns.
TEST(FlowNetwork, LabelsShareOrQueue)
{
    FlowRig queue{SmallCluster{}};
    queue.Send(0, 1, 1000, 5);
    queue.Send(0, 1, 1000, 5);
    queue.Send(0, 1, 500, 5);
    Simulator::Run();
    EXPECT_THAT(queue.arrivals, ElementsAre(2080000, 2160000, 2200000));
    Simulator::Destroy();

    FlowRig share{SmallCluster{}};
    share.Send(0, 1, 1000, 5);
    share.Send(0, 1, 500, 6);
    // Both at 50 Gb/s: the short one leaves at 80 ns; by then 500 B of the long one have left too,
    // the other 500 B take 40 ns at full rate.
    Simulator::Run();
    EXPECT_THAT(share.arrivals, ElementsAre(2120000, 2080000));
}

// A flow that comes late: 1000 B from 0 to 1; at 40 ns (500 B left) 2 sends 1000 B to 1. Half rate:
// the rest of the first takes 80 ns more (until 120), by when 500 B of the second have left; its
// other 500 B take 40 ns.
TEST(FlowNetwork, RatesFollowWhoIsThere)
{
    FlowRig rig{SmallCluster{}};
    rig.Send(0, 1, 1000, 0);
    rig.Send(2, 1, 1000, 0, NanoSeconds(40));
    rig.Send(4, 5, 1000, 0, NanoSeconds(40)); // elsewhere, not disturbed
    Simulator::Run();
    EXPECT_THAT(rig.arrivals, ElementsAre(2120000, 2160000, 2120000));
    rig.records.links.clear();
    rig.flow->ReportLinks(rig.records, Simulator::Now());
    const LinkRecord* last = rig.records.FindLink("leaf0", "host1/nic0");
    ASSERT_NE(last, nullptr);
    EXPECT_EQ(last->payloadBytes, 2000u);
    EXPECT_EQ(last->wireBytes, 2000u);
    EXPECT_EQ(last->busy, NanoSeconds(160));
    EXPECT_EQ(last->lastBusy, NanoSeconds(160));
    EXPECT_DOUBLE_EQ(last->peakRate, 1);
    EXPECT_EQ(last->fromRole, DeviceRole::LEAF);
    EXPECT_EQ(last->toRole, DeviceRole::NIC);
    EXPECT_EQ(rig.records.FindLink("host1/nic0", "leaf0"), nullptr) << "carried nothing";
    ASSERT_EQ(rig.records.flows.size(), 3u);
    EXPECT_EQ(rig.records.flows[0].bytes, 1000u);
    EXPECT_EQ(rig.records.flows[0].hops, 2u);
    EXPECT_EQ(rig.records.flows[0].end - rig.records.flows[0].start, PicoSeconds(2120000));
}

// However many flows begin or end at an instant, rates are found once in it.
TEST(FlowNetwork, FindsRatesOnceAnInstant)
{
    SmallCluster cluster;
    cluster.hosts = 64;
    FlowRig rig(cluster);
    for (uint32_t host = 0; host < 64; ++host)
    {
        rig.Send(host, (host + 1) % 64, 1000, 0);
        rig.Send(host, (host + 2) % 64, 1000, 0);
    }
    Simulator::Run();
    // Once as all begin. As all end nothing is left to find rates for.
    EXPECT_EQ(rig.flow->GetSolveCount(), 1u);
    for (const int64_t arrival : rig.arrivals)
    {
        EXPECT_EQ(arrival, 2160000);
    }
}

// 64 MiB sends i to i + 4 of 8: on one switch 5.369 ms; over one 100 Gb/s uplink a leaf, which four
// share, 4 x 5.369 = 21.475 ms.
TEST(FlowNetwork, TopologyMatters)
{
    const auto longest = [](uint32_t hostsPerLeaf) {
        SmallCluster cluster;
        cluster.hostsPerLeaf = hostsPerLeaf;
        FlowRig rig(cluster);
        for (uint32_t host = 0; host < 8; ++host)
        {
            rig.Send(host, (host + 4) % 8, 64u << 20, 0);
        }
        Simulator::Run();
        return *std::max_element(rig.arrivals.begin(), rig.arrivals.end());
    };
    EXPECT_EQ(longest(0), (64 << 20) * 80L + 2000000);
    EXPECT_EQ(longest(4), 4 * (64 << 20) * 80L + 4000000);
}

// 40 messages of 1 to 40 MB into one host: 820 MB at 12.5 GB/s, 65.6 ms. With a tolerance fewer
// rates are passed on, the link may stay that much short of full, and never gives more than it has.
TEST(FlowNetwork, ToleranceBoundsTheError)
{
    const auto run = [](double tolerance) {
        SmallCluster cluster;
        cluster.hosts = 41;
        FlowRig rig(cluster);
        rig.flow = CreateObject<FlowNetwork>();
        rig.flow->SetAttribute("RateTolerance", DoubleValue(tolerance));
        rig.flow->Prepare(rig.router, &rig.records);
        for (uint32_t host = 1; host <= 40; ++host)
        {
            rig.Send(host, 0, host * 1000000, 0);
        }
        Simulator::Run();
        rig.flow->ReportLinks(rig.records, Simulator::Now());
        EXPECT_LE(rig.records.FindLink("leaf0", "host0/nic0")->peakRate, 1);
        EXPECT_EQ(rig.records.FindLink("leaf0", "host0/nic0")->payloadBytes, 820000000u);
        return *std::max_element(rig.arrivals.begin(), rig.arrivals.end());
    };
    const int64_t least = 820000000L * 80 + 2000000;
    const int64_t exact = run(0);
    EXPECT_GE(exact, least);
    EXPECT_LE(exact, least + 1000);
    EXPECT_GE(run(0.05), least);
    EXPECT_LE(static_cast<double>(run(0.05)), 1.05 * static_cast<double>(least));
}

TEST(FlowNetwork, RefusesWhatNoPathJoins)
{
    SmallCluster cluster;
    cluster.gpusPerHost = 2;
    FlowRig rig(cluster);
    const DeviceId gpu = rig.topology->GetGpus(HostId(0))[0];
    const DeviceId other = rig.topology->GetGpus(HostId(1))[0];
    EXPECT_THROW(rig.flow->Send({gpu, other, 1, 0, 0, CollectiveId()}, [] {}), UnsupportedError);
    EXPECT_EQ(rig.flow->GetTotals().liveFlows, 0u);
    // GPUs of one host are joined: 2 x 300 ns and 1 B at 450 GB/s, 2.2 -> 3 ps.
    int64_t arrival = 0;
    rig.flow->Send({gpu, rig.topology->GetGpus(HostId(0))[1], 1, 0, 0, CollectiveId()},
                   [&] { arrival = Simulator::Now().GetPicoSeconds(); });
    Simulator::Run();
    EXPECT_EQ(arrival, 600003);
}

// Random traffic: every byte is delivered, no link ever gives more than it has, and nothing ends
// before the busiest link could have carried its bytes.
TEST(FlowNetwork, KeepsBytesAndBounds)
{
    for (uint64_t seed = 1; seed <= 20; ++seed)
    {
        Lottery lottery(seed);
        SmallCluster cluster;
        cluster.hosts = 12;
        cluster.hostsPerLeaf = 4;
        FlowRig rig(cluster);
        uint64_t sent = 0;
        for (int i = 0; i < 200; ++i)
        {
            const uint32_t from = lottery.Draw(12);
            const uint32_t to = (from + 1 + lottery.Draw(11)) % 12;
            const uint64_t bytes = 1 + lottery.Draw(1 << 20);
            sent += bytes;
            rig.Send(from, to, bytes, lottery.Draw(2), NanoSeconds(lottery.Draw(100000)));
        }
        Simulator::Run();
        rig.flow->ReportLinks(rig.records, Simulator::Now());
        uint64_t left = 0;
        uint64_t entered = 0;
        for (const auto& link : rig.records.links)
        {
            left += link.fromRole == DeviceRole::NIC ? link.payloadBytes : 0;
            entered += link.toRole == DeviceRole::NIC ? link.payloadBytes : 0;
            EXPECT_LE(link.peakRate, 1.0);
            EXPECT_GE(link.busy, TxTime(link.payloadBytes, link.rate));
            EXPECT_LE(link.busy, Simulator::Now());
        }
        EXPECT_EQ(left, sent);
        EXPECT_EQ(entered, sent);
        EXPECT_EQ(rig.flow->GetTotals().liveFlows, 0u);
        EXPECT_EQ(rig.records.flows.size(), 200u);
        for (const int64_t arrival : rig.arrivals)
        {
            EXPECT_GT(arrival, 0);
        }
        EXPECT_TRUE(std::is_sorted(rig.records.flows.begin(),
                                   rig.records.flows.end(),
                                   [](const auto& a, const auto& b) { return a.end < b.end; }));
    }
}

// The same bounds where changes of rates are gathered: 480 messages under way all the time.
TEST(FlowNetwork, GatheredUpdatesKeepBytesAndBounds)
{
    Lottery lottery(7);
    SmallCluster cluster;
    cluster.hosts = 40;
    cluster.hostsPerLeaf = 10;
    cluster.uplinkRate = "800Gbps";
    FlowRig rig(cluster);
    std::vector<uint64_t> sent(cluster.hosts, 0);
    std::vector<uint64_t> received(cluster.hosts, 0);
    uint64_t messages = 0;
    std::function<void(uint32_t, uint32_t)> sendNext = [&](uint32_t from, uint32_t left) {
        if (left == 0)
        {
            return;
        }
        const uint32_t to = (from + 1 + lottery.Draw(39)) % 40;
        const uint64_t bytes = 1 + lottery.Draw(1 << 20);
        sent[from] += bytes;
        received[to] += bytes;
        rig.flow->Send({rig.Nic(from), rig.Nic(to), bytes, messages++, 0, CollectiveId()},
                       [&sendNext, from, left] { sendNext(from, left - 1); });
    };
    for (uint32_t i = 0; i < 480; ++i)
    {
        sendNext(i % 40, 5);
    }
    Simulator::Run();
    rig.flow->ReportLinks(rig.records, Simulator::Now());
    EXPECT_LT(2 * rig.flow->GetSolveCount(), messages); // else nothing was gathered
    EXPECT_EQ(rig.records.flows.size(), 2400u);
    EXPECT_EQ(rig.flow->GetTotals().liveFlows, 0u);
    for (const auto& link : rig.records.links)
    {
        EXPECT_LE(link.peakRate, 1.0);
        EXPECT_GE(link.busy, TxTime(link.payloadBytes, link.rate));
        EXPECT_LE(link.busy, Simulator::Now());
    }
    for (uint32_t host = 0; host < 40; ++host)
    {
        const std::string nic = "host" + std::to_string(host) + "/nic0";
        for (const LinkRecord& link : rig.records.links)
        {
            EXPECT_TRUE(link.from != nic || link.payloadBytes == sent[host]);
            EXPECT_TRUE(link.to != nic || link.payloadBytes == received[host]);
        }
    }
}

// 64 hosts with 8 messages each: exact, and from 512 on gathered. A byte more, or 3 % more, never
// ends sooner.
TEST(FlowNetwork, MoreBytesNeverEndSooner)
{
    for (const uint32_t each : {2u, 8u})
    {
        int64_t before = 0;
        for (uint64_t bytes = 100000; bytes < 200000; bytes += bytes % 2 == 0 ? 1 : bytes / 32)
        {
            SmallCluster cluster;
            cluster.hosts = 64;
            cluster.hostsPerLeaf = 16;
            FlowRig rig(cluster);
            for (uint32_t i = 0; i < 64 * each; ++i)
            {
                const uint32_t from = i % 64;
                rig.Send(from, (from + 1 + 7 * (i / 64)) % 64, bytes, i / 64);
            }
            Simulator::Run();
            const int64_t last = *std::max_element(rig.arrivals.begin(), rig.arrivals.end());
            EXPECT_GE(last, before) << each << " messages of " << bytes;
            before = last;
        }
    }
}

/** One switch; the link of host 0 meets the events. */
struct FailureRig : public FlowRig
{
    explicit FailureRig(std::vector<LinkEvent> events) : FlowRig(SmallCluster{})
    {
        std::vector<PortId> path;
        router->FindPath(Nic(0), Nic(1), 0, path);
        for (LinkEvent& event : events)
        {
            event.subject = "the link";
            event.links = {LinkId(path[0].Get() / 2)};
        }
        flow = CreateObject<FlowNetwork>();
        flow->SetAttribute("RerouteDelay", TimeValue(MicroSeconds(10)));
        flow->SetLinkEvents(events);
        flow->Prepare(router, &records);
    }
};

LinkEvent Event(Time time, LinkEvent::Kind kind, const std::string& rate = "1bps")
{
    LinkEvent event;
    event.time = time;
    event.kind = kind;
    event.rate = DataRate(rate);
    return event;
}

// 100 KB at 100 Gb/s take 8 us. The link is down from 3 us on: 37,500 B have left. From 103 us on
// it is up, and 10 us later there is a way again: the other 62,500 B take 5 us.
TEST(FlowNetworkFailures, WhatIsCutWaits)
{
    FailureRig rig({Event(MicroSeconds(3), LinkEvent::Kind::DOWN),
                    Event(MicroSeconds(103), LinkEvent::Kind::UP)});
    rig.Send(0, 1, 100000, 0);
    rig.Send(2, 3, 100000, 0);                   // elsewhere, not disturbed
    rig.Send(2, 0, 100000, 0, MicroSeconds(50)); // begins without a way
    Simulator::Run();
    EXPECT_THAT(rig.arrivals, ElementsAre(120000000, 10000000, 123000000));
    EXPECT_EQ(rig.flow->DescribeTrouble(), "");
    rig.flow->ReportLinks(rig.records, Simulator::Now());
    EXPECT_EQ(rig.records.FindLink("host0/nic0", "leaf0")->payloadBytes, 100000u);
}

// At a quarter of the rate the other 62,500 B take 20 us.
TEST(FlowNetworkFailures, WhatIsSlowIsSlow)
{
    FailureRig rig({Event(MicroSeconds(3), LinkEvent::Kind::RATE, "25Gbps")});
    rig.Send(0, 1, 100000, 0);
    Simulator::Run();
    EXPECT_THAT(rig.arrivals, ElementsAre(25000000));
}

TEST(FlowNetworkFailures, WhatHasNoWayIsNamed)
{
    FailureRig rig({Event(MicroSeconds(3), LinkEvent::Kind::DOWN)});
    rig.Send(0, 1, 100000, 0);
    Simulator::Run();
    EXPECT_EQ(Simulator::Now(), MicroSeconds(13));
    EXPECT_THAT(
        rig.flow->DescribeTrouble(),
        HasSubstr("at 13.000 us: no way is left for 1 flows (host0/nic0 to host1/nic0) with "
                  "the link down"));
    EXPECT_THROW(rig.flow->SetLinkEvents({Event(Time(), LinkEvent::Kind::LOSS)}), UnsupportedError);
}

} // namespace
