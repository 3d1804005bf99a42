// SPDX-License-Identifier: GPL-2.0-only
#include "echo-transformer-shape.h"

#include "ns3/echo-error.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

uint32_t TransformerShape::GetVisibleKeys(uint32_t layer) const
{
    return causal && window > 0 && layer % 2 == 0 ? std::min(window, sequence) : sequence;
}

double TransformerShape::GetVisiblePairs(uint32_t layer) const
{
    const double tokens = sequence;
    if (!causal)
    {
        return tokens * tokens;
    }
    const double seen = GetVisibleKeys(layer);
    return seen * tokens - seen * seen / 2;
}

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
        topK = std::min(2U, experts);
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
    if (kind == "bert")
    {
        shape.causal = false;
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
    throw InputError({"", 0, "model.kind"}, "'" + kind + "'", "gpt, bert or llama");
}

} // namespace echo
} // namespace ns3
