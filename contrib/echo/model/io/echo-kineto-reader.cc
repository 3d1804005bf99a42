// SPDX-License-Identifier: GPL-2.0-only
// Compiled where simdjson is there; else echo-trace-readers-missing.cc.
#include "echo-json-stream.h"
#include "echo-kineto-adoption.h"
#include "echo-kineto-event.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <unordered_map>

namespace ns3
{
namespace echo
{

namespace
{

/** Times, durations and the base that is added to them stay below parts of 64 bits (73 years). */
const int64_t QUARTER = std::numeric_limits<int64_t>::max() / 4;

/** Boundaries of a thread that are kept until they are thinned out. */
const size_t MANY_BOUNDARIES = 1 << 16;

class KinetoReader : public JsonStream::Visitor
{
  public:
    explicit KinetoReader(const std::string& file)
    {
        m_trace.file = file;
    }

    JsonStream::Treatment Choose(std::string_view key) override;
    void OnField(std::string_view key, json::value value) override;
    void OnElements(std::string_view key, json::array events) override;
    void OnObject(json::object object) override;
    KinetoTrace Finish();

  private:
    void ReadEvent(json::object event);
    bool ReadTimes(json::object& event);
    void AddCpuEvent(json::object& event, KinetoCategory category, const std::string& name);
    void AddBoundaries(uint32_t thread);
    void AddCpuRange(json::object& event, const std::string& name, uint32_t thread);
    void AddGpuEvent(json::object& event, KinetoCategory category, const std::string& name);
    void AddSync(const KinetoArguments& arguments, int64_t device);

    uint32_t NameIndex(const std::string& name);
    uint32_t StreamIndex(int64_t device, int64_t stream);
    uint32_t ThreadIndex(json::object& event);

