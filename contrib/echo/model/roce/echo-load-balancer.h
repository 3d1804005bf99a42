// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_LOAD_BALANCER_H
#define ECHO_LOAD_BALANCER_H

#include "echo-roce-packet.h"

#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/random-variable-stream.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace ns3
{
namespace echo
{

class RocePort;

/** Ports of one switch by which ways of equal length lead to the same destinations. */
struct PortGroup
{
    std::vector<RocePort*> ports;
    uint32_t number{0}; //!< in its switch, from 0
};

/**
 * Chooses a way for each data packet anew, in place of one for each flow (PathChoice). Each switch
 * has an object of its own, which sees that switch only. Acknowledgements and notices keep the way
 * of their flow.
 */
class LoadBalancer : public Object
{
  public:
    static TypeId GetTypeId();
    LoadBalancer();

    /** @throws InputError if there is no load balancer of the TypeId @p type */
    static Ptr<LoadBalancer> Make(const std::string& type);

    void AssignStream(int64_t stream);

    /** @return the port that the packet takes; @p group has two or more */
    virtual RocePort* Choose(const RocePacket& packet, const PortGroup& group, int64_t now) = 0;

    /** @return true if packets of a flow overtake one another, so that receivers must reorder */
    virtual bool Reorders() const = 0;

    /** Groups are numbered anew: links have changed. */
    virtual void ForgetGroups()
    {
    }

  protected:
    /** @return a random number below @p count */
    uint32_t Draw(uint32_t count);

  private:
    Ptr<UniformRandomVariable> m_random; //!< of the switch
};

/**
 * Packet spray (Dixit et al., "On the impact of packet spraying in data center networks", INFOCOM
 * 2013): every packet takes another port, in rounds that visit each port of a group once, in an
 * order drawn anew for each round. So ports get equal numbers of packets, and switches do not fall
 * into step with one another.
 */
class SprayBalancer : public LoadBalancer
{
  public:
    static TypeId GetTypeId();
    RocePort* Choose(const RocePacket& packet, const PortGroup& group, int64_t now) override;
    bool Reorders() const override;
    void ForgetGroups() override;

  private:
    /** The present round of a group. */
    struct Round
    {
        std::vector<RocePort*> order;
        uint32_t next{0}; //!< place in the order
    };

    std::vector<Round> m_rounds; //!< by group
};

/**
 * Flowlets (Vanini et al., "Let it flow", NSDI 2017): a flow that has paused for longer than ways
 * can differ in delay may take another port, drawn at random, without reordering.
 */
class FlowletBalancer : public LoadBalancer
{
  public:
    static TypeId GetTypeId();
    RocePort* Choose(const RocePacket& packet, const PortGroup& group, int64_t now) override;
    bool Reorders() const override;
    void ForgetGroups() override;

  private:
    /** What the switch remembers of a flow. */
    struct Flowlet
    {
        int64_t last{0}; //!< ps: its latest packet
        RocePort* port{nullptr};
    };

    Time m_gap;                                       //!< attribute Gap
    std::unordered_map<uint32_t, Flowlet> m_flowlets; //!< by queue pair; looked up only
};

/**
 * Adaptive routing: every packet takes the port of the group that will have sent all that waits for
 * it the soonest; one that is paused comes last. Among equals each in its turn.
 */
class AdaptiveBalancer : public LoadBalancer
{
  public:
    static TypeId GetTypeId();
    RocePort* Choose(const RocePacket& packet, const PortGroup& group, int64_t now) override;
    bool Reorders() const override;
    void ForgetGroups() override;

  private:
    std::vector<uint32_t> m_turns; //!< by group: where the next search begins
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_LOAD_BALANCER_H */
