// SPDX-License-Identifier: GPL-2.0-only
// Rings that come back to the NIC they left by (NCCL_CROSS_NIC=0), and what NCCL makes of them.
#include "estimator-fixtures.h"

#include "ns3/echo-error.h"
#include "ns3/echo-nccl-environment.h"
#include "ns3/echo-nccl-tuner.h"
#include "ns3/echo-profile-reader.h"

#include <gtest/gtest.h>

using namespace ns3::echo;

namespace
{

// Four GPUs with a NIC and a processor each: a ring of 6 GB/s for each of the 12 ordered pairs,
// and twice the channels. Two GPUs have two such pairs; one has none, and its NIC for itself.
TEST(ReturnPaths, AreOneForEachPairOfGpus)
{
    NcclEnvironment nccl =
        DeduceNcclEnvironment({true, 450, 25, 4, 4, true, {}}, GpuGeneration::HOPPER);
    EXPECT_EQ(NcclChannels(nccl, EvenShape(16, 4, 4)), 8u);
    ReturnByOwnNic("GH200-96GB", {true, 450, 25, 4, 4, true, {}}, nccl);
    const NetPaths four = NetPathsOf(nccl, EvenShape(16, 4, 4));
    EXPECT_EQ(four.perNic, 3);
    EXPECT_EQ(four.GBps, 6);
    EXPECT_EQ(four.treeIntraGBps, 12);
    EXPECT_EQ(NcclChannels(nccl, EvenShape(16, 4, 4)), 24u);
    EXPECT_EQ(NetPathsOf(nccl, EvenShape(8, 4, 4)).perNic, 1);
    EXPECT_EQ(NcclChannels(nccl, EvenShape(8, 4, 4)), 4u);
    EXPECT_EQ(NetPathsOf(nccl, EvenShape(4, 4, 4)).GBps, 24);
    EXPECT_EQ(NcclChannels(nccl, EvenShape(4, 4, 4)), 2u);
}

TEST(ReturnPaths, AreKnownForGraceHopperOnly)
{
    NcclEnvironment nccl;
    EXPECT_THROW(ReturnByOwnNic("H100-SXM5-80GB", {true, 450, 50, 8, 8, true, {}}, nccl),
                 InputError);
    EXPECT_THROW(ReturnByOwnNic("GH200-96GB", {true, 450, 25, 4, 2, true, {}}, nccl), InputError);
}

// All-reduces of Alps in 2025 (calibration/tables/alps-gh200-*.csv) jump where NCCL leaves the tree
// for the ring: after so many MiB, twice as many being the next size measured.
TEST(ReturnPaths, MoveNcclsChangeFromTreeToRingToWhereAlpsHasIt)
{
    struct Border
    {
        uint32_t hosts;
        uint64_t mebibytes;
    };

    const MachineProfile alps =
        ReadProfile(YamlNode::LoadFile(SourceFile("calibration/profiles/alps-gh200.yaml")));
    for (const Border& border : {Border{4, 8},
                                 Border{8, 8},
                                 Border{16, 32},
                                 Border{32, 128},
                                 Border{64, 256},
                                 Border{128, 1024}})
    {
        const NcclTuner tuner(alps.nccl, EvenShape(4 * border.hosts, border.hosts, 4));
        const auto algorithmOf = [&](uint64_t mebibytes) {
            return tuner.Choose(CollectiveKind::ALL_REDUCE, mebibytes << 20).algorithm;
        };
        EXPECT_EQ(algorithmOf(border.mebibytes), CollectiveAlgorithmKind::TREE) << border.hosts;
        EXPECT_EQ(algorithmOf(2 * border.mebibytes), CollectiveAlgorithmKind::RING) << border.hosts;
    }
}

} // namespace
