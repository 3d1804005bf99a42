// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_SINGLE_SWITCH_BUILDER_H
#define ECHO_SINGLE_SWITCH_BUILDER_H

#include "echo-topology-builder.h"

namespace ns3
{
namespace echo
{

/** One non-blocking switch, leaf0, that all NICs hang on. */
class SingleSwitchBuilder : public TopologyBuilder
{
  public:
    static TypeId GetTypeId();

  private:
    void DoBuildFabric(Topology& topology, const NicTable& nics) const override;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_SINGLE_SWITCH_BUILDER_H */
