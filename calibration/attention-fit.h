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

/** A measured attention kernel, as shares of the peak of its number format. */
struct AttentionShare
{
    std::string kernel;    //!< flash or cudnn
    std::string precision; //!< fp8 or 16-bit
    int head{0};           //!< size of queries and keys
    bool causal{false};
    int window{0}; //!< tokens that a query looks back on; 0: all
    int sequence{0};
    double forward{0};
    double backward{0}; //!< 0: not measured
};

/**
 * Forward and backward shares of the peak. A pass in both directions takes 3.5 forward passes'
 * operations; where only both together were measured, the backward pass gets the share of the
 * forward one that FlashAttention-2 has on H100 (@p reference); so do kernels of which only the
 * forward pass was.
 */
std::vector<AttentionShare> GetAttention(const AttentionTable& table,
                                         const AttentionTable& reference);

/**
 * @param rows of cuDNN's table
 * @param peaks FLOP/s in 16 bits of the GPUs that are taken, by their whole names; twice that in
 *        FP8
 * @return their shares; a backward pass that was not measured gets the ratio to the forward pass
 *         that head size 128 has at the same or the nearest longer sequence
 */
std::vector<AttentionShare> GetCudnnAttention(const std::vector<Row>& rows,
                                              const std::map<std::string, double>& peaks);

/**
 * Puts the kernels of @p newer in the place of those of @p points with the same sizes. Where it has
 * a head size and mask, points of shorter sequences than its shortest are scaled so that they meet
 * it there, and longer ones than its longest are left out.
 */
void Overlay(std::vector<AttentionShare>& points, const std::vector<AttentionShare>& newer);

/** Writes the list under the profile's key attention. */
void WriteAttention(std::ostream& out, const std::vector<AttentionShare>& points);

} // namespace echo
} // namespace ns3

#endif /* ATTENTION_FIT_H */
