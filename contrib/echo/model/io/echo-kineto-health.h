// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_KINETO_HEALTH_H
#define ECHO_KINETO_HEALTH_H

#include "ns3/echo-enums.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** What an import found, used, guessed and left out. */
struct KinetoHealth
{
    struct Rank
    {
        uint32_t rank{0};
        std::string file;
        std::string executionTrace; //!< empty: none
        std::string gpu;
        std::string step;    //!< "10", "all", "whole file"
        Time start;          //!< of the step, after the earliest rank's
        Time span;           //!< of the step
        uint64_t kernels{0}; //!< without communications
        uint64_t copies{0};  //!< copies and fills
        uint64_t communications{0};
        uint32_t streams{0};
        uint32_t threads{0};
        Time kernelTime;      //!< kernels, copies and fills, without communications
        Time launchLatency;   //!< median from call to start on an idle stream
        uint64_t longGaps{0}; //!< delays of GPU streams above 20 us that nothing explains
        Time longGapTime;     //!< their sum
    };

    struct Kind
    {
        uint64_t count{0};
        uint64_t bytes{0}; //!< sum of sizes (nccl-tests' definition)
    };

    struct Kernels
    {
        uint64_t count{0};
        Time time; //!< recorded
    };

    uint32_t worldSize{0};
    std::vector<Rank> ranks;                 //!< that have files, by rank
    std::map<std::string, Kind> collectives; //!< by name of the kind, over all ranks with files
    std::map<std::string, uint64_t> sources; //!< where sizes come from: communications
    std::map<std::string, uint64_t> hints;   //!< algorithm and protocol in kernel names
    uint64_t withoutGroup{0}; //!< communications that name no group: taken to be of all ranks
    /// Kernels that look like communication, but of whose sizes or groups nothing is known.
    std::map<std::string, Kernels> otherCommunications;
    uint64_t droppedDependencies{0};         //!< guessed, but contradicted by recorded times
    uint64_t inferredByTime{0};              //!< dependencies found by recorded times only
    std::map<std::string, uint64_t> ignored; //!< events not used, by reason
    std::vector<std::string> warnings;

    /** Says the last two among the warnings. */
    void WarnOfCommunications();
    /** @return the report as text, lines ended */
    std::string ToString() const;
};

/** @return sorted numbers as "0 to 6 and 8" */
std::string FormatRankList(const std::vector<uint32_t>& ranks);

} // namespace echo
} // namespace ns3

#endif /* ECHO_KINETO_HEALTH_H */
