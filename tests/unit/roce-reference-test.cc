// SPDX-License-Identifier: GPL-2.0-only
// Completion times that others have published, each by its own convention of bytes and round trips;
// and how far from the ideal congestion control may leave a bottleneck.

#include "roce-fixture.h"

#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/echo-hpcc.h"

#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;

namespace
{

// Of the simulator published with HPCC, in the variant of E2 (github.com/E2-IPDPS2026/E2,
// simulation/mix): packets of 1,000 B, and PPP 14, IPv4 20, UDP 8, sequence header 7 B.
constexpr uint32_t PAYLOAD = 1000;
constexpr uint32_t HEADERS = 49;
const TestNetwork::Attributes CONVENTION{{"Mtu", "1000"},
                                         {"DataHeaderBytes", "49"},
                                         {"FirstHeaderBytes", "0"},
                                         {"AckBytes", "46"},
                                         {"AckInterval", "1"}};

/** A row of an FCT file. */
struct IdealRow
{
    const char* file;
    uint64_t bytes;
    uint32_t links;  //!< of 100 Gb/s and 1 us
    int64_t idealNs; //!< its last column
};

class IdealTimeTest : public testing::TestWithParam<IdealRow>
{
};

TEST_P(IdealTimeTest, IsTheRunsByTheFilesBookkeeping)
{
    // The file's ideal time is bytes with headers at line rate, plus a round trip of twice the
    // delays and the payload of one packet on each link, cut to nanoseconds. The message alone
    // takes bytes with headers, one packet with headers on each link but one, and the delays.
    const IdealRow& row = GetParam();
    TestNetwork network(MakeRow(std::vector<std::string>(row.links, "100Gb/s"),
                                std::vector<Time>(row.links, MicroSeconds(1))),
                        CONVENTION);
    network.Send(0, 1, row.bytes);
    const int64_t took = network.Run().GetPicoSeconds();
    constexpr int64_t BYTE = 80; // ps
    constexpr int64_t DELAY = 1000000;
    const int64_t links = row.links;
    const int64_t ideal =
        took - (links - 1) * (PAYLOAD + HEADERS) * BYTE + links * PAYLOAD * BYTE + links * DELAY;
    EXPECT_EQ(ideal / 1000, row.idealNs) << row.file;
}

INSTANTIATE_TEST_SUITE_P(
    E2,
    IdealTimeTest,
    testing::Values(IdealRow{"fct_hpcc_avg.txt", 30000000, 3, 2523840},
                    IdealRow{"fct_ee.txt", 20000000, 2, 1682560},
                    IdealRow{"fct_hpcc_vic.txt", 60000000, 4, 5043520},
                    IdealRow{"fct_hpcc_vic.txt", 60000000, 2, 5039360},
                    IdealRow{"fct_hpcc_AI_datamining.txt", 209715200, 2, 17603462}));

/** HPCC whose senders start at given rates, in the order in which they are made. */
class StartingHpcc : public Hpcc
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid =
            TypeId("ns3::echo::StartingHpcc").SetParent<Hpcc>().AddConstructor<StartingHpcc>();
        return tid;
    }

    std::unique_ptr<RateState> MakeState(const PathProperties& path) const override
    {
        auto owner = Hpcc::MakeState(path);
        HpccState& state = static_cast<HpccState&>(*owner);
        state.rate = m_made++ == 0 ? 70e9 : 10e9;
        state.limited = true;
        state.windowBytes *= state.rate / state.lineRate;
        state.referenceWindow = state.windowBytes;
        return owner;
    }

  private:
    mutable uint32_t m_made{0};
};

NS_OBJECT_ENSURE_REGISTERED(StartingHpcc);

/** Hosts 1 to @p senders at one switch, host 0 at another: 3 links of 100 Gb/s and 1 us. */
TestFabric MakeTwoSwitches(uint32_t senders)
{
    TestFabric fabric;
    fabric.AddHosts(senders + 1);
    const DeviceId near = fabric.AddSwitch(DeviceRole::LEAF, 0);
    const DeviceId far = fabric.AddSwitch(DeviceRole::LEAF, 1);
    for (uint32_t h = 0; h <= senders; ++h)
    {
        fabric.Join(fabric.nics[h], h == 0 ? far : near, "100Gb/s", MicroSeconds(1));
    }
    fabric.Join(near, far, "100Gb/s", MicroSeconds(1));
    fabric.topology->Seal();
    return fabric;
}

