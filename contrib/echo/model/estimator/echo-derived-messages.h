// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_DERIVED_MESSAGES_H
#define ECHO_DERIVED_MESSAGES_H

#include "echo-derived-terms.h"

namespace ns3
{
namespace echo
{

// Messages and the terms that they add to, for the derived formulas.

/** @return the smallest whole number not below a / b */
double CeilOf(double a, double b);
/** @return bytes on the wire of a message */
double WireBytes(const WireFormat& wire, bool interHost, double bytes);
/** @return bytes that a switch has of a message before it sends on */
double PacketBytes(const WireFormat& wire, bool interHost, double bytes);
/** @return the time of a message at @p rate, from the first bit sent to the last one received */
double MessageUs(const WireFormat& wire, const GeometryEdge& edge, double bytes, double rate);
/** @return the largest part when bytes are dealt to channels */
double ChannelBytes(const CollectivePlan& plan);
/** @return the largest message when a part is cut into pieces */
double PieceBytes(const CollectivePlan& plan, double part);
/** Adds a time to the term of its kind of link. */
void Add(CostTerms& terms, bool interHost, double time);
/** @return the longer of two */
CostTerms Longer(const CostTerms& a, const CostTerms& b);

} // namespace echo
} // namespace ns3

#endif /* ECHO_DERIVED_MESSAGES_H */
