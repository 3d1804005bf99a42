// SPDX-License-Identifier: GPL-2.0-only
// Graphs and profiles of the paper's workload tracer.

#include "error-message.h"
#include "kineto-text.h"

#include "ns3/echo-tracer-graph.h"
#include "ns3/echo-tracer-importer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;
using testing::HasSubstr;

namespace
{

std::string Node(const std::string& name,
                 const std::string& op,
                 const std::string& after,
                 const std::string& inputs,
                 const std::string& outputs,
                 const std::string& more = "")
{
    auto types = [](const std::string& shapes) {
        std::string text;
        int depth = 0;
        for (char c : shapes)
        {
            text += c == '[' && depth == 0
                        ? (text.empty() ? "" : ", ") + std::string("\"torch.float16\"")
                        : "";
            depth += c == '[' ? 1 : c == ']' ? -1 : 0;
        }
        return "[" + text + "]";
    };
    return R"({"name": ")" + name + R"(", "op": ")" + op + R"(", "input_nodes": [)" + after +
           R"(], "output_nodes": [], "input_types": )" + types(inputs) + R"(, "input_shapes": [)" +
           inputs + R"(], "output_types": )" + types(outputs) + R"(, "output_shapes": [)" +
           outputs + "]" + more + "}";
}

/** x -> view -> linear, its gradient, two buckets. */
std::string Graph()
{
    return "[" + Node("x", "input_ids", "", "", "[4, 8]") + ",\n" +
           Node("v", "view", "\"x\"", "[4, 8]", "[4, 8]") + ",\n" +
           Node("l",
                "torch.nn.modules.linear.Linear",
                "\"v\"",
                "[4, 8]",
                "[4, 16]",
                R"(, "weight_type": "torch.float16", "weight_shape": [16, 8])") +
           ",\n" + Node("b", "MmBackward0", "\"l\"", "[4, 16]", "[4, 8], [8, 16]") + ",\n" +
           Node("g0", "AccumulateGrad", "\"b\"", "[16, 8]", "") + ",\n" +
           Node("g1", "AccumulateGrad", "\"b\"", "[16]", "") + ",\n" +
           Node("p0", "ddp_pre", "\"g0\"", "", "", R"(, "attrs": {"bucket_size": 128})") + ",\n" +
           Node("r0", "ddp_Allreduce", "\"p0\"", "", "", R"(, "attrs": {"bucket_size": 128})") +
           ",\n" +
           Node("p1", "ddp_pre", "\"g1\", \"r0\"", "", "", R"(, "attrs": {"bucket_size": 16})") +
           ",\n" +
           Node("r1", "ddp_Allreduce", "\"p1\"", "", "", R"(, "attrs": {"bucket_size": 16})") + "]";
}

TEST(Tracer, OperatorsHaveTimesOrOperationsAndBucketsAreAllReduces)
{
    TemporaryFolder folder;
    const std::string graph = folder.Write("a graph.json", Graph());
    const std::string profile = folder.Write("times.json", R"({"l": 0.5, "x": 0.25, "other": 3})");
    const ImportedJob job = ImportTracer({graph, profile}, 4);
    ASSERT_EQ(job.graph->GetRankCount(), 4u);
    EXPECT_EQ(job.graph->GetProgram(RankId(0)), job.graph->GetProgram(RankId(3)));
    const auto& program = *job.graph->GetProgram(RankId(0));
    std::vector<std::string> names;
    uint64_t bytes = 0;
    for (const auto& op : program.GetOperators())
    {
        names.push_back(program.GetName(op));
        if (op.type == OperatorType::COLLECTIVE)
        {
            bytes += program.GetCommunication(op).spec.bytes;
        }
        if (names.back() == "l")
        {
            EXPECT_EQ(op.duration, MicroSeconds(500));
            EXPECT_EQ(op.flops, 2.0 * 4 * 16 * 8);
            EXPECT_EQ(op.memoryBytes, 2.0 * (32 + 64 + 128)); // fp16: in, out, weight
        }
        if (names.back() == "b")
        {
            EXPECT_EQ(op.flops, 2 * 2.0 * 4 * 16 * 8); // both factors
        }
    }
    EXPECT_THAT(names, testing::UnorderedElementsAre("x", "l", "b", "g0", "g1", "r0", "r1"));
    EXPECT_EQ(bytes, 2u * (128 + 16)); // bucket sizes are elements, of the gradients' type
    EXPECT_THAT(job.report, HasSubstr("2 of 10 operators have a time"));
    EXPECT_THAT(job.report, HasSubstr("replicated over data parallel ranks: all 4 ranks"));
}

TEST(Tracer, OperationsByShapes)
{
    auto count = [](const std::string& op,
                    const std::vector<std::vector<uint64_t>>& inputs,
                    const std::vector<std::vector<uint64_t>>& outputs,
                    const std::vector<uint64_t>& weight = {}) {
        TracerNode node;
        node.op = op;
        for (const auto& shape : inputs)
        {
            node.inputs.push_back({shape, "torch.float32"});
        }
        for (const auto& shape : outputs)
        {
            node.outputs.push_back({shape, "torch.float32"});
        }
        node.weight.shape = weight;
        return CountTracerOperations(node);
    };
    EXPECT_EQ(count("torch.addmm", {{30}, {10, 20}, {20, 30}}, {{10, 30}}), 2.0 * 10 * 20 * 30);
    EXPECT_EQ(count("torch.matmul", {{2, 3, 10, 20}, {2, 3, 20, 5}}, {{2, 3, 10, 5}}),
              2.0 * 6 * 10 * 20 * 5);
    EXPECT_EQ(count("AddmmBackward0", {{10, 30}}, {{30}, {10, 20}, {20, 30}}),
              2 * 2.0 * 10 * 20 * 30);
    EXPECT_EQ(count("torch.nn.modules.conv.Conv2d", {{1, 3, 8, 8}}, {{1, 16, 8, 8}}, {16, 3, 5, 5}),
              2.0 * 16 * 64 * 75);
    EXPECT_EQ(count("ConvolutionBackward0", {{1, 16, 8, 8}}, {{1, 3, 8, 8}, {16, 3, 5, 5}, {16}}),
              2 * 2.0 * 16 * 64 * 75);
    EXPECT_EQ(count("torch.tanh", {{10}}, {{10}}), 0);
}

TEST(Tracer, WhatIsNoGraphIsRefusedInOneSentence)
{
    TemporaryFolder folder;
    for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
             {"", "an empty file"},
             {"[]", "no operators"},
             {"[1]", "an object"},
             {Graph().substr(0, 300), "cut off"},
             {"{\"a\": \"x\"}", "operator 'a': found 'x', expected milliseconds"},
             {"{\"a\": -1}", "milliseconds"},
             {"{\"a\": 1e300}", "milliseconds"},
             {"{\"a\": 1}", "times only"},
             {"[{\"name\": \"a\"}]", "no name or op"},
             {"[" + Node("a", "add", "\"z\"", "", "") + "]", "an input 'z' that is not there"},
             {"[" + Node("a", "add", "\"a\"", "", "") + "]", "that is not there"},
             {"[" + Node("a", "add", "", "[-5]", "") + "]", "'-5'"},
             {"[" + Node("a", "add", "", "", "") + "," + Node("a", "add", "", "", "") + "]",
              "a second one"},
             {Graph(), "2 gradient buckets and no number of ranks"}})
    {
        const std::string path = folder.Write("bad.json", text);
        const std::string message = MessageOf([&] { ImportTracer({path}, 0); });
        EXPECT_THAT(message, HasSubstr("bad.json")) << part;
        EXPECT_THAT(message, HasSubstr(part));
        EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
}

} // namespace
