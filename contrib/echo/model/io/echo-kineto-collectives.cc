// SPDX-License-Identifier: GPL-2.0-only
#include "echo-kineto-collectives.h"

#include <algorithm>
#include <numeric>

namespace ns3
{
namespace echo
{

namespace
{

const char* NameOf(RecordSource source)
{
    switch (source)
    {
    case RecordSource::KERNEL:
        return "by kernel arguments";
    case RecordSource::PROFILER:
        return "by record_param_comms";
    case RecordSource::EXECUTION_TRACE:
        return "by execution traces";
    case RecordSource::ANNOTATION:
        return "by annotations (input shape only)";
    case RecordSource::OPERATOR:
        return "by operators outside NCCL (input shape only)";
    case RecordSource::NONE:
        break;
    }
    return "without sizes";
}

class Resolver
{
  public:
    Resolver(KinetoRankStep& step, uint32_t worldSize, KinetoHealth& health)
        : m_step(step), m_worldSize(worldSize), m_health(health)
    {
    }

    void Resolve();

  private:
    SourceLocation At(uint32_t activity) const;
    std::vector<uint32_t> MembersOf(const CommunicationRecord& record, uint32_t activity);
    uint32_t SlotOf(const CommunicationRecord& record, uint32_t activity);
    CollectiveKind KindOf(const CommunicationRecord& record, uint32_t activity) const;
    void Count(const CommunicationRecord& record, uint32_t activity);
    void FailUnreadable(const CommunicationRecord& record, uint32_t activity) const;
    void FailWithoutSizes(uint64_t unknown, uint64_t all, uint32_t activity) const;
    void AddCollective(const CommunicationRecord& record, uint32_t activity);
    void AddMessages(const std::vector<CommunicationRecord>& records, uint32_t activity);

    const std::vector<CommunicationRecord>& RecordsOf(uint32_t activity) const
    {
        return m_step.links.records.at(m_step.timeline.activities[activity].activity);
    }

    const std::string& KernelOf(uint32_t activity) const
    {
        const KinetoTrace& trace = m_step.files->trace;
        return trace.names[trace.activities[m_step.timeline.activities[activity].activity].name];
    }

