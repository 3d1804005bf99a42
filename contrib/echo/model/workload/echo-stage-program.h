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
    void Forward(const PipelinePass& pass);
    void Backward(const PipelinePass& pass);
    void BackwardLayers(const PipelinePass& pass, bool makesGradients);
    void BackwardWeights(const PipelinePass& pass);
    bool IsRecomputed(uint32_t indexInPart) const;
    uint32_t GetPart(uint32_t chunk) const;
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
    std::map<std::pair<uint32_t, uint32_t>, LayerOperators::Deferred> m_deferred;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_STAGE_PROGRAM_H */
