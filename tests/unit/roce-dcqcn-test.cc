// SPDX-License-Identifier: GPL-2.0-only
// DCQCN's equations (Zhu et al., SIGCOMM 2015, section 3.1) worked by hand.

#include "ns3/double.h"
#include "ns3/echo-dcqcn.h"
#include "ns3/echo-fixed-rate.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

using namespace ns3;
using namespace ns3::echo;

namespace
{

constexpr int64_t US = 1000000; // ps
constexpr double LINE = 40e9;   // the paper's links: steps are not scaled
constexpr double G = 1.0 / 256;

PathProperties MakePath(double rate)
{
    PathProperties path;
    path.lineRate = rate;
    path.baseRtt = 8 * US;
    return path;
}

/** The paper's parameters (section 5 and table 14 of its appendix are for its 40 Gb/s links). */
class DcqcnTest : public testing::Test
{
  protected:
    void SetUp() override
    {
        m_dcqcn = CreateObject<Dcqcn>();
        for (const auto& [name, value] : std::map<std::string, std::string>{
                 {"F", "5"},
                 {"K", "55us"},
                 {"T", "55us"},
                 {"B", "10000000"},
                 {"N", "50us"},
                 {"CutInterval", "0us"},
                 {"ClampTargetRate", "true"},
                 {"Rai", "40Mb/s"},
                 {"Rhai", "400Mb/s"},
                 {"ReferenceRate", "40Gb/s"},
                 {"WindowBdps", "0"},
             })
        {
            m_dcqcn->SetAttribute(name, StringValue(value));
        }
        Renew();
    }

    void Renew()
    {
        m_owner = m_dcqcn->MakeState(MakePath(LINE));
        m_state = static_cast<DcqcnState*>(m_owner.get());
    }

