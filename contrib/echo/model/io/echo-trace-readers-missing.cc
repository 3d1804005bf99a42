// SPDX-License-Identifier: GPL-2.0-only
// Compiled where simdjson is missing; else the readers of traces.
#include "echo-chakra-trace.h"
#include "echo-graph-reader.h"
#include "echo-kineto-trace.h"
#include "echo-pytorch-et-reader.h"
#include "echo-tracer-graph.h"

namespace ns3
{
namespace echo
{

namespace
{

[[noreturn]] void Fail(const std::string& file)
{
    throw UnsupportedError(
        file + ": found a trace or an execution graph, but Echo was built without simdjson");
}

} // namespace

KinetoTrace ReadKinetoTrace(const std::string& file)
{
    Fail(file);
}

TraceFormat RecognizeTrace(const std::string& file)
{
    Fail(file);
}

ExecutionTrace ReadExecutionTrace(const std::string& file)
{
    Fail(file);
}

ChakraJson ReadChakraJson(const std::string& file)
{
    Fail(file);
}

TracerFile ReadTracerFile(const std::string& file)
{
    Fail(file);
}

WorkloadGraphPtr ReadExecutionGraphs(const std::string& folder)
{
    Fail(folder);
}

} // namespace echo
} // namespace ns3
