// SPDX-License-Identifier: GPL-2.0-only
#include "echo-collective-backend.h"

#include "echo-collective-agreement.h"
#include "echo-instance-table.h"
#include "echo-point-to-point-matcher.h"

#include "ns3/assert.h"
#include "ns3/echo-error.h"
#include "ns3/echo-fingerprint.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoCollectiveBackend");
NS_OBJECT_ENSURE_REGISTERED(CollectiveBackend);

struct CollectiveBackend::Impl
{
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
    InstanceTable table;
    PointToPointMatcher matcher;
    uint64_t completed{0};
    uint32_t joinDepth{0};

    InstancePtr NewPair(const InstancePlace& place,
                        const CommGroup& group,
                        int32_t tag,
                        MatchedPair& pair);
};

CollectiveBackend::InstancePtr CollectiveBackend::Impl::NewPair(const InstancePlace& place,
                                                                const CommGroup& group,
                                                                int32_t tag,
                                                                MatchedPair& pair)
{
    CollectiveSpec spec;
    spec.kind = CollectiveKind::SEND_RECV;
    spec.bytes = pair.send.bytes;
    InstancePtr instance = table.NewInstance(place, spec, 2);
    instance->sequence = pair.sequence;
    instance->pairGroup = group.GetId();
    instance->tag = tag;
    instance->firstMember = pair.send.joinTime <= pair.receive.joinTime ? 0 : 1;
    instance->record.firstJoin = std::min(pair.send.joinTime, pair.receive.joinTime);
    PointToPointCall* calls[] = {&pair.send, &pair.receive};
    for (uint32_t member = 0; member < 2; ++member)
    {
        auto& state = instance->members[member];
        state.joined = true;
        state.joinTime = calls[member]->joinTime;
        state.origin = calls[member]->origin;
        state.batch = std::move(calls[member]->batch);
        state.batch->collective = state.batch->unfinished == 1 ? instance->id : CollectiveId();
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
                            "ns3::echo::CollectiveBackend::CollectiveTracedCallback");
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
    m_impl->table.Prepare(m_impl->placement, selector);
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
    InstanceTable::GroupCalls& calls = m_impl->table.CallsOf(group, rank, origin);
    const uint32_t party = calls.partyOf.empty() ? member : calls.partyOf[member];
    const auto parties = static_cast<uint32_t>(calls.calls.size());
    NS_ASSERT_MSG(party < parties, "a member joins that another one of its class joins for");
    const uint32_t sequence = calls.calls[party]++;
    const uint32_t position = sequence - calls.first;
    if (position == calls.joining.size())
    {
        calls.joining.push_back(m_impl->table.NewInstance(calls, spec, parties));
        calls.joining.back()->sequence = sequence;
        calls.joining.back()->firstMember = party;
        calls.joining.back()->owner = this;
    }
    const InstancePtr instance = calls.joining[position];
    auto& state = instance->members[party];
    state.joined = true;
    state.joinTime = Simulator::Now();
    state.origin = origin;
    state.onStarted = std::move(started);
    state.onDone = std::move(done);
    CheckAgreement(*instance, party, spec);
    if (spec.kind == CollectiveKind::ALL_TO_ALL_V)
    {
        instance->asked.resize(parties);
        instance->asked[party] = spec;
    }
    if (++instance->joined == parties)
    {
        calls.joining.pop_front(); // members join in order, so the front fills first
        ++calls.first;
        Launch(instance, calls);
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
        auto pair = m_impl->matcher.Add(
            *group, rank, element, {element.bytes, Simulator::Now(), origin, batch});
        if (pair)
        {
            InstancePlace& place = m_impl->table.PairOf(
                group, element.isSend ? rank : element.peer, element.isSend ? element.peer : rank);
            const InstancePtr instance = m_impl->NewPair(place, *group, element.tag, *pair);
            instance->owner = this;
            Launch(instance, place);
        }
    }
}

