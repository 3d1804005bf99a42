// SPDX-License-Identifier: GPL-2.0-only
// Results do not depend on the scheduler, on how a port finds the end of a transmission, nor on
// how far switches run ahead: every field of every record is equal.

#include "roce-fixture.h"

#include "ns3/config.h"

#include <gtest/gtest.h>

#include <functional>
#include <sstream>

using namespace ns3;
using namespace ns3::echo;

namespace
{

/** All that a run recorded, as text. */
std::string Describe(TestNetwork& network)
{
    std::ostringstream text;
    for (const FlowRecord& f : network.Flows())
    {
        text << f.source << ' ' << f.destination << ' ' << f.label << ' ' << f.bytes << ' '
             << f.start.GetPicoSeconds() << ' ' << f.end.GetPicoSeconds() << ' ' << f.packets << ' '
             << f.retransmitted << '\n';
    }
    for (const LinkRecord& l : network.Links())
    {
        text << l.port << ' ' << l.wireBytes << ' ' << l.payloadBytes << ' ' << l.packets << ' '
             << l.busy.GetPicoSeconds() << ' ' << l.lastBusy.GetPicoSeconds() << ' ' << l.peakRate
             << ' ' << l.maxQueueBytes << ' ' << l.ecnMarks << ' ' << l.pauses << ' '
             << l.paused.GetPicoSeconds() << ' ' << l.drops << '\n';
    }
    return text.str();
}

/** Traffic whose packets meet at many equal times: every host in lock step. */
void AllToAll(TestNetwork& network)
{
    for (uint32_t a = 0; a < 16; ++a)
    {
        for (uint32_t b = 0; b < 16; ++b)
        {
            if (a != b)
            {
                network.Send(a, b, 60000, 1);
            }
        }
    }
    network.Run();
}

/** Rings: who has received sends on, so that acknowledgements and deliveries clock the sends. */
void Rings(TestNetwork& network)
{
    auto step = std::make_shared<std::function<void(uint32_t, uint32_t, uint32_t)>>();
    *step = [&network, &step = *step](uint32_t at, uint32_t stride, uint32_t left) {
        const uint32_t next = (at + stride) % 16;
        network.Send(at, next, 30000, stride, [&step, next, stride, left] {
            if (left > 0)
            {
                step(next, stride, left - 1);
            }
        });
    };
    for (uint32_t h = 0; h < 16; ++h)
    {
        for (const uint32_t stride : {1u, 3u, 8u})
        {
            (*step)(h, stride, 20);
        }
    }
    network.Run();
}

/** Everybody sends to a few. */
void Incast(TestNetwork& network)
{
    for (uint32_t h = 0; h < 16; ++h)
    {
        for (const uint32_t to : {0u, 5u, 6u})
        {
            if (h != to)
            {
                network.Send(h, to, 150000 + 4096 * (h % 3));
            }
        }
    }
    network.Run();
}

/** A kind of traffic under some settings. */
struct Scenario
{
    const char* name;
    void (*traffic)(TestNetwork&);
    TestNetwork::Attributes attributes;
    std::string buffer{"32000000"}; //!< of each switch
    std::string kmin{"400000"};     //!< at 100 Gb/s
    std::string rate{"400Gb/s"};
    bool pauses{false}; //!< what the scenario is there for must occur
    bool marks{false};
    bool drops{false};
};

std::ostream& operator<<(std::ostream& os, const Scenario& scenario)
{
    return os << scenario.name;
}

class RoceOrderTest : public testing::TestWithParam<Scenario>
{
  protected:
    void SetUp() override
    {
        Config::SetDefault("ns3::echo::RoceSwitch::BufferBytes", StringValue(GetParam().buffer));
        Config::SetDefault("ns3::echo::RoceSwitch::EcnKmin", StringValue(GetParam().kmin));
    }

    void TearDown() override
    {
        Config::Reset();
    }

    std::string Run(const std::string& scheduler, bool lazy, bool runAhead)
    {
        TestNetwork::Attributes attributes = GetParam().attributes;
        attributes["Lazy"] = lazy ? "true" : "false";
        attributes["RunAhead"] = runAhead ? "true" : "false";
        TestNetwork network(
            MakeFatTree(4, GetParam().rate, NanoSeconds(500)), attributes, scheduler);
        GetParam().traffic(network);
        const NetworkTotals totals = network.Get().GetTotals();
        EXPECT_EQ(totals.liveFlows, 0u);
        m_totals = totals;
        m_events = Simulator::GetEventCount();
        return Describe(network);
    }

