// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_CONSTANT_SLOWDOWN_H
#define ECHO_CONSTANT_SLOWDOWN_H

#include "echo-slowdown-model.h"

#include <map>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** Measured factors of one generation of GPUs, by kind of kernel. */
struct SlowdownFactors
{
    std::vector<std::string> gpus;         //!< beginnings of names of GPUs that they hold for
    double other{1};                       //!< of kinds that have none of their own
    std::map<KernelKind, double> byKernel; //!< at least 1
};

/**
 * The same factor for every kernel (attribute Factor), or one by kind of kernel; copies are not
 * slowed.
 */
class ConstantSlowdown : public SlowdownModel
{
  public:
    static TypeId GetTypeId();
    /** Factors by kind of kernel instead of the attribute. */
    void SetFactors(const SlowdownFactors& factors);
    double GetFactor(const ExecutionGraph& graph,
                     const Operator& op,
                     Time alone,
                     const Operator& communication) const override;

  private:
    double m_factor{1};        //!< on a kernel's time beside communication
    bool m_byKernel{false};    //!< m_factors hold
    SlowdownFactors m_factors; //!< by kind of kernel
};

/** @return kind of a COMPUTE operator: as the workload says, else as its name says */
KernelKind GetKernelKind(const ExecutionGraph& graph, const Operator& op);

} // namespace echo
} // namespace ns3

#endif /* ECHO_CONSTANT_SLOWDOWN_H */
