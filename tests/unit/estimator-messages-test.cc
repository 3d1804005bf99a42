// SPDX-License-Identifier: GPL-2.0-only
// Messages between hosts that cost a host time of its own.

#include "estimator-fixtures.h"

#include "ns3/echo-nccl-chunks.h"
#include "ns3/echo-nccl-tests-reader.h"
#include "ns3/echo-profile-fitter.h"
#include "ns3/echo-white-box-terms.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;

namespace
{

using Kind = CollectiveKind;
using Algorithm = CollectiveAlgorithmKind;
using Protocol = CollectiveProtocol;

constexpr double KIB = 1024;

// LL sends slots of 16 KiB of payload, Simple half of a piece, from 32 KiB to 1 MiB.
TEST(StepMessages, AreSlotsOrSlices)
{
    struct Piece
    {
        Protocol protocol;
        double bytes;
        double count;
        double message;
    };

    for (const Piece& piece : {Piece{Protocol::LL, 4 * KIB, 1, 4 * KIB},
                               Piece{Protocol::LL, 40 * KIB, 3, 16 * KIB},
                               Piece{Protocol::SIMPLE, 16 * KIB, 1, 16 * KIB},
                               Piece{Protocol::SIMPLE, 32 * KIB, 1, 32 * KIB},
                               Piece{Protocol::SIMPLE, 64 * KIB, 2, 32 * KIB},
                               Piece{Protocol::SIMPLE, 1024 * KIB, 2, 512 * KIB},
                               Piece{Protocol::SIMPLE, 4096 * KIB, 4, 1024 * KIB}})
    {
        const StepMessages messages = NcclStepMessages(piece.protocol, piece.bytes);
        EXPECT_EQ(messages.count, piece.count) << piece.bytes;
        EXPECT_EQ(messages.bytes, piece.message) << piece.bytes;
    }
}

double TotalOf(const MachineProfile& profile, const GroupShape& shape, const CostQuery& query)
{
    return EvaluateWhiteBox(profile, shape, query).GetTotal();
}

/**
 * What serving adds to a ring of @p pieceBytes a channel: beside it, (x^4 + s^4)^(1/4) for what
 * takes x with set-up aside and @p served s.
 */
void ExpectServed(const GroupShape& shape, double channels, double pieceBytes, double served)
{
    MachineProfile profile = MakeRoundProfile();
    profile.constants.messageUs = 30;
    CostQuery query;
    query.how = {Algorithm::RING, Protocol::SIMPLE};
    query.bytes = pieceBytes * shape.ranks * channels;
    const double setup = 7 + 0.5 * channels;
    const double without = TotalOf(profile, shape, query) - setup;
    profile.nccl.eagerBytes = 16384;
    const double expected = std::pow(std::pow(without, 4) + std::pow(served, 4), 0.25) + setup;
    EXPECT_NEAR(TotalOf(profile, shape, query), expected, 1e-6 * expected)
        << channels << " channels of " << pieceBytes << " bytes";
}

// An all-reduce of 8 GPUs on two hosts has 14 steps. With a NIC for each GPU, of the 8 channels two
// leave by each; with two NICs for four GPUs all four leave by one GPU. 30 us a message.
TEST(ServedMessages, AreCountedByStepsChannelsAndSlices)
{
    const GroupShape own = EvenShape(8, 2, 5);
    ExpectServed(own, 8, 16 * KIB, 0);
    ExpectServed(own, 8, 16 * KIB + 1, 14 * 2 * 1 * 30);
    ExpectServed(own, 8, 64 * KIB, 14 * 2 * 2 * 30);
    const GroupShape shared = EvenShape(8, 2, 2);
    ExpectServed(shared, 4, 32 * KIB, 14 * 4 * 1 * 30);
    ExpectServed(shared, 4, 64 * KIB, 14 * 4 * 2 * 30);
}

// One host sends none; and LL's messages are too short for the limit, unless all are served.
TEST(ServedMessages, OnlyAboveTheLimitAndBetweenHosts)
{
    MachineProfile profile = MakeRoundProfile();
    profile.constants.messageUs = 30;
    CostQuery query;
    query.bytes = 1e6;
    for (const double limit : {16384.0, 1.0})
    {
        profile.nccl.eagerBytes = 0;
        query.how = {Algorithm::RING, Protocol::SIMPLE};
        const double inside = TotalOf(profile, EvenShape(8, 1, 5), query);
        query.how.protocol = Protocol::LL;
        const double between = TotalOf(profile, EvenShape(8, 2, 5), query);
        profile.nccl.eagerBytes = limit;
        const double served = TotalOf(profile, EvenShape(8, 2, 5), query);
        query.how.protocol = Protocol::SIMPLE;
        EXPECT_EQ(TotalOf(profile, EvenShape(8, 1, 5), query), inside);
        EXPECT_EQ(served > between, limit < 2);
    }
}

// Where all messages are served, those of a byte a rank are too: a message holds a line at least.
TEST(ServedMessages, AreNotFreeForASingleByte)
{
    MachineProfile profile = MakeRoundProfile();
    profile.constants.messageUs = 30;
    profile.nccl.eagerBytes = 1;
    const GroupShape shape = EvenShape(8, 2, 5);
    for (const Kind kind : {Kind::ALL_GATHER, Kind::ALL_TO_ALL})
    {
        CostQuery query;
        query.kind = kind;
        query.how = {kind == Kind::ALL_TO_ALL ? Algorithm::PAIRWISE : Algorithm::RING,
                     Protocol::SIMPLE};
        query.bytes = 8;
        const double one = TotalOf(profile, shape, query);
        query.bytes = 16;
        EXPECT_NEAR(TotalOf(profile, shape, query), one, 0.01 * one) << ToString(kind);
    }
}

// An all-to-all of 8 GPUs on two hosts: four peers on the other host, each one message for 128 KiB
// of a channel, two channels above 32 KiB. Transfers go on beside.
TEST(ServedMessages, OfAnAllToAllAreCountedByPeers)
{
    MachineProfile profile = MakeRoundProfile();
    profile.constants.messageUs = 30;
    const GroupShape shape = EvenShape(8, 2, 5);
    CostQuery query;
    query.kind = Kind::ALL_TO_ALL;
    query.how = {Algorithm::PAIRWISE, Protocol::SIMPLE};
    for (const auto& [peerBytes, messages] : {std::pair{16 * KIB, 0.0},
                                              std::pair{32 * KIB, 4.0},
                                              std::pair{64 * KIB, 8.0},
                                              std::pair{1024 * KIB, 32.0}})
    {
        query.bytes = 8 * peerBytes;
        profile.nccl.eagerBytes = 0;
        const double without = TotalOf(profile, shape, query);
        profile.nccl.eagerBytes = 16384;
        // Four GPUs of a host send to four, over four NICs of 10 GB/s, half of which pairs sustain.
        const double transfer = 4 * 4 * peerBytes / (4 * 10e3 * 0.5);
        const double served = messages * 30;
        const double more = std::pow(std::pow(transfer, 4) + std::pow(served, 4), 0.25) - transfer;
        EXPECT_NEAR(TotalOf(profile, shape, query) - without, more, 1e-6 * (1 + more)) << peerBytes;
    }
}

// Where hosts match all messages, each of the four peers waits for its own, above 16 KiB for the
// request and for the data: on top of the transfer.
TEST(ServedMessages, OfAnAllToAllAreWaitedForWhereHostsMatchThem)
{
    MachineProfile profile = MakeRoundProfile();
    profile.constants.messageUs = 30;
    CostQuery query;
    query.kind = Kind::ALL_TO_ALL;
    query.how = {Algorithm::PAIRWISE, Protocol::SIMPLE};
    for (const auto& [peerBytes, messages] :
         {std::pair{16 * KIB, 4.0}, std::pair{17 * KIB, 8.0}, std::pair{1024 * KIB, 8.0}})
    {
        query.bytes = 8 * peerBytes;
        profile.nccl.eagerBytes = 0;
        const double without = TotalOf(profile, EvenShape(8, 2, 5), query);
        profile.nccl.eagerBytes = 1;
        EXPECT_NEAR(TotalOf(profile, EvenShape(8, 2, 5), query) - without, messages * 30, 1e-6)
            << peerBytes;
    }
}

// With LL a channel of a ring of 8 GPUs opens for each 4 KiB of a GPU's part: 60 KiB in all are
// still one message in each of the 14 steps, 64 KiB two. Serving takes so long that nothing else
// counts.
TEST(ServedMessages, AreOfWholeChannels)
{
    MachineProfile profile = MakeRoundProfile();
    profile.constants.messageUs = 10000;
    profile.nccl.eagerBytes = 1;
    CostQuery query;
    query.how = {Algorithm::RING, Protocol::LL};
    for (const auto& [bytes, channels] :
         {std::pair{32 * KIB, 1.0}, std::pair{60 * KIB, 1.0}, std::pair{64 * KIB, 2.0}})
    {
        query.bytes = bytes;
        EXPECT_NEAR(TotalOf(profile, EvenShape(8, 2, 2), query), 14 * channels * 10000, 100)
            << bytes;
    }
}

// Alps in 2025, whose hosts copy LL's messages of more than 4 KiB with flags, 2 KiB of payload: a
// tree on four hosts passes two levels up and down. Its 16 channels leave by four NICs, and two of
// each NIC's four are of the tree that the host is inside of. A ring's host copies for each step.
TEST(CopiedMessages, TakeEachHopAndStepMore)
{
    MachineProfile profile = MakeRoundProfile();
    CostQuery query;
    query.how = {Algorithm::TREE, Protocol::LL};
    const auto more = [&](const GroupShape& shape, double bytes) {
        query.bytes = bytes;
        profile.constants.copyUs = 0;
        const double without = TotalOf(profile, shape, query);
        profile.constants.copyUs = 1000; // hides all else of a ring
        return TotalOf(profile, shape, query) - without;
    };
    const GroupShape four = EvenShape(16, 4, 4);
    profile.nccl.channelsPerNic = 4;
    EXPECT_EQ(more(four, 2048), 0);
    EXPECT_NEAR(more(four, 2056), 4 * 1000, 1e-6);
    EXPECT_NEAR(more(four, 4 * 4096), 4 * 1000, 1e-6);
    EXPECT_NEAR(more(four, 16 * 4096), 2 * 4 * 1000, 1e-6);
    EXPECT_EQ(more(EvenShape(4, 1, 4), 65536), 0);
    query.how = {Algorithm::RING, Protocol::LL};
    EXPECT_EQ(more(four, 16 * 2048), 0);
    EXPECT_NEAR(more(four, 16 * 4096), 30 * 1000, 300);
    EXPECT_NEAR(more(four, 16 * 16 * 4096), 4 * 30 * 1000, 300);
    query.how.protocol = Protocol::SIMPLE;
    EXPECT_EQ(more(four, 16 * 4096), 0);
}

// Of 1 MiB a channel all is on its way at once: two levels up and down between four hosts, each
// the latency and 1 MiB by the channel's part of the NICs; four levels more between 64. Of 9 MiB
// the other eight follow, each twice through the NICs; their chunks are of 128 KiB, of which there
// are more than eight for each of the chain's and the tree's 5 steps, and synchronise twice.
TEST(TreeBursts, PassEveryLevelTogether)
{
    MachineProfile profile = MakeRoundProfile();
    profile.constants.treeBurstBytes = 1024 * KIB;
    CostQuery query;
    query.how = {Algorithm::TREE, Protocol::SIMPLE};
    query.channels = 8;
    const auto interOf = [&](double channelBytes, uint32_t hosts) {
        query.bytes = 8 * channelBytes;
        const CostTerms terms = EvaluateWhiteBox(profile, EvenShape(4 * hosts, hosts, 5), query);
        return terms.inter + terms.synchronisation;
    };
    const double latency = profile.constants.protocols[2].interStepUs;
    const double mebibyte = 1024 * KIB / (1000 * profile.constants.nicGBps * 4 / 8);
    const double one = interOf(1024 * KIB, 4);
    EXPECT_NEAR(one, 4 * (latency + mebibyte), 1e-6);
    EXPECT_NEAR(interOf(1024 * KIB, 64) - one, 8 * (latency + mebibyte), 1e-6);
    profile.constants.treeBandwidthFactor = 1.5;
    EXPECT_NEAR(interOf(9216 * KIB, 4) - one,
                2 * (8 * 1.5 * mebibyte + 64 * profile.constants.treeChunkUs),
                1e-6);
}

// Alps in 2025 (calibration/tables): profile alps-gh200 is fitted to two and four hosts; trees of 1
// to 32 MiB on 16 to 128 and on 512 follow, which pipelines of chunks would leave a third too fast.
TEST(TreeBursts, OfFourHostsPredictThoseOfHundreds)
{
    const MachineProfile shipped =
        ReadProfile(YamlNode::LoadFile(SourceFile("calibration/profiles/alps-gh200.yaml")));
    std::vector<Measurement> unseen;
    for (const Measurement& row :
         CleanUp(ReadNcclTests(SourceFile("calibration/tables/alps-gh200-512-hosts.csv"), {})).rows)
    {
        if (row.hosts >= 16 && row.hosts != 256 && row.bytes >= 1024 * KIB &&
            row.bytes <= 32 * 1024 * KIB)
        {
            unseen.push_back(row);
        }
    }
    ASSERT_GT(unseen.size(), 25u);
    const std::vector<double> estimates = EstimateRows(shipped, unseen);
    double sum = 0;
    for (size_t i = 0; i < unseen.size(); ++i)
    {
        sum += std::abs(estimates[i] / TimeOf(unseen[i]) - 1);
    }
    EXPECT_LT(sum / static_cast<double>(unseen.size()), 0.1);
}

// Polaris with software matching (calibration/tables/polaris-a100-software-matching.csv): an
// all-gather with LL takes 7.5 us for each step and channel on 2, 8, 128 and 540 hosts. Fitted to
// two hosts, which alone would leave it at a ring's latencies, the others follow.
TEST(ServedMessages, OfTwoHostsPredictThoseOfHundreds)
{
    const MachineProfile shipped =
        ReadProfile(YamlNode::LoadFile(SourceFile("calibration/profiles/polaris-a100.yaml")));
    NcclEnvironment nccl = shipped.nccl;
    nccl.eagerBytes = 1;
    MachineProfile prior =
        MakePriorProfile(nccl, 0.8 * shipped.linkGpuGBps, 0.95 * shipped.linkNicGBps);
    prior.nicsPerHost = shipped.nicsPerHost;
    std::vector<Measurement> seen;
    std::vector<Measurement> unseen;
    for (const Measurement& row :
         CleanUp(
             ReadNcclTests(SourceFile("calibration/tables/polaris-a100-software-matching.csv"), {}))
             .rows)
    {
        const double channels = static_cast<double>(row.bytes) / row.ranks / 4096;
        if (row.hosts == 2)
        {
            seen.push_back(row);
        }
        else if (row.kind == Kind::ALL_GATHER && channels <= 1)
        {
            unseen.push_back(row);
        }
    }
    ASSERT_GT(unseen.size(), 20u);
    const MachineProfile fitted = ProfileFitter(prior).Fit(seen).profile;
    EXPECT_NEAR(fitted.constants.messageUs, 7.5, 0.8);
    const std::vector<double> estimates = EstimateRows(fitted, unseen);
    for (size_t i = 0; i < unseen.size(); ++i)
    {
        EXPECT_NEAR(estimates[i] / TimeOf(unseen[i]), 1, 0.15)
            << unseen[i].hosts << " hosts, " << unseen[i].bytes << " bytes";
    }
}

} // namespace
