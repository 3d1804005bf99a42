// SPDX-License-Identifier: GPL-2.0-only

#include "list-scheduler.h"
#include "small-plan.h"

#include "ns3/echo-pipeline-schedule.h"
#include "ns3/echo-stage-program.h"
#include "ns3/object-factory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <tuple>

using namespace ns3;
using namespace ns3::echo;
using testing::HasSubstr;

namespace
{

Ptr<PipelineSchedule> Make(const std::string& name)
{
    ObjectFactory factory;
    factory.SetTypeId("ns3::echo::" + name + "Schedule");
    return factory.Create<PipelineSchedule>();
}

struct Case
{
    const char* type;
    uint32_t chunks;
    bool blocking; //!< messages may hold back what follows
};

void PrintTo(const Case& tried, std::ostream* out)
{
    *out << tried.type << " with " << tried.chunks << " chunks";
}

class Schedules : public testing::TestWithParam<std::tuple<Case, uint32_t, uint32_t>>
{
};

TEST_P(Schedules, SendsMeetReceivesAndPassesAreComplete)
{
    const auto& [tried, stages, microBatches] = GetParam();
    const Ptr<PipelineSchedule> schedule = Make(tried.type);
    const PipelineShape shape{stages, tried.chunks, microBatches};
    CheckPipeline(*schedule, shape, tried.blocking);
    using Message = std::tuple<uint32_t, uint32_t, int32_t>; // from, to, tag
    std::multiset<Message> sent;
    std::multiset<Message> received;
    for (uint32_t stage = 0; stage < stages; ++stage)
    {
        std::vector<int> state(size_t(microBatches) * tried.chunks, 0);
        for (const PipelineStep& step : MakePipelineSteps(*schedule, stage, shape))
        {
            if (step.isPass)
            {
                int& done = state[step.pass.microBatch * tried.chunks + step.pass.chunk];
                done += step.pass.kind == PipelinePass::Kind::BACKWARD ? 2 : 1;
            }
            for (const auto& transfer : step.transfers)
            {
                const int32_t tag = GetTag(transfer, stage, shape);
                if (transfer.isSend) // what is sent was made
                {
                    sent.insert({stage, transfer.peer, tag});
                    EXPECT_GE(state[transfer.microBatch * tried.chunks + transfer.chunk],
                              transfer.isActivation ? 1 : 2);
                }
                else
                {
                    received.insert({transfer.peer, stage, tag});
                }
            }
        }
        EXPECT_EQ(state, std::vector<int>(size_t(microBatches) * tried.chunks, 3));
    }
    EXPECT_EQ(sent, received);
    EXPECT_EQ(sent.size(), 2ull * microBatches * (stages * tried.chunks - 1));
}

INSTANTIATE_TEST_SUITE_P(All,
                         Schedules,
                         testing::Combine(testing::Values(Case{"Gpipe", 1, true},
                                                          Case{"OneForwardOneBackward", 1, true},
                                                          Case{"ZeroBubble", 1, true},
                                                          Case{"Interleaved", 2, false},
                                                          Case{"Interleaved", 3, false},
                                                          Case{"Combined", 1, false},
                                                          Case{"Combined", 3, false}),
                                          testing::Values(1, 2, 3, 4, 8),
                                          testing::Values(1, 2, 3, 8, 13)));

TEST(Schedule, StagesHoldWhatTheClosedFormSays)
{
    const PipelineShape shape{4, 1, 8};
    // GPipe holds all; 1F1B as many as stages are left; ZB-H1 on every stage as 1F1B on the first.
    for (uint32_t stage = 0; stage < 4; ++stage)
    {
        EXPECT_EQ(GetPassesInFlight(*Make("Gpipe"), stage, shape), 8u);
        EXPECT_EQ(GetPassesInFlight(*Make("OneForwardOneBackward"), stage, shape), 4 - stage);
        EXPECT_EQ(GetPassesInFlight(*Make("ZeroBubble"), stage, shape), 4u);
        // (v - 1) p + 2 (p - s - 1) + 1 of v = 3 chunks.
        EXPECT_EQ(GetPassesInFlight(*Make("Interleaved"), stage, {4, 3, 8}),
                  2 * 4 + 2 * (4 - stage - 1) + 1);
    }
}

std::string Refusal(const std::vector<std::string>& lists,
                    bool blocking = false,
                    const PipelineShape& shape = {2, 1, 2})
{
    std::vector<std::vector<PipelinePass>> passes;
    for (const std::string& list : lists)
    {
        passes.push_back(ParsePipelinePasses(list));
    }
    Ptr<ListedSchedule> schedule = CreateObject<ListedSchedule>();
    schedule->SetPasses(std::move(passes));
    return MessageOf([&] { CheckPipeline(*schedule, shape, blocking, "remedy"); });
}

TEST(Schedule, ListsAreChecked)
{
    EXPECT_EQ(Refusal({"F0 F1 B0 B1", "F0 B0 F1 B1"}, true), "");
    EXPECT_EQ(Refusal({"F0 F1 I0 I1 W0 W1", "F0 I0 F1 I1 W1 W0"}), "");
    EXPECT_THAT(Refusal({"F0 B0 F1 B1"}),
                HasSubstr("parallel.schedule: found 1 lists of passes, expected 2, one a stage"));
    EXPECT_THAT(
        Refusal({"F0 F1 B0 B1", "F0 B0 F1"}),
        HasSubstr("no full forward and backward pass of micro-batch 1, chunk 0 on stage 1"));
    EXPECT_THAT(Refusal({"F0 F1 B0 B1", "F0 F0 B0 F1 B1"}), HasSubstr("found F0 on stage 1"));
    EXPECT_THAT(Refusal({"F0 F1 F2 B0 B1 B2", "F0 B0 F1 B1"}), HasSubstr("found F2 on stage 0"));
    EXPECT_THAT(Refusal({"F0 F1 B0 B1", "F0 W0 I0 F1 B1"}), HasSubstr("found W0 on stage 1"));
    // The first stage wants B1 first, the second makes it last.
    EXPECT_THAT(Refusal({"F0 B0 F1 B1", "F0 F1 B1 B0"}),
                HasSubstr("stage 0 waits forever before B0"));
    EXPECT_THAT(MessageOf([] { ParsePipelinePasses("F0 B"); }), HasSubstr("found 'B', expected a"));
    EXPECT_THAT(MessageOf([] { ParsePipelinePasses("F0.x"); }), HasSubstr("found 'F0.x'"));
    EXPECT_THAT(MessageOf([] { ParsePipelinePasses("G1"); }), HasSubstr("found 'G1'"));
    EXPECT_THAT(MessageOf([] {
                    CheckPipeline(*Make("Gpipe"), {2, 2, 2}, true);
                }),
                HasSubstr("a schedule of one chunk a stage for 2, expected one for several"));
}

TEST(Schedule, APassDoesNotRunBesideItsOwnBackwardPass)
{
    const PipelineShape one{1, 1, 2};
    EXPECT_EQ(Refusal({"F0 F1&B0 B1"}, false, one), "");
    EXPECT_THAT(Refusal({"F0&B0 F1&B1"}, false, one),
                HasSubstr("found F0&B0 on stage 0, expected a backward pass beside the forward "
                          "pass of another micro-batch or chunk"));
    EXPECT_EQ(Refusal({"F0 F0.1&B1"}, false, {1, 2, 2}).find("another micro-batch"),
              std::string::npos);
}

TEST(Schedule, MessagesBesidePassesStayInOrder)
{
    // Stage 0 sends the activation of F0 first, stage 1 asks for that of F1 first.
    EXPECT_THAT(Refusal({"F0 F1 B0 B1", "F1 B1 F0 B0"}),
                HasSubstr("found stage 0 waits forever before B0, expected an order in which"));
    EXPECT_THAT(Refusal({"F0 F2 I0 F3 F1 B1 B3 I2 W0 W2", "F0 F2 I0 F1 B1 I2 F3 B3 W0 W2"},
                        false,
                        {2, 1, 4}),
                HasSubstr("waits forever"));
}

TEST(Schedule, WhatBlocksIsToldItsRemedy)
{
    // Micro-batches that stages do not divide: the last turn has fewer, and stages ask for it in
    // different orders.
    const PipelineShape shape{3, 2, 8};
    EXPECT_THAT(MessageOf([&] { CheckPipeline(*Make("Interleaved"), shape, true, "remedy"); }),
                HasSubstr("every stage's messages meet, or remedy"));
    EXPECT_THAT(Refusal({"F0 F1&B0 B1", "F0 F1&B0 B1"}),
                HasSubstr("waits forever before F1&B0, expected"));
    EXPECT_THAT(Refusal({"F0 F1 B0 B1", "F1 B1 F0 B0"}, true), testing::Not(HasSubstr("remedy")));
}

TEST(Schedule, InterleavedPassesRunWithMessagesThatBlock)
{
    // A forward and the backward pass behind it exchange at once (Megatron-Core without
    // overlap_p2p_comm, which wants micro-batches that the stages divide).
    for (uint32_t stages : {2, 3, 4, 8})
    {
        for (uint32_t chunks : {2, 3, 6})
        {
            for (uint32_t turns : {1, 2, 5})
            {
                const PipelineShape shape{stages, chunks, turns * stages};
                EXPECT_NO_THROW(CheckPipeline(*Make("Interleaved"), shape, true))
                    << stages << " stages, " << chunks << " chunks, " << turns << " turns";
            }
        }
    }
    // Second stage of two, two chunks, four micro-batches: two forward passes ahead, then turns of
    // a forward and a backward pass without a message between.
    const auto steps = MakePipelineSteps(*Make("Interleaved"), 1, {2, 2, 4});
    uint32_t joined = 0;
    for (size_t i = 1; i < steps.size(); ++i)
    {
        joined += steps[i - 1].isPass && steps[i].isPass;
    }
    EXPECT_EQ(joined, 6u); // 8 forward passes less 2
}

/** Exchanges some passes with their neighbours, and makes pairs of some. */
void Mix(std::vector<PipelinePass>& passes, std::mt19937& random)
{
    const auto isOwn = [](const PipelinePass& one, const PipelinePass& other) {
        return one.microBatch == other.microBatch && one.chunk == other.chunk;
    };
    for (uint32_t swaps = random() % 4; swaps > 0; --swaps)
    {
        const size_t at = random() % (passes.size() - 1);
        if (!isOwn(passes[at], passes[at + 1]))
        {
            std::swap(passes[at], passes[at + 1]);
        }
    }
    for (size_t i = 0; i + 1 < passes.size(); ++i)
    {
        passes[i].isPaired = random() % 6 == 0 && !isOwn(passes[i], passes[i + 1]) &&
                             passes[i].kind == PipelinePass::Kind::FORWARD &&
                             passes[i + 1].IsBackward();
    }
}

/** @return whether the stages' programs come to their end */
bool Ends(const TrainingPlan& plan)
{
    const ParallelLayout layout(plan.GetDegrees(), RanksOf(plan));
    WorkloadBuilder builder(RanksOf(plan));
    std::map<LayoutGroup, CommGroupPtr> groups;
    for (uint32_t stage = 0; stage < RanksOf(plan); ++stage)
    {
        std::vector<LayoutGroup> slots;
        const auto program = StageProgram(plan, layout, {stage, 0, 0}).Make(slots);
        std::vector<CommGroupPtr> bound;
        for (LayoutGroup slot : slots)
        {
            CommGroupPtr& group = groups[slot];
            if (!group)
            {
                group = builder.AddGroup(
                    GetGroupKind(slot), ToString(slot), layout.GetGroup(slot, RankId(stage)));
            }
            bound.push_back(group);
        }
        builder.SetProgram(RankId(stage), program, std::move(bound));
    }
    const auto one = [](const auto&, const auto&) { return 1.0; };
    return ListScheduler(builder.Build(), one, one).Run();
}

TEST(Schedule, OrdersPassTheCheckIfTheirProgramsEnd)
{
    std::mt19937 random(1);
    for (const PipelineShape& shape :
         {PipelineShape{2, 1, 4}, PipelineShape{3, 1, 4}, PipelineShape{2, 2, 4}})
    {
        TrainingPlan plan = SmallPlan({1, 1, 1, 1, shape.stages}, shape.stages * shape.chunks);
        plan.microBatches = shape.microBatches;
        plan.chunks = shape.chunks;
        plan.overlapPipeline = true;
        const char* type = shape.chunks > 1 ? "Interleaved" : "OneForwardOneBackward";
        uint32_t ended = 0;
        for (uint32_t trial = 0; trial < 300; ++trial)
        {
            std::vector<std::vector<PipelinePass>> passes;
            for (uint32_t stage = 0; stage < shape.stages; ++stage)
            {
                passes.push_back(Make(type)->GetPasses(stage, shape));
                Mix(passes.back(), random);
            }
            Ptr<ListedSchedule> listed = CreateObject<ListedSchedule>();
            listed->SetPasses(passes);
            plan.schedule = listed;
            const std::string refusal = MessageOf([&] { CheckPipeline(*listed, shape, false); });
            const bool ends = Ends(plan);
            ASSERT_EQ(refusal.empty(), ends) << trial << ": " << refusal;
            ended += ends;
        }
        EXPECT_GT(ended, 10u);
        EXPECT_LT(ended, 290u);
    }
}

} // namespace
