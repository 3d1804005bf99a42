// SPDX-License-Identifier: GPL-2.0-only
#include "echo-ring-algorithm.h"

#include "echo-collective-selector.h"
#include "echo-layout-cursor.h"
#include "echo-piece-program.h"

#include "ns3/assert.h"

#include <utility>

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(RingAlgorithm);

namespace
{

/** Which chunks a rank handles, in order; the i-th is received (but for i = 0) and sent on. */
struct RingSchedule
{
    uint32_t firstChunk;  //!< less the rank's position
    uint32_t count;       //!< chunks handled; the last is only received
    uint32_t lastReduced; //!< chunks 1 .. lastReduced are reduced on receipt
};

RingSchedule ScheduleOf(CollectiveKind kind, uint32_t ranks)
{
    switch (kind)
    {
    case CollectiveKind::ALL_REDUCE:
        return {0, 2 * ranks - 1, ranks - 1};
    case CollectiveKind::REDUCE_SCATTER:
        // Ends with the rank's own chunk, so begins with the one before it.
        return {ranks - 1, ranks, ranks - 1};
    default:
        return {0, ranks, 0}; // all-gather
    }
}

/** Bytes of one channel's chunk; with odd bytes the first chunks have one more. */
uint64_t ChannelBytes(const CollectivePlan& plan, uint32_t channel)
{
    return PartBytes(plan.spec.bytes, plan.choice.channels, channel);
}

/** All-reduce, all-gather and reduce-scatter of one channel. */
class RingProgram : public RankProgram
{
  public:
    RingProgram(const CollectivePlan& plan, const LayoutCursor& place, uint64_t channelBytes)
        : m_ranks(plan.layout->GetRanks()),
          m_schedule(ScheduleOf(plan.spec.kind, m_ranks)),
          m_channelBytes(channelBytes),
          m_chunkBytes(plan.choice.chunkBytes),
          m_pieces(0, 0)
    {
        LayoutCursor neighbour = place;
        neighbour.Forward();
        m_next = neighbour.Get();
        neighbour = place;
        neighbour.Backward();
        m_previous = neighbour.Get();
        m_chunk = (place.GetPosition() + m_schedule.firstChunk) % m_ranks;
        m_pieces = PieceCutter(PartBytes(m_channelBytes, m_ranks, m_chunk), m_chunkBytes);
    }

    bool Next(ProgramStep& step) override
    {
        uint64_t bytes = m_pieces.Next();
        while (bytes == 0)
        {
            if (++m_index >= m_schedule.count)
            {
                m_index = m_schedule.count;
                return false;
            }
            m_chunk = m_chunk == 0 ? m_ranks - 1 : m_chunk - 1;
            m_pieces = PieceCutter(PartBytes(m_channelBytes, m_ranks, m_chunk), m_chunkBytes);
            bytes = m_pieces.Next();
        }
        step = ProgramStep{};
        step.bytes = bytes;
        if (m_index > 0)
        {
            AddReceive(step, m_previous);
            step.reduce = m_index <= m_schedule.lastReduced;
        }
        if (m_index + 1 < m_schedule.count)
        {
            AddSend(step, m_next);
        }
        return true;
    }

  private:
    uint32_t m_ranks;
    RingSchedule m_schedule;
    uint64_t m_channelBytes;
    uint64_t m_chunkBytes;
    PieceCutter m_pieces; //!< of the chunk in hand
    uint32_t m_next{0};
    uint32_t m_previous{0};
    uint32_t m_chunk{0}; //!< in hand
    uint32_t m_index{0}; //!< chunks handled before
};

/** A barrier: step i hears from 2^(i-1) places back and then tells the one 2^i places on. */
class DisseminationProgram : public RankProgram
{
  public:
    DisseminationProgram(const GroupLayout& layout, uint32_t member)
        : m_layout(&layout), m_member(member)
    {
        while ((uint64_t{1} << m_rounds) < layout.GetRanks())
        {
            ++m_rounds;
        }
    }

    bool Next(ProgramStep& step) override
    {
        if (m_step > m_rounds)
        {
            return false;
        }
        step = ProgramStep{};
        step.bytes = BARRIER_BYTES;
        if (m_step > 0)
        {
            LayoutCursor place(*m_layout, 0, m_member);
            place.Backward(1u << (m_step - 1));
            AddReceive(step, place.Get());
        }
        if (m_step < m_rounds)
        {
            LayoutCursor place(*m_layout, 0, m_member);
            place.Forward(1u << m_step);
            AddSend(step, place.Get());
        }
        ++m_step;
        return true;
    }

