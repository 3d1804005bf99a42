// SPDX-License-Identifier: GPL-2.0-only
#include "echo-layer-importer.h"

#include "echo-import-report.h"
#include "echo-input-file.h"
#include "echo-layer-program.h"
#include "echo-rank-replica.h"

#include "ns3/echo-units.h"
#include "ns3/echo-workload-builder.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

namespace
{

uint32_t RanksOf(const LayerTable& table, const LayerOptions& options)
{
    if (table.ranks > 0 && options.ranks > 0 && table.ranks != options.ranks)
    {
        throw InputError({table.file, 1, "all_gpus"},
                         std::to_string(table.ranks) + " beside ranks " +
                             std::to_string(options.ranks),
                         "the same number");
    }
    if (table.ranks == 0 && options.ranks == 0 && options.defaultRanks == 0)
    {
        throw InputError({table.file, 1, "all_gpus"},
                         "no number of ranks",
                         "--ranks=N, or ranks: N in a scenario's import");
    }
    const uint32_t said = std::max(table.ranks, options.ranks);
    return said > 0 ? said : options.defaultRanks;
}

/** @throws InputError if a first dimension is given that no layer's policy divides ranks by */
void CheckFirstDimension(const LayerTable& table, const LayerOptions& options)
{
    const bool isUsed =
        std::any_of(table.layers.begin(), table.layers.end(), [](const Layer& layer) {
            return layer.policy == LayerPolicy::DATA_MODEL ||
                   layer.policy == LayerPolicy::MODEL_DATA;
        });
    if (options.firstDimension > 0 && !isUsed)
    {
        throw InputError({table.file, 1, "parallelism"},
                         "a policy that does not divide ranks by a first dimension",
                         "HYBRID_DATA_MODEL or HYBRID_MODEL_DATA, or no first dimension");
    }
}

/** Counts checkpoints from which nothing is repeated, and layers before which nothing is. */
void CountIdleCheckpoints(const LayerTable& table, ImportReport& report)
{
    uint64_t idle = 0; // checkpoints
    uint64_t alone = 0;
    bool isOpen = false; // a checkpoint, from which nothing was repeated yet
    for (uint32_t layer = 0; layer < table.layers.size(); ++layer)
    {
        const bool isRestart = table.isRestart[layer];
        idle += isRestart && isOpen ? 1 : 0;
        isOpen = isOpen || isRestart;
        if (table.isRepeated[layer])
        {
            alone += isRestart || layer == 0 ? 1 : 0;
            isOpen = isRestart;
        }
    }
    idle += isOpen ? 1 : 0;
    if (idle > 0)
    {
        report.ignored["checkpoints from which no layer repeats (checkpoint_initiates)"] = idle;
    }
    if (alone > 0)
    {
        report.ignored["checkpoint_initiates at a checkpoint or the first layer"] = alone;
    }
}

void Describe(const LayerTable& table,
              const LayerGroups& groups,
              const MicroBatchRows& rows,
              const LayerOptions& options,
              ImportReport& report)
{
    report.notes.push_back(
        std::to_string(table.layers.size()) + (table.layers.size() == 1 ? " layer" : " layers") +
        ", tensor parallel " + std::to_string(table.modelGroup) + ", expert parallel " +
        std::to_string(table.expertGroup) + ", pipeline stages " + std::to_string(table.stages) +
        ", data parallel " + std::to_string(groups.GetDataDegree()) + ", micro-batches " +
        std::to_string(table.microBatches));
    report.notes.push_back(std::string("sizes of all-gathers are those of ") +
                           (options.isGatheredSize ? "the gathered output (SimAI)"
                                                   : "what one rank gives (ASTRA-sim)"));
    if (table.stages > 1 && rows.length > 0)
    {
        report.notes.push_back("pipeline: each stage runs the file's layers, all micro-batches "
                               "forward, then all backward, and sends " +
                               FormatBytes(table.stageBytes) + " a micro-batch");
    }
    else if (table.stages > 1)
    {
        report.warnings.push_back(
            "the pipeline is left out: " +
            std::string(table.stageBytes == 0 ? "the file names no bytes between stages (pp_comm)"
                                              : "its micro-batches cannot be told apart"));
    }
    const bool isPlaceholder =
        std::all_of(table.layers.begin(), table.layers.end(), [](const Layer& layer) {
            const Time least = NanoSeconds(1);
            return layer.forward.compute <= least && layer.inputGradient.compute <= least &&
                   layer.weightGradient.compute <= least;
        });
    if (isPlaceholder && table.policy != LayerPolicy::MICRO)
    {
        report.warnings.push_back("no computation takes more than 1 ns (AICB writes that without "
                                  "a GPU to measure): a step is communication only");
    }
}

CommGroupPtr AddGroup(WorkloadBuilder& builder,
                      const LayerGroups& groups,
                      LayerRanks set,
                      uint32_t rank)
{
    const std::vector<uint32_t> members = groups.GetMembers(set, rank);
    std::vector<RankId> ids(members.begin(), members.end());
    const std::string name =
        std::string(ToString(KindOf(set))) + " of rank " + std::to_string(members.front());
    // Sets that happen to have the same members are different communicators.
    const uint32_t twin =
        set == LayerRanks::NEXT_STAGE ? uint32_t(LayerRanks::PREVIOUS_STAGE) : uint32_t(set);
    return builder.AddGroup(KindOf(set), name, std::move(ids), twin);
}

} // namespace

