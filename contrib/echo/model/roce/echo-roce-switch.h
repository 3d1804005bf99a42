// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_ROCE_SWITCH_H
#define ECHO_ROCE_SWITCH_H

#include "echo-roce-device.h"
#include "echo-switch-buffer.h"
#include "echo-switch-forwarding.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * A store-and-forward switch: data queues (one a traffic class) and a control queue for each egress
 * port, a shared buffer with pauses (SwitchBuffer), ECN marks (RED on the length of the class's
 * egress queue). Packets say by which port they leave, or the switch decides (SwitchForwarding).
 *
 * A packet that starts at once is never held. One that waits is released when its transmission
 * starts. Control packets (2 % of the bytes at most) are not held against the buffer.
 *
 * Defaults: buffer 32 MB, Kmin 400 KB and Kmax 1600 KB at 100 Gb/s in proportion to the rate of
 * the egress link, Pmax 0.2, alpha 1/8: the configuration published with HPCC (Li et al.,
 * SIGCOMM 2019, simulation/mix/config_doc.txt), which later simulators of training clusters use
 * too. DCQCN's paper has 5 KB, 200 KB and 0.01 for 40 Gb/s.
 */
class RoceSwitch : public RoceDevice
{
  public:
    static TypeId GetTypeId();

    RocePacket* PullData(RocePort& port, int64_t now) override;

    const SwitchBuffer& GetBuffer() const
    {
        return m_buffer;
    }

    /** Packets lost because the buffer was full. */
    uint64_t GetBufferDrops() const
    {
        return m_bufferDrops;
    }

    /** Packets lost because no way was known or the link of theirs was cut. */
    uint64_t GetRouteDrops() const
    {
        return m_routeDrops;
    }

    /** Before Seal, where packets do not bring their ways with them. */
    void SetForwarding(std::unique_ptr<SwitchForwarding> forwarding);

    /** @return null if packets bring their ways with them */
    SwitchForwarding* GetForwarding() const
    {
        return m_forwarding.get();
    }

    /**
     * @return true if the ingress port stays paused for a class as long as @p bytes of those that
     * came in by it do not leave
     */
    bool StaysPaused(uint32_t port, uint32_t trafficClass, uint64_t bytes) const
    {
        return m_buffer.StaysPaused(AccountOf(port, trafficClass), bytes);
    }

    void RestoreLink(uint32_t port, int64_t now) override;

  protected:
    void OnLost(const RocePacket& packet, int64_t now) override;
    void Receive(uint32_t port, RocePacket* packet, int64_t now) override;
    /** @throws InputError if BufferBytes cannot hold the headrooms */
    void DoSeal() override;
    /** Packets come over links only: nothing arrives sooner than the shortest takes. */
    int64_t GetLookahead() const override;

  private:
    /** RED thresholds of one egress port, wire bytes. */
    struct Thresholds
    {
        double kmin{0};
        double kmax{0};
    };

    uint32_t AccountOf(uint32_t port, uint32_t trafficClass) const
    {
        return (port << m_classShift) | trafficClass;
    }

    /** @return the port by which a packet that does not say so leaves; null: lost */
    RocePort* Forward(uint32_t port, RocePacket* packet, int64_t now);
    void SendPause(uint32_t port, uint32_t trafficClass, bool pause, int64_t now);
    /** Gives the packet's memory free. */
    void Release(const RocePacket& packet, int64_t now);
    void Hold(uint32_t port, RocePort& out, RocePacket* packet, int64_t now);
    /** Marks by chance if the queue of the packet's class is above Kmin of the port. */
    void MaybeMark(RocePort& port, RocePacket* packet, int64_t now);

    uint64_t m_bufferBytes{0};                      //!< attribute BufferBytes
    double m_alpha{0.125};                          //!< attribute PfcAlpha
    uint64_t m_margin{0};                           //!< attribute PfcMargin
    uint64_t m_kmin{400000};                        //!< attribute EcnKmin
    uint64_t m_kmax{1600000};                       //!< attribute EcnKmax
    double m_pmax{0.2};                             //!< attribute EcnPmax
    bool m_markAtDequeue{true};                     //!< attribute EcnMarkAtDequeue
    SwitchBuffer m_buffer;                          //!< packet memory
    std::vector<Thresholds> m_thresholds;           //!< by egress port
    uint32_t m_classShift{0};                       //!< 2 to its power: accounts a port
    uint64_t m_bufferDrops{0};                      //!< full buffer
    uint64_t m_routeDrops{0};                       //!< no way
    std::unique_ptr<SwitchForwarding> m_forwarding; //!< null: packets bring their ways
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_ROCE_SWITCH_H */
