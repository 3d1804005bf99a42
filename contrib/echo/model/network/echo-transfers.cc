// SPDX-License-Identifier: GPL-2.0-only
#include "echo-transfers.h"

#include "ns3/simulator.h"

#include <utility>

namespace ns3
{
namespace echo
{

FlowRecord DescribeFlow(const Message& message, uint64_t id, Time start, Time end)
{
    FlowRecord record;
    record.id = id;
    record.collective = message.collective;
    record.source = message.source;
    record.destination = message.destination;
    record.label = message.label;
    record.bytes = message.bytes;
    record.start = start;
    record.end = end;
    return record;
}

Transfers::Transfers(const DeliveredTrace& trace) : m_trace(trace)
{
}

void Transfers::SetSink(RecordSink* sink)
{
    m_sink = sink;
}

uint32_t Transfers::Add(const Message& message,
                        uint32_t hops,
                        NetworkModel::DeliveredCallback delivered)
{
    return m_pool.Add(
        {message, std::move(delivered), m_nextId++, Simulator::Now().GetPicoSeconds(), hops});
}

void Transfers::Deliver(uint32_t number)
{
    const Transfer transfer = m_pool.Take(number);
    if (m_sink || !m_trace.IsEmpty())
    {
        FlowRecord record = DescribeFlow(
            transfer.message, transfer.id, PicoSeconds(transfer.start), Simulator::Now());
        record.hops = transfer.hops;
        m_trace(record);
        if (m_sink)
        {
            m_sink->OnFlow(record);
        }
    }
    transfer.delivered();
}

void Transfers::Clear()
{
    m_pool.Clear();
}

} // namespace echo
} // namespace ns3
