// SPDX-License-Identifier: GPL-2.0-only
#include "echo-model-reader.h"

#include "echo-yaml-values.h"

namespace ns3
{
namespace echo
{

constexpr int64_t MOST_FURTHER_TOKENS = 1000;

TransformerShape ReadTransformerShape(const YamlNode& node)
{
    TransformerShape model;
    if (node.Has("preset"))
    {
        const YamlNode preset = node.Get("preset");
        if (node.Has("kind"))
        {
            node.Get("kind").Fail("kind beside preset '" + preset.AsString() + "'", "one of them");
        }
        model = preset.Parse<TransformerShape>(GetModelPreset);
    }
    else if (node.Has("kind"))
    {
        model = node.Get("kind").Parse<TransformerShape>(GetModelKind);
    }
    else
    {
        node.Fail("neither 'preset' nor 'kind'", "one of them");
    }
    const bool isPreset = node.Has("preset");
    // A preset's sizes can be overridden; a kind has none of its own.
    const auto size = [&](const char* key, uint32_t fallback, int64_t maximum) {
        return isPreset || node.Has(key)
                   ? GetCount(node, key, fallback, maximum)
                   : static_cast<uint32_t>(node.Get(key).AsInteger(1, maximum));
    };
    const uint32_t presetHidden = model.hidden;
    const uint32_t presetHeads = model.heads;
    model.layers = size("layers", model.layers, 100000);
    model.hidden = size("hidden", model.hidden, MAX_SIZE);
    model.heads = size("heads", model.heads, MAX_SIZE);
    model.sequence = size("sequence", model.sequence, MAX_SIZE * 16);
    model.vocabulary = size("vocabulary", model.vocabulary, MAX_SIZE * 16);
    model.vocabularyMultiple =
        GetCount(node, "vocabulary_multiple", model.vocabularyMultiple, MAX_SIZE);
    // What the preset derived from its own sizes is derived again from changed ones.
    const bool keepsSizes = model.hidden == presetHidden && model.heads == presetHeads;
    model.kvHeads = GetCount(node, "kv_heads", keepsSizes ? model.kvHeads : 0, MAX_SIZE);
    model.headSize = GetCount(node, "head_size", keepsSizes ? model.headSize : 0, MAX_SIZE);
    model.ffnHidden = GetCount(node, "ffn_hidden", keepsSizes ? model.ffnHidden : 0, MAX_SIZE);
    model.window = GetSize(node, "window", model.window);
    model.experts = GetSize(node, "experts", model.experts);
    model.topK = GetSize(node, "top_k", model.topK);
    model.sharedFfn = GetSize(node, "shared_ffn_hidden", model.sharedFfn);
    model.denseLayers = GetSize(node, "dense_layers", model.denseLayers);
    model.denseFfn = GetSize(node, "dense_ffn_hidden", model.denseFfn);
    model.mtpLayers = static_cast<uint32_t>(
        node.GetInteger("mtp_layers", model.mtpLayers, 0, MOST_FURTHER_TOKENS));
    if (node.Has("dense_ffn_hidden") && model.denseFfn > 0 && model.denseLayers == 0)
    {
        node.Get("dense_ffn_hidden").Fail("it with dense_layers 0", "dense_layers too");
    }
    if (node.Has("latent_attention"))
    {
        const YamlNode latent = node.Get("latent_attention");
        model.latentQueries = GetSize(latent, "queries", 0);
        model.latentKeys = static_cast<uint32_t>(latent.Get("keys").AsInteger(1, MAX_SIZE));
        model.rotarySize = GetSize(latent, "rotary", 0);
        model.valueSize = GetSize(latent, "value", 0);
        latent.RefuseUnknownKeys();
    }
    model.gatedActivation = GetChoice<bool>(
        node, "activation", model.gatedActivation, {{"gelu", false}, {"swiglu", true}});
    model.tiedEmbeddings = node.GetBool("tied_embeddings", model.tiedEmbeddings);
    model.dropout = node.GetBool("dropout", model.dropout);
    model.biases = node.GetBool("biases", model.biases);
    model.learnedPositions = node.GetBool("learned_positions", model.learnedPositions);
    model.causal = node.GetBool("causal", model.causal);
    model.SetDefaults();
    if (node.Has("kv_heads") && model.IsLatent() && model.kvHeads != model.heads)
    {
        node.Get("kv_heads")
            .Fail("'" + node.Get("kv_heads").AsString() + "' beside latent_attention",
                  "heads, " + std::to_string(model.heads) + ", or no such key");
    }
    node.RefuseUnknownKeys();
    return model;
}

} // namespace echo
} // namespace ns3
