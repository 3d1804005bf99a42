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
 * Max-min fair shares by progressive filling (Bertsekas and Gallager, Data Networks, section
 * 6.5.2): all flows grow alike until a link is full; its flows stay, the others go on.
 *
 * Pure and in whole bits per second: links that are full at the same share are handled together, so
 * shares do not depend on the order of flows or links, and no link is ever given more than it has.
 * A full link may keep as many bits per second as it has flows.
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
     * @return the flow's number, from 0
     */
    uint32_t AddFlow(const uint32_t* links, uint32_t count);
    /** Finds the shares; O(L log F) for F flows that cross L links in sum. */
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
    struct Level
    {
        uint64_t share;
        uint32_t link;
    };

    void IndexFlowsByLink();
    void PopFullest(uint64_t& share);
    void Fix(uint32_t flow, uint32_t link, uint64_t share);

    std::vector<uint64_t> m_capacities;  //!< by link
    std::vector<uint64_t> m_remaining;   //!< by link: not given to fixed flows
    std::vector<uint32_t> m_open;        //!< by link: flows not fixed
    std::vector<uint32_t> m_flowStart;   //!< by flow: first of its links; one entry more
    std::vector<uint32_t> m_flowLinks;   //!< links of all flows
    std::vector<uint32_t> m_linkStart;   //!< by link: first of its flows; one entry more
    std::vector<uint32_t> m_linkFlows;   //!< flows of all links
    std::vector<uint64_t> m_rates;       //!< by flow
    std::vector<uint32_t> m_bottlenecks; //!< by flow: link
    std::vector<bool> m_fixed;           //!< by flow
    std::vector<Level> m_heap;           //!< links by share, smallest on top; shares only grow
    std::vector<uint32_t> m_full;        //!< links that are full at the present share
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_MAX_MIN_SOLVER_H */
