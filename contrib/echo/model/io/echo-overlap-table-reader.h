// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_OVERLAP_TABLE_READER_H
#define ECHO_OVERLAP_TABLE_READER_H

#include "ns3/echo-constant-slowdown.h"
#include "ns3/echo-kernel-features.h"

#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Reads kernels that were measured alone and beside communication (doc/formats/slowdown.md): CSV
 * with the columns of the paper's published set (NetX-lab/Echo-slowdown), where `ground_truth` is
 * the time alone and `duration` the one in training, in ns, whatever these names suggest: its
 * `slowdown` is (duration - ground_truth) / (overlap_ratio x ground_truth), and that is checked.
 * @throws InputError
 */
std::vector<OverlapSample> ReadOverlapTable(const std::string& path);

/**
 * Reads factors by GPU and kind of kernel (doc/formats/slowdown.md).
 * @return those for a GPU of that name
 * @throws InputError if the file has none for it
 */
SlowdownFactors ReadSlowdownFactors(const std::string& path, const std::string& gpu);

} // namespace echo
} // namespace ns3

#endif /* ECHO_OVERLAP_TABLE_READER_H */
