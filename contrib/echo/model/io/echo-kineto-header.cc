// SPDX-License-Identifier: GPL-2.0-only
// Compiled where simdjson is there; else echo-trace-readers-missing.cc.
#include "echo-json-stream.h"
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
                std::vector<uint32_t> ranks;
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
                        ranks = ToRanks(NumbersOf(partValue));
                    }
                }
                trace.groups[name] = std::move(ranks);
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

namespace
{

/** Looks for the member that tells formats apart and reads no further. */
class FormatFinder : public JsonStream::Visitor
{
  public:
    JsonStream::Treatment Choose(std::string_view key) override
    {
        if (key.empty() || key == "traceEvents" || key == "nodes")
        {
            format = key == "nodes" ? TraceFormat::EXECUTION_TRACE : TraceFormat::KINETO;
            return JsonStream::Treatment::STOP;
        }
        return JsonStream::Treatment::SKIP;
    }

    void OnField(std::string_view /*key*/, json::value /*value*/) override
    {
    }

    void OnElements(std::string_view /*key*/, json::array /*elements*/) override
    {
    }

    void OnObject(json::object /*object*/) override
    {
    }

    std::optional<TraceFormat> format;
};

} // namespace

TraceFormat RecognizeTrace(const std::string& file)
{
    const std::unique_ptr<ByteSource> source = OpenInputFile(file);
    FormatFinder finder;
    JsonStream(*source, file).Read(finder);
    if (!finder.format)
    {
        throw InputError({file, 0, ""},
                         "JSON with neither 'traceEvents' nor 'nodes'",
                         "a file of PyTorch's profiler or a PyTorch execution trace");
    }
    return *finder.format;
}

} // namespace echo
} // namespace ns3
