// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_REPRESENTATIVE_RANKS_H
#define ECHO_REPRESENTATIVE_RANKS_H

#include "ns3/echo-scenario.h"

namespace ns3
{
namespace echo
{

/**
 * Leaves one rank of each program in a scenario whose ranks of equal programs do the same at the
 * same time (a generated step): a collective whose members are all represented by one rank becomes
 * the time that the cost model gives it on the full group, as all of its members reach it together;
 * one with several representatives synchronises them and takes the time of the full group. Messages
 * and small groups stay what they are. Contention between communications is not watched.
 * @throws UnsupportedError for all-to-all-v, whose members differ
 */
void KeepRepresentatives(Scenario& scenario);

} // namespace echo
} // namespace ns3

#endif /* ECHO_REPRESENTATIVE_RANKS_H */