  private:
    const GroupLayout* m_layout;
    uint32_t m_member;
    uint32_t m_rounds{0}; //!< smallest number with 2^rounds >= ranks
    uint32_t m_step{0};
};

bool IsChain(CollectiveKind kind)
{
    return kind == CollectiveKind::BROADCAST || kind == CollectiveKind::REDUCE;
}

/** @return the member at the beginning of the chain of a channel: the root, or the one after it */
uint32_t ChainStart(const CollectivePlan& plan, uint32_t channel)
{
    LayoutCursor place(*plan.layout, channel, plan.spec.root);
    if (plan.spec.kind == CollectiveKind::REDUCE)
    {
        place.Forward();
    }
    return place.Get();
}

std::unique_ptr<RankProgram> MakeChain(const CollectivePlan& plan,
                                       uint32_t channel,
                                       const LayoutCursor& place)
{
    LayoutCursor next = place;
    next.Forward();
    LayoutCursor previous = place;
    previous.Backward();
    const uint32_t start = ChainStart(plan, channel);
    ProgramStep step;
    step.reduce = plan.spec.kind == CollectiveKind::REDUCE && place.Get() != start;
    if (place.Get() != start)
    {
        AddReceive(step, previous.Get());
    }
    if (next.Get() != start)
    {
        AddSend(step, next.Get());
    }
    return std::make_unique<PieceProgram>(
        step, ChannelBytes(plan, channel), plan.choice.chunkBytes);
}

/** Bytes over the connection from position @p position of @p channel to the next. */
uint64_t BytesToNext(const CollectivePlan& plan, uint32_t channel, uint32_t position)
{
    const uint32_t ranks = plan.layout->GetRanks();
    const uint64_t bytes = ChannelBytes(plan, channel);
    const uint64_t own = PartBytes(bytes, ranks, position);
    const uint64_t next = PartBytes(bytes, ranks, (position + 1) % ranks);
    const uint64_t afterNext = PartBytes(bytes, ranks, (position + 2) % ranks);
    switch (plan.spec.kind)
    {
    case CollectiveKind::ALL_REDUCE:
        return 2 * bytes - next - afterNext;
    case CollectiveKind::ALL_GATHER:
        return bytes - next; // all but what the next rank had
    case CollectiveKind::REDUCE_SCATTER:
        return bytes - own; // all but what this rank keeps
    default:
        return bytes; // chains
    }
}

} // namespace

TypeId RingAlgorithm::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::RingAlgorithm")
                            .SetParent<CollectiveAlgorithm>()
                            .SetGroupName("Echo")
                            .AddConstructor<RingAlgorithm>();
    return tid;
}

bool RingAlgorithm::Supports(CollectiveKind kind) const
{
    return CanCarryOut(CollectiveAlgorithmKind::RING, kind);
}

std::vector<Lane> RingAlgorithm::MakeLanes(const CollectivePlan& plan, uint32_t member) const
{
    NS_ASSERT_MSG(Supports(plan.spec.kind), "a ring cannot do that kind of collective");
    std::vector<Lane> lanes;
    if (plan.layout->GetRanks() == 1)
    {
        return lanes;
    }
    if (plan.spec.kind == CollectiveKind::BARRIER)
    {
        lanes.push_back({0, 0, std::make_unique<DisseminationProgram>(*plan.layout, member)});
        return lanes;
    }
    for (uint32_t channel = 0; channel < plan.choice.channels; ++channel)
    {
        const uint64_t bytes = ChannelBytes(plan, channel);
        if (bytes == 0)
        {
            break; // the first channels have the odd bytes
        }
        const LayoutCursor place(*plan.layout, channel, member);
        Lane lane;
        lane.channel = channel;
        lane.program = IsChain(plan.spec.kind) ? MakeChain(plan, channel, place)
                                               : std::make_unique<RingProgram>(plan, place, bytes);
        lanes.push_back(std::move(lane));
    }
    return lanes;
}

std::vector<Connection> RingAlgorithm::GetConnections(const CollectivePlan& plan) const
{
    std::vector<Connection> connections;
    const uint32_t ranks = plan.layout->GetRanks();
    if (ranks == 1)
    {
        return connections;
    }
    if (plan.spec.kind == CollectiveKind::BARRIER)
    {
        const std::vector<uint32_t> order = RingOrder(*plan.layout, 0);
        for (uint64_t distance = 1; distance < ranks; distance *= 2)
        {
            for (uint32_t position = 0; position < ranks; ++position)
            {
                connections.push_back(
                    {order[position], order[(position + distance) % ranks], 0, 0, BARRIER_BYTES});
            }
        }
        return connections;
    }
    for (uint32_t channel = 0; channel < plan.choice.channels; ++channel)
    {
        const std::vector<uint32_t> order = RingOrder(*plan.layout, channel);
        const bool chain = IsChain(plan.spec.kind);
        const uint32_t start = chain ? ChainStart(plan, channel) : 0;
        for (uint32_t position = 0; position < ranks; ++position)
        {
            const uint32_t next = order[(position + 1) % ranks];
            const uint64_t bytes = BytesToNext(plan, channel, position);
            if (bytes > 0 && !(chain && next == start))
            {
                connections.push_back({order[position], next, channel, 0, bytes});
            }
        }
    }
    return connections;
}

} // namespace echo
} // namespace ns3
