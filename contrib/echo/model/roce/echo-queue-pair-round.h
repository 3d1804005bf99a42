// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_QUEUE_PAIR_ROUND_H
#define ECHO_QUEUE_PAIR_ROUND_H

#include "echo-queue-pair.h"

#include <cstdint>

namespace ns3
{
namespace echo
{

/** Queue pairs that may send by a port, in the order of their turns; linked through them. */
class QueuePairRound
{
  public:
    uint32_t GetCount() const
    {
        return m_count;
    }

    void PushBack(QueuePair& queuePair)
    {
        queuePair.state = QueuePair::State::READY;
        queuePair.nextReady = nullptr;
        (m_count == 0 ? m_first : m_last->nextReady) = &queuePair;
        m_last = &queuePair;
        ++m_count;
    }

    void PushFront(QueuePair& queuePair)
    {
        queuePair.state = QueuePair::State::READY;
        queuePair.nextReady = m_first;
        m_last = m_count == 0 ? &queuePair : m_last;
        m_first = &queuePair;
        ++m_count;
    }

    /** @return the one whose turn it is; null if the round is empty */
    const QueuePair* Peek() const
    {
        return m_count > 0 ? m_first : nullptr;
    }

    /** @return the one whose turn it is; the round is not empty */
    QueuePair& Pop()
    {
        QueuePair& queuePair = *m_first;
        m_first = queuePair.nextReady;
        --m_count;
        return queuePair;
    }

    /** Takes out a queue pair that may wait anywhere in the round. */
    void Remove(QueuePair& queuePair)
    {
        for (uint32_t left = m_count; left > 0; --left)
        {
            QueuePair& next = Pop();
            if (&next != &queuePair)
            {
                PushBack(next);
            }
        }
    }

  private:
    QueuePair* m_first{nullptr}; //!< whose turn it is
    QueuePair* m_last{nullptr};  //!< meaningless while empty
    uint32_t m_count{0};         //!< of queue pairs
};

/** A queue pair that waits for a time. */
struct QueuePairTimer
{
    int64_t time; //!< ps
    bool timeout; //!< retransmission timer; else its rate lets it send
    QueuePair* queuePair;

    /** Later first, for a heap whose top is the earliest. */
    bool operator<(const QueuePairTimer& other) const
    {
        return std::tie(time, timeout, queuePair->GetKey()) >
               std::tie(other.time, other.timeout, other.queuePair->GetKey());
    }
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_QUEUE_PAIR_ROUND_H */
