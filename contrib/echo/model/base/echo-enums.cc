// SPDX-License-Identifier: GPL-2.0-only
#include "echo-enums.h"

#include "echo-name-table.h"

namespace ns3
{
namespace echo
{

namespace
{

const NameTable<CollectiveKind> COLLECTIVE_KINDS{
    {CollectiveKind::ALL_REDUCE, "all-reduce"},
    {CollectiveKind::ALL_GATHER, "all-gather"},
    {CollectiveKind::REDUCE_SCATTER, "reduce-scatter"},
    {CollectiveKind::BROADCAST, "broadcast"},
    {CollectiveKind::REDUCE, "reduce"},
    {CollectiveKind::ALL_TO_ALL, "all-to-all"},
    {CollectiveKind::ALL_TO_ALL_V, "all-to-all-v"},
    {CollectiveKind::SEND_RECV, "send-recv"},
    {CollectiveKind::BARRIER, "barrier"},
};
const NameTable<CollectiveAlgorithmKind> ALGORITHMS{
    {CollectiveAlgorithmKind::AUTO, "auto"},
    {CollectiveAlgorithmKind::RING, "ring"},
    {CollectiveAlgorithmKind::TREE, "tree"},
    {CollectiveAlgorithmKind::PAIRWISE, "pairwise"},
    {CollectiveAlgorithmKind::NVLS, "nvls"},
    {CollectiveAlgorithmKind::NVLS_TREE, "nvls-tree"},
    {CollectiveAlgorithmKind::PAT, "pat"},
};
const NameTable<CollectiveProtocol> PROTOCOLS{
    {CollectiveProtocol::AUTO, "auto"},
    {CollectiveProtocol::LL, "ll"},
    {CollectiveProtocol::LL128, "ll128"},
    {CollectiveProtocol::SIMPLE, "simple"},
};
const NameTable<DataType> DATA_TYPES{
    {DataType::INT8, "int8"},
    {DataType::FP8, "fp8"},
    {DataType::FP16, "fp16"},
    {DataType::BF16, "bf16"},
    {DataType::TF32, "tf32"},
    {DataType::FP32, "fp32"},
    {DataType::FP64, "fp64"},
    {DataType::INT32, "int32"},
    {DataType::INT64, "int64"},
    {DataType::FP4, "fp4"},
};
const NameTable<GroupKind> GROUP_KINDS{
    {GroupKind::WORLD, "world"},
    {GroupKind::TENSOR, "tp"},
    {GroupKind::PIPELINE, "pp"},
    {GroupKind::DATA, "dp"},
    {GroupKind::EXPERT, "ep"},
    {GroupKind::CONTEXT, "cp"},
    {GroupKind::EMBEDDING, "embedding"},
    {GroupKind::OTHER, "other"},
};
const NameTable<Fidelity> FIDELITIES{
    {Fidelity::ANALYTICAL, "analytical"},
    {Fidelity::FLOW, "flow"},
    {Fidelity::PACKET, "packet"},
    {Fidelity::HYBRID, "hybrid"},
};
const NameTable<DeviceRole> DEVICE_ROLES{
    {DeviceRole::GPU, "gpu"},
    {DeviceRole::NV_SWITCH, "nvswitch"},
    {DeviceRole::PCIE_SWITCH, "pcie-switch"},
    {DeviceRole::NIC, "nic"},
    {DeviceRole::LEAF, "leaf"},
    {DeviceRole::SPINE, "spine"},
    {DeviceRole::CORE, "core"},
};

} // namespace

const char* ToString(CollectiveKind value)
{
    return NameOf(COLLECTIVE_KINDS, value);
}

const char* ToString(CollectiveAlgorithmKind value)
{
    return NameOf(ALGORITHMS, value);
}

const char* ToString(CollectiveProtocol value)
{
    return NameOf(PROTOCOLS, value);
}

const char* ToString(DataType value)
{
    return NameOf(DATA_TYPES, value);
}

const char* ToString(GroupKind value)
{
    return NameOf(GROUP_KINDS, value);
}

const char* ToString(Fidelity value)
{
    return NameOf(FIDELITIES, value);
}

const char* ToString(DeviceRole value)
{
    return NameOf(DEVICE_ROLES, value);
}

CollectiveKind ParseCollectiveKind(const std::string& text)
{
    return ValueOf(COLLECTIVE_KINDS, text);
}

CollectiveAlgorithmKind ParseCollectiveAlgorithm(const std::string& text)
{
    return ValueOf(ALGORITHMS, text);
}

CollectiveProtocol ParseCollectiveProtocol(const std::string& text)
{
    return ValueOf(PROTOCOLS, text);
}

DataType ParseDataType(const std::string& text)
{
    return ValueOf(DATA_TYPES, text);
}

GroupKind ParseGroupKind(const std::string& text)
{
    return ValueOf(GROUP_KINDS, text);
}

Fidelity ParseFidelity(const std::string& text)
{
    return ValueOf(FIDELITIES, text);
}

DeviceRole ParseDeviceRole(const std::string& text)
{
    return ValueOf(DEVICE_ROLES, text);
}

uint32_t BytesOf(DataType type)
{
    switch (type)
    {
    case DataType::INT8:
    case DataType::FP8:
    case DataType::FP4: // rounded up
        return 1;
    case DataType::FP16:
    case DataType::BF16:
        return 2;
    case DataType::TF32:
    case DataType::FP32:
    case DataType::INT32:
        return 4;
    case DataType::FP64:
    case DataType::INT64:
        return 8;
    }
    return 1;
}

double BusBandwidthFactor(CollectiveKind kind, uint32_t ranks)
{
    if (ranks == 0)
    {
        return 0;
    }
    const double n = ranks;
    switch (kind)
    {
    case CollectiveKind::ALL_REDUCE:
        return 2 * (n - 1) / n;
    case CollectiveKind::ALL_GATHER:
    case CollectiveKind::REDUCE_SCATTER:
    case CollectiveKind::ALL_TO_ALL:
    case CollectiveKind::ALL_TO_ALL_V:
        return (n - 1) / n;
    case CollectiveKind::BARRIER:
        return 0;
    default:
        return 1;
    }
}

} // namespace echo
} // namespace ns3
