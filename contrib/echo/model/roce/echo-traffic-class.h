// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TRAFFIC_CLASS_H
#define ECHO_TRAFFIC_CLASS_H

#include "echo-roce-packet.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace ns3
{
namespace echo
{

/** How one class of data packets shares its port with the others. */
struct TrafficClass
{
    static constexpr uint32_t MOST = 8; //!< priorities of IEEE 802.1Q

    bool strict{false}; //!< before all classes with weights and all strict ones after it
    uint32_t weight{1}; //!< else: part of what strict classes leave, 1 to 1000
};

/**
 * Which class a port serves next: strict ones in order, then the others by their weights. Deficit
 * round robin (Shreedhar and Varghese, SIGCOMM 1995) in the form that charges a packet after it was
 * chosen (surplus round robin), as a NIC makes packets only then.
 */
class ClassScheduler
{
  public:
    /** @param quantum bytes a turn for a weight of 1; at least a full packet */
    ClassScheduler(const std::vector<TrafficClass>& classes, uint32_t quantum);

    /** @param eligible bit c: class c has packets and may send; not 0. @return the class */
    uint32_t Pick(uint32_t eligible);

    /** Class @p c has sent @p bytes. */
    void Charge(uint32_t c, uint32_t bytes)
    {
        m_credit[c] -= bytes;
    }

  private:
    uint32_t m_count;                                    //!< classes
    uint32_t m_strict{0};                                //!< bit c: class c is strict
    std::array<int64_t, TrafficClass::MOST> m_quantum{}; //!< by class: bytes a turn
    std::array<int64_t, TrafficClass::MOST> m_credit{};  //!< by class: bytes left of its turn
    uint32_t m_turn{0};                                  //!< class whose turn it is
};

/** The data queues of a port with several traffic classes. */
struct ClassQueues
{
    ClassQueues(const std::vector<TrafficClass>& classes, uint32_t quantum)
        : scheduler(classes, quantum)
    {
    }

    ClassScheduler scheduler;
    std::array<RocePacketQueue, TrafficClass::MOST> queues; //!< by class
    std::array<uint64_t, TrafficClass::MOST> bytes{};       //!< by class: wire bytes queued
};

/** The data packets that wait at a port, of one class or of several. */
class DataQueues
{
  public:
    /** To be called if there are several classes. */
    void SetClasses(const std::vector<TrafficClass>& classes, uint32_t quantum)
    {
        m_classes = std::make_unique<ClassQueues>(classes, quantum);
    }

    bool HasClasses() const
    {
        return m_classes != nullptr;
    }

    ClassScheduler& GetScheduler()
    {
        return m_classes->scheduler;
    }

    void Push(RocePacket* packet)
    {
        m_bytes += packet->wireBytes;
        if (!m_classes)
        {
            m_single.Push(packet);
            return;
        }
        m_classes->queues[packet->trafficClass].Push(packet);
        m_classes->bytes[packet->trafficClass] += packet->wireBytes;
    }

    /** @return a packet of a class of @p eligible, of which one waits at least */
    RocePacket* Pop(uint32_t eligible)
    {
        RocePacket* packet = m_classes ? PopClass(eligible) : m_single.Pop();
        m_bytes -= packet->wireBytes;
        return packet;
    }

    /** @return the packet whose turn it is, if there is one class; else null */
    const RocePacket* Peek() const
    {
        return m_single.Front();
    }

    bool IsEmpty(uint32_t trafficClass) const
    {
        return (m_classes ? m_classes->queues[trafficClass] : m_single).IsEmpty();
    }

    /** @return wire bytes of all classes */
    uint64_t GetBytes() const
    {
        return m_bytes;
    }

    /** @return wire bytes of a class */
    uint64_t GetClassBytes(uint32_t trafficClass) const
    {
        return m_classes ? m_classes->bytes[trafficClass] : m_bytes;
    }

    /** @return wire bytes of a class that came in by a port of this number */
    uint64_t CountFrom(uint32_t ingress, uint32_t trafficClass) const;

  private:
    RocePacket* PopClass(uint32_t eligible);

    RocePacketQueue m_single;               //!< one class
    uint64_t m_bytes{0};                    //!< of all
    std::unique_ptr<ClassQueues> m_classes; //!< null: one class
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_TRAFFIC_CLASS_H */
