// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TRANSFERS_H
#define ECHO_TRANSFERS_H

#include "echo-network-model.h"

#include "ns3/echo-pool.h"

#include <cstdint>

namespace ns3
{
namespace echo
{

/** @return the record of a message, without packets and hops */
FlowRecord DescribeFlow(const Message& message, uint64_t id, Time start, Time end);

/**
 * The messages that a model of the network was given and has not delivered, by number, and the
 * queues in which they wait for one another.
 */
class Transfers
{
  public:
    using DeliveredTrace = TracedCallback<const FlowRecord&>;

    /** @param trace of the network, which outlives this */
    explicit Transfers(const DeliveredTrace& trace);

    /** @param sink is told of what is delivered; may be null */
    void SetSink(RecordSink* sink);

    /**
     * From now on the message is on its way. @param hops links that it traverses
     * @return its number until it is delivered
     */
    uint32_t Add(const Message& message, uint32_t hops, NetworkModel::DeliveredCallback delivered);

    /** The message has arrived, now: tells those who listen, then whoever sent it. */
    void Deliver(uint32_t number);

    const Message& Get(uint32_t number) const
    {
        return m_pool[number].message;
    }

    void Append(PoolQueue& queue, uint32_t number)
    {
        m_pool.Append(queue, number);
    }

    /** @return the first message of a queue that is not empty, which leaves the queue */
    uint32_t PopFirst(PoolQueue& queue)
    {
        return m_pool.PopFirst(queue);
    }

    /** @return messages not delivered */
    uint64_t GetCount() const
    {
        return m_pool.GetCount();
    }

    /** Forgets all; nobody is told. */
    void Clear();

  private:
    struct Transfer
    {
        Message message;
        NetworkModel::DeliveredCallback delivered;
        uint64_t id{0};   //!< how many messages came before
        int64_t start{0}; //!< ps
        uint32_t hops{0};
    };

    const DeliveredTrace& m_trace;
    RecordSink* m_sink{nullptr};
    Pool<Transfer> m_pool;
    uint64_t m_nextId{0};
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_TRANSFERS_H */
