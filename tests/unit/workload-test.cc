// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/echo-error.h"
#include "ns3/echo-job-merger.h"
#include "ns3/echo-short-cycle.h"
#include "ns3/echo-workload-builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

using namespace ns3;
using namespace ns3::echo;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace
{

std::string MessageOf(const std::function<void()>& action)
{
    try
    {
        action();
    }
    catch (const InputError& error)
    {
        return error.what();
    }
    return "no error";
}

CollectiveSpec AllReduce(uint64_t bytes)
{
    CollectiveSpec spec;
    spec.kind = CollectiveKind::ALL_REDUCE;
    spec.bytes = bytes;
    return spec;
}

std::vector<std::string> NamesInOrder(const ExecutionGraph& graph)
{
    std::vector<std::string> names;
    for (const Operator& op : graph.GetOperators())
    {
        names.push_back(graph.GetName(op));
    }
    return names;
}

/** @p ranks equal ranks that reduce once in one group; the last starts at 5 us. */
WorkloadGraphPtr OneReduction(uint32_t ranks)
{
    ExecutionGraphBuilder program;
    program.AddCollective(program.GetStream("main"), "AR", program.AddGroupSlot(), AllReduce(8));
    const ExecutionGraphPtr sealed = program.Build();
    WorkloadBuilder builder(ranks);
    std::vector<RankId> all;
    for (uint32_t i = 0; i < ranks; ++i)
    {
        all.emplace_back(i);
    }
    const CommGroupPtr group = builder.AddGroup(GroupKind::DATA, "dp0", all);
    for (const RankId rank : all)
    {
        builder.SetProgram(rank, sealed, {group});
    }
    builder.SetStartTime(all.back(), MicroSeconds(5));
    return builder.Build();
}

TEST(Jobs, AreOneWorkload)
{
    const WorkloadGraphPtr two = OneReduction(2);
    const WorkloadGraphPtr three = OneReduction(3);
    const WorkloadGraphPtr merged = MergeJobs({{"a", two, Time()}, {"b", three, MicroSeconds(7)}});
    ASSERT_EQ(merged->GetRankCount(), 5u);
    EXPECT_EQ(merged->GetProgram(RankId(4)), three->GetProgram(RankId(0)));
    EXPECT_THAT(merged->GetDistinctPrograms(),
                ElementsAre(two->GetProgram(RankId(0)), three->GetProgram(RankId(0))));
    const CommGroup& group = *merged->GetGroup(RankId(3), 0);
    EXPECT_EQ(group.GetName(), "b/dp0");
    EXPECT_EQ(group.GetId(), GroupId(1));
    EXPECT_THAT(group.GetRanks(), ElementsAre(RankId(2), RankId(3), RankId(4)));
    EXPECT_EQ(merged->GetStartTime(RankId(1)), MicroSeconds(5));
    EXPECT_EQ(merged->GetStartTime(RankId(2)), MicroSeconds(7));
    EXPECT_EQ(merged->GetStartTime(RankId(4)), MicroSeconds(12));
    ASSERT_EQ(merged->GetJobs().size(), 2u);
    EXPECT_EQ(FindJob(merged->GetJobs(), RankId(1))->name, "a");
    EXPECT_EQ(FindJob(merged->GetJobs(), RankId(2))->name, "b");
    EXPECT_EQ(merged->GetJobs()[1].NumberOf(RankId(4)), 2u);
    EXPECT_EQ(FindJob(two->GetJobs(), RankId(1)), nullptr);
}

TEST(Jobs, KeepTheirNumbersAlone)
{
    const WorkloadGraphPtr merged =
        MergeJobs({{"a", OneReduction(2), Time()}, {"b", OneReduction(3), Time()}});
    const WorkloadGraphPtr alone = KeepJob(*merged, 1);
    ASSERT_EQ(alone->GetRankCount(), 5u);
    EXPECT_THAT(alone->GetProgram(RankId(1))->GetOperators(), IsEmpty());
    EXPECT_EQ(alone->GetProgram(RankId(2)), merged->GetProgram(RankId(2)));
    EXPECT_EQ(alone->GetGroup(RankId(2), 0)->GetId(), GroupId(1));
    EXPECT_EQ(alone->GetGroup(RankId(2), 0)->GetName(), "b/dp0");
    EXPECT_EQ(alone->GetStartTime(RankId(4)), MicroSeconds(5));
    EXPECT_EQ(alone->GetStartTime(RankId(1)), Time());
    EXPECT_EQ(alone->GetJobs().size(), 2u);
}

TEST(ExecutionGraph, KeepsStreamsAndDependencies)
{
    ExecutionGraphBuilder builder("x.yaml");
    const StreamId compute = builder.GetStream("7");
    const StreamId communication = builder.GetStream("20");
    EXPECT_EQ(builder.GetStream("7"), compute);
    const uint32_t slot = builder.AddGroupSlot();
    const OperatorId k1 = builder.AddCompute(compute, "K1", MicroSeconds(100), 1e9, 1e6);
    builder.SetLine(k1, 12);
    const OperatorId reduce = builder.AddCollective(communication, "AR", slot, AllReduce(1024));
    const OperatorId k2 = builder.AddCompute(compute, "K2", MicroSeconds(400));
    builder.AddDependency(reduce, k1);
    builder.AddDependency(reduce, k1);
    builder.AddDependency(k2, k1);
    ExecutionGraphPtr graph = builder.Build();
    ASSERT_EQ(graph->GetOperators().size(), 3u);
    EXPECT_EQ(graph->GetStreamCount(), 2u);
    EXPECT_EQ(graph->GetStreamName(communication), "20");
    EXPECT_THAT(graph->GetStream(compute), ElementsAre(k1, k2));
    EXPECT_EQ(graph->GetPosition(k2), 1u);
    const Operator& op = graph->GetOperator(reduce);
    ASSERT_EQ(op.dependencyCount, 1u); // given twice, kept once
    EXPECT_EQ(graph->GetDependencies(op)[0], k1);
    EXPECT_EQ(graph->GetOperator(k2).dependencyCount, 0u); // stream order says it already
    EXPECT_EQ(graph->GetCommunication(op).spec.bytes, 1024u);
    EXPECT_EQ(graph->GetLocation(k1).ToString(), "x.yaml:12: operator 'K1'");
    EXPECT_EQ(graph->GetOperator(k1).flops, 1e9);
}

TEST(ExecutionGraph, NumbersOperatorsAfterTheirDependencies)
{
    ExecutionGraphBuilder builder;
    const StreamId a = builder.GetStream("a");
    const StreamId b = builder.GetStream("b");
    const OperatorId first = builder.AddMarker(a, "first");
    const OperatorId second = builder.AddMarker(a, "second");
    const OperatorId late = builder.AddMarker(b, "late");
    builder.AddMarker(b, "last");
    builder.AddDependency(first, late);
    builder.AddDependency(second, late); // implied: "first" waits for it and runs before
    ExecutionGraphPtr graph = builder.Build();
    EXPECT_THAT(NamesInOrder(*graph), ElementsAre("late", "first", "second", "last"));
    EXPECT_THAT(graph->GetStream(a), ElementsAre(OperatorId(1), OperatorId(2)));
    EXPECT_THAT(graph->GetStream(b), ElementsAre(OperatorId(0), OperatorId(3)));
    EXPECT_EQ(graph->GetOperator(OperatorId(1)).dependencyCount, 1u);
    EXPECT_EQ(graph->GetDependencies(graph->GetOperator(OperatorId(1)))[0], OperatorId(0));
    EXPECT_EQ(graph->GetOperator(OperatorId(2)).dependencyCount, 0u);
    EXPECT_EQ(graph->GetPosition(OperatorId(3)), 1u);
}

TEST(ExecutionGraph, KeepsTheLatestDependencyOfAStream)
{
    ExecutionGraphBuilder builder;
    const StreamId a = builder.GetStream("a");
    const StreamId b = builder.GetStream("b");
    const OperatorId early = builder.AddMarker(a, "early");
    const OperatorId later = builder.AddMarker(a, "later");
    const OperatorId x = builder.AddMarker(b, "x");
    const OperatorId y = builder.AddMarker(b, "y");
    builder.AddDependency(x, early);
    builder.AddDependency(y, early);
    builder.AddDependency(y, later);
    ExecutionGraphPtr graph = builder.Build();
    EXPECT_EQ(graph->GetDependencies(graph->GetOperator(x))[0], early);
    ASSERT_EQ(graph->GetOperator(y).dependencyCount, 1u);
    EXPECT_EQ(graph->GetDependencies(graph->GetOperator(y))[0], later);
}

TEST(ExecutionGraph, SharesEqualDescriptions)
{
    ExecutionGraphBuilder builder;
    const StreamId stream = builder.GetStream("s");
    const uint32_t slot = builder.AddGroupSlot();
    builder.AddCollective(stream, "a", slot, AllReduce(8));
    builder.AddCollective(stream, "b", slot, AllReduce(16));
    builder.AddCollective(stream, "c", slot, AllReduce(8));
    builder.AddPointToPoint(stream, "d", slot, {{true, 1, 8, 0}});
    builder.AddPointToPoint(stream, "e", slot, {{false, 1, 8, 0}});
    EXPECT_EQ(builder.Build()->GetCommunications().size(), 4u);
}

// Case 13: a cycle of three is printed and refused before time zero.
TEST(ExecutionGraph, PrintsACycleOfThree)
{
    ExecutionGraphBuilder builder("g.yaml");
    std::vector<OperatorId> ops;
    for (uint32_t i = 0; i < 6; ++i)
    {
        ops.push_back(
            builder.AddMarker(builder.GetStream(std::to_string(i)), std::string(1, 'A' + i)));
        builder.SetLine(ops[i], 10 + i);
    }
    builder.AddDependency(ops[0], ops[1]); // A waits for B waits for C waits for D waits for A
    builder.AddDependency(ops[1], ops[2]);
    builder.AddDependency(ops[2], ops[3]);
    builder.AddDependency(ops[3], ops[0]);
    builder.AddDependency(ops[3], ops[1]); // the smaller one: B, C, D
    builder.AddDependency(ops[4], ops[0]); // behind the cycle, not in it
    builder.AddDependency(ops[0], ops[5]); // before it
    EXPECT_EQ(MessageOf([&] { builder.Build(); }),
              "g.yaml:11: found a cycle of 3 operators: 'B' (line 11) waits for 'C' (line 12), "
              "which waits for 'D' (line 13), which waits for 'B' (line 11), expected operators "
              "that can run in some order");
}

TEST(ExecutionGraph, PrintsACycleThroughStreamOrder)
{
    ExecutionGraphBuilder builder;
    const StreamId a = builder.GetStream("a");
    const OperatorId k1 = builder.AddMarker(a, "K1");
    builder.AddMarker(a, "K2");
    const OperatorId k3 = builder.AddMarker(a, "K3");
    const OperatorId other = builder.AddMarker(builder.GetStream("b"), "R");
    builder.AddDependency(k1, other);
    builder.AddDependency(other, k3);
    const std::string message = MessageOf([&] { builder.Build(); });
    EXPECT_THAT(message, HasSubstr("a cycle of 4 operators"));
    EXPECT_THAT(message,
                HasSubstr("'R' (operator 3), which waits for 'K3' (operator 2), which runs after "
                          "'K1' (operator 0) on stream a"));
}

TEST(ExecutionGraph, RefusesAnOperatorThatWaitsForItself)
{
    ExecutionGraphBuilder builder;
    const OperatorId op = builder.AddMarker(builder.GetStream("a"), "K1");
    builder.AddDependency(op, op);
    EXPECT_THAT(MessageOf([&] { builder.Build(); }),
                HasSubstr("a cycle of 1 operator: 'K1' (operator 0) waits for 'K1'"));
}

// Case 13: an edge to node 999 that is not there names node and id.
TEST(ExecutionGraph, RefusesDanglingIds)
{
    ExecutionGraphBuilder builder("g.yaml");
    const OperatorId op = builder.AddMarker(builder.GetStream("a"), "K1");
    builder.SetLine(op, 3);
    builder.AddDependency(op, OperatorId(999));
    EXPECT_EQ(MessageOf([&] { builder.Build(); }),
              "g.yaml:3: operator 'K1': found a dependency on operator 999, which is not there, "
              "expected one of 1 operators");
    ExecutionGraphBuilder second;
    second.AddMarker(second.GetStream("a"), "K1");
    second.AddDependency(OperatorId(7), OperatorId(0));
    EXPECT_THAT(MessageOf([&] { second.Build(); }), HasSubstr("operator 7"));
}

TEST(ExecutionGraph, RefusesImpossibleOperators)
{
    ExecutionGraphBuilder builder;
    const StreamId s = builder.GetStream("s");
    EXPECT_THROW(builder.AddCompute(s, "K", MicroSeconds(-1)), InputError);
    EXPECT_THROW(builder.AddCompute(s, "K", MicroSeconds(1), -1), InputError);
    EXPECT_THROW(builder.AddCompute(s, "K", MicroSeconds(1), 0, NAN), InputError);
    EXPECT_THROW(builder.AddMarker(StreamId(9), "K"), InputError);
    EXPECT_THROW(builder.AddPointToPoint(s, "P", 0, {}), InputError);
    CollectiveSpec spec = AllReduce(8);
    spec.kind = CollectiveKind::SEND_RECV;
    EXPECT_THROW(builder.AddCollective(s, "C", 0, spec), InputError);
    spec.kind = CollectiveKind::BARRIER;
    EXPECT_THROW(builder.AddCollective(s, "C", 0, spec), InputError);
    spec.kind = CollectiveKind::ALL_TO_ALL_V;
    EXPECT_THROW(builder.AddCollective(s, "C", 0, spec), InputError);
    spec.sendBytes = {4, 5}; // 9 in all, not 8
    EXPECT_THROW(builder.AddCollective(s, "C", 0, spec), InputError);
    spec.kind = CollectiveKind::ALL_REDUCE;
    EXPECT_THROW(builder.AddCollective(s, "C", 0, spec), InputError);
    // A slot that was never made.
    builder.AddCollective(s, "C", 0, AllReduce(8));
    EXPECT_THAT(MessageOf([&] { builder.Build(); }), HasSubstr("operator 'C': found group slot 0"));
}

TEST(ShortCycle, FindsTheShortestAndIgnoresTheRest)
{
    EXPECT_THAT(FindShortCycle(3, {{0, 1}, {1, 2}, {0, 2}}), IsEmpty());
    EXPECT_THAT(FindShortCycle(0, {}), IsEmpty());
    EXPECT_THAT(FindShortCycle(2, {{1, 1}}), ElementsAre(1u));
    // 0..3 in a ring of four, 4 and 5 in one of two behind it.
    EXPECT_THAT(FindShortCycle(6, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {3, 4}, {4, 5}, {5, 4}}),
                ElementsAre(4u, 5u));
    // A ring of 100,000 in the way of the search does not make it slow.
    std::vector<std::pair<uint32_t, uint32_t>> ring;
    for (uint32_t i = 0; i < 100000; ++i)
    {
        ring.emplace_back(i, (i + 1) % 100000);
    }
    EXPECT_EQ(FindShortCycle(100000, ring).size(), 100000u);
}

