// SPDX-License-Identifier: GPL-2.0-only
// The shapes of known models, by name.

#include "echo-transformer-shape.h"

#include "ns3/echo-error.h"

namespace ns3
{
namespace echo
{

namespace
{

/** A row of a table of dense models. */
struct Preset
{
    const char* name;
    const char* kind;
    uint32_t layers;
    uint32_t hidden;
    uint32_t heads;
    uint32_t kvHeads;
    uint32_t ffnHidden;
    uint32_t sequence;
    uint32_t vocabulary;
};

// gpt-13b to gpt-175b: Table 9 of arXiv 2412.12487; it names no vocabulary: 51200 is that of
// Megatron's papers. megatron-*: Table 1 of arXiv 2104.04473. llama2: arXiv 2307.09288 and its
// model cards. llama3: arXiv 2407.21783, Table 3. nemotron4: arXiv 2402.16819, Table 1, and
// 2406.11704, Table 1. mpt-*: llm-foundry's scripts/train/yamls/pretrain (vocabulary padded).
// bert: arXiv 1810.04805, section 3. gpt-5b, gpt-20b, nemotron3: NeMo's published configurations.
// opt: arXiv 2205.01068, Table 1. bloom: arXiv 2211.05100, Table 3 (vocabulary padded). llama:
// arXiv 2302.13971, Table 2. llama2-34b: arXiv 2307.09288 and Code Llama's model card. qwen2.5:
// arXiv 2412.15115, Table 1, and the model cards.
const Preset PRESETS[] = {
    {"gpt-13b", "gpt", 40, 5120, 32, 0, 0, 2048, 51200},
    {"gpt-30b", "gpt", 40, 7680, 48, 0, 0, 2048, 51200},
    {"gpt-40b", "gpt", 40, 9216, 72, 0, 0, 2048, 51200},
    {"gpt-70b", "gpt", 80, 8192, 64, 0, 0, 2048, 51200},
    {"gpt-175b", "gpt", 96, 12288, 96, 0, 0, 2048, 51200},
    {"megatron-1.7b", "gpt", 24, 2304, 24, 0, 0, 2048, 51200},
    {"megatron-3.6b", "gpt", 30, 3072, 32, 0, 0, 2048, 51200},
    {"megatron-7.5b", "gpt", 36, 4096, 32, 0, 0, 2048, 51200},
    {"megatron-18b", "gpt", 40, 6144, 48, 0, 0, 2048, 51200},
    {"megatron-39b", "gpt", 48, 8192, 64, 0, 0, 2048, 51200},
    {"megatron-76b", "gpt", 60, 10240, 80, 0, 0, 2048, 51200},
    {"megatron-145b", "gpt", 80, 12288, 96, 0, 0, 2048, 51200},
    {"megatron-310b", "gpt", 96, 16384, 128, 0, 0, 2048, 51200},
    {"megatron-530b", "gpt", 105, 20480, 128, 0, 0, 2048, 51200},
    {"megatron-1t", "gpt", 128, 25600, 160, 0, 0, 2048, 51200},
    {"llama2-7b", "llama", 32, 4096, 32, 32, 11008, 4096, 32000},
    {"llama2-13b", "llama", 40, 5120, 40, 40, 13824, 4096, 32000},
    {"llama2-70b", "llama", 80, 8192, 64, 8, 28672, 4096, 32000},
    {"llama3-8b", "llama", 32, 4096, 32, 8, 14336, 8192, 128256},
    {"llama3-70b", "llama", 80, 8192, 64, 8, 28672, 8192, 128256},
    {"llama3-405b", "llama", 126, 16384, 128, 8, 53248, 8192, 128256},
    {"nemotron4-15b", "nemotron", 32, 6144, 48, 8, 24576, 4096, 256000},
    {"nemotron4-340b", "nemotron", 96, 18432, 96, 8, 73728, 4096, 256000},
    {"mpt-125m", "mpt", 12, 768, 12, 0, 0, 2048, 50368},
    {"mpt-350m", "mpt", 24, 1024, 16, 0, 0, 2048, 50368},
    {"mpt-760m", "mpt", 24, 1536, 12, 0, 0, 2048, 50368},
    {"mpt-1b", "mpt", 24, 2048, 16, 0, 0, 2048, 50368},
    {"mpt-3b", "mpt", 32, 2560, 20, 0, 0, 2048, 50368},
    {"mpt-7b", "mpt", 32, 4096, 32, 0, 0, 2048, 50368},
    {"mpt-13b", "mpt", 40, 5120, 40, 0, 0, 2048, 50368},
    {"mpt-30b", "mpt", 48, 7168, 56, 0, 0, 2048, 50368},
    {"mpt-70b", "mpt", 80, 8192, 64, 0, 0, 2048, 50368},
    {"gpt-5b", "gpt", 24, 4096, 32, 0, 0, 2048, 51200},
    {"gpt-20b", "gpt", 44, 6144, 48, 0, 0, 2048, 51200},
    {"opt-6.7b", "gpt", 32, 4096, 32, 0, 0, 2048, 50272},
    {"opt-13b", "gpt", 40, 5120, 40, 0, 0, 2048, 50272},
    {"opt-30b", "gpt", 48, 7168, 56, 0, 0, 2048, 50272},
    {"opt-66b", "gpt", 64, 9216, 72, 0, 0, 2048, 50272},
    {"opt-175b", "gpt", 96, 12288, 96, 0, 0, 2048, 50272},
    {"bloom-7b1", "bloom", 30, 4096, 32, 0, 0, 2048, 250880},
    {"bloom-176b", "bloom", 70, 14336, 112, 0, 0, 2048, 250880},
    {"llama-7b", "llama", 32, 4096, 32, 0, 11008, 2048, 32000},
    {"llama-13b", "llama", 40, 5120, 40, 0, 13824, 2048, 32000},
    {"llama-33b", "llama", 60, 6656, 52, 0, 17920, 2048, 32000},
    {"llama-65b", "llama", 80, 8192, 64, 0, 22016, 2048, 32000},
    {"llama2-34b", "llama", 48, 8192, 64, 8, 22016, 4096, 32000},
    {"qwen2.5-7b", "llama", 28, 3584, 28, 4, 18944, 4096, 152064},
    {"qwen2.5-14b", "llama", 48, 5120, 40, 8, 13824, 4096, 152064},
    {"qwen2.5-32b", "llama", 64, 5120, 40, 8, 27648, 4096, 152064},
    {"qwen2.5-72b", "llama", 80, 8192, 64, 8, 29568, 4096, 152064},
    {"nemotron3-8b", "nemotron", 32, 4096, 32, 32, 16384, 4096, 256000},
    {"nemotron3-22b", "nemotron", 40, 6144, 48, 48, 24576, 4096, 256000},
    {"bert-base", "bert", 12, 768, 12, 0, 0, 512, 30522},
    {"bert-large", "bert", 24, 1024, 16, 0, 0, 512, 30522},
};

/** A row of a table of mixtures of experts; all are llama in other respects. */
struct ExpertPreset
{
    const char* name;
    uint32_t layers;
    uint32_t hidden;
    uint32_t heads;
    uint32_t kvHeads;
    uint32_t headSize;
    uint32_t expertFfn;
    uint32_t experts;
    uint32_t topK;
    uint32_t sharedFfn;
    uint32_t sequence;
    uint32_t vocabulary;
};

// mixtral: arXiv 2401.04088, Table 1, and the model cards. deepseek-v3: arXiv 2412.19437, 4.2.
// deepseek-v2: arXiv 2405.04434, 3.1.2. kimi-k2: arXiv 2507.20534, Table 2, and its configuration.
// qwen3: arXiv 2505.09388, Table 2, and the model cards. gpt-oss: its model card, Table 1.
// grok-1: its published configuration and model.py, which decodes with the embedding. The
// multi-head latent sizes and the rest are set below.
const ExpertPreset EXPERT_PRESETS[] = {
    {"mixtral-8x7b", 32, 4096, 32, 8, 128, 14336, 8, 2, 0, 4096, 32000},
    {"mixtral-8x22b", 56, 6144, 48, 8, 128, 16384, 8, 2, 0, 4096, 32768},
    {"deepseek-v3", 61, 7168, 128, 128, 128, 2048, 256, 8, 2048, 4096, 129280},
    {"deepseek-v2", 60, 5120, 128, 128, 128, 1536, 160, 6, 3072, 4096, 102400},
    {"kimi-k2", 61, 7168, 64, 64, 128, 2048, 384, 8, 2048, 4096, 163840},
    {"qwen3-30b-a3b", 48, 2048, 32, 4, 128, 768, 128, 8, 0, 4096, 151936},
    {"qwen3-235b-a22b", 94, 4096, 64, 4, 128, 1536, 128, 8, 0, 4096, 151936},
    {"gpt-oss-20b", 24, 2880, 64, 8, 64, 2880, 32, 4, 0, 4096, 201088},
    {"gpt-oss-120b", 36, 2880, 64, 8, 64, 2880, 128, 4, 0, 4096, 201088},
    {"grok-1", 64, 6144, 48, 8, 128, 32768, 8, 2, 0, 8192, 131072},
};

TransformerShape Make(const Preset& preset)
{
    const std::string kind = preset.kind;
    TransformerShape shape = GetModelKind(kind == "nemotron" ? "llama"
                                          : kind == "mpt"    ? "gpt"
                                          : kind == "bloom"  ? "gpt"
                                                             : kind);
    if (kind == "nemotron")
    {
        shape.gatedActivation = false; // squared ReLU
    }
    else if (kind == "mpt")
    {
        shape.biases = false;
        shape.dropout = false;
    }
    else if (kind == "bloom")
    {
        shape.learnedPositions = false; // ALiBi, arXiv 2108.12409
        shape.dropout = false;
    }
    shape.name = preset.name;
    shape.layers = preset.layers;
    shape.hidden = preset.hidden;
    shape.heads = preset.heads;
    shape.kvHeads = preset.kvHeads;
    shape.ffnHidden = preset.ffnHidden;
    shape.sequence = preset.sequence;
    shape.vocabulary = preset.vocabulary;
    shape.SetDefaults();
    return shape;
}

TransformerShape Make(const ExpertPreset& preset)
{
    TransformerShape shape = GetModelKind("llama");
    shape.name = preset.name;
    shape.layers = preset.layers;
    shape.hidden = preset.hidden;
    shape.heads = preset.heads;
    shape.kvHeads = preset.kvHeads;
    shape.headSize = preset.headSize;
    shape.ffnHidden = preset.expertFfn;
    shape.experts = preset.experts;
    shape.topK = preset.topK;
    shape.sharedFfn = preset.sharedFfn;
    shape.sequence = preset.sequence;
    shape.vocabulary = preset.vocabulary;
    const bool isV2 = shape.name == "deepseek-v2";
    if (isV2 || shape.name == "deepseek-v3" || shape.name == "kimi-k2")
    {
        shape.denseLayers = shape.name == "deepseek-v3" ? 3 : 1;
        shape.denseFfn = isV2 ? 12288 : 18432;
        shape.latentQueries = 1536;
        shape.latentKeys = 512;
        shape.rotarySize = 64;
        shape.valueSize = 128;
    }
    else if (shape.name.rfind("gpt-oss", 0) == 0)
    {
        shape.window = 128;
        shape.biases = true;
    }
    else if (shape.name == "grok-1")
    {
        shape.tiedEmbeddings = true;
    }
    return shape;
}

} // namespace

TransformerShape GetModelPreset(const std::string& name)
{
    std::string known;
    const auto matches = [&](const char* candidate) {
        known += (known.empty() ? "" : ", ") + std::string(candidate);
        return name == candidate;
    };
    for (const Preset& preset : PRESETS)
    {
        if (matches(preset.name))
        {
            return Make(preset);
        }
    }
    for (const ExpertPreset& preset : EXPERT_PRESETS)
    {
        if (matches(preset.name))
        {
            return Make(preset);
        }
    }
    throw InputError({"", 0, "model.preset"}, "'" + name + "'", "one of " + known);
}

} // namespace echo
} // namespace ns3
