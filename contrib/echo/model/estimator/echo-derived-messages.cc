// SPDX-License-Identifier: GPL-2.0-only
#include "echo-derived-messages.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace echo
{

double CeilOf(double a, double b)
{
    return std::ceil(a / b);
}

double WireBytes(const WireFormat& wire, bool interHost, double bytes)
{
    return interHost && wire.payloadBytes > 0
               ? bytes + wire.headerBytes * CeilOf(bytes, wire.payloadBytes)
               : bytes;
}

double PacketBytes(const WireFormat& wire, bool interHost, double bytes)
{
    return interHost && wire.payloadBytes > 0
               ? std::min(bytes, wire.payloadBytes) + wire.headerBytes
               : 0;
}

double MessageUs(const WireFormat& wire, const GeometryEdge& edge, double bytes, double rate)
{
    return edge.delayUs + WireBytes(wire, edge.interHost, bytes) / rate +
           PacketBytes(wire, edge.interHost, bytes) * edge.hopUsPerByte;
}

double ChannelBytes(const CollectivePlan& plan)
{
    return std::ceil(static_cast<double>(plan.spec.bytes) / std::max(plan.choice.channels, 1u));
}

double PieceBytes(const CollectivePlan& plan, double part)
{
    const auto chunk = static_cast<double>(plan.choice.chunkBytes);
    return chunk > 0 ? std::min(chunk, part) : part;
}

void Add(CostTerms& terms, bool interHost, double time)
{
    (interHost ? terms.inter : terms.intra) += time;
}

CostTerms Longer(const CostTerms& a, const CostTerms& b)
{
    return b.GetTotal() > a.GetTotal() ? b : a;
}

} // namespace echo
} // namespace ns3
