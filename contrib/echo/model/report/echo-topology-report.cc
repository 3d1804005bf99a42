// SPDX-License-Identifier: GPL-2.0-only
#include "echo-topology-report.h"

#include "echo-html-page.h"
#include "echo-network-drawing.h"
#include "echo-output-folder.h"

namespace ns3
{
namespace echo
{

namespace
{

void WriteList(JsonWriter& json, const std::vector<std::string>& list)
{
    json.BeginArray();
    for (const auto& text : list)
    {
        json.Value(text);
    }
    json.EndArray();
}

void WriteData(JsonWriter& json, const TopologyPage& page)
{
    json.BeginObject().Member("title", page.title).Key("facts").BeginArray();
    for (const auto& [name, value] : page.facts)
    {
        json.BeginArray().Value(name).Value(value).EndArray();
    }
    json.EndArray().Key("network");
    NetworkDrawing(page.network, {}, Time()).Write(json);
    json.Key("tables").BeginArray();
    for (const auto& table : page.tables)
    {
        json.BeginObject().Member("title", table.title).Key("columns");
        WriteList(json, table.columns);
        json.Key("rows").BeginArray();
        for (const auto& row : table.rows)
        {
            WriteList(json, row);
        }
        json.EndArray().EndObject();
    }
    json.EndArray().EndObject();
}

} // namespace

void WriteTopologyReport(const std::string& directory, const TopologyPage& page)
{
    OutputFolder folder(directory);
    HtmlPage html;
    html.title = page.title + " - topology - Echo";
    html.body = "topology.html";
    html.scripts = {"common.js", "network.js", "topology.js"};
    html.addData = [&](JsonWriter& json) { WriteData(json, page); };
    WriteHtmlPage(folder.Create("topology.html"), html);
    folder.Commit();
}

} // namespace echo
} // namespace ns3
