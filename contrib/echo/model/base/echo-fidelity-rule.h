// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_FIDELITY_RULE_H
#define ECHO_FIDELITY_RULE_H

#include "echo-enums.h"

#include <cstdint>
#include <limits>
#include <optional>

namespace ns3
{
namespace echo
{

/**
 * One line of the `rules` policy of hybrid fidelity: what it says must all match; what it leaves
 * open matches everything. The first rule that matches decides.
 */
struct FidelityRule
{
    std::optional<GroupKind> group;     //!< dimension of the group
    std::optional<CollectiveKind> kind; //!< operation
    std::optional<bool> interHost;      //!< true: crosses hosts; false: stays in one
    uint64_t minimumBytes{0};           //!< inclusive
    uint64_t maximumBytes{std::numeric_limits<uint64_t>::max()}; //!< inclusive
    Fidelity fidelity{Fidelity::ANALYTICAL};                     //!< analytical, flow or packet
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_FIDELITY_RULE_H */
