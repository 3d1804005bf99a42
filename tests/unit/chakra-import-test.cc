// SPDX-License-Identifier: GPL-2.0-only
// Chakra execution traces: what becomes of nodes, files that contradict, files that are none.

#include "chakra-text.h"
#include "error-message.h"
#include "kineto-text.h"

#include "ns3/echo-chakra-importer.h"
#include "ns3/echo-workload-health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

using namespace ns3;
using namespace ns3::echo;
using testing::HasSubstr;

namespace
{

std::string Refusal(const std::string& path, const ChakraOptions& options = {})
{
    return MessageOf([&] { ImportChakra({path}, options); });
}

const CollectiveSpec& SpecOf(const WorkloadGraph& graph, uint32_t rank, const std::string& name)
{
    const auto& program = *graph.GetProgram(RankId(rank));
    for (const auto& op : program.GetOperators())
    {
        if (program.GetName(op) == name)
        {
            return program.GetCommunication(op).spec;
        }
    }
    throw std::runtime_error("no operator " + name);
}

TEST(Chakra, NodesBecomeOperatorsOfOneProgramForEqualRanks)
{
    TemporaryFolder folder;
    for (int rank : {0, 1, 2, 3})
    {
        ChakraText text;
        text.Node(3, "gemm", ChakraText::COMPUTE, {9})
            .With("num_ops", 2000000000)
            .With("tensor_size", 4096, 13);
        text.Collective(4, "gather", 2, 1000, {3}, rank < 2 ? "1" : "2");
        text.Node(9, "norm", ChakraText::COMPUTE, {}, 7);
        text.Collective(5, "scatter", 7, 4000, {4});
        text.Node(6, "load", ChakraText::MEMORY_LOAD, {9}).With("tensor_size", 1 << 20);
        text.Node(7, "host", ChakraText::COMPUTE, {}, 3).With("is_cpu_op", 1, 27);
        folder.Write("w x\xc3\xa9." + std::to_string(rank) + ".et", text.Text());
    }
    folder.Write("w.json", R"({"1": [0, 1], "2": [2, 3], "3": [0], "4": [3]})");
    const ImportedJob job = ImportChakra({folder.Path()});
    ASSERT_EQ(job.graph->GetRankCount(), 4u);
    const auto& program = *job.graph->GetProgram(RankId(0));
    for (uint32_t rank : {1u, 2u, 3u})
    {
        EXPECT_EQ(job.graph->GetProgram(RankId(rank)).get(), &program);
    }
    // The file counts what one rank gives to an all-gather, and all that is scattered.
    EXPECT_EQ(SpecOf(*job.graph, 0, "gather").bytes, 2000u);
    EXPECT_EQ(SpecOf(*job.graph, 0, "scatter").bytes, 4000u);
    EXPECT_EQ(job.graph->GetGroup(RankId(3), 0)->GetRanks(), (std::vector{RankId(2), RankId(3)}));
    EXPECT_EQ(job.graph->GetGroup(RankId(3), 1)->GetKind(), GroupKind::WORLD);
    for (const auto& op : program.GetOperators())
    {
        if (program.GetName(op) == "gemm")
        {
            EXPECT_EQ(op.flops, 2e9);
            EXPECT_EQ(op.memoryBytes, 4096);
            EXPECT_EQ(op.duration, Time());
        }
        else if (program.GetName(op) == "norm")
        {
            EXPECT_EQ(op.duration, MicroSeconds(7));
            EXPECT_EQ(program.GetStreamName(op.stream), "gpu");
        }
        else if (program.GetName(op) == "host")
        {
            EXPECT_EQ(op.type, OperatorType::HOST);
        }
        else if (program.GetName(op) == "load")
        {
            EXPECT_EQ(op.type, OperatorType::COPY);
            EXPECT_EQ(op.memoryBytes, 1 << 20);
        }
    }
    EXPECT_THAT(job.report, HasSubstr("Chakra: 4 ranks, 4 files"));
    EXPECT_THAT(job.report, HasSubstr("kernels without a time: 2"));
}

TEST(Chakra, ASystemFileGivesTimesToNodesWithoutOne)
{
    TemporaryFolder folder;
    ChakraText text;
    text.Node(1, "long", ChakraText::COMPUTE).With("num_ops", 3000000).With("tensor_size", 1000);
    text.Node(2, "wide", ChakraText::COMPUTE).With("num_ops", 1).With("tensor_size", 8000);
    folder.Write("t.0.et", text.Text());
    ChakraOptions options;
    options.system =
        folder.Write("system.cfg", R"({"peak-perf": 2, "local-mem-bw": 4, "boost-mode": 0})");
    const ImportedJob job = ImportChakra({folder.Path("t.0.et")}, options);
    // 3e6 / 2e12 s and 8000 / 4e9 s.
    const auto& operators = job.graph->GetProgram(RankId(0))->GetOperators();
    EXPECT_EQ(operators[0].duration, NanoSeconds(1500));
    EXPECT_EQ(operators[1].duration, NanoSeconds(2000));
    options.system = folder.Write("other.cfg", "{\"peak-perf\": 2}");
    EXPECT_THAT(Refusal(folder.Path("t.0.et"), options), HasSubstr("local-mem-bw"));
}

TEST(Chakra, ReadyNodesAreOrderedByWhatTheyWaitForNotByTheirIds)
{
    // Rank 0 computes two micro-batches and gets the first one's gradient back in between; ids
    // would have it wait for that before the second.
    TemporaryFolder folder;
    ChakraText first;
    first.Node(1, "forward 0", ChakraText::COMPUTE, {}, 100);
    first.Node(2, "send 0", ChakraText::SEND, {1}).With("comm_size", 1000).With("comm_dst", 1, 7);
    first.Node(3, "receive 0", ChakraText::RECEIVE).With("comm_size", 1000).With("comm_src", 1, 7);
    first.Node(4, "backward 0", ChakraText::COMPUTE, {3}, 200);
    first.Node(5, "forward 1", ChakraText::COMPUTE, {}, 100);
    ChakraText second;
    second.Node(1, "receive 0", ChakraText::RECEIVE).With("comm_size", 1000).With("comm_src", 0);
    second.Node(2, "both 0", ChakraText::COMPUTE, {1}, 300);
    second.Node(3, "send 0", ChakraText::SEND, {2}).With("comm_size", 1000).With("comm_dst", 0);
    folder.Write("p.0.et", first.Text());
    folder.Write("p.1.et", second.Text());
    const ImportedJob job = ImportChakra({folder.Path()});
    const auto& program = *job.graph->GetProgram(RankId(0));
    std::vector<std::string> kernels;
    for (const auto& op : program.GetOperators())
    {
        if (op.type == OperatorType::COMPUTE)
        {
            kernels.push_back(program.GetName(op));
        }
    }
    EXPECT_THAT(kernels, testing::ElementsAre("forward 0", "forward 1", "backward 0"));
}

TEST(Chakra, JsonInBothLayoutsIsTheSameWorkload)
{
    TemporaryFolder folder;
    const std::string messages = R"({
  "version": "0.0.4"
}{
  "id": "7",
  "name": "gemm",
  "type": "COMP_NODE",
  "durationMicros": "12",
  "attr": [{"name": "is_cpu_op", "boolVal": false}]
}{
  "id": "8",
  "name": "reduce",
  "type": "COMM_COLL_NODE",
  "dataDeps": ["7"],
  "attr": [{"name": "comm_type", "int64Val": "0"}, {"name": "comm_size", "int64Val": "4096"}]
})";
    const std::string graph = R"({"workload_graph": [
  {"Id": 7, "Name": "gemm", "NodeType": 4, "is_cpu_op": false, "runtime": 12, "data_deps": []},
  {"Id": 8, "Name": "reduce", "NodeType": 7, "is_cpu_op": false, "data_deps": [7],
   "comm_type": 0, "comm_size": 4096}]})";
    folder.Write("a.0.json", messages);
    folder.Write("a.1.json", graph);
    const ImportedJob job = ImportChakra({folder.Path()});
    EXPECT_EQ(job.graph->GetProgram(RankId(0)), job.graph->GetProgram(RankId(1)));
    EXPECT_EQ(SpecOf(*job.graph, 1, "reduce").bytes, 4096u);
    EXPECT_EQ(job.graph->GetProgram(RankId(0))->GetOperators()[0].duration, MicroSeconds(12));
}

