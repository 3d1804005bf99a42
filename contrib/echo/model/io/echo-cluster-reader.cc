// SPDX-License-Identifier: GPL-2.0-only
#include "echo-cluster-reader.h"

#include "echo-attribute-reader.h"
#include "echo-fabric-settings-reader.h"
#include "echo-foreign-topology.h"
#include "echo-gpu-presets.h"

#include "ns3/data-rate.h"
#include "ns3/echo-graph-builder.h"
#include "ns3/echo-single-switch-builder.h"
#include "ns3/echo-units.h"
#include "ns3/log.h"
#include "ns3/object-factory.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoClusterReader");

namespace
{

constexpr int64_t FORMAT = 1;
constexpr int64_t MOST_HOSTS = 1 << 20;
constexpr int64_t MOST_DEVICES_OF_HOST = 1024;

/** @return the preset that @p node names */
GpuSpec ReadGpuPreset(const YamlNode& node)
{
    try
    {
        return FindGpuPreset(node.AsString()).spec;
    }
    catch (const InputError& error)
    {
        throw error.GetLocation().file.empty() ? error.At(node.GetLocation()) : error;
    }
}

GpuSpec ReadGpu(const YamlNode& node)
{
    if (node.IsScalar())
    {
        return ReadGpuPreset(node);
    }
    if (!node.IsMap())
    {
        node.Fail("no map", "the name of a preset, or a map of preset or name and figures");
    }
    GpuSpec gpu;
    const bool isPreset = node.Has("preset");
    if (isPreset)
    {
        gpu = ReadGpuPreset(node.Get("preset"));
    }
    if (!isPreset || node.Has("name"))
    {
        gpu.name = node.Get("name").AsString();
        if (gpu.name.empty())
        {
            node.Get("name").Fail("''", "a name");
        }
    }
    // What a network study does not need may be left out; what needs it asks for it.
    if (node.Has("memory"))
    {
        gpu.memoryBytes = node.Get("memory").AsBytes();
        if (gpu.memoryBytes == 0)
        {
            node.Get("memory").Fail("no memory", "the size of a GPU's memory");
        }
    }
    if (node.Has("memory_bandwidth"))
    {
        gpu.memoryBandwidthBytesPerSecond = BytesPerSecond(node.Get("memory_bandwidth").AsRate());
    }
    if (node.Has("peak_tflops"))
    {
        const YamlNode peaks = node.Get("peak_tflops");
        for (const std::string& key : peaks.GetKeys())
        {
            const YamlNode peak = peaks.Get(key);
            try
            {
                gpu.peakFlops[ParseDataType(key)] = peak.AsNumber(1e-3, 1e6) * 1e12;
            }
            catch (const InputError& error)
            {
                throw error.GetLocation().file.empty() ? error.At(peak.GetLocation()) : error;
            }
        }
        if (gpu.peakFlops.empty())
        {
            peaks.Fail("no rate", "one or more, such as bf16: 312");
        }
    }
    node.RefuseUnknownKeys();
    return gpu;
}

/** Sets attributes of a host one by one and remembers where they were given. */
class HostAttributes
{
  public:
    explicit HostAttributes(HostBuilder& host) : m_host(host)
    {
    }

    void SetRate(const std::string& attribute, const YamlNode& node)
    {
        m_host.SetAttribute(attribute, DataRateValue(node.AsRate()));
        m_places[attribute] = node.GetLocation();
    }

    void SetDelay(const std::string& attribute, const YamlNode& parent)
    {
        if (parent.Has("delay"))
        {
            const YamlNode node = parent.Get("delay");
            m_host.SetAttribute(attribute, TimeValue(node.AsTime()));
            m_places[attribute] = node.GetLocation();
        }
    }

    void SetCount(const std::string& attribute, const YamlNode& node, int64_t least, int64_t most)
    {
        m_host.SetAttribute(attribute,
                            UintegerValue(static_cast<uint64_t>(node.AsInteger(least, most))));
        m_places[attribute] = node.GetLocation();
    }

    void SetText(const std::string& attribute, const std::string& text, const YamlNode& node)
    {
        m_host.SetAttribute(attribute, StringValue(text));
        m_places[attribute] = node.GetLocation();
    }

