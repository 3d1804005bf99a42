// SPDX-License-Identifier: GPL-2.0-only
#include "error-message.h"

#include "ns3/echo-graph-reader.h"
#include "ns3/echo-overlapped-schedules.h"
#include "ns3/echo-pipeline-composer.h"
#include "ns3/echo-workload-builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

using namespace ns3;
using namespace ns3::echo;
using testing::ElementsAre;
using testing::HasSubstr;

namespace
{

const std::string EXAMPLES = ECHO_SOURCE_DIR "/calibration/tracer/examples/";

/** What a stage of a made-up trace does. */
struct StageTrace
{
    uint32_t place;
    uint32_t count;
    OperatorPart messages{OperatorPart::FORWARD};
    uint32_t peer{0xffffffff}; //!< instead of the next stage
};

/** One micro-batch: receive, F, send; receive, B, send; an all-reduce. 100 B forward, 50 B back. */
ExecutionGraphPtr Trace(const StageTrace& stage)
{
    ExecutionGraphBuilder builder("trace");
    const uint32_t slot = builder.AddGroupSlot();
    const StreamId main = builder.GetStream("compute");
    const StreamId side = builder.GetStream("p2p");
    const auto message = [&](OperatorPart part, bool isSend, uint32_t peer, uint64_t bytes) {
        const OperatorId id =
            builder.AddPointToPoint(side, "message", slot, {{isSend, peer, bytes, 0}});
        builder.SetPart(id, part);
    };
    const auto kernel = [&](OperatorPart part, const std::string& name) {
        builder.SetPart(builder.AddCompute(main, name, MicroSeconds(10)), part);
    };
    const bool hasNext = stage.place + 1 < stage.count;
    const uint32_t next = stage.peer == 0xffffffff ? stage.place + 1 : stage.peer;
    if (stage.place > 0)
    {
        message(OperatorPart::FORWARD, false, stage.place - 1, 100);
    }
    kernel(OperatorPart::FORWARD, "F");
    if (hasNext)
    {
        message(stage.messages, true, next, 100);
        message(OperatorPart::BACKWARD, false, next, 50);
    }
    kernel(OperatorPart::BACKWARD, "B");
    if (stage.place > 0)
    {
        message(OperatorPart::BACKWARD, true, stage.place - 1, 50);
    }
    CollectiveSpec spec;
    spec.bytes = 8;
    builder.SetPart(builder.AddCollective(builder.GetStream("dp"), "sum", slot, spec),
                    OperatorPart::END);
    kernel(OperatorPart::END, "optimizer");
    return builder.Build();
}

WorkloadGraphPtr Pipeline(uint32_t stages)
{
    WorkloadBuilder builder(stages);
    std::vector<RankId> ranks;
    for (uint32_t i = 0; i < stages; ++i)
    {
        ranks.emplace_back(i);
    }
    const CommGroupPtr group = builder.AddGroup(GroupKind::PIPELINE, "pp", ranks);
    for (uint32_t i = 0; i < stages; ++i)
    {
        builder.SetProgram(RankId(i), Trace({i, stages}), {group});
    }
    return builder.Build();
}

/** @return names of kernels and messages ("100>1" is a send of 100 B to place 1), in stream order
 */
std::vector<std::string> Sequence(const ExecutionGraph& program, const std::string& stream)
{
    std::vector<std::string> names;
    for (uint32_t i = 0; i < program.GetStreamCount(); ++i)
    {
        if (program.GetStreamName(StreamId(i)) != stream)
        {
            continue;
        }
        for (const OperatorId id : program.GetStream(StreamId(i)))
        {
            const Operator& op = program.GetOperator(id);
            std::string text = op.type == OperatorType::MARKER ? "" : program.GetName(op);
            if (op.type == OperatorType::POINT_TO_POINT)
            {
                text.clear();
                for (const auto& element : program.GetCommunication(op).elements)
                {
                    text += std::to_string(element.bytes) + (element.isSend ? ">" : "<") +
                            std::to_string(element.peerIndex) + " ";
                }
                text.pop_back();
            }
            if (!text.empty())
            {
                names.push_back(text);
            }
        }
    }
    return names;
}

// 1F1B of the middle of three stages: one forward ahead; in the steady part a send and the receive
// of the next pass are one batch.
TEST(PipelineComposer, PutsPassesAndMessagesInTheScheduleSOrder)
{
    const auto composed = ComposePipeline(*Pipeline(3), OneForwardOneBackwardSchedule(), 3);
    EXPECT_THAT(Sequence(*composed->GetProgram(RankId(1)), "compute"),
                ElementsAre("F", "F", "B", "F", "B", "B", "optimizer"));
    EXPECT_THAT(Sequence(*composed->GetProgram(RankId(1)), "stages"),
                ElementsAre("100<0",
                            "100>2",
                            "100<0",
                            "100>2 50<2",
                            "50>0 100<0",
                            "100>2 50<2",
                            "50>0",
                            "50<2",
                            "50>0"));
    EXPECT_THAT(Sequence(*composed->GetProgram(RankId(2)), "compute"),
                ElementsAre("F", "B", "F", "B", "F", "B", "optimizer"));
    EXPECT_THAT(Sequence(*composed->GetProgram(RankId(0)), "dp"), ElementsAre("sum"));
    const auto gpipe = ComposePipeline(*Pipeline(3), GpipeSchedule(), 2);
    EXPECT_THAT(Sequence(*gpipe->GetProgram(RankId(1)), "compute"),
                ElementsAre("F", "F", "B", "B", "optimizer"));
}

TEST(PipelineComposer, OneStageHasNoMessages)
{
    const auto composed = ComposePipeline(*Pipeline(1), OneForwardOneBackwardSchedule(), 2);
    EXPECT_THAT(Sequence(*composed->GetProgram(RankId(0)), "compute"),
                ElementsAre("F", "B", "F", "B", "optimizer"));
    EXPECT_THAT(Sequence(*composed->GetProgram(RankId(0)), "stages"), ElementsAre());
}

TEST(PipelineComposer, RefusesWhatItCannotMatch)
{
    const auto compose = [](const StageTrace& trace) {
        WorkloadBuilder builder(3);
        const std::vector<RankId> ranks{RankId(0), RankId(1), RankId(2)};
        const CommGroupPtr group = builder.AddGroup(GroupKind::PIPELINE, "pp", ranks);
        for (uint32_t i = 0; i < 3; ++i)
        {
            builder.SetProgram(RankId(i), Trace(i == 0 ? trace : StageTrace{i, 3}), {group});
        }
        return MessageOf([&] { ComposePipeline(*builder.Build(), GpipeSchedule(), 1); });
    };
    EXPECT_THAT(compose({0, 3, OperatorPart::NONE}),
                HasSubstr("'message': found no part, expected forward, backward or end"));
    EXPECT_THAT(compose({0, 3, OperatorPart::FORWARD, 2}),
                HasSubstr("a message with place 2 of pp at place 0, expected the next stage"));
    EXPECT_THAT(compose({0, 3, OperatorPart::END}), HasSubstr("after the backward pass"));
}

/** Adds one micro-batch over a model chunk of one of two stages; messages go to the other stage. */
class ChunkTrace
{
  public:
    explicit ChunkTrace(uint32_t place)
        : m_builder("chunks"), m_slot(m_builder.AddGroupSlot()), m_place(place)
    {
    }

