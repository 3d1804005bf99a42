// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TOPOLOGY_FIXTURES_H
#define ECHO_TOPOLOGY_FIXTURES_H

#include "ns3/data-rate.h"
#include "ns3/echo-shortest-path-router.h"
#include "ns3/echo-topology-builder.h"
#include "ns3/object-factory.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{
namespace fixtures
{

/** GPUs and NICs of every host, and how the GPUs are joined. */
struct HostShape
{
    uint32_t gpus{1};
    uint32_t nics{1};
    std::string interconnect{"none"};
    std::string nicRate{"100Gbps"};
};

inline Ptr<HostBuilder> MakeHost(const HostShape& shape)
{
    auto host = CreateObject<HostBuilder>();
    host->SetAttribute("Gpus", UintegerValue(shape.gpus));
    host->SetAttribute("Nics", UintegerValue(shape.nics));
    host->SetAttribute("Interconnect", StringValue(shape.interconnect));
    host->SetAttribute("NicRate", DataRateValue(DataRate(shape.nicRate)));
    return host;
}

/** A cluster of a builder named without "ns3::echo::" and "Builder", attributes as strings. */
inline TopologyPtr Build(const std::string& type,
                         uint32_t hosts,
                         const HostShape& shape = {},
                         const std::vector<std::pair<std::string, std::string>>& attributes = {})
{
    ObjectFactory factory("ns3::echo::" + type + "Builder");
    auto builder = factory.Create<TopologyBuilder>();
    builder->SetHost(MakeHost(shape));
    builder->SetAttribute("Hosts", UintegerValue(hosts));
    for (const auto& [name, value] : attributes)
    {
        builder->SetAttribute(name, StringValue(value));
    }
    return builder->Build();
}

inline Ptr<ShortestPathRouter> MakeRouter(TopologyPtr topology, uint64_t seed = 1)
{
    auto router = CreateObject<ShortestPathRouter>();
    router->SetAttribute("Seed", UintegerValue(seed));
    router->Prepare(std::move(topology));
    return router;
}

} // namespace fixtures
} // namespace echo
} // namespace ns3

#endif /* ECHO_TOPOLOGY_FIXTURES_H */
