// SPDX-License-Identifier: GPL-2.0-only
#include "echo-profile-reader.h"

#include "ns3/echo-nccl-tuner.h"

#include <cmath>
#include <iomanip>
#include <limits>
#include <map>
#include <sstream>

namespace ns3
{
namespace echo
{

namespace
{

constexpr uint32_t FORMAT = 1;
constexpr int64_t MOST_COUNT = 1 << 30;

/** The group of a constant ("ll128" of "ll128.inter_step_us"); empty: none. */
std::string GroupOf(const std::string& name)
{
    const size_t dot = name.find('.');
    return dot == std::string::npos ? "" : name.substr(0, dot);
}

uint32_t GetCount(const YamlNode& node, const std::string& key, int64_t least = 1)
{
    return static_cast<uint32_t>(node.Get(key).AsInteger(least, MOST_COUNT));
}

double GetPositive(const YamlNode& node, const std::string& key)
{
    return node.Get(key).AsNumber(1e-6, 1e6);
}

void ReadNccl(const YamlNode& node, NcclEnvironment& nccl)
{
    const YamlNode version = node.Get("version");
    nccl.version = version.AsString();
    version.Parse<uint32_t>(ParseNcclVersion);
    nccl.gpu = node.Get("gpu").Parse<GpuGeneration>(ParseGpuGeneration);
    nccl.cpu = node.Get("cpu").Parse<CpuVendor>(ParseCpuVendor);
    nccl.ll128BetweenHosts = node.Get("ll128_between_hosts").AsBool();
    nccl.nvlink = node.GetBool("nvlink", true);
    nccl.hostPaths = GetCount(node, "host_paths");
    nccl.hostPathGBps = GetPositive(node, "host_path_GBps");
    nccl.hostChannels = GetCount(node, "host_channels");
    if (node.Has("host_rings"))
    {
        for (const YamlNode& entry : node.Get("host_rings").GetEntries())
        {
            nccl.hostRings.push_back(entry.AsNumber(0.001, MOST_COUNT));
        }
    }
    nccl.nvlsPathGBps = node.GetNumber("nvls_path_GBps", 0, 0, 1e6);
    nccl.nvlsChannels = node.Has("nvls_channels") ? GetCount(node, "nvls_channels") : 16;
    nccl.eagerBytes = node.GetNumber("eager_bytes", 0, 0, 1e12);
    nccl.pathsPerNic = GetPositive(node, "paths_per_nic");
    nccl.netPathGBps = GetPositive(node, "net_path_GBps");
    nccl.netTreeIntraGBps = GetPositive(node, "net_tree_intra_GBps");
    nccl.channelsPerNic = GetPositive(node, "channels_per_nic");
    nccl.returnPathGBps = node.GetNumber("return_path_GBps", 0, 0, 1e6);
    nccl.largestChannelCount = GetCount(node, "largest_channel_count");
    node.RefuseUnknownKeys();
}

void ReadConstants(const YamlNode& node, MachineConstants& constants)
{
    std::map<std::string, YamlNode> groups;
    for (const ConstantInfo& info : GetConstantInfos())
    {
        const std::string name = info.name;
        const std::string group = GroupOf(name);
        if (group.empty() && info.least == 0 && !node.Has(name))
        {
            info.access(constants) = 0;
            continue;
        }
        if (group.empty())
        {
            info.access(constants) = node.Get(name).AsNumber(info.least, info.most);
            continue;
        }
        const auto it = groups.emplace(group, node.Get(group)).first;
        info.access(constants) =
            it->second.Get(name.substr(group.size() + 1)).AsNumber(info.least, info.most);
    }
    node.RefuseUnknownKeys();
    for (const auto& [name, group] : groups)
    {
        group.RefuseUnknownKeys();
    }
}

CalibratedRange ReadRange(const YamlNode& node)
{
    CalibratedRange range;
    range.kind = node.Get("operation").Parse<CollectiveKind>(ParseCollectiveKind);
    const auto readPair = [&node](const std::string& key, auto& least, auto& most, auto read) {
        const std::vector<YamlNode> ends = node.Get(key).GetEntries();
        if (ends.size() != 2)
        {
            node.Get(key).Fail(std::to_string(ends.size()) + " entries", "least and most");
        }
        least = read(ends[0]);
        most = read(ends[1]);
        if (most < least)
        {
            ends[1].Fail("'" + ends[1].AsString() + "'", "at least the first");
        }
    };
    const auto count = [](const YamlNode& entry) {
        return static_cast<uint32_t>(entry.AsInteger(1, MOST_COUNT));
    };
    readPair("bytes", range.minBytes, range.maxBytes, [](const YamlNode& entry) {
        return entry.AsBytes();
    });
    readPair("ranks", range.minRanks, range.maxRanks, count);
    readPair("hosts", range.minHosts, range.maxHosts, count);
    readPair("ranks_per_host", range.minLocalRanks, range.maxLocalRanks, count);
    node.RefuseUnknownKeys();
    return range;
}

ResidualStatistics ReadResidual(const YamlNode& node)
{
    ResidualStatistics residual;
    residual.kind = node.Get("operation").Parse<CollectiveKind>(ParseCollectiveKind);
    residual.ranks = GetCount(node, "ranks");
    residual.hosts = GetCount(node, "hosts");
    residual.minBytes = node.Get("from_bytes").AsBytes();
    residual.rows = GetCount(node, "rows");
    const double most = std::numeric_limits<double>::max();
    residual.meanPercent = node.Get("mean_percent").AsNumber(0, most);
    residual.medianPercent = node.Get("median_percent").AsNumber(0, most);
    residual.p90Percent = node.Get("p90_percent").AsNumber(0, most);
    residual.worstPercent = node.Get("worst_percent").AsNumber(0, most);
    node.RefuseUnknownKeys();
    return residual;
}

/** A text that YAML reads back the same. */
std::string Quote(const std::string& text)
{
    std::string quoted = "\"";
    for (const char c : text)
    {
        if (c == '\n' || c == '\t')
        {
            quoted += ' ';
            continue;
        }
        quoted += (c == '"' || c == '\\') ? std::string("\\") + c : std::string(1, c);
    }
    return quoted + "\"";
}

/** Shortest decimal of up to six digits. */
std::string Number(double value)
{
    std::ostringstream text;
    text << std::setprecision(6) << value;
    return text.str();
}

std::string Fixed(double value)
{
    std::ostringstream text;
    text << std::fixed << std::setprecision(2) << value;
    return text.str();
}

void FormatNccl(std::ostream& out, const NcclEnvironment& nccl)
{
    out << "nccl:\n"
        << "  version: " << Quote(nccl.version) << "   # whose tuner picks algorithm and protocol\n"
        << "  gpu: " << ToString(nccl.gpu) << "\n"
        << "  cpu: " << ToString(nccl.cpu) << "\n"
        << "  ll128_between_hosts: " << (nccl.ll128BetweenHosts ? "true" : "false") << "\n"
        << (nccl.nvlink ? "" : "  nvlink: false\n")
        << "  # inside one host: channels of NCCL's graph and the rate it takes each for; "
           "channels\n"
        << "  # that collectives get\n"
        << "  host_paths: " << nccl.hostPaths << "\n"
        << "  host_path_GBps: " << Number(nccl.hostPathGBps) << "\n"
        << "  host_channels: " << nccl.hostChannels << "\n";
    if (!nccl.hostRings.empty())
    {
        out << "  # rings over NVLink among the first 2, 3, ... GPUs of a host\n  host_rings: [";
        for (size_t i = 0; i < nccl.hostRings.size(); ++i)
        {
            out << (i > 0 ? ", " : "") << Number(nccl.hostRings[i]);
        }
        out << "]\n";
    }
    if (nccl.nvlsPathGBps > 0)
    {
        out << "  # NVLink SHARP: rate that NCCL takes a GPU's part for; channels\n"
            << "  nvls_path_GBps: " << Number(nccl.nvlsPathGBps) << "\n"
            << "  nvls_channels: " << nccl.nvlsChannels << "\n";
    }
    out << "  # between hosts: the same for each NIC; the tree's rate inside hosts\n"
        << "  paths_per_nic: " << Number(nccl.pathsPerNic) << "\n"
        << "  net_path_GBps: " << Number(nccl.netPathGBps) << "\n"
        << "  net_tree_intra_GBps: " << Number(nccl.netTreeIntraGBps) << "\n"
        << "  channels_per_nic: " << Number(nccl.channelsPerNic) << "\n"
        << "  largest_channel_count: " << nccl.largestChannelCount << "\n";
    if (nccl.returnPathGBps > 0)
    {
        out << "  # NCCL_CROSS_NIC=0: rings come back by their own NIC, over a link of two "
               "processors that\n  # NCCL takes for this; as many a NIC as there are other GPUs\n"
            << "  return_path_GBps: " << Number(nccl.returnPathGBps) << "\n";
    }
    if (nccl.eagerBytes > 0)
    {
        out << "  # messages between hosts above this take their hosts time (message_us)\n  "
               "eager_bytes: "
            << Number(nccl.eagerBytes) << "\n";
    }
}

void FormatConstants(std::ostream& out, MachineConstants constants)
{
    out << "constants:\n";
    std::string group;
    for (const ConstantInfo& info : GetConstantInfos())
    {
        const std::string name = info.name;
        const std::string mine = GroupOf(name);
        if (info.least == 0 && info.access(constants) == 0)
        {
            continue; // absent
        }
        if (mine != group)
        {
            out << "  " << mine << ":\n";
            group = mine;
        }
        const std::string key = mine.empty() ? name : name.substr(mine.size() + 1);
        const std::string line =
            (mine.empty() ? "  " : "    ") + key + ": " + Number(info.access(constants));
        out << std::left << std::setw(38) << line << " # " << info.help << "\n";
    }
}

} // namespace

MachineProfile ReadProfile(const YamlNode& root)
{
    root.RequireMap();
    if (root.Get("echo_profile").AsInteger(0, MOST_COUNT) != FORMAT)
    {
        root.Get("echo_profile").Fail("another format", std::to_string(FORMAT));
    }
    MachineProfile profile;
    profile.name = root.Get("name").AsString();
    profile.hardware = root.GetString("hardware", "");
    profile.source = root.GetString("source", "");
    profile.fit = root.GetString("fit", "");
    profile.linkGpuGBps = root.GetNumber("link_gpu_GBps", 0, 0, 1e6);
    profile.linkNicGBps = root.GetNumber("link_nic_GBps", 0, 0, 1e6);
    profile.nicsPerHost = GetCount(root, "nics_per_host", 0);
    profile.oneThreadPerHost = root.GetBool("one_thread_per_host", false);
    profile.selection = root.Get("selection").Parse<SelectionRule>(ParseSelectionRule);
    ReadNccl(root.Get("nccl"), profile.nccl);
    ReadConstants(root.Get("constants"), profile.constants);
    if ((profile.nccl.eagerBytes > 0) != (profile.constants.messageUs > 0))
    {
        const bool isServed = profile.nccl.eagerBytes > 0;
        root.Get(isServed ? "nccl" : "constants")
            .Fail(isServed ? "eager_bytes without a constants.message_us above 0"
                           : "message_us without an nccl.eager_bytes above 0",
                  "both, or neither: above the one a message takes the other");
    }
    if (root.Has("intervals"))
    {
        const YamlNode intervals = root.Get("intervals");
        for (const ConstantInfo& info : GetConstantInfos())
        {
            if (intervals.Has(info.name))
            {
                const std::vector<YamlNode> ends = intervals.Get(info.name).GetEntries();
                if (ends.size() != 2)
                {
                    intervals.Get(info.name).Fail(std::to_string(ends.size()) + " entries",
                                                  "least and most");
                }
                const double least = ends[0].AsNumber(0, std::numeric_limits<double>::max());
                const double most = ends[1].AsNumber(least, std::numeric_limits<double>::max());
                profile.intervals[info.name] = {least, most};
            }
        }
        intervals.RefuseUnknownKeys();
    }
    if (root.Has("calibrated"))
    {
        for (const YamlNode& entry : root.Get("calibrated").GetEntries())
        {
            profile.ranges.push_back(ReadRange(entry));
        }
    }
    if (root.Has("residuals"))
    {
        for (const YamlNode& entry : root.Get("residuals").GetEntries())
        {
            profile.residuals.push_back(ReadResidual(entry));
        }
    }
    root.RefuseUnknownKeys();
    return profile;
}

std::string FormatProfile(const MachineProfile& profile)
{
    std::ostringstream out;
    out << "# Estimator profile, written by ./echo calibrate.\n"
        << "echo_profile: " << FORMAT << "\n"
        << "name: " << Quote(profile.name) << "\n"
        << "hardware: " << Quote(profile.hardware) << "\n"
        << "source: " << Quote(profile.source) << "\n"
        << "fit: " << Quote(profile.fit) << "\n"
        << "# rates of the links measured, one direction\n"
        << "link_gpu_GBps: " << Number(profile.linkGpuGBps) << "\n"
        << "link_nic_GBps: " << Number(profile.linkNicGBps) << "\n"
        << "nics_per_host: " << profile.nicsPerHost << "\n"
        << "# runs inside one host were issued by one thread for all GPUs\n"
        << "one_thread_per_host: " << (profile.oneThreadPerHost ? "true" : "false") << "\n"
        << "selection: " << ToString(profile.selection) << "\n";
    FormatNccl(out, profile.nccl);
    FormatConstants(out, profile.constants);
    if (!profile.intervals.empty())
    {
        out << "# 95 % confidence, of the constants that the measurements tell\nintervals:\n";
    }
    for (const ConstantInfo& info : GetConstantInfos())
    {
        const auto it = profile.intervals.find(info.name);
        if (it != profile.intervals.end())
        {
            out << "  " << info.name << ": [" << Number(it->second.first) << ", "
                << Number(it->second.second) << "]\n";
        }
    }
    out << (profile.ranges.empty() ? "calibrated: []\n" : "calibrated:\n");
    for (const CalibratedRange& range : profile.ranges)
    {
        out << "  - operation: " << ToString(range.kind) << "\n"
            << "    bytes: [" << range.minBytes << ", " << range.maxBytes << "]\n"
            << "    ranks: [" << range.minRanks << ", " << range.maxRanks << "]\n"
            << "    hosts: [" << range.minHosts << ", " << range.maxHosts << "]\n"
            << "    ranks_per_host: [" << range.minLocalRanks << ", " << range.maxLocalRanks
            << "]\n";
    }
    out << "# absolute errors of the fit on its own rows, of that many bytes and more\n"
        << (profile.residuals.empty() ? "residuals: []\n" : "residuals:\n");
    for (const ResidualStatistics& residual : profile.residuals)
    {
        out << "  - {operation: " << ToString(residual.kind) << ", ranks: " << residual.ranks
            << ", hosts: " << residual.hosts << ", from_bytes: " << residual.minBytes
            << ", rows: " << residual.rows << ", mean_percent: " << Fixed(residual.meanPercent)
            << ", median_percent: " << Fixed(residual.medianPercent)
            << ", p90_percent: " << Fixed(residual.p90Percent)
            << ", worst_percent: " << Fixed(residual.worstPercent) << "}\n";
    }
    return out.str();
}

} // namespace echo
} // namespace ns3
