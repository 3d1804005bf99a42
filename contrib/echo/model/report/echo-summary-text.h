// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_SUMMARY_TEXT_H
#define ECHO_SUMMARY_TEXT_H

#include "echo-run-summary.h"

#include <string>

namespace ns3
{
namespace echo
{

/**
 * @return what a run prints: step time, where it went, communication by operation, the busiest
 *         links, what the network did, warnings; plain text that ends with a newline
 */
std::string FormatSummary(const RunSummary& summary);

} // namespace echo
} // namespace ns3

#endif /* ECHO_SUMMARY_TEXT_H */
