// SPDX-License-Identifier: GPL-2.0-only
// What a rank executor records.
#include "echo-rank-executor.h"

namespace ns3
{
namespace echo
{

void RankExecutor::RecordTimed(uint32_t index, OperatorId id, const Operator& op, Time end)
{
    const Stream& stream = m_streams[index];
    const Time extra = end - stream.start - stream.alone;
    m_slowdown += extra;
    if (!m_context.IsRecording())
    {
        return;
    }
    OperatorRecord& record = m_context.record;
    record.rank = m_rank;
    record.stream = StreamId(index);
    record.op = id;
    record.activity = op.type == OperatorType::COMPUTE ? ActivityKind::COMPUTE
                      : op.type == OperatorType::COPY  ? ActivityKind::COPY
                                                       : ActivityKind::HOST;
    m_context.SetName(m_program->GetName(op));
    record.replicas = m_folded ? m_folded->replicas : 1;
    record.ready = stream.start;
    record.start = stream.start;
    record.end = end;
    record.slowdown = extra;
    record.collective = CollectiveId();
    record.group = GroupKind::OTHER;
    record.bytes = 0;
    m_context.Emit();
}

void RankExecutor::RecordCommunication(uint32_t index, const CommunicationTimes& times, Time end)
{
    if (!m_context.IsRecording())
    {
        return;
    }
    const Stream& stream = m_streams[index];
    const OperatorId id = m_program->GetStream(StreamId(index))[stream.cursor];
    const Operator& op = m_program->GetOperator(id);
    const CommunicationDescription& description = m_program->GetCommunication(op);
    OperatorRecord& record = m_context.record;
    record.rank = m_rank;
    record.stream = StreamId(index);
    record.op = id;
    record.activity = ActivityKind::COMMUNICATION;
    m_context.SetName(m_program->GetName(op));
    record.replicas = m_folded ? m_folded->replicas : 1;
    record.ready = stream.start;
    record.start = times.start;
    record.end = end;
    record.slowdown = stream.isHeld ? end - stream.held : Time();
    record.collective = times.collective;
    record.group = m_context.workload->GetGroup(m_rank, description.groupSlot)->GetKind();
    record.bytes = description.spec.bytes;
    for (const auto& element : description.elements)
    {
        record.bytes += element.bytes;
    }
    m_context.Emit();
}

} // namespace echo
} // namespace ns3
