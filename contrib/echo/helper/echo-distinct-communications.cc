// SPDX-License-Identifier: GPL-2.0-only
#include "echo-distinct-communications.h"

#include <map>
#include <sstream>

namespace ns3
{
namespace echo
{

namespace
{

/** Where a group lies, up to equal places: members by host and hops between following hosts. */
std::string PlacementSignature(const GroupLayout& layout, const Router& router)
{
    std::ostringstream signature;
    std::vector<PortId> path;
    for (size_t i = 0; i < layout.hosts.size(); ++i)
    {
        signature << layout.hosts[i].size() << ',';
        const size_t next = (i + 1) % layout.hosts.size();
        if (next == i)
        {
            continue;
        }
        const auto& group = *layout.group;
        const DeviceId from = layout.placement->GetNic(group.GetRank(layout.hosts[i][0]));
        const DeviceId to = layout.placement->GetNic(group.GetRank(layout.hosts[next][0]));
        path.clear();
        if (from.IsValid() && to.IsValid())
        {
            router.FindPath(from, to, 0, path);
        }
        signature << path.size() << ';';
    }
    return signature.str();
}

/** Collects communications as the ranks' programs are walked. */
class Collector
{
  public:
    Collector(PlacementPtr placement, const Router& router)
        : m_placement(std::move(placement)), m_router(router)
    {
    }

    void Add(const CollectiveSpec& spec,
             const std::vector<std::vector<uint64_t>>& splits,
             const CommGroupPtr& group,
             GroupKind kind,
             uint64_t count)
    {
        std::ostringstream key;
        key << static_cast<int>(spec.kind) << ':' << spec.bytes << ':' << spec.root << ':'
            << static_cast<int>(spec.algorithm) << ':' << static_cast<int>(spec.protocol) << ':'
            << spec.channels << ':' << Signature(group) << '|';
        for (const auto& row : splits)
        {
            for (uint64_t bytes : row)
            {
                key << bytes << ' ';
            }
        }
        const auto [it, isNew] = m_index.emplace(key.str(), m_found.size());
        if (isNew)
        {
            m_found.push_back({spec, splits, group, kind, 0});
        }
        m_found[it->second].count += count;
    }

    std::vector<DistinctCommunication> Take()
    {
        return std::move(m_found);
    }

  private:
    const std::string& Signature(const CommGroupPtr& group)
    {
        auto& signature = m_signatures[group->GetRanks()];
        if (signature.empty())
        {
            signature = PlacementSignature(*MakeGroupLayout(group, m_placement), m_router);
        }
        return signature;
    }

    PlacementPtr m_placement;
    const Router& m_router;
    std::map<std::vector<RankId>, std::string> m_signatures;
    std::map<std::string, size_t> m_index;
    std::vector<DistinctCommunication> m_found;
};

/** Rows of an all-to-all-v: the k-th call of each member on the group. */
using SplitTable = std::map<std::pair<GroupId, uint32_t>, std::vector<std::vector<uint64_t>>>;

/** Walks one rank's operators in order; @p visit gets spec or elements, group and call number. */
template <typename Visit>
void WalkCommunications(const WorkloadGraph& workload, RankId rank, Visit visit)
{
    const ExecutionGraph& program = *workload.GetProgram(rank);
    std::map<GroupId, uint32_t> calls;
    for (const auto& op : program.GetOperators())
    {
        if (op.type != OperatorType::COLLECTIVE && op.type != OperatorType::POINT_TO_POINT)
        {
            continue;
        }
        const CommunicationDescription& description = program.GetCommunication(op);
        const CommGroupPtr& group = workload.GetGroup(rank, description.groupSlot);
        const bool isCollective = op.type == OperatorType::COLLECTIVE;
        visit(isCollective, description, group, isCollective ? calls[group->GetId()]++ : 0);
    }
}

} // namespace

std::vector<DistinctCommunication> FindDistinctCommunications(const WorkloadGraph& workload,
                                                              PlacementPtr placement,
                                                              const Router& router)
{
    SplitTable splits;
    for (uint32_t r = 0; r < workload.GetRankCount(); ++r)
    {
        WalkCommunications(workload,
                           RankId(r),
                           [&](bool isCollective,
                               const CommunicationDescription& description,
                               const CommGroupPtr& group,
                               uint32_t call) {
                               if (isCollective &&
                                   description.spec.kind == CollectiveKind::ALL_TO_ALL_V)
                               {
                                   auto& table = splits[{group->GetId(), call}];
                                   table.resize(group->GetSize());
                                   table[group->IndexOf(RankId(r))] = description.spec.sendBytes;
                               }
                           });
    }
    Collector collector(std::move(placement), router);
    uint32_t pairs = 0;
    for (uint32_t r = 0; r < workload.GetRankCount(); ++r)
    {
        WalkCommunications(
            workload,
            RankId(r),
            [&](bool isCollective,
                const CommunicationDescription& description,
                const CommGroupPtr& group,
                uint32_t call) {
                const CollectiveSpec& spec = description.spec;
                if (isCollective)
                {
                    // Members share one instance: its first member counts it.
                    if (group->IndexOf(RankId(r)) == 0 && group->GetSize() > 1 && spec.bytes > 0)
                    {
                        const bool uneven = spec.kind == CollectiveKind::ALL_TO_ALL_V;
                        collector.Add(spec,
                                      uneven ? splits[{group->GetId(), call}]
                                             : std::vector<std::vector<uint64_t>>{},
                                      group,
                                      group->GetKind(),
                                      1);
                    }
                    return;
                }
                for (const auto& element : description.elements)
                {
                    const RankId peer = group->GetRank(element.peerIndex);
                    if (!element.isSend || element.bytes == 0 || peer == RankId(r))
                    {
                        continue;
                    }
                    CollectiveSpec pair;
                    pair.kind = CollectiveKind::SEND_RECV;
                    pair.bytes = element.bytes;
                    collector.Add(
                        pair,
                        {},
                        std::make_shared<const CommGroup>(GroupId(pairs++),
                                                          group->GetKind(),
                                                          "pair",
                                                          std::vector<RankId>{RankId(r), peer}),
                        group->GetKind(),
                        1);
                }
            });
    }
    return collector.Take();
}

} // namespace echo
} // namespace ns3
