// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_SAMPLED_POLICY_H
#define ECHO_SAMPLED_POLICY_H

#include "echo-fidelity-policy.h"

#include "ns3/echo-cost-model.h"

#include <array>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * The first instances of each distinct communication run in the sampled fidelity; the mean ratio of
 * their times to the estimate corrects later ones, which run analytically and share links with one
 * another (LinkSharing). What a sample lost to others that were sampled beside it, now and then or
 * all the time, is taken out of its time first: the ratio says how good the estimate is, not whom
 * it met.
 *
 * Distinct are (kind, algorithm, protocol, channels, bytes; ranks, hosts, ranks of a host, NICs,
 * bytes on fabric links; kinds and bytes of what shares its links when it starts, each once). What
 * meets one that is being sampled is sampled too, so that they see each other, but not what meets
 * the latter; and no sample is begun for its own sake on a link with an estimate. Where they meet
 * all the same, estimates have what samples leave of a link. Inside a host everything is
 * analytical.
 *
 * Of three or more alike that share links and begin together, who comes first by a little gains on
 * the others each time: switches serve in the order of arrival, so a lead of d over m others
 * becomes m d with each message that waits for an earlier one. Estimates in step stay so, and all
 * idle at the same time. So what was in step when it was sampled last is sampled again, until its
 * members have drifted apart or have had MOST_IN_STEP samples in a row.
 */
class SampledPolicy : public FidelityPolicy
{
  public:
    static TypeId GetTypeId();
    Fidelity Choose(const CollectiveInstance& instance) override;
    bool LooksAround() const override;
    void Observe(const CollectiveInstance& instance, Time duration) override;
    double GetCorrection(const CollectiveInstance& instance) const override;
    void SetCostModel(Ptr<CostModel> model) override;
    std::vector<std::string> GetNotes() const override;

  protected:
    void DoDispose() override;

  private:
    using Key = std::tuple<CollectiveKind,
                           CollectiveAlgorithmKind,
                           CollectiveProtocol,
                           uint32_t,
                           uint64_t,
                           std::array<uint32_t, 4>,
                           uint64_t,
                           std::vector<std::pair<CollectiveKind, uint64_t>>>;

    /** What the samples of one distinct communication said. */
    struct Samples
    {
        uint32_t begun{0};
        uint32_t done{0};
        double sum{0}; //!< of ratios
        double least{0};
        double most{0};
    };

    /** A communication that is being sampled. */
    struct Sample
    {
        Key key;
        bool isWanted;      //!< not only because it met one that is
        Time start;         //!< when it began
        uint32_t inStep{0}; //!< others like it on its links that began less than its time apart
    };

    /** What repeats: group, operation, bytes. */
    using Series = std::tuple<GroupId, CollectiveKind, uint64_t>;

    static constexpr uint32_t MOST_IN_STEP = 16; //!< doublings from less than a packet's time

    static Key KeyOf(const CollectiveInstance& instance);
    static Series SeriesOf(const CollectiveInstance& instance);
    /** Counts those among which a sample begins. */
    void CountInStep(const CollectiveInstance& instance, Sample& sample);

    Ptr<CostModel> m_model;
    uint32_t m_wanted{2};                     //!< attribute Samples
    std::string m_fidelity;                   //!< attribute Fidelity
    std::map<Key, Samples> m_samples;         //!< by distinct communication
    std::map<CollectiveId, Sample> m_sampled; //!< running
    std::map<Series, uint32_t> m_inStep;      //!< samples in a row that were in step with others
    uint64_t m_corrected{0};                  //!< instances that ran analytically, as samples say
    uint64_t m_uncorrected{0};                //!< and without a sample of their like
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_SAMPLED_POLICY_H */