TEST(Chakra, KernelsOfWhichNothingIsKnownAreSaid)
{
    const auto import = [](const std::string& more) {
        TemporaryFolder folder;
        const std::string largest = "18446744073709551615"; // ids are of 64 bits
        for (const char* name : {"t.0.json", "t.1.json"})
        {
            folder.Write(name,
                         "{\"version\": \"0.0.4\"}\n{\"id\": \"" + largest +
                             "\", \"type\": \"COMP_NODE\", \"name\": \"k\", \"attr\": []" + more +
                             "}\n{\"id\": \"2\", \"type\": \"COMM_COLL_NODE\", \"name\": \"r\", "
                             "\"dataDeps\": [\"" +
                             largest +
                             "\"], \"attr\": [{\"name\": \"comm_type\", \"int64Val\": \"0\"}, "
                             "{\"name\": \"comm_size\", \"int64Val\": \"64\"}]}\n");
        }
        return ImportChakra({folder.Path()});
    };
    const ImportedJob empty = import("");
    const std::string sentence =
        "2 of 2 kernels (COMP_NODE, such as 'k') have neither a duration nor num_ops nor "
        "tensor_size: they take no time";
    EXPECT_THAT(empty.report, HasSubstr("warning: " + sentence));
    EXPECT_EQ(empty.warnings, std::vector<std::string>{sentence});
    EXPECT_TRUE(import(", \"durationMicros\": \"5\"").warnings.empty());
    EXPECT_THAT(MessageOf([&] { import(", \"ctrlDeps\": [\"18446744073709551616\"]"); }),
                HasSubstr("a list of whole numbers below 2^64"));
}

