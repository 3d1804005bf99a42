// SPDX-License-Identifier: GPL-2.0-only
// ./echo accuracy: rebuilds the accuracy tables in doc/ from the tables of measurements.

#include "collective-accuracy.h"
#include "collective-extrapolation.h"
#include "gemm-points-accuracy.h"
#include "hybrid-accuracy.h"
#include "measured-steps.h"
#include "overlap-accuracy.h"
#include "replay-accuracy.h"
#include "slowdown-accuracy.h"
#include "step-composition.h"
#include "training-accuracy.h"
#include "training-constants.h"

#include "ns3/echo-command-line.h"
#include "ns3/echo-error.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>

using namespace ns3::echo;

namespace
{

const std::string ROOT = ECHO_SOURCE_DIR;

constexpr uint64_t MEBIBYTE = 1048576;

const char* const COLUMNS =
    "| machine | model | operation | GPUs | hosts | from | rows | mean | median | p90 | worst "
    "|\n|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n";

/** Scales and machines that a fit has not seen. */
void WriteUnseen(std::ostream& out,
                 std::ostream& bars,
                 const std::string& tables,
                 const std::string& profiles)
{
#ifdef ECHO_WITH_CERES
    out << "# Scales and machines that the fit has not seen\n\n"
        << "Absolute errors in percent, of that size and more (all sizes: from 1 KiB).\n\n"
        << "Extrapolated: constants from the rows of few hosts, on the rows of more.\n\n"
        << COLUMNS;
    const std::vector<ExtrapolatedMachine> scales{
        {"Azure ND A100 v4",
         tables + "azure-ndv4-a100-all-reduce.csv",
         profiles + "azure-ndv4-a100.yaml",
         2,
         {{MEBIBYTE, 5}, {1024, 10}}},
        {"H100 SXM", tables + "h100-sxm.csv", profiles + "h100-sxm.yaml", 2, {{32 * MEBIBYTE, 8}}},
        {"Alps",
         tables + "alps-gh200-all-reduce.csv",
         profiles + "alps-gh200.yaml",
         2,
         {{MEBIBYTE, 15}}},
        {"Alps in 2024",
         tables + "alps-2024-all-reduce.csv",
         profiles + "alps-gh200-2024.yaml",
         4,
         {{MEBIBYTE, 15}}},
        {"Leonardo",
         tables + "leonardo-a100-all-reduce.csv",
         profiles + "leonardo-a100.yaml",
         8,
         {{MEBIBYTE, 15}}},
        {"Polaris, software matching",
         tables + "polaris-a100-software-matching.csv",
         profiles + "polaris-a100.yaml",
         2,
         {{MEBIBYTE, 15}}},
    };
    for (const ExtrapolatedMachine& machine : scales)
    {
        WriteExtrapolation(out, bars, machine);
    }
    out << "\nTransferred: profiles on machines of the same parts that they were not fitted to. "
           "The "
           "B200 profile has its rates inside hosts from one machine (AWS) and between hosts from "
           "another (Lambda).\n\n"
        << COLUMNS;
    const std::vector<TransferredMachine> machines{
        {"GCP A4, B200", tables + "b200-gcp-all-reduce.csv", profiles + "b200.yaml"},
        {"H200", tables + "h200-all-reduce.csv", profiles + "h100-sxm.yaml"},
        {"Alps in 2024", tables + "alps-2024-all-reduce.csv", profiles + "alps-gh200.yaml"},
    };
    for (const TransferredMachine& machine : machines)
    {
        WriteTransfer(out, bars, machine);
    }
    out << "\n# H800 against the Echo paper\n\n"
        << "Profile h800 is not measured: it is h100-sxm with its rates inside hosts scaled by the "
           "NVLinks (200 of 450 GB/s). The paper's Table 6 gives terms of an all-reduce of 32 "
           "H800; "
           "its chunk sizes are those of NCCL's tree with LL128. Their sum with the set-up of the "
           "paper's figure 15 (35 us) is the only time one can make of it. From 32 MiB on that sum "
           "is below "
           "what a ring or tree can take over these NVLinks at all (last column, times in us): the "
           "terms of the paper do not add up to the kernel's time there.\n\n";
    WriteTable6(out, tables + "echo-paper-h800.csv", profiles + "h800.yaml");
#else
    out << "(Scales and machines not seen: built without Ceres.)\n";
    bars << "(extrapolated and transferred: built without Ceres, " << tables << ", " << profiles
         << ")\n";
#endif
}

int WriteCollectives(const std::string& folder)
{
    const std::string tables = ROOT + "/calibration/tables/";
    const std::string profiles = ROOT + "/calibration/profiles/";
    const std::vector<MeasuredMachine> machines{
        {"Azure ND A100 v4: 8 A100-40GB and 8 x HDR a host",
         tables + "azure-ndv4-a100-all-reduce.csv",
         profiles + "azure-ndv4-a100.yaml"},
        {"H100 SXM: 8 H100 and 8 x NDR a host",
         tables + "h100-sxm.csv",
         profiles + "h100-sxm.yaml"},
        {"B200: 8 B200 and 8 x 400 Gb/s a host",
         tables + "b200-all-reduce.csv",
         profiles + "b200.yaml"},
        {"Alps: 4 GH200 and 4 x Slingshot 200 Gb/s a host",
         tables + "alps-gh200-all-reduce.csv",
         profiles + "alps-gh200.yaml"},
        {"DGX-1: 8 V100 on a mesh of NVLinks",
         tables + "v100-all-reduce.csv",
         profiles + "v100.yaml"},
        {"A100-PCIe: 2 GPUs a host without NVLink, one HDR NIC",
         tables + "a100-pcie.csv",
         profiles + "a100-pcie.yaml"},
        {"A100-PCIe, with sweeps' first rows and both states of the machine",
         tables + "a100-pcie-median.csv",
         profiles + "a100-pcie.yaml"},
        {"Polaris: 4 A100-40GB and 2 x Slingshot 200 Gb/s a host",
         tables + "polaris-a100.csv",
         profiles + "polaris-a100.yaml"},
    };
    const std::string path = folder + "/accuracy-collectives.md";
    std::ofstream out(path);
    out << "# Accuracy of collective estimates\n\n"
        << "Written by `./echo accuracy collectives`; do not edit.\n\n"
        << "The time that counts is the lower of nccl-tests' out-of-place and in-place columns. "
           "Echo's estimates choose algorithm and protocol themselves. \"NCCL's own\" is the cost "
           "model of NCCL's tuner (src/graph/tuning.cc) with the rates its graph search finds; the "
           "alpha-beta fit has a latency and a rate for groups inside a host and for groups of "
           "several hosts, fitted to the same rows.\n\n";
    std::ostringstream bars;
    std::ostringstream details;
    for (const MeasuredMachine& machine : machines)
    {
        WriteAccuracy(details, bars, machine);
    }
    WriteUnseen(details, bars, tables, profiles);
    out << "# Bars\n\n"
        << "Mean, median, 90th percentile and worst absolute error in percent over all operations "
           "and scales of a machine, from that size on; the mean is held against the bar. NCCL's "
           "own model has none for all-to-all and send/recv. Estimates against packets: "
           "[validation.md](validation.md).\n\n";
    WriteBarColumns(out);
    out << bars.str() << "\n" << details.str();
    if (!out.flush())
    {
        throw InputError({path, 0, ""}, "no writable file", "one");
    }
    std::cout << "written: " << path << "\n";
    return 0;
}

/** Writes a page once all of it is there: making it may throw. */
int WritePage(const std::string& path, const std::function<void(std::ostream&)>& make)
{
    std::ostringstream text;
    make(text);
    std::ofstream out(path);
    out << text.str();
    if (!out.flush())
    {
        throw InputError({path, 0, ""}, "no writable file", "one");
    }
    std::cout << "written: " << path << "\n";
    return 0;
}

/** Measured matrix products of the compute profile. */
void WriteProducts(std::ostream& out)
{
    WriteGemmPointAccuracy(out,
                           ROOT + "/calibration/compute/gemm-efficiency.yaml",
                           {{"A100", ROOT + "/scenarios/clusters/dgx-a100.yaml"},
                            {"H100", ROOT + "/scenarios/clusters/dgx-h100.yaml"}});
}

/** The constants that steps tell, with the sources that they play a part in. */
std::vector<StepConstant> GetStepConstants(const std::vector<MeasuredSteps>& sources)
{
    const auto steps = [&sources](const std::string& name) {
        return *std::find_if(sources.begin(), sources.end(), [&name](const MeasuredSteps& source) {
            return source.name == name;
        });
    };
    const StepConstant a100{"sustained, A100",
                            "Sustained",
                            0.95,
                            {0.91, 0.93, 0.95, 0.97},
                            {{steps("megatron-sc21"), "Megatron-LM", "", 1},
                             {steps("vtrain-multi"), "vTrain, 64 GPUs and more", "", 1},
                             {steps("vtrain-single"), "vTrain, one host", "", 40},
                             {steps("llm-foundry"), "llm-foundry", "a100", 10}}};
    const StepConstant h100{"sustained, H100",
                            "Sustained",
                            0.85,
                            {0.82, 0.85, 0.88, 0.91},
                            {{steps("dgxc-gpt"), "GPT-3 175B", "", 5},
                             {steps("dgxc-llama3-8b"), "Llama 3.1 8B", "", 5},
                             {steps("dgxc-nemotron-15b"), "Nemotron-4 15B", "", 5},
                             {steps("bridge-dense"), "Megatron-Bridge, dense", "h100", 2},
                             {steps("llm-foundry"), "llm-foundry", "h100", 5}}};
    const StepConstant grouped{"grouped_gemm",
                               "GroupedGemm",
                               0.5,
                               {0.4, 0.5, 0.6, 0.75},
                               {{steps("bridge-moe"), "gpt-oss", "gpt-oss", 5},
                                {steps("bridge-moe"), "Qwen3", "qwen3", 6},
                                {steps("bridge-moe"), "DeepSeek-V3", "deepseek", 4}}};
    return {a100, h100, grouped};
}

/** Measured training steps; @p only: one of their names, "products", "constants", or empty. */
int WriteTraining(const std::string& folder, const std::string& only, bool full)
{
    const std::vector<MeasuredSteps> sources = GetMeasuredSteps(ROOT + "/calibration/training/");
    if (only == "products")
    {
        WriteProducts(std::cout);
        return 0;
    }
    if (only == "constants")
    {
        WriteConstantAccuracy(std::cout, GetStepConstants(sources));
        return 0;
    }
    std::ostringstream summary;
    std::ostringstream details;
    for (MeasuredSteps steps : sources)
    {
        if (only.empty() || only == steps.name)
        {
            steps.isListed = steps.isListed || !only.empty();
            const StepErrors result = WriteStepAccuracy(details, steps, full);
            WriteStepSummary(summary, steps, result);
            if (steps.name == "vtrain-single")
            {
                WriteStepComposition(details, ReadStepTable(steps.table));
            }
            std::cout << summary.str().substr(summary.str().rfind('\n', summary.str().size() - 2) +
                                              1)
                      << std::flush;
        }
    }
    if (summary.str().empty())
    {
        std::string known = "products, constants";
        for (const MeasuredSteps& steps : sources)
        {
            known += ", " + steps.name;
        }
        throw InputError({"", 0, "--source"}, "'" + only + "'", "one of " + known);
    }
    if (!only.empty()) // the document holds all sources
    {
        std::cout << "\n" << details.str();
        return 0;
    }
    std::ostringstream rest; // takes its time: the page is not open meanwhile
    WriteConstantAccuracy(rest, GetStepConstants(sources));
    WriteProducts(rest);
    const std::string path = folder + "/accuracy-training.md";
    std::ofstream out(path);
    out << "# Accuracy of training steps\n\n"
        << "Written by `./echo accuracy training`; do not edit. Every measured step is generated "
           "from its published plan and simulated analytically, with one cost model for all rows: "
           "kernels by `calibration/compute/gemm-efficiency.yaml`, collectives by the machines' "
           "profiles. What is known of a source's software stands in the scenario beside its table "
           "in `calibration/training/`. Of ranks with the same program one is simulated, but all "
           "where kernels slow beside communication (llm-foundry) or groups of two GPUs share a "
           "NIC (vTrain's several hosts). Sources without a bar are held out: nothing was set from "
           "them. Errors are (simulated - measured) / measured, in percent.\n\n"
        << "| source | rows | mean abs | median abs | 90th percentile | worst | mean | bar: mean "
           "(90th) |\n|---|---:|---:|---:|---:|---:|---:|---:|\n"
        << summary.str() << "\n"
        << rest.str() << details.str();
    if (!out.flush())
    {
        throw InputError({path, 0, ""}, "no writable file", "one");
    }
    std::cout << "written: " << path << "\n";
    return 0;
}

/** The page of hybrid fidelity. */
void WriteHybrid(std::ostream& out)
{
    out << "# Hybrid fidelity: accuracy and cost\n\n"
        << "Written by `./echo accuracy hybrid`; CPU times are of the machine that "
           "wrote "
           "it, their ratios are what counts. Estimates are derived from the links "
           "(estimator.profile: derived), as packets know no latencies of NCCL.\n\n"
        << "## A training step: scenarios/gpt-small-16.yaml\n\n";
    const std::string step = ROOT + "/scenarios/gpt-small-16.yaml";
    WriteHybridAccuracy(out, step);
    out << "## The same step, of layers that are four times as wide\n\n"
        << "`--set=workload.generate.model.hidden=4096 "
           "--set=workload.generate.model.sequence=1024`: enough bytes that setting up "
           "the run is not most of its cost.\n\n";
    WriteHybridAccuracy(
        out,
        step,
        {"workload.generate.model.hidden=4096", "workload.generate.model.sequence=1024"});
    out << "## Concurrent groups on a narrow fabric: scenarios/hybrid-groups.yaml\n\n";
    WriteHybridAccuracy(out, ROOT + "/scenarios/hybrid-groups.yaml");
    out << "## Different groups on a narrow fabric: scenarios/hybrid-mix.yaml\n\n";
    WriteHybridAccuracy(out, ROOT + "/scenarios/hybrid-mix.yaml");
    out << "## Experts, tensor and data parallel groups on rails: "
           "scenarios/hybrid-moe-rails.yaml\n\n";
    WriteHybridAccuracy(out, ROOT + "/scenarios/hybrid-moe-rails.yaml");
}

} // namespace

