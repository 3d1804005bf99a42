// SPDX-License-Identifier: GPL-2.0-only
#ifndef COLLECTIVE_ACCURACY_H
#define COLLECTIVE_ACCURACY_H

#include "ns3/echo-machine-profile.h"
#include "ns3/echo-measurement.h"

#include <array>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** Rows that are counted together, each once. */
constexpr const char* ALL_MACHINES = "all of these machines, each row once";

/** A machine measured: its table and the profile fitted to it. */
struct MeasuredMachine
{
    std::string title;
    std::string table;              //!< file
    std::string profile;            //!< file
    std::string pool{ALL_MACHINES}; //!< machines whose rows are counted together too; empty: none
};

/**
 * The plainest model: time = a + b x, with x the bytes over a rank's busiest link in a ring
 * (nccl-tests' bus bandwidth factor times size), and a and b for groups inside and between hosts,
 * fitted on log error to all rows.
 */
class AlphaBetaFit
{
  public:
    explicit AlphaBetaFit(const std::vector<Measurement>& rows);
    /** @return microseconds */
    double Estimate(const Measurement& row) const;

  private:
    std::array<double, 2> m_alpha{}; //!< us; inside, between hosts
    std::array<double, 2> m_beta{};  //!< us a byte
};

class PooledRows;

/** What the plain models expect for measured rows, us. */
struct Baselines
{
    std::vector<Measurement> tuned; //!< rows that NCCL's own model is for
    std::vector<double> nccl;       //!< of each of these
    std::vector<double> plain;      //!< of each row, by the alpha-beta fit; empty without one
};

Baselines EstimateBaselines(const MachineProfile& profile,
                            const AlphaBetaFit* alphaBeta,
                            const std::vector<Measurement>& rows);

/**
 * Writes the tables of one machine as Markdown, and its rows of the table of bars.
 * @throws InputError if a file cannot be read
 */
void WriteAccuracy(std::ostream& out,
                   std::ostream& bars,
                   PooledRows& pooled,
                   const MeasuredMachine& machine);

} // namespace echo
} // namespace ns3

#endif /* COLLECTIVE_ACCURACY_H */
