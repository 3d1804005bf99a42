// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_RUN_COMMAND_H
#define ECHO_RUN_COMMAND_H

#include "ns3/echo-layered-graph.h"
#include "ns3/echo-scenario-reader.h"
#include "ns3/echo-topology.h"

#include <string>

namespace ns3
{
namespace echo
{

/** What `./echo run` does: read, simulate, print the summary, write the folder. */
struct RunCommand
{
    std::string file; //!< the scenario
    ScenarioOverrides overrides;
    std::string out; //!< folder; empty: echo-out/NAME; "none": no files

    /** @return exit code 0. @throws InputError, UnsupportedError, StallError */
    int Run();
};

/** @return a topology as the report draws it */
LayeredGraph MakeLayeredGraph(const Topology& topology);

} // namespace echo
} // namespace ns3

#endif /* ECHO_RUN_COMMAND_H */
