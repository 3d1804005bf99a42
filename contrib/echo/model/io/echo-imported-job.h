// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_IMPORTED_JOB_H
#define ECHO_IMPORTED_JOB_H

#include "ns3/echo-workload-graph.h"

#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** A workload that was read from foreign files. */
struct ImportedJob
{
    WorkloadGraphPtr graph;
    std::string report;                //!< health report, lines ended
    std::vector<std::string> warnings; //!< of it: what a run of the job should say too
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_IMPORTED_JOB_H */
