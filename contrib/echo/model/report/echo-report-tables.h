// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_REPORT_TABLES_H
#define ECHO_REPORT_TABLES_H

#include "echo-report-column.h"

#include "ns3/echo-records.h"

#include <string>

namespace ns3
{
namespace echo
{

/** A message with the names of its ends, which only the report knows. */
struct FlowRow
{
    const FlowRecord& flow;
    const std::string& source;      //!< device name, or its id as text
    const std::string& destination; //!< device name, or its id as text
};

/** A direction of a link with the time that its shares are of. */
struct LinkRow
{
    const LinkRecord& link;
    Time stepTime;
};

// The columns of the table files.

const ReportColumns<CollectiveRecord>& GetCollectiveColumns();
const ReportColumns<FlowRow>& GetFlowColumns();
const ReportColumns<LinkRow>& GetLinkColumns();
const ReportColumns<RankRecord>& GetRankColumns();

/**
 * @return share of the link's capacity over the step that its bytes take, 0 if that has no length.
 * What the link transmits before and after the step (background traffic, a packet under way, last
 * acknowledgements) is among its bytes: 1 at most.
 */
double MeanUtilization(const LinkRecord& link, Time stepTime);
/** @return true if both ends are NICs or fabric switches: a link between hosts */
bool IsFabricLink(const LinkRecord& link);

} // namespace echo
} // namespace ns3

#endif /* ECHO_REPORT_TABLES_H */
