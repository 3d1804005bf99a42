// SPDX-License-Identifier: GPL-2.0-only
// Compiled where simdjson is missing; else the readers of traces.
#include "echo-kineto-trace.h"
#include "echo-pytorch-et-reader.h"

namespace ns3
{
namespace echo
{

namespace
{

[[noreturn]] void Fail(const std::string& file)
{
    throw UnsupportedError(file + ": found a trace of PyTorch, but Echo was built without simdjson");
}

} // namespace

KinetoTrace ReadKinetoTrace(const std::string& /*text*/, const std::string& file)
{
    Fail(file);
}

TraceFormat RecognizeTrace(const std::string& /*text*/, const std::string& file)
{
    Fail(file);
}

ExecutionTrace ReadExecutionTrace(const std::string& /*text*/, const std::string& file)
{
    Fail(file);
}

} // namespace echo
} // namespace ns3
