// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_COLUMNS_DOCUMENT_H
#define ECHO_COLUMNS_DOCUMENT_H

#include <string>

namespace ns3
{
namespace echo
{

/** @return the text of columns.md: every column and key of every file that a run writes */
std::string MakeColumnsDocument();

} // namespace echo
} // namespace ns3

#endif /* ECHO_COLUMNS_DOCUMENT_H */
