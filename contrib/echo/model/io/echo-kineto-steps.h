// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_KINETO_STEPS_H
#define ECHO_KINETO_STEPS_H

#include "echo-kineto-collectives.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** Which of the steps that every file marks are imported. */
struct KinetoStepChoice
{
    std::vector<int64_t> numbers; //!< of ProfilerStep#N; none: whole files
    std::vector<std::string> warnings;

    /** @return "10", "all" or "whole file" */
    std::string GetName() const;
};

/**
 * Chooses among the steps that every file has. "last" is the last one in which every rank launches
 * kernels: a profiler that is stopped after a step's end leaves the mark of a further one.
 * @param ranks with files and links
 * @param wanted "last", "all" or a number
 * @throws InputError for a step that not every file has
 */
KinetoStepChoice ChooseKinetoSteps(const std::vector<KinetoRankStep>& ranks,
                                   const std::string& wanted);

/**
 * @return when a rank's chosen steps ran. Marks of one number that overlap are one step; of those
 *         that do not (files of several profiles) the last counts, unless all steps are wanted.
 */
StepWindow WindowOfSteps(const KinetoTrace& trace, const KinetoStepChoice& choice);

} // namespace echo
} // namespace ns3

#endif /* ECHO_KINETO_STEPS_H */
