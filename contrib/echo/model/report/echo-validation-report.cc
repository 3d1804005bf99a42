// SPDX-License-Identifier: GPL-2.0-only
#include "echo-validation-report.h"

#include "echo-columns-document.h"
#include "echo-html-page.h"
#include "echo-output-folder.h"
#include "echo-text-table.h"

#include "ns3/echo-units.h"

#include <cmath>

namespace ns3
{
namespace echo
{

namespace
{

std::string TimeOrNothing(Time time)
{
    return time.IsZero() ? "" : Microseconds(time);
}

std::string ErrorOrNothing(Time time, Time packet)
{
    const double error = RelativeError(time, packet);
    return std::isnan(error) ? "" : FormatShare(100 * error);
}

const ReportColumns<ValidationRow> COLUMNS{
    {"operation",
     "text",
     "what it does",
     [](const ValidationRow& r) { return std::string(ToString(r.kind)); }},
    {"group_kind",
     "text",
     "dimension of the parallel plan",
     [](const ValidationRow& r) { return std::string(ToString(r.group)); }},
    {"ranks", "count", "members", [](const ValidationRow& r) { return std::to_string(r.ranks); }},
    {"hosts",
     "count",
     "hosts that the members are on",
     [](const ValidationRow& r) { return std::to_string(r.hosts); }},
    {"bytes",
     "bytes",
     "size as nccl-tests defines it",
     [](const ValidationRow& r) { return std::to_string(r.bytes); }},
    {"algorithm",
     "text",
     "how the bytes move",
     [](const ValidationRow& r) { return std::string(ToString(r.algorithm)); }},
    {"protocol",
     "text",
     "transport protocol",
     [](const ValidationRow& r) { return std::string(ToString(r.protocol)); }},
    {"channels",
     "count",
     "channels side by side",
     [](const ValidationRow& r) { return std::to_string(r.channels); }},
    {"instances",
     "count",
     "how many of it the scenario has",
     [](const ValidationRow& r) { return std::to_string(r.instances); }},
    {"packet_us",
     "us",
     "duration in packet fidelity; empty if not run",
     [](const ValidationRow& r) { return TimeOrNothing(r.packet); }},
    {"flow_us",
     "us",
     "duration in flow fidelity; empty if not run",
     [](const ValidationRow& r) { return TimeOrNothing(r.flow); }},
    {"analytical_us",
     "us",
     "duration in analytical fidelity; empty if not run",
     [](const ValidationRow& r) { return TimeOrNothing(r.analytical); }},
    {"flow_error_percent",
     "%",
     "flow over packet less 1",
     [](const ValidationRow& r) { return ErrorOrNothing(r.flow, r.packet); }},
    {"analytical_error_percent",
     "%",
     "analytical over packet less 1",
     [](const ValidationRow& r) { return ErrorOrNothing(r.analytical, r.packet); }},
    {"extrapolated",
     "0 or 1",
     "1: the estimate lies outside the calibrated range",
     [](const ValidationRow& r) { return std::string(r.extrapolated ? "1" : "0"); }},
};

const ReportColumns<ValidationStep> STEP_COLUMNS{
    {"models",
     "text",
     "fidelity, and whether kernels beside communication are slowed",
     [](const ValidationStep& s) { return s.models; }},
    {"step_us",
     "us",
     "length of the step as predicted",
     [](const ValidationStep& s) { return Microseconds(s.step); }},
    {"slowdown_us",
     "us",
     "mean over ranks: extra time of kernels beside communication",
     [](const ValidationStep& s) { return Microseconds(s.slowdown); }},
    {"measured_us",
     "us",
     "length of the step as measured; empty if not known",
     [](const ValidationStep& s) { return TimeOrNothing(s.measured); }},
    {"error_percent",
     "%",
     "predicted over measured less 1",
     [](const ValidationStep& s) { return ErrorOrNothing(s.step, s.measured); }},
};

std::string ShownTime(Time time)
{
    return time.IsZero() ? "-" : FormatTime(time);
}

std::string ShownError(Time time, Time packet)
{
    const double error = RelativeError(time, packet);
    return std::isnan(error) ? "-" : (error > 0 ? "+" : "") + FormatFixed(100 * error, 1) + " %";
}

std::string Describe(const ValidationRow& row)
{
    return std::string(ToString(row.kind)) + " " + ToString(row.group) + " of " +
           FormatBytes(row.bytes) + " on " + std::to_string(row.ranks) + " ranks";
}

std::string FormatError(const std::vector<ValidationRow>& rows, Fidelity fidelity)
{
    const ValidationError error = SummarizeErrors(rows, fidelity);
    if (error.rows == 0)
    {
        return std::string(ToString(fidelity)) + ": nothing to compare with packets\n";
    }
    return std::string(ToString(fidelity)) + " against packet: mean error " +
           FormatFixed(100 * error.mean, 2) + " %, worst " + FormatFixed(100 * error.worst, 2) +
           " % (" + Describe(rows[error.worstRow]) + "), " + std::to_string(error.within5) +
           " of " + std::to_string(error.rows) + " within 5 %, " + std::to_string(error.within10) +
           " within 10 %\n";
}

void WriteTimes(JsonWriter& json, const ValidationRow& row)
{
    const auto write = [&](const char* name, Time time) {
        json.Key(name);
        if (time.IsZero())
        {
            json.Null();
        }
        else
        {
            json.Value(time);
        }
    };
    write("packet", row.packet);
    write("flow", row.flow);
    write("analytical", row.analytical);
}

void WriteError(JsonWriter& json, const ValidationError& error)
{
    json.BeginObject().Member("rows", error.rows).Member("mean", error.mean);
    json.Member("worst", error.worst).Member("within5", error.within5);
    json.Member("within10", error.within10).EndObject();
}

void WriteSteps(JsonWriter& json, const std::vector<ValidationStep>& steps)
{
    json.Key("steps").BeginArray();
    for (const auto& step : steps)
    {
        json.BeginObject().Member("models", step.models).Member("step", step.step);
        json.Member("slowdown", step.slowdown).Member("measured", step.measured).EndObject();
    }
    json.EndArray();
}

void WriteData(JsonWriter& json,
               const std::string& title,
               const std::vector<ValidationRow>& rows,
               const std::vector<ValidationStep>& steps)
{
    json.BeginObject().Member("title", title).Key("errors").BeginObject();
    for (const Fidelity fidelity : {Fidelity::FLOW, Fidelity::ANALYTICAL})
    {
        json.Key(ToString(fidelity));
        WriteError(json, SummarizeErrors(rows, fidelity));
    }
    json.EndObject();
    WriteSteps(json, steps);
    json.Key("rows").BeginArray();
    for (const auto& row : rows)
    {
        json.BeginObject().Member("operation", ToString(row.kind));
        json.Member("group", ToString(row.group)).Member("ranks", row.ranks);
        json.Member("hosts", row.hosts).Member("bytes", row.bytes);
        json.Member("algorithm", ToString(row.algorithm));
        json.Member("protocol", ToString(row.protocol)).Member("channels", row.channels);
        json.Member("instances", row.instances).Member("extrapolated", row.extrapolated);
        WriteTimes(json, row);
        json.EndObject();
    }
    json.EndArray().EndObject();
}

} // namespace

const ReportColumns<ValidationRow>& GetValidationColumns()
{
    return COLUMNS;
}

const ReportColumns<ValidationStep>& GetStepColumns()
{
    return STEP_COLUMNS;
}

std::string FormatSteps(const std::vector<ValidationStep>& steps)
{
    TextTable table({{"the step", TextTable::LEFT},
                     {"predicted", TextTable::RIGHT},
                     {"slowdown of kernels", TextTable::RIGHT},
                     {"measured", TextTable::RIGHT},
                     {"error", TextTable::RIGHT}},
                    0);
    for (const auto& step : steps)
    {
        table.Add({step.models,
                   ShownTime(step.step),
                   ShownTime(step.slowdown),
                   ShownTime(step.measured),
                   ShownError(step.step, step.measured)});
    }
    return table.ToString();
}

double RelativeError(Time time, Time packet)
{
    if (time.IsZero() || packet.IsZero())
    {
        return std::nan("");
    }
    return static_cast<double>(time.GetPicoSeconds()) /
               static_cast<double>(packet.GetPicoSeconds()) -
           1;
}

ValidationError SummarizeErrors(const std::vector<ValidationRow>& rows, Fidelity fidelity)
{
    ValidationError result;
    for (size_t i = 0; i < rows.size(); ++i)
    {
        const Time time = fidelity == Fidelity::FLOW ? rows[i].flow : rows[i].analytical;
        const double error = std::fabs(RelativeError(time, rows[i].packet));
        if (std::isnan(error))
        {
            continue;
        }
        ++result.rows;
        result.mean += error;
        result.within5 += error <= 0.05;
        result.within10 += error <= 0.10;
        if (result.rows == 1 || error > result.worst)
        {
            result.worst = error;
            result.worstRow = i;
        }
    }
    result.mean /= result.rows > 0 ? static_cast<double>(result.rows) : 1;
    return result;
}

std::string FormatValidation(const std::vector<ValidationRow>& rows)
{
    TextTable table({{"operation", TextTable::LEFT},
                     {"group", TextTable::LEFT},
                     {"ranks", TextTable::RIGHT},
                     {"hosts", TextTable::RIGHT},
                     {"size", TextTable::RIGHT},
                     {"algorithm", TextTable::LEFT},
                     {"protocol", TextTable::LEFT},
                     {"channels", TextTable::RIGHT},
                     {"packet", TextTable::RIGHT},
                     {"flow", TextTable::RIGHT},
                     {"error", TextTable::RIGHT},
                     {"analytical", TextTable::RIGHT},
                     {"error", TextTable::RIGHT},
                     {"", TextTable::LEFT}},
                    0);
    for (const auto& row : rows)
    {
        table.Add({ToString(row.kind),
                   ToString(row.group),
                   std::to_string(row.ranks),
                   std::to_string(row.hosts),
                   FormatBytes(row.bytes),
                   ToString(row.algorithm),
                   ToString(row.protocol),
                   std::to_string(row.channels),
                   ShownTime(row.packet),
                   ShownTime(row.flow),
                   ShownError(row.flow, row.packet),
                   ShownTime(row.analytical),
                   ShownError(row.analytical, row.packet),
                   row.extrapolated ? "extrapolated" : ""});
    }
    return table.ToString() + "\n" + FormatError(rows, Fidelity::FLOW) +
           FormatError(rows, Fidelity::ANALYTICAL);
}

void WriteValidationReport(const std::string& directory,
                           const std::string& title,
                           const std::vector<ValidationRow>& rows,
                           const std::vector<ValidationStep>& steps)
{
    OutputFolder folder(directory);
    HtmlPage page;
    page.title = title + " - validation - Echo";
    page.body = "validation.html";
    page.scripts = {"common.js", "validation.js"};
    page.addData = [&](JsonWriter& json) { WriteData(json, title, rows, steps); };
    WriteHtmlPage(folder.Create("validation.html"), page);
    folder.Create("columns.md").Write(MakeColumnsDocument());
    OutputFile& table = folder.Create("validation.csv");
    table.Write(CsvHeader(COLUMNS));
    for (const auto& row : rows)
    {
        table.Write(CsvLine(COLUMNS, row));
    }
    OutputFile& stepTable = folder.Create("steps.csv");
    stepTable.Write(CsvHeader(STEP_COLUMNS));
    for (const auto& step : steps)
    {
        stepTable.Write(CsvLine(STEP_COLUMNS, step));
    }
    folder.Commit();
}

} // namespace echo
} // namespace ns3