TEST(HpccReference, FourToOneOfE2)
{
    // topology_avg.txt, traffic_avg.txt (its first 4 flows) and config.txt give fct_hpcc_avg.txt:
    // 4 flows of 30 MB to one host end after 3.259304, 10.045502, 10.657045 and 10.929775 ms. The
    // sources start the first at 70 and the others at 10 Gb/s, and R_AI is 0: rates change in
    // proportion only. Telemetry is 2 + 5 x 16 B there; eta 1, maxStage 1, T 6.24 us for all.
    // The last one's time is the link's (120 MB with 131 B a packet take 10.86 ms) and the first
    // one's follows from its 70 %. Those between depend on which sender hears first that the first
    // flow has gone, as nothing pulls shares together at R_AI 0: with T 1 % longer or shorter
    // the second ends after 8.9 to 10.1 ms here.
    for (const auto& [name, value] : std::map<std::string, std::string>{{"Eta", "1"},
                                                                        {"MaxStage", "1"},
                                                                        {"Rai", "0Mb/s"},
                                                                        {"HopBytes", "16"},
                                                                        {"BaseRtt", "6240ns"}})
    {
        Config::SetDefault("ns3::echo::Hpcc::" + name, StringValue(value));
    }
    TestNetwork::Attributes attributes = CONVENTION;
    attributes["CongestionControl"] = "starting-hpcc";
    {
        TestNetwork network(MakeTwoSwitches(4), attributes);
        for (uint32_t h = 1; h <= 4; ++h)
        {
            network.Send(h, 0, 30000000);
        }
        network.Run();
        ASSERT_EQ(network.Flows().size(), 4u);
        EXPECT_EQ(network.Flows()[0].source, network.Fabric().nics[1]);
        const double published[] = {3.259304, 10.045502, 10.657045, 10.929775};
        for (int i = 0; i < 4; ++i)
        {
            EXPECT_NEAR(
                network.Flows()[i].end.ToDouble(Time::MS), published[i], 0.05 * published[i]);
        }
        EXPECT_NEAR(network.Flows()[3].end.ToDouble(Time::MS), published[3], 0.005 * published[3]);
        EXPECT_EQ(network.Get().GetTotals().pauses, 0u);
    }
    Config::Reset();
}

TEST(HpccReference, ALongFlowUsesEtaOfTheLink)
{
    // Two flows of 40 MB: 95 % of the link less what additive increase adds; queues stay empty.
    TestNetwork network(MakeStar(3, "100Gb/s", MicroSeconds(1)),
                        {{"CongestionControl", "hpcc"}, {"AckInterval", "1"}});
    network.Send(1, 0, 40000000);
    network.Send(2, 0, 40000000);
    const Time end = network.Run();
    const Time full = TxTime(80000000 / 4096 * (4096 + 82 + 42), DataRate("100Gb/s"));
    EXPECT_GT(end, full);
    EXPECT_LT(end, full * (1 / 0.95) * 1.03);
    for (const LinkRecord& link : network.Links())
    {
        EXPECT_LT(link.maxQueueBytes, 110000u); // of the start: a BDP
        EXPECT_EQ(link.ecnMarks, 0u);
    }
}

/** What a scheme may make of a bottleneck, as multiples of the time without any. */
struct Sanity
{
    const char* control;
    double incast; //!< 4 to 1 of 4 MB
    double uplink; //!< 8 hosts over one uplink each way, 64 MiB (case 5)
};

class SanityTest : public testing::TestWithParam<Sanity>
{
};

TEST_P(SanityTest, BottlenecksStayBusyAndQueuesShort)
{
    const Sanity& wanted = GetParam();
    {
        // 16 MB at 100 Gb/s: 1.308 ms with headers, ideal.
        TestNetwork network(MakeStar(5, "100Gb/s", MicroSeconds(1)),
                            {{"CongestionControl", wanted.control}});
        for (uint32_t h = 1; h < 5; ++h)
        {
            network.Send(h, 0, 4000000);
        }
        const double end = network.Run().ToDouble(Time::US);
        EXPECT_GT(end, 1300);
        EXPECT_LT(end, 1308 * wanted.incast);
    }
    // Case 5 (b): 4 x 64 MiB each way over one 100 Gb/s uplink: 21.475 ms without headers.
    TestFabric fabric;
    fabric.AddHosts(8);
    const DeviceId spine = fabric.AddSwitch(DeviceRole::SPINE, 0);
    for (uint32_t l = 0; l < 2; ++l)
    {
        const DeviceId leaf = fabric.AddSwitch(DeviceRole::LEAF, l);
        fabric.Join(leaf, spine, "100Gb/s", MicroSeconds(1));
        for (uint32_t h = 4 * l; h < 4 * l + 4; ++h)
        {
            fabric.Join(fabric.nics[h], leaf, "100Gb/s", MicroSeconds(1));
        }
    }
    fabric.topology->Seal();
    TestNetwork network(fabric, {{"CongestionControl", wanted.control}});
    for (uint32_t h = 0; h < 8; ++h)
    {
        network.Send(h, (h + 4) % 8, 67108864);
    }
    const double end = network.Run().ToDouble(Time::MS);
    EXPECT_GT(end, 21.475);
    EXPECT_LT(end, 22.02 * wanted.uplink);
    EXPECT_EQ(network.Get().GetTotals().pauses, 0u);
    for (const LinkRecord& link : network.Links())
    {
        EXPECT_LT(link.maxQueueBytes, 1000000u); // without: more than 10 MB, and pauses
    }
}

INSTANTIATE_TEST_SUITE_P(Controls,
                         SanityTest,
                         testing::Values(Sanity{"dcqcn", 1.02, 1.02},
                                         Sanity{"hpcc", 1.15, 1.10},
                                         Sanity{"swift", 1.02, 1.03}),
                         [](const auto& info) { return std::string(info.param.control); });

} // namespace
