// SPDX-License-Identifier: GPL-2.0-only
#include "echo-sampled-policy.h"

#include "ns3/abort.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(SampledPolicy);

TypeId SampledPolicy::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::SampledPolicy")
            .SetParent<FidelityPolicy>()
            .SetGroupName("Echo")
            .AddConstructor<SampledPolicy>()
            .AddAttribute("Samples",
                          "Instances of each distinct communication that are sampled",
                          UintegerValue(2),
                          MakeUintegerAccessor(&SampledPolicy::m_wanted),
                          MakeUintegerChecker<uint32_t>(1, 1000))
            .AddAttribute("Fidelity",
                          "packet or flow: what samples run in",
                          StringValue("packet"),
                          MakeStringAccessor(&SampledPolicy::m_fidelity),
                          MakeStringChecker());
    return tid;
}

bool SampledPolicy::LooksAround() const
{
    return true;
}

void SampledPolicy::SetCostModel(Ptr<CostModel> model)
{
    m_model = model;
}

void SampledPolicy::DoDispose()
{
    m_model = nullptr;
    m_samples.clear();
    m_sampled.clear();
    m_inStep.clear();
    FidelityPolicy::DoDispose();
}

SampledPolicy::Key SampledPolicy::KeyOf(const CollectiveInstance& instance)
{
    const CollectivePlan& plan = instance.plan;
    const GroupLayout& layout = *plan.layout;
    std::vector<std::pair<CollectiveKind, uint64_t>> sharing;
    for (const auto& other : instance.sharing)
    {
        sharing.emplace_back(other->plan.spec.kind, other->plan.spec.bytes);
    }
    std::sort(sharing.begin(), sharing.end());
    sharing.erase(std::unique(sharing.begin(), sharing.end()), sharing.end());
    return {plan.spec.kind,
            plan.choice.algorithm,
            plan.choice.protocol,
            plan.choice.channels,
            plan.spec.bytes,
            {layout.GetRanks(), layout.GetHosts(), layout.maxLocal, layout.nicsPerHost},
            static_cast<uint64_t>(std::llround(instance.fabricBytes)),
            std::move(sharing)};
}

Fidelity SampledPolicy::Choose(const CollectiveInstance& instance)
{
    NS_ABORT_MSG_IF(!m_model, "SampledPolicy needs SetCostModel before it chooses");
    if (instance.plan.layout->GetHosts() == 1)
    {
        return Fidelity::ANALYTICAL;
    }
    bool meetsSample = false;
    bool meetsEstimate = false;
    for (const auto& other : instance.sharing)
    {
        const auto sampled = m_sampled.find(other->id);
        meetsEstimate = meetsEstimate || sampled == m_sampled.end();
        meetsSample = meetsSample || (sampled != m_sampled.end() && sampled->second.isWanted);
    }
    const Key key = KeyOf(instance);
    Samples& samples = m_samples[key];
    const auto series = m_inStep.find(SeriesOf(instance));
    const bool isInStep = series != m_inStep.end() && series->second < MOST_IN_STEP;
    const bool isWanted = (samples.begun < m_wanted || isInStep) && !meetsEstimate;
    if (!isWanted && !meetsSample)
    {
        ++(samples.done > 0 ? m_corrected : m_uncorrected);
        return Fidelity::ANALYTICAL;
    }
    ++samples.begun;
    Sample& sample = m_sampled[instance.id];
    sample = {key, isWanted, Simulator::Now()};
    CountInStep(instance, sample);
    return ParseFidelity(m_fidelity);
}

SampledPolicy::Series SampledPolicy::SeriesOf(const CollectiveInstance& instance)
{
    const CollectivePlan& plan = instance.plan;
    return {plan.layout->group->GetId(), plan.spec.kind, plan.spec.bytes};
}

void SampledPolicy::CountInStep(const CollectiveInstance& instance, Sample& sample)
{
    // Begun further apart than one takes alone, they meet little and fair shares are near.
    const Time together = m_model->Estimate(instance.plan).GetTotal();
    for (const auto& other : instance.sharing)
    {
        const auto found = m_sampled.find(other->id);
        const CollectiveSpec& spec = other->plan.spec;
        if (found != m_sampled.end() && spec.kind == instance.plan.spec.kind &&
            spec.bytes == instance.plan.spec.bytes && sample.start - found->second.start < together)
        {
            ++found->second.inStep;
            ++sample.inStep;
        }
    }
}

void SampledPolicy::Observe(const CollectiveInstance& instance, Time duration)
{
    const auto it = m_sampled.find(instance.id);
    if (it == m_sampled.end())
    {
        return;
    }
    if (it->second.inStep > 1)
    {
        ++m_inStep[SeriesOf(instance)];
    }
    else
    {
        m_inStep.erase(SeriesOf(instance));
    }
    Samples& samples = m_samples[it->second.key];
    m_sampled.erase(it);
    const auto estimate =
        static_cast<double>(m_model->Estimate(instance.plan).GetTotal().GetPicoSeconds());
    const double ratio =
        estimate > 0 ? static_cast<double>(duration.GetPicoSeconds()) / estimate : 1;
    samples.least = samples.done == 0 ? ratio : std::min(samples.least, ratio);
    samples.most = std::max(samples.most, ratio);
    samples.sum += ratio;
    ++samples.done;
}

double SampledPolicy::GetCorrection(const CollectiveInstance& instance) const
{
    const auto it = m_samples.find(KeyOf(instance));
    return it == m_samples.end() || it->second.done == 0 ? 1 : it->second.sum / it->second.done;
}

std::vector<std::string> SampledPolicy::GetNotes() const
{
    uint64_t distinct = 0;
    uint64_t sampled = 0;
    double spread = 0;
    for (const auto& [key, samples] : m_samples)
    {
        distinct += samples.done > 0 ? 1 : 0;
        sampled += samples.done;
        spread = std::max(spread, samples.done > 0 ? samples.most / samples.least - 1 : 0);
    }
    if (sampled == 0)
    {
        return {};
    }
    std::ostringstream text;
    text.precision(3);
    text << distinct << " distinct communications were sampled " << sampled << " times in "
         << m_fidelity << " fidelity and stand for " << m_corrected
         << " others; samples of one differ by up to " << 100 * spread << " %";
    if (m_uncorrected > 0)
    {
        text << "; " << m_uncorrected << " more met estimates or running samples before any "
             << "like them was sampled, and are estimated as they are";
    }
    return {text.str()};
}

} // namespace echo
} // namespace ns3
