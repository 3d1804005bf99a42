// SPDX-License-Identifier: GPL-2.0-only
// ./echo accuracy: rebuilds the accuracy tables in doc/ from the tables of measurements.

#include "collective-accuracy.h"
#include "overlap-accuracy.h"
#include "replay-accuracy.h"
#include "slowdown-accuracy.h"

#include "ns3/echo-command-line.h"
#include "ns3/echo-error.h"

#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>

using namespace ns3::echo;

namespace
{

const std::string ROOT = ECHO_SOURCE_DIR;

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

} // namespace

int main(int argc, char* argv[])
{
    return RunProgram([&] {
        std::string name = "collectives";
        std::string folder = ROOT + "/doc";
        EchoCommandLine line("./echo accuracy [collectives|dlrm|overlap|slowdown]: rebuilds an "
                             "accuracy table in doc/.");
        line.AddArgument("name", "which table", name, false);
        line.AddOption("out", "the folder to write to", folder);
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
        if (name != "collectives")
        {
            throw InputError(
                {"", 0, "accuracy"}, "'" + name + "'", "collectives, dlrm, overlap or slowdown");
        }
        return WriteCollectives(folder);
    });
}
