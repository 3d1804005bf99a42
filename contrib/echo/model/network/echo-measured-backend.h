// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_MEASURED_BACKEND_H
#define ECHO_MEASURED_BACKEND_H

#include "echo-collective-backend.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Serves the k-th collective of a group in the time that it took in a recording, from the last
 * join on. It predicts nothing: with it, a replay of a recorded step shows how well the execution
 * graph itself reproduces the recording, apart from any model of communication.
 */
class MeasuredBackend : public CollectiveBackend
{
  public:
    static TypeId GetTypeId();

    /** Sets the time of one collective from its last join to its end; before the run. */
    void SetDuration(GroupId group, uint32_t sequence, Time duration);

    Fidelity GetFidelity() const override;

  private:
    void DoPrepare() override;
    /** @throws UnsupportedError for sends and receives and collectives without a measured time */
    void DoStart(const InstancePtr& instance) override;

    std::map<std::pair<GroupId, uint32_t>, Time> m_durations; //!< by group and sequence
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_MEASURED_BACKEND_H */