TEST(Chakra, MetadataNodesMayNameProcessGroups)
{
    TemporaryFolder folder;
    for (int rank : {0, 1})
    {
        ChakraText text;
        text.Node(1, "## process_group:init ##", ChakraText::METADATA)
            .Inputs("['[{\"pg_name\": \"0\", \"ranks\": []}, {\"pg_name\": \"12\", \"backend\": "
                    "\"nccl\", \"ranks\": [1, 0], \"group_size\": 2}]']");
        text.Collective(2, "reduce", 0, 100, {1}, "12");
        folder.Write("m" + std::to_string(rank) + ".et", text.Text());
    }
    const ImportedJob job = ImportChakra({folder.Path()});
    EXPECT_EQ(job.graph->GetGroup(RankId(0), 0)->GetRanks(), (std::vector{RankId(1), RankId(0)}));
    EXPECT_THAT(job.report, HasSubstr("2 metadata and invalid nodes"));
}

TEST(Chakra, OneRankStandsForAllOfASymmetricJob)
{
    TemporaryFolder folder;
    ChakraText text;
    text.Node(1, "gemm", ChakraText::COMPUTE, {}, 5);
    text.Collective(2, "tensor", 0, 100, {1}, "1");
    text.Collective(3, "data", 0, 200, {2}, "2");
    const std::string path = folder.Write("w.1.et", text.Text());
    folder.Write("w.json", R"({"1": [0, 1], "2": [1, 3], "3": [2, 3], "4": [0, 2]})");
    EXPECT_THAT(Refusal(folder.Path()), HasSubstr("a file for rank 1 of 4: missing 0 and 2 to 3"));
    ChakraOptions options;
    options.replicate = "dp";
    const ImportedJob same = ImportChakra({folder.Path()}, options);
    ASSERT_EQ(same.graph->GetRankCount(), 4u);
    EXPECT_EQ(same.graph->GetGroup(RankId(2), 0)->GetRanks(), (std::vector{RankId(2), RankId(3)}));
    EXPECT_EQ(same.graph->GetGroup(RankId(2), 1)->GetRanks(), (std::vector{RankId(0), RankId(2)}));
    EXPECT_THAT(same.report, HasSubstr("replicate: dp: the trace of rank 1 stands for all 4"));
    options.ranks = 8;
    EXPECT_THAT(Refusal(folder.Path(), options), HasSubstr("8 for a job of 4"));
    folder.Write("w.2.et", text.Text());
    EXPECT_THAT(Refusal(folder.Path(), options), HasSubstr("traces of 2 ranks"));
}

