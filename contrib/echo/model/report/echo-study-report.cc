// SPDX-License-Identifier: GPL-2.0-only
#include "echo-study-report.h"

#include "echo-html-page.h"
#include "echo-job-tables.h"
#include "echo-report-column.h"
#include "echo-text-table.h"

#include "ns3/echo-units.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

namespace ns3
{
namespace echo
{

namespace
{

double MicrosecondsOf(const RunRecord& run)
{
    return static_cast<double>(run.stepTime.GetPicoSeconds()) / 1e6;
}

std::string Join(const std::vector<std::string>& parts, size_t first, const std::string& separator)
{
    std::string text;
    for (size_t i = first; i < parts.size(); ++i)
    {
        text += (i == first ? "" : separator) + parts[i];
    }
    return text;
}

/** The scale of a panel: from 0, by steps of 1, 2 or 5 times a power of ten. */
struct Scale
{
    double step{1};    //!< microseconds
    uint32_t steps{1}; //!< at most five

    /** Up to the first step at or above @p most, microseconds. */
    explicit Scale(double most)
    {
        constexpr double STEPS = 5;
        const double least = std::max(most, 1e-6) / STEPS;
        const double power = std::pow(10, std::floor(std::log10(least)));
        step = 10 * power;
        for (const double factor : {5.0, 2.0, 1.0})
        {
            step = factor * power >= least ? factor * power : step;
        }
        steps = static_cast<uint32_t>(std::ceil(std::max(most, 1e-6) / step));
    }

    double GetEnd() const
    {
        return step * steps;
    }

    /** @return a tick's label, in the unit that suits the whole scale, with the step's digits */
    std::string FormatTick(uint32_t tick) const
    {
        const auto [unit, name] = GetEnd() >= 1e6   ? std::pair{1e6, " s"}
                                  : GetEnd() >= 1e3 ? std::pair{1e3, " ms"}
                                                    : std::pair{1.0, " us"};
        const double digits = -std::floor(std::log10(step / unit) + 1e-9);
        return FormatFixed(step * tick / unit, static_cast<int>(std::max(digits, 0.0))) + name;
    }
};

/** Bars of one panel, and the names around them. */
class PanelDrawing
{
  public:
    static constexpr double GAP = 14;
    static constexpr double LEFT = 70;
    static constexpr double HEIGHT = 180;
    static constexpr double BELOW = 120;
    static constexpr double ABOVE = 34;

    /** @param longest end of the scale, microseconds */
    PanelDrawing(const StudyGrid& grid, std::vector<size_t> columns, double top, double longest)
        : m_grid(grid), m_columns(std::move(columns)), m_top(top), m_scale(longest)
    {
    }

    std::string Draw() const
    {
        const std::string title = m_grid.columnAxes[0] + ": " + m_grid.columnNames[m_columns[0]][0];
        std::string svg = Text(0, m_top + 14, "start", title, "bold");
        for (uint32_t tick = 0; tick <= m_scale.steps; ++tick)
        {
            const double y = Y(m_scale.step * tick);
            svg +=
                Format("<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n",
                       LEFT,
                       GetWidth(m_grid),
                       y,
                       y);
            svg += Text(LEFT - 6, y + 4, "end", m_scale.FormatTick(tick), "normal");
        }
        for (size_t row = 0; row < m_grid.runs.size(); ++row)
        {
            svg += DrawGroup(row);
        }
        return svg;
    }

    static double GetWidth(const StudyGrid& grid)
    {
        return LEFT + GAP + static_cast<double>(grid.runs.size()) * GroupWidth(grid);
    }

    /** @return the longest step of the columns, microseconds */
    static double LongestOf(const StudyGrid& grid, const std::vector<size_t>& columns)
    {
        double most = 0;
        for (const auto& row : grid.runs)
        {
            for (const size_t column : columns)
            {
                most = std::max(most, MicrosecondsOf(row[column]));
            }
        }
        return most;
    }

    static std::string ColorOf(size_t bar)
    {
        static constexpr std::array<const char*, 6> COLORS{
            "#4878a8", "#e0a030", "#58a868", "#b05860", "#8868a8", "#888888"};
        return COLORS[bar % COLORS.size()];
    }

    static std::string Text(double x,
                            double y,
                            const char* anchor,
                            const std::string& text,
                            const char* weight)
    {
        return Format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-weight=\"%s\">",
                      x,
                      y,
                      anchor,
                      weight) +
               EscapeHtml(text) + "</text>\n";
    }

