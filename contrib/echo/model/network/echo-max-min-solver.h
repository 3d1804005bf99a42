// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_MAX_MIN_SOLVER_H
#define ECHO_MAX_MIN_SOLVER_H

#include <cstdint>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Max-min fair shares: no flow can have more without taking from one that has as little or less
 * (Bertsekas and Gallager, Data Networks, section 6.5.2).
 *
 * Found in passes: a link whose equal share is the least that any of its flows finds on its path is
 * a bottleneck, so its flows have that share; the rest is solved for what they leave. Bottlenecks
 * that do not depend on one another are found in one pass, so passes are few.
 *
 * Pure and in whole bits per second: shares do not depend on the order of flows or links, and no
 * link is ever given more than it has. A full link may keep fewer bits per second than it has
 * flows at the highest rate.
 *
 * One object serves many problems: Clear, AddLink and AddFlow, Solve. Its memory is kept.
 */
class MaxMinSolver
{
  public:
    void Clear();
    /** @param capacity bit/s. @return the link's number, from 0 */
    uint32_t AddLink(uint64_t capacity);
    /**
     * @param links numbers of the links that the flow crosses, each once, at least one
     * @param parts that share links as one flow, this one among them
     * @return the flow's number, from 0
     */
    uint32_t AddFlow(const uint32_t* links, uint32_t count, uint32_t parts = 1);
    /** Finds the shares; O(P L) in P passes for flows that cross L links in sum. */
    void Solve();

    /** @return bit/s */
    uint64_t GetRate(uint32_t flow) const
    {
        return m_rates[flow];
    }

    /** @return the link that is full and on which no flow has a higher rate than this one */
    uint32_t GetBottleneck(uint32_t flow) const
    {
        return m_bottlenecks[flow];
    }

    /** @return what a link's flows leave of it, bit/s */
    uint64_t GetRemaining(uint32_t link) const
    {
        return m_remaining[link];
    }

    /** @return flows of the problem */
    uint32_t GetFlowCount() const
    {
        return static_cast<uint32_t>(m_rates.size());
    }

  private:
    void ShareLinks();
    /** Marks the links that are bottlenecks given the present shares. */
    void FindBottlenecks();
    void FixFlows();

    std::vector<uint64_t> m_capacities;  //!< by link
    std::vector<uint64_t> m_remaining;   //!< by link: not given to fixed flows
    std::vector<uint64_t> m_open;        //!< by link: weight of flows not fixed
    std::vector<uint64_t> m_shares;      //!< by link: what it has for an open flow that is no part
    std::vector<uint8_t> m_isBottleneck; //!< by link
    std::vector<uint32_t> m_flowStart;   //!< by flow: first of its links; one entry more
    std::vector<uint32_t> m_parts;       //!< by flow
    std::vector<uint32_t> m_flowLinks;   //!< links of all flows
    std::vector<uint64_t> m_rates;       //!< by flow; while it is open: the least share on its path
    std::vector<uint32_t> m_bottlenecks; //!< by flow: link
    std::vector<uint32_t> m_openFlows;   //!< not fixed
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_MAX_MIN_SOLVER_H */
