// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_STUDY_COMMAND_H
#define ECHO_STUDY_COMMAND_H

#include "ns3/echo-study-report.h"

#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** What `./echo study` does: run a scenario for each combination of values, print and draw. */
struct StudyCommand
{
    std::string file;              //!< the study
    std::vector<std::string> sets; //!< path.to.key=value for every run, after the study's own
    std::string out;               //!< folder; empty: echo-out/NAME; "none": no files

    /** @return exit code 0. @throws InputError, UnsupportedError, StallError */
    int Run();

    /** @return the runs. @throws as Run */
    StudyGrid RunAll() const;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_STUDY_COMMAND_H */
