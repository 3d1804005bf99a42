// SPDX-License-Identifier: GPL-2.0-only
#include "echo-import-command.h"

#include "echo-graph-writer.h"

#include "ns3/echo-error.h"
#include "ns3/echo-output-folder.h"
#include "ns3/echo-units.h"

#include <algorithm>
#include <iostream>
#include <memory>

namespace ns3
{
namespace echo
{

namespace
{

const uint64_t MOST_RANKS = 1 << 20;

std::string FormatNames()
{
    std::string names = "kineto";
    for (const auto& name : GetForeignFormats())
    {
        names += ", " + name;
    }
    return names;
}

/** Options that not every format has, and those that have it. */
const std::vector<std::pair<std::string, std::vector<std::string>>> OPTIONS_OF_FORMATS{
    {"step", {"kineto"}},
    {"missing-ranks", {"kineto"}},
    {"keep-gaps", {"kineto"}},
    {"align-clocks", {"kineto"}},
    {"groups", {"chakra"}},
    {"system", {"chakra"}},
    {"replicate", {"kineto", "chakra"}},
    {"first-dimension", {"simai", "astra-sim"}},
    {"passes", {"simai", "astra-sim"}},
};

/** @throws InputError for an option that the format would ignore */
void RefuseForeignOptions(const EchoCommandLine& line, const std::string& from)
{
    for (const auto& [option, formats] : OPTIONS_OF_FORMATS)
    {
        if (line.IsGiven(option) &&
            std::find(formats.begin(), formats.end(), from) == formats.end())
        {
            throw InputError({"", 0, "--" + option},
                             "an option that --from=" + from + " does not have",
                             "--from=" + formats.front() +
                                 (formats.size() > 1 ? " or " + formats.back() : ""));
        }
    }
}

} // namespace

void ImportCommand::AddOptions(EchoCommandLine& line)
{
    m_line = &line;
    line.AddOption("from", "format of the files: " + FormatNames(), m_from);
    line.AddList("in", "a file, a folder or a pattern; in any order", m_in);
    line.AddOption("out", "folder for the execution graphs; none: report only", m_out);
    line.AddOption("step", "kineto: last, all or N of ProfilerStep#N", m_kineto.step);
    line.AddOption("missing-ranks",
                   "kineto: ranks without files: refuse; copy a rank that has one; auto: copy if "
                   "there is one file only",
                   m_kineto.missingRanks);
    line.AddFlag(
        "keep-gaps", "kineto: keep delays of the GPU that nothing explains", m_kineto.keepGaps);
    line.AddFlag("align-clocks",
                 "kineto: shift clocks that differ so that collectives end together",
                 m_kineto.alignClocks);
    line.AddOption(
        "groups", "chakra: file of process groups; default: one among the files", m_foreign.groups);
    line.AddOption("system",
                   "chakra: ASTRA-sim's system file, whose roofline times nodes without a time",
                   m_foreign.system);
    line.AddOption("replicate",
                   "kineto, chakra: dp: the file of one rank stands for all of a symmetric job",
                   m_replicate);
    line.AddOption("ranks",
                   "ranks, if the file does not say; with --replicate: of the job that is built",
                   m_ranks,
                   1,
                   MOST_RANKS);
    line.AddOption("first-dimension",
                   "simai, astra-sim: size of the network's first dimension, for policies that "
                   "divide ranks by it",
                   m_firstDimension,
                   1,
                   MOST_RANKS);
    line.AddOption("passes", "simai, astra-sim: training steps", m_passes, 1, 1000);
}

WorkloadGraphPtr ImportCommand::Import() const
{
    if (m_from != "kineto")
    {
        ForeignOptions options = m_foreign;
        options.replicate = m_replicate;
        options.ranks = static_cast<uint32_t>(m_ranks);
        options.firstDimension = static_cast<uint32_t>(m_firstDimension);
        options.passes = static_cast<uint32_t>(m_passes);
        const ImportedJob job = ImportForeign(m_from, m_in, options);
        std::cout << job.report;
        return job.graph;
    }
    KinetoOptions options = m_kineto;
    options.replicate = m_replicate;
    options.ranks = static_cast<uint32_t>(m_ranks);
    options.onHealth = [](const KinetoHealth& health) { std::cout << health.ToString(); };
    const ImportedWorkload imported = ImportKineto(m_in, options);
    std::cout << "measured step, latest end less earliest start: " << FormatTime(imported.span)
              << "\n";
    return imported.graph;
}

int ImportCommand::Run()
{
    const auto& formats = GetForeignFormats();
    if (m_from != "kineto" && std::find(formats.begin(), formats.end(), m_from) == formats.end())
    {
        throw InputError({"", 0, "--from"}, "'" + m_from + "'", FormatNames());
    }
    RefuseForeignOptions(*m_line, m_from);
    if (m_in.empty())
    {
        throw InputError({"", 0, "--in"}, "none", "a file, a folder or a pattern");
    }
    const bool writes = !m_out.empty() && m_out != "none";
    std::unique_ptr<OutputFolder> folder;
    if (writes)
    {
        folder = std::make_unique<OutputFolder>(m_out); // before the work: it may be refused
    }
    const WorkloadGraphPtr graph = Import();
    if (writes)
    {
        WriteExecutionGraphs(*graph, *folder);
        folder->Commit();
        std::cout << "execution graphs: " << m_out << "/workload.json, one program a file\n";
    }
    return 0;
}

} // namespace echo
} // namespace ns3
