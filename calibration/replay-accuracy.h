// SPDX-License-Identifier: GPL-2.0-only
#ifndef REPLAY_ACCURACY_H
#define REPLAY_ACCURACY_H

#include "ns3/echo-kineto-importer.h"
#include "ns3/echo-records.h"

#include <string>
#include <vector>

/** One replay of a recorded step beside what was measured. */
struct ReplayVariant
{
    std::string name;
    ns3::Time step;                                       //!< latest end less earliest start
    std::vector<ns3::Time> rankEnds;                      //!< by rank, since the earliest start
    std::vector<ns3::echo::CollectiveRecord> collectives; //!< as ImportedWorkload::collectives
};

/** A recorded step and its replays. */
struct ReplayAccuracy
{
    ns3::echo::ImportedWorkload measured;
    std::vector<ReplayVariant> variants; //!< measured transfers first, then simulated ones
};

/**
 * Replays the recorded step of a scenario: with the measured transfer times, then in analytical,
 * flow and packet fidelity.
 * @param scenario whose workload is imported
 */
ReplayAccuracy CheckReplay(const std::string& scenario);

/** @return the tables, as Markdown */
std::string FormatReplayAccuracy(const ReplayAccuracy& accuracy);

#endif /* REPLAY_ACCURACY_H */
