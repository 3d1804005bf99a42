// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_ROCE_CHANNEL_H
#define ECHO_ROCE_CHANNEL_H

#include "ns3/channel.h"
#include "ns3/nstime.h"

#include <array>

namespace ns3
{
namespace echo
{

class RocePort;

/** A full-duplex link between two RocePorts: a fixed delay each way. */
class RoceChannel : public Channel
{
  public:
    static TypeId GetTypeId();

    /** Joins two ports; to be called once. */
    void Connect(Ptr<RocePort> a, Ptr<RocePort> b);

    Time GetDelay() const
    {
        return m_delay;
    }

    std::size_t GetNDevices() const override;
    Ptr<NetDevice> GetDevice(std::size_t i) const override;

  protected:
    void DoDispose() override;

  private:
    Time m_delay;                         //!< propagation, one way
    std::array<Ptr<RocePort>, 2> m_ports; //!< its ends
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_ROCE_CHANNEL_H */