TEST(Chakra, BadGraphsAreRefusedByFileAndNode)
{
    TemporaryFolder folder;
    ChakraText cycle; // case 13
    cycle.Node(10, "A", ChakraText::COMPUTE, {6000000000}, 1);
    cycle.Node(20, "B", ChakraText::COMPUTE, {10}, 1);
    cycle.Node(6000000000, "C", ChakraText::COMPUTE, {20}, 1);
    const std::string message = Refusal(folder.Write("cycle.0.et", cycle.Text()));
    EXPECT_THAT(message,
                HasSubstr("cycle.0.et: found a cycle of 3 nodes: node 10 'A' waits for "
                          "node 6000000000 'C', which waits for node 20 'B', which waits for "
                          "node 10 'A', expected nodes that can run in some order"));
    ChakraText dangling;
    dangling.Node(5, "A", ChakraText::COMPUTE, {999}, 1);
    EXPECT_THAT(Refusal(folder.Write("dangling.0.et", dangling.Text())),
                HasSubstr("dangling.0.et: node 5 'A': found a dependency on node 999"));
    ChakraText placeholder;
    placeholder.Node(5, "A", ChakraText::COMPUTE, {0}, 1);
    placeholder.Node(6, "B", ChakraText::COMPUTE, {0}, 1);
    const auto job = ImportChakra({folder.Write("root.0.et", placeholder.Text())});
    EXPECT_THAT(job.report, HasSubstr("warning: 2 dependencies on node 0"));
    ChakraText twice;
    twice.Node(5, "A", ChakraText::COMPUTE).Node(5, "B", ChakraText::COMPUTE);
    EXPECT_THAT(Refusal(folder.Write("twice.0.et", twice.Text())), HasSubstr("a second node"));
}

TEST(Chakra, TracesOfItsConverterFromPyTorch)
{
    // As Chakra's converter writes them: the CPU operator that issues a collective has its type,
    // enclosing operators are named but left out, and nothing says how many ranks there are.
    ChakraText text;
    // A name of an enclosing operator orders nothing: 10 and 11 would wait for each other.
    text.Node(10, "aten::mm", ChakraText::COMPUTE, {}, 20).Inside(11).With("is_cpu_op", 1, 27);
    text.With("rf_id", 2).With("fw_parent", 0);
    text.Node(11, "gemm", ChakraText::COMPUTE, {10}, 50).Inside(10).With("is_cpu_op", 0, 27);
    text.Node(12, "c10d::allreduce_", ChakraText::COLLECTIVE, {10}, 30).Inside(9);
    text.With("is_cpu_op", 1, 27).With("rf_id", 3);
    text.Collective(13, "ncclKernel_AllReduce", 0, 4096, {11, 12}).With("is_cpu_op", 0, 27);
    TemporaryFolder folder;
    const std::string file = folder.Write("chakra.0.et", text.Text());
    ChakraOptions options;
    options.replicate = "dp";
    EXPECT_THAT(Refusal(file, options),
                HasSubstr("chakra.0.et: ranks: found none, but collectives of all ranks, "));
    options.ranks = 8;
    const ImportedJob job = ImportChakra({file}, options);
    EXPECT_EQ(job.graph->GetRankCount(), 8u);
    EXPECT_THAT(job.report, HasSubstr("1 CPU operators that issue communications are CPU time"));
    EXPECT_THAT(job.report, HasSubstr("control dependencies are not used: in traces converted"));
    const ExecutionGraph& program = *job.graph->GetProgram(RankId(5));
    std::map<std::string, Operator> ops;
    for (const Operator& op : program.GetOperators())
    {
        ops[program.GetName(op)] = op;
    }
    EXPECT_EQ(ops.at("c10d::allreduce_").type, OperatorType::HOST);
    EXPECT_EQ(ops.at("c10d::allreduce_").duration, MicroSeconds(30));
    EXPECT_EQ(ops.at("ncclKernel_AllReduce").type, OperatorType::COLLECTIVE);
    EXPECT_EQ(ops.at("ncclKernel_AllReduce").dependencyCount, 2u);
    EXPECT_EQ(job.graph->GetGroup(RankId(5), 0)->GetSize(), 8u);
    options.replicate.clear();
    EXPECT_THAT(Refusal(file, options), HasSubstr("8 for traces of 1 ranks"));
    // A collective on the GPU without its kind, a parent that data needs: still refused.
    text.Node(14, "ncclKernel_Broadcast", ChakraText::COLLECTIVE, {}, 5).With("is_cpu_op", 0, 27);
    EXPECT_THAT(Refusal(folder.Write("kind.0.et", text.Text())), HasSubstr("without comm_type"));
    ChakraText dangling;
    dangling.Node(5, "A", ChakraText::COMPUTE, {999}, 1).With("rf_id", 1);
    EXPECT_THAT(Refusal(folder.Write("dangling.0.et", dangling.Text())), HasSubstr("node 999"));
    ChakraText other; // of another writer: no parent may be missing
    other.Node(5, "A", ChakraText::COMPUTE, {}, 1).Inside(999);
    EXPECT_THAT(Refusal(folder.Write("other.0.et", other.Text())), HasSubstr("node 999"));
}

