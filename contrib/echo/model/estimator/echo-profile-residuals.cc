// SPDX-License-Identifier: GPL-2.0-only
#include "echo-profile-residuals.h"

#include "echo-nccl-selector.h"
#include "echo-white-box-cost-model.h"

#include "ns3/boolean.h"
#include "ns3/string.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace ns3
{
namespace echo
{

namespace
{

using Scale = std::tuple<CollectiveKind, uint32_t, uint32_t>;

/** @return the value below which @p part of the sorted values lie */
double Quantile(const std::vector<double>& sorted, double part)
{
    const auto rank = static_cast<size_t>(std::ceil(part * static_cast<double>(sorted.size())));
    return sorted[std::max<size_t>(rank, 1) - 1];
}

} // namespace

NcclEnvironment EnvironmentOf(const NcclEnvironment& machine, const Measurement& row)
{
    NcclEnvironment environment = machine;
    environment.version = row.tunerRelease.empty() ? machine.version : row.tunerRelease;
    return environment;
}

std::vector<double> EstimateRows(const MachineProfile& profile,
                                 const std::vector<Measurement>& rows,
                                 const std::string& rule)
{
    std::vector<double> times;
    for (const RowEstimate& estimate : EstimateWithChoices(profile, rows, rule))
    {
        times.push_back(estimate.us);
    }
    return times;
}

std::vector<RowEstimate> EstimateWithChoices(const MachineProfile& profile,
                                             const std::vector<Measurement>& rows,
                                             const std::string& rule)
{
    const bool exactly = rule == "tuner-exactly";
    // By the release that a row ran and whether one thread issued the kernels of its host.
    std::map<std::pair<std::string, bool>, std::pair<Ptr<WhiteBoxCostModel>, Ptr<NcclSelector>>>
        machines;
    const auto machineOf = [&](const Measurement& row) {
        auto& [model, selector] = machines[{row.tunerRelease, row.oneThread}];
        if (!model)
        {
            MachineProfile measured = profile;
            measured.oneThreadPerHost = row.oneThread;
            measured.nccl = EnvironmentOf(profile.nccl, row);
            model = CreateObject<WhiteBoxCostModel>();
            model->SetAttribute("BackToBack", BooleanValue(true));
            model->SetProfile(std::make_shared<const MachineProfile>(measured));
            selector = CreateObject<NcclSelector>();
            selector->SetAttribute("Rule", StringValue(exactly ? "tuner" : rule));
            selector->SetCostModel(model);
        }
        return std::make_pair(model, selector);
    };
    std::vector<RowEstimate> estimates;
    for (const Measurement& row : rows)
    {
        const GroupShape shape = EvenShape(row.ranks, row.hosts, profile.nicsPerHost);
        CollectiveSpec spec;
        spec.kind = row.kind;
        spec.bytes = row.bytes;
        const auto [model, selector] = machineOf(row);
        const CollectiveChoice choice = selector->SelectFor(spec, shape);
        CostQuery query;
        query.kind = row.kind;
        query.bytes = static_cast<double>(row.bytes);
        query.how = {choice.algorithm, choice.protocol};
        query.betweenHosts = row.hosts > 1;
        const CostTerms terms =
            exactly ? model->GetTerms(shape, query) : model->GetTermsOf(spec, choice, shape, query);
        const double launch = row.singleCall ? profile.constants.launchUs : 0;
        estimates.push_back({terms.GetTotal() + launch, choice});
    }
    return estimates;
}

bool IsMeasured(const MachineProfile& profile, CollectiveKind kind, bool several, double bytes)
{
    const CalibratedRange* range = profile.FindRange(kind);
    if (!range || bytes < static_cast<double>(range->minBytes))
    {
        return false;
    }
    uint32_t large = 0; // rows
    uint32_t all = 0;
    for (const ResidualStatistics& scale : profile.residuals)
    {
        if (scale.kind == kind && (scale.hosts > 1) == several)
        {
            (scale.minBytes > 0 ? large : all) += scale.rows;
        }
    }
    return bytes >= static_cast<double>(LARGE_BYTES) ? large > 0 : all > large;
}

ResidualStatistics SummariseErrors(std::vector<double> errors)
{
    ResidualStatistics statistics;
    statistics.rows = static_cast<uint32_t>(errors.size());
    if (errors.empty())
    {
        return statistics;
    }
    double sum = 0;
    for (double& error : errors)
    {
        error = 100 * std::abs(error);
        sum += error;
    }
    std::sort(errors.begin(), errors.end());
    statistics.meanPercent = sum / static_cast<double>(errors.size());
    statistics.medianPercent = Quantile(errors, 0.5);
    statistics.p90Percent = Quantile(errors, 0.9);
    statistics.worstPercent = errors.back();
    return statistics;
}

std::vector<ResidualStatistics> ComputeResiduals(const std::vector<Measurement>& rows,
                                                 const std::vector<double>& estimates,
                                                 uint64_t minBytes)
{
    std::map<Scale, std::vector<double>> errors;
    for (size_t i = 0; i < rows.size(); ++i)
    {
        if (rows[i].bytes >= minBytes)
        {
            errors[{rows[i].kind, rows[i].ranks, rows[i].hosts}].push_back(
                estimates[i] / TimeOf(rows[i]) - 1);
        }
    }
    std::vector<ResidualStatistics> result;
    for (const auto& [scale, values] : errors)
    {
        ResidualStatistics statistics = SummariseErrors(values);
        std::tie(statistics.kind, statistics.ranks, statistics.hosts) = scale;
        statistics.minBytes = minBytes;
        result.push_back(statistics);
    }
    return result;
}

std::vector<CalibratedRange> ComputeRanges(const std::vector<Measurement>& rows)
{
    std::map<CollectiveKind, CalibratedRange> ranges;
    for (const Measurement& row : rows)
    {
        const uint32_t local = EvenShape(row.ranks, row.hosts, 1).localRanks;
        const CalibratedRange single{row.kind,
                                     row.bytes,
                                     row.bytes,
                                     row.ranks,
                                     row.ranks,
                                     row.hosts,
                                     row.hosts,
                                     local,
                                     local};
        const auto [it, added] = ranges.emplace(row.kind, single);
        CalibratedRange& range = it->second;
        range.minBytes = std::min(range.minBytes, row.bytes);
        range.maxBytes = std::max(range.maxBytes, row.bytes);
        range.minRanks = std::min(range.minRanks, row.ranks);
        range.maxRanks = std::max(range.maxRanks, row.ranks);
        range.minHosts = std::min(range.minHosts, row.hosts);
        range.maxHosts = std::max(range.maxHosts, row.hosts);
        range.minLocalRanks = std::min(range.minLocalRanks, local);
        range.maxLocalRanks = std::max(range.maxLocalRanks, local);
    }
    std::vector<CalibratedRange> result;
    for (const auto& [kind, range] : ranges)
    {
        result.push_back(range);
    }
    return result;
}

MachineProfile MakePriorProfile(const NcclEnvironment& nccl, double gpuGBps, double nicGBps)
{
    MachineProfile profile;
    profile.nccl = nccl;
    MachineConstants& constants = profile.constants;
    constants.setupUs = 5;
    constants.setupPerChannelUs = 0.2;
    constants.hostIssueUs = 3;
    constants.launchUs = 20; // PyTorch's call of NCCL and the launch of its kernel
    constants.gpuGBps = gpuGBps;
    constants.nicGBps = nicGBps;
    constants.simplexGain = 1.01;
    constants.llChannelGBps = 3;
    constants.treeBandwidthFactor = 1;
    constants.treeChunkUs = 2;
    constants.ringTail = 0.25;
    constants.overlapExponent = 1.5;
    constants.netOverlapExponent = 1.5;
    constants.messageUs = nccl.eagerBytes > 0 ? 5 : 0;
    constants.reductionUsPerMiB = 0;
    constants.peerUs = 1;
    constants.pairChannelGBps = nccl.gpu >= GpuGeneration::HOPPER ? 20 : 15;
    constants.netChannelGBps = std::max(0.55 * nicGBps, 1e-3);
    if (nccl.nvlsPathGBps > 0)
    {
        constants.nvlsUs = 20;
        constants.nvlsChunkUs = 4;
        constants.nvlsGBps = 0.7 / 0.8 * gpuGBps;
        constants.nvlsOverlapExponent = 3;
    }
    constants.pairwiseEfficiency = 0.92;
    // 4 of 8 bytes, 120 of 128 bytes and all bytes are payload; between hosts LL goes through the
    // hosts' memories, once more in each.
    constants.protocols[0] = {0.6, 5.0, 0.5, 0.25};
    constants.protocols[1] = {1.25, 8.5, 0.9375, 0.9375};
    constants.protocols[2] = {3.4, 14.0, 1, 1};
    return profile;
}

MachineProfile ScaleProfile(const MachineProfile& measured,
                            const NcclEnvironment& nccl,
                            double gpuGBps,
                            double nicGBps)
{
    MachineProfile profile = measured;
    profile.nccl = nccl;
    profile.linkGpuGBps = gpuGBps;
    profile.linkNicGBps = nicGBps;
    profile.ranges.clear();
    profile.intervals.clear();
    profile.residuals.clear();
    MachineConstants& constants = profile.constants;
    if (measured.linkGpuGBps > 0)
    {
        constants.gpuGBps *= gpuGBps / measured.linkGpuGBps;
        constants.pairChannelGBps *= std::min(1.0, gpuGBps / measured.linkGpuGBps);
        constants.nvlsGBps *= gpuGBps / measured.linkGpuGBps;
    }
    if (measured.linkNicGBps > 0)
    {
        constants.nicGBps *= nicGBps / measured.linkNicGBps;
        constants.netChannelGBps *= std::min(1.0, nicGBps / measured.linkNicGBps);
    }
    return profile;
}

} // namespace echo
} // namespace ns3
