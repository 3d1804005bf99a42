// SPDX-License-Identifier: GPL-2.0-only
// Text workloads of SimAI (AICB) and ASTRA-sim.

#include "error-message.h"
#include "kineto-text.h"
#include "list-scheduler.h"

#include "ns3/echo-input-file.h"
#include "ns3/echo-layer-importer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;
using testing::ElementsAre;
using testing::HasSubstr;

namespace
{

const std::string TRANSFORMER = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: ";

ImportedJob Import(const std::string& text, LayerOptions options = {})
{
    TemporaryFolder folder;
    return ImportLayers({folder.Write("a workload.txt", text)}, options);
}

std::string Refusal(const std::string& text, const LayerOptions& options = {})
{
    return MessageOf([&] { Import(text, options); });
}

/** @return names of a rank's operators on a stream, in order */
std::vector<std::string> NamesOn(const WorkloadGraph& graph,
                                 uint32_t rank,
                                 const std::string& stream)
{
    const auto& program = *graph.GetProgram(RankId(rank));
    std::vector<std::string> names;
    for (uint32_t i = 0; i < program.GetStreamCount(); ++i)
    {
        if (program.GetStreamName(StreamId(i)) == stream)
        {
            for (OperatorId id : program.GetStream(StreamId(i)))
            {
                names.push_back(program.GetName(program.GetOperator(id)));
            }
        }
    }
    return names;
}

const Operator& Find(const WorkloadGraph& graph, const std::string& name)
{
    const auto& program = *graph.GetProgram(RankId(0));
    for (const auto& op : program.GetOperators())
    {
        if (program.GetName(op) == name)
        {
            return op;
        }
    }
    throw std::runtime_error("no operator " + name);
}

/** @return microseconds that a step takes if each collective takes 10 us */
double StepOf(const ImportedJob& job, double collective = 10)
{
    ListScheduler scheduler(
        job.graph,
        [](const ExecutionGraph&, const Operator& op) { return op.duration.GetSeconds() * 1e6; },
        [collective](const CommGroup&, const CollectiveSpec&) { return collective; });
    EXPECT_TRUE(scheduler.Run());
    return scheduler.GetStepTime();
}

TEST(Layers, GroupsSizesAndOrderOfATransformer)
{
    LayerOptions options;
    options.isGatheredSize = true;
    const std::string text = TRANSFORMER +
                             "2 ep: 2 pp: 1 vpp: 2 ga: 1 all_gpus: 8 checkpoints: 0 "
                             "checkpoint_initiates: 0 pp_comm: 0\n2\n"
                             "a -1 1000 ALLREDUCE 64 2000 ALLGATHER 32 3000 REDUCESCATTER 128 100\n"
                             "b -1 4000 ALLTOALL_EP 16 5000 NONE 9 6000 ALLREDUCE_DP_EP 8 0\n";
    const ImportedJob job = Import(text, options);
    ASSERT_EQ(job.graph->GetRankCount(), 8u);
    EXPECT_THAT(NamesOn(*job.graph, 0, "compute"),
                ElementsAre("a forward",
                            "b forward",
                            "b input gradient",
                            "b weight gradient",
                            "a input gradient",
                            "a weight gradient"));
    EXPECT_THAT(NamesOn(*job.graph, 5, "tp"), ElementsAre("a forward", "a input gradient"));
    EXPECT_THAT(NamesOn(*job.graph, 5, "update"), ElementsAre("a update"));
    const auto groupOf = [&](uint32_t rank, const std::string& name) {
        const auto& program = *job.graph->GetProgram(RankId(rank));
        std::vector<uint32_t> members;
        for (const auto& op : program.GetOperators())
        {
            if (op.type == OperatorType::COLLECTIVE && program.GetName(op) == name)
            {
                const auto slot = program.GetCommunication(op).groupSlot;
                for (RankId member : job.graph->GetGroup(RankId(rank), slot)->GetRanks())
                {
                    members.push_back(member.Get());
                }
                break;
            }
        }
        return members;
    };
    EXPECT_THAT(groupOf(5, "a forward"), ElementsAre(4, 5));               // tensor parallel
    EXPECT_THAT(groupOf(5, "a weight gradient"), ElementsAre(1, 3, 5, 7)); // data parallel
    EXPECT_THAT(groupOf(5, "b forward"), ElementsAre(5, 7));               // expert parallel
    EXPECT_THAT(groupOf(5, "b weight gradient"), ElementsAre(1, 5));       // same experts
    const auto bytesOf = [](const ImportedJob& imported, const std::string& name) {
        const auto& program = *imported.graph->GetProgram(RankId(0));
        for (const auto& op : program.GetOperators())
        {
            if (op.type == OperatorType::COLLECTIVE && program.GetName(op) == name)
            {
                return program.GetCommunication(op).spec.bytes;
            }
        }
        return uint64_t(0);
    };
    EXPECT_EQ(bytesOf(job, "a input gradient"), 32u);
    EXPECT_EQ(bytesOf(Import(text, {}), "a input gradient"), 64u); // ASTRA-sim: of one rank
    // Forward 1 + 10 + 4 + 10, backward 5 + 6 + 2 + 10 + 3, then the last gradient and its update.
    EXPECT_NEAR(StepOf(job), 25 + 26 + 10.1, 1e-6);
}

TEST(Layers, GradientsOverlapWithWhatFollowsThem)
{
    // Data parallel: 3 layers of 1 us forward, 2 us backward each; gradients of 3 us each.
    LayerOptions options;
    options.ranks = 2;
    const std::string layer = " -1 1000 NONE 0 1000 NONE 0 1000 ALLREDUCE 4096 0\n";
    const ImportedJob job = Import("DATA\n3\na" + layer + "b" + layer + "c" + layer, options);
    EXPECT_THAT(NamesOn(*job.graph, 0, "compute"),
                ElementsAre("a forward",
                            "b forward",
                            "c forward",
                            "c weight gradient",
                            "c input gradient",
                            "b weight gradient",
                            "b input gradient",
                            "a weight gradient"));
    // The first gradient starts at 4 us; three of 3 us each follow one another.
    EXPECT_NEAR(StepOf(job, 3), 4 + 9, 1e-6);
    options.passes = 2; // a layer's forward pass waits for its gradient of the pass before
    const ImportedJob twice = Import("DATA\n3\na" + layer + "b" + layer + "c" + layer, options);
    EXPECT_NEAR(StepOf(twice, 3), 13 + 3 + 1 + 9, 1e-6);
}

TEST(Layers, PipelineStagesPassMicroBatchesOn)
{
    LayerOptions options;
    options.isGatheredSize = true;
    std::string text = TRANSFORMER + "1 ep: 1 pp: 4 vpp: 1 ga: 3 all_gpus: 4 checkpoints: 0 "
                                     "checkpoint_initiates: 0 pp_comm 4096\n7\n"
                                     "first -1 0 NONE 0 0 NONE 0 0 NONE 0 0\n";
    for (int i = 0; i < 3; ++i)
    {
        text += "embed -1 1000 NONE 0 2000 NONE 0 0 NONE 0 0\n"
                "mlp -1 9000 NONE 0 18000 NONE 0 0 NONE 0 0\n";
    }
    const ImportedJob job = Import(text, options);
    EXPECT_THAT(job.report, HasSubstr("send-recv       pp"));
    EXPECT_THAT(NamesOn(*job.graph, 1, "receive activations").size(), 3u);
    EXPECT_THAT(NamesOn(*job.graph, 0, "receive activations").size(), 0u);
    EXPECT_THAT(NamesOn(*job.graph, 3, "send gradients").size(), 3u);
    // GPipe: (micro-batches + stages - 1) of 10 us forward and of 20 us backward; messages free.
    EXPECT_NEAR(StepOf(job, 0), (3 + 3) * 30, 1e-6);
    text.replace(text.find("mlp"), 3, "embed"); // not told apart any more
    EXPECT_THAT(Refusal(text, options), HasSubstr("no communication of 4 ranks"));
}

TEST(Layers, ForwardPassesAreRepeatedFromCheckpoints)
{
    LayerOptions options;
    options.ranks = 2;
    std::string text = TRANSFORMER + "2 checkpoints: 1 0 checkpoint_initiates: 1 2\n3\n";
    for (const char* name : {"a", "b", "c"})
    {
        text += name + std::string(" -1 10 ALLREDUCE 64 10 NONE 0 0 NONE 0 0\n");
    }
    EXPECT_THAT(NamesOn(*Import(text, options).graph, 0, "compute"),
                ElementsAre("a forward",
                            "b forward",
                            "c forward",
                            "a forward again",
                            "b forward again",
                            "c input gradient",
                            "b input gradient",
                            "a input gradient"));
}

TEST(Layers, CheckpointsWithoutEffectAreCounted)
{
    LayerOptions options;
    options.ranks = 2;
    const auto report = [&](const std::string& header) {
        std::string text = TRANSFORMER + "2 " + header + "\n3\n";
        for (const char* name : {"a", "b", "c"})
        {
            text += name + std::string(" -1 10 ALLREDUCE 64 10 NONE 0 0 NONE 0 0\n");
        }
        return Import(text, options).report;
    };
    const std::string idle = " checkpoints from which no layer repeats";
    const std::string alone = " checkpoint_initiates at a checkpoint or the first layer";
    EXPECT_THAT(report("checkpoints: 1 0 checkpoint_initiates: 0"), HasSubstr("1" + idle));
    EXPECT_THAT(report("checkpoints: 2 0 1 checkpoint_initiates: 1 2"), HasSubstr("1" + idle));
    EXPECT_THAT(report("checkpoints: 2 0 2 checkpoint_initiates: 1 2"), HasSubstr("2" + idle));
    EXPECT_THAT(report("checkpoints: 2 0 2 checkpoint_initiates: 1 2"), HasSubstr("1" + alone));
    EXPECT_THAT(report("checkpoints: 1 0 checkpoint_initiates: 1 0"), HasSubstr("1" + alone));
    for (const char* header : {"checkpoints: 1 0 checkpoint_initiates: 1 2",
                               "checkpoints: 0 checkpoint_initiates: 2 1 2"})
    {
        EXPECT_THAT(report(header), HasSubstr("not used: nothing")) << header;
    }
}

TEST(Layers, OtherPoliciesChooseOtherRanks)
{
    LayerOptions options;
    options.ranks = 8;
    const std::string layer = "a -1 10 ALLREDUCE 64 10 ALLREDUCE 64 10 ALLREDUCE 64 0\n";
    auto sizes = [&](const std::string& policy) {
        std::vector<uint32_t> result;
        const ImportedJob job = Import(policy + "\n2\n" + layer + "b" + layer.substr(1), options);
        const auto& program = *job.graph->GetProgram(RankId(0));
        for (const char* name : {"b forward", "b input gradient", "b weight gradient"})
        {
            uint32_t size = 0;
            for (const auto& op : program.GetOperators())
            {
                if (op.type == OperatorType::COLLECTIVE && program.GetName(op) == name)
                {
                    const auto slot = program.GetCommunication(op).groupSlot;
                    size = job.graph->GetGroup(RankId(0), slot)->GetSize();
                }
            }
            result.push_back(size);
        }
        return result;
    };
    EXPECT_THAT(sizes("DATA"), ElementsAre(0, 0, 8));
    EXPECT_THAT(sizes("MODEL"), ElementsAre(8, 8, 0));
    EXPECT_THAT(sizes("DISTRIBUTED_INFERENCE"), ElementsAre(8, 0, 0));
    EXPECT_THAT(Refusal("HYBRID_DATA_MODEL\n1\n" + layer, options), HasSubstr("--first-dimension"));
    options.firstDimension = 2;
    EXPECT_THAT(sizes("HYBRID_DATA_MODEL"), ElementsAre(2, 2, 4));
    EXPECT_THAT(sizes("HYBRID_MODEL_DATA"), ElementsAre(4, 4, 2));
    EXPECT_THAT(Refusal("DATA\n1\n" + layer, options),
                HasSubstr("a policy that does not divide ranks by a first dimension"));
    options.firstDimension = 0;
    EXPECT_THAT(sizes("HYBRID_TRANSFORMER model_parallel_NPU_group: 4"), ElementsAre(4, 4, 2));
    const ImportedJob dlrm = Import("HYBRID_DLRM DLRM_LAST_BOTTOM_LAYER: 1\n3\n"
                                    "emb -1 5 ALLTOALL 64 5 ALLTOALL 64 5 NONE 0 0\n"
                                    "bottom -1 5 NONE 0 5 NONE 0 5 ALLREDUCE 64 0\n"
                                    "top -1 5 NONE 0 5 NONE 0 5 ALLREDUCE 64 0\n",
                                    options);
    EXPECT_EQ(Find(*dlrm.graph, "top forward").dependencyCount, 1u); // waits for the exchange
    const ImportedJob keyless = Import(                              // as ASTRA-sim 1.0 wrote it
        "HYBRID_DLRM 1\n3\n" + layer + "b" + layer.substr(1) + "c" + layer.substr(1),
        options);
    EXPECT_THAT(NamesOn(*keyless.graph, 0, "all"), testing::Contains("a input gradient"));
    options.firstDimension = 2;
    const ImportedJob custom =
        Import("HYBRID_CUSTOMIZED\n2\na -1 5 ALLGATHER 64 5 NONE 0 5 NONE 0 1 HYBRID_DATA_MODEL\n"
               "b -1 5 NONE 0 5 NONE 0 5 ALLREDUCE 64 1 DATA\n",
               options);
    EXPECT_THAT(NamesOn(*custom.graph, 0, "first dimension"), ElementsAre("a forward"));
    EXPECT_THAT(NamesOn(*custom.graph, 0, "all"), ElementsAre("b weight gradient"));
    options.firstDimension = 0;
    const ImportedJob micro =
        Import("MICRO\n2\na -1 1 NONE 0 1 NONE 0 1 ALLGATHER 10 1\nb -1 1 NONE 0 1 NONE 0 1 "
               "ALLTOALL 20 1\n",
               options);
    EXPECT_THAT(NamesOn(*micro.graph, 7, "all"), ElementsAre("a collective", "b collective"));
}

TEST(Layers, BadLinesAreRefusedByLine)
{
    const std::string head = TRANSFORMER + "2 all_gpus: 4\n";
    const std::string good = "a -1 1 ALLREDUCE 64 1 NONE 0 1 NONE 0 1\n";
    for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
             {"", "a workload.txt: found an empty file"},
             {"\n \n", "found an empty file"},
             {"TRAINING\n", "a workload.txt:1: parallelism: found 'TRAINING', expected one of"},
             {"\x7f"
              "ELF\x01\x02",
              ":1: parallelism: found"},
             {TRANSFORMER + "x\n", ":1: model_parallel_NPU_group: found 'x'"},
             {TRANSFORMER + "0\n", "found '0', expected a whole number from 1"},
             {TRANSFORMER + "2 tp: 3\n", ":1: tp: found an unknown key"},
             {TRANSFORMER + "2 ga:\n", ":1: ga: found the end of the line"},
             {head, "number of layers: found the end of the file"},
             {head + "many\n", ":2: number of layers: found 'many'"},
             {head + "2\n" + good, ":2: number of layers: found 2 and 1 layer below, expected"},
             {head + "1\n" + good + good, ":4: layers: found a line behind the last of 1"},
             {head + "1\na -1 1 ALLREDUCE 64 1 NONE 0\n",
              ":3: weight gradient compute time (ns): found the end of the line"},
             {head + "1\na -1 1 ALLREDUCE 64 1 NONE 0 1 NONE 0 1 7\n",
              ":3: layer 'a': found 13 fields, expected 12"},
             {head + "1\na -1 1 ALLSHUFFLE 64 1 NONE 0 1 NONE 0 1\n",
              ":3: forward communication: found 'ALLSHUFFLE', expected NONE or one of"},
             {head + "1\na -1 1 ALLREDUCE -64 1 NONE 0 1 NONE 0 1\n", "found '-64'"},
             {head + "1\na -1 1e9 ALLREDUCE 64 1 NONE 0 1 NONE 0 1\n", "found '1e9'"},
             {head + "1\na -1 99999999999999999999 ALLREDUCE 64 1 NONE 0 1 NONE 0 1\n",
              "found '99999999999999999999'"},
             {head + "1\na b 1 ALLREDUCE 64 1 NONE 0 1 NONE 0 1\n", "dependency: found 'b'"},
             {TRANSFORMER + "2 all_gpus: 4 checkpoints: 1 7\n1\n" + good,
              ":1: checkpoints: found layer 7"},
             {TRANSFORMER + "3 all_gpus: 4\n1\n" + good, "4 ranks and a model parallel group of 3"},
             {TRANSFORMER + "1 ep: 4 all_gpus: 2\n1\n" + good,
              ":1: found 2 data parallel ranks (dp) and an expert parallel group of 4, expected a "
              "number that it divides"},
             {TRANSFORMER + "1 ep: 1 ep: 2 all_gpus: 4\n1\n" + good,
              ":1: ep: found it a second time, expected it once"},
             {TRANSFORMER + "2 all_gpus: 4 model_parallel_NPU_group: 2\n1\n" + good,
              "model_parallel_NPU_group: found it a second time"},
             {TRANSFORMER + "2\n1\n" + good, "no number of ranks"},
             {head + "1\na -1 1 NONE 64 1 NONE 0 1 NONE 0 1\n", "no communication of 4 ranks"}})
    {
        const std::string message = Refusal(text);
        EXPECT_THAT(message, HasSubstr(part));
        EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
    const std::string huge(LARGEST_TEXT + 1, ' '); // as a small gzipped file may hold
    EXPECT_THAT(Refusal(huge), HasSubstr("a workload.txt: found a file of more than 64 MiB"));
}

} // namespace

