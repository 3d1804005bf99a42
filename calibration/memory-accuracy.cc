// SPDX-License-Identifier: GPL-2.0-only
#include "memory-accuracy.h"

#include "step-table.h"

#include "ns3/echo-cluster-reader.h"
#include "ns3/echo-error.h"
#include "ns3/echo-generator-reader.h"
#include "ns3/echo-memory-estimate.h"
#include "ns3/echo-text-table.h"
#include "ns3/echo-yaml.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>

namespace ns3
{
namespace echo
{

namespace
{

constexpr double GIBIBYTE = 1073741824.0;

/** What of a cluster a memory estimate needs. */
struct GpuFacts
{
    GpuSpec gpu;
    uint32_t perHost{1};
    uint32_t hosts{1};
};

/** Plans of tables' rows; clusters are read once. */
class PlanReader
{
  public:
    struct Row
    {
        TrainingPlan plan;
        GpuSpec gpu;
        std::string label;
        std::map<std::string, std::string> results;
    };

    Row Read(const std::string& scenario,
             const StepTable& table,
             size_t index,
             const std::vector<std::string>& results)
    {
        const StepRow row = ReadStepRow(table, index, results);
        YamlNode root = YamlNode::LoadFile(scenario);
        for (const std::string& set : row.overrides.sets)
        {
            const size_t equals = set.find('=');
            root.Set(set.substr(0, equals), set.substr(equals + 1));
        }
        const GpuFacts& facts = GetFacts(root.ResolvePath(root.Get("cluster").AsString()));
        const auto hosts = static_cast<uint32_t>(root.GetInteger("hosts", facts.hosts, 1, 1 << 20));
        const auto ranks = static_cast<uint32_t>(
            root.GetInteger("ranks", int64_t(hosts) * facts.perHost, 1, 1 << 24));
        try
        {
            return {ReadTrainingPlan(root.Get("workload").Get("generate"), ranks),
                    facts.gpu,
                    row.label,
                    row.results};
        }
        catch (const InputError& error)
        {
            throw error.At({table.file, table.lines[index], error.GetLocation().item});
        }
    }

  private:
    const GpuFacts& GetFacts(const std::string& path)
    {
        const auto found = m_facts.find(path);
        if (found != m_facts.end())
        {
            return found->second;
        }
        const Cluster cluster = ReadClusterFile(path);
        GpuFacts facts;
        facts.gpu = cluster.gpu;
        facts.hosts = cluster.topology->GetHostCount();
        facts.perHost = static_cast<uint32_t>(cluster.topology->GetDevices(DeviceRole::GPU).size() /
                                              facts.hosts);
        return m_facts.emplace(path, facts).first->second;
    }

