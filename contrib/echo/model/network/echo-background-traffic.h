// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_BACKGROUND_TRAFFIC_H
#define ECHO_BACKGROUND_TRAFFIC_H

#include "echo-network-model.h"

#include "ns3/echo-traffic-spec.h"
#include "ns3/object.h"
#include "ns3/random-variable-stream.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Sends the traffic of a TrafficSpec over a model of the network, whichever it is. A pair of NICs
 * uses 8 labels (connections), drawn for each flow, as services keep connections; flows of one
 * follow one another.
 */
class BackgroundTraffic : public Object
{
  public:
    static TypeId GetTypeId();
    BackgroundTraffic();

    /**
     * Schedules the first flows.
     * @param stream random stream
     * @param isWanted asked before each flow; once false, no more follow
     * @throws InputError if the cluster has too few NICs for it
     */
    void Start(Ptr<NetworkModel> network,
               TopologyPtr topology,
               const TrafficSpec& spec,
               int64_t stream,
               std::function<bool()> isWanted);

    uint64_t GetFlowCount() const
    {
        return m_flows;
    }

    uint64_t GetDeliveredCount() const
    {
        return m_delivered;
    }

    /** @return bytes of all flows so far */
    uint64_t GetBytes() const
    {
        return m_bytes;
    }

  protected:
    void DoDispose() override;

  private:
    bool GoesOn() const;
    void ScheduleArrival();
    void Arrive();
    void Burst();
    void StartPermutation();
    void SendTo(uint32_t source, uint32_t destination, std::function<void()> then);
    /** @return a NIC of another host than that of @p nic */
    uint32_t DrawOther(uint32_t nic);
    uint32_t Draw(size_t count);

    Ptr<NetworkModel> m_network;
    TopologyPtr m_topology;
    TrafficSpec m_spec;
    std::function<bool()> m_isWanted;
    Ptr<UniformRandomVariable> m_random;
    std::vector<DeviceId> m_nics;
    std::vector<double> m_rates; //!< by NIC: sum of bit/s up to and with it
    double m_meanGap{0};         //!< POISSON: ps between two flows
    std::vector<std::shared_ptr<std::function<void()>>> m_repeats; //!< PERMUTATION: by pair
    uint64_t m_flows{0};
    uint64_t m_delivered{0};
    uint64_t m_bytes{0};
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_BACKGROUND_TRAFFIC_H */
