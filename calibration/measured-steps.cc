// SPDX-License-Identifier: GPL-2.0-only
#include "measured-steps.h"

namespace ns3
{
namespace echo
{

std::vector<MeasuredSteps> GetMeasuredSteps(const std::string& folder)
{
    const auto source = [&folder](const std::string& name,
                                  const std::string& title,
                                  const std::string& scenario,
                                  double mean,
                                  double tail,
                                  bool isFull = false,
                                  bool isListed = true) {
        return MeasuredSteps{name,
                             title,
                             folder + name + ".csv",
                             folder + scenario + ".yaml",
                             mean,
                             tail,
                             isFull,
                             isListed};
    };
    return {
        source("megatron-sc21", "Megatron-LM, A100, 32 to 3,072 GPUs", "megatron-sc21", 8, 15),
        source("vtrain-multi", "vTrain, A100, 64 GPUs and more", "vtrain", 8, 15, true),
        source("vtrain-single", "vTrain, A100, one host", "vtrain-single", 8, 15, false, false),
        source("dgxc-gpt", "DGX Cloud, GPT-3 175B, H100", "dgxc-gpt", 10, 0),
        source("dgxc-llama3-8b", "DGX Cloud, Llama 3.1 8B, H100", "dgxc-llama3-8b", 10, 0),
        source("dgxc-nemotron-15b", "DGX Cloud, Nemotron-4 15B, H100", "dgxc-nemotron-15b", 0, 0),
        source("bridge-dense", "Megatron-Bridge, dense models", "bridge-dense", 12, 0),
        source("bridge-moe", "Megatron-Bridge, mixtures of experts", "bridge-moe", 20, 0),
        source("llm-foundry", "llm-foundry, FSDP, A100 and H100", "llm-foundry", 12, 0, true),
        source("torchtitan", "torchtitan, H100 at 500 W and H200", "torchtitan", 0, 0, true),
        source("nemo-long", "NeMo, context ranks, H100", "nemo-long", 0, 0),
        source("megatron-sc21-rest", "Megatron-LM, A100, other rows", "megatron-sc21", 0, 0),
        source("megatron-sc21-zero3", "DeepSpeed ZeRO-3, A100", "megatron-sc21-zero3", 0, 0),
        source(
            "megatron-seqpar", "Megatron-LM, sequence parallelism, A100", "megatron-seqpar", 0, 0),
        source("megatron-h100", "Megatron-LM, H100", "megatron-h100", 0, 0),
        source("megascale", "Megatron-LM by MegaScale, A100", "megascale", 0, 0),
        source("nemo-h100", "NeMo, FP8, H100", "nemo-h100", 0, 0),
        source("llama3-405b", "Llama 3 405B, H100", "llama3-405b", 0, 0),
        source("bigscience", "BigScience, Megatron-DeepSpeed, A100", "bigscience", 0, 0),
        source("fms-fsdp", "fms-fsdp, Llama 2, FSDP, A100", "fms-fsdp", 0, 0, true),
        source("deepseek-v3", "DeepSeek-V3, 2,048 H800", "deepseek-v3", 0, 0),
    };
}

} // namespace echo
} // namespace ns3
