// SPDX-License-Identifier: GPL-2.0-only
#include "echo-layer-table.h"

#include "echo-input-file.h"

#include "ns3/echo-error.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>

namespace ns3
{
namespace echo
{

namespace
{

const uint64_t LARGEST_COUNT = 1u << 20;                // of ranks, layers, micro-batches
const uint64_t LARGEST_BYTES = uint64_t(1) << 50;       // of a collective
const uint64_t LONGEST_NANOSECONDS = 86400000000000ull; // a day

const std::map<std::string, LayerPolicy>& Policies()
{
    static const std::map<std::string, LayerPolicy> policies{
        {"MICRO", LayerPolicy::MICRO},
        {"DATA", LayerPolicy::DATA},
        {"MODEL", LayerPolicy::MODEL},
        {"DISTRIBUTED_INFERENCE", LayerPolicy::INFERENCE},
        {"HYBRID_DATA_MODEL", LayerPolicy::DATA_MODEL},
        {"HYBRID_MODEL_DATA", LayerPolicy::MODEL_DATA},
        {"HYBRID_TRANSFORMER", LayerPolicy::TRANSFORMER},
        {"HYBRID_TRANSFORMER_FWD_IN_BCKWD", LayerPolicy::TRANSFORMER_FORWARD},
        {"HYBRID_DLRM", LayerPolicy::DLRM},
        {"HYBRID_DLRM_ENHANCED", LayerPolicy::DLRM},
        {"HYBRID_CUSTOMIZED", LayerPolicy::CUSTOMIZED},
    };
    return policies;
}

template <typename Value>
std::string NamesOf(const std::map<std::string, Value>& table)
{
    std::string names;
    for (const auto& [name, value] : table)
    {
        names += (names.empty() ? "" : ", ") + name;
    }
    return names;
}

std::vector<std::string> WordsOf(const std::string& line)
{
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;)
    {
        words.push_back(word);
    }
    return words;
}

class Reader
{
  public:
    explicit Reader(const std::string& file)
    {
        m_table.file = file;
    }

    LayerTable Read();

  private:
    [[noreturn]] void Fail(const std::string& item,
                           const std::string& found,
                           const std::string& expected) const
    {
        throw InputError({m_table.file, m_line, item}, found, expected);
    }

    bool NextLine();
    const std::string& Word(const std::string& item);
    uint64_t Number(const std::string& item, uint64_t least, uint64_t most);
    void ReadHeader();
    std::vector<uint32_t> ReadLayerNumbers(const std::string& key);
    LayerPolicy ReadPolicy(const std::string& item);
    LayerPhase ReadPhase(const std::string& phase);
    void ReadLayer();
    std::vector<bool> Mark(const std::vector<uint32_t>& layers, const std::string& key) const;

