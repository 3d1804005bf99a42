// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_COLUMNS_DOCUMENT_H
#define ECHO_COLUMNS_DOCUMENT_H

#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * @return the text of columns.md: every column and key of every file that a run writes
 * @param notes what the run folded and left out, a sentence each
 */
std::string MakeColumnsDocument(const std::vector<std::string>& notes = {});

} // namespace echo
} // namespace ns3

#endif /* ECHO_COLUMNS_DOCUMENT_H */
