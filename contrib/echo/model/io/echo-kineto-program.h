// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_KINETO_PROGRAM_H
#define ECHO_KINETO_PROGRAM_H

#include "echo-kineto-timeline.h"

#include "ns3/echo-workload-builder.h"

#include <map>
#include <vector>

namespace ns3
{
namespace echo
{

/** A communication as the execution graph takes it. */
struct ProgramCommunication
{
    uint32_t slot{0};
    CollectiveSpec spec;                                     //!< of a collective
    std::vector<CommunicationDescription::Element> elements; //!< of sends and receives
};

/**
 * Builds a rank's execution graph from its step: a stream "gpu N" for each CUDA stream, a stream
 * "cpu N" for each thread that launches or waits (0 is the main one).
 *
 * CPU time between two points is a HOST operator, a delay of a GPU stream that nothing explains is
 * one on that stream. The recorded duration of a communication is not used.
 *
 * @param communications by index in StepTimeline::activities, one for each communication
 * @param slots group slots that they name
 * @param keepGaps false: start activities as soon as what is known allows it
 */
ExecutionGraphPtr BuildKinetoProgram(const KinetoTrace& trace,
                                     const StepTimeline& timeline,
                                     const std::map<uint32_t, ProgramCommunication>& communications,
                                     uint32_t slots,
                                     bool keepGaps);

/** @return a kernel's name without "void", anonymous namespaces and what follows 96 characters */
std::string ShortKernelName(const std::string& name);

} // namespace echo
} // namespace ns3

#endif /* ECHO_KINETO_PROGRAM_H */
