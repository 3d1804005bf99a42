// SPDX-License-Identifier: GPL-2.0-only
// Compiled where simdjson is there; else echo-trace-readers-missing.cc.
#include "echo-kineto-event.h"

namespace ns3
{
namespace echo
{

void ReadDistributedInfo(json::object info, KinetoTrace& trace)
{
    for (json::field field : info)
    {
        const std::string_view key = field.unescaped_key();
        json::value value = field.value();
        if (key == "rank")
        {
            trace.rank = IntegerOf(value).value_or(-1);
        }
        else if (key == "world_size")
        {
            trace.worldSize = IntegerOf(value).value_or(-1);
        }
        else if (key == "pg_config" && value.type() == json::json_type::array)
        {
            for (json::value entry : value.get_array())
            {
                std::string name;
                std::vector<uint64_t> ranks;
                for (json::field part : entry.get_object())
                {
                    const std::string_view partKey = part.unescaped_key();
                    json::value partValue = part.value();
                    if (partKey == "pg_name")
                    {
                        name = TokenOf(partValue);
                    }
                    else if (partKey == "ranks")
                    {
                        ranks = NumbersOf(partValue);
                    }
                }
                trace.groups[name].assign(ranks.begin(), ranks.end());
            }
        }
    }
}

void ReadDevices(json::array devices, KinetoTrace& trace)
{
    for (json::value device : devices)
    {
        for (json::field field : device.get_object())
        {
            const std::string_view key = field.unescaped_key();
            json::value value = field.value();
            if (key == "name" && trace.gpu.empty())
            {
                trace.gpu = StringOf(value);
            }
        }
    }
}

TraceFormat RecognizeTrace(const std::string& text, const std::string& file)
{
    std::optional<TraceFormat> format;
    ScanJson(text, file, [&format](json::document& document) {
        if (document.type() == json::json_type::array)
        {
            format = TraceFormat::KINETO;
            return;
        }
        for (json::field field : document.get_object())
        {
            const std::string_view key = field.unescaped_key();
            if (key == "traceEvents" || key == "nodes")
            {
                format = key == "nodes" ? TraceFormat::EXECUTION_TRACE : TraceFormat::KINETO;
                return;
            }
        }
    });
    if (!format)
    {
        throw InputError({file, 0, ""},
                         "JSON with neither 'traceEvents' nor 'nodes'",
                         "a file of PyTorch's profiler or a PyTorch execution trace");
    }
    return *format;
}

} // namespace echo
} // namespace ns3