ExecutionGraphPtr ProgramOf(const std::function<void(ExecutionGraphBuilder&, StreamId)>& fill,
                            uint32_t slots)
{
    ExecutionGraphBuilder builder("p.yaml");
    const StreamId stream = builder.GetStream("s");
    for (uint32_t i = 0; i < slots; ++i)
    {
        builder.AddGroupSlot();
    }
    fill(builder, stream);
    return builder.Build();
}

TEST(Workload, BindsSlotsOfASharedProgram)
{
    ExecutionGraphPtr program = ProgramOf(
        [](ExecutionGraphBuilder& b, StreamId s) { b.AddCollective(s, "AR", 0, AllReduce(8)); }, 1);
    WorkloadBuilder builder(4);
    CommGroupPtr low = builder.AddGroup(GroupKind::TENSOR, "tp0", {RankId(0), RankId(1)});
    CommGroupPtr high = builder.AddGroup(GroupKind::TENSOR, "tp1", {RankId(2), RankId(3)});
    EXPECT_EQ(builder.AddGroup(GroupKind::TENSOR, "again", {RankId(0), RankId(1)}), low);
    EXPECT_NE(builder.AddGroup(GroupKind::DATA, "dp0", {RankId(0), RankId(1)}), low);
    for (uint32_t i = 0; i < 4; ++i)
    {
        builder.SetProgram(RankId(i), program, {i < 2 ? low : high});
    }
    builder.SetStartTime(RankId(3), MicroSeconds(5));
    WorkloadGraphPtr workload = builder.Build();
    EXPECT_EQ(workload->GetRankCount(), 4u);
    EXPECT_EQ(workload->GetGroup(RankId(3), 0), high);
    EXPECT_EQ(workload->GetProgram(RankId(0)), workload->GetProgram(RankId(3)));
    EXPECT_EQ(workload->GetGroups().size(), 3u);
    EXPECT_EQ(workload->GetGroups()[high->GetId().Get()], high);
    EXPECT_EQ(workload->GetStartTime(RankId(3)), MicroSeconds(5));
    EXPECT_EQ(workload->GetStartTime(RankId(0)), Time());
}

