// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_DERIVED_TREE_H
#define ECHO_DERIVED_TREE_H

#include "echo-derived-terms.h"

namespace ns3
{
namespace echo
{

/** @return the terms of an all-reduce or a barrier of at least two ranks on a double binary tree */
CostTerms EvaluateDerivedTree(const CollectivePlan& plan,
                              const PlanGeometry& geometry,
                              const WireFormat& wire);

} // namespace echo
} // namespace ns3

#endif /* ECHO_DERIVED_TREE_H */
