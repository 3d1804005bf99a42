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
#include <vector>

namespace ns3
{
namespace echo
{

class CollectiveBackend;

/** One instance of a collective, or one matched pair, from first join to last completion. */
struct CollectiveInstance
{
    struct Member
    {
        bool joined{false};
        bool done{false};
        Time joinTime;
        CollectiveSpec spec;
        std::string origin;                              //!< operator's name, for messages
        std::function<void()> onStarted;                 //!< may be empty; fires at the last join
        std::function<void(CollectiveInstance&)> onDone; //!< fires once
    };

    CollectiveId id;
    uint32_t sequence{0}; //!< the how-manieth on its group (or pair and tag), from 0; same each run
    GroupId pairGroup;    //!< send/recv: the group that the pair was matched in
    int32_t tag{0};       //!< send/recv: the tag that matched
    CollectiveBackend* owner{nullptr}; //!< that matched it and is told of completions
    CollectivePlan plan;               //!< spec agreed by all; layout; choice set before DoStart
    std::vector<Member> members;       //!< by index in the group; send/recv: 0 sender, 1 receiver
    uint32_t firstMember{0};           //!< who joined first: the others must agree with it
    uint32_t joined{0};
    uint32_t done{0};
    Time start;              //!< last join
    double correction{1};    //!< hybrid: factor on an estimate
    double fabricBytes{0};   //!< hybrid: bytes over fabric links, summed over the links
    /// Hybrid: others that were on its fabric links when it started.
    std::vector<std::shared_ptr<const CollectiveInstance>> sharing;
    CollectiveRecord record; //!< what will be recorded; back ends fill fidelity, estimate, flags
};

/** When a communication transferred, given to the rank that waited for it. */
struct CommunicationTimes
{
    Time start;              //!< last member had joined: waiting ends, transfer begins
    Time end;                //!< done for this rank
    CollectiveId collective; //!< invalid for a batch of several pairs
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

    /** The choice, then DoStart or, where nothing moves, completion at this instant. */
    void Launch(const InstancePtr& instance);
    void Finish(const InstancePtr& instance);

    struct Impl;
    std::unique_ptr<Impl> m_impl;                             //!< pending tables
    TracedCallback<const CollectiveRecord&> m_collectiveDone; //!< trace source "CollectiveDone"
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_COLLECTIVE_BACKEND_H */