    KinetoTrace m_trace;
    int64_t m_base{0}; //!< added to every time
    std::unordered_map<std::string, uint32_t> m_nameIndex;
    std::map<std::pair<int64_t, int64_t>, uint32_t> m_streamIndex;
    std::map<std::string, uint32_t> m_threadIndex;
    std::vector<size_t> m_thinAt; //!< by thread: boundaries at which they are thinned out
    int64_t m_start{0};           //!< of the event that is being read
    int64_t m_end{0};             //!< of the event that is being read
    uint64_t m_indexed{0};        //!< events with an index
    int64_t m_lastIndex{-1};      //!< the largest
    bool m_hasPhases{false};      //!< some event had a phase
    bool m_hasEvents{false};      //!< "traceEvents" was there
    bool m_isList{false};         //!< the file is a bare list
};

JsonStream::Treatment KinetoReader::Choose(std::string_view key)
{
    if (key.empty() || key == "traceEvents")
    {
        m_hasEvents = true;
        m_isList = key.empty();
        return JsonStream::Treatment::ELEMENTS;
    }
    const bool isKnown =
        key == "distributedInfo" || key == "deviceProperties" || key == "baseTimeNanoseconds";
    return isKnown ? JsonStream::Treatment::WHOLE : JsonStream::Treatment::SKIP;
}

void KinetoReader::OnField(std::string_view key, json::value value)
{
    if (key == "distributedInfo" && value.type() == json::json_type::object)
    {
        ReadDistributedInfo(value.get_object(), m_trace);
    }
    else if (key == "deviceProperties" && value.type() == json::json_type::array)
    {
        ReadDevices(value.get_array(), m_trace);
    }
    else if (key == "baseTimeNanoseconds")
    {
        const int64_t base = IntegerOf(value).value_or(0);
        m_base = base > 0 && base < QUARTER ? base : 0;
    }
    else if (key == "traceEvents")
    {
        throw InputError({m_trace.file, 0, "traceEvents"}, "no list", "a list of events");
    }
}

void KinetoReader::OnElements(std::string_view /*key*/, json::array events)
{
    for (json::value event : events)
    {
        ++m_trace.events;
        if (event.type() != json::json_type::object)
        {
            ++m_trace.ignored["entries that are no events"];
            continue;
        }
        ReadEvent(event.get_object());
    }
}

void KinetoReader::OnObject(json::object /*object*/)
{
}

uint32_t KinetoReader::NameIndex(const std::string& name)
{
    const auto [entry, isNew] =
        m_nameIndex.emplace(name, static_cast<uint32_t>(m_trace.names.size()));
    if (isNew)
    {
        m_trace.names.push_back(name);
    }
    return entry->second;
}

uint32_t KinetoReader::StreamIndex(int64_t device, int64_t stream)
{
    return m_streamIndex.emplace(std::make_pair(device, stream), m_streamIndex.size())
        .first->second;
}

uint32_t KinetoReader::ThreadIndex(json::object& event)
{
    std::string name;
    for (const char* key : {"pid", "tid"})
    {
        json::value value;
        name += name.empty() ? "" : "/";
        if (FindMember(event, key, value))
        {
            name += TokenOf(value);
        }
    }
    const auto [entry, isNew] =
        m_threadIndex.emplace(name, static_cast<uint32_t>(m_trace.threads.size()));
    if (isNew)
    {
        m_trace.threads.emplace_back();
        m_trace.threads.back().name = name;
        m_thinAt.push_back(MANY_BOUNDARIES);
    }
    return entry->second;
}

void KinetoReader::AddBoundaries(uint32_t thread)
{
    auto& boundaries = m_trace.threads[thread].boundaries;
    boundaries.push_back(m_start);
    boundaries.push_back(m_end);
    if (boundaries.size() >= m_thinAt[thread] && !m_trace.threads[thread].isAutograd)
    {
        ThinOutBoundaries(boundaries);
        m_thinAt[thread] = std::max(MANY_BOUNDARIES, 2 * boundaries.size());
    }
}

void KinetoReader::AddCpuRange(json::object& event, const std::string& name, uint32_t thread)
{
    const KinetoArguments arguments = ReadKinetoArguments(event);
    if (arguments.eventIndex >= 0)
    {
        ++m_indexed;
        m_lastIndex = std::max(m_lastIndex, arguments.eventIndex);
    }
    const std::string stepPrefix = "ProfilerStep#";
    if (name.compare(0, stepPrefix.size(), stepPrefix) == 0)
    {
        m_trace.steps.push_back(
            {std::strtoll(name.c_str() + stepPrefix.size(), nullptr, 10), thread, m_start, m_end});
    }
    const std::string autograd = "autograd::engine::evaluate_function";
    if (name.compare(0, autograd.size(), autograd) == 0)
    {
        m_trace.threads[thread].isAutograd = true;
    }
    const bool isAnnotation = name.compare(0, 5, "nccl:") == 0;
    const std::string kind = OperatorKind(name);
    if (!isAnnotation && kind.empty() && name != "record_param_comms")
    {
        return;
    }
    CommunicationRange range{
        thread, m_start, m_end, isAnnotation || !kind.empty(), arguments.communication};
    if (!kind.empty())
    {
        range.record.name = kind;
        range.record.source = RecordSource::OPERATOR;
        range.record.inElements = arguments.tensorElements;
        range.record.dataType = arguments.tensorType;
    }
    else if (isAnnotation)
    {
        range.record.name = name;
        range.record.source = RecordSource::ANNOTATION;
        range.record.inElements = arguments.shapeElements;
        range.record.dataType = arguments.shapeType;
    }
    else if (range.record.HasSizes())
    {
        range.record.source = RecordSource::PROFILER;
    }
    else
    {
        range.record.inElements = arguments.shapeElements; // to check against an execution trace
    }
    m_trace.ranges.push_back(std::move(range));
}

bool KinetoReader::ReadTimes(json::object& event)
{
    json::value value;
    std::optional<int64_t> start;
    std::optional<int64_t> duration;
    if (FindMember(event, "ts", value))
    {
        start = ParseMicroseconds(std::string(TokenOf(value)));
    }
    if (FindMember(event, "dur", value))
    {
        duration = ParseMicroseconds(std::string(TokenOf(value)));
    }
    if (!start || !duration || *duration < 0 || *duration > QUARTER || *start > 2 * QUARTER ||
        *start < -QUARTER / 1000)
    {
        ++m_trace.ignored["events without a time or duration"];
        return false;
    }
    m_start = *start;
    m_end = *start + *duration;
    return true;
}

void KinetoReader::ReadEvent(json::object event)
{
    json::value value;
    if (!FindMember(event, "ph", value))
    {
        return;
    }
    m_hasPhases = true;
    if (TokenOf(value) != "X")
    {
        return; // metadata, flows, instants
    }
    const std::string categoryText =
        FindMember(event, "cat", value) ? StringOf(value) : std::string();
    if (categoryText.empty())
    {
        ++m_trace.ignored["events without a category"];
        return;
    }
    const KinetoCategory category = ParseKinetoCategory(categoryText);
    if (category == KinetoCategory::OTHER)
    {
        ++m_trace.ignored[categoryText];
        return;
    }
    if (!ReadTimes(event))
    {
        return;
    }
    std::string name;
    if (FindMember(event, "name", value))
    {
        name = StringOf(value);
    }
    if (category == KinetoCategory::CPU || category == KinetoCategory::RUNTIME)
    {
        AddCpuEvent(event, category, name);
    }
    else
    {
        AddGpuEvent(event, category, name);
    }
}

void KinetoReader::AddCpuEvent(json::object& event,
                               KinetoCategory category,
                               const std::string& name)
{
    const uint32_t thread = ThreadIndex(event);
    if (category == KinetoCategory::RUNTIME)
    {
        AddBoundaries(thread);
        m_trace.callsStart = std::min(m_trace.callsStart, m_start);
        m_trace.callsEnd = std::max(m_trace.callsEnd, m_end);
        m_trace.calls.push_back({ParseHostCall(name),
                                 NameIndex(name),
                                 thread,
                                 m_start,
                                 m_end,
                                 ReadKinetoArguments(event).correlation});
        return;
    }
    AddCpuRange(event, name, thread);
    AddBoundaries(thread);
}

void KinetoReader::AddSync(const KinetoArguments& arguments, int64_t device)
{
    SyncRecord sync;
    auto index = [this, device](const std::optional<int64_t>& stream) {
        // CUPTI writes -1, or its unsigned form, for "none".
        return stream && *stream >= 0 && *stream < 0xffffffff ? StreamIndex(device, *stream)
                                                              : KINETO_NONE;
    };
    sync.stream = index(arguments.stream);
    sync.waitOnStream = index(arguments.waitOnStream);
    sync.recordCorrelation = arguments.recordCorrelation;
    m_trace.syncs[arguments.correlation] = sync;
}

void KinetoReader::AddGpuEvent(json::object& event,
                               KinetoCategory category,
                               const std::string& name)
{
    KinetoArguments arguments = ReadKinetoArguments(event);
    json::value value;
    for (auto [key, part] :
         {std::make_pair("pid", &arguments.device), std::make_pair("tid", &arguments.stream)})
    {
        if (!*part && FindMember(event, key, value))
        {
            *part = IntegerOf(value);
        }
    }
    const int64_t device = arguments.device.value_or(0);
    if (category == KinetoCategory::SYNC)
    {
        AddSync(arguments, device);
        return;
    }
    GpuActivity activity;
    activity.name = NameIndex(name);
    activity.stream = StreamIndex(device, arguments.stream.value_or(0));
    activity.start = m_start;
    activity.end = m_end;
    activity.correlation = arguments.correlation;
    activity.bytes = static_cast<uint64_t>(arguments.bytes);
    if (category != KinetoCategory::KERNEL)
    {
        activity.kind =
            category == KinetoCategory::COPY ? GpuActivity::Kind::COPY : GpuActivity::Kind::SET;
    }
    else if (ParseKernelName(name).isCommunication)
    {
        activity.kind = GpuActivity::Kind::COMMUNICATION;
        CommunicationRecord& record = arguments.communication;
        record.source = record.HasSizes() ? RecordSource::KERNEL : record.source;
        activity.record = static_cast<uint32_t>(m_trace.records.size());
        m_trace.records.push_back(std::move(record));
    }
    m_trace.activities.push_back(activity);
}

KinetoTrace KinetoReader::Finish()
{
    if (!m_hasEvents || (m_isList && !m_hasPhases))
    {
        throw InputError({m_trace.file, 0, ""},
                         m_isList ? "a JSON list without trace events"
                                  : "JSON without 'traceEvents'",
                         "a file of PyTorch's profiler");
    }
    FinishKinetoTrace(m_trace, m_base);
    AdoptCommunications(m_trace);
    const bool hasOneDevice = m_streamIndex.empty() || m_streamIndex.begin()->first.first ==
                                                           m_streamIndex.rbegin()->first.first;
    m_trace.streams.resize(m_streamIndex.size());
    for (const auto& [key, index] : m_streamIndex)
    {
        m_trace.streams[index] =
            (hasOneDevice ? "" : std::to_string(key.first) + ".") + std::to_string(key.second);
    }
    if (m_lastIndex >= 0)
    {
        m_trace.recordedShare =
            static_cast<double>(m_indexed) / (static_cast<double>(m_lastIndex) + 1);
    }
    return std::move(m_trace);
}

} // namespace

KinetoTrace ReadKinetoTrace(const std::string& file)
{
    const std::unique_ptr<ByteSource> source = OpenInputFile(file);
    KinetoReader reader(file);
    JsonStream(*source, file).Read(reader);
    return reader.Finish();
}

} // namespace echo
} // namespace ns3
