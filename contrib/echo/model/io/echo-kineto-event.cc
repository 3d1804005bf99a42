// SPDX-License-Identifier: GPL-2.0-only
// Compiled where simdjson is there; else echo-trace-readers-missing.cc.
#include "echo-kineto-event.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace ns3
{
namespace echo
{

namespace
{

/** Inputs of an operator that are looked at. */
const size_t FIRST_INPUTS = 4;

/** @return what @p read makes of each of the first entries of a list */
template <typename Value>
std::vector<Value> ReadFirst(json::value& value, Value (*read)(json::value&))
{
    std::vector<Value> first;
    for (json::value entry : value.get_array())
    {
        if (first.size() < FIRST_INPUTS)
        {
            first.push_back(read(entry));
        }
    }
    return first;
}

bool IsList(json::value& value)
{
    return value.type() == json::json_type::array;
}

void ReadCommunicationArgument(std::string_view key,
                               json::value& value,
                               CommunicationRecord& record)
{
    using Record = CommunicationRecord;
    static const std::map<std::string_view, int64_t Record::*> integers{
        {"In msg nelems", &Record::inElements},
        {"Out msg nelems", &Record::outElements},
        {"Group size", &Record::groupSize},
        {"Global rank start", &Record::rankStart},
        {"Global rank stride", &Record::rankStride},
        {"Root Rank", &Record::root},
        {"Rank", &Record::root},
        {"Src Rank", &Record::peer},
        {"Dst Rank", &Record::peer},
        {"Seq", &Record::sequence},
        {"Record function id", &Record::functionId},
    };
    const auto integer = integers.find(key);
    if (integer != integers.end())
    {
        const int64_t number = IntegerOf(value).value_or(-1);
        record.*(integer->second) = number;
        const bool isSize =
            integer->second == &Record::inElements || integer->second == &Record::outElements;
        if (isSize && number < 0 && TokenOf(value) != "-1") // PyTorch's word for none
        {
            record.unreadable = std::string(key) + " " + std::string(TokenOf(value).substr(0, 40));
        }
    }
    else if (key == "Collective name")
    {
        record.name = StringOf(value);
    }
    else if (key == "dtype")
    {
        record.dataType = StringOf(value);
    }
    else if (key == "In split size")
    {
        record.inSplits = NumbersOf(value);
    }
    else if (key == "Out split size")
    {
        record.outSplits = NumbersOf(value);
    }
    else if (key == "Process Group Name" || key == "Process Group ID")
    {
        record.groupName = TokenOf(value);
    }
    else if (key == "Process Group Ranks")
    {
        record.ranks = ToRanks(NumbersOf(value));
    }
}

} // namespace

KinetoCategory ParseKinetoCategory(std::string_view text)
{
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) {
        return static_cast<char>(std::tolower(c));
    });
    static const std::map<std::string, KinetoCategory> categories{
        {"kernel", KinetoCategory::KERNEL},
        {"gpu_memcpy", KinetoCategory::COPY},
        {"memcpy", KinetoCategory::COPY},
        {"gpu_memset", KinetoCategory::SET},
        {"memset", KinetoCategory::SET},
        {"cuda_runtime", KinetoCategory::RUNTIME},
        {"cuda_driver", KinetoCategory::RUNTIME},
        {"hip_runtime", KinetoCategory::RUNTIME},
        {"runtime", KinetoCategory::RUNTIME},
        {"cuda_sync", KinetoCategory::SYNC},
        {"cpu_op", KinetoCategory::CPU},
        {"operator", KinetoCategory::CPU},
        {"user_annotation", KinetoCategory::CPU},
        {"python_function", KinetoCategory::CPU},
    };
    const auto known = categories.find(lower);
    return known == categories.end() ? KinetoCategory::OTHER : known->second;
}

HostCall::Kind ParseHostCall(std::string_view name)
{
    for (std::string_view prefix : {"cuda", "hip", "cu"})
    {
        if (name.substr(0, prefix.size()) == prefix)
        {
            name.remove_prefix(prefix.size());
            break;
        }
    }
    auto starts = [name](std::string_view prefix) {
        return name.substr(0, prefix.size()) == prefix;
    };
    if (starts("StreamSynchronize"))
    {
        return HostCall::Kind::STREAM_SYNC;
    }
    if (starts("DeviceSynchronize") || starts("CtxSynchronize"))
    {
        return HostCall::Kind::DEVICE_SYNC;
    }
    if (starts("EventSynchronize"))
    {
        return HostCall::Kind::EVENT_SYNC;
    }
    if (starts("EventRecord"))
    {
        return HostCall::Kind::RECORD;
    }
    if (starts("StreamWaitEvent"))
    {
        return HostCall::Kind::STREAM_WAIT;
    }
    if (starts("Memcpy") || starts("Memset"))
    {
        return HostCall::Kind::COPY;
    }
    return name == "Free" || starts("MemFree") ? HostCall::Kind::FREE : HostCall::Kind::OTHER;
}

KinetoArguments ReadKinetoArguments(json::object& event)
{
    KinetoArguments arguments;
    json::value value;
    if (!FindMember(event, "args", value) || value.type() != json::json_type::object)
    {
        return arguments;
    }
    std::vector<int64_t> shapes;
    std::vector<std::string> types;
    json::object fields = value.get_object();
    for (json::field field : fields)
    {
        const std::string_view key = field.unescaped_key();
        value = field.value();
        if (key == "correlation")
        {
            arguments.correlation = IntegerOf(value).value_or(-1);
        }
        else if (key == "stream")
        {
            arguments.stream = IntegerOf(value);
        }
        else if (key == "device")
        {
            arguments.device = IntegerOf(value);
        }
        else if (key == "bytes" || key == "Bytes")
        {
            arguments.bytes = std::max<int64_t>(IntegerOf(value).value_or(0), 0);
        }
        else if (key == "wait_on_stream")
        {
            arguments.waitOnStream = IntegerOf(value);
        }
        else if (key == "wait_on_cuda_event_record_corr_id")
        {
            arguments.recordCorrelation = IntegerOf(value).value_or(-1);
        }
        else if (key == "Ev Idx" || key == "Profiler Event Index")
        {
            arguments.eventIndex = IntegerOf(value).value_or(-1);
        }
        else if (key == "Input Dims" && IsList(value))
        {
            shapes = ReadFirst<int64_t>(value, ElementsOf);
        }
        else if (key == "Input type" && IsList(value))
        {
            types = ReadFirst<std::string>(value, StringOf);
        }
        else
        {
            ReadCommunicationArgument(key, value, arguments.communication);
        }
    }
    // Scalars and lists of tensors are written with an empty shape, as a tensor of one element is.
    for (size_t i = std::min(shapes.size(), types.size()); i-- > 0;)
    {
        if (ParseRecordedDataType(types[i]))
        {
            arguments.tensorElements = shapes[i];
            arguments.tensorType = types[i];
        }
    }
    if (!types.empty())
    {
        arguments.shapeType = types.front();
    }
    if (!shapes.empty() && ParseRecordedDataType(arguments.shapeType))
    {
        arguments.shapeElements = shapes.front();
    }
    return arguments;
}

} // namespace echo
} // namespace ns3