int main(int argc, char* argv[])
{
    return RunProgram([&] {
        std::string name = "collectives";
        std::string folder = ROOT + "/doc";
        EchoCommandLine line(
            "./echo accuracy [collectives|hybrid|dlrm|overlap|slowdown|training]: rebuilds "
            "an accuracy table in doc/.");
        line.AddArgument("name", "which table", name, false);
        line.AddOption("out", "the folder to write to", folder);
        std::string only;
        uint64_t full = 0;
        line.AddOption(
            "source", "training: only this source, by the name of its table, printed", only);
        line.AddOption("full", "training: 1 simulates all ranks, not one of each program", full);
        line.Parse(argc, argv);
        if (name == "dlrm")
        {
            return WritePage(folder + "/accuracy-dlrm.md", [](std::ostream& out) {
                WriteReplayAccuracy(out, ROOT + "/scenarios/dlrm-8xv100.yaml");
            });
        }
        if (name == "slowdown")
        {
            return WritePage(folder + "/accuracy-slowdown.md",
                             [](std::ostream& out) { WriteSlowdownAccuracy(out, ROOT); });
        }
        if (name == "overlap")
        {
            return WritePage(folder + "/accuracy-overlap.md",
                             [](std::ostream& out) { WriteOverlapAccuracy(out, ROOT); });
        }
        if (name == "training")
        {
            return WriteTraining(folder, only, full != 0);
        }
        if (name == "hybrid")
        {
            return WritePage(folder + "/accuracy-hybrid.md", WriteHybrid);
        }
        if (name != "collectives")
        {
            throw InputError({"", 0, "accuracy"},
                             "'" + name + "'",
                             "collectives, hybrid, dlrm, overlap, slowdown or training");
        }
        return WriteCollectives(folder);
    });
}
