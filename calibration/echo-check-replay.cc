// SPDX-License-Identifier: GPL-2.0-only
// Replays the recorded step of a scenario and says how far it is from the recording, and which part
// of the difference is the replay's and which the communication model's. Writes
// doc/accuracy-dlrm.md.

#include "replay-accuracy.h"

#include "ns3/echo-command-line.h"
#include "ns3/echo-output-folder.h"

#include <filesystem>
#include <iostream>

using namespace ns3::echo;

namespace
{

const char* HEAD =
    R"(# Accuracy: a recorded DLRM step on 8 V100, replayed

Written by `build/calibration/echo-check-replay --out=doc/accuracy-dlrm.md` from the recording in
`scenarios/traces/dlrm-8xv100` (source and licence there) and `scenarios/dlrm-8xv100.yaml`.

Kernels, copies and CPU time between launches are inputs from the recording; so are the times at
which ranks start the step. Durations of NCCL kernels are not, as they include waiting for other
ranks. What is predicted is when everything happens: who waits for whom, within a rank and across
ranks, and how long the communication transfers.

- (a) takes each collective's transfer time from the recording: the duration on the rank that
  arrived last. Its error is that of the execution graph and the timeline alone.
- The others simulate the communication on `clusters/dgx1-v100.yaml` without a calibrated profile.
  Their difference from (a) is the communication model's part.

)";

const char* TAIL = R"(
How to read it. Communication is about 1 % of this step, so its model hardly moves the step time,
and the small agreement there says little about it: the table of collectives does. The NCCL of the
recording (2.14 to 2.18 by its kernel names) takes 7 to 10 us for an all-to-all of a few kilobytes
and 20 us for a tiny all-reduce, which is launch and protocol latency that link rates and delays do
not hold; an uncalibrated model of links is too fast there. The step is dominated by CPU time between
launches (kernels are 5 % of it), as recorded under the profiler.
)";

} // namespace

int main(int argc, char* argv[])
{
    return RunProgram([&] {
        EchoCommandLine line(
            "echo-check-replay [SCENARIO.yaml]: replays a recorded step with measured and with "
            "simulated communication.");
        std::string scenario = "scenarios/dlrm-8xv100.yaml";
        std::string out;
        line.AddArgument("SCENARIO", "whose workload is imported", scenario, false);
        line.AddOption("out", "file for the tables, such as doc/accuracy-dlrm.md", out);
        line.Parse(argc, argv);
        const std::string tables = FormatReplayAccuracy(CheckReplay(scenario));
        std::cout << tables;
        if (!out.empty())
        {
            OutputFile file(out, out);
            file.Write(HEAD + tables + TAIL);
            file.Close();
        }
        return 0;
    });
}
