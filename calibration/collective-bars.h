// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_COLLECTIVE_BARS_H
#define ECHO_COLLECTIVE_BARS_H

#include "collective-accuracy.h"

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/** What the mean absolute error of the rows of so many bytes and more should be at most. */
struct AccuracyBar
{
    uint64_t minBytes{0};
    double percent{0};
};

/** Heads the table of all bars. */
void WriteBarColumns(std::ostream& out);

/**
 * Writes a row of that table for each bar: errors over all operations and scales of some rows, by
 * Echo, NCCL's own model and an alpha-beta fit, and whether Echo meets it.
 * @param kind in sample, extrapolated or transferred
 * @param estimates Echo's, us, by row
 */
void WriteBars(std::ostream& out,
               const std::string& kind,
               const std::string& machine,
               const std::vector<AccuracyBar>& bars,
               const std::vector<Measurement>& rows,
               const std::vector<double>& estimates,
               const Baselines& baselines);

/** The rows of several machines counted together, each row once, beside the machines' own. */
class PooledRows
{
  public:
    /** @param pool whose rows they are too; empty: none */
    void Add(const std::string& kind,
             const std::string& pool,
             const std::vector<AccuracyBar>& bars,
             const std::vector<Measurement>& rows,
             const std::vector<double>& estimates,
             const Baselines& baselines);

    /** Writes a row of the table of bars for each pool and bar, in the order of kinds and pools. */
    void Write(std::ostream& out) const;

  private:
    struct Pool
    {
        std::vector<AccuracyBar> bars;
        std::vector<Measurement> rows;
        std::vector<double> estimates;
        Baselines baselines;
    };

    std::map<std::pair<std::string, std::string>, Pool> m_pools; //!< by kind and name
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_COLLECTIVE_BARS_H */
