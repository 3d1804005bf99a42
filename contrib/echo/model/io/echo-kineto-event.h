// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_KINETO_EVENT_H
#define ECHO_KINETO_EVENT_H

// Internal to the reader of profiler files; not exported.

#include "echo-json-scan.h"
#include "echo-kineto-trace.h"

#include <optional>
#include <string>
#include <string_view>

namespace ns3
{
namespace echo
{

/** Categories of events, in the spellings of all Kineto versions. */
enum class KinetoCategory : uint8_t
{
    KERNEL,
    COPY,
    SET,
    RUNTIME,
    SYNC,
    CPU,
    OTHER, //!< not used
};

KinetoCategory ParseKinetoCategory(std::string_view text);

/** @return what a call of the CUDA or HIP runtime or driver does, by its name */
HostCall::Kind ParseHostCall(std::string_view name);

/** What the "args" of an event may say; the rest is skipped. */
struct KinetoArguments
{
    int64_t correlation{-1};
    std::optional<int64_t> stream;
    std::optional<int64_t> device;
    int64_t bytes{0};
    std::optional<int64_t> waitOnStream;
    int64_t recordCorrelation{-1};
    int64_t eventIndex{-1};
    int64_t shapeElements{-1};  //!< of the first input; -1 if it is no tensor
    std::string shapeType;      //!< of the first input
    int64_t tensorElements{-1}; //!< of the first input that is a tensor; -1: none of the first ones
    std::string tensorType;     //!< of that input
    CommunicationRecord communication;
};

/** Reads the "args" of an event; none is as good as empty ones. */
KinetoArguments ReadKinetoArguments(json::object& event);

/** Reads "distributedInfo": rank, ranks in all, process groups. */
void ReadDistributedInfo(json::object info, KinetoTrace& trace);

/** Reads "deviceProperties": the GPU's name. */
void ReadDevices(json::array devices, KinetoTrace& trace);

} // namespace echo
} // namespace ns3

#endif /* ECHO_KINETO_EVENT_H */
