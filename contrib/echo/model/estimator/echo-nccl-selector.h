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
 * well or not. A wrong pick of the tuner (an algorithm kept for too long) can make more bytes take
 * less time; WhiteBoxCostModel sees to it that times never fall when bytes grow. Rule
 * "least-cost": the cheapest by the cost model. Rule "profile": as the profile says.
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
    using ChoiceKey = std::tuple<PickKey, uint64_t, uint32_t>;

    const std::vector<AlgorithmProtocol>& GetEnabled(const CollectiveSpec& spec,
                                                     const GroupShape& shape) const;
    AlgorithmProtocol Pick(const CollectiveSpec& spec, const GroupShape& shape) const;
    AlgorithmProtocol Cheapest(const std::vector<AlgorithmProtocol>& candidates,
                               const CollectiveSpec& spec,
                               const GroupShape& shape) const;
    SelectionRule GetRule() const;
    uint32_t ChannelsOf(AlgorithmProtocol pick, double bytes, const GroupShape& shape) const;

    Ptr<WhiteBoxCostModel> m_model; //!< compares costs
    std::string m_rule;             //!< attribute Rule
    mutable std::map<PickKey, std::vector<AlgorithmProtocol>> m_enabled;
    mutable std::map<ChoiceKey, CollectiveChoice> m_choices;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_NCCL_SELECTOR_H */
