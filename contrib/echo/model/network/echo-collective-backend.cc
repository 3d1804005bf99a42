// SPDX-License-Identifier: GPL-2.0-only
#include "echo-collective-backend.h"

#include "echo-collective-agreement.h"
#include "echo-point-to-point-matcher.h"

#include "ns3/assert.h"
#include "ns3/echo-error.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <utility>

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoCollectiveBackend");
NS_OBJECT_ENSURE_REGISTERED(CollectiveBackend);

struct CollectiveBackend::Impl
{
    /** The calls on one group. */
    struct GroupCalls
    {
        GroupLayoutPtr layout;
        std::vector<uint32_t> calls;     //!< made so far, by member
        std::deque<InstancePtr> joining; //!< not joined by all yet; the front is number `first`
        uint32_t first{0};
    };

    /** While one lives, completions are put off to an event of their own. */
    struct JoinScope
    {
        explicit JoinScope(Impl& impl) : m_impl(impl)
        {
            ++m_impl.joinDepth;
        }

        ~JoinScope()
        {
            --m_impl.joinDepth;
        }

        Impl& m_impl;
    };

    PlacementPtr placement;
    Ptr<CollectiveSelector> selector;
    RecordSink* sink{nullptr};
    std::map<GroupId, GroupCalls> groups;
    std::map<std::tuple<GroupId, RankId, RankId>, GroupLayoutPtr> pairLayouts;
    PointToPointMatcher matcher;
    std::map<CollectiveId, InstancePtr> unfinished; //!< from first join (pair: match) to last done
    uint32_t nextId{0};
    uint64_t completed{0};
    uint32_t joinDepth{0};

    GroupCalls& CallsOf(const CommGroupPtr& group, RankId rank, const std::string& origin);
    GroupLayoutPtr PairLayout(const CommGroup& group, RankId source, RankId destination);
    InstancePtr NewInstance(GroupLayoutPtr layout, const CollectiveSpec& spec, uint32_t members);
    InstancePtr NewPair(const CommGroup& group,
                        RankId source,
                        RankId destination,
                        int32_t tag,
                        const MatchedPair& pair);
};

CollectiveBackend::Impl::GroupCalls& CollectiveBackend::Impl::CallsOf(const CommGroupPtr& group,
                                                                      RankId rank,
                                                                      const std::string& origin)
{
    GroupCalls& calls = groups[group->GetId()];
    if (!calls.layout)
    {
        calls.layout = MakeGroupLayout(group, placement);
        calls.calls.resize(group->GetSize());
    }
    const CommGroup& known = *calls.layout->group;
    if (&known != group.get() && known.GetRanks() != group->GetRanks())
    {
        throw StallError("rank " + std::to_string(rank.Get()) + " (" + origin + ") knows group " +
                         std::to_string(group->GetId().Get()) + " as " + group->GetName() + " of " +
                         ListRanks(group->GetRanks()) + "; others as " + known.GetName() + " of " +
                         ListRanks(known.GetRanks()));
    }
    return calls;
}

GroupLayoutPtr CollectiveBackend::Impl::PairLayout(const CommGroup& group,
                                                   RankId source,
                                                   RankId destination)
{
    GroupLayoutPtr& layout = pairLayouts[{group.GetId(), source, destination}];
    if (!layout)
    {
        std::vector<RankId> ranks{source};
        if (source != destination)
        {
            ranks.push_back(destination);
        }
        layout =
            MakeGroupLayout(std::make_shared<const CommGroup>(
                                group.GetId(), group.GetKind(), group.GetName(), std::move(ranks)),
                            placement);
    }
    return layout;
}

CollectiveBackend::InstancePtr CollectiveBackend::Impl::NewInstance(GroupLayoutPtr layout,
                                                                    const CollectiveSpec& spec,
                                                                    uint32_t members)
{
    auto instance = std::make_shared<CollectiveInstance>();
    instance->id = CollectiveId(nextId++);
    instance->plan.spec = spec;
    instance->plan.spec.sendBytes.clear();
    instance->plan.spec.receiveBytes.clear();
    instance->members.resize(members);
    CollectiveRecord& record = instance->record;
    record.id = instance->id;
    record.kind = spec.kind;
    record.group = layout->group->GetKind();
    record.groupName = layout->group->GetName();
    record.ranks = layout->GetRanks();
    record.hosts = layout->GetHosts();
    record.firstJoin = Simulator::Now();
    instance->plan.layout = std::move(layout);
    unfinished[instance->id] = instance;
    return instance;
}

