// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_COLLECTIVE_BACKEND_H
#define ECHO_COLLECTIVE_BACKEND_H

#include "ns3/echo-collective-algorithm.h"
#include "ns3/echo-collective-selector.h"
#include "ns3/echo-records.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

class CollectiveBackend;
struct InstancePlace;
struct LinkUse;
struct PointToPointBatch;

/** When a communication transferred, given to the rank that waited for it. */
struct CommunicationTimes
{
    Time start;              //!< last member had joined: waiting ends, transfer begins
    Time end;                //!< done for this rank
    CollectiveId collective; //!< invalid for a batch of several pairs
};

/** What all instances of one spec on one group, or between one pair, have in common. */
struct PlanFacts
{
    CollectiveSpec spec;     //!< as members ask for it, without splits
    CollectiveChoice choice; //!< the selector's
    uint64_t payloadBytes{0};
    bool movesNothing{false};
    bool isEstimated{false}; //!< the five below are known
    Time estimate;           //!< duration in closed form
    Time intra;              //!< of this, transfers inside hosts
    Time inter;              //!< of this, transfers between hosts
    bool isExtrapolated{false};
    std::string extrapolation; //!< why
    LinkUse* links{nullptr};   //!< what it loads; null until the contention watch looked it up
};

/**
 * What one group stands for where equal ranks are folded: each member that joins does so for all
 * members of its class, and each instance is one of each of `groups`, which run alike.
 */
struct GroupFolding
{
    std::vector<uint32_t> parties; //!< members that join, ascending; one for each class of members
    std::vector<CommGroupPtr> groups; //!< alike, the group itself first
};

/** One instance of a collective, or one matched pair, from first join to last completion. */
struct CollectiveInstance
{
    struct Member
    {
        bool joined{false};
        bool done{false};
        Time joinTime;
        std::string origin;                                    //!< operator's name, for messages
        std::function<void()> onStarted;                       //!< may be empty; at the last join
        std::function<void(const CommunicationTimes&)> onDone; //!< fires once
        std::shared_ptr<PointToPointBatch> batch;              //!< send/recv: in place of both
    };

    CollectiveId id;
    uint32_t sequence{0}; //!< the how-manieth on its group (or pair and tag), from 0; same each run
    GroupId pairGroup;    //!< send/recv: the group that the pair was matched in
    int32_t tag{0};       //!< send/recv: the tag that matched
    CollectiveBackend* owner{nullptr}; //!< that matched it and is told of completions
    CollectivePlan plan;               //!< spec agreed by all; layout; choice set before DoStart
    std::shared_ptr<PlanFacts> facts;  //!< of the plan; set before DoStart; all-to-all-v: its own
    /// Layouts of the groups that it stands for, plan.layout first; null: of itself only.
    std::shared_ptr<const std::vector<GroupLayoutPtr>> replicas;
    /// By index in the group (of those that join, where ranks are folded); send/recv: 0 sender, 1
    /// receiver
    std::vector<Member> members;
    std::vector<CollectiveSpec> asked; //!< all-to-all-v: by member, with its splits
    uint32_t firstMember{0};           //!< who joined first: the others must agree with it
    uint32_t joined{0};
    uint32_t done{0};
    uint32_t unfinishedIndex{0}; //!< in its owner's list
    Time start;                  //!< last join
    Time end;                    //!< of all members, as far as is known; simulated: the earliest
    double correction{1};        //!< hybrid: factor on an estimate
    double fabricBytes{0};       //!< hybrid: bytes over fabric links, summed over the links
    /// Hybrid: others that were on its fabric links when it started.
    std::vector<std::shared_ptr<const CollectiveInstance>> sharing;
    CollectiveRecord record; //!< what will be recorded; back ends fill fidelity, estimate, flags
    std::vector<bool> contendedReplicas; //!< by replica; empty: as the record says, all
};

/**
 * Upper seam: serves whole collectives and pairs. Members join in any order and at any time; the
 * base class owns matching (the k-th call of each member on a group is the k-th instance; sends
 * and receives match first-in first-out by group, source, destination and tag), agreement checks,
 * join times, the unfinished list and records. Subclasses carry an instance out (DoStart) and
 * call CompleteMember for each member.
 *
 * A group of one rank and a collective of zero bytes between others complete at the last join,
 * barrier excepted, without DoStart.
 */
class CollectiveBackend : public Object
{
  public:
    using DoneCallback = std::function<void(const CommunicationTimes&)>;
    /**
     * Fires once, at the time that CommunicationTimes::start will say: the last member (of a
     * batch: of its last pair) has joined. Before the DoneCallback; maybe from inside Join.
     */
    using StartedCallback = std::function<void()>;
    /** Signature of the trace source CollectiveDone. */
    using CollectiveTracedCallback = void (*)(const CollectiveRecord& record);

