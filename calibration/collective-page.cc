// SPDX-License-Identifier: GPL-2.0-only
#include "collective-page.h"

#include "collective-accuracy.h"
#include "collective-extrapolation.h"

#include <sstream>
#include <vector>

namespace ns3
{
namespace echo
{

namespace
{

constexpr uint64_t MEBIBYTE = 1048576;

/** What the bar of machines with Slingshot is for. */
constexpr uint32_t MOST_HOSTS = 512;

const char* const SLINGSHOT = "all Slingshot machines, up to 512 hosts";
const char* const SLINGSHOT_TOO = "all Slingshot machines, 540 hosts too, first jobs on Alps";

const char* const COLUMNS =
    "| machine | model | operation | GPUs | hosts | from | rows | mean | median | p90 | worst "
    "|\n|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n";

#ifdef ECHO_WITH_CERES
/** Machines of others, as they publish them. */
void WriteOthers(std::ostream& out, const std::string& tables, const std::string& profiles)
{
    out << "\nHeld out: what others publish of their machines, most of the same parts, with "
           "settings "
           "and releases of NCCL of their own (whose tuner picks, where the source says which), so "
           "there is no bar. Nothing is fitted to them. All rows of a source's tables are here, "
           "good "
           "or bad. a800, b300, dgx-a100, gb200 and gb300 are made of profiles of other machines "
           "(calibration/refit-profiles). Of GB200 and GB300 a host is an NVLink domain.\n\n"
        << COLUMNS;
    const std::vector<TransferredMachine> machines{
        {"H100 of nccl-tests issue 309",
         tables + "h100-issue-309.csv",
         profiles + "h100-sxm.yaml",
         "2.26"},
        {"H100, second cluster of that issue",
         tables + "h100-issue-309-second.csv",
         profiles + "h100-sxm.yaml"},
        {"H100 of CoreWeave", tables + "h100-coreweave.csv", profiles + "h100-sxm.yaml"},
        {"A100 of OCI, RoCE", tables + "a100-oci.csv", profiles + "dgx-a100.yaml"},
        {"B300 of OCI, RoCE", tables + "b300-oci.csv", profiles + "b300.yaml", "2.28"},
        {"GB200 of CoreWeave", tables + "gb200-coreweave.csv", profiles + "gb200.yaml", "2.26"},
        {"GB200 of OCI", tables + "gb200-oci.csv", profiles + "gb200.yaml", "2.27"},
        {"GB200 of OCI, RoCE of twice the rate",
         tables + "gb200-oci-roce.csv",
         profiles + "gb300.yaml",
         "2.29"},
        {"GB300 of OCI, RoCE", tables + "gb300-oci.csv", profiles + "gb300.yaml", "2.28"},
        {"GB300 of Google Cloud, RoCE", tables + "gb300-gke.csv", profiles + "gb300.yaml", "2.28"},
    };
    for (const TransferredMachine& machine : machines)
    {
        WriteHeldOut(out, machine);
    }
}
#endif

/** Scales and machines that a fit has not seen. */
void WriteUnseen(std::ostream& out,
                 std::ostream& bars,
                 PooledRows& pooled,
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
         {{MEBIBYTE, 15}},
         "",
         {SLINGSHOT, SLINGSHOT_TOO}},
        {"Alps, 8 to 512 hosts, quickest of four jobs",
         tables + "alps-gh200-all-reduce.csv",
         profiles + "alps-gh200.yaml",
         4,
         {{MEBIBYTE, 15}},
         tables + "alps-gh200-512-hosts-quickest.csv",
         {SLINGSHOT}},
        {"Alps, 8 to 512 hosts, the first of the four jobs",
         tables + "alps-gh200-all-reduce.csv",
         profiles + "alps-gh200.yaml",
         4,
         {{MEBIBYTE, 15}},
         tables + "alps-gh200-512-hosts.csv",
         {SLINGSHOT_TOO}},
        {"Alps in 2024",
         tables + "alps-2024-all-reduce.csv",
         profiles + "alps-gh200-2024.yaml",
         4,
         {{MEBIBYTE, 15}},
         "",
         {SLINGSHOT, SLINGSHOT_TOO}},
        {"Leonardo",
         tables + "leonardo-a100-all-reduce.csv",
         profiles + "leonardo-a100.yaml",
         8,
         {{MEBIBYTE, 15}}},
        {"Polaris",
         tables + "polaris-a100.csv",
         profiles + "polaris-a100.yaml",
         2,
         {{MEBIBYTE, 15}},
         tables + "polaris-a100-8-hosts.csv",
         {SLINGSHOT, SLINGSHOT_TOO}},
        {"Polaris, software matching, up to 512 hosts",
         tables + "polaris-a100-software-matching.csv",
         profiles + "polaris-a100.yaml",
         2,
         {{MEBIBYTE, 15}},
         "",
         {SLINGSHOT, SLINGSHOT_TOO},
         0,
         MOST_HOSTS},
        {"Polaris, software matching, 540 hosts",
         tables + "polaris-a100-software-matching.csv",
         profiles + "polaris-a100.yaml",
         2,
         {{MEBIBYTE, 15}},
         "",
         {SLINGSHOT_TOO},
         MOST_HOSTS},
    };
    for (const ExtrapolatedMachine& machine : scales)
    {
        WriteExtrapolation(out, bars, pooled, machine);
    }
    out << "\nTransferred: profiles on machines of the same parts that they were not fitted to. "
           "The "
           "B200 profile has its rates inside hosts from one machine (AWS) and between hosts from "
           "another (Lambda).\n\n"
        << COLUMNS;
    const std::vector<TransferredMachine> machines{
        {"GCP A4, B200", tables + "b200-gcp-all-reduce.csv", profiles + "b200.yaml"},
        {"H200", tables + "h200-all-reduce.csv", profiles + "h100-sxm.yaml"},
        {"Alps in 2024, settings of 2025",
         tables + "alps-2024-all-reduce.csv",
         profiles + "alps-gh200.yaml",
         "",
         ""},
        {"Alps in 2024, its own settings",
         tables + "alps-2024-all-reduce.csv",
         profiles + "alps-gh200.yaml",
         "2.19",
         ALL_MACHINES,
         true},
        {"Alps in 2024, quickest calls, its own settings",
         tables + "alps-2024-all-reduce-quickest.csv",
         profiles + "alps-gh200.yaml",
         "2.19",
         "",
         true},
    };
    for (const TransferredMachine& machine : machines)
    {
        WriteTransfer(out, bars, pooled, machine);
    }
    WriteOthers(out, tables, profiles);
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

} // namespace

void WriteCollectivesPage(std::ostream& out, const std::string& folder)
{
    const std::string tables = folder + "/tables/";
    const std::string profiles = folder + "/profiles/";
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
         profiles + "a100-pcie.yaml",
         ""},
        {"Polaris: 4 A100-40GB and 2 x Slingshot 200 Gb/s a host",
         tables + "polaris-a100.csv",
         profiles + "polaris-a100.yaml"},
    };
    out << "# Accuracy of collective estimates\n\n"
        << "Written by `./echo accuracy collectives`; do not edit.\n\n"
        << "The time that counts is the lower of nccl-tests' out-of-place and in-place columns. "
           "Echo's estimates choose algorithm and protocol themselves. \"NCCL's own\" is the cost "
           "model of NCCL's tuner (src/graph/tuning.cc) with the rates its graph search finds; the "
           "alpha-beta fit has a latency and a rate for groups inside a host and for groups of "
           "several hosts, fitted to the same rows.\n\n";
    std::ostringstream bars;
    std::ostringstream details;
    PooledRows pooled;
    for (const MeasuredMachine& machine : machines)
    {
        WriteAccuracy(details, bars, pooled, machine);
    }
    WriteUnseen(details, bars, pooled, tables, profiles);
    pooled.Write(bars);
    out << "# Bars\n\n"
        << "Mean, median, 90th percentile and worst absolute error in percent over all operations "
           "and scales of a machine, from that size on; the mean is held against the bar. NCCL's "
           "own model has none for all-to-all and send/recv. Estimates against packets: "
           "[validation.md](validation.md).\n\n"
        << "The last lines count the rows of several machines together. Alps in 2024 was in use by "
           "others while it was measured, and its source publishes every call: its rows are "
           "medians, and a further line holds estimates against the quickest call of each run, as "
           "nothing that is estimated here knows of other jobs. What a user sets, a user knows: "
           "Alps' profile is of jobs that set NCCL_CROSS_NIC=0 with NCCL 2.23, those of 2024 did "
           "not and had 2.19 (conf/alps.sh of their source). With its own settings Alps in 2024 is "
           "estimated without return_path_GBps and with that version, all else as the profile "
           "ships, messages that hosts serve too, as its own rows of 2 and 4 hosts ask for them; "
           "a line with the settings of 2025 stands beside it and is not pooled.\n\n"
        << "On Alps in 2025 four jobs were run for each number of hosts whose settings change "
           "nothing: on 2 to 16 hosts they agree within 11 % from 2 MiB on, on more hosts "
           "some take two to ten times as long as others (256 hosts, 1 GiB: 60.4, 60.4, 58.7 and "
           "33.0 ms), as the machine was in use. The time that counts "
           "is the lowest of the four; lines for the first of the jobs alone stand beside it. The "
           "bar of Slingshot machines is for up to 512 hosts; what is beyond has a line of its "
           "own.\n\n";
    WriteBarColumns(out);
    out << bars.str() << "\n" << details.str();
}

} // namespace echo
} // namespace ns3
