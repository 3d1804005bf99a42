// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_LAYER_TABLE_H
#define ECHO_LAYER_TABLE_H

#include "ns3/echo-enums.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** How ASTRA-sim's text workloads divide a model; names as written in line 1. */
enum class LayerPolicy : uint8_t
{
    MICRO,               //!< collectives one after the other
    DATA,                //!< data parallel
    MODEL,               //!< model parallel
    INFERENCE,           //!< forward only
    DATA_MODEL,          //!< model parallel in the first dimension of the network
    MODEL_DATA,          //!< data parallel in the first dimension of the network
    TRANSFORMER,         //!< tensor parallel groups of model_parallel_NPU_group ranks
    TRANSFORMER_FORWARD, //!< the same, with forward passes repeated in the backward pass
    DLRM,                //!< embedding tables exchanged all-to-all
    CUSTOMIZED,          //!< each layer as its line says
};

/** Which ranks a collective of a line is for. */
enum class LayerGroup : uint8_t
{
    DEFAULT, //!< by policy and phase
    EXPERT,  //!< suffix _EP
    DATA_EP, //!< suffix _DP_EP: ranks that have the same experts
};

/** One phase of a layer: computation, then communication. */
struct LayerPhase
{
    Time compute;
    bool communicates{false};
    CollectiveKind kind{CollectiveKind::ALL_REDUCE};
    LayerGroup group{LayerGroup::DEFAULT};
    uint64_t bytes{0}; //!< as written
};

struct Layer
{
    uint32_t line{0};
    std::string name;
    LayerPhase forward;
    LayerPhase inputGradient;
    LayerPhase weightGradient;
    Time update; //!< after the weight gradient's communication
    LayerPolicy policy{LayerPolicy::DATA};
};

/** A text workload of ASTRA-sim, or of SimAI and AICB. */
struct LayerTable
{
    std::string file;
    LayerPolicy policy{LayerPolicy::MICRO};
    uint32_t modelGroup{1};       //!< "model_parallel_NPU_group": tensor parallel degree
    uint32_t expertGroup{1};      //!< "ep"
    uint32_t stages{1};           //!< "pp"
    uint32_t microBatches{1};     //!< "ga"
    uint32_t ranks{0};            //!< "all_gpus"; 0: not said
    uint64_t stageBytes{0};       //!< "pp_comm": from stage to stage, a micro-batch
    uint32_t lastBottomLayer{0};  //!< "DLRM_LAST_BOTTOM_LAYER"
    std::vector<bool> isRestart;  //!< by layer: forward passes may be repeated from here
    std::vector<bool> isRepeated; //!< by layer: its input gradient needs them repeated
    std::vector<Layer> layers;
};

/**
 * Reads a text workload: line 1 a policy and "key: value" pairs, line 2 the number of layers, then
 * one layer a line: name, dependency (not used), and for forward pass, input gradient and weight
 * gradient each nanoseconds, collective and bytes; last the update's nanoseconds.
 * @throws InputError naming line, what was found and what was expected
 */
LayerTable ReadLayerTable(const std::string& file);

/** Layers of one micro-batch after the other: [first + k * length, first + (k + 1) * length). */
struct MicroBatchRows
{
    uint32_t first{0};
    uint32_t length{0}; //!< 0: they cannot be told apart
};

/**
 * Finds the micro-batches of a table: the first name that stands as often as there are
 * micro-batches begins each of them, if it does so at equal distances.
 */
MicroBatchRows FindMicroBatches(const LayerTable& table);

} // namespace echo
} // namespace ns3

#endif /* ECHO_LAYER_TABLE_H */
