// SPDX-License-Identifier: GPL-2.0-only
#include "echo-layer-program.h"

#include "echo-communication-record.h"

#include <algorithm>
#include <optional>

namespace ns3
{
namespace echo
{

namespace
{

/** Passes of layers (forward, backward, repeated) of a rank; AICB's largest files have 4,000. */
const uint64_t MOST_LAYER_PASSES = 1u << 22;

/** @throws InputError if memory would run out */
void CheckLength(const LayerTable& table, uint32_t passes)
{
    uint64_t count = 2 * table.layers.size();
    uint64_t sinceRestart = 0;
    for (uint32_t layer = 0; layer < table.layers.size(); ++layer)
    {
        sinceRestart = table.isRestart[layer] ? 0 : sinceRestart;
        count += table.isRepeated[layer] ? sinceRestart : 0;
        ++sinceRestart;
    }
    if (count > MOST_LAYER_PASSES / std::max(passes, 1u))
    {
        throw InputError({table.file, 1, ""},
                         std::to_string(count) + " passes of layers in each of " +
                             std::to_string(passes) + " steps, with those that are repeated",
                         "at most " + std::to_string(MOST_LAYER_PASSES) + " in all");
    }
}

class Writer
{
  public:
    Writer(const LayerTable& table,
           const LayerGroups& groups,
           const MicroBatchRows& rows,
           uint32_t stage,
           bool isGatheredSize,
           std::map<std::string, uint64_t>& ignored)
        : m_table(table),
          m_groups(groups),
          m_rows(rows),
          m_stage(stage),
          m_isGatheredSize(isGatheredSize),
          m_ignored(ignored),
          m_gradients(table.layers.size())
    {
    }

    void Pass();
    LayerProgram Finish();

  private:
    void Forward(uint32_t layer, const std::string& name);
    void ForwardAll();
    void BackwardAll();
    void InputGradient(uint32_t layer);
    void WeightGradient(uint32_t layer);
    void RepeatForward(uint32_t layer);
    void DlrmBackward();
    void Micro();

    uint32_t SlotOf(LayerRanks set);
    ProgramDraft::Entry EntryOf(const Layer& layer, const std::string& what);
    uint32_t Add(const ProgramDraft::Entry& entry, const std::vector<uint32_t>& after);
    void Compute(const Layer& layer, Time time, const std::string& what);
    std::optional<uint32_t> Communicate(uint32_t layer,
                                        const LayerPhase& phase,
                                        const std::string& what,
                                        bool isWeightGradient);
    void Message(bool isForward, bool isSend, uint32_t layer);
    bool IsBlockStart(uint32_t layer) const;
    bool IsBlockEnd(uint32_t layer) const;

