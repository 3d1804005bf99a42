// SPDX-License-Identifier: GPL-2.0-only
#include "echo-scheduled-execution.h"

#include "ns3/assert.h"
#include "ns3/echo-units.h"
#include "ns3/simulator.h"

#include <utility>

namespace ns3
{
namespace echo
{

namespace
{

/** 12 bits of channel, 4 of plane, 24 of each member. */
uint64_t WireKey(uint32_t channel, uint32_t plane, uint32_t source, uint32_t destination)
{
    NS_ASSERT(channel < 4096 && plane < 16 && source < (1u << 24) && destination < (1u << 24));
    return uint64_t{channel} << 52 | uint64_t{plane} << 48 | uint64_t{source} << 24 | destination;
}

} // namespace

size_t ScheduledExecution::WireKeyHash::operator()(uint64_t key) const
{
    key *= 0x9e3779b97f4a7c15ULL;
    return key ^ (key >> 32);
}

ScheduledExecution::ScheduledExecution(std::shared_ptr<CollectiveInstance> instance,
                                       const CollectiveAlgorithm& algorithm,
                                       ExecutionContext context)
    : m_instance(std::move(instance)), m_context(std::move(context))
{
    const auto members = static_cast<uint32_t>(m_instance->members.size());
    m_members.resize(members);
    m_membersLeft = members;
    for (uint32_t member = 0; member < members; ++member)
    {
        for (auto& lane : algorithm.MakeLanes(m_instance->plan, member))
        {
            LaneState state;
            state.member = member;
            state.channel = lane.channel;
            state.plane = lane.plane;
            state.program = std::move(lane.program);
            m_lanes.push_back(std::move(state));
            ++m_members[member].lanes;
        }
    }
}

ScheduledExecution::~ScheduledExecution() = default;

void ScheduledExecution::Start()
{
    for (uint32_t lane = 0; lane < m_lanes.size(); ++lane)
    {
        Advance(lane);
    }
    for (uint32_t member = 0; member < m_members.size(); ++member)
    {
        CheckMember(member);
    }
    CheckFinished();
}

void ScheduledExecution::Advance(uint32_t number)
{
    LaneState& lane = m_lanes[number];
    while (true)
    {
        if (!lane.hasStep)
        {
            if (!lane.program->Next(lane.step))
            {
                lane.program.reset();
                --m_members[lane.member].lanes;
                CheckMember(lane.member);
                return;
            }
            lane.hasStep = true;
            lane.received = 0;
        }
        if (!TakeReceives(number))
        {
            return;
        }
        const Time delay = StepDelay(lane.step);
        if (delay.IsStrictlyPositive())
        {
            Simulator::Schedule(delay, &ScheduledExecution::FinishStep, this, number);
            return;
        }
        SendAll(number);
    }
}

bool ScheduledExecution::TakeReceives(uint32_t number)
{
    LaneState& lane = m_lanes[number];
    while (lane.received < lane.step.receives)
    {
        const uint32_t source = lane.step.receiveFrom[lane.received];
        Wire& wire = m_wires[FindWire(lane.from[lane.received], lane, source, lane.member)];
        if (wire.arrived == 0)
        {
            NS_ASSERT_MSG(wire.waiting == NONE, "two lanes wait for the same messages");
            wire.waiting = number;
            return false;
        }
        --wire.arrived;
        ++lane.received;
    }
    return true;
}

Time ScheduledExecution::StepDelay(const ProgramStep& step) const
{
    Time delay = m_context.stepOverhead;
    if (step.reduce && m_context.reductionRate.GetBitRate() > 0)
    {
        delay += TxTime(step.bytes * step.receives, m_context.reductionRate);
    }
    return delay;
}

void ScheduledExecution::SendAll(uint32_t number)
{
    LaneState& lane = m_lanes[number];
    lane.hasStep = false;
    for (uint32_t i = 0; i < lane.step.sends; ++i)
    {
        const uint32_t index = FindWire(lane.to[i], lane, lane.member, lane.step.sendTo[i]);
        const Wire& wire = m_wires[index];
        Message message;
        message.source = wire.source;
        message.destination = wire.destination;
        message.bytes = lane.step.bytes;
        message.label = wire.label;
        message.trafficClass = m_context.trafficClass;
        message.collective = m_instance->id;
        ++m_members[lane.member].inFlight;
        ++m_messages;
        NetworkModel& network = wire.interHost ? *m_context.interHost : *m_context.intraHost;
        network.Send(message, [this, index] { Arrive(index); });
    }
}

void ScheduledExecution::FinishStep(uint32_t lane)
{
    SendAll(lane);
    Advance(lane);
    CheckFinished();
}

void ScheduledExecution::Arrive(uint32_t index)
{
    Wire& wire = m_wires[index];
    const uint32_t sender = wire.sender;
    ++wire.arrived;
    --m_members[sender].inFlight;
    if (wire.waiting != NONE)
    {
        const uint32_t lane = wire.waiting;
        wire.waiting = NONE;
        Advance(lane);
    }
    CheckMember(sender);
    CheckFinished();
}

void ScheduledExecution::CheckMember(uint32_t member)
{
    MemberState& state = m_members[member];
    if (!state.done && state.lanes == 0 && state.inFlight == 0)
    {
        state.done = true;
        --m_membersLeft;
        m_context.onMemberDone(member);
    }
}

void ScheduledExecution::CheckFinished()
{
    if (m_membersLeft == 0)
    {
        const auto onFinished = std::move(m_context.onFinished);
        onFinished();
    }
}

uint32_t ScheduledExecution::FindWire(KnownWire& known,
                                      const LaneState& lane,
                                      uint32_t source,
                                      uint32_t destination)
{
    const uint32_t peer = source == lane.member ? destination : source;
    if (known.peer == peer)
    {
        return known.wire;
    }
    const auto [it, isNew] =
        m_wireIndex.try_emplace(WireKey(lane.channel, lane.plane, source, destination),
                                static_cast<uint32_t>(m_wires.size()));
    if (isNew)
    {
        const ConnectionEndpoints ends =
            MapConnection(m_instance->plan, {source, destination, lane.channel, lane.plane, 0});
        Wire wire;
        wire.source = ends.source;
        wire.destination = ends.destination;
        wire.label = ends.label;
        wire.interHost = ends.interHost;
        wire.sender = source;
        m_wires.push_back(wire);
    }
    known.peer = peer;
    known.wire = it->second;
    return it->second;
}

} // namespace echo
} // namespace ns3
