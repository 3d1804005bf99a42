// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_PLAN_CHECK_H
#define ECHO_PLAN_CHECK_H

#include "echo-training-plan.h"

#include <cstdint>
#include <string>

namespace ns3
{
namespace echo
{

// Parts of TrainingPlan::Check().

/** @throws InputError that has @p key of the generator's block as item */
[[noreturn]] void Refuse(const std::string& key,
                         const std::string& found,
                         const std::string& expected);

/** @throws InputError if @p divisor, that of key @p divisorKey, does not divide @p value */
void RequireDivisible(const std::string& key,
                      uint64_t value,
                      const std::string& divisorKey,
                      uint64_t divisor);

/** @throws InputError experts that do not fit the degrees, or their keys without experts */
void CheckExperts(const TrainingPlan& plan);

} // namespace echo
} // namespace ns3

#endif /* ECHO_PLAN_CHECK_H */