TEST(Chakra, MissingRanksAndMismatchesAreNamed)
{
    TemporaryFolder folder;
    for (int rank : {0, 1, 2, 3, 4, 5, 6, 8}) // case 11
    {
        ChakraText text;
        text.Collective(1, "reduce", 0, 100);
        folder.Write("w." + std::to_string(rank) + ".et", text.Text());
    }
    EXPECT_EQ(Refusal(folder.Path()),
              "Chakra traces: found files for ranks 0 to 6 and 8 of 9: missing 7, expected one a "
              "rank");
    TemporaryFolder other;
    other.Write("a.0.et", ChakraText().Collective(1, "reduce", 0, 100).Text());
    other.Write("a.1.et", ChakraText().Collective(1, "reduce", 0, 200).Text());
    EXPECT_THAT(Refusal(other.Path()), HasSubstr("200 B"));
    TemporaryFolder lone;
    ChakraText send;
    send.Node(1, "send", ChakraText::SEND).With("comm_size", 10).With("comm_dst", 1);
    lone.Write("a.0.et", send.Text());
    lone.Write("a.1.et", ChakraText().Node(1, "k", ChakraText::COMPUTE, {}, 5).Text());
    EXPECT_THAT(Refusal(lone.Path()), HasSubstr("send"));
    ChakraText far;
    far.Node(1, "send", ChakraText::SEND).With("comm_size", 10).With("comm_dst", 7);
    EXPECT_THAT(Refusal(lone.Write("b.0.et", far.Text())), HasSubstr("a message with rank 7"));
    ChakraText group;
    group.Collective(1, "reduce", 0, 100, {}, "5");
    EXPECT_THAT(Refusal(lone.Write("c.0.et", group.Text())),
                HasSubstr("process group '5': found no members"));
    EXPECT_THAT(Refusal(lone.Write("nameless.et", group.Text())), HasSubstr("has no rank"));
}

TEST(Chakra, WhatIsNoTraceIsRefusedInOneSentence)
{
    TemporaryFolder folder;
    const std::string good = ChakraText().Collective(1, "reduce", 0, 100).Text();
    for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
             {"", "an empty file"},
             {good.substr(0, good.size() - 3), "cut off"},
             {std::string(100, '\xff'), "no message's length"},
             {"\x05hello", "no message"},
             {std::string("\x00", 1), "no nodes"},
             {ChakraText().Collective(1, "x", 3, 1).Text(), "comm_type 3 (gather)"},
             {ChakraText().Collective(1, "x", 0, uint64_t(1) << 63).Text(), "comm_size"},
             {ChakraText().Node(1, "x", ChakraText::COLLECTIVE).Text(), "without comm_type"},
             {ChakraText().Node(1, "x", ChakraText::SEND).With("comm_size", 1).Text(),
              "without comm_dst"},
             {ChakraText().Node(1, "x", ChakraText::COMPUTE, {}, uint64_t(1) << 60).Text(),
              "a duration"},
             {ChakraText().Node(1, "x", ChakraText::COMPUTE).With("num_ops", -1).Text(), "num_ops"},
             {ChakraText().Node(1, "x", ChakraText::METADATA).Text(), "neither kernels"}})
    {
        const std::string message = Refusal(folder.Write("bad.0.et", text));
        EXPECT_THAT(message, HasSubstr("bad.0.et")) << part;
        EXPECT_THAT(message, HasSubstr(part)) << message;
        EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
    for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
             {"", "an empty file"},
             {"{\"workload_graph\": [{\"Id\": 1, \"NodeType\": 4}", "cut off"},
             {"{\"workload_graph\": [{\"Id\": 1, \"NodeType\": 40}]}", "node type 40"},
             {"{\"workload_graph\": [{\"Id\": -1, \"NodeType\": 4}]}", "-1"},
             {"{\"workload_graph\": [{\"Id\": 1, \"NodeType\": 4, \"data_deps\": [\"x\"]}]}",
              "data_deps of node 1"},
             {"{\"workload_graph\": 5}", "no nodes"},
             {"{\"traceEvents\": []}", "--from=kineto"},
             {"{\"1\": [0, 0]}", "rank 0 twice"},
             {"{\"1\": \"x\"}", "a list of whole numbers"},
             {"\xff\xfe{", "no JSON"}})
    {
        const std::string message = Refusal(folder.Write("bad.0.json", text));
        EXPECT_THAT(message, HasSubstr("bad.0.json")) << part;
        EXPECT_THAT(message, HasSubstr(part)) << message;
        EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
}

} // namespace
