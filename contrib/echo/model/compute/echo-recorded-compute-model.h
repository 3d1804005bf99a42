// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_RECORDED_COMPUTE_MODEL_H
#define ECHO_RECORDED_COMPUTE_MODEL_H

#include "echo-compute-model.h"

namespace ns3
{
namespace echo
{

/**
 * The duration that the workload holds (recorded or modelled before), times the attribute Scale:
 * COMPUTE and COPY are scaled, HOST (CPU time) is not.
 */
class RecordedComputeModel : public ComputeModel
{
  public:
    static TypeId GetTypeId();
    Time GetDuration(const Operator& op, RankId rank) const override;

    bool IsSameForAllRanks() const override
    {
        return true;
    }

  private:
    double m_scale{1}; //!< factor on GPU time
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_RECORDED_COMPUTE_MODEL_H */
