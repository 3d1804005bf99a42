// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TRANSFORMER_SHAPE_H
#define ECHO_TRANSFORMER_SHAPE_H

#include <cstdint>
#include <string>

namespace ns3
{
namespace echo
{

/** Shape of a transformer: a decoder (GPT, Llama, mixtures of experts) or an encoder (BERT). */
struct TransformerShape
{
    std::string name; //!< preset or kind
    uint32_t layers{0};
    uint32_t hidden{0};
    uint32_t heads{0};
    uint32_t kvHeads{0};    //!< key and value heads (grouped-query attention); heads: plain
    uint32_t headSize{0};   //!< of queries and keys; 0: hidden / heads
    uint32_t sequence{0};   //!< tokens a sequence
    uint32_t vocabulary{0}; //!< before padding
    uint32_t vocabularyMultiple{128}; //!< each tensor rank's part is padded to a multiple of it
    uint32_t ffnHidden{0};            //!< inner size of the feed-forward block (of each expert)
    uint32_t window{0}; //!< tokens that attention looks back on every second layer; 0: all
    bool causal{true};  //!< a token sees those before it; false: all (BERT)

    uint32_t experts{0};     //!< experts of every layer; 0: dense
    uint32_t topK{0};        //!< experts a token is sent to
    uint32_t sharedFfn{0};   //!< inner size of the experts that every token visits; 0: none
    uint32_t denseLayers{0}; //!< first layers that have no experts
    uint32_t denseFfn{0};    //!< inner size of their feed-forward block
    uint32_t mtpLayers{0};   //!< layers behind the last that predict further tokens, each with a
                             //!< projection before and the output layer once more behind it
                             //!< (arXiv 2412.19437, 2.2)

    // Multi-head latent attention (arXiv 2405.04434, 2.1); latentKeys 0: plain attention.
    uint32_t latentQueries{0}; //!< size that queries are compressed to; 0: they are not
    uint32_t latentKeys{0};    //!< size that keys and values are compressed to
    uint32_t rotarySize{0};    //!< of a head's query and key that is rotated, beside headSize
    uint32_t valueSize{0};     //!< of a head's value; 0: headSize

    bool gatedActivation{false}; //!< SwiGLU: two matrices before the activation
    bool biases{true};           //!< linear layers have biases
    bool learnedPositions{true}; //!< a table of positions; false: rotary
    bool tiedEmbeddings{true};   //!< input and output share the word embedding
    bool dropout{true};          //!< after attention, softmax and feed-forward block

    /** @return size of a head's queries and keys, rotary part included */
    uint32_t GetHeadSize() const
    {
        return (headSize > 0 ? headSize : hidden / heads) + (IsLatent() ? rotarySize : 0);
    }

    /** @return size of a head's values */
    uint32_t GetValueSize() const
    {
        return valueSize > 0 ? valueSize : GetHeadSize() - (IsLatent() ? rotarySize : 0);
    }

    bool IsLatent() const
    {
        return latentKeys > 0;
    }

    /** @return queries, keys and values of a token, all heads */
    uint64_t GetQkvSize() const
    {
        return uint64_t(heads) * GetHeadSize() +
               uint64_t(kvHeads) * (GetHeadSize() + GetValueSize());
    }

    /** @return inputs of the attention's output projection, all heads */
    uint64_t GetAttentionSize() const
    {
        return uint64_t(heads) * GetValueSize();
    }

    /** @return outputs of the first feed-forward matrix of inner size @p inner */
    uint64_t GetInputSize(uint32_t inner) const
    {
        return uint64_t(inner) * (gatedActivation ? 2 : 1);
    }

    /** @return outputs of the first feed-forward matrix */
    uint64_t GetFfnInputSize() const
    {
        return GetInputSize(ffnHidden);
    }

    /** @return whether layer @p layer has experts */
    bool HasExperts(uint32_t layer) const
    {
        return experts > 0 && layer >= denseLayers;
    }

    /** @return inner size of the feed-forward block of a layer without experts */
    uint32_t GetDenseFfn() const
    {
        return experts > 0 && denseFfn > 0 ? denseFfn : ffnHidden;
    }

    /** @return parameters of a norm: weights, and biases if there are any */
    uint64_t GetNormParameters() const
    {
        return uint64_t(hidden) * (biases ? 2 : 1);
    }

    /** @return keys that a query of @p layer sees at most: those of the window, or all */
    uint32_t GetVisibleKeys(uint32_t layer) const;

    /** @return pairs of query and key of one sequence and head of @p layer that a kernel works on
     * which skips what mask and window hide */
    double GetVisiblePairs(uint32_t layer) const;

    /**
     * Fills what follows from the rest where it is 0: kvHeads = heads, ffnHidden = 4 hidden (gated:
     * 8/3 hidden rounded up to a multiple of 256), topK = 2 with experts.
     */
    void SetDefaults();
};

/**
 * @param name one of the models that ship: those of the Echo paper, of Megatron's, MosaicML's and
 *        NVIDIA's published measurements, and common open ones; doc/formats/generate.md lists them
 * @throws InputError if there is none of that name; the message lists all
 */
TransformerShape GetModelPreset(const std::string& name);

/**
 * @param kind "gpt" (learned positions, GELU, biases, dropout, tied embeddings), "llama" (rotary
 *        positions, SwiGLU, no biases, no dropout, untied embeddings) or "bert" (as gpt, but every
 *        token sees all)
 * @throws InputError if it is none of them
 */
TransformerShape GetModelKind(const std::string& kind);

} // namespace echo
} // namespace ns3

#endif /* ECHO_TRANSFORMER_SHAPE_H */