    template <typename... Ts>
    static std::string Format(const char* format, Ts... values)
    {
        char text[400];
        std::snprintf(text, sizeof(text), format, values...);
        return text;
    }

  private:
    /** @return bars in a group: columns of a panel */
    static double BarsOf(const StudyGrid& grid)
    {
        return static_cast<double>(
            std::count_if(grid.columnNames.begin(), grid.columnNames.end(), [&](const auto& names) {
                return names[0] == grid.columnNames[0][0];
            }));
    }

    /** @return width of a bar: 10, more where few leave room */
    static double BarWidth(const StudyGrid& grid)
    {
        const double group = 600 / static_cast<double>(grid.runs.size()) - GAP;
        return std::clamp(group / BarsOf(grid), 10.0, 24.0);
    }

    static double GroupWidth(const StudyGrid& grid)
    {
        return BarsOf(grid) * BarWidth(grid) + GAP;
    }

    double Y(double microseconds) const
    {
        return m_top + ABOVE + HEIGHT * (1 - microseconds / m_scale.GetEnd());
    }

    std::string DrawGroup(size_t row) const
    {
        std::string svg;
        const double width = BarWidth(m_grid);
        const double left = LEFT + GAP + static_cast<double>(row) * GroupWidth(m_grid);
        for (size_t bar = 0; bar < m_columns.size(); ++bar)
        {
            const double value = MicrosecondsOf(m_grid.runs[row][m_columns[bar]]);
            svg += Format("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\">",
                          left + static_cast<double>(bar) * width,
                          Y(value),
                          width - 1,
                          Y(0) - Y(value),
                          ColorOf(bar).c_str());
            svg += "<title>" +
                   EscapeHtml(Join(m_grid.rowNames[row], 0, ", ") + ", " +
                              Join(m_grid.columnNames[m_columns[bar]], 0, ", ") + ": " +
                              FormatFixed(value, 1) + " us") +
                   "</title></rect>\n";
        }
        const double x = left + static_cast<double>(m_columns.size()) * width / 2;
        const double y = Y(0) + 12;
        return svg +
               Format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\" "
                      "transform=\"rotate(-45 %.1f %.1f)\">",
                      x,
                      y,
                      x,
                      y) +
               EscapeHtml(Join(m_grid.rowNames[row], 0, " ")) + "</text>\n";
    }

    const StudyGrid& m_grid;
    std::vector<size_t> m_columns; //!< of the panel
    double m_top;
    Scale m_scale; //!< of step times
};

} // namespace

namespace
{

/** @return " (dense x 1.192, experts x 1.337)", or step times if none ran alone; of one job "" */
std::string DescribeJobs(const RunRecord& run)
{
    std::string text;
    for (const JobRecord& job : run.jobs)
    {
        text += (text.empty() ? " (" : ", ") + job.name + " ";
        text += job.alone ? "x " + FormatFixed(SlowdownOf(job), 3)
                          : FormatFixed(job.stepTime.GetPicoSeconds() / 1e6, 1);
    }
    return text.empty() ? "" : text + ")";
}

/** @return names of jobs of any run, in order of appearance */
std::vector<std::string> JobNamesOf(const StudyGrid& grid)
{
    std::vector<std::string> names;
    for (const auto& row : grid.runs)
    {
        for (const RunRecord& run : row)
        {
            for (const JobRecord& job : run.jobs)
            {
                if (std::find(names.begin(), names.end(), job.name) == names.end())
                {
                    names.push_back(job.name);
                }
            }
        }
    }
    return names;
}

/** @return step time and slowdown of a job, each with a comma before; empty where not known */
std::string JobFields(const RunRecord& run, const std::string& name)
{
    const auto job = std::find_if(run.jobs.begin(), run.jobs.end(), [&](const JobRecord& record) {
        return record.name == name;
    });
    if (job == run.jobs.end())
    {
        return ",,";
    }
    return "," + Microseconds(job->stepTime) + "," +
           (job->alone ? FormatShare(SlowdownOf(*job)) : "");
}

} // namespace