// Case 11: files for ranks 0 to 6 and 8 name missing rank 7.
TEST(Workload, NamesMissingRanks)
{
    ExecutionGraphPtr program = ProgramOf([](ExecutionGraphBuilder&, StreamId) {}, 0);
    WorkloadBuilder builder(9);
    for (uint32_t i : {0, 1, 2, 3, 4, 5, 6, 8})
    {
        builder.SetProgram(RankId(i), program, {});
    }
    EXPECT_EQ(MessageOf([&] { builder.Build(); }),
              "workload: found no program for rank 7, expected one for each of 9 ranks");
    WorkloadBuilder second(12);
    for (uint32_t i : {0, 4, 8})
    {
        second.SetProgram(RankId(i), program, {});
    }
    EXPECT_THAT(MessageOf([&] { second.Build(); }),
                HasSubstr("no programs for ranks 1 to 3, 5 to 7, 9 to 11"));
}

TEST(Workload, RefusesWhatDoesNotFitTheGroup)
{
    const std::vector<RankId> pair{RankId(0), RankId(1)};
    auto buildWith = [&](const std::function<void(ExecutionGraphBuilder&, StreamId)>& fill,
                         uint32_t slots = 1) {
        return MessageOf([&] {
            WorkloadBuilder builder(3);
            CommGroupPtr group = builder.AddGroup(GroupKind::TENSOR, "tp0", pair);
            ExecutionGraphPtr program = ProgramOf(fill, slots);
            builder.SetProgram(RankId(0), program, {group});
            builder.SetProgram(RankId(1), program, {group});
            builder.SetProgram(RankId(2), ProgramOf([](auto&, auto) {}, 0), {});
            builder.Build();
        });
    };
    EXPECT_EQ(buildWith([](auto& b, auto s) {
                  b.AddPointToPoint(s, "send", 0, {{true, 1, 8, 0}});
              }),
              "no error");
    EXPECT_EQ(buildWith([](auto& b, auto s) {
                  b.SetLine(b.AddPointToPoint(s, "send", 0, {{true, 2, 8, 0}}), 4);
              }),
              "p.yaml:4: rank 0 operator 'send': found peer or root 2 in group tp0 (slot 0) of 2 "
              "ranks, expected 0 to 1");
    EXPECT_THAT(buildWith([](auto& b, auto s) {
                    b.AddPointToPoint(s, "send", 0, {{true, 0xffffffff, 8, 0}});
                }),
                HasSubstr("found peer or root"));
    EXPECT_THAT(buildWith([](auto& b, auto s) {
                    CollectiveSpec spec = AllReduce(8);
                    spec.kind = CollectiveKind::BROADCAST;
                    spec.root = 2;
                    b.AddCollective(s, "cast", 0, spec);
                }),
                HasSubstr("operator 'cast': found peer or root 2"));
    auto uneven = [](std::vector<uint64_t> send, std::vector<uint64_t> receive) {
        return [=](auto& b, auto s) {
            CollectiveSpec spec = AllReduce(6);
            spec.kind = CollectiveKind::ALL_TO_ALL_V;
            spec.sendBytes = send;
            spec.receiveBytes = receive;
            b.AddCollective(s, "a2a", 0, spec);
        };
    };
    EXPECT_EQ(buildWith(uneven({2, 4}, {})), "no error");
    EXPECT_THAT(buildWith(uneven({1, 2, 3}, {})), HasSubstr("bytes for 3 members"));
    EXPECT_THAT(buildWith(uneven({2, 4}, {1, 2, 3})), HasSubstr("another number of members"));
    EXPECT_THAT(buildWith([](auto&, auto) {}, 2), HasSubstr("found 1 groups, expected 2"));
}

