// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_VALIDATE_COMMAND_H
#define ECHO_VALIDATE_COMMAND_H

#include "ns3/echo-scenario-reader.h"

#include <string>

namespace ns3
{
namespace echo
{

/** What `./echo validate` does: read, run each distinct communication thrice, print, write. */
struct ValidateCommand
{
    std::string file; //!< the scenario
    ScenarioOverrides overrides;
    std::string out; //!< folder; empty: echo-out/NAME-validation; "none": no files

    /** @return exit code 0. @throws InputError, UnsupportedError, StallError */
    int Run();
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_VALIDATE_COMMAND_H */