std::string FormatStudyTable(const StudyGrid& grid)
{
    std::string head = "| " + Join(grid.rowAxes, 0, " | ") + " |";
    std::string rule = "|";
    for (size_t i = 0; i < grid.rowAxes.size(); ++i)
    {
        rule += " --- |";
    }
    for (const auto& names : grid.columnNames)
    {
        head += " " + Join(names, 0, ", ") + " |";
        rule += " ---: |";
    }
    std::string text = head + "\n" + rule + "\n";
    for (size_t row = 0; row < grid.runs.size(); ++row)
    {
        text += "| " + Join(grid.rowNames[row], 0, " | ") + " |";
        for (const RunRecord& run : grid.runs[row])
        {
            text += " " + FormatFixed(MicrosecondsOf(run), 1) + DescribeJobs(run) + " |";
        }
        text += "\n";
    }
    return text;
}

std::string FormatStudyCsv(const StudyGrid& grid)
{
    std::string text;
    for (const auto* axes : {&grid.rowAxes, &grid.columnAxes})
    {
        for (const std::string& axis : *axes)
        {
            AppendCsvField(text, axis);
            text += ",";
        }
    }
    text += "step_time_us,packets,packet_hops,drops,pauses,ecn_marks,bytes_on_wire";
    const std::vector<std::string> jobs = JobNamesOf(grid);
    for (const std::string& name : jobs)
    {
        text += "," + name + "_step_time_us," + name + "_slowdown";
    }
    text += "\n";
    for (size_t row = 0; row < grid.runs.size(); ++row)
    {
        for (size_t column = 0; column < grid.columnNames.size(); ++column)
        {
            for (const auto* names : {&grid.rowNames[row], &grid.columnNames[column]})
            {
                for (const std::string& name : *names)
                {
                    AppendCsvField(text, name);
                    text += ",";
                }
            }
            const RunRecord& run = grid.runs[row][column];
            text += FormatFixed(MicrosecondsOf(run), 6);
            for (const uint64_t count :
                 {run.packets, run.packetHops, run.drops, run.pauses, run.ecnMarks, run.wireBytes})
            {
                text += "," + std::to_string(count);
            }
            for (const std::string& name : jobs)
            {
                text += JobFields(run, name);
            }
            text += "\n";
        }
    }
    return text;
}

std::string DrawStudy(const StudyGrid& grid)
{
    std::vector<std::pair<std::string, std::vector<size_t>>> panels;
    for (size_t column = 0; column < grid.columnNames.size(); ++column)
    {
        const std::string& name = grid.columnNames[column][0];
        const auto found = std::find_if(
            panels.begin(), panels.end(), [&](const auto& panel) { return panel.first == name; });
        (found == panels.end() ? panels.emplace_back(name, std::vector<size_t>{}) : *found)
            .second.push_back(column);
    }
    constexpr double TITLE = 44;
    constexpr double PANEL = PanelDrawing::ABOVE + PanelDrawing::HEIGHT + PanelDrawing::BELOW;
    std::string body = PanelDrawing::Text(0, 14, "start", grid.title, "bold");
    double x = 0;
    for (size_t bar = 0; bar < panels[0].second.size(); ++bar)
    {
        const std::string name = Join(grid.columnNames[panels[0].second[bar]], 1, ", ");
        body += PanelDrawing::Format(
            "<rect x=\"%.1f\" y=\"24\" width=\"10\" height=\"10\" fill=\"%s\"/>\n",
            x,
            PanelDrawing::ColorOf(bar).c_str());
        body += PanelDrawing::Text(x + 14, 33, "start", name, "normal");
        x += 34 + 7 * static_cast<double>(name.size());
    }
    std::vector<double> longest;
    for (const auto& [name, columns] : panels)
    {
        longest.push_back(PanelDrawing::LongestOf(grid, columns));
    }
    // Panels that can share a scale do, so that they can be compared.
    const auto [least, most] = std::minmax_element(longest.begin(), longest.end());
    if (*most < 4 * *least)
    {
        longest.assign(longest.size(), *most);
    }
    for (size_t panel = 0; panel < panels.size(); ++panel)
    {
        const double top = TITLE + PANEL * static_cast<double>(panel);
        body += PanelDrawing(grid, panels[panel].second, top, longest[panel]).Draw();
    }
    const double title = 7.5 * static_cast<double>(grid.title.size());
    const double width = std::max({PanelDrawing::GetWidth(grid), x, title}) + 16;
    const double height = TITLE + PANEL * static_cast<double>(panels.size());
    return PanelDrawing::Format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
                                "height=\"%.0f\" viewBox=\"-8 0 %.0f %.0f\" "
                                "font-family=\"sans-serif\" font-size=\"12\">\n"
                                "<rect x=\"-8\" width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                                width,
                                height,
                                width,
                                height) +
           body + "</svg>\n";
}

} // namespace echo
} // namespace ns3
