// SPDX-License-Identifier: GPL-2.0-only
#ifndef HYBRID_ACCURACY_H
#define HYBRID_ACCURACY_H

#include <iosfwd>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Runs a scenario in packet, flow, hybrid (each policy) and analytical fidelity and writes step
 * times and CPU costs as a Markdown table, with what each says beside its figures.
 * @param changes KEY=VALUE, as --set takes them
 * @throws InputError if the scenario is none
 */
void WriteHybridAccuracy(std::ostream& out,
                         const std::string& scenario,
                         const std::vector<std::string>& changes = {});

} // namespace echo
} // namespace ns3

#endif /* HYBRID_ACCURACY_H */