void CollectiveBackend::Launch(const InstancePtr& instance, InstancePlace& place)
{
    CollectivePlan& plan = instance->plan;
    instance->start = Simulator::Now();
    if (plan.spec.kind == CollectiveKind::ALL_TO_ALL_V)
    {
        AgreeOnSplits(*instance);
        instance->facts = m_impl->table.MakeFacts(plan);
    }
    else
    {
        instance->facts = m_impl->table.FactsOf(place, plan.spec);
    }
    plan.choice = instance->facts->choice;
    CollectiveRecord& record = instance->record;
    record.start = instance->start;
    record.bytes = plan.spec.bytes;
    record.algorithm = plan.choice.algorithm;
    record.protocol = plan.choice.protocol;
    record.channels = plan.choice.channels;
    record.fidelity = GetFidelity();
    for (auto& member : instance->members)
    {
        if (member.batch)
        {
            member.batch->Begin();
        }
        else if (member.onStarted)
        {
            const auto onStarted = std::move(member.onStarted);
            member.onStarted = nullptr;
            onStarted();
        }
    }
    if (!instance->facts->movesNothing)
    {
        record.payloadBytes = instance->facts->payloadBytes;
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
    const bool last = instance->done == instance->members.size();
    if (last)
    {
        instance->owner->Finish(instance);
    }
    if (state.batch)
    {
        const auto batch = std::move(state.batch);
        batch->End();
    }
    else
    {
        const auto onDone = std::move(state.onDone);
        state.onDone = nullptr;
        onDone({instance->start, Simulator::Now(), instance->id});
    }
    if (last)
    {
        instance->owner->m_impl->table.Recycle(instance);
    }
}

void CollectiveBackend::Finish(const InstancePtr& instance)
{
    instance->record.end = Simulator::Now();
    DoFinish(instance);
    ++m_impl->completed;
    m_impl->table.Finish(instance);
    CollectiveRecord& record = instance->record;
    const auto& flags = instance->contendedReplicas;
    const auto contended = static_cast<uint32_t>(std::count(flags.begin(), flags.end(), true));
    if (contended == 0 || contended == record.replicas)
    {
        Record(*instance);
        return;
    }
    // Alike but for their links: one record for those that are contended, one for the others.
    const uint32_t all = record.replicas;
    for (const bool isContended : {true, false})
    {
        const auto first = std::find(flags.begin(), flags.end(), isContended) - flags.begin();
        record.contended = isContended;
        record.replicas = isContended ? contended : all - contended;
        const CommGroup& group = *(*instance->replicas)[static_cast<size_t>(first)]->group;
        record.groupName = group.GetName();
        record.firstMember = group.GetRank(0);
        Record(*instance);
    }
}

void CollectiveBackend::Record(const CollectiveInstance& instance)
{
    m_collectiveDone(instance.record);
    if (m_impl->sink)
    {
        m_impl->sink->OnCollective(instance.record);
    }
}

void CollectiveBackend::DoFinish(const InstancePtr&)
{
}

std::vector<std::string> CollectiveBackend::DescribeUnfinished() const
{
    std::vector<std::string> lines;
    for (const InstancePtr& instance : m_impl->table.GetUnfinished())
    {
        lines.push_back(DescribeInstance(*instance));
    }
    const auto unmatched = m_impl->matcher.DescribeUnmatched();
    lines.insert(lines.end(), unmatched.begin(), unmatched.end());
    return lines;
}

bool CollectiveBackend::CanFold() const
{
    return false;
}

void CollectiveBackend::FoldGroup(const CommGroupPtr& group, GroupFolding folding)
{
    m_impl->table.Fold(group, std::move(folding));
}

uint64_t CollectiveBackend::HashTiming(const CollectiveSpec& spec,
                                       const CommGroupPtr& group,
                                       std::pair<uint32_t, uint32_t> pair)
{
    NS_ASSERT_MSG(spec.kind != CollectiveKind::ALL_TO_ALL_V, "its time depends on all members");
    const bool isPair = spec.kind == CollectiveKind::SEND_RECV;
    InstancePlace& place =
        isPair
            ? m_impl->table.PairOf(group, group->GetRank(pair.first), group->GetRank(pair.second))
            : m_impl->table.CallsOf(group, group->GetRank(0), "folding");
    PlanFacts& facts = *m_impl->table.FactsOf(place, spec);
    CollectivePlan plan;
    plan.spec = facts.spec;
    plan.choice = facts.choice;
    plan.layout = place.layout;
    return HashEstimate(plan, facts);
}

uint64_t CollectiveBackend::HashTiming(const std::vector<const CollectiveSpec*>& asked,
                                       const CommGroupPtr& group)
{
    NS_ASSERT_MSG(asked.size() == group->GetSize(), "what each member asks for");
    CollectivePlan plan;
    plan.spec = *asked.front();
    plan.spec.bytes = 0;
    plan.layout = m_impl->table.CallsOf(group, group->GetRank(0), "folding").layout;
    for (const CollectiveSpec* spec : asked)
    {
        plan.splits.push_back(spec->sendBytes);
        plan.splits.back().resize(group->GetSize()); // others are refused when they join
        const auto& own = plan.splits.back();
        plan.spec.bytes =
            std::max(plan.spec.bytes, std::accumulate(own.begin(), own.end(), uint64_t{0}));
    }
    return HashEstimate(plan, *m_impl->table.MakeFacts(plan));
}

uint64_t CollectiveBackend::HashEstimate(const CollectivePlan& plan, PlanFacts& facts)
{
    Fingerprint hash;
    hash.Add(plan.layout->GetHosts());
    hash.Add(static_cast<uint64_t>(facts.choice.algorithm));
    hash.Add(static_cast<uint64_t>(facts.choice.protocol));
    hash.Add(facts.choice.channels);
    hash.Add(facts.movesNothing ? Time() : DoEstimate(plan, facts));
    hash.Add(facts.extrapolation);
    return hash.GetValue();
}

Time CollectiveBackend::DoEstimate(const CollectivePlan&, PlanFacts&)
{
    return Time();
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
