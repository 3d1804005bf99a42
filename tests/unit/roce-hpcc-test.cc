// SPDX-License-Identifier: GPL-2.0-only
// HPCC's algorithm 1 (Li et al., SIGCOMM 2019) worked by hand.

#include "ns3/double.h"
#include "ns3/echo-hpcc.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;

namespace
{

constexpr int64_t US = 1000000; // ps
constexpr double LINE = 100e9;
constexpr double BDP = 100000; // 100 Gb/s x 8 us
constexpr double STEP = 50;    // 50 Mb/s x 8 us

class HpccTest : public testing::Test
{
  protected:
    void SetUp() override
    {
        m_hpcc = CreateObject<Hpcc>();
        m_hpcc->SetAttribute("TxBytesUnit", UintegerValue(1)); // exact, for sums by hand
        m_hpcc->SetAttribute("QueueUnit", UintegerValue(1));
        PathProperties path;
        path.lineRate = LINE;
        path.baseRtt = 8 * US;
        m_owner = m_hpcc->MakeState(path);
        m_state = static_cast<HpccState*>(m_owner.get());
    }

    /** Acknowledges all packets before @p sequence, while @p next is the next to be sent. */
    void Acknowledge(uint64_t sequence, uint64_t next, const std::vector<RoceHopTelemetry>& links)
    {
        RoceTelemetry telemetry;
        for (const RoceHopTelemetry& link : links)
        {
            telemetry.hop[telemetry.hops++] = link;
        }
        Acknowledgement news;
        news.sequence = sequence;
        news.nextSequence = next;
        news.telemetry = &telemetry;
        m_hpcc->OnAcknowledgement(*m_state, news);
    }

