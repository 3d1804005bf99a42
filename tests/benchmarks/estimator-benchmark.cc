// SPDX-License-Identifier: GPL-2.0-only
// What an estimate costs: choice and cost of an all-reduce, repeated (cached) and of a new size
// each time. The bars are 2 us and 50 us.

#include "estimator-fixtures.h"

#include <benchmark/benchmark.h>

using namespace ns3;
using namespace ns3::echo;

namespace
{

/** An estimator of the Azure profile and a group of 128 GPUs on 16 hosts. */
struct Estimator
{
    Estimator()
    {
        SmallCluster small;
        small.hosts = 16;
        small.gpusPerHost = 8;
        const auto placement =
            std::make_shared<const Placement>(Placement::Linear(small.Build(), 128));
        std::vector<RankId> ranks;
        for (uint32_t rank = 0; rank < 128; ++rank)
        {
            ranks.emplace_back(rank);
        }
        plan.layout = MakeGroupLayout(std::make_shared<const CommGroup>(
                                          GroupId(0), GroupKind::WORLD, "world", std::move(ranks)),
                                      placement);
    }

    Time Estimate(uint64_t bytes)
    {
        plan.spec.bytes = bytes;
        plan.choice = selector->Select(plan.spec, *plan.layout);
        return model->Estimate(plan).GetTotal();
    }

    Ptr<WhiteBoxCostModel> model{MakeWhiteBox(ReadAzureProfile())};
    Ptr<NcclSelector> selector{MakeSelector(model)};
    CollectivePlan plan;
};

void CachedEstimate(benchmark::State& state)
{
    Estimator estimator;
    for (auto unused : state)
    {
        benchmark::DoNotOptimize(estimator.Estimate(64 << 20));
    }
}

void UncachedEstimate(benchmark::State& state)
{
    Estimator estimator;
    uint64_t bytes = 1 << 20;
    for (auto unused : state)
    {
        benchmark::DoNotOptimize(estimator.Estimate(bytes += 512));
    }
}

BENCHMARK(CachedEstimate)->Unit(benchmark::kMicrosecond);
BENCHMARK(UncachedEstimate)->Unit(benchmark::kMicrosecond);

} // namespace
