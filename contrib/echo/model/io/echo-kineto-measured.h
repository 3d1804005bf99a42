// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_KINETO_MEASURED_H
#define ECHO_KINETO_MEASURED_H

#include "echo-kineto-collectives.h"
#include "echo-kineto-importer.h"

#include <map>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Takes the time that every rank's GPU still worked for earlier steps out of the imported one: a
 * step that starts on idle GPUs takes as long, less that time.
 */
void DropCommonBacklog(std::vector<KinetoRankStep>& steps, KinetoHealth& health);

/** @throws InputError if the step has no kernels */
void AddRankHealth(const KinetoRankStep& step, const std::string& stepName, KinetoHealth& health);

/** Shifts clocks by the median difference of the ends of collectives, where they differ. */
void AlignClocks(std::vector<KinetoRankStep>& steps,
                 const std::vector<KinetoInstance>& instances,
                 KinetoHealth& health);

/** Fills ranks and spans; from then on a step's clock shift leads to time since the first start. */
void SetMeasuredRanks(std::vector<KinetoRankStep>& steps, ImportedWorkload& result);

void SetMeasuredCollectives(const std::vector<KinetoRankStep>& steps,
                            const std::vector<KinetoInstance>& instances,
                            const std::map<KinetoGroup, GroupId>& groups,
                            ImportedWorkload& result);

} // namespace echo
} // namespace ns3

#endif /* ECHO_KINETO_MEASURED_H */