    const LayerTable& m_table;
    const LayerGroups& m_groups;
    const MicroBatchRows& m_rows;
    uint32_t m_stage;
    bool m_isGatheredSize;
    std::map<std::string, uint64_t>& m_ignored;
    LayerProgram m_program;
    std::vector<uint32_t> m_after; //!< what the next operation of the pass waits for
    std::vector<std::optional<uint32_t>> m_gradients; //!< by layer: end of its last gradient
};

uint32_t Writer::SlotOf(LayerRanks set)
{
    auto& slots = m_program.slots;
    const auto known = std::find(slots.begin(), slots.end(), set);
    const auto slot = static_cast<uint32_t>(known - slots.begin());
    if (known == slots.end())
    {
        slots.push_back(set);
    }
    return slot;
}

ProgramDraft::Entry Writer::EntryOf(const Layer& layer, const std::string& what)
{
    ProgramDraft::Entry entry;
    entry.name = m_program.draft.GetName(layer.name + " " + what);
    entry.line = layer.line;
    return entry;
}

uint32_t Writer::Add(const ProgramDraft::Entry& entry, const std::vector<uint32_t>& after)
{
    const uint32_t op = m_program.draft.Add(entry);
    for (uint32_t dependency : after)
    {
        m_program.draft.AddDependency(op, dependency);
    }
    return op;
}

void Writer::Compute(const Layer& layer, Time time, const std::string& what)
{
    if (time.IsZero())
    {
        return;
    }
    ProgramDraft::Entry entry = EntryOf(layer, what);
    entry.stream = m_program.draft.GetStream("compute");
    entry.duration = time;
    m_after = {Add(entry, m_after)};
}

/** @return the collective, which waits for all before it; none if there is nothing to move */
std::optional<uint32_t> Writer::Communicate(uint32_t layer,
                                            const LayerPhase& phase,
                                            const std::string& what,
                                            bool isWeightGradient)
{
    if (!phase.communicates)
    {
        return std::nullopt;
    }
    const auto set = m_groups.Choose(m_table, layer, phase, isWeightGradient);
    const char* reason = !set                         ? "collectives that the policy leaves out"
                         : phase.bytes == 0           ? "collectives of 0 bytes"
                         : m_groups.GetSize(*set) < 2 ? "collectives of one rank"
                                                      : nullptr;
    if (reason)
    {
        ++m_ignored[reason];
        return std::nullopt;
    }
    CommunicationDescription communication;
    communication.groupSlot = SlotOf(*set);
    communication.spec.kind = phase.kind;
    communication.spec.bytes = phase.bytes;
    if (phase.kind == CollectiveKind::ALL_GATHER && !m_isGatheredSize)
    {
        communication.spec.bytes = GatheredBytes(
            phase.bytes, m_groups.GetSize(*set), {m_table.file, m_table.layers[layer].line, what});
    }
    static const std::map<LayerRanks, const char*> streams{
        {LayerRanks::ALL, "all"},
        {LayerRanks::TENSOR, "tp"},
        {LayerRanks::DATA, "dp"},
        {LayerRanks::EXPERT, "ep"},
        {LayerRanks::DATA_EXPERT, "dp-ep"},
        {LayerRanks::FIRST_DIMENSION, "first dimension"},
        {LayerRanks::OTHER_DIMENSIONS, "other dimensions"},
    };
    ProgramDraft::Entry entry = EntryOf(m_table.layers[layer], what);
    entry.type = OperatorType::COLLECTIVE;
    entry.stream = m_program.draft.GetStream(streams.at(*set));
    entry.communication = m_program.draft.AddCommunication(std::move(communication));
    return Add(entry, m_after);
}

/** Between stages; a receive is posted at once, and what comes next waits for it. */
void Writer::Message(bool isForward, bool isSend, uint32_t layer)
{
    const bool isNext = isForward == isSend;
    if (m_rows.length == 0 || (isNext ? m_stage + 1 == m_groups.GetStages() : m_stage == 0))
    {
        return;
    }
    CommunicationDescription communication;
    communication.groupSlot = SlotOf(isNext ? LayerRanks::NEXT_STAGE : LayerRanks::PREVIOUS_STAGE);
    CommunicationDescription::Element element;
    element.isSend = isSend;
    element.peerIndex = isNext ? 1 : 0;
    element.bytes = m_table.stageBytes;
    element.tag = isForward ? 0 : 1;
    communication.elements.push_back(element);
    const std::string what =
        std::string(isSend ? "send " : "receive ") + (isForward ? "activations" : "gradients");
    ProgramDraft::Entry entry = EntryOf(m_table.layers[layer], what);
    entry.type = OperatorType::POINT_TO_POINT;
    entry.stream = m_program.draft.GetStream(what);
    entry.communication = m_program.draft.AddCommunication(std::move(communication));
    const uint32_t op = Add(entry, isSend ? m_after : std::vector<uint32_t>());
    if (!isSend)
    {
        m_after.push_back(op);
    }
}

bool Writer::IsBlockStart(uint32_t layer) const
{
    return m_rows.length > 0 && layer >= m_rows.first &&
           layer < m_rows.first + m_rows.length * m_table.microBatches &&
           (layer - m_rows.first) % m_rows.length == 0;
}

bool Writer::IsBlockEnd(uint32_t layer) const
{
    return layer + 1 >= m_rows.length && IsBlockStart(layer + 1 - m_rows.length);
}

void Writer::Forward(uint32_t layer, const std::string& name)
{
    const Layer& row = m_table.layers[layer];
    Compute(row, row.forward.compute, name);
    if (const auto op = Communicate(layer, row.forward, name, false))
    {
        m_after = {*op};
    }
}

void Writer::ForwardAll()
{
    std::optional<uint32_t> exchange; // of DLRM's embedding tables
    for (uint32_t layer = 0; layer < m_table.layers.size(); ++layer)
    {
        if (IsBlockStart(layer))
        {
            Message(true, false, layer);
        }
        if (m_gradients[layer]) // of the pass before
        {
            m_after.push_back(*m_gradients[layer]);
            m_gradients[layer].reset();
        }
        const Layer& row = m_table.layers[layer];
        if (m_table.policy == LayerPolicy::DLRM)
        {
            Compute(row, row.forward.compute, "forward");
            const auto op = Communicate(layer, row.forward, "forward", false);
            exchange = layer == 0 ? op : exchange;
            if (layer == m_table.lastBottomLayer && exchange)
            {
                m_after.push_back(*exchange);
            }
        }
        else
        {
            Forward(layer, "forward");
        }
        if (IsBlockEnd(layer))
        {
            Message(true, true, layer);
        }
    }
}

void Writer::WeightGradient(uint32_t layer)
{
    const Layer& row = m_table.layers[layer];
    Compute(row, row.weightGradient.compute, "weight gradient");
    const auto op = Communicate(layer, row.weightGradient, "weight gradient", true);
    if (!op)
    {
        return;
    }
    m_gradients[layer] = op;
    if (!row.update.IsZero())
    {
        ProgramDraft::Entry entry = EntryOf(row, "update");
        entry.stream = m_program.draft.GetStream("update");
        entry.duration = row.update;
        m_gradients[layer] = Add(entry, {*op});
    }
}

/** Forward passes from the last restart before a layer up to it. */
void Writer::RepeatForward(uint32_t layer)
{
    if (!m_table.isRepeated[layer])
    {
        return;
    }
    uint32_t start = layer;
    while (start > 0 && !m_table.isRestart[start])
    {
        --start;
    }
    for (; start < layer; ++start)
    {
        Forward(start, "forward again");
    }
}

void Writer::InputGradient(uint32_t layer)
{
    const Layer& row = m_table.layers[layer];
    Compute(row, row.inputGradient.compute, "input gradient");
    const bool isWaitedAtOnce = m_table.policy == LayerPolicy::TRANSFORMER ||
                                m_table.policy == LayerPolicy::TRANSFORMER_FORWARD ||
                                m_table.policy == LayerPolicy::MODEL_DATA;
    const auto op = isWaitedAtOnce || layer > 0
                        ? Communicate(layer, row.inputGradient, "input gradient", false)
                        : std::nullopt;
    if (op && isWaitedAtOnce)
    {
        m_after = {*op};
    }
    WeightGradient(layer);
    if (op && !isWaitedAtOnce)
    {
        m_after.push_back(*op);
    }
}

void Writer::DlrmBackward()
{
    std::optional<uint32_t> exchange;
    for (uint32_t layer = static_cast<uint32_t>(m_table.layers.size()); layer-- > 0;)
    {
        WeightGradient(layer);
        if (layer == 0)
        {
            break;
        }
        const Layer& row = m_table.layers[layer];
        Compute(row, row.inputGradient.compute, "input gradient");
        if (layer == m_table.lastBottomLayer + 1)
        {
            exchange = Communicate(0, m_table.layers[0].inputGradient, "input gradient", false);
        }
        if (layer == 1 && exchange)
        {
            m_after.push_back(*exchange);
        }
    }
}

void Writer::BackwardAll()
{
    for (uint32_t layer = static_cast<uint32_t>(m_table.layers.size()); layer-- > 0;)
    {
        if (IsBlockEnd(layer))
        {
            Message(false, false, layer);
        }
        RepeatForward(layer);
        const Layer& row = m_table.layers[layer];
        if (m_table.policy == LayerPolicy::DATA)
        {
            WeightGradient(layer);
            if (layer > 0)
            {
                Compute(row, row.inputGradient.compute, "input gradient");
            }
        }
        else
        {
            InputGradient(layer);
        }
        if (IsBlockStart(layer))
        {
            Message(false, true, layer);
        }
    }
}

/** A list of collectives, each after the one before. */
void Writer::Micro()
{
    for (uint32_t layer = 0; layer < m_table.layers.size(); ++layer)
    {
        const Layer& row = m_table.layers[layer];
        Compute(row, row.weightGradient.compute, "compute");
        if (const auto op = Communicate(layer, row.weightGradient, "collective", true))
        {
            m_after = {*op};
        }
    }
}

void Writer::Pass()
{
    switch (m_table.policy)
    {
    case LayerPolicy::MICRO:
        Micro();
        break;
    case LayerPolicy::INFERENCE:
        ForwardAll();
        break;
    case LayerPolicy::DLRM:
        ForwardAll();
        DlrmBackward();
        break;
    default:
        ForwardAll();
        BackwardAll();
        break;
    }
}

LayerProgram Writer::Finish()
{
    m_program.draft.SetSlots(static_cast<uint32_t>(m_program.slots.size()));
    return std::move(m_program);
}

} // namespace

LayerProgram BuildLayerProgram(const LayerTable& table,
                               const LayerGroups& groups,
                               const MicroBatchRows& rows,
                               uint32_t stage,
                               uint32_t passes,
                               bool isGatheredSize,
                               std::map<std::string, uint64_t>& ignored)
{
    CheckLength(table, passes);
    Writer writer(table, groups, rows, stage, isGatheredSize, ignored);
    for (uint32_t i = 0; i < passes; ++i)
    {
        writer.Pass();
    }
    return writer.Finish();
}

} // namespace echo
} // namespace ns3
