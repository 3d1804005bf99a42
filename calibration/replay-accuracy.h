// SPDX-License-Identifier: GPL-2.0-only
#ifndef REPLAY_ACCURACY_H
#define REPLAY_ACCURACY_H

#include "ns3/echo-kineto-importer.h"
#include "ns3/echo-records.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** One replay of a recorded step beside what was measured. */
struct ReplayVariant
{
    std::string name;
    Time step;                                 //!< latest end less earliest start
    std::vector<Time> rankEnds;                //!< by rank, since the earliest start
    std::vector<CollectiveRecord> collectives; //!< as ImportedWorkload::collectives
};

/** A recorded step and its replays. */
struct ReplayAccuracy
{
    ImportedWorkload measured;
    std::vector<ReplayVariant> variants; //!< measured transfers first, then simulated ones
};

/**
 * Replays the recorded step of a scenario: with the measured transfer times, then in analytical,
 * flow and packet fidelity.
 * @param scenario whose workload is imported
 */
ReplayAccuracy CheckReplay(const std::string& scenario);

/** Writes the tables with what they mean, as Markdown. @throws as CheckReplay() */
void WriteReplayAccuracy(std::ostream& out, const std::string& scenario);

} // namespace echo
} // namespace ns3

#endif /* REPLAY_ACCURACY_H */
