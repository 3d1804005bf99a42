// SPDX-License-Identifier: GPL-2.0-only
#ifndef TRAINING_ACCURACY_H
#define TRAINING_ACCURACY_H

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** Training steps measured by one party with one software. */
struct MeasuredSteps
{
    std::string name; //!< for --source
    std::string title;
    std::string table;    //!< CSV: a row a step, columns are keys of the generate block, hosts,
                          //!< cluster and step_s
    std::string scenario; //!< what all rows have in common
    double meanBar{0};    //!< percent that the mean error may be; 0: held out, no bar
    double tailBar{0};    //!< percent that the 90th percentile may be; 0: no such bar
    bool isFull{false};   //!< all ranks are simulated, so that kernels slow beside communication
                          //!< and groups that share NICs slow one another
    bool isListed{true};  //!< every row is written; else only how the errors are spread
};

/** How the rows of a source came out. */
struct StepErrors
{
    std::vector<double> errors; //!< (simulated - measured) / measured, by row
    std::vector<std::string> refused;
};

/**
 * Simulates every row with the analytical fidelity and writes a table.
 * @param full all ranks are simulated, not one of each program
 */
StepErrors WriteStepAccuracy(std::ostream& out, const MeasuredSteps& source, bool full);

/** A row of a source, simulated. */
struct SimulatedStep
{
    double measured{0};  //!< seconds
    double simulated{0}; //!< seconds
};

/**
 * @param part of a row's settings that it must hold; empty: all rows
 * @param stride every how many of these rows is simulated
 * @return the rows that could be
 */
std::vector<SimulatedStep> SimulateSteps(const MeasuredSteps& source,
                                         const std::string& part,
                                         uint32_t stride);

/** Writes one line of the table of sources. */
void WriteStepSummary(std::ostream& out, const MeasuredSteps& source, const StepErrors& result);

} // namespace echo
} // namespace ns3

#endif /* TRAINING_ACCURACY_H */
