// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_MACHINE_PROFILE_H
#define ECHO_MACHINE_PROFILE_H

#include "ns3/echo-enums.h"
#include "ns3/echo-placement.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/** GPU architectures whose constants NCCL's tuner tells apart. */
enum class GpuGeneration : uint8_t
{
    VOLTA,
    AMPERE,
    HOPPER,
    BLACKWELL,
};

/** Host processors that NCCL's tuner tells apart. */
enum class CpuVendor : uint8_t
{
    INTEL,
    AMD,
    OTHER,
};

const char* ToString(GpuGeneration value);
const char* ToString(CpuVendor value);
/** @throws InputError listing the names */
GpuGeneration ParseGpuGeneration(const std::string& text);
CpuVendor ParseCpuVendor(const std::string& text);

/** What the costs of a collective depend on besides its bytes: a group's plain numbers. */
struct GroupShape
{
    uint32_t ranks{1};
    uint32_t hosts{1};
    uint32_t localRanks{1}; //!< most members on a host
    uint32_t nics{0};       //!< NICs that serve members on a host; at least 1 between hosts
};

/** @return the shape of a group */
GroupShape ShapeOf(const GroupLayout& layout);
/** @return the shape of @p ranks spread evenly over @p hosts with @p nicsPerHost NICs each */
GroupShape EvenShape(uint32_t ranks, uint32_t hosts, uint32_t nicsPerHost);

/**
 * What NCCL found in the machine, as its tuner and its channels depend on it: paths of its graph
 * search with the rate it takes them for (ncclTopoGraph: nChannels, bwIntra, bwInter), and the
 * channels that collectives get after duplication.
 */
struct NcclEnvironment
{
    std::string version{"2.22"}; //!< release whose tuner rules
    GpuGeneration gpu{GpuGeneration::AMPERE};
    CpuVendor cpu{CpuVendor::OTHER};
    bool ll128BetweenHosts{true}; //!< LL128 is on: GPU and NIC under one PCIe switch

    bool nvlink{true};       //!< GPUs of a host are joined by NVLink; else by PCIe
    uint32_t hostPaths{12};  //!< channels of the graph inside one host
    double hostPathGBps{20}; //!< rate that NCCL takes each for
    /// Hosts whose GPUs are joined by single links: rings over NVLink that the first 2, 3, ... GPUs
    /// of a host allow; empty: all GPUs reach each other alike.
    std::vector<double> hostRings;
    double nvlsPathGBps{0};    //!< NVLink SHARP: rate that NCCL takes a GPU's part for; 0: none
    uint32_t nvlsChannels{16}; //!< channels of NVLink SHARP
    uint32_t hostChannels{24}; //!< channels that collectives get inside one host

    double pathsPerNic{1};       //!< channels of the graph between hosts, a NIC
    double netPathGBps{24};      //!< rate that NCCL takes each for
    double netTreeIntraGBps{24}; //!< the tree's rate inside hosts (used for two hosts)
    double channelsPerNic{2};    //!< channels that collectives get between hosts, a NIC
    /// Where a ring must come back to the NIC it left by, over the link between two processors
    /// (NCCL_CROSS_NIC=0 on hosts with a processor and a NIC a GPU): the rate that NCCL takes that
    /// link for; 0: rings may come back by any NIC.
    double returnPathGBps{0};
    uint32_t largestChannelCount{32}; //!< MAXCHANNELS
    /// Messages between hosts above this cost the hosts' processors time, as sender and receiver
    /// agree on them (rendezvous) or match them in software, bytes; 0: none does, as where NCCL's
    /// own plug-in writes by RDMA.
    double eagerBytes{0};
};

/** Constants of one protocol. */
struct ProtocolConstants
{
    double intraStepUs{0};     //!< one step to a GPU of the same host: flag, copy start, link
    double interStepUs{0};     //!< one step to another host: flag, proxy, NIC, fabric
    double intraEfficiency{1}; //!< payload's part of what Simple sustains inside hosts
    double interEfficiency{1}; //!< payload's part of what Simple sustains between hosts
};

