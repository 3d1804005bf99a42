// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_RUN_SINKS_H
#define ECHO_RUN_SINKS_H

#include "ns3/echo-placement.h"
#include "ns3/echo-records.h"

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/** Adds up what the summary needs and passes everything on, or as much as is not thrown away. */
class TotalsSink : public RecordSink
{
  public:
    TotalsSink(RecordSink& next, PlacementPtr placement)
        : m_next(next), m_placement(std::move(placement)), m_topology(*m_placement->GetTopology())
    {
    }

    /** Passes no more on once @p isVain says that this pass will be thrown away. */
    void StopWhen(std::function<bool()> isVain)
    {
        m_isVain = std::move(isVain);
    }

    void OnBegin(const std::vector<SimulatedRank>& ranks) override
    {
        m_next.OnBegin(ranks);
    }

    void OnOperator(const OperatorRecord& record) override
    {
        Pass(&RecordSink::OnOperator, record);
    }

    void OnCollective(const CollectiveRecord& record) override
    {
        const uint64_t count = record.replicas;
        collectives += count;
        payloadBytes += count * record.payloadBytes;
        contendedAnalytical +=
            record.contended && record.fidelity == Fidelity::ANALYTICAL ? count : 0;
        uncoupled += record.uncoupled ? count : 0;
        extrapolated += record.extrapolated ? count : 0;
        needsPayload += record.ranks > 1 && record.bytes > 0;
        Pass(&RecordSink::OnCollective, record);
    }

    void OnFlow(const FlowRecord& record) override
    {
        Pass(&RecordSink::OnFlow, record);
    }

    void OnLink(const LinkRecord& record) override
    {
        wireBytes += m_topology.IsFabricLink(record.link) ? record.wireBytes : 0;
        Pass(&RecordSink::OnLink, record);
    }

    void OnRank(const RankRecord& record) override
    {
        RankRecord placed = record; // the timeline knows no hosts
        placed.host = m_placement->GetHost(record.rank).Get();
        Pass(&RecordSink::OnRank, placed);
    }

    uint64_t collectives{0};
    uint64_t payloadBytes{0};
    uint64_t contendedAnalytical{0};
    uint64_t uncoupled{0};
    uint64_t extrapolated{0};
    uint64_t needsPayload{0}; //!< instances that must move bytes
    uint64_t wireBytes{0};    //!< over fabric links

  private:
    template <typename Record>
    void Pass(void (RecordSink::*take)(const Record&), const Record& record)
    {
        if (!m_isVain || !m_isVain())
        {
            (m_next.*take)(record);
        }
    }

    RecordSink& m_next;
    PlacementPtr m_placement;
    const Topology& m_topology;
    std::function<bool()> m_isVain; //!< empty: never
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_RUN_SINKS_H */
