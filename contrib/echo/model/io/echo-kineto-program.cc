// SPDX-License-Identifier: GPL-2.0-only
#include "echo-kineto-program.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

namespace
{

class ProgramWriter
{
  public:
    ProgramWriter(const KinetoTrace& trace,
                  const StepTimeline& timeline,
                  const std::map<uint32_t, ProgramCommunication>& communications,
                  bool keepGaps)
        : m_trace(trace),
          m_timeline(timeline),
          m_communications(communications),
          m_keepGaps(keepGaps),
          m_builder(trace.file),
          m_operatorOf(timeline.activities.size()),
          m_gapOf(timeline.activities.size()),
          m_pointOf(timeline.points.size())
    {
    }

    ExecutionGraphPtr Write(uint32_t slots);

  private:
    void AddThread(uint32_t number);
    void AddStream(uint32_t stream);
    OperatorId AddActivity(StreamId stream, uint32_t activity);
    void AddActivityDependencies(uint32_t activity);

    const GpuActivity& Get(uint32_t activity) const
    {
        return m_trace.activities[m_timeline.activities[activity].activity];
    }

    const KinetoTrace& m_trace;
    const StepTimeline& m_timeline;
    const std::map<uint32_t, ProgramCommunication>& m_communications;
    bool m_keepGaps;
    ExecutionGraphBuilder m_builder;
    std::vector<OperatorId> m_operatorOf; //!< by activity
    std::vector<OperatorId> m_gapOf;      //!< by activity: its gap, if it has one
    std::vector<OperatorId> m_pointOf;    //!< by point: the CPU time that ends at it
    std::vector<std::pair<OperatorId, uint32_t>> m_afterPoint; //!< CPU time, the point before it
};

/** One HOST operator up to each point, and one to the end of the step on the main thread. */
void ProgramWriter::AddThread(uint32_t number)
{
    const HostThread& thread = m_timeline.threads[number];
    const StreamId stream = m_builder.GetStream("cpu " + std::to_string(number));
    int64_t now = thread.start;
    uint32_t before = KINETO_NONE;
    auto add = [&](int64_t until, const std::string& name) {
        const OperatorId op =
            m_builder.AddHost(stream, name, NanoSeconds(std::max<int64_t>(until - now, 0)));
        if (before != KINETO_NONE && m_timeline.points[before].wait != KINETO_NONE)
        {
            m_afterPoint.emplace_back(op, before);
        }
        now = std::max(now, until);
        return op;
    };
    for (uint32_t index : thread.points)
    {
        const HostPoint& point = m_timeline.points[index];
        m_pointOf[index] =
            add(point.time, point.name == KINETO_NONE ? "host" : m_trace.names[point.name]);
        before = index;
        if (point.wait == KINETO_NONE)
        {
            continue;
        }
        // What the thread waited for is not its own time.
        const PointWait& wait = m_timeline.waits[point.wait];
        for (uint32_t activity : wait.activities)
        {
            now = std::max(now, Get(activity).end);
        }
        for (uint32_t other : wait.points)
        {
            now = std::max(now, m_timeline.points[other].time);
        }
        if (wait.outsideUntil > 0)
        {
            // What is left of earlier steps still keeps the thread waiting.
            const int64_t left =
                std::max(wait.outsideUntil - m_timeline.droppedBacklog - point.time, int64_t(0));
            now = std::max(now, wait.outsideUntil - left);
        }
    }
    if (number == 0 && m_timeline.window.mainThread != KINETO_NONE)
    {
        add(m_timeline.window.end, "end of step");
    }
}

void ProgramWriter::AddStream(uint32_t stream)
{
    bool isEmpty = true;
    StreamId id;
    for (uint32_t i = 0; i < m_timeline.activities.size(); ++i)
    {
        if (Get(i).stream != stream)
        {
            continue;
        }
        if (isEmpty)
        {
            id = m_builder.GetStream("gpu " + m_trace.streams[stream]);
            const int64_t busy = m_timeline.busyUntil[stream] - m_timeline.window.start;
            if (busy > 0)
            {
                m_builder.AddHost(id, "work of earlier steps", NanoSeconds(busy));
            }
            isEmpty = false;
        }
        if (m_keepGaps && m_timeline.activities[i].gap > 0)
        {
            m_gapOf[i] = m_builder.AddHost(id, "gap", NanoSeconds(m_timeline.activities[i].gap));
        }
        m_operatorOf[i] = AddActivity(id, i);
    }
}

OperatorId ProgramWriter::AddActivity(StreamId stream, uint32_t index)
{
    const GpuActivity& activity = Get(index);
    const std::string name = ShortKernelName(m_trace.names[activity.name]);
    const Time duration = NanoSeconds(activity.end - activity.start);
    switch (activity.kind)
    {
    case GpuActivity::Kind::KERNEL:
        return m_builder.AddCompute(stream, name, duration);
    case GpuActivity::Kind::COPY:
    case GpuActivity::Kind::SET:
        return m_builder.AddCopy(stream, name, duration, static_cast<double>(activity.bytes));
    case GpuActivity::Kind::COMMUNICATION:
        break;
    }
    const ProgramCommunication& communication = m_communications.at(index);
    if (communication.elements.empty())
    {
        return m_builder.AddCollective(stream, name, communication.slot, communication.spec);
    }
    return m_builder.AddPointToPoint(stream, name, communication.slot, communication.elements);
}

void ProgramWriter::AddActivityDependencies(uint32_t index)
{
    const StepActivity& activity = m_timeline.activities[index];
    const bool isGap = m_gapOf[index].IsValid() && activity.isGapAfterDependencies;
    const OperatorId op = isGap ? m_gapOf[index] : m_operatorOf[index];
    if (activity.point != KINETO_NONE)
    {
        m_builder.AddDependency(op, m_pointOf[activity.point]);
    }
    for (uint32_t on : activity.dependencies)
    {
        m_builder.AddDependency(op, m_operatorOf[on]);
    }
}

ExecutionGraphPtr ProgramWriter::Write(uint32_t slots)
{
    uint64_t gaps = 0;
    for (const auto& activity : m_timeline.activities)
    {
        gaps += m_keepGaps && activity.gap > 0 ? 1 : 0;
    }
    m_builder.Reserve(m_timeline.activities.size() + gaps + m_timeline.points.size() +
                      m_trace.streams.size() + 1);
    for (uint32_t i = 0; i < slots; ++i)
    {
        m_builder.AddGroupSlot();
    }
    for (uint32_t i = 0; i < m_timeline.threads.size(); ++i)
    {
        AddThread(i);
    }
    for (uint32_t stream = 0; stream < m_trace.streams.size(); ++stream)
    {
        AddStream(stream);
    }
    for (uint32_t i = 0; i < m_timeline.activities.size(); ++i)
    {
        AddActivityDependencies(i);
    }
    for (const auto& [op, before] : m_afterPoint)
    {
        const PointWait& wait = m_timeline.waits[m_timeline.points[before].wait];
        for (uint32_t activity : wait.activities)
        {
            m_builder.AddDependency(op, m_operatorOf[activity]);
        }
        for (uint32_t point : wait.points)
        {
            m_builder.AddDependency(op, m_pointOf[point]);
        }
    }
    return m_builder.Build();
}

} // namespace

std::string ShortKernelName(const std::string& name)
{
    std::string text = name.compare(0, 5, "void ") == 0 ? name.substr(5) : name;
    const std::string anonymous = "(anonymous namespace)::";
    for (size_t at = text.find(anonymous); at != std::string::npos; at = text.find(anonymous))
    {
        text.erase(at, anonymous.size());
    }
    size_t length = std::min<size_t>(text.size(), 96);
    while (length > 0 && length < text.size() && (text[length] & 0xc0) == 0x80)
    {
        --length; // inside a UTF-8 character
    }
    return text.substr(0, length);
}

ExecutionGraphPtr BuildKinetoProgram(const KinetoTrace& trace,
                                     const StepTimeline& timeline,
                                     const std::map<uint32_t, ProgramCommunication>& communications,
                                     uint32_t slots,
                                     bool keepGaps)
{
    return ProgramWriter(trace, timeline, communications, keepGaps).Write(slots);
}

} // namespace echo
} // namespace ns3
