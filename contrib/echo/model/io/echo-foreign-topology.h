// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_FOREIGN_TOPOLOGY_H
#define ECHO_FOREIGN_TOPOLOGY_H

#include "echo-yaml.h"

#include "ns3/data-rate.h"
#include "ns3/echo-enums.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** A network that another simulator's file describes, in the terms of Echo's cluster files. */
struct ForeignTopology
{
    struct Switch
    {
        std::string name;
        DeviceRole role{DeviceRole::LEAF}; //!< by distance from the hosts
    };

    struct Link
    {
        std::string a;
        std::string b;
        DataRate rate;
        Time delay;
    };

    std::string name;
    std::string gpu{"unknown"};
    uint32_t hosts{0};
    uint32_t gpusPerHost{1};
    bool hasNvSwitch{false}; //!< GPUs of a host are joined by one
    DataRate gpuRate;        //!< of a GPU into the NVSwitch, or of a link between GPUs
    Time gpuDelay;           //!< of such a link
    std::vector<std::pair<uint32_t, uint32_t>> gpuLinks; //!< of a host without an NVSwitch
    DataRate nicRate;                                    //!< the fastest link of a NIC
    Time nicDelay;                                       //!< of such a link
    std::vector<Switch> switches;
    std::vector<Link> links;        //!< of the fabric
    std::vector<std::string> notes; //!< how the file was read, a sentence each

    /** @return the same as a cluster file (doc/formats/cluster.md) */
    std::string ToYaml() const;
};

/** Formats of network descriptions. */
enum class TopologyFormat : uint8_t
{
    ECHO,
    HPCC,      //!< HPCC's and ASTRA-sim's ns-3 topology files: nodes, switches, links
    SIMAI,     //!< the same with servers, NVSwitches and a GPU's name
    ASTRA_SIM, //!< ASTRA-sim's network YAML: dimensions
};

/** @return the format that a file is in, by what it holds; ECHO if it is none of the others */
TopologyFormat RecognizeTopology(const std::string& path);

/** @return "auto" is none: the format of a name as users write it ("hpcc"); @throws InputError */
TopologyFormat ParseTopologyFormat(const std::string& name);

/**
 * Reads a topology file of SimAI, HPCC or ASTRA-sim.
 * @throws InputError with file, line, what was found and what was expected
 */
ForeignTopology ReadForeignTopology(const std::string& path, TopologyFormat format);

/** Reads HPCC's and SimAI's files. */
ForeignTopology ReadLinkListTopology(const std::string& path, bool isSimAi);

/** Reads ASTRA-sim's network YAML. */
ForeignTopology ReadDimensionTopology(const std::string& path);

/**
 * @return a cluster file's contents; of a foreign topology what it is in Echo's terms
 * @throws InputError as the readers
 */
YamlNode LoadCluster(const std::string& path);

} // namespace echo
} // namespace ns3

#endif /* ECHO_FOREIGN_TOPOLOGY_H */
