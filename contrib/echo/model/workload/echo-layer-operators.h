// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_LAYER_OPERATORS_H
#define ECHO_LAYER_OPERATORS_H

#include "echo-step-emitter.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * The kernels and communications of one transformer layer on one rank, as Megatron-Core issues
 * them: column-parallel then row-parallel matrices in the attention and in the feed-forward block
 * (arXiv 1909.08053), all-reduces at their ends, or with sequence parallelism all-gathers and
 * reduce-scatters (arXiv 2205.05198). In the backward pass the reduction of a column-parallel
 * matrix's input gradient overlaps its weight gradient; with overlapTensor all tensor-parallel
 * communication overlaps its matrix product (Transformer Engine's userbuffers).
 *
 * Flops of operators are those of matrix products only; bytes count each operand once.
 */
class LayerOperators
{
  public:
    /** Products that a backward pass has put off, with the names of their operators. */
    using Deferred = std::vector<std::pair<std::string, StepEmitter::Product>>;

    /** @param expertIndex this rank's in its expert group, which decides its load */
    explicit LayerOperators(StepEmitter& emitter, uint32_t expertIndex = 0);

    /** Forward pass of layer @p layer. */
    void Forward(uint32_t layer);
    /**
     * Backward pass of layer @p layer.
     * @param recomputes the forward pass is run again first
     */
    void Backward(uint32_t layer, bool recomputes);
    /**
     * Forward pass of layer @p forward and backward pass of layer @p backward in turns, in lanes 0
     * and 1: the tokens of the one travel beside kernels of the other (Megatron-Core's
     * TransformerLayerSchedulePlan). With delayWeights the weights' gradients of the experts are
     * made while their tokens travel home.
     */
    void ForwardBackward(uint32_t forward, uint32_t backward);
    /** Weight gradients go to @p deferred instead of being made; null: they are made. */
    void DeferWeights(Deferred* deferred)
    {
        m_deferred = deferred;
    }

    /** Makes the gradients that were put off. */
    void MakeDeferred(const Deferred& deferred);

    /**
     * Matrix whose columns are split over tensor ranks; its input is gathered first (sequence
     * parallelism).
     * @param columns this rank's
     * @param isOutput the output layer: in the parameters' format, unless the plan says otherwise
     */
    void ColumnForward(const std::string& name, double columns, bool isOutput = false);
    void ColumnBackward(const std::string& name, double columns, bool isOutput = false);
    /**
     * The same without the cast of what comes in.
     * @param inner columns of the input: with sequence parallelism it is gathered forward, and
     *        backward, and its gradient is reduced over the tensor ranks
     */
    void SplitForward(const std::string& name, double columns, double inner, bool isOutput = false);
    void SplitBackward(const std::string& name,
                       double columns,
                       double inner,
                       bool isOutput = false);
    /** A norm over this rank's tokens. */
    void NormForward(const std::string& name);
    void NormBackward(const std::string& name);
    /** Reduces a [tokens x hidden] tensor over tensor ranks (all-reduce or reduce-scatter). */
    void ReduceHidden(const std::string& name);
    /** Gathers a [tokens x hidden] tensor over tensor ranks, with sequence parallelism only. */
    void GatherHidden(const std::string& name);

    /** Hidden states and embeddings of the next tokens become inputs of a further layer. */
    void JoinForward();
    void JoinBackward();

    /** @return bytes of a [tokens x hidden] tensor */
    uint64_t GetHiddenBytes() const
    {
        return GetBytes(m_hidden);
    }

    /** @return bytes of a [tokens x @p columns] tensor */
    uint64_t GetBytes(double columns) const
    {
        return static_cast<uint64_t>(m_tokens * columns * m_bytes);
    }

    OperatorId GatherAsync(const std::string& name, double columns);

    /** @return tokens on which this rank works outside of matrices */
    double GetOwnTokens() const
    {
        return m_ownTokens;
    }

  private:
    /** @return whether products of the output layer (or of another) keep the parameters' format */
    bool IsWide(bool isOutput) const
    {
        return isOutput && !m_plan.narrowOutput;
    }

    void SetGraph(GraphModule module);
    void AttentionForward();
    void AttentionBackward();
    void QkvForward();
    void RotaryForward();
    void QkvBackward();
    void LatentForward();
    void LatentExpansionForward();
    void LatentBackward();
    void AttentionCoreForward();
    void AttentionCoreBackward();
    void UnfusedCoreForward();
    void UnfusedCoreBackward();
    void FusedCore(bool isBackward);
    void CoreStep(bool isBackward, double share, const std::string& name, bool sharesHeads = false);
    double GetStepShare(uint32_t step) const;
    void GatheredCore(bool isBackward);
    void RingCore(bool isBackward);
    void PartsCore(bool isBackward);
    void ExchangedCore(bool isBackward);
    void SwapHeads(const std::string& name, double columns);
    void MergeStep(bool isBackward,
                   uint32_t step,
                   const std::string& name,
                   double keyValues,
                   double sumBytes);
    OperatorId ExchangeContext(const std::string& name, uint32_t step, bool withGradients);
    void GatherContext(const std::string& name, CollectiveKind kind);
    void MlpForward(uint32_t inner, const std::string& name);
    void MlpBackward(uint32_t inner, const std::string& name);
    void ActivationForward(double tokens, double inner);
    void ActivationBackward(double tokens, double inner);
    // A layer in four phases each way; tokens travel between them where it has experts.
    void ForwardToDispatch();
    void ForwardExperts();
    void ForwardFromCombine();
    void BackwardToCombine();
    void BackwardExperts();
    void BackwardFromDispatch();
    void Begin(uint32_t layer, const char* way);
    void Recompute(RecomputeModule module, const std::function<void()>& make);
    void RouteForward();
    void RouteBackward();
    void ExpertsForward();
    void ExpertsBackward();
    void ExpertActivationForward();
    void ExpertBias(bool isBackward);
    void SortRows(const std::string& name);
    /** A matrix of every expert of this rank; @p columns: this rank's share of its columns. */
    void Experts(const std::string& name, double columns, bool isWeightGradient);
    void Product(const std::string& name, double rows, double columns, double inner);
    void ProductBeside(OperatorId gather, const std::string& name, double columns, double inner);
    void WeightGradient(const std::string& name,
                        double rows,
                        double columns,
                        double inner,
                        bool isWide = false);
    void Emit(const StepEmitter::Product& product);
    void RowForward(const std::string& name, double inner);
    void RowBackward(const std::string& name, double inner);
    void ResidualForward(const std::string& name);
    void ResidualBackward(const std::string& name);
    double GetTravellers(double share) const;
    double GetRowsTo(uint32_t peer) const;
    OperatorId ExpertAllToAll(const std::string& name, bool isDispatch);
    void ExpertTensor(const std::string& name, CollectiveKind kind);

    StepEmitter& m_emitter;
    const TrainingPlan& m_plan;
    const TransformerShape& m_model;
    uint32_t m_expertIndex;
    Deferred* m_deferred{nullptr};
    uint32_t m_layer{0};     //!< that is being written
    OperatorId m_travels[2]; //!< tokens under way, forward and backward
    bool m_masksApart;    //!< Megatron's kernel that masks and takes the softmax knows 16 bits only
    bool m_splitSequence; //!< sequence parallelism over more than one rank
    bool m_overlaps;      //!< tensor-parallel communication beside its product
    double m_tokens;      //!< of a micro-batch on this rank's tensor group
    double m_ownTokens;   //!< of them, outside of matrices
    double m_hidden;
    double m_bytes;      //!< of an activation element
    double m_heads;      //!< heads of this rank, times sequences
    double m_qkv;        //!< queries, keys and values of a token, this rank's heads
    double m_keyValues;  //!< of them keys and values
    double m_attention;  //!< inputs of this rank's output projection
    double m_routed;     //!< tokens that this rank sends to experts, each counted topK times
    double m_expertRows; //!< tokens that this rank's experts get
    double m_expertFfn;  //!< this rank's share of an expert's inner size
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_LAYER_OPERATORS_H */
