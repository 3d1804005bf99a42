// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_MEASUREMENT_H
#define ECHO_MEASUREMENT_H

#include "echo-machine-profile.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** One size of one run of nccl-tests, as printed. */
struct Measurement
{
    CollectiveKind kind{CollectiveKind::ALL_REDUCE};
    uint32_t ranks{0};
    uint32_t hosts{0};
    bool oneThread{false};     //!< one thread issued the kernels of all ranks
    bool threadKnown{false};   //!< the log says whether one did
    bool singleCall{false};    //!< each call was timed alone, its launch included
    uint64_t bytes{0};         //!< as nccl-tests counts size
    double outOfPlaceUs{0};    //!< 0: not printed
    double inPlaceUs{0};       //!< 0: not printed
    uint64_t wrongElements{0}; //!< above 0: the run returned wrong results
    std::string ncclRelease;   //!< "2.29" if the log says it, else empty
    std::string tunerRelease;  //!< the same, where rows of several releases are put together
    std::string file;          //!< where from
    uint32_t line{0};          //!< where from
};

/**
 * @return the time that counts: the lower of out-of-place and in-place, as whatever disturbs a run
 *         (a first call, other jobs) only lengthens it
 */
double TimeOf(const Measurement& row);

/** Rows that count and how many did not. */
struct CleanMeasurements
{
    std::vector<Measurement> rows; //!< by operation, ranks, hosts, bytes
    uint32_t wrong{0};             //!< left out: wrong results
    uint32_t empty{0};             //!< left out: no bytes or no time
    uint32_t falling{0};           //!< left out: more bytes took less time
    uint32_t alone{0};             //!< left out: one rank only, a copy
};

/**
 * Leaves out rows of no bytes or time, of a single rank, of wrong results, and those that took more
 * than 1.25 times as long as some larger size of the same operation and scale (of a dense sweep:
 * the median of the sizes from 2/3 to 3/2 of it): a warm-up call, a disturbed run, or a choice of
 * NCCL's that does not suit the machine; no model in which time grows with bytes can represent
 * them. Of repeated sizes the fastest counts.
 */
CleanMeasurements CleanUp(std::vector<Measurement> rows);

} // namespace echo
} // namespace ns3

#endif /* ECHO_MEASUREMENT_H */
