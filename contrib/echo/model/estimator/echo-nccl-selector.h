// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_NCCL_SELECTOR_H
#define ECHO_NCCL_SELECTOR_H

#include "echo-machine-profile.h"
#include "echo-nccl-tuner.h"
#include "echo-white-box-cost-model.h"

#include "ns3/echo-collective-selector.h"

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * NCCL's choice on a machine with a profile.
 *
 * Rule "tuner": what NCCL's tuner of the profile's version picks, which is what the machine does,
 * well or not. As a wrong pick of the tuner can make more bytes take less time (an algorithm kept
 * for too long), a pick that the tuner makes for some larger size is taken earlier where the cost
 * model finds it cheaper; so times never fall when bytes grow. Rule "tuner-exactly": without that.
 * Rule "least-cost": the cheapest by the cost model. Rule "profile": as the profile says.
 *
 * Grouped sends and receives: the cheaper of LL and Simple. Channels: as many as NCCL uses for the
 * bytes. Chunks of trees and chains: NCCL's.
 */
class NcclSelector : public CollectiveSelector
{
  public:
    static TypeId GetTypeId();
    /** To be called before the first choice. @param model with its profile set */
    void SetCostModel(Ptr<WhiteBoxCostModel> model);
    CollectiveChoice Select(const CollectiveSpec& spec, const GroupLayout& layout) const override;

    /** @return the choice for a group's plain numbers */
    CollectiveChoice SelectFor(const CollectiveSpec& spec, const GroupShape& shape) const;

  protected:
    void DoDispose() override;

  private:
    /** What NCCL picks up to a size, and all it picks from there on. */
    struct Interval
    {
        double maxBytes;
        std::vector<AlgorithmProtocol> picks; //!< first: at this size
    };

    using Intervals = std::vector<Interval>;
    using PickKey = std::tuple<CollectiveKind,
                               CollectiveAlgorithmKind,
                               CollectiveProtocol,
                               uint32_t,
                               uint32_t,
                               uint32_t,
                               uint32_t>;
    using ChoiceKey = std::tuple<PickKey, uint64_t, uint32_t>;

    const Intervals& GetIntervals(const CollectiveSpec& spec, const GroupShape& shape) const;
    AlgorithmProtocol Pick(const CollectiveSpec& spec, const GroupShape& shape) const;
    AlgorithmProtocol Cheapest(const std::vector<AlgorithmProtocol>& candidates,
                               const CollectiveSpec& spec,
                               const GroupShape& shape) const;
    SelectionRule GetRule() const;
    uint32_t ChannelsOf(AlgorithmProtocol pick, double bytes, const GroupShape& shape) const;

    Ptr<WhiteBoxCostModel> m_model; //!< compares costs
    std::string m_rule;             //!< attribute Rule
    mutable std::map<PickKey, Intervals> m_intervals;
    mutable std::map<ChoiceKey, CollectiveChoice> m_choices;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_NCCL_SELECTOR_H */
