// SPDX-License-Identifier: GPL-2.0-only
// Rings over the direct links of a host's GPUs.

#include "cube-mesh.h"

#include "ns3/echo-host-rings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

using namespace ns3;
using namespace ns3::echo;

namespace
{

struct Joined
{
    uint32_t a;
    uint32_t b;
    uint32_t links;
};

LinkUnits Units(uint32_t gpus, const std::vector<Joined>& joined)
{
    LinkUnits units(gpus, std::vector<uint32_t>(gpus, 0));
    for (const auto& [a, b, links] : joined)
    {
        units[a][b] = units[b][a] = links;
    }
    return units;
}

LinkUnits AllToAll(uint32_t gpus)
{
    LinkUnits units(gpus, std::vector<uint32_t>(gpus, 1));
    for (uint32_t i = 0; i < gpus; ++i)
    {
        units[i][i] = 0;
    }
    return units;
}

/** Each ring passes every GPU once, and no direction of a link carries more than its share. */
void ExpectSound(const HostRings& rings, const LinkUnits& units, uint32_t share = 1)
{
    const auto gpus = static_cast<uint32_t>(units.size());
    LinkUnits used(gpus, std::vector<uint32_t>(gpus, 0));
    ASSERT_EQ(rings.places.size(), rings.positions.size());
    for (size_t r = 0; r < rings.places.size(); ++r)
    {
        std::vector<uint32_t> sorted = rings.places[r];
        std::sort(sorted.begin(), sorted.end());
        std::vector<uint32_t> all(gpus);
        std::iota(all.begin(), all.end(), 0);
        ASSERT_EQ(sorted, all);
        for (uint32_t i = 0; i < gpus; ++i)
        {
            EXPECT_EQ(rings.positions[r][rings.places[r][i]], i);
            ++used[rings.places[r][i]][rings.places[r][(i + 1) % gpus]];
        }
    }
    for (uint32_t a = 0; a < gpus; ++a)
    {
        for (uint32_t b = 0; b < gpus; ++b)
        {
            EXPECT_LE(used[a][b], share * units[a][b]) << a << " to " << b;
        }
    }
}

// The hybrid cube mesh of a DGX-1 with V100: six NVLinks a GPU, of which a ring takes two, one each
// way of a round trip: six rings that use them all.
TEST(HostRings, CubeMeshHasSix)
{
    const LinkUnits units = CubeMesh();
    const HostRings rings = FindHostRings(units);
    EXPECT_EQ(rings.places.size(), 6u);
    ExpectSound(rings, units);
}

// n GPUs joined all to all: (n - 1) / 2 round trips (Walecki's construction reaches that for odd
// n); for even n, n - 1 that take each link twice.
TEST(HostRings, AllToAllUsesNearlyAll)
{
    for (const uint32_t gpus : {3u, 4u, 5u, 6u, 7u, 8u})
    {
        const HostRings rings = FindHostRings(AllToAll(gpus));
        const uint32_t share = gpus % 2 == 0 ? 2 : 1;
        EXPECT_EQ(rings.places.size(), share * (gpus - 1)) << gpus;
        ExpectSound(rings, AllToAll(gpus), share);
    }
    // Sixteen are too many to search through; what is found is sound.
    const HostRings many = FindHostRings(AllToAll(16));
    EXPECT_GE(many.places.size(), 8u);
    ExpectSound(many, AllToAll(16), 2);
}

TEST(HostRings, WithoutARoundTripThereAreNone)
{
    EXPECT_TRUE(FindHostRings(Units(4, {{0, 1, 2}, {1, 2, 2}, {2, 3, 2}})).IsEmpty());
    EXPECT_TRUE(FindHostRings(Units(8, {})).IsEmpty()); // joined by switches
    EXPECT_TRUE(FindHostRings(AllToAll(2)).IsEmpty());
    EXPECT_TRUE(FindHostRings({}).IsEmpty());
}

} // namespace
