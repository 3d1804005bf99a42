// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_LAYER_OPERATORS_H
#define ECHO_LAYER_OPERATORS_H

#include "echo-step-emitter.h"

namespace ns3
{
namespace echo
{

/**
 * The kernels and communications of one transformer layer on one tensor rank, as Megatron-Core
 * issues them: column-parallel then row-parallel matrices in the attention and in the feed-forward
 * block (arXiv 1909.08053), all-reduces at their ends, or with sequence parallelism all-gathers and
 * reduce-scatters (arXiv 2205.05198). In the backward pass the reduction of a column-parallel
 * matrix's input gradient overlaps its weight gradient.
 *
 * Flops of operators are those of matrix products only; bytes count each operand once.
 */
class LayerOperators
{
  public:
    explicit LayerOperators(StepEmitter& emitter);

    /** Forward pass of layer @p layer. */
    void Forward(uint32_t layer);
    /** Backward pass of layer @p layer, what the plan recomputes included. */
    void Backward(uint32_t layer);

    /** Matrix whose columns are split over tensor ranks; its input is gathered first (sequence
     * parallelism). @param columns this rank's */
    void ColumnForward(const std::string& name, double columns);
    void ColumnBackward(const std::string& name, double columns);
    /** A norm over this rank's tokens. */
    void NormForward(const std::string& name);
    void NormBackward(const std::string& name);
    /** Reduces a [tokens x hidden] tensor over tensor ranks (all-reduce or reduce-scatter). */
    void ReduceHidden(const std::string& name);
    /** Gathers a [tokens x hidden] tensor over tensor ranks, with sequence parallelism only. */
    void GatherHidden(const std::string& name);

    /** @return bytes of a [tokens x hidden] tensor */
    uint64_t GetHiddenBytes() const
    {
        return static_cast<uint64_t>(m_tokens * m_hidden * m_bytes);
    }

    /** @return tokens on which this rank works outside of matrices */
    double GetOwnTokens() const
    {
        return m_ownTokens;
    }

  private:
    void AttentionForward();
    void AttentionBackward();
    void AttentionCoreForward();
    void AttentionCoreBackward();
    void FeedForwardForward();
    void FeedForwardBackward();
    void ActivationForward(double tokens);
    void ActivationBackward(double tokens);
    void ExpertsForward();
    void ExpertsBackward();
    void Experts(const std::string& name, double rows, double columns, bool isWeightGradient);
    void RowForward(const std::string& name, double inner);
    void RowBackward(const std::string& name, double inner);
    void ResidualForward(const std::string& name);
    void ResidualBackward(const std::string& name);
    void ExpertCollective(const std::string& name, LayoutGroup group, CollectiveKind kind);

    StepEmitter& m_emitter;
    const TrainingPlan& m_plan;
    const TransformerShape& m_model;
    bool m_masksApart;    //!< Megatron's kernel that masks and takes the softmax knows 16 bits only
    bool m_splitSequence; //!< sequence parallelism over more than one rank
    double m_tokens;      //!< of a micro-batch
    double m_ownTokens;   //!< of them, outside of matrices
    double m_hidden;
    double m_bytes;     //!< of an activation element
    double m_heads;     //!< heads of this rank, times sequences
    double m_qkv;       //!< outputs of this rank's query, key and value projection
    double m_attention; //!< inputs of this rank's output projection
    double m_ffnInput;  //!< outputs of this rank's first feed-forward matrix
    double m_ffn;       //!< inputs of this rank's second feed-forward matrix
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_LAYER_OPERATORS_H */
