// SPDX-License-Identifier: GPL-2.0-only
#ifndef PROFILE_SEARCH_H
#define PROFILE_SEARCH_H

#include "ns3/echo-measurement.h"
#include "ns3/echo-nccl-environment.h"
#include "ns3/echo-profile-fitter.h"

#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** What NCCL does by itself comes first; rows must say clearly that something else was so. */
constexpr double SURELY_LESS = 0.98;

/**
 * @return largest messages between hosts that need no serving that are tried, bytes: 0 where none
 *         needs it; 1, all messages do, as where a host matches them in software
 */
std::vector<double> ListEagerSizes();

/** What a fabric whose messages need serving may do beside, to be fitted; 0: it does not. */
struct FabricHabits
{
    double burstBytes{0}; //!< of a tree's channel, which hosts pass on together
    double copyUs{0};     //!< a host's copy of a message of LL
};

/** @return what is tried of a fabric that serves messages above @p eagerBytes (0: none) */
std::vector<FabricHabits> ListHabits(double eagerBytes);

/**
 * @return what is left of a fit, a tenth more for each constant that few machines have: where
 *         messages are served, where hosts copy them, and where trees pass on bursts
 */
double BelievedCost(const ProfileFitter::Result& result);

/** What a user says of the machine measured; "auto": what the logs say, else what fits best. */
struct SearchOptions
{
    std::string nccl{"auto"};       //!< release
    std::string cpu{"auto"};        //!< amd, intel, other
    std::string ll128{"auto"};      //!< on, off: between hosts
    std::string crossNic{"auto"};   //!< on, off (NCCL_CROSS_NIC=0); auto: on, or as another profile
    std::string eager{"auto"};      //!< bytes, none: largest message that needs no serving
    std::string nvls{"auto"};       //!< on, off; auto: from Hopper on with NVSwitch
    std::string thread{"auto"};     //!< one, several: for rows that do not say it
    std::string selection{"tuner"}; //!< tuner, least-cost
};

/** @throws InputError naming the option that is not one of its words */
void CheckSearchOptions(const SearchOptions& options);

/** The best fit, and what it started from. */
struct SearchResult
{
    ProfileFitter::Result best;
    MachineProfile prior;
    std::vector<Measurement> rows; //!< with the threads that fit best
};

/**
 * Fits, with options that CheckSearchOptions() took, a profile for each NCCL that may have run
 * (release, processor, LL128 between hosts, whether one thread issued all kernels) and fabric
 * (which messages need serving) and keeps the one of least cost; prints each.
 */
SearchResult SearchProfile(const SearchOptions& options,
                           const HostLinks& links,
                           const NcclEnvironment& deduced,
                           const std::vector<Measurement>& rows);

} // namespace echo
} // namespace ns3

#endif /* PROFILE_SEARCH_H */