    std::map<std::string, GpuFacts> m_facts;
};

std::string Gibibytes(double bytes)
{
    return FormatFixed(bytes / GIBIBYTE, 1);
}

/** Rows of one kind, by whether they ran and by whether the estimate says they fit. */
struct Border
{
    uint32_t ranFits{0};
    uint32_t ranNot{0};
    uint32_t failedFits{0};
    uint32_t failedNot{0};
    double largestRan{0}; //!< largest estimate of a plan that ran, share of the GPU's memory
};

/** @return cells of the parts of @p estimate in GiB */
std::string Parts(const MemoryEstimate& estimate)
{
    return Gibibytes(double(estimate.parameterBytes)) + " | " +
           Gibibytes(double(estimate.gradientBytes)) + " | " +
           Gibibytes(double(estimate.optimizerBytes)) + " | " +
           Gibibytes(double(estimate.activationBytes));
}

void WriteRan(std::ostream& out, const std::vector<MeasuredSteps>& sources, PlanReader& reader)
{
    out << "## Measured steps\n\nAll of them ran. Fullest: the row with the largest share of its "
           "GPU's memory.\n\n| source | rows | said not to fit | fullest % "
           "|\n|---|---:|---:|---:|\n";
    std::string refused;
    for (const MeasuredSteps& source : sources)
    {
        const StepTable table = ReadStepTable(source.table);
        uint32_t beyond = 0;
        double fullest = 0;
        for (size_t i = 0; i < table.rows.size(); ++i)
        {
            const PlanReader::Row row = reader.Read(source.scenario, table, i, {"step_s"});
            const std::string message = CheckMemory(row.plan, row.gpu);
            beyond += message.empty() ? 0 : 1;
            refused += message.empty() ? "" : "- " + row.label + ": " + message + "\n";
            fullest = std::max(fullest,
                               double(EstimateLargestMemory(row.plan).second.GetTotal()) /
                                   double(row.gpu.memoryBytes));
        }
        out << "| " << source.title << " | " << table.rows.size() << " | " << beyond << " | "
            << FormatFixed(100 * fullest, 0) << " |\n";
    }
    out << "\n" << (refused.empty() ? "" : "Said not to fit:\n\n" + refused + "\n");
}

void WritePeaks(std::ostream& out,
                const std::string& title,
                const std::string& path,
                PlanReader& reader)
{
    const StepTable table = ReadStepTable(path + ".csv");
    out << "## " << title << "\n\n"
        << table.source
        << "\n| plan | measured GiB | estimate GiB | error % | parameters | gradients | optimizer "
           "| "
           "activations |\n|---|---:|---:|---:|---:|---:|---:|---:|\n";
    double sum = 0;
    for (size_t i = 0; i < table.rows.size(); ++i)
    {
        const StepRow settings = ReadStepRow(table, i, {"peak_gib", "stage"});
        const double measured = GetPositive(table, i, settings, "peak_gib");
        const PlanReader::Row row = reader.Read(path + ".yaml", table, i, {"peak_gib", "stage"});
        const MemoryEstimate estimate =
            row.results.count("stage") > 0
                ? EstimateMemory(row.plan, row.plan.parallel.pipeline - 1)
                : EstimateLargestMemory(row.plan).second;
        const double error = double(estimate.GetTotal()) / GIBIBYTE / measured - 1;
        sum += std::abs(error);
        out << "| " << row.label << " | " << FormatFixed(measured, 1) << " | "
            << Gibibytes(double(estimate.GetTotal())) << " | " << FormatFixed(100 * error, 1)
            << " | " << Parts(estimate) << " |\n";
    }
    out << "\nMean absolute error " << FormatFixed(100 * sum / double(table.rows.size()), 1)
        << " %.\n\n";
}

void WriteBorder(std::ostream& out,
                 const std::string& title,
                 const std::string& path,
                 PlanReader& reader)
{
    const StepTable table = ReadStepTable(path + ".csv");
    out << "## " << title << "\n\n" << table.source << "\n";
    std::map<std::string, Border> borders;
    std::string wrong;
    for (size_t i = 0; i < table.rows.size(); ++i)
    {
        const PlanReader::Row row = reader.Read(path + ".yaml", table, i, {"outcome"});
        const std::string outcome = row.results.at("outcome");
        if (outcome != "ran" && outcome != "out of memory")
        {
            throw InputError({table.file, table.lines[i], "outcome"},
                             "'" + outcome + "'",
                             "ran or out of memory");
        }
        Border& border = borders[std::to_string(row.plan.model.layers) + " layers, " +
                                 std::to_string(row.plan.model.sequence) + " tokens, tp " +
                                 (row.plan.parallel.tensor > 1 ? "2 and more" : "1")];
        const bool fits = CheckMemory(row.plan, row.gpu).empty();
        const double total = double(EstimateLargestMemory(row.plan).second.GetTotal());
        ++(outcome == "ran" ? (fits ? border.ranFits : border.ranNot)
                            : (fits ? border.failedFits : border.failedNot));
        if (outcome == "ran")
        {
            border.largestRan = std::max(border.largestRan, total / double(row.gpu.memoryBytes));
        }
        if (fits != (outcome == "ran"))
        {
            wrong += "| " + row.label + " | " + outcome + " | " +
                     FormatFixed(100 * total / double(row.gpu.memoryBytes), 0) + " |\n";
        }
    }
    out << "| model | ran, said to fit | ran, said not to | out of memory, said to fit | out of "
           "memory, said not to | fullest that ran, % |\n|---|---:|---:|---:|---:|---:|\n";
    for (const auto& [name, border] : borders)
    {
        out << "| " << name << " | " << border.ranFits << " | " << border.ranNot << " | "
            << border.failedFits << " | " << border.failedNot << " | "
            << FormatFixed(100 * border.largestRan, 0) << " |\n";
    }
    if (!wrong.empty())
    {
        out << "\n| plan | outcome | estimate, % of the GPU's memory |\n|---|---|---:|\n" << wrong;
    }
    out << "\n";
}

} // namespace

void WriteMemoryAccuracy(std::ostream& out,
                         const std::vector<MeasuredSteps>& sources,
                         const std::string& folder)
{
    out << "# Memory of a rank: estimate and measurement\n\n"
        << "Written by `./echo accuracy memory`; do not edit. The estimate (`EstimateMemory`, "
           "echo-memory-estimate.h) is the one behind the warning that a plan does not fit; no "
           "constant in it is set from these tables. It counts what a rank must hold, not what the "
           "framework, NCCL, and an allocator that cannot use all pieces take beside it: it is a "
           "lower bound, so that what it refuses cannot run, and plans that leave little room may "
           "fail.\n\n";
    PlanReader reader;
    WriteRan(out, sources, reader);
    WritePeaks(out, "Peaks: Megatron-Core", folder + "peaks-megatron", reader);
    WritePeaks(out, "Peaks: torchtitan", folder + "peaks-torchtitan", reader);
    WriteBorder(out, "What ran and what ran out of memory", folder + "border-llama", reader);
}

} // namespace echo
} // namespace ns3