ImportedJob ImportLayers(const std::vector<std::string>& paths, const LayerOptions& options)
{
    const auto files = FindInputFiles(paths, {".txt"});
    if (files.size() != 1)
    {
        throw InputError(
            {files.front(), 0, ""}, std::to_string(files.size()) + " files", "one workload file");
    }
    const LayerTable table = ReadLayerTable(files.front());
    const uint32_t ranks = RanksOf(table, options);
    CheckFirstDimension(table, options);
    const LayerGroups groups(table, ranks, options.firstDimension);
    const MicroBatchRows rows =
        table.stages > 1 && table.stageBytes > 0 ? FindMicroBatches(table) : MicroBatchRows();

    ImportReport report;
    report.ranks = ranks;
    report.files = 1;
    report.format = options.isGatheredSize ? "SimAI" : "ASTRA-sim";
    Describe(table, groups, rows, options, report);
    CountIdleCheckpoints(table, report);

    WorkloadBuilder builder(ranks);
    ProgramPool pool;
    std::vector<ExecutionGraphPtr> programs;
    std::vector<std::vector<LayerRanks>> slots;
    for (uint32_t stage = 0; stage < groups.GetStages(); ++stage)
    {
        LayerProgram program = BuildLayerProgram(
            table, groups, rows, stage, options.passes, options.isGatheredSize, report.ignored);
        slots.push_back(program.slots);
        programs.push_back(pool.Seal(std::move(program.draft), table.file));
    }
    SharedGroups shared(ranks);
    for (uint32_t rank = 0; rank < ranks; ++rank)
    {
        const uint32_t stage = groups.GetStage(rank);
        std::vector<CommGroupPtr> bound;
        for (LayerRanks set : slots[stage])
        {
            const bool isPair = set == LayerRanks::NEXT_STAGE || set == LayerRanks::PREVIOUS_STAGE;
            auto make = [&] { return AddGroup(builder, groups, set, rank); };
            bound.push_back(isPair ? make() : shared.Get(0, uint32_t(set), rank, make));
        }
        builder.SetProgram(RankId(rank), programs[stage], std::move(bound));
    }
    ImportedJob job;
    job.graph = builder.Build();
    job.report = report.Finish(*job.graph, table.file);
    return job;
}

} // namespace echo
} // namespace ns3
