// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_HTML_PAGE_H
#define ECHO_HTML_PAGE_H

#include "echo-json-writer.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ns3
{
namespace echo
{

/** What differs between the pages that Echo writes. */
struct HtmlPage
{
    std::string title;                             //!< any text
    std::string body;                              //!< file of report/web with the page's body
    std::vector<std::string> scripts;              //!< files of report/web, in order
    std::function<void(JsonWriter& json)> addData; //!< writes the one JSON value that they read
};

/**
 * Writes a page that needs nothing else: styles, charting library, scripts and data are in it, and
 * its content security policy forbids it to load anything.
 */
void WriteHtmlPage(OutputFile& file, const HtmlPage& page);

/** @return @p text with the characters that mean something in HTML replaced */
std::string EscapeHtml(std::string_view text);

} // namespace echo
} // namespace ns3

#endif /* ECHO_HTML_PAGE_H */
