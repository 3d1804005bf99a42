// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_KINETO_IMPORTER_H
#define ECHO_KINETO_IMPORTER_H

#include "echo-kineto-health.h"

#include "ns3/echo-workload-graph.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** How profiler files are imported. */
struct KinetoOptions
{
    std::string step{"last"};         //!< "last", "all" or N of ProfilerStep#N
    bool keepGaps{true};              //!< delays of GPU streams that nothing explains stay
    bool alignClocks{true};           //!< by the ends of collectives, where clocks differ
    std::string missingRanks{"auto"}; //!< "refuse", "copy", "auto": see ReadKinetoFiles()
    std::string replicate;            //!< "dp": one rank's file stands for all; "" or "none"
    uint32_t ranks{0};                //!< with replicate: of the job that is built; 0: as recorded
    /// Called with what is known so far before anything is refused for what the files hold.
    std::function<void(const KinetoHealth&)> onHealth;
};

/** When a rank's step ran, after the start of the earliest. */
struct MeasuredRank
{
    uint32_t rank{0};
    Time start;     //!< of the step
    Time end;       //!< of the step on the CPU
    Time deviceEnd; //!< of the last GPU activity launched in it
};

/** How long an instance of a collective took in the recording. */
struct MeasuredCollective
{
    GroupId group;
    uint32_t sequence{0}; //!< the how-manieth of its group, from 0
    CollectiveKind kind{CollectiveKind::ALL_REDUCE};
    uint64_t bytes{0};
    Time firstStart; //!< first member's kernel started
    Time lastStart;  //!< last member's kernel started
    Time end;        //!< last member's kernel ended
    /// Duration on the member that arrived last: the transfer without waiting for others.
    Time transfer;
};

/** A recorded job as a workload, with what was measured. */
struct ImportedWorkload
{
    WorkloadGraphPtr graph;
    KinetoHealth health;
    std::vector<MeasuredRank> ranks; //!< that have files
    Time span;                       //!< latest end of a step less earliest start
    Time spanWithDevice;             //!< the same with GPU work that outlives the step
    /// By group and sequence; empty if ranks are missing (durations include waiting for them).
    std::vector<MeasuredCollective> collectives;
};

/**
 * Imports one step of a job from PyTorch's profiler files (Kineto), one a rank, with PyTorch
 * execution traces beside them if there are any. doc/formats/import.md says how.
 *
 * @param paths files, folders, patterns, in any order
 * @throws InputError for files that cannot be read or contradict each other, missing ranks, no GPU
 *         kernels, communications without sizes or that ranks disagree in
 * @throws UnsupportedError for communications that Echo does not have (gather, scatter), or if Echo
 *         was built without simdjson
 */
ImportedWorkload ImportKineto(const std::vector<std::string>& paths,
                              const KinetoOptions& options = {});

} // namespace echo
} // namespace ns3

#endif /* ECHO_KINETO_IMPORTER_H */
