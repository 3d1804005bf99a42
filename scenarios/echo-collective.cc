// SPDX-License-Identifier: GPL-2.0-only
// ./echo collective: one collective or a sweep over sizes, printed as nccl-tests prints.

#include "ns3/echo-cluster-reader.h"
#include "ns3/echo-collective-experiment.h"
#include "ns3/echo-collective-table.h"
#include "ns3/echo-command-line.h"
#include "ns3/echo-error.h"
#include "ns3/echo-fabric-settings-reader.h"
#include "ns3/echo-foreign-topology.h"
#include "ns3/echo-load-balancer.h"
#include "ns3/echo-policy.h"
#include "ns3/echo-profile-reader.h"
#include "ns3/echo-scenario-reader.h"
#include "ns3/echo-units.h"
#include "ns3/echo-yaml.h"

#include <iomanip>
#include <iostream>
#include <sstream>

using namespace ns3::echo;
using ns3::Time;

namespace
{

constexpr uint64_t MOST_RANKS = 1u << 24;
constexpr uint64_t MOST_CHANNELS = 64; //!< MAXCHANNELS of NCCL (src/include/device.h, from 2.26 on)

struct Options
{
    std::string cluster;
    std::string op{"all-reduce"};
    std::string bytes{"64MiB"};
    uint64_t ranks{0};
    uint64_t hosts{0};
    uint64_t seed{1};
    std::string dataType{"fp32"};
    std::string algorithm{"auto"};
    std::string protocol{"auto"};
    uint64_t channels{0};
    std::string chunk{"0"};
    std::string profile;
    std::string congestionControl{"none"};
    std::string loadBalancing;
    std::string mtu{"4096"};
    std::string fidelity{"analytical"};
    std::string csv;
};

void AddOptions(EchoCommandLine& line, Options& options)
{
    line.AddOption("cluster", "a cluster file (doc/formats/cluster.md)", options.cluster);
    line.AddOption("op",
                   "all-reduce, all-gather, reduce-scatter, broadcast, reduce, all-to-all, "
                   "send-recv, barrier",
                   options.op);
    line.AddOption(
        "bytes", "size as nccl-tests means it, a list or begin:end:factor", options.bytes);
    line.AddOption("ranks", "the first so many GPUs; default: all", options.ranks, 1, MOST_RANKS);
    line.AddHosts(options.hosts);
    line.AddOption("type", "element type", options.dataType);
    line.AddOption("algorithm", "auto, ring, tree, nvls, nvls-tree, pat", options.algorithm);
    line.AddOption("protocol", "auto, ll, ll128, simple", options.protocol);
    line.AddOption("channels", "0: the selector decides", options.channels, 0, MOST_CHANNELS);
    line.AddOption("chunk", "largest message of a step; 0: a step's data", options.chunk);
    line.AddOption("profile",
                   "estimator profile; derived: from link rates and delays; default: the cluster's",
                   options.profile);
    line.AddOption(
        "congestion-control", "none, dcqcn, hpcc, swift (packet)", options.congestionControl);
    line.AddOption("load-balancing",
                   "ecmp, static, spray, adaptive, and flowlet (packet); default: the cluster's",
                   options.loadBalancing);
    line.AddOption("mtu", "payload of a full packet (packet)", options.mtu);
    line.AddOption("fidelity", "packet, flow or analytical", options.fidelity);
    line.AddSeed(options.seed);
    line.AddOption("csv", "file for the table as CSV", options.csv);
}

/** @return what @p parse makes of an option's text; errors name the option */
template <typename Value>
Value Parse(const char* option, const std::string& text, Value (*parse)(const std::string&))
{
    try
    {
        return parse(text);
    }
    catch (const InputError& error)
    {
        throw error.At({"", 0, std::string("--") + option});
    }
}

BackendSettings MakeSettings(const Options& options, const Cluster& cluster)
{
    BackendSettings settings;
    settings.seed = options.seed;
    settings.profile = options.profile.empty() ? cluster.profile : options.profile;
    if (options.profile == "derived")
    {
        settings.profile.clear();
    }
    settings.collective.chunkBytes = Parse("chunk", options.chunk, ParseBytes);
    settings.network.mtuBytes = Parse("mtu", options.mtu, ParseMtu);
    settings.network.congestionControl =
        Parse("congestion-control", options.congestionControl, ParseCongestionControl);
    if (!options.loadBalancing.empty())
    {
        settings.network.loadBalancing =
            Parse("load-balancing", options.loadBalancing, ParseLoadBalancing);
    }
    return settings;
}

/** @throws InputError naming an option that was given and would change nothing */
void RefuseIgnored(const Options& options,
                   const CollectiveSpec& spec,
                   Fidelity fidelity,
                   const BackendSettings& settings)
{
    const auto refuse = [](const char* option, const std::string& value, const std::string& use) {
        throw InputError({"", 0, std::string("--") + option}, "'" + value + "'", use);
    };
    const Options plain;
    if (fidelity == Fidelity::HYBRID)
    {
        refuse("fidelity",
               options.fidelity,
               "packet, flow or analytical: hybrid is for several collectives, by a scenario");
    }
    if (fidelity != Fidelity::PACKET)
    {
        const bool byPackets =
            !options.loadBalancing.empty() &&
            LookupPolicy(settings.network.loadBalancing, LoadBalancer::GetTypeId(), "Balancer") ==
                FlowletBalancer::GetTypeId();
        if (KnowsCongestionControl(settings.network.congestionControl))
        {
            refuse("congestion-control", options.congestionControl, "none, or --fidelity=packet");
        }
        if (byPackets)
        {
            refuse("load-balancing",
                   options.loadBalancing,
                   "ecmp, static, spray, adaptive or --fidelity=packet");
        }
    }
    const bool pairs =
        spec.kind == CollectiveKind::ALL_TO_ALL || spec.kind == CollectiveKind::SEND_RECV;
    const bool analytical = fidelity == Fidelity::ANALYTICAL;
    const bool measured = analytical && !settings.profile.empty();
    const bool hasFlags =
        spec.protocol == CollectiveProtocol::LL || spec.protocol == CollectiveProtocol::LL128;
    if (hasFlags && !measured)
    {
        refuse("protocol",
               options.protocol,
               "auto, simple or analytical with a profile: nothing else has the flags of LL");
    }
    if (options.mtu != plain.mtu && (fidelity == Fidelity::FLOW || measured))
    {
        refuse("mtu",
               options.mtu,
               "--fidelity=packet, or analytical with --profile=derived: nothing else has packets");
    }
    if (settings.collective.chunkBytes > 0 && spec.kind == CollectiveKind::BARRIER)
    {
        refuse("chunk", options.chunk, "0: a barrier's messages are not cut");
    }
    if (settings.collective.chunkBytes > 0 && pairs)
    {
        refuse("chunk", options.chunk, "0: messages from rank to rank are not cut");
    }
    if (settings.collective.chunkBytes > 0 && measured)
    {
        refuse("chunk", options.chunk, "0: the estimator's profile takes NCCL's own chunks");
    }
    if (spec.protocol != CollectiveProtocol::AUTO && spec.kind == CollectiveKind::SEND_RECV)
    {
        refuse("protocol",
               options.protocol,
               "auto: of a message NCCL chooses it by size, and nothing here depends on another");
    }
    if (spec.channels > 0 && (pairs || spec.kind == CollectiveKind::BARRIER))
    {
        refuse("channels",
               std::to_string(spec.channels),
               std::string("0: ") + ToString(spec.kind) + " has no channels to choose");
    }
}

std::string Microseconds(Time time)
{
    std::ostringstream text;
    text << std::fixed << std::setprecision(2) << static_cast<double>(time.GetPicoSeconds()) * 1e-6;
    return text.str();
}

/** The terms of each estimate; they add up to the time. Lines begin with '#', as they are no rows.
 */
void PrintTerms(const CollectiveExperiment& experiment,
                CollectiveSpec spec,
                const std::vector<CollectivePoint>& points)
{
    std::cout << "#\n# terms of the time in us (sharing: what the fabric lacks); chunk in bytes,\n"
              << "# rounds of a channel\n#" << std::setw(13) << "size" << std::setw(11) << "chunk"
              << std::setw(8) << "rounds";
    for (const char* name : {"set-up", "intra", "inter", "reduction", "sync", "sharing", "total"})
    {
        std::cout << std::setw(13) << name;
    }
    std::cout << "\n";
    for (const CollectivePoint& point : points)
    {
        spec.bytes = point.bytes;
        const CostBreakdown cost = experiment.Explain(spec);
        std::cout << "#" << std::setw(13) << point.bytes << std::setw(11) << cost.chunkBytes
                  << std::setw(8) << static_cast<uint64_t>(cost.rounds + 0.5);
        for (const Time& term : {cost.setup,
                                 cost.intra,
                                 cost.inter,
                                 cost.reduction,
                                 cost.synchronisation,
                                 point.time - cost.GetTotal(),
                                 point.time})
        {
            std::cout << std::setw(13) << Microseconds(term);
        }
        std::cout << "\n";
        if (cost.extrapolated && &point == &points.back())
        {
            std::cout << "# extrapolated: " << cost.reason << "\n";
        }
    }
}

/** Says where the rows are not what a scenario's collectives take. */
void PrintIssue(const BackendSettings& settings)
{
    if (!settings.profile.empty() &&
        ReadProfile(YamlNode::LoadFile(settings.profile)).oneThreadPerHost)
    {
        std::cout << "# on one host one thread issues all GPUs' kernels, as the profile was "
                     "measured; in a\n# scenario a process a GPU does\n";
    }
}

int Run(const Options& options)
{
    if (options.cluster.empty())
    {
        throw InputError({}, "no --cluster", "--cluster=FILE.yaml");
    }
    const Cluster cluster =
        ReadCluster(LoadCluster(options.cluster), static_cast<uint32_t>(options.hosts));
    const size_t gpus = cluster.topology->GetDevices(DeviceRole::GPU).size();
    const uint32_t ranks =
        options.ranks > 0 ? static_cast<uint32_t>(options.ranks) : static_cast<uint32_t>(gpus);

    CollectiveSpec spec;
    spec.kind = Parse("op", options.op, ParseCollectiveKind);
    spec.dataType = Parse("type", options.dataType, ParseDataType);
    spec.algorithm = Parse("algorithm", options.algorithm, ParseCollectiveAlgorithm);
    spec.protocol = Parse("protocol", options.protocol, ParseCollectiveProtocol);
    spec.channels = static_cast<uint32_t>(options.channels);
    const Fidelity fidelity = Parse("fidelity", options.fidelity, ParseFidelity);
    if (spec.kind == CollectiveKind::ALL_TO_ALL_V)
    {
        throw InputError({"", 0, "--op"}, "'all-to-all-v'", "all-to-all (splits need a scenario)");
    }
    if (!CanCarryOut(spec.algorithm, spec.kind))
    {
        throw InputError({"", 0, "--algorithm"},
                         "'" + options.algorithm + "'",
                         "one that carries out " + options.op);
    }
    if (ranks < 2)
    {
        throw InputError(
            {"", 0, "--ranks"}, std::to_string(ranks), "at least 2: alone a rank moves nothing");
    }

    const BackendSettings settings = MakeSettings(options, cluster);
    RefuseIgnored(options, spec, fidelity, settings);
    const CollectiveExperiment experiment(cluster, ranks, settings);
    std::vector<CollectivePoint> points;
    std::cout << "# " << cluster.name << ", " << ranks << " ranks, " << ToString(fidelity)
              << " fidelity\n"
              << FormatCollectiveHeader() << std::flush;
    const bool barrier = spec.kind == CollectiveKind::BARRIER;
    const std::vector<uint64_t> asked = Parse("bytes", options.bytes, ParseByteSizes);
    const auto sizes = barrier ? std::vector<uint64_t>{0} : asked;
    for (uint64_t bytes : sizes)
    {
        if (bytes == 0 && !barrier)
        {
            throw InputError({"", 0, "--bytes"}, "'0'", "a size above zero");
        }
        spec.bytes = bytes;
        const ExperimentResult result = experiment.Run(spec, fidelity);
        CollectivePoint point;
        point.kind = spec.kind;
        point.ranks = spec.kind == CollectiveKind::SEND_RECV ? 2 : ranks;
        point.bytes = bytes;
        point.dataType = spec.dataType;
        point.time = result.GetDuration();
        point.algorithm = result.record.algorithm;
        point.protocol = result.record.protocol;
        point.channels = result.record.channels;
        point.linkUtilization = result.maxLinkUtilization;
        point.extrapolated = result.record.extrapolated;
        std::cout << FormatCollectiveRow(point) << std::flush;
        points.push_back(point);
    }
    if (fidelity == Fidelity::ANALYTICAL && ranks > 1)
    {
        PrintTerms(experiment, spec, points);
        PrintIssue(settings);
    }
    if (!options.csv.empty())
    {
        WriteCollectiveCsv(options.csv, points);
    }
    return 0;
}

} // namespace

int main(int argc, char* argv[])
{
    return RunProgram([&] {
        Options options;
        EchoCommandLine line("./echo collective --cluster=FILE.yaml: one collective, or a sweep "
                             "over sizes, printed as nccl-tests prints and issued as the "
                             "profile was measured.");
        AddOptions(line, options);
        line.Parse(argc, argv);
        return Run(options);
    });
}