TEST(Workload, RefusesWrongBindings)
{
    ExecutionGraphPtr program = ProgramOf([](auto&, auto) {}, 1);
    WorkloadBuilder builder(2);
    EXPECT_THROW(WorkloadBuilder(0), InputError);
    EXPECT_THROW(builder.AddGroup(GroupKind::TENSOR, "tp0", {RankId(0), RankId(2)}), InputError);
    EXPECT_THROW(builder.AddGroup(GroupKind::TENSOR, "tp0", {}), InputError);
    EXPECT_THROW(builder.SetStartTime(RankId(2), MicroSeconds(1)), InputError);
    EXPECT_THROW(builder.SetStartTime(RankId(1), MicroSeconds(-1)), InputError);
    EXPECT_THROW(builder.SetProgram(RankId(2), program, {}), InputError);
    EXPECT_THROW(builder.SetProgram(RankId(0), nullptr, {}), InputError);
    CommGroupPtr group = builder.AddGroup(GroupKind::TENSOR, "tp0", {RankId(0)});
    builder.SetProgram(RankId(0), program, {group});
    EXPECT_THROW(builder.SetProgram(RankId(0), program, {group}), InputError);
    builder.SetProgram(RankId(1), program, {group});
    EXPECT_EQ(MessageOf([&] { builder.Build(); }),
              "p.yaml: rank 1: found group tp0 (slot 0) of 1 ranks that does not hold rank 1, "
              "expected a group that holds it");
    WorkloadBuilder other(1);
    other.SetProgram(RankId(0), program, {group});
    EXPECT_THAT(MessageOf([&] { other.Build(); }), HasSubstr("of another workload"));
    WorkloadBuilder none(1);
    none.SetProgram(RankId(0), program, {nullptr});
    EXPECT_THAT(MessageOf([&] { none.Build(); }), HasSubstr("no group in slot 0"));
}

} // namespace
