// SPDX-License-Identifier: GPL-2.0-only
#include "echo-transformer-shape.h"

#include "ns3/echo-error.h"

namespace ns3
{
namespace echo
{

namespace
{

/** A row of a table of models. */
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

// The GPT rows are Table 9 of arXiv 2412.12487; it names no vocabulary: 51200 is that of
// Megatron's papers (arXiv 2104.04473). The Llama rows are Table 3 of arXiv 2407.21783.
const Preset PRESETS[] = {
    {"gpt-13b", "gpt", 40, 5120, 32, 0, 0, 2048, 51200},
    {"gpt-30b", "gpt", 40, 7680, 48, 0, 0, 2048, 51200},
    {"gpt-40b", "gpt", 40, 9216, 72, 0, 0, 2048, 51200},
    {"gpt-70b", "gpt", 80, 8192, 64, 0, 0, 2048, 51200},
    {"gpt-175b", "gpt", 96, 12288, 96, 0, 0, 2048, 51200},
    {"llama3-8b", "llama", 32, 4096, 32, 8, 14336, 8192, 128256},
    {"llama3-70b", "llama", 80, 8192, 64, 8, 28672, 8192, 128256},
};

} // namespace

void TransformerShape::SetDefaults()
{
    if (kvHeads == 0)
    {
        kvHeads = heads;
    }
    if (ffnHidden == 0)
    {
        ffnHidden = gatedActivation ? (8 * hidden / 3 + 255) / 256 * 256 : 4 * hidden;
    }
    if (experts > 0 && topK == 0)
    {
        topK = 2;
    }
}

TransformerShape GetModelKind(const std::string& kind)
{
    TransformerShape shape;
    shape.name = kind;
    if (kind == "gpt")
    {
        return shape;
    }
    if (kind == "llama")
    {
        shape.gatedActivation = true;
        shape.biases = false;
        shape.learnedPositions = false;
        shape.tiedEmbeddings = false;
        shape.dropout = false;
        return shape;
    }
    throw InputError({"", 0, "model.kind"}, "'" + kind + "'", "gpt or llama");
}

TransformerShape GetModelPreset(const std::string& name)
{
    std::string known;
    for (const Preset& preset : PRESETS)
    {
        if (name == preset.name)
        {
            TransformerShape shape = GetModelKind(preset.kind);
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
        known += (known.empty() ? "" : ", ") + std::string(preset.name);
    }
    throw InputError({"", 0, "model.preset"}, "'" + name + "'", "one of " + known);
}

} // namespace echo
} // namespace ns3