    LayerTable m_table;
    std::istringstream m_text;
    uint32_t m_line{0};
    std::vector<std::string> m_words; //!< of the line
    size_t m_at{0};                   //!< next word
    std::vector<uint32_t> m_restarts;
    std::vector<uint32_t> m_repeated;
};

/** Moves to the next line that is not empty. */
bool Reader::NextLine()
{
    std::string line;
    while (std::getline(m_text, line))
    {
        ++m_line;
        m_words = WordsOf(line);
        m_at = 0;
        if (!m_words.empty())
        {
            return true;
        }
    }
    return false;
}

const std::string& Reader::Word(const std::string& item)
{
    if (m_at == m_words.size())
    {
        Fail(item, "the end of the line", "a value");
    }
    return m_words[m_at++];
}

uint64_t Reader::Number(const std::string& item, uint64_t least, uint64_t most)
{
    const std::string& word = Word(item);
    uint64_t number = 0;
    bool isNumber = word.size() <= 18;
    for (char c : word)
    {
        isNumber = isNumber && std::isdigit(static_cast<unsigned char>(c));
        number = isNumber ? number * 10 + static_cast<uint64_t>(c - '0') : 0;
    }
    if (!isNumber || number < least || number > most)
    {
        Fail(item,
             "'" + word.substr(0, 40) + "'",
             "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return number;
}

LayerPolicy Reader::ReadPolicy(const std::string& item)
{
    const std::string& word = Word(item);
    const auto known = Policies().find(word);
    if (known == Policies().end())
    {
        Fail(item, "'" + word.substr(0, 40) + "'", "one of " + NamesOf(Policies()));
    }
    return known->second;
}

/** "checkpoints: 2 0 5": how many, and which. */
std::vector<uint32_t> Reader::ReadLayerNumbers(const std::string& key)
{
    std::vector<uint32_t> layers(Number(key, 0, LARGEST_COUNT));
    for (auto& layer : layers)
    {
        layer = static_cast<uint32_t>(Number(key, 0, LARGEST_COUNT));
    }
    return layers;
}

void Reader::ReadHeader()
{
    m_table.policy = ReadPolicy("parallelism");
    static const std::map<std::string, uint32_t LayerTable::*> counts{
        {"model_parallel_NPU_group", &LayerTable::modelGroup},
        {"ep", &LayerTable::expertGroup},
        {"pp", &LayerTable::stages},
        {"ga", &LayerTable::microBatches},
        {"all_gpus", &LayerTable::ranks},
    };
    const bool isDlrm = m_table.policy == LayerPolicy::DLRM;
    if (m_words.size() == 2 && (isDlrm || m_table.policy == LayerPolicy::TRANSFORMER))
    {
        // ASTRA-sim 1.0 wrote the policy's one number without a key.
        (isDlrm ? m_table.lastBottomLayer : m_table.modelGroup) = static_cast<uint32_t>(
            Number(isDlrm ? "last bottom layer" : "model parallel group", 1, LARGEST_COUNT));
    }
    std::set<std::string> known;
    while (m_at < m_words.size())
    {
        std::string key = m_words[m_at++];
        if (key.back() == ':') // some files write pp_comm without a colon
        {
            key.pop_back();
        }
        if (!known.insert(key).second)
        {
            Fail(key, "it a second time", "it once");
        }
        const auto count = counts.find(key);
        if (count != counts.end())
        {
            m_table.*(count->second) = static_cast<uint32_t>(Number(key, 1, LARGEST_COUNT));
        }
        else if (key == "vpp")
        {
            Number(key, 1, LARGEST_COUNT); // AICB writes the layers of a stage
        }
        else if (key == "pp_comm")
        {
            m_table.stageBytes = Number(key, 0, LARGEST_BYTES);
        }
        else if (key == "DLRM_LAST_BOTTOM_LAYER")
        {
            m_table.lastBottomLayer = static_cast<uint32_t>(Number(key, 0, LARGEST_COUNT));
        }
        else if (key == "checkpoints" || key == "checkpoint_initiates")
        {
            (key == "checkpoints" ? m_restarts : m_repeated) = ReadLayerNumbers(key);
        }
        else
        {
            Fail(key,
                 "an unknown key",
                 NamesOf(counts) + ", vpp, pp_comm, checkpoints, checkpoint_initiates or "
                                   "DLRM_LAST_BOTTOM_LAYER");
        }
    }
}

LayerPhase Reader::ReadPhase(const std::string& phase)
{
    static const std::map<std::string, CollectiveKind> kinds{
        {"ALLREDUCE", CollectiveKind::ALL_REDUCE},
        {"ALLGATHER", CollectiveKind::ALL_GATHER},
        {"REDUCESCATTER", CollectiveKind::REDUCE_SCATTER},
        {"ALLTOALL", CollectiveKind::ALL_TO_ALL},
        {"BROADCAST", CollectiveKind::BROADCAST},
    };
    LayerPhase result;
    result.compute = NanoSeconds(
        static_cast<int64_t>(Number(phase + " compute time (ns)", 0, LONGEST_NANOSECONDS)));
    const std::string& word = Word(phase + " communication");
    std::string kind = word;
    auto cut = [&kind](const std::string& suffix) {
        const bool ends = kind.size() > suffix.size() &&
                          kind.compare(kind.size() - suffix.size(), suffix.size(), suffix) == 0;
        kind.resize(kind.size() - (ends ? suffix.size() : 0));
        return ends;
    };
    result.group = cut("_DP_EP") ? LayerGroup::DATA_EP
                   : cut("_EP")  ? LayerGroup::EXPERT
                                 : LayerGroup::DEFAULT;
    const auto known = kinds.find(kind);
    if (known == kinds.end() && word != "NONE")
    {
        Fail(phase + " communication",
             "'" + word.substr(0, 40) + "'",
             "NONE or one of " + NamesOf(kinds) + ", with _EP or _DP_EP behind it or not");
    }
    result.communicates = known != kinds.end();
    result.kind = result.communicates ? known->second : result.kind;
    result.bytes = Number(phase + " communication size (bytes)", 0, LARGEST_BYTES);
    return result;
}

void Reader::ReadLayer()
{
    Layer layer;
    layer.line = m_line;
    layer.name = Word("name");
    const std::string& dependency = Word("dependency");
    if (dependency.find_first_not_of("-0123456789") != std::string::npos)
    {
        Fail("dependency", "'" + dependency.substr(0, 40) + "'", "a number such as -1");
    }
    layer.forward = ReadPhase("forward");
    layer.inputGradient = ReadPhase("input gradient");
    layer.weightGradient = ReadPhase("weight gradient");
    layer.update =
        NanoSeconds(static_cast<int64_t>(Number("update time (ns)", 0, LONGEST_NANOSECONDS)));
    layer.policy =
        m_table.policy == LayerPolicy::CUSTOMIZED ? ReadPolicy("parallelism") : m_table.policy;
    if (m_at < m_words.size())
    {
        Fail("layer '" + layer.name + "'",
             std::to_string(m_words.size()) + " fields",
             std::to_string(m_at));
    }
    m_table.layers.push_back(layer);
}

std::vector<bool> Reader::Mark(const std::vector<uint32_t>& layers, const std::string& key) const
{
    std::vector<bool> marks(m_table.layers.size(), false);
    for (uint32_t layer : layers)
    {
        if (layer >= marks.size())
        {
            throw InputError({m_table.file, 1, key},
                             "layer " + std::to_string(layer),
                             "0 to " + std::to_string(marks.size() - 1));
        }
        marks[layer] = true;
    }
    return marks;
}

LayerTable Reader::Read()
{
    m_text.str(ReadInputFile(m_table.file, LARGEST_TEXT));
    if (!NextLine())
    {
        throw InputError({m_table.file, 0, ""}, "an empty file", "a text workload");
    }
    ReadHeader();
    if (!NextLine())
    {
        Fail("number of layers", "the end of the file", "a line with it");
    }
    const uint64_t layers = Number("number of layers", 1, LARGEST_COUNT);
    if (m_at < m_words.size())
    {
        Fail("number of layers", std::to_string(m_words.size()) + " words", "one number");
    }
    const uint32_t countLine = m_line;
    while (m_table.layers.size() < layers)
    {
        if (!NextLine())
        {
            throw InputError({m_table.file, countLine, "number of layers"},
                             std::to_string(layers) + " and " +
                                 std::to_string(m_table.layers.size()) +
                                 (m_table.layers.size() == 1 ? " layer below" : " layers below"),
                             "as many lines as it says");
        }
        ReadLayer();
    }
    if (NextLine())
    {
        Fail("layers",
             "a line behind the last of " + std::to_string(layers) +
                 (layers == 1 ? " layer (line " : " layers (line ") + std::to_string(countLine) +
                 ")",
             "the end of the file");
    }
    m_table.isRestart = Mark(m_restarts, "checkpoints");
    m_table.isRepeated = Mark(m_repeated, "checkpoint_initiates");
    return std::move(m_table);
}

} // namespace

LayerTable ReadLayerTable(const std::string& file)
{
    return Reader(file).Read();
}

MicroBatchRows FindMicroBatches(const LayerTable& table)
{
    const auto layers = static_cast<uint32_t>(table.layers.size());
    if (table.microBatches == 1)
    {
        return {0, layers};
    }
    std::map<std::string, std::vector<uint32_t>> places;
    for (uint32_t i = 0; i < layers; ++i)
    {
        places[table.layers[i].name].push_back(i);
    }
    for (const Layer& layer : table.layers)
    {
        const std::vector<uint32_t>& found = places[layer.name];
        if (found.size() != table.microBatches)
        {
            continue;
        }
        const uint32_t length = found[1] - found[0];
        for (uint32_t k = 1; k < found.size(); ++k)
        {
            if (found[k] - found[k - 1] != length)
            {
                return {};
            }
        }
        return found.back() + length <= layers ? MicroBatchRows{found.front(), length}
                                               : MicroBatchRows{};
    }
    return {};
}

} // namespace echo
} // namespace ns3