    NetworkTotals m_totals;
    uint64_t m_events{0};
};

TEST_P(RoceOrderTest, EqualUnderAllSchedulersAndPorts)
{
    // The oracle: plain port with an event for each end of a transmission, an event an instant,
    // ns-3's default scheduler.
    const std::string oracle = Run("ns3::MapScheduler", false, false);
    const uint64_t plainEvents = m_events;
    EXPECT_EQ(m_totals.pauses > 0, GetParam().pauses) << m_totals.pauses;
    EXPECT_EQ(m_totals.ecnMarks > 0, GetParam().marks) << m_totals.ecnMarks;
    EXPECT_EQ(m_totals.drops > 0, GetParam().drops) << m_totals.drops;
    EXPECT_EQ(Run("ns3::MapScheduler", false, false), oracle) << "second run";
    EXPECT_EQ(Run("ns3::MapScheduler", true, false), oracle) << "lazy";
    EXPECT_LE(m_events, plainEvents);
    EXPECT_LE(static_cast<double>(m_events), 1.8 * static_cast<double>(m_totals.packetHops));
    EXPECT_EQ(Run("ns3::MapScheduler", false, true), oracle) << "plain, run-ahead";
    for (const char* scheduler : {"ns3::MapScheduler",
                                  "ns3::HeapScheduler",
                                  "ns3::CalendarScheduler",
                                  "ns3::PriorityQueueScheduler",
                                  "ns3::ListScheduler",
                                  "ns3::echo::BucketWheelScheduler"})
    {
        EXPECT_EQ(Run(scheduler, true, true), oracle) << scheduler;
        EXPECT_LT(m_events, plainEvents);
    }
}

const std::string DCQCN = "ns3::echo::Dcqcn";
const TestNetwork::Attributes HPCC{{"CongestionControl", "hpcc"}};
const TestNetwork::Attributes SWIFT{{"CongestionControl", "swift"}, {"AckInterval", "1"}};
const TestNetwork::Attributes HPCC_LOSS{{"CongestionControl", "hpcc"},
                                        {"LossRate", "0.01"},
                                        {"RetransmitTimeout", "30us"},
                                        {"Retransmission", "selective-repeat"}};
const TestNetwork::Attributes SWIFT_LOSS{{"CongestionControl", "swift"},
                                         {"LossRate", "0.01"},
                                         {"RetransmitTimeout", "30us"}};
const TestNetwork::Attributes BDP{{"WindowBdps", "1"}, {"Retransmission", "selective-repeat"}};
const TestNetwork::Attributes WINDOW{{"WindowBytes", "16384"}, {"AckInterval", "1"}};
const TestNetwork::Attributes LOSS{{"LossRate", "0.01"}, {"RetransmitTimeout", "30us"}};
const TestNetwork::Attributes SPRAY{{"LoadBalancer", "ns3::echo::SprayBalancer"}};
const TestNetwork::Attributes ADAPTIVE{{"LoadBalancer", "ns3::echo::AdaptiveBalancer"}};
const TestNetwork::Attributes FLOWLETS{{"LoadBalancer", "ns3::echo::FlowletBalancer"}};
const TestNetwork::Attributes LOSSY{{"Lossless", "false"}, {"CongestionControl", DCQCN}};

// name, traffic, attributes, buffer, Kmin, rate, pauses, marks, drops
INSTANTIATE_TEST_SUITE_P(
    Traffic,
    RoceOrderTest,
    testing::Values(
        Scenario{"AllToAll", AllToAll, {}},
        Scenario{"Paused", AllToAll, {}, "900000", "400000", "400Gb/s", true},
        Scenario{"OddRate", AllToAll, {{"Mtu", "1000"}}, "32000000", "400000", "333Gb/s"},
        Scenario{"Dcqcn",
                 AllToAll,
                 {{"CongestionControl", DCQCN}},
                 "32000000",
                 "5000",
                 "400Gb/s",
                 false,
                 true},
        Scenario{"Rings", Rings, {}},
        Scenario{"RingsWindow", Rings, WINDOW},
        Scenario{"RingsLoss", Rings, LOSS, "32000000", "400000", "400Gb/s", false, false, true},
        Scenario{"RingsSpray", Rings, SPRAY},
        Scenario{"IncastSpray", Incast, SPRAY, "1500000", "400000", "400Gb/s", true},
        Scenario{"IncastAdaptive", Incast, ADAPTIVE, "1500000", "400000", "400Gb/s", true},
        Scenario{"RingsFlowlets", Rings, FLOWLETS},
        Scenario{"Incast", Incast, {}, "1500000", "400000", "400Gb/s", true},
        Scenario{"IncastDcqcn",
                 Incast,
                 {{"CongestionControl", DCQCN}},
                 "1500000",
                 "20000",
                 "400Gb/s",
                 true,
                 true},
        Scenario{"Hpcc", AllToAll, HPCC},
        Scenario{"HpccPaused", Incast, HPCC, "900000", "400000", "400Gb/s", true},
        Scenario{"HpccLoss", Rings, HPCC_LOSS, "32000000", "400000", "400Gb/s", false, false, true},
        Scenario{"Swift", Incast, SWIFT},
        Scenario{"SwiftPaused", Incast, SWIFT, "900000", "400000", "333Gb/s", true},
        Scenario{"SwiftLoss",
                 Rings,
                 SWIFT_LOSS,
                 "32000000",
                 "400000",
                 "400Gb/s",
                 false,
                 false,
                 true},
        Scenario{"WindowOfABdp", AllToAll, BDP},
        Scenario{"IncastLossy", Incast, LOSSY, "400000", "20000", "400Gb/s", false, true, true}),
    [](const testing::TestParamInfo<Scenario>& info) { return std::string(info.param.name); });

} // namespace
