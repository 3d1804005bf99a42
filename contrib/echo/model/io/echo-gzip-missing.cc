// SPDX-License-Identifier: GPL-2.0-only
// Compiled where Boost.Iostreams or zlib is missing; else echo-gzip.cc.
#include "echo-input-file.h"

#include "ns3/echo-error.h"

namespace ns3
{
namespace echo
{

std::unique_ptr<ByteSource> OpenGzipFile(const std::string& path)
{
    throw UnsupportedError(path + ": found a gzipped file, but Echo was built without "
                                  "Boost.Iostreams and zlib: unpack it first");
}

} // namespace echo
} // namespace ns3
