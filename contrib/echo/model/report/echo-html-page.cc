// SPDX-License-Identifier: GPL-2.0-only
#include "echo-html-page.h"

#include "echo-report-assets.h"

#include "ns3/assert.h"

namespace ns3
{
namespace echo
{

namespace
{

std::string_view Asset(std::string_view name)
{
    const std::string_view text = GetReportAsset(name);
    NS_ASSERT_MSG(!text.empty(), "no such file in report/web: " << name);
    return text;
}

} // namespace

std::string EscapeHtml(std::string_view text)
{
    std::string escaped;
    for (const char c : text)
    {
        switch (c)
        {
        case '&':
            escaped += "&amp;";
            break;
        case '<':
            escaped += "&lt;";
            break;
        case '>':
            escaped += "&gt;";
            break;
        case '"':
            escaped += "&quot;";
            break;
        case '\'':
            escaped += "&#39;";
            break;
        default:
            // XML, unlike HTML, has no other control characters.
            escaped += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? '?' : c;
        }
    }
    return escaped;
}

void WriteHtmlPage(OutputFile& file, const HtmlPage& page)
{
    file.Write("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
               "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
               "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
               "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">\n<title>");
    file.Write(EscapeHtml(page.title));
    file.Write("</title>\n<style>\n");
    file.Write(Asset("page.css"));
    file.Write("</style>\n</head>\n<body>\n");
    file.Write(Asset(page.body));
    file.Write("<script type=\"application/json\" id=\"data\">");
    JsonWriter json(file); // escapes what could end the element
    page.addData(json);
    json.Flush();
    file.Write("</script>\n<!--\n");
    file.Write(Asset("chart-licenses.txt"));
    file.Write("-->\n<script>\n");
    file.Write(Asset("chart.umd.min.js"));
    file.Write("</script>\n");
    for (const auto& script : page.scripts)
    {
        file.Write("<script>\n");
        file.Write(Asset(script));
        file.Write("</script>\n");
    }
    file.Write("</body>\n</html>\n");
}

} // namespace echo
} // namespace ns3