    void Pass(OperatorPart part, uint8_t chunk, bool receives, bool sends)
    {
        const bool isForward = part == OperatorPart::FORWARD;
        const uint64_t bytes = isForward ? 100 : 50;
        if (receives)
        {
            Message(part, chunk, false, bytes);
        }
        const std::string name = (isForward ? "F." : "B.") + std::to_string(chunk);
        const OperatorId kernel =
            m_builder.AddCompute(m_builder.GetStream("compute"), name, MicroSeconds(10));
        m_builder.SetPart(kernel, part, chunk);
        if (sends)
        {
            Message(part, chunk, true, bytes);
        }
    }

    ExecutionGraphPtr Build()
    {
        const OperatorId kernel =
            m_builder.AddCompute(m_builder.GetStream("compute"), "optimizer", MicroSeconds(10));
        m_builder.SetPart(kernel, OperatorPart::END);
        return m_builder.Build();
    }

  private:
    void Message(OperatorPart part, uint8_t chunk, bool isSend, uint64_t bytes)
    {
        const OperatorId id = m_builder.AddPointToPoint(
            m_builder.GetStream("p2p"), "message", m_slot, {{isSend, 1 - m_place, bytes, 0}});
        m_builder.SetPart(id, part, chunk);
    }

    ExecutionGraphBuilder m_builder;
    uint32_t m_slot;
    uint32_t m_place;
};

/** Two stages with two chunks each: parts 0 and 2, 1 and 3 of the model. */
WorkloadGraphPtr TwoChunks(bool secondHasTwo = true)
{
    WorkloadBuilder builder(2);
    const CommGroupPtr group = builder.AddGroup(GroupKind::PIPELINE, "pp", {RankId(0), RankId(1)});
    ChunkTrace first(0);
    first.Pass(OperatorPart::FORWARD, 0, false, true);
    first.Pass(OperatorPart::FORWARD, 1, true, true);
    first.Pass(OperatorPart::BACKWARD, 1, true, true);
    first.Pass(OperatorPart::BACKWARD, 0, true, false);
    builder.SetProgram(RankId(0), first.Build(), {group});
    ChunkTrace second(1);
    second.Pass(OperatorPart::FORWARD, 0, true, secondHasTwo);
    if (secondHasTwo)
    {
        second.Pass(OperatorPart::FORWARD, 1, true, false);
        second.Pass(OperatorPart::BACKWARD, 1, false, true);
    }
    second.Pass(OperatorPart::BACKWARD, 0, secondHasTwo, true);
    builder.SetProgram(RankId(1), second.Build(), {group});
    return builder.Build();
}

// Interleaved 1F1B of two stages, two chunks, two micro-batches: stage 0 warms up with
// 2 (2 - 0 - 1) + (2 - 1) 2 = 4 passes, which are all; stage 1 with 2.
TEST(PipelineComposer, InterleavesChunks)
{
    const auto composed = ComposePipeline(*TwoChunks(), InterleavedSchedule(), 2);
    const ExecutionGraph& first = *composed->GetProgram(RankId(0));
    const ExecutionGraph& second = *composed->GetProgram(RankId(1));
    EXPECT_THAT(Sequence(first, "compute"),
                ElementsAre("F.0", "F.0", "F.1", "F.1", "B.1", "B.1", "B.0", "B.0", "optimizer"));
    EXPECT_THAT(Sequence(second, "compute"),
                ElementsAre("F.0", "F.0", "F.1", "B.1", "F.1", "B.1", "B.0", "B.0", "optimizer"));
    // Of each kind a stream; four activations go up from stage 0, two come back from stage 1.
    EXPECT_THAT(Sequence(first, "stages send activations"),
                ElementsAre("100>1", "100>1", "100>1", "100>1"));
    EXPECT_THAT(Sequence(second, "stages send activations"), ElementsAre("100>0", "100>0"));
    EXPECT_THAT(Sequence(first, "stages receive activations"), ElementsAre("100<1", "100<1"));
    EXPECT_THAT(Sequence(second, "stages send gradients"),
                ElementsAre("50>0", "50>0", "50>0", "50>0"));
    EXPECT_THAT(Sequence(first, "stages send gradients"), ElementsAre("50>1", "50>1"));
}

TEST(PipelineComposer, RefusesPairsAsTheScheduleKeyThatAskedForThem)
{
    EXPECT_THAT(MessageOf([] { ComposePipeline(*TwoChunks(), CombinedSchedule(), 4); }),
                testing::StartsWith("parallel.schedule: found pass F"));
}

TEST(PipelineComposer, RefusesChunksThatDoNotSuit)
{
    EXPECT_THAT(
        MessageOf([] { ComposePipeline(*TwoChunks(), OneForwardOneBackwardSchedule(), 2); }),
        HasSubstr("a schedule of one chunk a stage for 2, expected one for several"));
    EXPECT_THAT(MessageOf([] { ComposePipeline(*TwoChunks(false), InterleavedSchedule(), 2); }),
                HasSubstr("found 2 stages with 1 model chunks, expected 2 stages with 2 model "
                          "chunks, as rank 0 has"));
    WorkloadBuilder builder(2);
    const CommGroupPtr group = builder.AddGroup(GroupKind::PIPELINE, "pp", {RankId(0), RankId(1)});
    for (uint32_t place = 0; place < 2; ++place)
    {
        ChunkTrace trace(place);
        trace.Pass(OperatorPart::FORWARD, 0, place > 0, false);
        trace.Pass(OperatorPart::BACKWARD, 0, false, place > 0);
        builder.SetProgram(RankId(place), trace.Build(), {group});
    }
    // The first rank says nothing to the second: it is no stage, the second one is.
    EXPECT_THAT(
        MessageOf([&] { ComposePipeline(*builder.Build(), OneForwardOneBackwardSchedule(), 1); }),
        HasSubstr("found 2 stages with 1 model chunks, expected 1 stages with 1"));
}

/** How often each communication occurs in a rank's program, by what it asks of whom. */
std::map<std::string, uint32_t> Count(const WorkloadGraph& workload, RankId rank)
{
    std::map<std::string, uint32_t> count;
    const ExecutionGraph& program = *workload.GetProgram(rank);
    for (const Operator& op : program.GetOperators())
    {
        if (op.type != OperatorType::COLLECTIVE && op.type != OperatorType::POINT_TO_POINT)
        {
            continue;
        }
        const CommunicationDescription& asked = program.GetCommunication(op);
        const auto& ranks = workload.GetGroup(rank, asked.groupSlot)->GetRanks();
        for (const auto& element : asked.elements)
        {
            ++count[(element.isSend ? "to " : "from ") +
                    std::to_string(ranks[element.peerIndex].Get()) + " " +
                    std::to_string(element.bytes)];
        }
        if (asked.elements.empty())
        {
            ++count[std::string(ToString(asked.spec.kind)) + " " +
                    std::to_string(ranks.front().Get()) + " " + std::to_string(asked.spec.bytes)];
        }
    }
    return count;
}

// The example traced with one micro-batch, composed to four, communicates what the example traced
// with four does (and that is what the real job does).
TEST(PipelineComposer, FourTimesOneMicroBatchIsTheTraceOfFour)
{
    const auto one = ReadExecutionGraphs(EXAMPLES + "gpt-tp2-pp2-dp2-one-micro-batch");
    const auto four = ReadExecutionGraphs(EXAMPLES + "gpt-tp2-pp2-dp2");
    const auto composed = ComposePipeline(*one, OneForwardOneBackwardSchedule(), 4);
    ASSERT_EQ(composed->GetRankCount(), 8u);
    for (uint32_t rank = 0; rank < 8; ++rank)
    {
        EXPECT_EQ(Count(*composed, RankId(rank)), Count(*four, RankId(rank))) << "rank " << rank;
    }
    // Equal ranks still share their program.
    EXPECT_EQ(composed->GetProgram(RankId(0)), composed->GetProgram(RankId(3)));
}

/** Names of a rank's kernels in order, but those that add up gradients of several micro-batches. */
std::vector<std::string> Kernels(const WorkloadGraph& workload, RankId rank)
{
    std::vector<std::string> names;
    const ExecutionGraph& program = *workload.GetProgram(rank);
    for (const Operator& op : program.GetOperators())
    {
        if (op.type == OperatorType::COMPUTE && program.GetName(op) != "backward aten::add_")
        {
            names.push_back(program.GetName(op));
        }
    }
    return names;
}

// The same with two model chunks a stage, interleaved: what is communicated and in which order
// kernels run is what the trace of four micro-batches has, in the script's own schedule.
TEST(PipelineComposer, InterleavedOneMicroBatchIsTheTraceOfFour)
{
    const auto one = ReadExecutionGraphs(EXAMPLES + "gpt-pp2-vp2-dp2-one-micro-batch");
    const auto four = ReadExecutionGraphs(EXAMPLES + "gpt-pp2-vp2-dp2");
    const auto composed = ComposePipeline(*one, InterleavedSchedule(), 4);
    ASSERT_EQ(composed->GetRankCount(), 4u);
    for (uint32_t rank = 0; rank < 4; ++rank)
    {
        EXPECT_EQ(Count(*composed, RankId(rank)), Count(*four, RankId(rank))) << "rank " << rank;
        EXPECT_EQ(Kernels(*composed, RankId(rank)), Kernels(*four, RankId(rank)))
            << "rank " << rank;
        EXPECT_GT(Kernels(*composed, RankId(rank)).size(), 500u);
    }
}

} // namespace