    static TypeId GetTypeId();
    CollectiveBackend();
    ~CollectiveBackend() override;

    /** To be called once, before time zero. @p sink outlives this object; it may be null. */
    void Prepare(PlacementPtr placement, Ptr<CollectiveSelector> selector, RecordSink* sink);

    /**
     * One member reaches a collective now. @p done fires once, at a time >= now, never from
     * inside Join.
     * @param origin operator's name, for messages
     * @throws StallError (out of Simulator::Run) if members disagree in kind, bytes, root, type,
     *         group or algorithm; names both ranks and operators
     * @throws InputError if the rank is not in the group or the root or the splits do not fit it
     */
    void Join(const CollectiveSpec& spec,
              const CommGroupPtr& group,
              RankId rank,
              const std::string& origin,
              DoneCallback done,
              StartedCallback started = nullptr);

    /**
     * One rank reaches a send, a receive or a batch now; @p done fires when all are done, with
     * start = the latest start of its pairs. A rank may send to itself.
     * @throws StallError if a send meets a receive of other size; names ranks, operators, tag,
     * sizes
     */
    void JoinPointToPoint(const std::vector<PointToPointElement>& elements,
                          const CommGroupPtr& group,
                          RankId rank,
                          const std::string& origin,
                          DoneCallback done,
                          StartedCallback started = nullptr);

    /** @return whether groups may be folded: times depend on plan and group only */
    virtual bool CanFold() const;
    /**
     * Before time zero; CanFold() only. Members of @p group that are no party never join it.
     * Disagreements are found, but may name other ranks of the class.
     */
    void FoldGroup(const CommGroupPtr& group, GroupFolding folding);
    /**
     * @return a hash of how and in which time the back end carries @p spec out in @p group when
     *         nothing else runs; CanFold() only, and not for all-to-all-v
     * @param pair send/recv: indices of sender and receiver in the group; else not used
     */
    uint64_t HashTiming(const CollectiveSpec& spec,
                        const CommGroupPtr& group,
                        std::pair<uint32_t, uint32_t> pair = {});
    /**
     * The same of an all-to-all-v.
     * @param asked what each member of @p group asks for, in the group's order
     */
    uint64_t HashTiming(const std::vector<const CollectiveSpec*>& asked, const CommGroupPtr& group);

    /** @return how long a plan takes alone; for back ends that forward. CanFold() only */
    Time EstimateTime(const CollectivePlan& plan, PlanFacts& facts)
    {
        return DoEstimate(plan, facts);
    }

    /** @return one line for each unfinished instance: what, who joined, who is missing */
    std::vector<std::string> DescribeUnfinished() const;
    uint64_t GetCompletedCount() const;

    /** For back ends that forward (hybrid): starts an instance that another back end matched. */
    void Start(const std::shared_ptr<CollectiveInstance>& instance);

    /** Pushes link records (and others that come at the end) into @p sink. Default: nothing. */
    virtual void ReportLinks(RecordSink& sink, Time duration) const;
    virtual Fidelity GetFidelity() const = 0;

  protected:
    using InstancePtr = std::shared_ptr<CollectiveInstance>;

    /** A member is done now; when all are, the record goes out and callbacks have fired. */
    void CompleteMember(const InstancePtr& instance, uint32_t member);
    PlacementPtr GetPlacement() const;
    RecordSink* GetSink() const;
    Ptr<CollectiveSelector> GetSelector() const;

  private:
    virtual void DoPrepare() = 0;
    /** All members have joined; plan.choice is set. Must end in CompleteMember for each member. */
    virtual void DoStart(const InstancePtr& instance) = 0;
    /**
     * A member of an instance that this back end matched is done, whoever served it; before the
     * member is told. Default: nothing.
     */
    virtual void DoMemberDone(const InstancePtr& instance);
    /** All members of an instance that this back end matched are done; its record goes out next. */
    virtual void DoFinish(const InstancePtr& instance);
    /** @return a hash of all that a plan's time follows from */
    uint64_t HashEstimate(const CollectivePlan& plan, PlanFacts& facts);
    /** For HashTiming: the time of a plan whose choice is set. Default: zero. */
    virtual Time DoEstimate(const CollectivePlan& plan, PlanFacts& facts);

    /** The choice, then DoStart or, where nothing moves, completion at this instant. */
    void Launch(const InstancePtr& instance, InstancePlace& place);
    void Finish(const InstancePtr& instance);
    void Record(const CollectiveInstance& instance);

    struct Impl;
    std::unique_ptr<Impl> m_impl;                             //!< pending tables
    TracedCallback<const CollectiveRecord&> m_collectiveDone; //!< trace source "CollectiveDone"
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_COLLECTIVE_BACKEND_H */
