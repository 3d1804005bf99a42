// SPDX-License-Identifier: GPL-2.0-only
// ./echo accuracy: rebuilds the accuracy tables in doc/ from the tables of measurements.

#include "collective-accuracy.h"
#include "collective-extrapolation.h"
#include "hybrid-accuracy.h"
#include "replay-accuracy.h"

#include "ns3/echo-command-line.h"
#include "ns3/echo-error.h"

#include <fstream>
#include <iostream>

using namespace ns3::echo;

namespace
{

const std::string ROOT = ECHO_SOURCE_DIR;

const char* const COLUMNS =
    "| machine | model | operation | GPUs | hosts | from | rows | mean | median | p90 | worst "
    "|\n|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n";

/** Scales and machines that a fit has not seen. */
void WriteUnseen(std::ostream& out, const std::string& tables, const std::string& profiles)
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
         2},
        {"H100 SXM", tables + "h100-sxm.csv", profiles + "h100-sxm.yaml", 2},
        {"Alps", tables + "alps-gh200-all-reduce.csv", profiles + "alps-gh200.yaml", 2},
    };
    for (const ExtrapolatedMachine& machine : scales)
    {
        WriteExtrapolation(out, machine);
    }
    out << "\nTransferred: profiles on machines of the same parts that they were not fitted to. "
           "The "
           "B200 profile has its rates inside hosts from one machine (AWS) and between hosts from "
           "another (Lambda).\n\n"
        << COLUMNS;
    const std::vector<TransferredMachine> machines{
        {"GCP A4, B200", tables + "b200-gcp-all-reduce.csv", profiles + "b200.yaml"},
        {"H200", tables + "h200-all-reduce.csv", profiles + "h100-sxm.yaml"},
    };
    for (const TransferredMachine& machine : machines)
    {
        WriteTransfer(out, machine);
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
    out << "(Scales and machines not seen: built without Ceres.)\n" << tables << profiles;
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
    for (const MeasuredMachine& machine : machines)
    {
        WriteAccuracy(out, machine);
    }
    WriteUnseen(out, tables, profiles);
    if (!out.flush())
    {
        throw InputError({path, 0, ""}, "no writable file", "one");
    }
    std::cout << "written: " << path << "\n";
    return 0;
}

int WriteHybrid(const std::string& folder)
{
    const std::string path = folder + "/accuracy-hybrid.md";
    std::ofstream out(path);
    out << "# Hybrid fidelity: accuracy and cost\n\n"
        << "Written by `./echo accuracy hybrid`; CPU times are of the machine that wrote it, their "
           "ratios are what counts. Estimates are derived from the links (estimator.profile: "
           "derived), as packets know no latencies of NCCL.\n\n## A training step: "
           "scenarios/gpt-small-16.yaml\n\n";
    WriteHybridAccuracy(out, ROOT + "/scenarios/gpt-small-16.yaml");
    out << "## Concurrent groups on a narrow fabric: scenarios/hybrid-groups.yaml\n\n";
    WriteHybridAccuracy(out, ROOT + "/scenarios/hybrid-groups.yaml");
    if (!out.flush())
    {
        throw InputError({path, 0, ""}, "no writable file", "one");
    }
    std::cout << "written: " << path << "\n";
    return 0;
}

int WriteReplay(const std::string& folder)
{
    const std::string path = folder + "/accuracy-dlrm.md";
    std::ofstream out(path);
    WriteReplayAccuracy(out, ROOT + "/scenarios/dlrm-8xv100.yaml");
    if (!out.flush())
    {
        throw InputError({path, 0, ""}, "no writable file", "one");
    }
    std::cout << "written: " << path << "\n";
    return 0;
}

} // namespace

int main(int argc, char* argv[])
{
    return RunProgram([&] {
        std::string name = "collectives";
        std::string folder = ROOT + "/doc";
        EchoCommandLine line(
            "./echo accuracy [collectives|hybrid|dlrm]: rebuilds an accuracy table in doc/.");
        line.AddArgument("name", "which table", name, false);
        line.AddOption("out", "the folder to write to", folder);
        line.Parse(argc, argv);
        if (name == "dlrm")
        {
            return WriteReplay(folder);
        }
        if (name == "hybrid")
        {
            return WriteHybrid(folder);
        }
        if (name != "collectives")
        {
            throw InputError({"", 0, "accuracy"}, "'" + name + "'", "collectives, hybrid or dlrm");
        }
        return WriteCollectives(folder);
    });
}
