// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_STAGE_PROGRAM_H
#define ECHO_STAGE_PROGRAM_H

#include "echo-gradient-operators.h"
#include "echo-layer-operators.h"
#include "echo-model-ends.h"
#include "echo-pipeline-schedule.h"
#include "echo-sharded-layers.h"
#include "echo-step-emitter.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/** Which of a plan's ranks a program is for: all that have these in common share it. */
struct ProgramIndex
{
    uint32_t stage{0};
    uint32_t context{0}; //!< index in the context group, where keys and values go round a ring
    uint32_t expert{0};  //!< index in the expert group, where experts have unequal loads

    bool operator<(const ProgramIndex& other) const
    {
        return std::tie(stage, context, expert) <
               std::tie(other.stage, other.context, other.expert);
    }
};

/** Writes the program of a rank of one pipeline stage. */
class StageProgram
{
  public:
    StageProgram(const TrainingPlan& plan, const ParallelLayout& layout, const ProgramIndex& index);

    /** @return the program; @p slots gets the groups of its slots */
    ExecutionGraphPtr Make(std::vector<LayoutGroup>& slots);

  private:
    using Message = PipelineStep::Transfer;

    void MakeBlocking();
    void MakeOverlapped();
    void Pass(const PipelinePass& pass);
    /** Two passes that run together, layer by layer; then what is left of the longer one. */
    void Pair(const PipelinePass& forward, const PipelinePass& backward);
    void Forward(const PipelinePass& pass);
    void BeginForward(const PipelinePass& pass);
    void ForwardLayer(const PipelinePass& pass, uint32_t index);
    /** What a layer's forward pass waits for. */
    void BeforeForward(const PipelinePass& pass, uint32_t index);
    void EndForward(const PipelinePass& pass);
    void Backward(const PipelinePass& pass);
    /** @return whether the weights' gradients are complete behind each layer of the pass */
    bool BeginBackward(const PipelinePass& pass);
    void BackwardLayer(const PipelinePass& pass, uint32_t index, bool makesGradients);
    void AfterBackward(const PipelinePass& pass, uint32_t index, bool makesGradients);
    void EndBackward(const PipelinePass& pass, bool makesGradients);
    /** Gradients are there, unless the layers' own split takes care of them. */
    void Ready(const ParameterCount& count, bool makesGradients);
    /** A pass is over: what it made is reduced now, if the plan does not leave that to the end. */
    void FlushReady(bool makesGradients);
    /** @return whether @p pass was the last backward pass of its chunk */
    bool CountBackward(const PipelinePass& pass);
    void BackwardWeights(const PipelinePass& pass);
    bool IsRecomputed(uint32_t indexInPart) const;
    uint32_t GetPart(const PipelinePass& pass) const
    {
        return m_shape.GetPart(m_stage, pass.chunk);
    }

    uint32_t GetLayers(const PipelinePass& pass) const
    {
        return m_plan.GetPartSize(GetPart(pass));
    }

    uint32_t GetLayer(const PipelinePass& pass, uint32_t index) const
    {
        return m_plan.GetFirstLayerOfPart(GetPart(pass)) + index;
    }

    /** A message between stages, as the pipeline group sees it. */
    CommunicationDescription::Element MakeElement(const Message& message) const;
    static std::string NameOf(const Message& message);
    void Transfer(const std::vector<Message>& messages);
    OperatorId TransferBeside(const Message& message);
    /** With splitMessages: puts together what the tensor ranks received. */
    void GatherReceived(const std::vector<Message>& messages);

    const TrainingPlan& m_plan;
    uint32_t m_stage;
    PipelineShape m_shape;
    StepEmitter m_emitter;
    LayerOperators m_layers;
    ModelEnds m_ends;
    GradientOperators m_gradients;
    ShardedLayers m_sharded;
    std::vector<uint32_t> m_backwards; //!< done, by chunk
    std::vector<bool> m_hasParameters; //!< by chunk: a forward pass has waited for them
    bool m_isFirstUse{false};          //!< of the parameters of the forward pass at hand
    uint32_t m_position{0};            //!< of its first layer among those of this stage
    std::map<std::pair<uint32_t, uint32_t>, LayerOperators::Deferred> m_deferred;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_STAGE_PROGRAM_H */
