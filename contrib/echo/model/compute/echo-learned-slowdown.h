// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_LEARNED_SLOWDOWN_H
#define ECHO_LEARNED_SLOWDOWN_H

#include "echo-kernel-features.h"
#include "echo-slowdown-model.h"
#include "echo-tree-ensemble.h"

#include "ns3/echo-gpu-spec.h"

#include <map>
#include <tuple>

namespace ns3
{
namespace echo
{

/** What a learned model's number means. */
enum class SlowdownTarget : uint8_t
{
    LOG_FACTOR, //!< natural logarithm of the factor
    FACTOR,     //!< the factor (the paper)
    EXCESS,     //!< the factor less 1 (the paper's published module)
};

const char* ToString(SlowdownTarget target);
/** @throws InputError that lists the names */
SlowdownTarget ParseSlowdownTarget(const std::string& text);

/**
 * Factors by regression trees on what is known of a kernel and of the communication beside it.
 *
 * The model says which features it takes and what its number means (its tags "echo_target" and
 * "echo_defaults"). A feature that a kernel lacks is (1) for throughputs, what its operations and
 * bytes make of the GPU's peaks, and for `clock`, the attribute Clock (1); else (2) the model's
 * default, the median of its training rows; else (3) missing, for which each tree has a branch.
 * Factors below 1 count as 1.
 */
class LearnedSlowdown : public SlowdownModel
{
  public:
    static TypeId GetTypeId();

    /**
     * @param ensemble the trees
     * @param file for messages
     * @param features names of the model's features, if it has none itself; else empty
     * @param target if the model does not say: what its number means
     * @throws InputError for features that Echo does not know, or too few names
     */
    void SetModel(std::shared_ptr<const TreeEnsemble> ensemble,
                  const std::string& file,
                  const std::vector<std::string>& features = {},
                  SlowdownTarget target = SlowdownTarget::FACTOR);
    /** Sets the GPU, for rule (1) and its category. */
    void SetGpu(const GpuSpec& gpu);

    double GetFactor(const ExecutionGraph& graph,
                     const Operator& op,
                     Time alone,
                     const Operator& communication) const override;
    /** @return the factor, at least 1 */
    double GetFactor(const OverlapDescription& description) const;
    /** @return what the trees give */
    float GetRaw(const OverlapDescription& description) const;
    /** @return what is known of an operator and the communication beside it, rule (1) applied */
    OverlapDescription Describe(const ExecutionGraph& graph,
                                const Operator& op,
                                Time alone,
                                const Operator& communication) const;

  private:
    using Key = std::tuple<const ExecutionGraph*, uint32_t, int64_t, uint32_t>;

    std::shared_ptr<const TreeEnsemble> m_ensemble;
    SlowdownTarget m_target{SlowdownTarget::FACTOR};
    std::vector<size_t> m_order;     //!< place in MakeFeatures() of each of the model's features
    std::vector<float> m_defaults;   //!< by the model's order; not a number: none
    bool m_seesCommunication{false}; //!< the model has a feature of the communication
    GpuSpec m_gpu;
    double m_clock{1}; //!< of the simulated GPUs over their usual one

    mutable std::map<Key, double> m_known; //!< by graph, operator, time alone, communication
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_LEARNED_SLOWDOWN_H */
