// SPDX-License-Identifier: GPL-2.0-only
#include "echo-communication-record.h"

#include <algorithm>
#include <cctype>

namespace ns3
{
namespace echo
{

namespace
{

/** @return lower case letters and digits only: "nccl:_all_gather_base" -> "allgatherbase" */
std::string Squeeze(const std::string& name)
{
    std::string text = name;
    if (text.compare(0, 5, "nccl:") == 0)
    {
        text.erase(0, 5);
    }
    text = text.substr(0, text.find(' ')); // "nccl:send 0->1"
    std::string squeezed;
    for (char c : text)
    {
        if (std::isalnum(static_cast<unsigned char>(c)))
        {
            squeezed += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
    }
    return squeezed;
}

bool StartsWith(const std::string& text, const std::string& prefix)
{
    return text.compare(0, prefix.size(), prefix) == 0;
}

/** Sizes beyond are no sizes of messages; sums of them stay within 64 bits. */
const uint64_t LARGEST_SIZE = uint64_t(1) << 50;

uint64_t Multiply(uint64_t elements, uint64_t factor, const SourceLocation& where)
{
    if (factor != 0 && elements > LARGEST_SIZE / factor)
    {
        throw InputError(where, std::to_string(elements) + " elements", "a size of at most 2^50");
    }
    return elements * factor;
}

uint64_t Sum(const std::vector<uint64_t>& parts, const SourceLocation& where)
{
    uint64_t sum = 0;
    for (uint64_t part : parts)
    {
        sum += std::min(part, LARGEST_SIZE + 1);
        if (sum > LARGEST_SIZE)
        {
            throw InputError(where, "splits with " + std::to_string(part), "at most 2^50 in all");
        }
    }
    return sum;
}

DataType TypeOf(const CommunicationRecord& record, const SourceLocation& where)
{
    const auto type = ParseRecordedDataType(record.dataType);
    if (!type)
    {
        throw InputError(where,
                         record.dataType.empty() ? "no element type"
                                                 : "element type '" + record.dataType + "'",
                         "one of PyTorch's (Float, Half, BFloat16, Int, Long, Byte, ...)");
    }
    return *type;
}

std::string SizesOf(const CommunicationRecord& record)
{
    return record.name + " of " + std::to_string(record.inElements) + " elements in and " +
           std::to_string(record.outElements) + " out";
}

[[noreturn]] void FailSizes(const CommunicationRecord& record,
                            const std::string& expected,
                            const SourceLocation& where)
{
    throw InputError(where, SizesOf(record), expected);
}

/** @return elements of the larger side, where one side is @p members times the other */
uint64_t Gathered(const CommunicationRecord& record,
                  int64_t small,
                  int64_t large,
                  uint32_t members,
                  const SourceLocation& where)
{
    if (large < 0)
    {
        return Multiply(static_cast<uint64_t>(small), members, where);
    }
    if (small >= 0 &&
        Multiply(static_cast<uint64_t>(small), members, where) != static_cast<uint64_t>(large))
    {
        FailSizes(record,
                  "one size to be " + std::to_string(members) + " times the other (group of " +
                      std::to_string(members) + ")",
                  where);
    }
    return static_cast<uint64_t>(large);
}

/** @return the row of splits in bytes; splits count rows of the tensor's first dimension */
std::vector<uint64_t> SplitBytes(const std::vector<uint64_t>& splits,
                                 int64_t elements,
                                 uint32_t elementBytes,
                                 const CommunicationRecord& record,
                                 const SourceLocation& where)
{
    const uint64_t sum = Sum(splits, where);
    const uint64_t total = elements < 0 ? sum : static_cast<uint64_t>(elements);
    const uint64_t row = sum == 0 ? 1 : total / sum;
    if (row * sum != total)
    {
        FailSizes(
            record, "elements that the splits' sum " + std::to_string(sum) + " divides", where);
    }
    std::vector<uint64_t> bytes;
    for (uint64_t split : splits)
    {
        bytes.push_back(Multiply(Multiply(split, row, where), elementBytes, where));
    }
    return bytes;
}

void SetAllToAll(CollectiveSpec& spec,
                 const CommunicationRecord& record,
                 uint32_t groupSize,
                 const SourceLocation& where)
{
    const uint32_t elementBytes = BytesOf(spec.dataType);
    if (record.inSplits.empty() && record.outSplits.empty())
    {
        const int64_t elements = record.inElements >= 0 ? record.inElements : record.outElements;
        if (record.inElements >= 0 && record.outElements >= 0 &&
            record.inElements != record.outElements)
        {
            FailSizes(record, "equal sizes, or the splits", where);
        }
        spec.kind = CollectiveKind::ALL_TO_ALL;
        spec.bytes = Multiply(static_cast<uint64_t>(elements), elementBytes, where);
        return;
    }
    for (const auto* splits : {&record.inSplits, &record.outSplits})
    {
        if (!splits->empty() && splits->size() != groupSize)
        {
            throw InputError(where,
                             std::to_string(splits->size()) + " splits",
                             std::to_string(groupSize) + ", one a member");
        }
    }
    spec.kind = CollectiveKind::ALL_TO_ALL_V;
    if (record.inSplits.empty()) // equal parts, PyTorch's meaning of no splits on one side
    {
        const int64_t elements = record.inElements;
        if (elements < 0 || elements % groupSize != 0)
        {
            FailSizes(record, "elements in that " + std::to_string(groupSize) + " divides", where);
        }
        spec.sendBytes.assign(
            groupSize, Multiply(static_cast<uint64_t>(elements / groupSize), elementBytes, where));
    }
    else
    {
        spec.sendBytes =
            SplitBytes(record.inSplits, record.inElements, elementBytes, record, where);
    }
    if (!record.outSplits.empty())
    {
        spec.receiveBytes =
            SplitBytes(record.outSplits, record.outElements, elementBytes, record, where);
    }
    spec.bytes = Sum(spec.sendBytes, where);
}

} // namespace

std::optional<DataType> ParseRecordedDataType(const std::string& name)
{
    std::string text = Squeeze(StartsWith(name, "c10::") ? name.substr(5) : name);
    if (StartsWith(name, "unsigned") || StartsWith(name, "signed"))
    {
        text = Squeeze(name.substr(name.find(' ') + 1)); // "unsigned char"
    }
    static const std::vector<std::pair<DataType, std::vector<std::string>>> names{
        {DataType::FP32, {"float", "float32"}},
        {DataType::FP64, {"double", "float64", "complexfloat"}},
        {DataType::FP16, {"half", "float16", "short", "int16", "uint16"}},
        {DataType::BF16, {"bfloat16"}},
        {DataType::INT8, {"byte", "char", "int8", "uint8", "bool"}},
        {DataType::INT32, {"int", "int32", "uint32"}},
        {DataType::INT64, {"long", "longint", "longlong", "int64", "uint64"}},
    };
    for (const auto& [type, words] : names)
    {
        if (std::find(words.begin(), words.end(), text) != words.end())
        {
            return type;
        }
    }
    return StartsWith(text, "float8") ? std::optional<DataType>(DataType::FP8) : std::nullopt;
}

RecordedKind ParseRecordedKind(const std::string& name)
{
    const std::string text = Squeeze(name);
    RecordedKind result;
    result.isSend = StartsWith(text, "send");
    result.isReceive = StartsWith(text, "recv") || StartsWith(text, "receive");
    if (result.isSend || result.isReceive)
    {
        result.kind = CollectiveKind::SEND_RECV;
        return result;
    }
    if (text.find("barrier") != std::string::npos)
    {
        result.kind = CollectiveKind::BARRIER;
        return result;
    }
    // Longer names first: "reducescatter" starts with "reduce".
    static const std::vector<std::pair<const char*, CollectiveKind>> prefixes{
        {"allreduce", CollectiveKind::ALL_REDUCE},
        {"allgather", CollectiveKind::ALL_GATHER},
        {"reducescatter", CollectiveKind::REDUCE_SCATTER},
        {"alltoall", CollectiveKind::ALL_TO_ALL},
        {"broadcast", CollectiveKind::BROADCAST},
        {"reduce", CollectiveKind::REDUCE},
    };
    for (const auto& [prefix, kind] : prefixes)
    {
        if (StartsWith(text, prefix))
        {
            result.kind = kind;
            break;
        }
    }
    return result;
}

KernelHint ParseKernelName(const std::string& name)
{
    std::string text = name.substr(0, name.find_first_of("(<"));
    KernelHint hint;
    std::string lower = text;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) {
        return static_cast<char>(std::tolower(c));
    });
    hint.isCommunication = lower.find("ncclkernel") != std::string::npos ||
                           lower.find("nccldevkernel") != std::string::npos ||
                           lower.find("ncclsymdevkernel") != std::string::npos ||
                           lower.find("ncclsymkdevkernel") != std::string::npos ||
                           lower.find("rcclkernel") != std::string::npos ||
                           lower.find("rcclgenerickernel") != std::string::npos ||
                           lower.find("mscclkernel") != std::string::npos;
    if (!hint.isCommunication)
    {
        return hint;
    }
    size_t from = text.find('_');
    while (from != std::string::npos)
    {
        const size_t to = text.find('_', from + 1);
        const std::string word =
            text.substr(from + 1, to == std::string::npos ? to : to - from - 1);
        const RecordedKind kind = ParseRecordedKind(word);
        if (!hint.kind && kind.kind)
        {
            hint.kind = kind.kind;
        }
        if (word == "RING" || word == "TREE")
        {
            hint.algorithm =
                word == "RING" ? CollectiveAlgorithmKind::RING : CollectiveAlgorithmKind::TREE;
        }
        if (word == "LL" || word == "LL128" || word == "SIMPLE")
        {
            hint.protocol = word == "LL"      ? CollectiveProtocol::LL
                            : word == "LL128" ? CollectiveProtocol::LL128
                                              : CollectiveProtocol::SIMPLE;
        }
        from = to;
    }
    return hint;
}

bool LooksLikeCommunication(const std::string& kernel)
{
    // Inductor names its fused kernels by the operators that they replace.
    if (ParseKernelName(kernel).isCommunication || StartsWith(kernel, "triton_"))
    {
        return false;
    }
    std::string name = kernel;
    std::replace(name.begin(), name.end(), ' ', '_'); // Squeeze() stops there
    name = Squeeze(name);
    const auto parts = {"allreduce",
                        "allgather",
                        "reducescatter",
                        "alltoall",
                        "all2all",
                        "crossdevicereduce",
                        "userbuffers",
                        "nvshmem",
                        "rocshmem",
                        "mscclpp",
                        "pplxkernels",
                        "deepep"};
    return std::any_of(parts.begin(), parts.end(), [&name](const char* part) {
        return name.find(part) != std::string::npos;
    });
}

CollectiveSpec ToCollectiveSpec(const CommunicationRecord& record,
                                CollectiveKind kind,
                                uint32_t groupSize,
                                const SourceLocation& where)
{
    CollectiveSpec spec;
    spec.kind = kind;
    if (kind == CollectiveKind::BARRIER)
    {
        return spec;
    }
    if (!record.HasSizes())
    {
        throw InputError(where, std::string(ToString(kind)) + " without sizes", "recorded sizes");
    }
    spec.dataType = TypeOf(record, where);
    const uint32_t elementBytes = BytesOf(spec.dataType);
    const int64_t in = record.inElements;
    const int64_t out = record.outElements;
    switch (kind)
    {
    case CollectiveKind::ALL_GATHER:
        spec.bytes = Multiply(Gathered(record, in, out, groupSize, where), elementBytes, where);
        return spec;
    case CollectiveKind::REDUCE_SCATTER:
        spec.bytes = Multiply(Gathered(record, out, in, groupSize, where), elementBytes, where);
        return spec;
    case CollectiveKind::ALL_TO_ALL:
    case CollectiveKind::ALL_TO_ALL_V:
        SetAllToAll(spec, record, groupSize, where);
        return spec;
    default:
        break;
    }
    if (in >= 0 && out >= 0 && in != out)
    {
        FailSizes(record, "equal sizes", where);
    }
    spec.bytes = Multiply(static_cast<uint64_t>(in >= 0 ? in : out), elementBytes, where);
    if (kind == CollectiveKind::BROADCAST || kind == CollectiveKind::REDUCE)
    {
        spec.root = record.root >= 0 && record.root < static_cast<int64_t>(groupSize)
                        ? static_cast<uint32_t>(record.root)
                        : 0;
    }
    return spec;
}

uint64_t GatheredBytes(uint64_t bytes, uint64_t members, const SourceLocation& where)
{
    if (members != 0 && bytes > LARGEST_SIZE / members)
    {
        throw InputError(where,
                         std::to_string(bytes) + " B of each of " + std::to_string(members) +
                             " ranks",
                         "at most 2^50 B in all");
    }
    return bytes * members;
}

uint64_t ToMessageBytes(const CommunicationRecord& record, const SourceLocation& where)
{
    if (!record.HasSizes())
    {
        throw InputError(where, record.name + " without a size", "a recorded size");
    }
    const int64_t elements = record.inElements > 0 ? record.inElements : record.outElements;
    return Multiply(static_cast<uint64_t>(std::max<int64_t>(elements, 0)),
                    BytesOf(TypeOf(record, where)),
                    where);
}

} // namespace echo
} // namespace ns3
