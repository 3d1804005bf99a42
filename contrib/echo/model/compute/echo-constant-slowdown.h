// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_CONSTANT_SLOWDOWN_H
#define ECHO_CONSTANT_SLOWDOWN_H

#include "echo-compute-model.h"

namespace ns3
{
namespace echo
{

/** The same factor (attribute Factor) for every kernel; copies are not slowed. */
class ConstantSlowdown : public SlowdownModel
{
  public:
    static TypeId GetTypeId();
    double GetFactor(const Operator& op) const override;

  private:
    double m_factor{1}; //!< on a kernel's time beside communication
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_CONSTANT_SLOWDOWN_H */