    Ptr<Dcqcn> m_dcqcn;
    std::unique_ptr<RateState> m_owner;
    DcqcnState* m_state{nullptr};
};

TEST_F(DcqcnTest, StartsAtLineRateUnlimited)
{
    EXPECT_EQ(m_state->rate, LINE);
    EXPECT_FALSE(m_state->limited);
    EXPECT_TRUE(m_dcqcn->UsesNotices());
    EXPECT_EQ(m_dcqcn->GetNoticeInterval(), 50 * US);
    EXPECT_EQ(m_dcqcn->GetName(), "dcqcn");
}

TEST_F(DcqcnTest, ACnpCutsByHalfOfAlpha)
{
    m_dcqcn->OnNotice(*m_state, 100 * US);
    // R_T = 40; R_C = 40 (1 - 1/2) = 20; alpha = (1 - g) 1 + g = 1.
    EXPECT_TRUE(m_state->limited);
    EXPECT_DOUBLE_EQ(m_state->targetRate, 40e9);
    EXPECT_DOUBLE_EQ(m_state->rate, 20e9);
    EXPECT_DOUBLE_EQ(m_state->alpha, 1);

    // 120 us later alpha has decayed twice (K = 55 us): (1 - g)^2. The rate timer has run twice
    // too (T = 55 us), in fast recovery: 20 -> 30 -> 35. Then the cut.
    m_dcqcn->OnNotice(*m_state, 220 * US);
    const double alpha = (1 - G) * (1 - G);
    EXPECT_DOUBLE_EQ(m_state->targetRate, 35e9);
    EXPECT_DOUBLE_EQ(m_state->rate, 35e9 * (1 - alpha / 2));
    EXPECT_DOUBLE_EQ(m_state->alpha, (1 - G) * alpha + G);
}

TEST_F(DcqcnTest, FiveStepsOfFastRecoveryThenAdditiveIncrease)
{
    m_dcqcn->SetAttribute("InitialAlpha", DoubleValue(1));
    m_dcqcn->OnNotice(*m_state, 0);
    m_dcqcn->OnNotice(*m_state, 10 * US);
    // Two cuts: R_T = 20, R_C = 10 (alpha stays 1).
    EXPECT_DOUBLE_EQ(m_state->rate, 10e9);
    // Fast recovery at 65, 120, 175, 230, 285 us: halves the distance to 20 each time.
    const double recovered[] = {15e9, 17.5e9, 18.75e9, 19.375e9, 19.6875e9};
    int64_t time = 10 * US;
    for (const double rate : recovered)
    {
        time += 55 * US;
        m_dcqcn->OnSend(*m_state, 1000, time - 1);
        EXPECT_LT(m_state->rate, rate);
        m_dcqcn->OnSend(*m_state, 1000, time);
        EXPECT_DOUBLE_EQ(m_state->rate, rate);
        EXPECT_DOUBLE_EQ(m_state->targetRate, 20e9);
    }
    // Then R_T = 20.04, R_C = (20.04 + 19.6875) / 2; then R_T = 20.08.
    m_dcqcn->OnSend(*m_state, 1000, time + 55 * US);
    EXPECT_DOUBLE_EQ(m_state->targetRate, 20.04e9);
    EXPECT_DOUBLE_EQ(m_state->rate, (20.04e9 + 19.6875e9) / 2);
    const double before = m_state->rate;
    m_dcqcn->OnSend(*m_state, 1000, time + 110 * US);
    EXPECT_DOUBLE_EQ(m_state->targetRate, 20.08e9);
    EXPECT_DOUBLE_EQ(m_state->rate, (20.08e9 + before) / 2);
}

TEST_F(DcqcnTest, BytesCountAsTimeDoesAndBothMakeHyperIncrease)
{
    m_dcqcn->SetAttribute("B", UintegerValue(5000));
    m_dcqcn->SetAttribute("F", UintegerValue(1));
    m_dcqcn->OnNotice(*m_state, 0);
    m_dcqcn->OnNotice(*m_state, 10 * US); // R_T = 20, R_C = 10
    m_dcqcn->OnSend(*m_state, 4999, 11 * US);
    EXPECT_DOUBLE_EQ(m_state->rate, 10e9);
    m_dcqcn->OnSend(*m_state, 1, 12 * US); // BC 0 -> 1: fast recovery
    EXPECT_DOUBLE_EQ(m_state->rate, 15e9);
    m_dcqcn->OnSend(*m_state, 5000, 13 * US); // BC 1 = F: additive
    EXPECT_DOUBLE_EQ(m_state->targetRate, 20.04e9);
    m_dcqcn->OnSend(*m_state, 5000, 14 * US);
    m_dcqcn->OnSend(*m_state, 5000, 15 * US); // BC = 4
    EXPECT_DOUBLE_EQ(m_state->targetRate, 20.12e9);
    // Timer: T 0 and 1 are still additive (min <= F); at T = 2, BC = 4 hyper: + (2 - 1) x 0.4.
    m_dcqcn->OnSend(*m_state, 0, 10 * US + 110 * US);
    EXPECT_DOUBLE_EQ(m_state->targetRate, 20.20e9);
    m_dcqcn->OnSend(*m_state, 0, 10 * US + 165 * US);
    EXPECT_DOUBLE_EQ(m_state->targetRate, 20.60e9);
    m_dcqcn->OnSend(*m_state, 0, 10 * US + 220 * US); // T = 3: + 2 x 0.4
    EXPECT_DOUBLE_EQ(m_state->targetRate, 21.40e9);
}

TEST_F(DcqcnTest, RecoversToLineRateAndKeepsAlpha)
{
    m_dcqcn->OnNotice(*m_state, 0); // R_T = 40, R_C = 20
    // After n steps 40 - 20 / 2^n; within 1/1024 of 40 after the 9th: 20 / 512 = 40 / 1024.
    m_dcqcn->OnSend(*m_state, 1000, 8 * 55 * US);
    EXPECT_TRUE(m_state->limited);
    m_dcqcn->OnSend(*m_state, 1000, 9 * 55 * US);
    EXPECT_FALSE(m_state->limited);
    EXPECT_EQ(m_state->rate, LINE);
    // Long after, alpha has decayed: ten seconds are 181818 steps of K, below any influence.
    m_dcqcn->OnNotice(*m_state, 10000000 * US);
    EXPECT_EQ(m_state->rate, LINE);
    EXPECT_FALSE(m_state->limited);
    EXPECT_DOUBLE_EQ(m_state->alpha, G);
}

TEST_F(DcqcnTest, NeverBelowTheLeastRateAndStepsScaleWithTheLine)
{
    for (int i = 1; i < 20; ++i)
    {
        m_dcqcn->OnNotice(*m_state, i * US);
    }
    EXPECT_DOUBLE_EQ(m_state->rate, 100e6);

    std::unique_ptr<RateState> owner = m_dcqcn->MakeState(MakePath(400e9));
    DcqcnState& fast = static_cast<DcqcnState&>(*owner);
    m_dcqcn->OnNotice(fast, US);
    m_dcqcn->OnNotice(fast, 2 * US);
    m_dcqcn->OnSend(fast, 0, 2 * US + 6 * 55 * US);
    EXPECT_DOUBLE_EQ(fast.targetRate, 200e9 + 400e6); // ten times 40 Mb/s
}

TEST(DcqcnDefaults, ASeriesOfCutsLeavesTheTargetRate)
{
    // Defaults: g 1/256, K 1 us, T 300 us, F 1, cuts 4 us apart, R_T kept, R_AI 50 Mb/s, R_HAI 100
    // Mb/s at 100 Gb/s, window of one BDP: 100 Gb/s x 8 us = 100,000 B.
    Ptr<Dcqcn> dcqcn = CreateObject<Dcqcn>();
    EXPECT_EQ(dcqcn->GetNoticeInterval(), 4 * US);
    const auto owner = dcqcn->MakeState(MakePath(100e9));
    DcqcnState& state = static_cast<DcqcnState&>(*owner);
    EXPECT_DOUBLE_EQ(state.windowBytes, 100000);
    dcqcn->OnNotice(state, 100 * US);
    EXPECT_DOUBLE_EQ(state.rate, 50e9);
    EXPECT_DOUBLE_EQ(state.windowBytes, 50000);
    // 3 us on: no cut, but alpha: three decays, then + g.
    dcqcn->OnNotice(state, 103 * US);
    EXPECT_DOUBLE_EQ(state.rate, 50e9);
    double alpha = (1 - G) * (1 - G) * (1 - G) * (1 - G) + G;
    EXPECT_DOUBLE_EQ(state.alpha, alpha);
    // 4 us after the cut: one decay more, then a cut by half of that alpha. R_T stays at 100.
    alpha *= 1 - G;
    dcqcn->OnNotice(state, 104 * US);
    EXPECT_DOUBLE_EQ(state.rate, 50e9 * (1 - alpha / 2));
    EXPECT_DOUBLE_EQ(state.targetRate, 100e9);
    // Fast recovery once (F = 1) 300 us later, then additive, then hyper increase, R_T being full.
    const double cut = state.rate;
    dcqcn->OnSend(state, 4178, 404 * US);
    EXPECT_DOUBLE_EQ(state.rate, (100e9 + cut) / 2);
    // A cut after the timer has run does take R_T down.
    const double before = state.rate;
    dcqcn->OnNotice(state, 410 * US);
    EXPECT_DOUBLE_EQ(state.targetRate, before);
    double target = before;
    double rate = state.rate;
    for (const double step : {0.0, 50e6, 100e6, 100e6}) // recovery, additive, hyper, hyper
    {
        state.timerSince -= 300 * US; // as if so much later
        dcqcn->OnSend(state, 4178, 410 * US);
        target += step;
        EXPECT_DOUBLE_EQ(state.targetRate, target);
        EXPECT_DOUBLE_EQ(state.rate, (target + rate) / 2);
        rate = state.rate;
    }
}

TEST(DcqcnDefaults, NoCutTakesMoreThanItMay)
{
    Ptr<Dcqcn> dcqcn = CreateObject<Dcqcn>();
    dcqcn->SetAttribute("LargestCut", DoubleValue(0.1));
    const auto state = dcqcn->MakeState(MakePath(100e9));
    dcqcn->OnNotice(*state, US);
    EXPECT_DOUBLE_EQ(state->rate, 90e9);
}

TEST(DcqcnDefaults, ASlowSenderIsPacedAtTheRateThatItWillHave)
{
    // Cut to 50 Gb/s at 0, R_T 100. A packet of 1,875,000 B started at 280 us: 20 us at 50 Gb/s are
    // 125,000 B; then 75 Gb/s, so the rest takes 1,750,000 B / 9.375 B/ns = 186,667 ns, in all
    // 206,666.7 ns. Nothing of the state changes.
    Ptr<Dcqcn> dcqcn = CreateObject<Dcqcn>();
    const auto state = dcqcn->MakeState(MakePath(100e9));
    dcqcn->OnNotice(*state, 0);
    EXPECT_NEAR(static_cast<double>(dcqcn->GetGap(*state, 1875000, 280 * US)), 206666667, 2);
    EXPECT_EQ(dcqcn->GetGap(*state, 4178, 280 * US), 668480); // 4178 x 160 ps
    EXPECT_DOUBLE_EQ(state->rate, 50e9);
}

TEST(FixedRate, IsTheLineRateOrLess)
{
    Ptr<FixedRate> control = CreateObject<FixedRate>();
    EXPECT_EQ(control->GetName(), "none");
    EXPECT_FALSE(control->UsesNotices());
    EXPECT_EQ(control->MakeState(MakePath(100e9))->rate, 100e9);
    EXPECT_FALSE(control->MakeState(MakePath(100e9))->limited);
    control->SetAttribute("Rate", DataRateValue(DataRate("25Gb/s")));
    EXPECT_EQ(control->MakeState(MakePath(100e9))->rate, 25e9);
    EXPECT_TRUE(control->MakeState(MakePath(100e9))->limited);
    EXPECT_EQ(control->MakeState(MakePath(10e9))->rate, 10e9);
    EXPECT_EQ(control->GetName(), "fixed-rate");
    EXPECT_EQ(CreateObject<NoCongestionControl>()->GetName(), "none");
}

} // namespace
