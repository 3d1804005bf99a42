// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_PIPELINE_SCHEDULE_H
#define ECHO_PIPELINE_SCHEDULE_H

#include "ns3/object.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** What a pipeline schedule orders. */
struct PipelineShape
{
    uint32_t stages{1};
    uint32_t chunks{1}; //!< parts of the model on each stage; part c of stage s is part c * stages
                        //!< + s of the model
    uint32_t microBatches{1};
};

/** One pass of a stage over a micro-batch, with one of its chunks. */
struct PipelinePass
{
    enum class Kind : uint8_t
    {
        FORWARD,
        BACKWARD,        //!< gradients of inputs and of weights
        BACKWARD_INPUT,  //!< gradients of inputs only: BACKWARD_WEIGHT follows
        BACKWARD_WEIGHT, //!< gradients of weights; needs nothing of other stages
    };

    Kind kind{Kind::FORWARD};
    uint32_t microBatch{0};
    uint32_t chunk{0};

    bool operator==(const PipelinePass& other) const
    {
        return kind == other.kind && microBatch == other.microBatch && chunk == other.chunk;
    }
};

/** @return the pass as users write it: "F3", "B3", "I3", "W3", with chunks "F3.1" */
std::string ToString(const PipelinePass& pass);

/**
 * The order of the passes on every stage of a pipeline; all else follows from it: which messages
 * pass between stages, and when (MakePipelineSteps).
 */
class PipelineSchedule : public Object
{
  public:
    static TypeId GetTypeId();

    /** @return the passes of @p stage in order */
    virtual std::vector<PipelinePass> GetPasses(uint32_t stage,
                                                const PipelineShape& shape) const = 0;

    /** @return whether it has more than one chunk a stage */
    virtual bool AllowsChunks() const
    {
        return false;
    }
};

/** All forward passes, then all backward passes, last first (arXiv 1811.06965). */
class GpipeSchedule : public PipelineSchedule
{
  public:
    static TypeId GetTypeId();
    std::vector<PipelinePass> GetPasses(uint32_t stage, const PipelineShape& shape) const override;
};

/**
 * 1F1B as Megatron-Core's forward_backward_pipelining_without_interleaving: stage s of p warms up
 * with min(p - s - 1, m) forward passes, then alternates, then cools down (arXiv 2104.04473, 2.2).
 */
class OneForwardOneBackwardSchedule : public PipelineSchedule
{
  public:
    static TypeId GetTypeId();
    std::vector<PipelinePass> GetPasses(uint32_t stage, const PipelineShape& shape) const override;
};

/**
 * Interleaved 1F1B as Megatron-Core's forward_backward_pipelining_with_interleaving: micro-batches
 * in groups of p go through all chunks; stage s warms up with 2 (p - s - 1) + (v - 1) p passes of
 * v chunks (arXiv 2104.04473, 2.2.2). The first group takes what
 * is left over.
 */
class InterleavedSchedule : public PipelineSchedule
{
  public:
    static TypeId GetTypeId();
    std::vector<PipelinePass> GetPasses(uint32_t stage, const PipelineShape& shape) const override;

    bool AllowsChunks() const override
    {
        return true;
    }
};

/**
 * ZB-H1 of arXiv 2401.10241, section 2.3: 1F1B whose weight gradients stage s puts off by s
 * micro-batches, so that every stage holds as much as the first one in 1F1B and the bubble is
 * (p - 1)(forward + input gradient - weight gradient).
 */
class ZeroBubbleSchedule : public PipelineSchedule
{
  public:
    static TypeId GetTypeId();
    std::vector<PipelinePass> GetPasses(uint32_t stage, const PipelineShape& shape) const override;
};

/** Passes as a user lists them. */
class ListedSchedule : public PipelineSchedule
{
  public:
    static TypeId GetTypeId();
    /** Sets the passes of every stage. */
    void SetPasses(std::vector<std::vector<PipelinePass>> passes);
    std::vector<PipelinePass> GetPasses(uint32_t stage, const PipelineShape& shape) const override;

    bool AllowsChunks() const override
    {
        return true;
    }

  private:
    std::vector<std::vector<PipelinePass>> m_passes; //!< by stage
};

/**
 * Reads passes as users write them: "F0 F1 B0 B1", "F0.1" for chunk 1, "I0 W0" for a backward pass
 * in two parts.
 * @throws InputError for a word that is none
 */
std::vector<PipelinePass> ParsePipelinePasses(const std::string& text);

/** One step of a stage: a pass, or messages that complete as one. */
struct PipelineStep
{
    /** A message to or from another stage. */
    struct Transfer
    {
        bool isSend{true};
        bool isActivation{true}; //!< activations go up the model, gradients down
        uint32_t microBatch{0};
        uint32_t chunk{0}; //!< of this stage: that made it, or that it is for
        uint32_t peer{0};  //!< stage
    };

    bool isPass{true};
    PipelinePass pass;               //!< isPass
    std::vector<Transfer> transfers; //!< otherwise
};

/** @return a tag that tells messages of equal ends apart: the micro-batch where that is enough */
int32_t GetTag(const PipelineStep::Transfer& transfer, uint32_t stage, const PipelineShape& shape);

/** @return the message that @p pass of @p stage waits for; empty if none */
std::vector<PipelineStep::Transfer> GetInputs(const PipelinePass& pass,
                                              uint32_t stage,
                                              const PipelineShape& shape);
/** @return the message that @p pass of @p stage makes; empty if none */
std::vector<PipelineStep::Transfer> GetOutputs(const PipelinePass& pass,
                                               uint32_t stage,
                                               const PipelineShape& shape);

/**
 * The steps of one stage in order, messages included: between two passes the output of the one and
 * the input of the other, as one step if they are exchanged with one neighbour, so that neighbours
 * do not wait for each other (Megatron-Core's send_forward_recv_backward), or with several chunks.
 */
std::vector<PipelineStep> MakePipelineSteps(const PipelineSchedule& schedule,
                                            uint32_t stage,
                                            const PipelineShape& shape);

/**
 * Checks a schedule over all stages: every stage does every pass once, in an order in which all
 * can run.
 * @param blocking messages hold back what follows (MakePipelineSteps); else only inputs do
 * @throws InputError naming stage and pass
 */
void CheckPipeline(const PipelineSchedule& schedule, const PipelineShape& shape, bool blocking);

/** @return most forward passes (micro-batch and chunk) whose activations a stage holds at once */
uint32_t GetPassesInFlight(const PipelineSchedule& schedule,
                           uint32_t stage,
                           const PipelineShape& shape);

} // namespace echo
} // namespace ns3

#endif /* ECHO_PIPELINE_SCHEDULE_H */
