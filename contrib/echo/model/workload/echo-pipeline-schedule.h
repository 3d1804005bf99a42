// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_PIPELINE_SCHEDULE_H
#define ECHO_PIPELINE_SCHEDULE_H

#include "ns3/object.h"

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/** Which parts of the model lie on which stage. */
enum class PartPlacement : uint8_t
{
    LOOP, //!< chunk c of stage s is part c * stages + s: round and round
    FOLD, //!< two chunks: part s, and part 2 * stages - 1 - s on the way back
    BOTH, //!< two chunks: part s, and part stages - 1 - s. Every part is there twice; the second
          //!< half of the micro-batches enters at the last stage
};

/** What a pipeline schedule orders. */
struct PipelineShape
{
    uint32_t stages{1};
    uint32_t chunks{1}; //!< parts of the model on each stage
    uint32_t microBatches{1};
    PartPlacement placement{PartPlacement::LOOP};

    /** @return parts into which the model is cut */
    uint32_t GetParts() const
    {
        return placement == PartPlacement::BOTH ? stages : stages * chunks;
    }

    /** @return the part that is chunk @p chunk of @p stage */
    uint32_t GetPart(uint32_t stage, uint32_t chunk) const
    {
        if (placement == PartPlacement::LOOP || chunk == 0)
        {
            return chunk * stages + stage;
        }
        return (placement == PartPlacement::FOLD ? 2 : 1) * stages - 1 - stage;
    }

    /** @return the stage that passes of chunk @p chunk find @p part on (BOTH: there are two) */
    uint32_t GetStage(uint32_t part, uint32_t chunk) const
    {
        const bool isBack = placement == PartPlacement::FOLD   ? part >= stages
                            : placement == PartPlacement::BOTH ? chunk == 1
                                                               : false;
        return isBack ? GetPart(part, 1) % stages : part % stages;
    }

    /** @return micro-batches that pass chunk @p chunk of a stage: a range of their numbers */
    std::pair<uint32_t, uint32_t> GetMicroBatches(uint32_t chunk) const
    {
        if (placement != PartPlacement::BOTH)
        {
            return {0, microBatches};
        }
        return chunk == 0 ? std::make_pair(0U, microBatches / 2)
                          : std::make_pair(microBatches / 2, microBatches);
    }
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
    bool isPaired{false}; //!< a forward pass that runs layer by layer with the backward pass after
                          //!< it: one's exchange of tokens beside the other's kernels

    /** @return whether the pass makes the gradient of its input */
    bool IsBackward() const
    {
        return kind == Kind::BACKWARD || kind == Kind::BACKWARD_INPUT;
    }

    bool operator==(const PipelinePass& other) const
    {
        return kind == other.kind && microBatch == other.microBatch && chunk == other.chunk &&
               isPaired == other.isPaired;
    }
};

/** @return the pass as users write it: "F3", "B3", "I3", "W3", with chunks "F3.1"; the first of a
 * pair with an ampersand, "F3&" */
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
        return GetChunks() > 1;
    }

    /** @return chunks that a stage has, if no other number will do; else 0 */
    virtual uint32_t GetChunks() const
    {
        return 0;
    }

    /** @return where the parts of the model lie */
    virtual PartPlacement GetPlacement() const
    {
        return PartPlacement::LOOP;
    }

    /**
     * Refuses shapes that it has no order for.
     * @throws InputError
     */
    virtual void CheckShape(const PipelineShape& /* shape */) const
    {
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

  protected:
    /** @param inPairs every stage warms up with one pass more; then forward and backward passes
     *         run together */
    static std::vector<PipelinePass> MakePasses(uint32_t stage,
                                                const PipelineShape& shape,
                                                bool inPairs);
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
 * in two parts, "F1&B0" for two that run layer by layer together.
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

/** Names a message from both ends alike: whether it is an activation, its micro-batch, and the part
 * of the model that made it. */
using MessageKey = std::tuple<bool, uint32_t, uint32_t>;
MessageKey GetMessageKey(const PipelineStep::Transfer& transfer,
                         uint32_t stage,
                         const PipelineShape& shape);

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
 * @param blocking messages hold back what follows (MakePipelineSteps); else they go beside passes,
 *        each kind in order, inputs asked for one pass ahead
 * @param remedy what to set so that messages do not block; named where the order then runs
 * @throws InputError naming stage and pass
 */
void CheckPipeline(const PipelineSchedule& schedule,
                   const PipelineShape& shape,
                   bool blocking,
                   const std::string& remedy = "");

/**
 * @param pairsExchange what the forward pass of a pair keeps takes, layer by layer, the place of
 *        what the backward pass gives back
 * @return most forward passes (micro-batch and chunk) whose activations a stage holds at once
 */
uint32_t GetPassesInFlight(const PipelineSchedule& schedule,
                           uint32_t stage,
                           const PipelineShape& shape,
                           bool pairsExchange = false);

} // namespace echo
} // namespace ns3

#endif /* ECHO_PIPELINE_SCHEDULE_H */
