// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_LINK_MERGER_H
#define ECHO_LINK_MERGER_H

#include "ns3/echo-records.h"

#include <map>

namespace ns3
{
namespace echo
{

/**
 * Makes one record of a link's direction where several models served it: counters add up, peaks
 * take the largest. Busy times add up too; they overlap only where models are uncoupled.
 */
class LinkMerger : public RecordSink
{
  public:
    void OnLink(const LinkRecord& record) override;
    /** Passes the merged records on, in port order. */
    void Report(RecordSink& sink) const;

  private:
    std::map<PortId, LinkRecord> m_links; //!< merged so far
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_LINK_MERGER_H */
