// SPDX-License-Identifier: GPL-2.0-only
#ifndef SYNTHETIC_RUN_H
#define SYNTHETIC_RUN_H

#include "ns3/echo-layered-graph.h"
#include "ns3/echo-records.h"

#include <cstdint>
#include <string>
#include <vector>

/** What the made-up run is like. */
struct SyntheticShape
{
    std::string scenario{"synthetic"};
    uint32_t ranks{8};
    uint32_t tensor{4};   //!< ranks of a tensor-parallel group, neighbours
    uint32_t pipeline{2}; //!< stages, of consecutive ranks
    uint32_t layers{4};   //!< of each stage
    uint32_t microBatches{4};
    bool communication{true};
    uint32_t gpusPerHost{8};
    uint32_t jobs{0}; //!< that the ranks are divided among; 0: one without a name
};

/**
 * The records of a made-up training step: all stages forward, then backward, tensor-parallel
 * all-reduces after each half layer, sends between stages, an all-reduce of the gradients that
 * overlaps the last backward pass. Durations come from a hash of what they are of, so the same
 * shape gives the same records. Not a model of anything: input for tests of outputs.
 */
struct SyntheticRun
{
    explicit SyntheticRun(const SyntheticShape& shape);

    /** Pushes everything in the order that the sink is promised. */
    void Replay(ns3::echo::RecordSink& sink) const;

    std::vector<ns3::echo::OperatorRecord> operators;
    std::vector<ns3::echo::CollectiveRecord> collectives;
    std::vector<ns3::echo::FlowRecord> flows;
    std::vector<ns3::echo::LinkRecord> links;
    std::vector<ns3::echo::RankRecord> ranks;
    ns3::echo::RunRecord run;
    ns3::echo::LayeredGraph network;

  private:
    void MakeTimeline(const SyntheticShape& shape);
    void MakeRanks(const SyntheticShape& shape);
    void MakeJobs(const SyntheticShape& shape);
    void MakeNetwork(const SyntheticShape& shape);
    void MakeLinks();
};

#endif /* SYNTHETIC_RUN_H */
