// SPDX-License-Identifier: GPL-2.0-only
#include "echo-study-reader.h"

#include "echo-yaml.h"

#include <filesystem>
#include <set>

namespace ns3
{
namespace echo
{

namespace
{

constexpr size_t MOST_VALUES = 64; //!< of an axis

StudyAxis ReadAxis(const YamlNode& node)
{
    node.RequireMap();
    StudyAxis axis;
    axis.name = node.Get("axis").AsString();
    const YamlNode values = node.Get("values");
    std::set<std::string> names;
    for (const auto& entry : values.GetEntries())
    {
        entry.RequireMap();
        StudyAxis::Value value;
        value.name = entry.Get("name").AsString();
        if (!names.insert(value.name).second)
        {
            entry.Get("name").Fail("'" + value.name + "' a second time", "names that differ");
        }
        for (const auto& set : entry.Get("set").GetEntries())
        {
            value.sets.push_back(set.AsString());
        }
        entry.RefuseUnknownKeys();
        axis.values.push_back(std::move(value));
    }
    if (axis.values.empty() || axis.values.size() > MOST_VALUES)
    {
        values.Fail(std::to_string(axis.values.size()) + " values", "1 to 64");
    }
    node.RefuseUnknownKeys();
    return axis;
}

std::vector<StudyAxis> ReadAxes(const YamlNode& node)
{
    std::vector<StudyAxis> axes;
    for (const auto& entry : node.GetEntries())
    {
        axes.push_back(ReadAxis(entry));
    }
    if (axes.empty())
    {
        node.Fail("no axis", "one or more");
    }
    return axes;
}

} // namespace

Study ReadStudy(const std::string& path)
{
    const YamlNode root = YamlNode::LoadFile(path);
    root.RequireMap();
    root.Get("echo_study").AsInteger(1, 1);
    Study study;
    study.name = root.GetString("name", std::filesystem::path(path).stem().string());
    study.title = root.GetString("title", study.name);
    study.base = root.ResolvePath(root.Get("base").AsString());
    study.rows = ReadAxes(root.Get("rows"));
    study.columns = ReadAxes(root.Get("columns"));
    root.RefuseUnknownKeys();
    return study;
}

} // namespace echo
} // namespace ns3