    Ptr<Hpcc> m_hpcc;
    std::unique_ptr<RateState> m_owner;
    HpccState* m_state{nullptr};
};

TEST_F(HpccTest, StartsAtLineRateWithOneBdp)
{
    EXPECT_EQ(m_hpcc->GetName(), "hpcc");
    EXPECT_TRUE(m_hpcc->UsesTelemetry());
    EXPECT_FALSE(m_hpcc->UsesNotices());
    EXPECT_EQ(m_state->windowBytes, BDP);
    EXPECT_EQ(m_state->rate, LINE);
    EXPECT_FALSE(m_state->limited);
    EXPECT_EQ(m_hpcc->GetTelemetryBytes(3), 42u); // five links of 8 B and 2 B, as published
    m_hpcc->SetAttribute("ReservedHops", UintegerValue(0));
    EXPECT_EQ(m_hpcc->GetTelemetryBytes(3), 26u);
}

TEST_F(HpccTest, ReactsToQueueAndRateOfTheMostLoadedLink)
{
    // The first acknowledgement is only kept.
    Acknowledge(1, 20, {{10 * US, 0, 50000, LINE}, {10 * US, 7000, 0, LINE}});
    EXPECT_EQ(m_state->windowBytes, BDP);
    // tau 2 us. Link 1: 25,000 B in it are the line rate: 1; queue min(50,000, 30,000) / 100,000:
    // 0.3. Link 2: 12,500 B are half: 0.5. u = 1.3; U = 3/4 x 1 + 1/4 x 1.3 = 1.075.
    Acknowledge(2, 21, {{12 * US, 25000, 30000, LINE}, {12 * US, 19500, 0, LINE}});
    EXPECT_DOUBLE_EQ(m_state->utilisation, 1.075);
    EXPECT_DOUBLE_EQ(m_state->windowBytes, BDP / (1.075 / 0.95) + STEP);
    EXPECT_DOUBLE_EQ(m_state->rate, m_state->windowBytes * LINE / BDP); // W / T
    EXPECT_TRUE(m_state->limited);
    // W^c waits for packet 20, sent after the first update.
    EXPECT_EQ(m_state->referenceWindow, BDP);
    // 8 us later all of U is new: line rate, no queue: U = 1. W^c is still B T, then W.
    Acknowledge(21, 40, {{20 * US, 125000, 0, LINE}, {20 * US, 19500, 0, LINE}});
    EXPECT_DOUBLE_EQ(m_state->utilisation, 1);
    EXPECT_DOUBLE_EQ(m_state->windowBytes, BDP * 0.95 + STEP);
    EXPECT_EQ(m_state->referenceWindow, m_state->windowBytes);
    EXPECT_EQ(m_state->lastUpdate, 40u);
}

TEST_F(HpccTest, TelemetryIsRoundedDownToItsUnits)
{
    m_hpcc->SetAttribute("TxBytesUnit", UintegerValue(128));
    m_hpcc->SetAttribute("QueueUnit", UintegerValue(80));
    Acknowledge(1, 20, {{1000999, 127, 159, LINE}});
    EXPECT_EQ(m_state->links.hop[0].time, 1000000);
    EXPECT_EQ(m_state->links.hop[0].txBytes, 0u);
    EXPECT_EQ(m_state->links.hop[0].queueBytes, 80u);
}

TEST_F(HpccTest, AddsForMaxStageRoundTripsThenMultiplies)
{
    Acknowledge(1, 10, {{0, 0, 0, LINE}});
    // Far too much at once: u = 2, U = 2, W = 100,000 / (2 / 0.95) + 50 = 47,550.
    Acknowledge(11, 20, {{8 * US, 200000, 0, LINE}});
    double window = 47550;
    EXPECT_DOUBLE_EQ(m_state->windowBytes, window);
    // Then half the line rate: U = 0.5 < eta: five steps up, then W^c / (0.5 / 0.95) + 50.
    uint64_t sent = 200000;
    int64_t time = 8 * US;
    for (uint64_t round = 2; round <= 6; ++round)
    {
        time += 8 * US;
        sent += 50000;
        Acknowledge(10 * round + 1, 10 * round + 10, {{time, sent, 0, LINE}});
        window += STEP;
        EXPECT_DOUBLE_EQ(m_state->windowBytes, window) << round;
    }
    EXPECT_EQ(m_state->stage, 5u);
    Acknowledge(71, 80, {{time + 8 * US, sent + 50000, 0, LINE}});
    EXPECT_DOUBLE_EQ(m_state->windowBytes, window / (0.5 / 0.95) + STEP);
    EXPECT_EQ(m_state->stage, 0u);
}

TEST_F(HpccTest, StaysBetweenItsLeastRateAndTheLine)
{
    Acknowledge(1, 10, {{0, 0, 0, LINE}});
    for (uint64_t round = 1; round < 10; ++round)
    {
        Acknowledge(
            10 * round + 1, 10 * round + 10, {{8 * US * int64_t(round), 0, 100000000, LINE}});
    }
    // Queue before was empty in the first: min is 0; then 1000 BDPs each.
    EXPECT_DOUBLE_EQ(m_state->rate, 100e6);
    for (uint64_t round = 10; round < 100; ++round)
    {
        Acknowledge(10 * round + 1, 10 * round + 10, {{8 * US * int64_t(round), 0, 0, LINE}});
        m_state->utilisation = 0.01;
    }
    EXPECT_EQ(m_state->rate, LINE);
    EXPECT_FALSE(m_state->limited);
}

TEST_F(HpccTest, WithoutFastReactActsOnceARoundTrip)
{
    m_hpcc->SetAttribute("FastReact", StringValue("false"));
    Acknowledge(1, 10, {{0, 0, 0, LINE}});
    Acknowledge(5, 12, {{4 * US, 100000, 0, LINE}});
    EXPECT_EQ(m_state->windowBytes, BDP);
    Acknowledge(11, 20, {{8 * US, 200000, 0, LINE}});
    EXPECT_DOUBLE_EQ(m_state->windowBytes, 47550);
}

TEST_F(HpccTest, AnotherWayStartsAnew)
{
    Acknowledge(1, 10, {{0, 0, 0, LINE}});
    Acknowledge(11, 20, {{8 * US, 900000, 0, LINE}, {8 * US, 0, 0, LINE}});
    EXPECT_EQ(m_state->windowBytes, BDP);
    EXPECT_EQ(m_state->links.hops, 2u);
}

} // namespace
