// SPDX-License-Identifier: GPL-2.0-only
// The derived cost model on drawn machines: what holds whatever the machine.

#include "network-rig.h"

#include "ns3/echo-derived-cost-model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>

using namespace ns3;
using namespace ns3::echo;

namespace
{

using Kind = CollectiveKind;
using Algorithm = CollectiveAlgorithmKind;

struct Drawn
{
    SmallCluster cluster;
    double nicGbps;
    double nvlinkGbps;
    uint32_t channels;
    Kind kind;
    Algorithm algorithm;
    uint64_t chunkBytes;
};

/** The rates of a cluster are set from Gb/s so that they can be scaled. */
SmallCluster WithRates(SmallCluster cluster, double nicGbps, double nvlinkGbps)
{
    const auto inMbps = [](double gbps) {
        return std::to_string(static_cast<uint64_t>(gbps * 1000)) + "Mbps";
    };
    cluster.nicRate = inMbps(nicGbps);
    cluster.uplinkRate = inMbps(nicGbps);
    cluster.nvlinkRate = inMbps(nvlinkGbps);
    return cluster;
}

Drawn Draw(std::mt19937& random)
{
    const auto pick = [&random](auto... values) {
        const std::array all{values...};
        return all[random() % all.size()];
    };
    const auto between = [&random](double low, double high) {
        return low * std::pow(high / low, static_cast<double>(random() % 10000) / 10000);
    };
    Drawn drawn;
    drawn.cluster.hosts = pick(2u, 3u, 4u, 8u);
    drawn.cluster.gpusPerHost = pick(1u, 2u, 4u, 8u);
    drawn.cluster.gpusPerNic = std::min(pick(1u, 2u, 4u), drawn.cluster.gpusPerHost);
    drawn.nicGbps = pick(100.0, 200.0, 400.0);
    drawn.nvlinkGbps = drawn.nicGbps * between(0.5, 20);
    drawn.cluster.nicDelay = NanoSeconds(static_cast<uint64_t>(between(200, 5000)));
    drawn.channels = pick(0u, 1u, 2u, 4u, 8u);
    drawn.kind = pick(
        Kind::ALL_REDUCE, Kind::ALL_GATHER, Kind::REDUCE_SCATTER, Kind::BROADCAST, Kind::REDUCE);
    const bool tree = drawn.kind == Kind::ALL_REDUCE && random() % 2 == 0;
    drawn.algorithm = tree ? Algorithm::TREE : Algorithm::RING;
    drawn.chunkBytes = pick(0u, 0u, 65536u, 1048576u);
    return drawn;
}

/** Estimates of one drawn operation on its machine, or on one with scaled rates. */
class DrawnCosts
{
  public:
    DrawnCosts(const Drawn& drawn, double nicFactor, double nvlinkFactor)
        : m_drawn(drawn),
          m_rig(
              WithRates(drawn.cluster, drawn.nicGbps * nicFactor, drawn.nvlinkGbps * nvlinkFactor)),
          m_model(CreateObject<DerivedCostModel>()),
          m_layout(MakeGroupLayout(m_rig.world, m_rig.placement))
    {
        m_rig.selector->SetAttribute("Channels", UintegerValue(drawn.channels));
        m_rig.selector->SetAttribute("ChunkBytes", UintegerValue(drawn.chunkBytes));
        m_model->SetRouter(m_rig.router);
    }

    double GetUs(uint64_t bytes) const
    {
        CollectivePlan plan;
        plan.spec.kind = m_drawn.kind;
        plan.spec.bytes = bytes;
        plan.spec.algorithm = m_drawn.algorithm;
        plan.layout = m_layout;
        plan.choice = m_rig.selector->Select(plan.spec, *m_layout);
        return m_model->Estimate(plan).GetTotal().GetSeconds() * 1e6;
    }

  private:
    Drawn m_drawn;
    NetworkRig m_rig;
    Ptr<DerivedCostModel> m_model;
    GroupLayoutPtr m_layout;
};

/**
 * What the links must take, us: NICs of a host what all other hosts have, or need; GPUs, on
 * average, what goes over the g - 1 of a host's g edges that stay inside.
 */
double LeastUs(const Drawn& drawn, double bytes)
{
    const double hosts = drawn.cluster.hosts;
    const double gpus = drawn.cluster.gpusPerHost;
    const double nics = gpus / drawn.cluster.gpusPerNic;
    const bool chain = drawn.kind == Kind::BROADCAST || drawn.kind == Kind::REDUCE;
    const bool twice = drawn.kind == Kind::ALL_REDUCE;
    const auto part = [&](double members) {
        return bytes * (chain ? 1 : (twice ? 2 : 1) * (members - 1) / members);
    };
    const double inside =
        gpus > 1 ? part(hosts * gpus) * (gpus - 1) / gpus / (drawn.nvlinkGbps * 125) : 0;
    return std::max(inside, part(hosts) / (nics * drawn.nicGbps * 125));
}

TEST(DerivedOnDrawnMachines, MoreBytesOrSlowerLinksNeverTakeLess)
{
    std::mt19937 random(20261);
    for (int i = 0; i < 400; ++i)
    {
        const Drawn drawn = Draw(random);
        const DrawnCosts costs(drawn, 1, 1);
        const DrawnCosts fasterNics(drawn, 1.3, 1);
        const DrawnCosts fasterNvlink(drawn, 1, 1.3);
        const std::string what = std::string(ToString(drawn.kind)) + ' ' +
                                 ToString(drawn.algorithm) + ", drawn as number " +
                                 std::to_string(i);
        double last = 0;
        for (double bytes = 512; bytes < 1e9; bytes *= 1.3)
        {
            const auto size = static_cast<uint64_t>(bytes);
            const double us = costs.GetUs(size);
            ASSERT_GE(us, last) << what << ", " << size << " B";
            ASSERT_GE(us, LeastUs(drawn, static_cast<double>(size))) << what << ", " << size;
            ASSERT_LE(fasterNics.GetUs(size), us * (1 + 1e-9)) << what << ", " << size << " B";
            ASSERT_LE(fasterNvlink.GetUs(size), us * (1 + 1e-9)) << what << ", " << size << " B";
            last = us;
        }
    }
}

} // namespace