/** The fitted constants of a machine class; echo-white-box-terms.h says where each one stands. */
struct MachineConstants
{
    double setupUs{0};             //!< launch and set-up of the kernel
    double setupPerChannelUs{0};   //!< more for each channel in use
    double hostIssueUs{0};         //!< a thread's time to issue one GPU's kernel
    double launchUs{0};            //!< of a call that is timed alone: its launch, in that time
    double gpuGBps{1};             //!< what a GPU sustains to the others of its host, one direction
    double nicGBps{1};             //!< what a NIC sustains, one direction
    double simplexGain{1};         //!< nicGBps times this where data goes in one direction only
    double llChannelGBps{1};       //!< what a channel sustains with LL inside a host
    double treeBandwidthFactor{1}; //!< tree's time a chunk over the links' share
    double treeChunkUs{0};         //!< synchronising one chunk of the tree's pipeline
    double treeBurstBytes{0};     //!< of a tree's channel, which hosts pass on together; 0: a chunk
    double ringTail{0};           //!< the last receive of a ring, in steps
    double overlapExponent{1};    //!< 1: step latencies add to transfers; larger: they hide
    double netOverlapExponent{0}; //!< the same where the ring's slowest link is between hosts
    double messageUs{0};          //!< serving one message of a ring above eagerBytes
    double copyUs{0};             //!< a host's copying of a message of LL into its GPU's memory
    double reductionUsPerMiB{0};  //!< reducing that transfers do not hide
    double peerUs{0};             //!< each further peer of grouped sends and receives
    double nvlsUs{0};             //!< NVLink SHARP: latency beside set-up
    double nvlsChunkUs{0};        //!< NVLink SHARP: synchronising one round of chunks
    double nvlsGBps{0};           //!< what a GPU sustains with NVLink SHARP; 0: none
    double nvlsOverlapExponent{0}; //!< how its transfers hide those between hosts; 0: all
    double pairChannelGBps{1};     //!< what a channel of a send sustains inside a host
    double netChannelGBps{1};      //!< what a channel of a send sustains between hosts
    double pairwiseEfficiency{1};  //!< grouped sends' part of what rings sustain
    std::array<ProtocolConstants, 3> protocols; //!< LL, LL128, Simple
};

/** @return 0, 1, 2 for LL, LL128, Simple (AUTO counts as Simple) */
uint32_t ProtocolIndex(CollectiveProtocol protocol);

/** One constant as reader, writer and fitter see it. */
struct ConstantInfo
{
    const char* name;                     //!< YAML key with its unit, "ll.intra_step_us"
    double& (*access)(MachineConstants&); //!< the constant
    double least;                         //!< smallest value that makes sense (0: may be absent)
    double most;                          //!< largest value that makes sense
    double spread;                        //!< of the fit's prior, in natural logarithm
    const char* help;                     //!< what it is
};

/** @return all constants, in the order in which files list them */
const std::vector<ConstantInfo>& GetConstantInfos();

/** Where the rows of one operation were measured. */
struct CalibratedRange
{
    CollectiveKind kind{CollectiveKind::ALL_REDUCE};
    uint64_t minBytes{0};
    uint64_t maxBytes{0};
    uint32_t minRanks{0};
    uint32_t maxRanks{0};
    uint32_t minHosts{0};
    uint32_t maxHosts{0};
    uint32_t minLocalRanks{0};
    uint32_t maxLocalRanks{0};
};

/** How far estimates are from the rows of one operation and scale. */
struct ResidualStatistics
{
    CollectiveKind kind{CollectiveKind::ALL_REDUCE};
    uint32_t ranks{0};
    uint32_t hosts{0};
    uint64_t minBytes{0}; //!< of the rows counted
    uint32_t rows{0};
    double meanPercent{0}; //!< mean absolute error
    double medianPercent{0};
    double p90Percent{0};
    double worstPercent{0};
};

/** How NcclSelector picks. */
enum class SelectionRule : uint8_t
{
    TUNER,      //!< as NCCL's tuner of that version does, never against growing time
    LEAST_COST, //!< what the model finds cheapest
};

const char* ToString(SelectionRule value);
SelectionRule ParseSelectionRule(const std::string& text);

/** A class of machines: constants with their origin, range and residuals. Plain data. */
struct MachineProfile
{
    std::string name;
    std::string hardware; //!< GPU, links, NICs
    std::string source;   //!< where the measurements come from
    std::string fit;      //!< how the constants were found
    NcclEnvironment nccl;
    SelectionRule selection{SelectionRule::TUNER};
    double linkGpuGBps{0};   //!< rate of a GPU\'s links inside the host measured, one direction
    double linkNicGBps{0};   //!< rate of a NIC of the machine measured, one direction
    uint32_t nicsPerHost{1}; //!< of the machine measured
    bool oneThreadPerHost{false}; //!< runs on one host were issued by one thread for all GPUs
    MachineConstants constants;
    /// Of each constant that the measurements tell, by name: the ends of its 95 % interval.
    std::map<std::string, std::pair<double, double>> intervals;
    std::vector<CalibratedRange> ranges;
    std::vector<ResidualStatistics> residuals;

    /** @return the range of an operation, or null */
    const CalibratedRange* FindRange(CollectiveKind kind) const;
};

using MachineProfilePtr = std::shared_ptr<const MachineProfile>;

} // namespace echo
} // namespace ns3

#endif /* ECHO_MACHINE_PROFILE_H */
