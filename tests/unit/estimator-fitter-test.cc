// SPDX-License-Identifier: GPL-2.0-only
// The fit of profiles (only where Ceres is).

#include "estimator-fixtures.h"

#include "ns3/echo-error.h"
#include "ns3/echo-nccl-environment.h"
#include "ns3/echo-nccl-tests-reader.h"
#include "ns3/echo-profile-fitter.h"

#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;

namespace
{

/** What nccl-tests would print on a machine with exactly these constants. */
std::vector<Measurement> Simulate(const MachineProfile& truth, double factor = 1)
{
    std::vector<Measurement> rows;
    for (const auto& [ranks, hosts] : {std::pair{4u, 1u}, {8u, 1u}, {16u, 2u}, {32u, 4u}})
    {
        for (uint64_t bytes = 1024; bytes <= uint64_t{1} << 30; bytes *= 2)
        {
            Measurement row;
            row.ranks = ranks;
            row.hosts = hosts;
            row.bytes = bytes;
            rows.push_back(row);
        }
    }
    const std::vector<double> times = EstimateRows(truth, rows, "tuner-exactly");
    for (size_t i = 0; i < rows.size(); ++i)
    {
        rows[i].outOfPlaceUs = factor * times[i];
    }
    return rows;
}

MachineProfile Prior()
{
    NcclEnvironment nccl;
    nccl.version = "2.10";
    MachineProfile prior = MakePriorProfile(nccl, 240, 22);
    prior.nicsPerHost = 8;
    return prior;
}

TEST(ProfileFitter, FindsAMachineAgain)
{
    MachineProfile truth = Prior();
    truth.constants.gpuGBps = 200;
    truth.constants.nicGBps = 17;
    truth.constants.setupUs = 9;
    truth.constants.protocols[2].interStepUs = 25;
    const std::vector<Measurement> rows = Simulate(truth);
    const MachineProfile fitted = ProfileFitter(Prior()).Fit(rows).profile;
    EXPECT_NEAR(fitted.constants.gpuGBps, 200, 4);
    EXPECT_NEAR(fitted.constants.nicGBps, 17, 0.4);
    EXPECT_EQ(fitted.residuals.size(), 8u); // four scales, from 1 MiB and all sizes
    for (const ResidualStatistics& residual :
         ComputeResiduals(rows, EstimateRows(fitted, rows, "tuner-exactly"), 0))
    {
        EXPECT_LT(residual.meanPercent, 1) << residual.ranks;
    }
    ASSERT_EQ(fitted.ranges.size(), 1u);
    EXPECT_EQ(fitted.ranges[0].maxRanks, 32u);
    EXPECT_EQ(fitted.ranges[0].minLocalRanks, 4u);
}

TEST(ProfileFitter, PredictsAScaleThatItHasNotSeen)
{
    MachineProfile truth = Prior();
    truth.constants.nicGBps = 17;
    truth.constants.setupPerChannelUs = 1;
    for (const HeldOutScale& held : LeaveOneScaleOut(ProfileFitter(Prior()), Simulate(truth)))
    {
        EXPECT_LT(held.large.meanPercent, 3) << held.large.ranks;
        EXPECT_EQ(held.large.rows, 11u);
        EXPECT_EQ(held.all.rows, 21u);
    }
}

TEST(ProfileFitter, AzureTableIsWithinTheBarWhenAScaleIsHeldOut)
{
    NcclEnvironment nccl = DeduceNcclEnvironment({true, 300, 25, 8, 8}, GpuGeneration::AMPERE);
    nccl.version = "2.10";
    nccl.cpu = CpuVendor::AMD;
    MachineProfile prior = MakePriorProfile(nccl, 240, 22.5); // 0.8 and 0.9 of the links
    prior.nicsPerHost = 8;
    prior.oneThreadPerHost = true;
    const ProfileFitter fitter(prior);
    const std::vector<Measurement> rows =
        CleanUp(ReadNcclTests(SourceFile("calibration/tables/azure-ndv4-a100-all-reduce.csv"), {}))
            .rows;
    const MachineProfile fitted = fitter.Fit(rows).profile;
    EXPECT_EQ(fitted.residuals.size(), 10u);
    for (const ResidualStatistics& residual : fitted.residuals)
    {
        EXPECT_LE(residual.meanPercent, residual.minBytes > 0 ? 4 : 10) << residual.ranks;
    }
    // The 32 GPUs are predicted from 2 to 16, the 16 from the others, and so on.
    for (const HeldOutScale& held : LeaveOneScaleOut(fitter, rows))
    {
        EXPECT_LE(held.large.meanPercent, 6) << held.large.ranks;
        EXPECT_LE(held.all.meanPercent, 12) << held.all.ranks;
    }
}

TEST(ProfileFitter, OneWildRowChangesLittle)
{
    std::vector<Measurement> rows = Simulate(Prior());
    const double before = ProfileFitter(Prior()).Fit(rows).profile.constants.nicGBps;
    rows.back().outOfPlaceUs *= 5;
    EXPECT_NEAR(ProfileFitter(Prior()).Fit(rows).profile.constants.nicGBps, before, 0.05 * before);
}

TEST(ProfileFitter, GivesTheSameBytesTwiceAndNeedsRows)
{
    const std::vector<Measurement> rows = Simulate(Prior(), 1.1);
    const ProfileFitter fitter(Prior());
    EXPECT_EQ(FormatProfile(fitter.Fit(rows).profile), FormatProfile(fitter.Fit(rows).profile));
    EXPECT_THROW(fitter.Fit({}), InputError);
    EXPECT_TRUE(LeaveOneScaleOut(fitter, {rows.front()}).empty());
}

} // namespace
