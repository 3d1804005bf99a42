// SPDX-License-Identifier: GPL-2.0-only
#include "echo-collective-selector.h"

#include "ns3/echo-error.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <string>

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(CollectiveSelector);
NS_OBJECT_ENSURE_REGISTERED(FixedSelector);

TypeId CollectiveSelector::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::CollectiveSelector").SetParent<Object>().SetGroupName("Echo");
    return tid;
}

bool CanCarryOut(CollectiveAlgorithmKind algorithm, CollectiveKind kind)
{
    const bool pairs = kind == CollectiveKind::ALL_TO_ALL || kind == CollectiveKind::ALL_TO_ALL_V ||
                       kind == CollectiveKind::SEND_RECV;
    switch (algorithm)
    {
    case CollectiveAlgorithmKind::RING:
        return !pairs;
    case CollectiveAlgorithmKind::NVLS:
    case CollectiveAlgorithmKind::NVLS_TREE:
        return kind == CollectiveKind::ALL_REDUCE;
    case CollectiveAlgorithmKind::PAT:
        return kind == CollectiveKind::ALL_GATHER || kind == CollectiveKind::REDUCE_SCATTER;
    case CollectiveAlgorithmKind::TREE:
        return kind == CollectiveKind::ALL_REDUCE || kind == CollectiveKind::BARRIER;
    case CollectiveAlgorithmKind::PAIRWISE:
        return pairs;
    case CollectiveAlgorithmKind::AUTO:
        return true;
    }
    return false;
}

std::string WhyNotOn(CollectiveAlgorithmKind algorithm, const GroupLayout& layout)
{
    const bool tree = algorithm == CollectiveAlgorithmKind::NVLS_TREE;
    if (!tree && algorithm != CollectiveAlgorithmKind::NVLS)
    {
        return "";
    }
    const std::string found = std::string("algorithm '") + ToString(algorithm) + "': found ";
    const uint32_t hosts = layout.GetHosts();
    if (!tree && hosts > 1)
    {
        return found + "a group on " + std::to_string(hosts) +
               " hosts, expected one host, whose switches reduce; nvls-tree joins several";
    }
    if (tree && hosts == 1)
    {
        return found + "a group on one host, expected several; nvls is for one";
    }
    const Topology& topology = *layout.placement->GetTopology();
    const HostId host = layout.placement->GetHost(layout.group->GetRank(layout.hosts[0][0]));
    if (!topology.HasNvSwitch(host))
    {
        return found + "hosts without NVSwitch, expected GPUs joined by one, which reduces";
    }
    return "";
}

void RequireRunsOn(CollectiveAlgorithmKind algorithm, const GroupLayout& layout)
{
    if (const std::string why = WhyNotOn(algorithm, layout); !why.empty())
    {
        throw UnsupportedError(why);
    }
}

uint64_t PipelineChunkBytes(CollectiveAlgorithmKind algorithm,
                            const CollectiveSpec& spec,
                            uint32_t channels)
{
    const bool chain = spec.kind == CollectiveKind::BROADCAST ||
                       spec.kind == CollectiveKind::REDUCE ||
                       (MovesLike(algorithm) == CollectiveAlgorithmKind::TREE &&
                        spec.kind == CollectiveKind::ALL_REDUCE);
    if (!chain)
    {
        return 0;
    }
    // NCCL 2.22, Simple: a slot is 4 MiB of buffer / 8 steps. Smaller for small messages, so that
    // a chain of hosts fills (NCCL halves for the same reason), and not by halves, at which times
    // would jump where NCCL's do not.
    constexpr uint64_t SLOT_BYTES = 512 * 1024;
    constexpr uint64_t LEAST_BYTES = 16 * 1024;
    constexpr uint64_t PIECES = 32;
    const uint64_t pieces = PIECES * std::max(channels, 1u);
    return std::clamp((spec.bytes + pieces - 1) / pieces, LEAST_BYTES, SLOT_BYTES);
}

TypeId FixedSelector::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::FixedSelector")
            .SetParent<CollectiveSelector>()
            .SetGroupName("Echo")
            .AddConstructor<FixedSelector>()
            .AddAttribute("Algorithm",
                          "auto, ring, tree, pairwise, nvls, nvls-tree or pat; kinds that it "
                          "cannot do get auto: ring, "
                          "or pairwise for all-to-all and send/recv",
                          StringValue("auto"),
                          MakeStringAccessor(&FixedSelector::m_algorithm),
                          MakeStringChecker())
            .AddAttribute("Protocol",
                          "auto (simple), ll, ll128 or simple",
                          StringValue("auto"),
                          MakeStringAccessor(&FixedSelector::m_protocol),
                          MakeStringChecker())
            .AddAttribute("Channels",
                          "Number of channels; 0: one per NIC that serves members on a host",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FixedSelector::m_channels),
                          MakeUintegerChecker<uint32_t>(0, 1024))
            .AddAttribute("ChunkBytes",
                          "Largest message of a step; 0: a step's data for ring steps, pieces of "
                          "16 to 512 KiB for chains and trees, which need pipelining",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FixedSelector::m_chunkBytes),
                          MakeUintegerChecker<uint64_t>());
    return tid;
}

CollectiveChoice FixedSelector::Select(const CollectiveSpec& spec, const GroupLayout& layout) const
{
    if (!CanCarryOut(spec.algorithm, spec.kind))
    {
        throw UnsupportedError(std::string("algorithm '") + ToString(spec.algorithm) +
                               "' cannot carry out " + ToString(spec.kind));
    }
    RequireRunsOn(spec.algorithm, layout);
    CollectiveChoice choice;
    choice.algorithm = spec.algorithm;
    if (choice.algorithm == CollectiveAlgorithmKind::AUTO)
    {
        choice.algorithm = ParseCollectiveAlgorithm(m_algorithm);
    }
    if (choice.algorithm == CollectiveAlgorithmKind::AUTO ||
        !CanCarryOut(choice.algorithm, spec.kind) || !WhyNotOn(choice.algorithm, layout).empty())
    {
        choice.algorithm = CanCarryOut(CollectiveAlgorithmKind::PAIRWISE, spec.kind)
                               ? CollectiveAlgorithmKind::PAIRWISE
                               : CollectiveAlgorithmKind::RING;
    }
    choice.protocol = spec.protocol;
    if (choice.protocol == CollectiveProtocol::AUTO)
    {
        choice.protocol = ParseCollectiveProtocol(m_protocol);
    }
    if (choice.protocol == CollectiveProtocol::AUTO)
    {
        choice.protocol = CollectiveProtocol::SIMPLE;
    }
    choice.channels = spec.channels > 0 ? spec.channels : m_channels;
    if (choice.channels == 0)
    {
        choice.channels = std::max(layout.nicsPerHost, 1u);
    }
    choice.chunkBytes = m_chunkBytes > 0
                            ? m_chunkBytes
                            : PipelineChunkBytes(choice.algorithm, spec, choice.channels);
    return choice;
}

} // namespace echo
} // namespace ns3
