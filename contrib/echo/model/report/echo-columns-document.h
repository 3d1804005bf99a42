// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_COLUMNS_DOCUMENT_H
#define ECHO_COLUMNS_DOCUMENT_H

#include "echo-run-summary.h"

#include <string>

namespace ns3
{
namespace echo
{

/**
 * @return the text of columns.md: every column and key of every file that a run writes
 * @param summary of the run, whose notes it says too
 */
std::string MakeColumnsDocument(const RunSummary& summary = {});

} // namespace echo
} // namespace ns3

#endif /* ECHO_COLUMNS_DOCUMENT_H */
