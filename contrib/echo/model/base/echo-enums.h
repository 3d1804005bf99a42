// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_ENUMS_H
#define ECHO_ENUMS_H

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** What a communication does. `bytes` follows nccl-tests' definition of size (see CollectiveSpec).
 */
enum class CollectiveKind : uint8_t
{
    ALL_REDUCE,
    ALL_GATHER,
    REDUCE_SCATTER,
    BROADCAST,
    REDUCE,
    ALL_TO_ALL,   //!< equal splits
    ALL_TO_ALL_V, //!< splits given per rank
    SEND_RECV,    //!< one matched pair of a send and a receive
    BARRIER,
};

/** How a collective moves its bytes. */
enum class CollectiveAlgorithmKind : uint8_t
{
    AUTO, //!< the selector decides
    RING,
    TREE,      //!< double binary tree, chains inside hosts
    PAIRWISE,  //!< grouped sends and receives (all-to-all, send/recv)
    NVLS,      //!< NVLink SHARP: the switches of one NVLink domain reduce (all-reduce)
    NVLS_TREE, //!< NVLink SHARP in each domain, double binary tree between them (all-reduce)
    PAT,       //!< parallel aggregated trees (all-gather, reduce-scatter; one GPU a host)
};

/** NCCL's transport protocols. */
enum class CollectiveProtocol : uint8_t
{
    AUTO,
    LL,
    LL128,
    SIMPLE,
};

/** Element type of a buffer. */
enum class DataType : uint8_t
{
    INT8,
    FP8,
    FP16,
    BF16,
    TF32, //!< FP32 in memory, multiplied with 10 bits of mantissa
    FP32,
    FP64,
    INT32,
    INT64,
    FP4, //!< with scales of small blocks (NVFP4, MXFP4); two elements a byte
};

/** The dimension of the parallel plan that a process group belongs to. */
enum class GroupKind : uint8_t
{
    WORLD,
    TENSOR,
    PIPELINE,
    DATA,
    EXPERT,
    CONTEXT,
    EMBEDDING,
    OTHER,
};

/** Which model of the network serves a communication. */
enum class Fidelity : uint8_t
{
    ANALYTICAL,
    FLOW,
    PACKET,
    HYBRID,
};

/** Role of a device; given when it is made, never inferred from its links. */
enum class DeviceRole : uint8_t
{
    GPU,
    NV_SWITCH,   //!< switch of an NVLink domain
    PCIE_SWITCH, //!< PCIe switch or root complex of a host
    NIC,
    LEAF,
    SPINE, //!< middle tier (aggregation) of a three-tier tree, top tier of a two-tier tree
    CORE,  //!< top tier of a three-tier tree
};

// Names as users write and read them ("all-reduce", "ring", "ll128", "bf16", "tp", "packet",
// "leaf"). Parse* throws InputError whose "expected" lists the names. ToString is total.

const char* ToString(CollectiveKind value);
const char* ToString(CollectiveAlgorithmKind value);
const char* ToString(CollectiveProtocol value);
const char* ToString(DataType value);
const char* ToString(GroupKind value);
const char* ToString(Fidelity value);
const char* ToString(DeviceRole value);

CollectiveKind ParseCollectiveKind(const std::string& text);
CollectiveAlgorithmKind ParseCollectiveAlgorithm(const std::string& text);
CollectiveProtocol ParseCollectiveProtocol(const std::string& text);
DataType ParseDataType(const std::string& text);
GroupKind ParseGroupKind(const std::string& text);
Fidelity ParseFidelity(const std::string& text);
DeviceRole ParseDeviceRole(const std::string& text);

/** @return bytes of one element of @p type */
uint32_t BytesOf(DataType type);

/** @return the factor busbw / algbw of nccl-tests (doc/PERFORMANCE.md there) for @p ranks ranks */
double BusBandwidthFactor(CollectiveKind kind, uint32_t ranks);

} // namespace echo
} // namespace ns3

#endif /* ECHO_ENUMS_H */
