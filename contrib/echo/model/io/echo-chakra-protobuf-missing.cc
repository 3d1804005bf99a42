// SPDX-License-Identifier: GPL-2.0-only
// Compiled where protobuf is missing; else echo-chakra-protobuf.cc.
#include "echo-chakra-trace.h"

#include "ns3/echo-error.h"

namespace ns3
{
namespace echo
{

ChakraTrace ReadChakraProtobuf(const std::string& file)
{
    throw UnsupportedError(file + ": found a Chakra execution trace, but Echo was built without "
                                  "protobuf");
}

} // namespace echo
} // namespace ns3