    KinetoRankStep& m_step;
    uint32_t m_worldSize;
    KinetoHealth& m_health;
    uint32_t m_lastWithoutGroup{KINETO_NONE}; //!< activity that was counted last
};

SourceLocation Resolver::At(uint32_t activity) const
{
    return {m_step.files->trace.file,
            0,
            "rank " + std::to_string(m_step.files->rank) + " " +
                ShortKernelName(KernelOf(activity))};
}

/** As recorded with the communication, else by the group's name, else evenly spaced, else all. */
std::vector<uint32_t> Resolver::MembersOf(const CommunicationRecord& record, uint32_t activity)
{
    std::vector<uint32_t> members = record.ranks;
    if (!members.empty() && record.groupSize >= 0 &&
        record.groupSize != static_cast<int64_t>(members.size()))
    {
        throw InputError(At(activity),
                         "Group size " + std::to_string(record.groupSize) + " beside " +
                             std::to_string(members.size()) + " Process Group Ranks",
                         "the same number");
    }
    const auto& files = *m_step.files;
    auto lookUp = [&members, &record](const auto& groups) {
        const auto known = groups.find(record.groupName);
        if (members.empty() && known != groups.end())
        {
            members = known->second;
        }
    };
    lookUp(files.trace.groups);
    if (files.executionTrace)
    {
        lookUp(files.executionTrace->groups);
    }
    int64_t size = record.groupSize;
    if (size < 0 && files.executionTrace)
    {
        const auto known = files.executionTrace->groupSizes.find(record.groupName);
        size = known == files.executionTrace->groupSizes.end() ? -1 : known->second;
    }
    if (members.empty() && record.rankStart >= 0 && record.rankStride > 0 && size > 0 &&
        record.rankStart + (size - 1) * record.rankStride < m_worldSize)
    {
        for (int64_t i = 0; i < size; ++i)
        {
            members.push_back(static_cast<uint32_t>(record.rankStart + i * record.rankStride));
        }
    }
    if (members.empty() && (size < 0 || size == m_worldSize))
    {
        members.resize(m_worldSize);
        std::iota(members.begin(), members.end(), 0u);
        if (size < 0 && m_lastWithoutGroup != activity)
        {
            ++m_health.withoutGroup;
            m_lastWithoutGroup = activity;
        }
    }
    if (members.empty())
    {
        throw InputError(At(activity),
                         "a group of " + std::to_string(size) + " of " +
                             std::to_string(m_worldSize) + " ranks without its members",
                         "Process Group Ranks in the profile");
    }
    std::vector<uint32_t> sorted = members;
    std::sort(sorted.begin(), sorted.end());
    const bool isSet = std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
    if (sorted.back() >= m_worldSize || !isSet ||
        !std::binary_search(sorted.begin(), sorted.end(), files.rank))
    {
        throw InputError(At(activity),
                         "a group of ranks " + FormatRankList(sorted),
                         "different ones from 0 to " + std::to_string(m_worldSize - 1) +
                             " and rank " + std::to_string(files.rank) + " among them");
    }
    return members;
}

uint32_t Resolver::SlotOf(const CommunicationRecord& record, uint32_t activity)
{
    KinetoGroup group;
    group.ranks = MembersOf(record, activity);
    group.name = record.groupName;
    // Names may be addresses that differ from rank to rank, so groups of equal members are told
    // apart by the order of their first use.
    for (uint32_t slot = 0; slot < m_step.groups.size(); ++slot)
    {
        if (m_step.groups[slot].ranks == group.ranks)
        {
            if (m_step.groups[slot].name == group.name)
            {
                return slot;
            }
            ++group.communicator;
        }
    }
    m_step.groups.push_back(group);
    return static_cast<uint32_t>(m_step.groups.size() - 1);
}

CollectiveKind Resolver::KindOf(const CommunicationRecord& record, uint32_t activity) const
{
    const auto recorded = ParseRecordedKind(record.name).kind;
    if (recorded)
    {
        return *recorded;
    }
    if (!record.name.empty())
    {
        throw UnsupportedError(At(activity).ToString() + ": found communication '" + record.name +
                               "', expected one of all-reduce, all-gather, reduce-scatter, "
                               "all-to-all, broadcast, reduce, barrier, send, recv");
    }
    const auto hinted = ParseKernelName(KernelOf(activity)).kind;
    if (!hinted)
    {
        throw InputError(At(activity),
                         "a communication that neither its name nor a record tells",
                         "NCCL metadata or nccl: annotations");
    }
    return *hinted;
}

void Resolver::Count(const CommunicationRecord& record, uint32_t activity)
{
    const KernelHint hint = ParseKernelName(KernelOf(activity));
    const auto recorded = ParseRecordedKind(record.name).kind;
    const auto kind = recorded ? recorded : hint.kind;
    ++m_health.collectives[kind ? ToString(*kind) : "unknown"].count;
    ++m_health.sources[NameOf(
        record.HasSizes() || kind == CollectiveKind::BARRIER ? record.source : RecordSource::NONE)];
    if (hint.algorithm != CollectiveAlgorithmKind::AUTO ||
        hint.protocol != CollectiveProtocol::AUTO)
    {
        ++m_health.hints[std::string(ToString(hint.algorithm)) + " " + ToString(hint.protocol)];
    }
}

void Resolver::AddCollective(const CommunicationRecord& record, uint32_t activity)
{
    ProgramCommunication communication;
    const CollectiveKind kind = KindOf(record, activity);
    communication.slot = SlotOf(record, activity);
    // Sends and receives without a record of their own are an all-to-all.
    communication.spec =
        ToCollectiveSpec(record,
                         kind == CollectiveKind::SEND_RECV ? CollectiveKind::ALL_TO_ALL : kind,
                         static_cast<uint32_t>(m_step.groups[communication.slot].ranks.size()),
                         At(activity));
    m_health.collectives[ToString(kind)].bytes += communication.spec.bytes;
    m_step.communications[activity] = std::move(communication);
}

void Resolver::AddMessages(const std::vector<CommunicationRecord>& records, uint32_t activity)
{
    ProgramCommunication communication;
    communication.slot = SlotOf(records.front(), activity);
    const auto& ranks = m_step.groups[communication.slot].ranks;
    for (const auto& record : records)
    {
        if (SlotOf(record, activity) != communication.slot)
        {
            throw UnsupportedError(At(activity).ToString() +
                                   ": found a batch of sends and receives of several groups, "
                                   "expected one group");
        }
        CommunicationDescription::Element element;
        element.isSend = ParseRecordedKind(record.name).isSend;
        element.bytes = ToMessageBytes(record, At(activity));
        int64_t index = record.peer;
        if (record.isPeerGlobal && record.peer >= 0)
        {
            index = std::find(ranks.begin(), ranks.end(), static_cast<uint32_t>(record.peer)) -
                    ranks.begin();
        }
        if (index < 0 || index >= static_cast<int64_t>(ranks.size()))
        {
            throw InputError(At(activity),
                             record.name + (record.peer < 0
                                                ? " without its other side"
                                                : " with rank " + std::to_string(record.peer)),
                             "a member of the group");
        }
        element.peerIndex = static_cast<uint32_t>(index);
        m_health.collectives["send-recv"].bytes += element.bytes;
        communication.elements.push_back(element);
    }
    m_step.communications[activity] = std::move(communication);
}

/** @throws InputError if a size stands there that is none */
void Resolver::FailUnreadable(const CommunicationRecord& record, uint32_t activity) const
{
    if (!record.unreadable.empty())
    {
        throw InputError(At(activity), record.unreadable, "a whole number from 0 to 2^50");
    }
}

void Resolver::FailWithoutSizes(uint64_t unknown, uint64_t all, uint32_t activity) const
{
    throw InputError(At(activity),
                     std::to_string(unknown) + " of " + std::to_string(all) +
                         " communications without sizes",
                     "a profile with record_shapes or NCCL metadata, or PyTorch execution traces "
                     "beside it");
}

void Resolver::Resolve()
{
    std::vector<uint32_t> activities;
    std::vector<uint32_t> unknown;
    for (uint32_t i = 0; i < m_step.timeline.activities.size(); ++i)
    {
        if (m_step.links.records.count(m_step.timeline.activities[i].activity) == 0)
        {
            continue;
        }
        activities.push_back(i);
        const CommunicationRecord& record = RecordsOf(i).front();
        Count(record, i);
        FailUnreadable(record, i);
        if (!record.HasSizes() && ParseRecordedKind(record.name).kind != CollectiveKind::BARRIER)
        {
            unknown.push_back(i);
        }
    }
    if (!unknown.empty())
    {
        FailWithoutSizes(unknown.size(), activities.size(), unknown.front());
    }
    for (uint32_t activity : activities)
    {
        const auto& records = RecordsOf(activity);
        const bool isMessage =
            ParseRecordedKind(records.front().name).kind == CollectiveKind::SEND_RECV;
        isMessage ? AddMessages(records, activity) : AddCollective(records.front(), activity);
    }
}

} // namespace

void ResolveCommunications(KinetoRankStep& step, uint32_t worldSize, KinetoHealth& health)
{
    Resolver(step, worldSize, health).Resolve();
}

} // namespace echo
} // namespace ns3
