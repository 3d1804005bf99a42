// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_COLLECTIVE_SELECTOR_H
#define ECHO_COLLECTIVE_SELECTOR_H

#include "echo-collective-algorithm.h"

#include "ns3/object.h"

namespace ns3
{
namespace echo
{

/** @return whether an algorithm of that kind can carry out that kind of collective; AUTO: true */
bool CanCarryOut(CollectiveAlgorithmKind algorithm, CollectiveKind kind);

/**
 * @return why the group's hosts cannot run @p algorithm; empty if they can. NVLS is of one host and
 *         NVLS tree of several (NCCL src/graph/tuning.cc; NVLS on several needs CollNet, which is
 *         not modelled), both need NVSwitch
 */
std::string WhyNotOn(CollectiveAlgorithmKind algorithm, const GroupLayout& layout);

/** @throws UnsupportedError with what WhyNotOn() says, if it says something */
void RequireRunsOn(CollectiveAlgorithmKind algorithm, const GroupLayout& layout);

/**
 * @return a piece size with which chains (broadcast, reduce) and trees pipeline well: 16 to 512
 *         KiB; 0 for collectives whose steps already overlap (ring, pairwise)
 */
uint64_t PipelineChunkBytes(CollectiveAlgorithmKind algorithm,
                            const CollectiveSpec& spec,
                            uint32_t channels);

/**
 * Chooses algorithm, protocol, channels and chunk for what a spec leaves AUTO (or 0). What the
 * spec names is kept.
 * @throws UnsupportedError if the spec asks for an algorithm that cannot do its kind, or that the
 *         group's hosts cannot run
 */
class CollectiveSelector : public Object
{
  public:
    static TypeId GetTypeId();
    virtual CollectiveChoice Select(const CollectiveSpec& spec,
                                    const GroupLayout& layout) const = 0;
};

/**
 * The choice that attributes name: Algorithm, Protocol, Channels (0: one per NIC of a host that
 * the group uses, at least 1), ChunkBytes (0: PipelineChunkBytes). AUTO algorithm: ring; pairwise
 * for all-to-all, send/recv. What the Algorithm attribute cannot do gets AUTO's.
 */
class FixedSelector : public CollectiveSelector
{
  public:
    static TypeId GetTypeId();
    CollectiveChoice Select(const CollectiveSpec& spec, const GroupLayout& layout) const override;

  private:
    std::string m_algorithm; //!< "auto", "ring", "tree", "pairwise"
    std::string m_protocol;  //!< "auto" (simple), "ll", "ll128", "simple"
    uint32_t m_channels{0};
    uint64_t m_chunkBytes{0};
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_COLLECTIVE_SELECTOR_H */
