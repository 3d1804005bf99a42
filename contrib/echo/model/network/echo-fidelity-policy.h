// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_FIDELITY_POLICY_H
#define ECHO_FIDELITY_POLICY_H

#include "echo-collective-backend.h"

#include "ns3/echo-cost-model.h"
#include "ns3/echo-fidelity-rule.h"
#include "ns3/object.h"

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Names an instance across runs of the same job: members call in program order, so the k-th call
 * on a group (or the k-th message of a pair and tag) is the same communication in every run.
 */
using InstanceKey = std::tuple<GroupId, CollectiveKind, uint32_t, uint32_t, int32_t, uint32_t>;

/**
 * @return (group, kind, sender, receiver, tag, sequence); sender to tag are 0 for collectives
 * @param replica which of those that the instance stands for
 */
InstanceKey KeyOf(const CollectiveInstance& instance, uint32_t replica = 0);

/** @return KeyOf() with sequence 0: all instances of what repeats on a group or between a pair */
InstanceKey SeriesKeyOf(const CollectiveInstance& instance);

/** Decides which model serves an instance in hybrid fidelity. */
class FidelityPolicy : public Object
{
  public:
    static TypeId GetTypeId();
    /** @return ANALYTICAL, FLOW or PACKET; called once an instance, when its last member joins */
    virtual Fidelity Choose(const CollectiveInstance& instance) = 0;
    /** @return false if Choose never returns @p fidelity: what serves it need not be made */
    virtual bool MayChoose(Fidelity fidelity) const;
    /** @return whether Choose looks at CollectiveInstance::fabricBytes and ::sharing */
    virtual bool LooksAround() const;
    /**
     * An instance is done for all its members, @p duration after its last member joined. For a
     * policy that looks around: without what it lost to others that were simulated beside it.
     */
    virtual void Observe(const CollectiveInstance& instance, Time duration);
    /** @return the factor on the estimate of an instance that runs analytically */
    virtual double GetCorrection(const CollectiveInstance& instance) const;
    /** The model that estimates; called before the first instance. */
    virtual void SetCostModel(Ptr<CostModel> model);
    /** @return what users should know of the choices, a sentence each */
    virtual std::vector<std::string> GetNotes() const;
};

/** The first rule that matches decides; where none does, analytical. */
class RulesPolicy : public FidelityPolicy
{
  public:
    static TypeId GetTypeId();
    void SetRules(std::vector<FidelityRule> rules);
    /** @param raised by SeriesKeyOf(): served by this fidelity if rules say one with less detail */
    void SetRaised(std::map<InstanceKey, Fidelity> raised);
    Fidelity Choose(const CollectiveInstance& instance) override;
    bool MayChoose(Fidelity fidelity) const override;

  private:
    Fidelity ChooseByRules(const CollectiveInstance& instance) const;

    std::vector<FidelityRule> m_rules;        //!< in order
    std::map<InstanceKey, Fidelity> m_raised; //!< known from an earlier pass
};

/**
 * Analytical for what shares no link with another communication at the same time, a contended
 * fidelity for what does. Which do is known from an analytical pass over the same job.
 */
class ContentionPolicy : public FidelityPolicy
{
  public:
    static TypeId GetTypeId();
    /** @param fidelity FLOW or PACKET, for the instances in @p contended */
    void SetContended(std::set<InstanceKey> contended, Fidelity fidelity);
    Fidelity Choose(const CollectiveInstance& instance) override;
    bool MayChoose(Fidelity fidelity) const override;

  private:
    std::set<InstanceKey> m_contended;     //!< known from the analytical pass
    Fidelity m_fidelity{Fidelity::PACKET}; //!< that serves them
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_FIDELITY_POLICY_H */
