// SPDX-License-Identifier: GPL-2.0-only
// Swift's algorithm 1 and target delay (Kumar et al., SIGCOMM 2020) worked by hand.

#include "ns3/double.h"
#include "ns3/echo-swift.h"
#include "ns3/string.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace ns3;
using namespace ns3::echo;

namespace
{

constexpr int64_t US = 1000000; // ps
constexpr double LINE = 100e9;

/** 4,000 B packets, 8 us: one BDP is 100,000 B, 25 packets; the base target is 16 us. */
class SwiftTest : public testing::Test
{
  protected:
    void SetUp() override
    {
        m_swift = CreateObject<Swift>();
        Renew();
    }

    void Renew()
    {
        PathProperties path;
        path.lineRate = LINE;
        path.baseRtt = 8 * US;
        path.hops = 4;
        path.mtuBytes = 4000;
        m_owner = m_swift->MakeState(path);
        m_state = static_cast<SwiftState*>(m_owner.get());
    }

    void Acknowledge(int64_t now, int64_t rtt, uint64_t packets)
    {
        Acknowledgement news;
        news.now = now;
        news.rtt = rtt;
        news.newPackets = packets;
        m_swift->OnAcknowledgement(*m_state, news);
    }

    Ptr<Swift> m_swift;
    std::unique_ptr<RateState> m_owner;
    SwiftState* m_state{nullptr};
};

TEST_F(SwiftTest, StartsWithOneBdpUnpaced)
{
    EXPECT_EQ(m_swift->GetName(), "swift");
    EXPECT_TRUE(m_swift->UsesRtt());
    EXPECT_DOUBLE_EQ(m_state->window, 25);
    EXPECT_DOUBLE_EQ(m_state->windowBytes, 100000);
    EXPECT_DOUBLE_EQ(m_state->largestWindow, 50);
    EXPECT_FALSE(m_state->limited);
}

TEST_F(SwiftTest, TargetScalesWithHopsAndFlows)
{
    m_swift->SetAttribute("BaseTarget", StringValue("25us"));
    m_swift->SetAttribute("HopTarget", StringValue("2us"));
    m_swift->SetAttribute("FsRange", DoubleValue(2));
    Renew();
    // Base 25 + 4 x 2 = 33 us, range 66 us; a = 66 / (1 / sqrt(0.1) - 1 / sqrt(100)), b = -a / 10.
    const double a = 66e6 / (std::sqrt(10) - 0.1);
    m_state->window = 4;
    EXPECT_DOUBLE_EQ(m_swift->GetTarget(*m_state), 33e6 + a / 2 - a / 10);
    m_state->window = 100;
    EXPECT_DOUBLE_EQ(m_swift->GetTarget(*m_state), 33e6);
    m_state->window = 400;
    EXPECT_DOUBLE_EQ(m_swift->GetTarget(*m_state), 33e6);
    m_state->window = 0.1;
    EXPECT_NEAR(m_swift->GetTarget(*m_state), 99e6, 1);
    m_state->window = 0.01;
    EXPECT_DOUBLE_EQ(m_swift->GetTarget(*m_state), 99e6);
}

TEST_F(SwiftTest, AddsBelowTheTargetUpToWhatTheLineCarries)
{
    m_swift->SetAttribute("FsRange", DoubleValue(0));
    Renew();
    Acknowledge(20 * US, 15 * US, 4); // 25 + 1 x 4 / 25
    EXPECT_DOUBLE_EQ(m_state->window, 25.16);
    for (int i = 0; i < 1000; ++i)
    {
        Acknowledge((21 + i) * US, 15 * US, 4);
    }
    EXPECT_DOUBLE_EQ(m_state->window, 50);
    Acknowledge(2000 * US, -1, 4); // not measured
    EXPECT_DOUBLE_EQ(m_state->window, 50);
}

TEST_F(SwiftTest, CutsInProportionOnceARoundTrip)
{
    m_swift->SetAttribute("FsRange", DoubleValue(0));
    Renew();
    // 20 us against 16: 1 - 0.8 x 4 / 20 = 0.84.
    Acknowledge(100 * US, 20 * US, 1);
    EXPECT_DOUBLE_EQ(m_state->window, 21);
    Acknowledge(119 * US, 20 * US, 1);
    EXPECT_DOUBLE_EQ(m_state->window, 21);
    // 1 - 0.8 x 144 / 160 = 0.28, but never below 1 - max_mdf = 0.5.
    Acknowledge(320 * US, 160 * US, 1);
    EXPECT_DOUBLE_EQ(m_state->window, 10.5);
}

TEST_F(SwiftTest, PacesBelowOnePacketAndAddsFasterThere)
{
    m_state->window = 1;
    for (int i = 1; i <= 2; ++i)
    {
        Acknowledge(i * 1000 * US, 1000 * US, 1); // far above any target: halved
    }
    EXPECT_DOUBLE_EQ(m_state->window, 0.25);
    EXPECT_TRUE(m_state->limited);
    EXPECT_EQ(m_swift->GetGap(*m_state, 4082, 0), 4000 * US); // RTT / cwnd
    EXPECT_DOUBLE_EQ(m_state->windowBytes, 4000);
    Acknowledge(3000 * US, 10 * US, 1); // + 1, not + 1 / 0.25
    EXPECT_DOUBLE_EQ(m_state->window, 1.25);
    EXPECT_FALSE(m_state->limited);
}

TEST_F(SwiftTest, LossesHalveOnceARoundTripAndTimeoutsEndAtTheLeast)
{
    m_swift->OnLoss(*m_state, false, 100 * US);
    EXPECT_DOUBLE_EQ(m_state->window, 12.5);
    m_swift->OnLoss(*m_state, false, 107 * US); // within 8 us
    EXPECT_DOUBLE_EQ(m_state->window, 12.5);
    for (int i = 1; i <= 4; ++i)
    {
        m_swift->OnLoss(*m_state, true, (100 + 500 * i) * US);
    }
    EXPECT_DOUBLE_EQ(m_state->window, 12.5 / 16);
    m_swift->OnLoss(*m_state, true, 3000 * US);
    EXPECT_DOUBLE_EQ(m_state->window, 0.001);
    Acknowledge(4000 * US, 8 * US, 1);
    EXPECT_EQ(m_state->timeouts, 0u);
}

} // namespace
