// SPDX-License-Identifier: GPL-2.0-only
#include "echo-pairwise-algorithm.h"

#include "echo-collective-selector.h"
#include "echo-layout-cursor.h"
#include "echo-piece-program.h"

#include "ns3/assert.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(PairwiseAlgorithm);

namespace
{

/** Every rounds-in-flight-th round: sends, then waits for what the same round brings. */
class PairwiseProgram : public RankProgram
{
  public:
    PairwiseProgram(const CollectivePlan& plan, uint32_t member, uint32_t first, uint32_t stride)
        : m_plan(&plan),
          m_member(member),
          m_round(first),
          m_stride(stride),
          m_to(*plan.layout, 0, member),
          m_from(*plan.layout, 0, member)
    {
        m_to.Forward(first);
        m_from.Backward(first);
    }

    bool Next(ProgramStep& step) override
    {
        while (m_round < m_plan->layout->GetRanks())
        {
            step = ProgramStep{};
            if (m_sends)
            {
                AddSend(step, m_to.Get());
                step.bytes = PairBytes(*m_plan, m_member, m_to.Get());
                m_sends = false;
            }
            else
            {
                AddReceive(step, m_from.Get());
                step.bytes = PairBytes(*m_plan, m_from.Get(), m_member);
                m_sends = true;
                m_round += m_stride;
                m_to.Forward(m_stride);
                m_from.Backward(m_stride);
            }
            if (step.bytes > 0)
            {
                return true;
            }
        }
        return false;
    }

  private:
    const CollectivePlan* m_plan;
    uint32_t m_member;
    uint32_t m_round;
    uint32_t m_stride;
    bool m_sends{true}; //!< or receives, next
    LayoutCursor m_to;
    LayoutCursor m_from;
};

} // namespace

TypeId PairwiseAlgorithm::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::PairwiseAlgorithm")
            .SetParent<CollectiveAlgorithm>()
            .SetGroupName("Echo")
            .AddConstructor<PairwiseAlgorithm>()
            .AddAttribute("RoundsInFlight",
                          "Rounds of an all-to-all that a rank has in flight at a time. NCCL 2.22 "
                          "works on up to 8 pairs of a batch side by side "
                          "(NCCL_MAX_DEV_WORK_P2P_PER_BATCH).",
                          UintegerValue(8),
                          MakeUintegerAccessor(&PairwiseAlgorithm::m_rounds),
                          MakeUintegerChecker<uint32_t>(1));
    return tid;
}

bool PairwiseAlgorithm::Supports(CollectiveKind kind) const
{
    return CanCarryOut(CollectiveAlgorithmKind::PAIRWISE, kind);
}

std::vector<Lane> PairwiseAlgorithm::MakeLanes(const CollectivePlan& plan, uint32_t member) const
{
    NS_ASSERT_MSG(Supports(plan.spec.kind), "pairs cannot do that kind of collective");
    std::vector<Lane> lanes;
    const uint32_t ranks = plan.layout->GetRanks();
    if (plan.spec.kind == CollectiveKind::SEND_RECV)
    {
        ProgramStep step;
        if (member == 0)
        {
            AddSend(step, 1);
        }
        else
        {
            AddReceive(step, 0);
        }
        lanes.push_back({0, 0, std::make_unique<PieceProgram>(step, plan.spec.bytes, 0)});
        return lanes;
    }
    const uint32_t inFlight = std::min(m_rounds, ranks - 1);
    for (uint32_t lane = 0; lane < inFlight; ++lane)
    {
        lanes.push_back({lane % plan.choice.channels,
                         0,
                         std::make_unique<PairwiseProgram>(plan, member, lane + 1, inFlight)});
    }
    return lanes;
}

std::vector<Connection> PairwiseAlgorithm::GetConnections(const CollectivePlan& plan) const
{
    if (plan.spec.kind == CollectiveKind::SEND_RECV)
    {
        return plan.spec.bytes > 0 ? std::vector<Connection>{{0, 1, 0, 0, plan.spec.bytes}}
                                   : std::vector<Connection>{};
    }
    const std::vector<uint32_t> order = RingOrder(*plan.layout, 0);
    const auto ranks = static_cast<uint32_t>(order.size());
    const uint32_t inFlight = std::min(m_rounds, ranks - 1);
    std::vector<Connection> connections;
    for (uint32_t round = 1; round < ranks; ++round)
    {
        const uint32_t channel = (round - 1) % inFlight % plan.choice.channels;
        for (uint32_t position = 0; position < ranks; ++position)
        {
            const uint32_t source = order[position];
            const uint32_t destination = order[(position + round) % ranks];
            const uint64_t bytes = PairBytes(plan, source, destination);
            if (bytes > 0)
            {
                connections.push_back({source, destination, channel, 0, bytes});
            }
        }
    }
    return connections;
}

} // namespace echo
} // namespace ns3