    void SetPlace(const std::string& attribute, const YamlNode& node)
    {
        m_places[attribute] = node.GetLocation();
    }

    const AttributePlaces& GetPlaces() const
    {
        return m_places;
    }

  private:
    HostBuilder& m_host;
    AttributePlaces m_places;
};

void ReadGpuLinks(const YamlNode& links, HostBuilder& host, int64_t gpus)
{
    for (const YamlNode& entry : links.GetEntries())
    {
        const auto parts = entry.GetEntries();
        if (parts.size() != 3)
        {
            entry.Fail("a list of " + std::to_string(parts.size()),
                       "[GPU, GPU, rate] such as [0, 1, 50GB/s]");
        }
        const int64_t a = parts[0].AsInteger(0, gpus - 1);
        const int64_t b = parts[1].AsInteger(0, gpus - 1);
        if (a == b)
        {
            entry.Fail("a link from GPU " + std::to_string(a) + " to itself", "two GPUs");
        }
        host.AddGpuLink(static_cast<uint32_t>(a), static_cast<uint32_t>(b), parts[2].AsRate());
    }
}

void ReadNvLink(const YamlNode& node, HostBuilder& host, HostAttributes& attributes, int64_t gpus)
{
    const YamlNode type = node.Get("type");
    const std::string kind = type.AsString();
    attributes.SetText("Interconnect", kind, type);
    if (kind == "nvswitch" || kind == "pcie")
    {
        attributes.SetRate("GpuRate", node.Get("rate"));
        if (kind == "nvswitch" && node.Has("switches"))
        {
            attributes.SetCount("NvSwitches", node.Get("switches"), 1, 64);
        }
    }
    else if (kind == "links")
    {
        ReadGpuLinks(node.Get("links"), host, gpus);
        attributes.SetPlace("links", node.Get("links"));
        if (node.Has("pcie"))
        {
            const YamlNode pcie = node.Get("pcie");
            attributes.SetRate("PeerPcieRate", pcie.Get("rate"));
            attributes.SetDelay("PeerPcieDelay", pcie);
            pcie.RefuseUnknownKeys();
        }
    }
    else
    {
        type.Fail("'" + kind + "'", "nvswitch, links or pcie");
    }
    attributes.SetDelay("GpuDelay", node);
    node.RefuseUnknownKeys();
}

AttributePlaces ReadHost(const YamlNode& node, HostBuilder& host)
{
    HostAttributes attributes(host);
    const int64_t gpus = node.Get("gpus").AsInteger(1, MOST_DEVICES_OF_HOST);
    const int64_t nics = node.Get("nics").AsInteger(0, MOST_DEVICES_OF_HOST);
    attributes.SetCount("Gpus", node.Get("gpus"), 1, MOST_DEVICES_OF_HOST);
    attributes.SetCount("Nics", node.Get("nics"), 0, MOST_DEVICES_OF_HOST);
    if (node.Has("nvlink"))
    {
        ReadNvLink(node.Get("nvlink"), host, attributes, gpus);
    }
    else
    {
        if (gpus > 1)
        {
            node.Fail("no key 'nvlink' for " + std::to_string(gpus) + " GPUs",
                      "one that says how they are joined");
        }
        attributes.SetText("Interconnect", "none", node);
    }
    if (nics > 0)
    {
        const YamlNode nic = node.Get("nic");
        attributes.SetRate("NicRate", nic.Get("rate"));
        attributes.SetDelay("NicDelay", nic);
        nic.RefuseUnknownKeys();
        if (node.Has("pcie"))
        {
            const YamlNode pcie = node.Get("pcie");
            attributes.SetRate("PcieRate", pcie.Get("rate"));
            attributes.SetDelay("PcieDelay", pcie);
            pcie.RefuseUnknownKeys();
        }
    }
    node.RefuseUnknownKeys();
    return attributes.GetPlaces();
}

void ReadGraph(const YamlNode& fabric, GraphBuilder& builder)
{
    for (const YamlNode& node : fabric.Get("nodes").GetEntries())
    {
        const std::string name = node.Get("name").AsString();
        const YamlNode role = node.Get("role");
        builder.AddNode(name, role.Parse<DeviceRole>(ParseDeviceRole), role.GetLocation());
        node.RefuseUnknownKeys();
    }
    for (const YamlNode& node : fabric.Get("links").GetEntries())
    {
        GraphBuilder::LinkEntry link;
        link.a = node.Get("a").AsString();
        link.b = node.Get("b").AsString();
        if (node.Has("rate"))
        {
            link.rate = node.Get("rate").AsRate();
        }
        if (node.Has("delay"))
        {
            link.delay = node.Get("delay").AsTime();
        }
        link.count = static_cast<uint32_t>(node.GetInteger("count", 1, 1, 1 << 16));
        link.where = node.GetLocation();
        builder.AddLink(link);
        node.RefuseUnknownKeys();
    }
}

/** A builder's error names an attribute: say where the file set it, or should have. */
InputError Located(const InputError& error, const AttributePlaces& places, const YamlNode& fabric)
{
    if (!error.GetLocation().file.empty())
    {
        return error;
    }
    const std::string item = error.GetLocation().item;
    const auto place = places.find(item);
    if (place != places.end())
    {
        return error.At(place->second);
    }
    SourceLocation where = fabric.GetLocation();
    if (item != "fabric" && item != "cluster")
    {
        where.item += (where.item.empty() ? "" : ".") + KeyOfAttribute(item);
    }
    return error.At(where);
}

} // namespace