CollectiveBackend::InstancePtr CollectiveBackend::Impl::NewPair(const CommGroup& group,
                                                                RankId source,
                                                                RankId destination,
                                                                int32_t tag,
                                                                const MatchedPair& pair)
{
    CollectiveSpec spec;
    spec.kind = CollectiveKind::SEND_RECV;
    spec.bytes = pair.send.bytes;
    InstancePtr instance = NewInstance(PairLayout(group, source, destination), spec, 2);
    instance->sequence = pair.sequence;
    instance->pairGroup = group.GetId();
    instance->tag = tag;
    instance->firstMember = pair.send.joinTime <= pair.receive.joinTime ? 0 : 1;
    instance->record.firstJoin = std::min(pair.send.joinTime, pair.receive.joinTime);
    const PointToPointCall* calls[] = {&pair.send, &pair.receive};
    for (uint32_t member = 0; member < 2; ++member)
    {
        auto& state = instance->members[member];
        state.joined = true;
        state.joinTime = calls[member]->joinTime;
        state.spec = spec;
        state.origin = calls[member]->origin;
        auto batch = calls[member]->batch;
        batch->collective = batch->unfinished == 1 ? instance->id : CollectiveId();
        state.onStarted = [batch] {
            batch->start = std::max(batch->start, Simulator::Now());
            if (--batch->unmatched == 0 && batch->started)
            {
                batch->started();
            }
        };
        state.onDone = [batch](CollectiveInstance&) {
            if (--batch->unfinished == 0)
            {
                batch->done({batch->start, Simulator::Now(), batch->collective});
            }
        };
    }
    instance->joined = 2;
    return instance;
}

TypeId CollectiveBackend::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::CollectiveBackend")
            .SetParent<Object>()
            .SetGroupName("Echo")
            .AddTraceSource("CollectiveDone",
                            "All members of a collective, or both ends of a pair, are done.",
                            MakeTraceSourceAccessor(&CollectiveBackend::m_collectiveDone),
                            "ns3::echo::CollectiveRecord::TracedCallback");
    return tid;
}

CollectiveBackend::CollectiveBackend() : m_impl(std::make_unique<Impl>())
{
}

CollectiveBackend::~CollectiveBackend() = default;

void CollectiveBackend::Prepare(PlacementPtr placement,
                                Ptr<CollectiveSelector> selector,
                                RecordSink* sink)
{
    NS_LOG_FUNCTION(this);
    NS_ASSERT_MSG(placement && selector, "a back end needs a placement and a selector");
    m_impl->placement = std::move(placement);
    m_impl->selector = selector;
    m_impl->sink = sink;
    DoPrepare();
}

void CollectiveBackend::Join(const CollectiveSpec& spec,
                             const CommGroupPtr& group,
                             RankId rank,
                             const std::string& origin,
                             DoneCallback done,
                             StartedCallback started)
{
    NS_LOG_FUNCTION(this << group->GetName() << rank << origin);
    const uint32_t member = group->IndexOf(rank);
    if (member == group->GetSize())
    {
        throw InputError({"", 0, origin},
                         "rank " + std::to_string(rank.Get()),
                         "a member of group " + group->GetName());
    }
    CheckSpec(spec, *group, origin);
    Impl::GroupCalls& calls = m_impl->CallsOf(group, rank, origin);
    const uint32_t sequence = calls.calls[member]++;
    const uint32_t position = sequence - calls.first;
    if (position == calls.joining.size())
    {
        calls.joining.push_back(m_impl->NewInstance(calls.layout, spec, group->GetSize()));
        calls.joining.back()->sequence = sequence;
        calls.joining.back()->firstMember = member;
        calls.joining.back()->owner = this;
    }
    const InstancePtr instance = calls.joining[position];
    auto& state = instance->members[member];
    state.joined = true;
    state.joinTime = Simulator::Now();
    state.spec = spec;
    state.origin = origin;
    state.onStarted = std::move(started);
    state.onDone = [done = std::move(done)](CollectiveInstance& finished) {
        done({finished.start, Simulator::Now(), finished.id});
    };
    CheckAgreement(*instance, member);
    if (++instance->joined == group->GetSize())
    {
        calls.joining.pop_front(); // members join in order, so the front fills first
        ++calls.first;
        Launch(instance);
    }
}

