// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/echo-pipeline-schedule.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <tuple>

using namespace ns3;
using namespace ns3::echo;

namespace
{

class Schedules
    : public testing::TestWithParam<std::tuple<PipelineScheduleKind, uint32_t, uint32_t>>
{
};

TEST_P(Schedules, SendsMeetReceivesAndPassesAreComplete)
{
    const auto [kind, stages, microBatches] = GetParam();
    std::vector<std::vector<uint32_t>> sent(stages);     // activations, by sender
    std::vector<std::vector<uint32_t>> received(stages); // activations, by receiver
    std::vector<std::vector<uint32_t>> sentBack(stages);
    std::vector<std::vector<uint32_t>> receivedBack(stages);
    for (uint32_t stage = 0; stage < stages; ++stage)
    {
        std::vector<int> state(microBatches, 0); // 1: forward done, 2: backward done
        uint32_t held = 0;
        uint32_t mostHeld = 0;
        for (const auto& step : MakePipelineSchedule(kind, stage, stages, microBatches))
        {
            if (step.kind == PipelineStep::Kind::FORWARD)
            {
                EXPECT_EQ(state.at(step.microBatch)++, 0);
                mostHeld = std::max(mostHeld, ++held);
            }
            else if (step.kind == PipelineStep::Kind::BACKWARD)
            {
                EXPECT_EQ(state.at(step.microBatch)++, 1);
                --held;
            }
            for (const auto& transfer : step.transfers)
            {
                auto& list = transfer.isActivation ? (transfer.isSend ? sent : received)
                                                   : (transfer.isSend ? sentBack : receivedBack);
                list[stage].push_back(transfer.microBatch);
                if (transfer.isSend) // what is sent was made
                {
                    EXPECT_GE(state.at(transfer.microBatch), transfer.isActivation ? 1 : 2);
                }
            }
        }
        EXPECT_EQ(state, std::vector<int>(microBatches, 2));
        EXPECT_EQ(mostHeld, GetMicroBatchesInFlight(kind, stage, stages, microBatches));
    }
    for (uint32_t stage = 0; stage + 1 < stages; ++stage)
    {
        EXPECT_EQ(sent[stage].size(), microBatches);
        EXPECT_EQ(sent[stage], received[stage + 1]);
        EXPECT_EQ(sentBack[stage + 1].size(), microBatches);
        EXPECT_EQ(sentBack[stage + 1], receivedBack[stage]);
    }
    EXPECT_TRUE(received[0].empty() && sentBack[0].empty());
    EXPECT_TRUE(sent[stages - 1].empty() && receivedBack[stages - 1].empty());
}

INSTANTIATE_TEST_SUITE_P(
    All,
    Schedules,
    testing::Combine(testing::Values(PipelineScheduleKind::GPIPE,
                                     PipelineScheduleKind::ONE_FORWARD_ONE_BACKWARD),
                     testing::Values(1, 2, 3, 4, 8),
                     testing::Values(1, 2, 3, 8, 13)));

} // namespace
