// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TRANSFORMER_SHAPE_H
#define ECHO_TRANSFORMER_SHAPE_H

#include <cstdint>
#include <string>

namespace ns3
{
namespace echo
{

/** Shape of a decoder-only transformer. */
struct TransformerShape
{
    std::string name; //!< preset or kind
    uint32_t layers{0};
    uint32_t hidden{0};
    uint32_t heads{0};
    uint32_t kvHeads{0};         //!< key and value heads (grouped-query attention); heads: plain
    uint32_t sequence{0};        //!< tokens a sequence
    uint32_t vocabulary{0};      //!< before padding
    uint32_t ffnHidden{0};       //!< inner size of the feed-forward block (of each expert)
    uint32_t experts{0};         //!< experts of every layer; 0: dense
    uint32_t topK{0};            //!< experts a token is sent to
    bool gatedActivation{false}; //!< SwiGLU: two matrices before the activation
    bool biases{true};           //!< linear layers have biases
    bool learnedPositions{true}; //!< a table of positions; false: rotary
    bool tiedEmbeddings{true};   //!< input and output share the word embedding
    bool dropout{true};          //!< after attention, softmax and feed-forward block

    uint32_t GetHeadSize() const
    {
        return hidden / heads;
    }

    /** @return outputs of the query, key and value projection, all heads */
    uint64_t GetQkvSize() const
    {
        return uint64_t(hidden) + 2 * uint64_t(kvHeads) * GetHeadSize();
    }

    /** @return outputs of the first feed-forward matrix */
    uint64_t GetFfnInputSize() const
    {
        return uint64_t(ffnHidden) * (gatedActivation ? 2 : 1);
    }

    /** @return parameters of a norm: weights, and biases if there are any */
    uint64_t GetNormParameters() const
    {
        return uint64_t(hidden) * (biases ? 2 : 1);
    }

    /**
     * Fills what follows from the rest where it is 0: kvHeads = heads, ffnHidden = 4 hidden (gated:
     * 8/3 hidden rounded up to a multiple of 256), topK = 2 with experts.
     */
    void SetDefaults();
};

/**
 * @param name the paper's models (arXiv 2412.12487, Table 9: gpt-13b, gpt-30b, gpt-40b, gpt-70b,
 *        gpt-175b; vocabulary 51200), or llama3-8b, llama3-70b (arXiv 2407.21783, Table 3)
 * @throws InputError if there is none of that name; the message lists all
 */
TransformerShape GetModelPreset(const std::string& name);

/**
 * @param kind "gpt" (learned positions, GELU, biases, dropout, tied embeddings) or "llama" (rotary
 *        positions, SwiGLU, no biases, no dropout, untied embeddings)
 * @throws InputError if it is neither
 */
TransformerShape GetModelKind(const std::string& kind);

} // namespace echo
} // namespace ns3

#endif /* ECHO_TRANSFORMER_SHAPE_H */
