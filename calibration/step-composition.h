// SPDX-License-Identifier: GPL-2.0-only
#ifndef STEP_COMPOSITION_H
#define STEP_COMPOSITION_H

#include "step-table.h"

#include <iosfwd>

namespace ns3
{
namespace echo
{

/**
 * Writes how far the steps of a table are sums of fixed times, as a program adds them up, rather
 * than measured one by one.
 *
 * Of plans that differ in layers a stage (l) and micro-batches (m) only, step(l, m) - step(l, m') -
 * step(l', m) + step(l', m') over (l - l') (m - m') is the time of a layer and micro-batch. It is
 * written for each hidden size, tensor degree and micro-batch, least to largest over all corners of
 * all plans. Of plans that differ in data ranks only, the difference is the time of the gradients'
 * all-reduce: the largest spread of it over micro-batches and their number is written.
 */
void WriteStepComposition(std::ostream& out, const StepTable& table);

} // namespace echo
} // namespace ns3

#endif /* STEP_COMPOSITION_H */
