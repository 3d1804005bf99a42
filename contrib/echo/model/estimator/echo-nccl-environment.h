// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_NCCL_ENVIRONMENT_H
#define ECHO_NCCL_ENVIRONMENT_H

#include "echo-machine-profile.h"

#include "ns3/echo-topology.h"

#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** Rates of a cluster's links as far as NCCL looks at them; hosts are taken to be alike. */
struct HostLinks
{
    bool hasSwitch{false}; //!< GPUs are joined by an NVSwitch
    double gpuGBps{0};     //!< all links of a GPU to others of its host, one direction
    double nicGBps{0};     //!< one NIC to the fabric, one direction; 0: none
    uint32_t gpusPerHost{1};
    uint32_t nicsPerHost{0};
    bool hasNvlink{true}; //!< GPUs are joined by NVLink at all
    /// Without switch: NVLinks between GPUs (counting 25 GB/s each), by their order in the host.
    std::vector<std::vector<uint32_t>> mesh;
};

/** @return the links of a host, as its first GPU and NIC have them */
HostLinks ReadHostLinks(const Topology& topology, HostId host);
/** @return the links of the first host */
HostLinks ReadHostLinks(const Topology& topology);

/** @return the generation of a GPU by its name ("A100-SXM4-40GB")
 *  @throws InputError if the name holds none of the known models */
GpuGeneration GenerationOf(const std::string& gpuName);

/** @return the largest rate of the search's ladder inside hosts that is not above @p rate, GB/s */
double NcclHostLadderRate(double rate);

/**
 * @return what NCCL's graph search finds on such hosts, by rule instead of search: inside hosts
 *         NCCL takes 20 of 25 GB/s of an NVLink (20.6 from Hopper on; src/graph/topo.h) and shares
 *         them to channels of 20 to 45 GB/s; between hosts a channel a NIC with the largest rate of
 *         its ladder (src/graph/search.cc) that NIC and NVLink allow; then twice the channels
 *         (src/graph/connect.cc). NVLink SHARP: 16 channels, 24 on Blackwell
 *         (src/transport/nvls.cc), each GPU's part at the largest rate of the ladder. Version,
 * processor and LL128 stay at their defaults.
 */
NcclEnvironment DeduceNcclEnvironment(const HostLinks& links, GpuGeneration gpu);

/** @return whether each GPU of a host has a processor and a NIC of its own: GH200 */
bool HasProcessorEach(const std::string& gpuName, const HostLinks& links);

/**
 * Has rings come back to the NIC that they left by (NCCL_CROSS_NIC=0), on hosts with a processor
 * and a NIC for each GPU: the last GPU of such a ring reaches the first one's NIC over the link of
 * two processors, which NCCL takes for 6 GB/s on ARM (ARM_BW, src/graph/topo.h).
 *
 * @throws InputError for other hosts, for which no rule is known here
 */
void ReturnByOwnNic(const std::string& gpuName, const HostLinks& links, NcclEnvironment& nccl);

} // namespace echo
} // namespace ns3

#endif /* ECHO_NCCL_ENVIRONMENT_H */
