// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_WHITE_BOX_COST_MODEL_H
#define ECHO_WHITE_BOX_COST_MODEL_H

#include "echo-cost-model.h"
#include "echo-machine-profile.h"
#include "echo-nccl-picks.h"
#include "echo-nic-loads.h"
#include "echo-white-box-terms.h"

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace ns3
{
namespace echo
{

/** What NCCL's picks by size depend on. */
using PickKey = std::tuple<CollectiveKind,
                           CollectiveAlgorithmKind,
                           CollectiveProtocol,
                           uint32_t,
                           uint32_t,
                           uint32_t,
                           uint32_t>;

PickKey PickKeyOf(const CollectiveSpec& spec, const GroupShape& shape);

/**
 * Costs from a calibrated profile by the white-box formulas (echo-white-box-terms.h).
 *
 * An estimate for bytes, ranks, hosts or ranks a host outside the measured range of its operation,
 * for an operation that was not measured, on slower links than those measured, or on hosts with
 * different numbers of ranks is marked extrapolated with the reason; it still follows the structure
 * of the algorithm with the constants of the machine.
 *
 * Times never fall when bytes grow: what NCCL's tuner picks takes at most the least time that a
 * larger size takes at the start of the sizes of another pick.
 */
class WhiteBoxCostModel : public CostModel
{
  public:
    static TypeId GetTypeId();
    /** To be called before the first estimate. */
    void SetProfile(MachineProfilePtr profile);

    /**
     * For grouped sends and receives in a profile that has none measured: their transfer takes at
     * least what @p model (DerivedCostModel) gives for the links; may be null.
     */
    void SetFallback(Ptr<CostModel> model);

    MachineProfilePtr GetProfile() const
    {
        return m_profile;
    }

    CostBreakdown Estimate(const CollectivePlan& plan) const override;

    bool KnowsFabric() const override
    {
        return false;
    }

    /**
     * @return the terms of a query, without the marks; what Estimate rounds to picoseconds
     * @param shape the group's plain numbers
     */
    CostTerms GetTerms(const GroupShape& shape, CostQuery query) const;
    /** @return NCCL's picks by size for what a spec leaves open, with their NcclPick::mostUs */
    const std::vector<NcclPick>& GetPicks(const CollectiveSpec& spec,
                                          const GroupShape& shape,
                                          const LinkRates& links = {}) const;
    /** @return the terms of a choice, as GetTerms, but never of a time that falls */
    CostTerms GetTermsOf(const CollectiveSpec& spec,
                         const CollectiveChoice& choice,
                         const GroupShape& shape,
                         const CostQuery& query) const;
    /** @return why an estimate is outside the measured range; empty if it is inside */
    std::string ExplainExtrapolation(CollectiveKind kind,
                                     uint64_t bytes,
                                     const GroupShape& shape) const;
    /** @return the slowest links of a group's hosts */
    const LinkRates& GetLinks(const GroupLayoutPtr& layout) const;

  protected:
    void DoDispose() override;

  private:
    /// kind, algorithm, protocol, asked, channels; bytes; ranks, hosts; local ranks, NICs;
    /// rates of links; of groups with uneven hosts the layout and the root
    using Key = std::array<uint64_t, 8>;
    /// what picks depend on, with channels and rates of links
    using PicksKey = std::tuple<PickKey, uint32_t, double, double>;

    struct KeyHash
    {
        size_t operator()(const Key& key) const;
    };

    bool UsesFallback(const CollectivePlan& plan) const;
    /** @return why the links make an estimate one outside the measured machine, or empty */
    std::string ExplainLinks(const GroupShape& shape, const LinkRates& links) const;
    /** @return that a group's hosts have different numbers of members, or empty */
    static std::string ExplainUneven(const GroupLayout& layout);
    /** @return terms of grouped sends and receives: least of the protocols that a plan leaves open
     */
    CostTerms GetPairTerms(const CollectivePlan& plan,
                           const GroupShape& shape,
                           const CostQuery& query) const;
    /**
     * @return what the busiest NIC of a group with uneven hosts needs for the bytes, us; of what
     *         NCCL picks for fewer bytes, too
     */
    double GetNicUs(const CollectivePlan& plan, const GroupShape& shape) const;
    /** Lets no terms beat GetNicUs. */
    void BoundByNics(const CollectivePlan& plan, const GroupShape& shape, CostTerms& terms) const;
    CostBreakdown Compute(const CollectivePlan& plan,
                          const GroupShape& shape,
                          const LinkRates& links) const;

    MachineProfilePtr m_profile;                                     //!< constants
    Ptr<CostModel> m_fallback;                                       //!< of the links
    bool m_backToBack{false};                                        //!< attribute BackToBack
    bool m_issueAsMeasured{true};                                    //!< attribute IssueAsMeasured
    mutable std::map<PicksKey, std::vector<NcclPick>> m_picks;       //!< by size
    mutable std::unordered_map<Key, CostBreakdown, KeyHash> m_cache; //!< never iterated
    mutable std::unordered_map<GroupLayoutPtr, LinkRates> m_linksOfGroup; //!< never iterated
    mutable NicLoads m_nicLoads; //!< of groups with uneven hosts
};

/** @return what the formulas ask of a plan */
CostQuery QueryOf(const CollectivePlan& plan);

} // namespace echo
} // namespace ns3

#endif /* ECHO_WHITE_BOX_COST_MODEL_H */
