// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_PARALLEL_LAYOUT_H
#define ECHO_PARALLEL_LAYOUT_H

#include "ns3/echo-enums.h"
#include "ns3/echo-ids.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace echo
{

/** How many ways each dimension of a training job is split; all at least 1. */
struct ParallelDegrees
{
    uint32_t tensor{1};
    uint32_t context{1};
    uint32_t expert{1}; //!< uses no ranks of its own: lies inside tensor, context and data
    uint32_t data{1};
    uint32_t pipeline{1};
    uint32_t expertTensor{0}; //!< tensor degree of experts: 0 (as tensor) or 1
    bool isMirrored{false}; //!< stages s and pipeline - 1 - s hold the same parameters (DualPipe);
                            //!< an even number of stages
    uint32_t replicas{1};   //!< whole copies of what data ranks split (HSDP): each is of a run of
                            //!< data indices, 1/replicas of them

    /** @return ways in which the matrices of an expert are split */
    uint32_t GetExpertTensor() const
    {
        return expertTensor > 0 ? expertTensor : tensor;
    }
};

/** The process groups of a training job. */
enum class LayoutGroup : uint8_t
{
    TENSOR,
    CONTEXT,
    EXPERT,       //!< holds the experts of a layer once
    DATA,         //!< replicas of the dense parameters: all context and data indices (mirrored: of
                  //!< both stages)
    EXPERT_DATA,  //!< replicas of the same experts
    SHARD,        //!< those of DATA that split one whole copy among them
    REPLICA,      //!< those of DATA that hold the same shard of different copies
    EXPERT_SHARD, //!< as SHARD of EXPERT_DATA
    EXPERT_REPLICA, //!< as REPLICA of EXPERT_DATA
    PIPELINE,       //!< the stages in order
    EMBEDDING,      //!< first and last stage, which share the word embedding
    MODEL,          //!< one replica of the dense model: all tensor and pipeline indices
    MODEL_EXPERT,   //!< one replica of model and experts: MODEL times EXPERT
    WORLD,
};

/** @return the dimension under which reports show a group */
GroupKind GetGroupKind(LayoutGroup group);

/** @return a short name: "tp", "cp", "ep", "dp", "edp", "dps", "dpr", "edps", "edpr", "pp",
 * "embedding", "mp", "mep", "world" */
const char* ToString(LayoutGroup group);

/**
 * Ranks <-> coordinates in Megatron's default order tp-cp-ep-dp-pp: with degrees T, C, D, P
 *
 *   rank = tensor + T * (context + C * (data + D * pipeline)).
 *
 * The expert dimension splits the ranks of a stage as Megatron-Core's rank generator does: with
 * tensor degree X of experts (T or 1) the i-th rank of a stage is
 *
 *   i = expertTensor + X * (expert + E * expertData).
 *
 * With several replicas, each is of consecutive data indices, so of consecutive indices
 * expertData too: the replica is the outermost part of both (PyTorch's device mesh of HYBRID_SHARD,
 * Megatron-Core's num_distributed_optimizer_instances).
 */
class ParallelLayout
{
  public:
    struct Coordinates
    {
        uint32_t tensor{0};
        uint32_t context{0};
        uint32_t data{0};
        uint32_t pipeline{0};
    };

    /**
     * @param degrees the plan
     * @param ranks ranks of the job
     * @throws InputError if a degree is 0, their product is not @p ranks (the message names all
     *         numbers), or the expert degree does not divide the data degree, or the replicas do
     * not divide the ranks that hold the same; items are keys of the generator's `parallel` block
     */
    ParallelLayout(const ParallelDegrees& degrees, uint32_t ranks);

    const ParallelDegrees& GetDegrees() const
    {
        return m_degrees;
    }

    uint32_t GetRankCount() const
    {
        return m_degrees.tensor * m_degrees.context * m_degrees.data * m_degrees.pipeline;
    }

    Coordinates CoordinatesOf(RankId rank) const;
    RankId RankOf(const Coordinates& at) const;
    /** @return index of @p rank in its expert group */
    uint32_t GetExpertIndex(RankId rank) const;

    /** @return members of every group of @p group */
    uint32_t GetGroupSize(LayoutGroup group) const;
    /**
     * @return the group of @p group that holds @p rank, in ascending order of rank. The EMBEDDING
     *         group of a rank on a middle stage is that of its pipeline, which does not hold it.
     */
    std::vector<RankId> GetGroup(LayoutGroup group, RankId rank) const;
    /** @return the first rank of GetGroup(), without making the list */
    RankId GetFirstOfGroup(LayoutGroup group, RankId rank) const;
    /** @return all groups of @p group, ordered by their first rank */
    std::vector<std::vector<RankId>> GetGroups(LayoutGroup group) const;

  private:
    /** A range of one coordinate. */
    struct Range
    {
        uint32_t first; //!< first value
        uint32_t end;   //!< past the last
        uint32_t stride;

        /** @return the run of @p length in which @p at is */
        static Range RunOf(uint32_t at, uint32_t length)
        {
            const uint32_t begin = at / length * length;
            return {begin, begin + length, 1};
        }

        /** @return of @p count, those in the place of @p at in their runs of @p length */
        static Range PlaceOf(uint32_t at, uint32_t count, uint32_t length)
        {
            return {at % length, count, length};
        }
    };

    /** The coordinates of a group's members. */
    struct Box
    {
        Range tensor;
        Range context;
        Range data;
        Range pipeline;
    };

    Box GetBox(LayoutGroup group, RankId rank) const;
    std::vector<RankId> GetExpertGroup(LayoutGroup group, RankId rank) const;
    /** The places of a rank's group among the replicas of its experts. */
    Range GetExpertPlaces(LayoutGroup group, RankId rank) const;
    void CheckExperts() const;

    /** @return ranks of a stage */
    uint32_t GetStageSize() const
    {
        return m_degrees.tensor * m_degrees.context * m_degrees.data;
    }

    ParallelDegrees m_degrees;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_PARALLEL_LAYOUT_H */
