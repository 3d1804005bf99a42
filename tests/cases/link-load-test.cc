// SPDX-License-Identifier: GPL-2.0-only
// No link carries more than it has, whoever serves what meets on it: small mixes that are drawn.

#include "case-harness.h"

#include <algorithm>
#include <random>

using namespace ns3;
using namespace ns3::echo;

namespace
{

/** How a run divides communications among models. */
struct Way
{
    std::string fidelity;
    std::string hybrid;
    double most{1}; //!< of what a link has
};

/** Rules part communications that meet: what a simulated one gains when it ends early is found
 * late. */
constexpr double UNCOUPLED = 1.01;

const std::vector<Way> WAYS{
    {"packet", "{}"},
    {"flow", "{}"},
    {"analytical", "{}"},
    {"hybrid", "{contended: packet}"},
    {"hybrid", "{contended: flow}"},
    {"hybrid", "{policy: sampled, contended: packet}"},
    {"hybrid", "{policy: sampled, contended: flow}"},
    {"hybrid", "{policy: rules, rules: [{op: all-reduce, fidelity: packet}]}"},
    {"hybrid",
     "{policy: rules, meeting: apart, rules: [{op: all-reduce, fidelity: packet}]}",
     UNCOUPLED},
    {"hybrid",
     "{policy: rules, meeting: apart, rules: [{op: all-reduce, fidelity: flow}]}",
     UNCOUPLED},
    {"hybrid",
     "{policy: rules, meeting: apart, rules: [{max_bytes: 300KiB, fidelity: packet}]}",
     UNCOUPLED},
};

/** Groups across two leaves with one uplink each, every one with a list of its own. */
std::string DrawMix(uint32_t seed)
{
    // Only what the standard fixes: the engine's numbers, not its distributions.
    std::mt19937 engine(seed);
    const auto pick = [&engine](const std::vector<std::string>& all) {
        return all[engine() % all.size()];
    };
    const uint32_t hosts = 4 + 2 * (engine() % 3);
    const uint32_t half = hosts / 2;
    std::string text =
        CaseCluster(hosts,
                    "{type: leaf-spine, hosts_per_leaf: " + std::to_string(half) +
                        ", spines: 1, uplinks: 1, link_rate: 100Gbps, link_delay: 1us}") +
        "workload:\n  collectives:\n";
    for (uint32_t group = 0; group < half; ++group)
    {
        const uint32_t lists = 1 + engine() % 3;
        for (uint32_t i = 0; i < lists; ++i)
        {
            text += "    - {op: " + pick({"all-reduce", "all-gather", "all-to-all", "broadcast"}) +
                    ", bytes: " + pick({"256KiB", "512KiB", "1MiB", "2MiB"}) +
                    ", repeat: " + pick({"1", "2", "4", "8"}) +
                    ", compute: " + pick({"0us", "20us", "80us", "300us"}) + ", ranks: [" +
                    std::to_string(group) + ", " + std::to_string(group + half) + "]}\n";
        }
    }
    return text;
}

TEST(LinkLoad, IsBelowRateUnderEveryPolicyAndMix)
{
    for (uint32_t seed = 1; seed <= 40; ++seed)
    {
        const std::string mix = DrawMix(seed);
        for (const Way& way : WAYS)
        {
            const CapturedRun run =
                RunText("echo: 1\nname: load\nfidelity: " + way.fidelity +
                        "\nhybrid: " + way.hybrid + "\nestimator: {profile: derived}\n" + mix);
            ASSERT_EQ(run.error, "") << mix;
            ASSERT_FALSE(run.links.empty());
            const auto busiest =
                std::max_element(run.links.begin(),
                                 run.links.end(),
                                 [](const auto& a, const auto& b) { return a.busy < b.busy; });
            EXPECT_LE(busiest->busy.GetSeconds() / run.run.stepTime.GetSeconds(), way.most)
                << way.fidelity << ' ' << way.hybrid << ": " << busiest->from << " to "
                << busiest->to << " of\n"
                << mix;
        }
    }
}

} // namespace
