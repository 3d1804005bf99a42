// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/echo-error.h"
#include "ns3/echo-workload-builder.h"
#include "ns3/echo-workload-health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

using namespace ns3;
using namespace ns3::echo;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace
{

constexpr uint64_t MIB = 1 << 20;

/** Builds a workload from one function a rank; slot 0 of every rank is the group of all. */
class Job
{
  public:
    using Fill = std::function<void(ExecutionGraphBuilder&)>;

    explicit Job(uint32_t ranks) : m_builder(ranks)
    {
        std::vector<RankId> all;
        for (uint32_t i = 0; i < ranks; ++i)
        {
            all.emplace_back(i);
        }
        m_world = m_builder.AddGroup(GroupKind::WORLD, "world", all);
    }

    Job& Rank(uint32_t rank, const Fill& fill)
    {
        ExecutionGraphBuilder program("rank" + std::to_string(rank) + ".yaml");
        program.AddGroupSlot();
        fill(program);
        m_builder.SetProgram(RankId(rank), program.Build(), {m_world});
        return *this;
    }

    WorkloadHealth Check()
    {
        return WorkloadHealth(*m_builder.Build());
    }

    std::string Message()
    {
        try
        {
            Check();
        }
        catch (const InputError& error)
        {
            return error.what();
        }
        return "no error";
    }

  private:
    WorkloadBuilder m_builder;
    CommGroupPtr m_world;
};

void Collective(ExecutionGraphBuilder& b,
                CollectiveKind kind,
                uint64_t bytes,
                const std::string& name = "C",
                uint32_t line = 0,
                const std::string& stream = "nccl")
{
    CollectiveSpec spec;
    spec.kind = kind;
    spec.bytes = bytes;
    if (kind == CollectiveKind::ALL_TO_ALL_V)
    {
        spec.sendBytes = {bytes / 2, bytes - bytes / 2};
    }
    b.SetLine(b.AddCollective(b.GetStream(stream), name, 0, spec), line);
}

void Send(ExecutionGraphBuilder& b,
          uint32_t peer,
          uint64_t bytes,
          int32_t tag = 0,
          const std::string& name = "send",
          const std::string& stream = "p2p")
{
    b.AddPointToPoint(b.GetStream(stream), name, 0, {{true, peer, bytes, tag}});
}

void Receive(ExecutionGraphBuilder& b,
             uint32_t peer,
             uint64_t bytes,
             int32_t tag = 0,
             const std::string& name = "receive",
             const std::string& stream = "p2p")
{
    b.AddPointToPoint(b.GetStream(stream), name, 0, {{false, peer, bytes, tag}});
}

TEST(WorkloadHealth, CountsWhatIsThere)
{
    Job job(2);
    for (uint32_t rank : {0, 1})
    {
        job.Rank(rank, [&](auto& b) {
            b.AddCompute(b.GetStream("compute"), "K", MicroSeconds(1));
            b.AddHost(b.GetStream("cpu"), "launch", MicroSeconds(1));
            Collective(b, CollectiveKind::ALL_REDUCE, 4 * MIB);
            Collective(b, CollectiveKind::ALL_REDUCE, MIB);
            Collective(b, CollectiveKind::ALL_GATHER, MIB);
            Collective(b, CollectiveKind::BARRIER, 0);
            if (rank == 0)
            {
                Send(b, 1, 3 * MIB);
            }
            else
            {
                Receive(b, 0, 3 * MIB);
            }
        });
    }
    const WorkloadHealth health = job.Check();
    EXPECT_EQ(health.GetRankCount(), 2u);
    EXPECT_EQ(health.GetProgramCount(), 2u);
    EXPECT_EQ(health.GetOperatorCount(OperatorType::COMPUTE), 2u);
    EXPECT_EQ(health.GetOperatorCount(OperatorType::COLLECTIVE), 8u);
    EXPECT_EQ(health.GetOperatorCount(OperatorType::COPY), 0u);
    ASSERT_EQ(health.GetUses().size(), 4u);
    EXPECT_EQ(health.GetUses()[0].kind, CollectiveKind::ALL_REDUCE);
    EXPECT_EQ(health.GetUses()[0].instances, 2u);
    EXPECT_EQ(health.GetUses()[0].bytes, 5 * MIB);
    EXPECT_EQ(health.GetUses()[2].kind, CollectiveKind::SEND_RECV);
    EXPECT_EQ(health.GetUses()[2].instances, 1u);
    EXPECT_EQ(health.GetUses()[2].bytes, 3 * MIB);
    EXPECT_THAT(health.GetWarnings(), IsEmpty());
    const std::string text = health.ToString();
    EXPECT_THAT(
        text, HasSubstr("workload: 2 ranks, 2 different programs, 14 operators, 4 streams a rank"));
    EXPECT_THAT(text, HasSubstr("2 compute, 2 host, 8 collective, 2 point-to-point\n"));
    EXPECT_THAT(text, HasSubstr("all-reduce      world            2           2"));
}

// Case 9: a 1 MiB send that meets a 2 MiB receive.
TEST(WorkloadHealth, RefusesAMessageOfTwoSizes)
{
    Job job(2);
    job.Rank(0, [](auto& b) {
        Send(b, 1, 4 * MIB, 5, "first");
        Send(b, 1, MIB, 5, "second");
        b.AddMarker(b.GetStream("p2p"), "after-send");
    });
    job.Rank(1, [](auto& b) {
        Receive(b, 0, 4 * MIB, 5, "one");
        Receive(b, 0, 2 * MIB, 5, "two");
        b.AddMarker(b.GetStream("p2p"), "after-receive");
    });
    EXPECT_EQ(
        job.Message(),
        "rank0.yaml: rank 0 operator 'second': found send 2 to rank 1 (group world, tag 5) of "
        "1048576 B, behind which 'after-send' waits, expected 2097152 B as the receive 'two' "
        "of rank 1 has, behind which 'after-receive' waits");
}

// Case 9: a receive without a send, and a send without a receive.
TEST(WorkloadHealth, RefusesAMessageWithoutItsOtherEnd)
{
    Job receiver(2);
    receiver.Rank(0, [](auto& b) { Send(b, 1, MIB); });
    receiver.Rank(1, [](auto& b) {
        Receive(b, 0, MIB);
        Receive(b, 0, MIB, 0, "alone");
    });
    EXPECT_EQ(receiver.Message(),
              "rank1.yaml: rank 1 operator 'alone': found receive 2 from rank 0 (group world, tag "
              "0) of 1048576 B without a send, expected one in rank 0, which has 1 for 2");
    Job sender(2);
    sender.Rank(0, [](auto& b) { Send(b, 1, MIB, 7); });
    sender.Rank(1, [](auto& b) { Receive(b, 0, MIB, 8); }); // another tag
    EXPECT_THAT(sender.Message(), HasSubstr("send 1 to rank 1 (group world, tag 7)"));
}

TEST(WorkloadHealth, LeavesTheOrderOfSeveralStreamsToRunTime)
{
    Job job(2);
    job.Rank(0, [](auto& b) {
        Send(b, 1, MIB, 0, "a", "s0");
        Send(b, 1, 2 * MIB, 0, "b", "s1");
        Collective(b, CollectiveKind::ALL_REDUCE, MIB, "A", 0, "s2");
        Collective(b, CollectiveKind::ALL_GATHER, MIB, "G", 0, "s3");
    });
    job.Rank(1, [](auto& b) {
        Receive(b, 0, 2 * MIB);
        Receive(b, 0, MIB);
        Collective(b, CollectiveKind::ALL_GATHER, MIB);
        Collective(b, CollectiveKind::ALL_REDUCE, MIB);
    });
    EXPECT_EQ(job.Message(), "no error");
}

TEST(WorkloadHealth, RefusesCollectivesThatMembersDisagreeOn)
{
    Job sizes(3);
    for (uint32_t rank : {0, 1, 2})
    {
        sizes.Rank(rank, [&](auto& b) {
            Collective(b, CollectiveKind::ALL_REDUCE, MIB, "first", 3);
            Collective(b, CollectiveKind::ALL_REDUCE, rank == 2 ? 8 : 4, "second", 4);
        });
    }
    EXPECT_EQ(sizes.Message(),
              "rank2.yaml:4: rank 2 operator 'second': found all-reduce of 8 B fp32 as call 2 on "
              "group world, expected all-reduce of 4 B fp32 as rank 0 calls in 'second' (line 4)");
    Job numbers(2);
    numbers.Rank(0, [](auto& b) { Collective(b, CollectiveKind::ALL_REDUCE, MIB); });
    numbers.Rank(1, [](auto& b) {
        Collective(b, CollectiveKind::ALL_REDUCE, MIB);
        Collective(b, CollectiveKind::ALL_REDUCE, MIB, "extra");
        b.AddMarker(b.GetStream("nccl"), "next");
    });
    EXPECT_EQ(numbers.Message(),
              "rank1.yaml: rank 1 operator 'extra': found all-reduce of 1048576 B fp32 as call 2 "
              "of 2 on group world, where rank 0 makes only 1, behind which 'next' waits, expected "
              "the same collectives on all 2 members");
    Job kinds(2);
    kinds.Rank(0, [](auto& b) { Collective(b, CollectiveKind::ALL_REDUCE, MIB); });
    kinds.Rank(1, [](auto& b) { Collective(b, CollectiveKind::ALL_GATHER, MIB); });
    EXPECT_THAT(kinds.Message(), HasSubstr("all-gather of 1048576 B fp32 as call 1"));
    Job uneven(2); // members of an all-to-all-v may send different totals
    uneven.Rank(0, [](auto& b) { Collective(b, CollectiveKind::ALL_TO_ALL_V, MIB); });
    uneven.Rank(1, [](auto& b) { Collective(b, CollectiveKind::ALL_TO_ALL_V, 2 * MIB); });
    EXPECT_EQ(uneven.Message(), "no error");
}

// Case 26: communication that would move no byte.
TEST(WorkloadHealth, RefusesCommunicationThatMovesNothing)
{
    Job zero(2);
    for (uint32_t rank : {0, 1})
    {
        zero.Rank(rank, [](auto& b) { Collective(b, CollectiveKind::ALL_REDUCE, 0, "empty"); });
    }
    EXPECT_THAT(zero.Message(), HasSubstr("2 communications that move no byte"));
    Job alone(1);
    alone.Rank(0, [](auto& b) { Collective(b, CollectiveKind::ALL_REDUCE, MIB); });
    EXPECT_THAT(alone.Message(), HasSubstr("1 within one rank"));
    Job nothing(2);
    nothing.Rank(0, [](auto&) {}).Rank(1, [](auto&) {});
    EXPECT_THAT(nothing.Message(), HasSubstr("no operator on any rank"));
    Job compute(1); // no communication at all is well
    compute.Rank(0, [](auto& b) { b.AddMarker(b.GetStream("s"), "M"); });
    EXPECT_EQ(compute.Message(), "no error");
}

TEST(WorkloadHealth, WarnsOfSomeThatMoveNothing)
{
    Job job(3);
    for (uint32_t rank : {0, 1, 2})
    {
        job.Rank(rank, [](auto& b) {
            Collective(b, CollectiveKind::ALL_REDUCE, MIB);
            Collective(b, CollectiveKind::ALL_REDUCE, 0, "empty", 9);
        });
    }
    const WorkloadHealth health = job.Check();
    EXPECT_THAT(health.GetWarnings(),
                ElementsAre("3 communications have zero bytes, the first at rank 0 rank0.yaml:9: "
                            "operator 'empty'"));
    EXPECT_THAT(health.ToString(), HasSubstr("warning: 3 communications"));
    Job idle(2);
    idle.Rank(0, [](auto& b) { b.AddMarker(b.GetStream("s"), "M"); }).Rank(1, [](auto&) {});
    EXPECT_THAT(idle.Check().GetWarnings(),
                ElementsAre("1 ranks have nothing to do, the first is rank 1"));
}

} // namespace
