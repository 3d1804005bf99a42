// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_INSTANCE_TABLE_H
#define ECHO_INSTANCE_TABLE_H

#include "echo-collective-backend.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace ns3
{
namespace echo
{

/** A group or pair, and the plans that it was asked to carry out. */
struct InstancePlace
{
    GroupLayoutPtr layout;
    std::shared_ptr<const std::vector<GroupLayoutPtr>> replicas; //!< null: itself only
    std::vector<std::shared_ptr<PlanFacts>> facts;               //!< the latest first
};

/**
 * What a CollectiveBackend knows of groups and pairs, and the instances that live on them. Finished
 * instances are used again, so that a long run allocates none.
 */
class InstanceTable
{
  public:
    using InstancePtr = std::shared_ptr<CollectiveInstance>;

    /** The calls on one group. */
    struct GroupCalls : InstancePlace
    {
        std::vector<uint32_t> calls;     //!< made so far, by party
        std::deque<InstancePtr> joining; //!< not joined by all yet; the front is number `first`
        uint32_t first{0};
        std::vector<uint32_t> partyOf; //!< by member; empty: every member is a party
        GroupFolding folding;          //!< empty: not folded
    };

    void Prepare(PlacementPtr placement, Ptr<CollectiveSelector> selector);

    /** @throws StallError if the group's id is known for other ranks */
    GroupCalls& CallsOf(const CommGroupPtr& group, RankId rank, const std::string& origin);
    InstancePlace& PairOf(const CommGroupPtr& group, RankId source, RankId destination);
    void Fold(const CommGroupPtr& group, GroupFolding folding);

    /** @return what the place's instances of @p spec have in common, made at first use */
    const std::shared_ptr<PlanFacts>& FactsOf(InstancePlace& place, const CollectiveSpec& spec);
    /** Sets the plan's choice. @return new facts; of an all-to-all-v when its splits are agreed */
    std::shared_ptr<PlanFacts> MakeFacts(CollectivePlan& plan) const;

    /** @return a new instance that waits for @p members joins; listed as unfinished */
    InstancePtr NewInstance(const InstancePlace& place,
                            const CollectiveSpec& spec,
                            uint32_t members);
    /** The instance's record went out: it is no longer unfinished. */
    void Finish(const InstancePtr& instance);
    /** All are told of its end: it may be used again once nobody holds it. */
    void Recycle(const InstancePtr& instance);
    /** @return in order of id */
    std::vector<InstancePtr> GetUnfinished() const;

  private:
    struct PairKey
    {
        GroupId group;
        RankId source;
        RankId destination;
        bool operator==(const PairKey& other) const;
    };

    struct PairKeyHash
    {
        size_t operator()(const PairKey& key) const;
    };

    GroupLayoutPtr MakePairLayout(const CommGroup& group, RankId source, RankId destination) const;

    PlacementPtr m_placement;
    Ptr<CollectiveSelector> m_selector;
    std::deque<GroupCalls> m_groups;                                 //!< by GroupId
    std::unordered_map<PairKey, InstancePlace, PairKeyHash> m_pairs; //!< looked up only
    std::vector<InstancePtr> m_unfinished;                           //!< in no order
    std::map<uint32_t, std::vector<InstancePtr>> m_recycled;         //!< by number of members
    uint32_t m_nextId{0};
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_INSTANCE_TABLE_H */
