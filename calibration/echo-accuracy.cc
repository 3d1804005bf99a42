// SPDX-License-Identifier: GPL-2.0-only
// ./echo accuracy: rebuilds the accuracy tables in doc/ from the tables of measurements.

#include "collective-page.h"
#include "gemm-points-accuracy.h"
#include "hybrid-accuracy.h"
#include "measured-steps.h"
#include "memory-accuracy.h"
#include "overlap-accuracy.h"
#include "replay-accuracy.h"
#include "slowdown-accuracy.h"
#include "step-composition.h"
#include "step-table.h"
#include "training-accuracy.h"
#include "training-constants.h"

#include "ns3/echo-command-line.h"
#include "ns3/echo-error.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>

using namespace ns3::echo;

namespace
{

const std::string ROOT = ECHO_SOURCE_DIR;

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

/** Rows of sources that have one bar together. */
void WritePooledSteps(std::ostream& out, const std::map<std::string, StepErrors>& results)
{
    MeasuredSteps pool;
    pool.meanBar = 8;
    pool.tailBar = 15;
    StepErrors together;
    const auto add = [&](const std::string& source, const std::string& title) {
        const std::vector<double>& errors = results.at(source).errors;
        together.errors.insert(together.errors.end(), errors.begin(), errors.end());
        pool.title = title;
    };
    add("megatron-sc21", "");
    add("vtrain-multi", "together: Megatron-LM and vTrain, measured");
    WriteStepSummary(out, pool, together);
    add("vtrain-single", "together: these and vTrain's predictions for one host");
    WriteStepSummary(out, pool, together);
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
    std::map<std::string, StepErrors> results;
    for (MeasuredSteps steps : sources)
    {
        if (only.empty() || only == steps.name)
        {
            steps.isListed = steps.isListed || !only.empty();
            const StepErrors result = WriteStepAccuracy(details, steps, full);
            WriteStepSummary(summary, steps, result);
            results[steps.name] = result;
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
    WritePooledSteps(summary, results);
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
            "./echo accuracy [collectives|hybrid|dlrm|memory|overlap|slowdown|training]: rebuilds "
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
        if (name == "memory")
        {
            return WritePage(folder + "/accuracy-memory.md", [](std::ostream& out) {
                WriteMemoryAccuracy(out,
                                    GetMeasuredSteps(ROOT + "/calibration/training/"),
                                    ROOT + "/calibration/memory/");
            });
        }
        if (name == "hybrid")
        {
            return WritePage(folder + "/accuracy-hybrid.md", WriteHybrid);
        }
        if (name != "collectives")
        {
            throw InputError({"", 0, "accuracy"},
                             "'" + name + "'",
                             "collectives, hybrid, dlrm, memory, overlap, slowdown or training");
        }
        return WritePage(folder + "/accuracy-collectives.md", [](std::ostream& out) {
            WriteCollectivesPage(out, ROOT + "/calibration");
        });
    });
}
