// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_RANK_FOLDING_H
#define ECHO_RANK_FOLDING_H

#include "ns3/echo-collective-backend.h"
#include "ns3/echo-workload-graph.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3
{
namespace echo
{

/** One class of equal ranks, run by its first. */
struct FoldedRank
{
    /** The group that the class calls on through a slot, and as whom. */
    struct Seat
    {
        CommGroupPtr group;
        RankId rank; //!< a member of the class
    };

    RankId rank;             //!< lowest of the class
    uint32_t replicas{0};    //!< ranks of the class
    std::vector<Seat> seats; //!< by slot of its program
};

/**
 * Which ranks of a job do the same at the same times, so that one of each class is enough.
 *
 * The classes are the coarsest stable partition (colour refinement, as in Paige and Tarjan, Three
 * partition refinement algorithms, SIAM J. Comput. 16(6), 1987): ranks of a class share program and
 * start time, and through each slot call on groups of one class; groups of a class have the same
 * kind, size and cost of every communication that their members ask for, and as many members of
 * each class, in the same order where the order matters (messages, roots, uneven splits). What a
 * rank does depends on nothing else, so by induction over time equal ranks join, wait and end
 * together, to the picosecond.
 *
 * The cost in time is near linear: each round looks once at each rank's slots, and there are few
 * rounds (as many as a difference takes to spread through the groups).
 */
class RankFolding
{
  public:
    /** @param backend CanFold(); it is asked for the times of all communications, and that only if
     * ranks share programs */
    RankFolding(const WorkloadGraph& workload, CollectiveBackend& backend);

    const std::vector<FoldedRank>& GetClasses() const
    {
        return m_classes;
    }

    /** @return the class of a rank, an index of GetClasses() */
    uint32_t GetClass(RankId rank) const
    {
        return m_classOf[rank.Get()];
    }

    /** Tells the back end of the groups; before time zero. */
    void Apply(CollectiveBackend& backend) const;

  private:
    /** A group as the refinement sees it. */
    struct GroupState
    {
        uint64_t fixed{0};  //!< hash of what does not change: kind, size, costs
        uint64_t colour{0}; //!< of the present round
        bool isOrdered{false};
    };

    /** What a program asks of the group in one slot. */
    struct SlotDemand
    {
        std::vector<CollectiveSpec> collectives;          //!< but those with uneven splits
        std::vector<CollectiveSpec> uneven;               //!< all-to-all-v, each once
        std::vector<uint32_t> unevenCalls;                //!< in order, places in uneven
        std::vector<std::pair<uint32_t, uint64_t>> sends; //!< peer, bytes; each once
        bool isOrdered{false};                            //!< the own position matters
    };

    /** What each member of a group asks of it, in the group's order. */
    using Members = std::vector<const SlotDemand*>;

    static std::vector<SlotDemand> DemandOf(const ExecutionGraph& program);
    void HashGroups(CollectiveBackend& backend);
    /** Adds to a group's hash how long its members' all-to-all-v take, which all of them decide. */
    void HashUneven(const CommGroupPtr& group, const Members& members, CollectiveBackend& backend);
    void ColourRanks();
    void Refine();
    void ColourGroups();
    /** @return number of distinct colours */
    size_t Renumber();
    void MakeClasses();
    void MakeSeats();

    const WorkloadGraph& m_workload;
    std::vector<uint64_t> m_colours; //!< by rank
    std::vector<GroupState> m_groups;
    std::vector<uint32_t> m_classOf;
    std::vector<FoldedRank> m_classes;
    std::vector<CommGroupPtr> m_canonical;          //!< by GroupId; null: not used
    std::vector<std::vector<CommGroupPtr>> m_alike; //!< of canonical groups, by GroupId
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_RANK_FOLDING_H */
