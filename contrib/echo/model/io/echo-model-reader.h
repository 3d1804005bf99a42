// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_MODEL_READER_H
#define ECHO_MODEL_READER_H

#include "echo-yaml.h"

#include "ns3/echo-transformer-shape.h"

namespace ns3
{
namespace echo
{

/**
 * Reads the `model` of a generated workload: a preset or a kind, and sizes
 * (doc/formats/generate.md).
 * @throws InputError with file and line
 */
TransformerShape ReadTransformerShape(const YamlNode& node);

} // namespace echo
} // namespace ns3

#endif /* ECHO_MODEL_READER_H */
