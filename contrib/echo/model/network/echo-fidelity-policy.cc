// SPDX-License-Identifier: GPL-2.0-only
#include "echo-fidelity-policy.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(FidelityPolicy);
NS_OBJECT_ENSURE_REGISTERED(RulesPolicy);
NS_OBJECT_ENSURE_REGISTERED(ContentionPolicy);

InstanceKey KeyOf(const CollectiveInstance& instance, uint32_t replica)
{
    const GroupLayout& layout =
        instance.replicas ? *(*instance.replicas)[replica] : *instance.plan.layout;
    const CommGroup& group = *layout.group;
    const CollectiveKind kind = instance.plan.spec.kind;
    if (kind != CollectiveKind::SEND_RECV)
    {
        return {group.GetId(), kind, 0, 0, 0, instance.sequence};
    }
    // A pair is its own two-member group; its ranks and tag tell it from other pairs.
    return {group.GetId(),
            kind,
            group.GetRank(0).Get(),
            group.GetRank(group.GetSize() - 1).Get(),
            instance.tag,
            instance.sequence};
}

InstanceKey SeriesKeyOf(const CollectiveInstance& instance)
{
    InstanceKey key = KeyOf(instance);
    std::get<5>(key) = 0;
    return key;
}

TypeId FidelityPolicy::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::FidelityPolicy").SetParent<Object>().SetGroupName("Echo");
    return tid;
}

bool FidelityPolicy::MayChoose(Fidelity) const
{
    return true;
}

bool FidelityPolicy::LooksAround() const
{
    return false;
}

void FidelityPolicy::Observe(const CollectiveInstance&, Time)
{
}

double FidelityPolicy::GetCorrection(const CollectiveInstance&) const
{
    return 1;
}

void FidelityPolicy::SetCostModel(Ptr<CostModel>)
{
}

std::vector<std::string> FidelityPolicy::GetNotes() const
{
    return {};
}

TypeId RulesPolicy::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::RulesPolicy")
                            .SetParent<FidelityPolicy>()
                            .SetGroupName("Echo")
                            .AddConstructor<RulesPolicy>();
    return tid;
}

void RulesPolicy::SetRules(std::vector<FidelityRule> rules)
{
    m_rules = std::move(rules);
}

void RulesPolicy::SetRaised(std::map<InstanceKey, Fidelity> raised)
{
    m_raised = std::move(raised);
}

Fidelity RulesPolicy::Choose(const CollectiveInstance& instance)
{
    const Fidelity byRules = ChooseByRules(instance);
    const auto raised = m_raised.find(SeriesKeyOf(instance));
    return raised == m_raised.end() ? byRules : std::max(byRules, raised->second);
}

Fidelity RulesPolicy::ChooseByRules(const CollectiveInstance& instance) const
{
    const CollectivePlan& plan = instance.plan;
    const bool interHost = plan.layout->GetHosts() > 1;
    for (const auto& rule : m_rules)
    {
        const bool matches = (!rule.group || *rule.group == instance.record.group) &&
                             (!rule.kind || *rule.kind == plan.spec.kind) &&
                             (!rule.interHost || *rule.interHost == interHost) &&
                             plan.spec.bytes >= rule.minimumBytes &&
                             plan.spec.bytes <= rule.maximumBytes;
        if (matches)
        {
            return rule.fidelity;
        }
    }
    return Fidelity::ANALYTICAL;
}

bool RulesPolicy::MayChoose(Fidelity fidelity) const
{
    return fidelity == Fidelity::ANALYTICAL ||
           std::any_of(m_rules.begin(), m_rules.end(), [fidelity](const FidelityRule& rule) {
               return rule.fidelity == fidelity;
           });
}

TypeId ContentionPolicy::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::ContentionPolicy")
                            .SetParent<FidelityPolicy>()
                            .SetGroupName("Echo")
                            .AddConstructor<ContentionPolicy>();
    return tid;
}

void ContentionPolicy::SetContended(std::set<InstanceKey> contended, Fidelity fidelity)
{
    m_contended = std::move(contended);
    m_fidelity = fidelity;
}

Fidelity ContentionPolicy::Choose(const CollectiveInstance& instance)
{
    return m_contended.count(KeyOf(instance)) > 0 ? m_fidelity : Fidelity::ANALYTICAL;
}

bool ContentionPolicy::MayChoose(Fidelity fidelity) const
{
    return fidelity == Fidelity::ANALYTICAL || (fidelity == m_fidelity && !m_contended.empty());
}

} // namespace echo
} // namespace ns3
