// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_REPORT_ASSETS_H
#define ECHO_REPORT_ASSETS_H

#include <string_view>

namespace ns3
{
namespace echo
{

/**
 * @return the bytes of a file of report/web ("report.css"), compiled into the library so that a
 *         page can be written wherever the library is; empty if there is no such file
 */
std::string_view GetReportAsset(std::string_view name);

} // namespace echo
} // namespace ns3

#endif /* ECHO_REPORT_ASSETS_H */
