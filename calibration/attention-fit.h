// SPDX-License-Identifier: GPL-2.0-only
#ifndef ATTENTION_FIT_H
#define ATTENTION_FIT_H

#include "measured-table.h"

#include <iosfwd>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/** Operations a second of fused attention, by pass, kernel, mask, head size and sequence. */
class AttentionTable
{
  public:
    /**
     * @param gpu how the names of its rows start
     * @param peak FLOP/s
     */
    AttentionTable(const std::vector<Row>& rows, const std::string& gpu, double peak);
    /** @return the share of the peak; 0 if it was not measured */
    double Get(const std::string& kernel, bool causal, int head, int sequence) const;

  private:
    using Key = std::pair<std::string, std::pair<std::string, std::pair<int, int>>>;
    std::map<Key, double> m_shares;
};

/**
 * Forward and backward shares of the peak. A pass in both directions takes 3.5 forward passes'
 * operations; where only both together were measured, the backward pass gets the share of the
 * forward one that FlashAttention-2 has on H100 (@p reference); so do kernels of which only the
 * forward pass was.
 */
void WriteAttention(std::ostream& out,
                    const AttentionTable& table,
                    const AttentionTable& reference);

} // namespace echo
} // namespace ns3

#endif /* ATTENTION_FIT_H */