void CollectiveBackend::JoinPointToPoint(const std::vector<PointToPointElement>& elements,
                                         const CommGroupPtr& group,
                                         RankId rank,
                                         const std::string& origin,
                                         DoneCallback done,
                                         StartedCallback started)
{
    NS_LOG_FUNCTION(this << group->GetName() << rank << origin << elements.size());
    auto batch = std::make_shared<PointToPointBatch>();
    batch->unmatched = batch->unfinished = static_cast<uint32_t>(elements.size());
    batch->start = Simulator::Now();
    batch->done = std::move(done);
    batch->started = std::move(started);
    if (elements.empty())
    {
        Simulator::ScheduleNow([batch] {
            if (batch->started)
            {
                batch->started();
            }
            batch->done({batch->start, Simulator::Now(), CollectiveId()});
        });
    }
    for (const auto& element : elements)
    {
        if (group->IndexOf(element.peer) == group->GetSize() ||
            group->IndexOf(rank) == group->GetSize())
        {
            throw InputError({"", 0, origin},
                             "rank " + std::to_string(rank.Get()) + " with peer " +
                                 std::to_string(element.peer.Get()),
                             "members of group " + group->GetName());
        }
        const auto pair = m_impl->matcher.Add(
            *group, rank, element, {element.bytes, Simulator::Now(), origin, batch});
        if (pair)
        {
            const InstancePtr instance = m_impl->NewPair(*group,
                                                         element.isSend ? rank : element.peer,
                                                         element.isSend ? element.peer : rank,
                                                         element.tag,
                                                         *pair);
            instance->owner = this;
            Launch(instance);
        }
    }
}

void CollectiveBackend::Launch(const InstancePtr& instance)
{
    CollectivePlan& plan = instance->plan;
    instance->start = Simulator::Now();
    if (plan.spec.kind == CollectiveKind::ALL_TO_ALL_V)
    {
        AgreeOnSplits(*instance);
    }
    plan.choice = m_impl->selector->Select(plan.spec, *plan.layout);
    CollectiveRecord& record = instance->record;
    record.start = instance->start;
    record.bytes = plan.spec.bytes;
    record.algorithm = plan.choice.algorithm;
    record.protocol = plan.choice.protocol;
    record.channels = plan.choice.channels;
    record.fidelity = GetFidelity();
    for (auto& member : instance->members)
    {
        if (member.onStarted)
        {
            const auto onStarted = std::move(member.onStarted);
            member.onStarted = nullptr;
            onStarted();
        }
    }
    if (!MovesNothing(plan))
    {
        record.payloadBytes = PayloadBytes(plan);
        Start(instance);
        return;
    }
    Simulator::ScheduleNow([this, instance] {
        for (uint32_t member = 0; member < instance->members.size(); ++member)
        {
            CompleteMember(instance, member);
        }
    });
}

void CollectiveBackend::Start(const std::shared_ptr<CollectiveInstance>& instance)
{
    NS_LOG_FUNCTION(this << instance->id);
    instance->record.fidelity = GetFidelity();
    Impl::JoinScope scope(*m_impl);
    DoStart(instance);
}

void CollectiveBackend::DoMemberDone(const InstancePtr&)
{
}

void CollectiveBackend::CompleteMember(const InstancePtr& instance, uint32_t member)
{
    if (m_impl->joinDepth > 0)
    {
        Simulator::ScheduleNow([this, instance, member] { CompleteMember(instance, member); });
        return;
    }
    auto& state = instance->members[member];
    NS_ASSERT_MSG(!state.done, "a member of a collective is done twice");
    state.done = true;
    ++instance->done;
    instance->owner->DoMemberDone(instance);
    if (instance->done == instance->members.size())
    {
        instance->owner->Finish(instance);
    }
    const auto onDone = std::move(state.onDone);
    state.onDone = nullptr;
    onDone(*instance);
}

void CollectiveBackend::Finish(const InstancePtr& instance)
{
    instance->record.end = Simulator::Now();
    DoFinish(instance);
    ++m_impl->completed;
    m_impl->unfinished.erase(instance->id);
    m_collectiveDone(instance->record);
    if (m_impl->sink)
    {
        m_impl->sink->OnCollective(instance->record);
    }
}

void CollectiveBackend::DoFinish(const InstancePtr&)
{
}

std::vector<std::string> CollectiveBackend::DescribeUnfinished() const
{
    std::vector<std::string> lines;
    for (const auto& [id, instance] : m_impl->unfinished)
    {
        lines.push_back(DescribeInstance(*instance));
    }
    const auto unmatched = m_impl->matcher.DescribeUnmatched();
    lines.insert(lines.end(), unmatched.begin(), unmatched.end());
    return lines;
}

uint64_t CollectiveBackend::GetCompletedCount() const
{
    return m_impl->completed;
}

void CollectiveBackend::ReportLinks(RecordSink&, Time) const
{
}

PlacementPtr CollectiveBackend::GetPlacement() const
{
    return m_impl->placement;
}

RecordSink* CollectiveBackend::GetSink() const
{
    return m_impl->sink;
}

Ptr<CollectiveSelector> CollectiveBackend::GetSelector() const
{
    return m_impl->selector;
}

} // namespace echo
} // namespace ns3
