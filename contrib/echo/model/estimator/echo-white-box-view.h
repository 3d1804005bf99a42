// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_WHITE_BOX_VIEW_H
#define ECHO_WHITE_BOX_VIEW_H

#include "echo-white-box-terms.h"

#include "ns3/echo-collective-algorithm.h"

#include <cmath>

namespace ns3
{
namespace echo
{

/*
 * Parts of the white-box formulas (echo-white-box-terms.h), by algorithm.
 */

/** The channels of a query. */
struct ChannelUse
{
    double offered{1}; //!< by NCCL, if none are asked for
    double maximum{1}; //!< channels that the collective may use
    double used{1};    //!< channels in use for this many bytes
};

ChannelUse ChannelUseOf(const MachineProfile& profile,
                        const GroupShape& shape,
                        const CostQuery& query);

/** One channel's view of the machine. */
struct ChannelView : public ChannelUse
{
    double intraStep{0};
    double interStep{0};
    double intraRate{1}; //!< bytes a microsecond
    double interRate{1};
    double netStages{1}; //!< messages at once on their way to another host
    double grain{0};
    double exponent{1}; //!< how latency and transfer overlap
};

ChannelView ViewOf(const MachineProfile& profile, const GroupShape& shape, const CostQuery& query);

/** @return launch and set-up of a kernel with so many channels, us */
double SetupOf(const MachineConstants& constants, double channels);
/** @return what a GPU of such a group sustains to the others of its host, GB/s */
double GpuRateOf(const MachineProfile& profile, const GroupShape& shape);

/** What the links need for the bytes alone, us. */
struct Duty
{
    double intra{0}; //!< the busiest GPU's links inside its host
    double inter{0}; //!< the NICs of a host
};

/** @return what no estimate may beat; nothing for links whose rates neither profile nor query says
 */
Duty LeastTransfer(const MachineProfile& profile, const GroupShape& shape, const CostQuery& query);

/** Links carry messages while others are served: the longer hides the other almost wholly. */
constexpr double SIDE_BY_SIDE = 4;

/**
 * @return what a message of LL takes more where the receiving host copies it to its GPU, us
 *
 * Where hosts match messages, those below the rendezvous arrive in memory of the host. Up to
 * FI_CXI_SAFE_DEVMEM_COPY_THRESHOLD (4 KiB; fi_cxi(7)) the processor stores them in the GPU's
 * memory itself; LL has as many bytes of flags as of payload.
 */
inline double CopyOf(const MachineConstants& constants, CollectiveProtocol protocol, double payload)
{
    constexpr double STORED = 4096;
    return protocol == CollectiveProtocol::LL && 2 * payload > STORED ? constants.copyUs : 0;
}

/** @return channels that one process serves: those of a NIC, or all where GPUs share the NICs */
double ServedTogether(const GroupShape& shape, const ChannelView& view);

/** @return (a^q + b^q)^(1/q): the sum for q = 1, nearly the longer for a large q */
inline double Overlap(double a, double b, double q)
{
    return a > 0 && b > 0 ? std::pow(std::pow(a, q) + std::pow(b, q), 1 / q) : a + b;
}

/** Adds a transfer to the term of the link that governs it. */
inline void AddTransfer(CostTerms& terms, double time, bool between)
{
    (between ? terms.inter : terms.intra) += time;
}

CostTerms TreeTerms(const MachineProfile& profile, const GroupShape& shape, const CostQuery& query);
CostTerms ChainTerms(const MachineProfile& profile,
                     const GroupShape& shape,
                     const CostQuery& query);
/** NVLS and NVLS tree. @throws UnsupportedError if the profile has no NVLink SHARP */
CostTerms SwitchTerms(const MachineProfile& profile,
                      const GroupShape& shape,
                      const CostQuery& query);
/** Parallel aggregated trees. */
CostTerms PatTerms(const MachineProfile& profile, const GroupShape& shape, const CostQuery& query);
/** Sets the bytes of an all-to-all-v that the busiest rank moves in its host, the busiest host
 * outside. */
void CountSplits(const CollectivePlan& plan, CostQuery& query);
CostTerms PairwiseTerms(const MachineProfile& profile,
                        const GroupShape& shape,
                        const CostQuery& query);

} // namespace echo
} // namespace ns3

#endif /* ECHO_WHITE_BOX_VIEW_H */