TEST(Layers, SizesAndNumbersBeyondReasonAreRefused)
{
    const std::string layer = " -1 1000 NONE 0 1000 NONE 0 1000 ALLGATHER 1125899906842624 0\n";
    LayerOptions options;
    options.isGatheredSize = false; // of each rank: 2^50 B of 2^14 are 2^64 in all
    options.ranks = 1 << 14;
    EXPECT_THAT(Refusal("DATA\n1\na" + layer, options),
                HasSubstr("a workload.txt:3: weight gradient: found 1125899906842624 B of each of "
                          "16384 ranks, expected at most 2^50 B in all"));
    // Each layer's gradient runs all layers before it again.
    std::string repeated = TRANSFORMER + "1 all_gpus: 2 checkpoint_initiates: 3000";
    std::string layers;
    for (int i = 0; i < 3000; ++i)
    {
        repeated += " " + std::to_string(i);
        layers += "a -1 1000 NONE 0 1000 NONE 0 1000 ALLREDUCE 64 0\n";
    }
    EXPECT_THAT(Refusal(repeated + "\n3000\n" + layers),
                HasSubstr("found 4504500 passes of layers in each of 1 steps"));
}

TEST(Layers, AQuarterOfAMillionRanksShareOneGroup)
{
    LayerOptions options;
    options.ranks = 1 << 18;
    const ImportedJob job = Import("\xef\xbb\xbf"
                                   "DATA\n1\na -1 10 NONE 0 10 NONE 0 10 ALLREDUCE 64 0\n",
                                   options);
    EXPECT_EQ(job.graph->GetGroups().size(), 1u);
    EXPECT_EQ(job.graph->GetGroup(RankId(77), 0)->GetSize(), options.ranks);
}
