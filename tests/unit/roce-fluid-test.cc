// SPDX-License-Identifier: GPL-2.0-only
// The fluid network against packets: messages of 1 MiB and more, permutations and all-to-all.

#include "roce-fixture.h"

#include "ns3/double.h"
#include "ns3/echo-flow-network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

using namespace ns3;
using namespace ns3::echo;

namespace
{

/** Mean completion time of a message and the time of the last one, in microseconds. */
struct Completion
{
    double mean{0};
    double last{0};
};

/** Each host sends to its receivers, so many messages under way at a time. */
Completion RunModel(Ptr<NetworkModel> network,
                    const std::vector<std::vector<uint32_t>>& receivers,
                    uint64_t bytes,
                    uint32_t inFlight,
                    uint32_t k = 4)
{
    const TestFabric fabric = MakeFatTree(k, "400Gb/s", NanoSeconds(500));
    Ptr<ShortestPathRouter> router = CreateObject<ShortestPathRouter>();
    router->Prepare(fabric.topology);
    TestSink sink;
    network->Prepare(router, &sink);
    std::vector<size_t> next(receivers.size(), 0);
    std::function<void(uint32_t)> sendNext = [&](uint32_t host) {
        if (next[host] == receivers[host].size())
        {
            return;
        }
        Message message;
        message.source = fabric.nics[host];
        message.destination = fabric.nics[receivers[host][next[host]++]];
        message.bytes = bytes;
        network->Send(message, [&sendNext, host] { sendNext(host); });
    };
    for (uint32_t i = 0; i < inFlight * receivers.size(); ++i)
    {
        sendNext(i % static_cast<uint32_t>(receivers.size()));
    }
    Simulator::Run();
    Completion result;
    for (const FlowRecord& flow : sink.flows)
    {
        result.mean += (flow.end - flow.start).GetSeconds() * 1e6;
        result.last = std::max(result.last, flow.end.GetSeconds() * 1e6);
    }
    result.mean /= static_cast<double>(sink.flows.size());
    network->Dispose();
    Simulator::Destroy();
    return result;
}

TEST(FluidAgainstPackets, PermutationsTakeTheSameWithinATenth)
{
    for (uint32_t seed = 1; seed <= 8; ++seed)
    {
        std::vector<uint32_t> order(16);
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), std::mt19937(seed));
        std::vector<std::vector<uint32_t>> receivers(16);
        for (uint32_t i = 0; i < 16; ++i)
        {
            receivers[order[i]] = {order[(i + 1) % 16]};
        }
        for (const uint64_t bytes : {uint64_t{1} << 20, uint64_t{4} << 20})
        {
            const Completion packets = RunModel(CreateObject<PacketNetwork>(), receivers, bytes, 1);
            const Completion flows = RunModel(CreateObject<FlowNetwork>(), receivers, bytes, 1);
            EXPECT_NEAR(flows.mean / packets.mean, 1, 0.1) << "seed " << seed << ", " << bytes;
        }
    }
}

TEST(FluidAgainstPackets, AllToAllTakesTheSameWithinATenth)
{
    std::vector<std::vector<uint32_t>> receivers(16);
    for (uint32_t h = 0; h < 16; ++h)
    {
        for (uint32_t r = 1; r < 16; ++r)
        {
            receivers[h].push_back((h + r) % 16);
        }
    }
    for (const uint32_t inFlight : {1u, 8u, 15u})
    {
        const Completion packets =
            RunModel(CreateObject<PacketNetwork>(), receivers, 1 << 20, inFlight);
        const Completion flows =
            RunModel(CreateObject<FlowNetwork>(), receivers, 1 << 20, inFlight);
        EXPECT_NEAR(flows.mean / packets.mean, 1, 0.1) << inFlight;
        if (inFlight > 1)
        {
            // One at a time, who is late stays late: the last of all says little.
            EXPECT_NEAR(flows.last / packets.last, 1, 0.1) << inFlight;
        }
    }
}

TEST(FluidAgainstPackets, GatheredUpdatesChangeTimesByLittle)
{
    // 1,024 streams that depend on one another; rates found at once, and as it is by default.
    std::vector<std::vector<uint32_t>> receivers(128);
    for (uint32_t h = 0; h < 128; ++h)
    {
        for (uint32_t r = 1; r < 13; ++r)
        {
            receivers[h].push_back((h + 9 * r) % 128);
        }
    }
    Ptr<FlowNetwork> exact = CreateObject<FlowNetwork>();
    exact->SetAttribute("UpdateShare", DoubleValue(0));
    Ptr<FlowNetwork> gathered = CreateObject<FlowNetwork>();
    const Completion a = RunModel(exact, receivers, 1 << 20, 8, 8);
    const Completion b = RunModel(gathered, receivers, 1 << 20, 8, 8);
    EXPECT_NEAR(b.mean / a.mean, 1, 0.03);
    EXPECT_NEAR(b.last / a.last, 1, 0.03);
    EXPECT_NE(b.last, a.last);
    EXPECT_LT(3 * gathered->GetSolveCount(), exact->GetSolveCount());
}

} // namespace
