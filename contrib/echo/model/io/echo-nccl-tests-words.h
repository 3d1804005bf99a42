// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_NCCL_TESTS_WORDS_H
#define ECHO_NCCL_TESTS_WORDS_H

#include "ns3/echo-enums.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/*
 * The words of nccl-tests' output and of files named after it.
 */

std::vector<std::string> SplitWords(const std::string& line);
/** @return cells without blanks around them */
std::vector<std::string> SplitCommas(const std::string& line);
bool IsDigits(const std::string& text);

/** @return the line without what launchers put before it: "[1,0]<stdout>:", "[1,0]<stdout>", "12:
 * ", "node3: " before "#" or a number */
std::string StripLauncherPrefix(const std::string& line);

/** @return the operation that "all_reduce_perf", "alltoall" or "all-reduce" names; nothing if none
 */
std::optional<CollectiveKind> FindOperation(std::string name);
/** @return the operation that a file's name begins with or holds between separators */
std::optional<CollectiveKind> FindOperationInFileName(const std::string& path);
/** @return whether nccl-tests prints that word as the type of elements */
bool IsElementType(const std::string& word);
/** @return whether a cell of a row may hold it: a number or N/A */
bool IsValue(const std::string& word);
/** @return "2.29" for "22902" (NCCL_VERSION_CODE: from 2.9 on 10000 major + 100 minor + patch) or
 *          "2.16.5+cuda11.8"; empty for anything else */
std::string NcclRelease(const std::string& text);

} // namespace echo
} // namespace ns3

#endif /* ECHO_NCCL_TESTS_WORDS_H */