Cluster ReadCluster(const YamlNode& node, uint32_t hostsOverride)
{
    node.RequireMap();
    if (node.Has("echo_cluster"))
    {
        node.Get("echo_cluster").AsInteger(FORMAT, FORMAT);
    }
    Cluster cluster;
    cluster.name = node.Get("name").AsString();
    if (node.Has("profile"))
    {
        cluster.profile = node.ResolvePath(node.Get("profile").AsString());
    }
    cluster.gpu = ReadGpu(node.Get("gpu"));
    const YamlNode hostsNode = node.Get("hosts");
    const auto hostsOfFile = static_cast<uint32_t>(hostsNode.AsInteger(1, MOST_HOSTS));
    const uint32_t hosts = hostsOverride > 0 ? hostsOverride : hostsOfFile;

    auto host = CreateObject<HostBuilder>();
    AttributePlaces places = ReadHost(node.Get("host"), *host);
    places["Hosts"] = hostsNode.GetLocation();
    const YamlNode fabric = node.Get("fabric");
    ObjectFactory factory;
    factory.SetTypeId(FindPolicy(fabric.Get("type"), TopologyBuilder::GetTypeId(), "Builder"));
    auto builder = factory.Create<TopologyBuilder>();
    cluster.fabric = fabric.Get("type").AsString();
    if (fabric.Has("load_balancing"))
    {
        cluster.loadBalancing = fabric.Get("load_balancing").Parse<std::string>(ParseLoadBalancing);
    }
    if (hosts > MOST_HOSTS)
    {
        hostsNode.Fail(std::to_string(hosts) + " hosts instead",
                       "at most " + std::to_string(MOST_HOSTS));
    }
    builder->SetAttribute("Hosts", UintegerValue(hosts));
    builder->SetHost(host);
    for (const auto& [attribute, place] : SetAttributesFrom(*builder, fabric, {"Hosts"}))
    {
        places[attribute] = place;
    }
    if (auto graph = DynamicCast<GraphBuilder>(builder))
    {
        if (hosts != hostsOfFile)
        {
            hostsNode.Fail(std::to_string(hosts) + " hosts instead",
                           std::to_string(hostsOfFile) +
                               ": a graph lists its links and cannot be resized");
        }
        ReadGraph(fabric, *graph);
    }
    fabric.RefuseUnknownKeys();
    node.RefuseUnknownKeys();
    try
    {
        cluster.topology = builder->Build();
    }
    catch (const InputError& error)
    {
        throw Located(error, places, fabric);
    }
    NS_LOG_INFO(cluster.name << ": " << hosts << " hosts, " << cluster.fabric);
    return cluster;
}

Cluster ReadClusterFile(const std::string& path, uint32_t hostsOverride)
{
    const YamlNode node = LoadCluster(path);
    node.RequireMap();
    node.Get("echo_cluster");
    return ReadCluster(node, hostsOverride);
}

} // namespace echo
} // namespace ns3
