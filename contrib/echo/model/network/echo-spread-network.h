// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_SPREAD_NETWORK_H
#define ECHO_SPREAD_NETWORK_H

#include "echo-network-model.h"

#include "ns3/echo-pool.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace ns3
{
namespace echo
{

/**
 * Divides messages between NICs among all ways of equal length, for models whose messages take one:
 * what packets do that choose their ports one by one. A message is delivered with its last part;
 * each part is a flow in records.
 */
class SpreadNetwork : public NetworkModel
{
  public:
    static TypeId GetTypeId();

    /** To be called before Prepare. @param inner carries the parts */
    void Set(Ptr<NetworkModel> inner);

    /** @param router with its attribute Spread; without it nothing is divided */
    void Prepare(Ptr<Router> router, RecordSink* sink) override;
    void Send(const Message& message, DeliveredCallback delivered) override;
    Fidelity GetFidelity() const override;
    void ReportLinks(RecordSink& sink, Time duration) const override;
    NetworkTotals GetTotals() const override;
    std::string DescribeTrouble() const override;

  protected:
    void DoDispose() override;

  private:
    /** A message whose parts are on their way. */
    struct Divided
    {
        DeliveredCallback delivered;
        uint32_t parts{0}; //!< not delivered
    };

    void Arrive(uint32_t number);

    uint64_t m_leastBytes{4096}; //!< attribute LeastBytes
    Ptr<NetworkModel> m_inner;
    Ptr<Router> m_router;
    std::map<std::pair<DeviceId, DeviceId>, uint32_t> m_ways; //!< of pairs that sent
    uint64_t m_changes{0};                                    //!< of links, when these were found
    Pool<Divided> m_divided;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_SPREAD_NETWORK_H */
