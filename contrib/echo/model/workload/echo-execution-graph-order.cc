// SPDX-License-Identifier: GPL-2.0-only
// Dependencies, order and cycles of ExecutionGraphBuilder::Build.
#include "echo-short-cycle.h"
#include "echo-workload-builder.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>

namespace ns3
{
namespace echo
{

namespace
{

/** Values of many keys in one array: those of key k lie from first[k] to first[k + 1]. */
struct Rows
{
    std::vector<uint32_t> first;
    std::vector<OperatorId> values;

    /** @param rows pairs of key below @p keys and value; the order of each row is kept */
    template <typename Pairs, typename Key, typename Value>
    Rows(uint32_t keys, const Pairs& rows, Key key, Value value)
        : first(keys + 1, 0), values(rows.size())
    {
        for (const auto& row : rows)
        {
            ++first[key(row).Get() + 1];
        }
        for (uint32_t i = 0; i < keys; ++i)
        {
            first[i + 1] += first[i];
        }
        std::vector<uint32_t> next(first.begin(), first.end() - 1);
        for (const auto& row : rows)
        {
            values[next[key(row).Get()]++] = value(row);
        }
    }
};

} // namespace

/**
 * Keeps of each operator's dependencies the latest of each other stream, and that only if no
 * earlier operator of its own stream waited for it or a later one: streams complete in order.
 */
ExecutionGraphBuilder::Edges ExecutionGraphBuilder::ReduceDependencies() const
{
    const auto& operators = m_graph.m_operators;
    const auto& positions = m_graph.m_positions;
    Rows given(
        static_cast<uint32_t>(operators.size()),
        m_edges,
        [](const auto& edge) { return edge.first; },
        [](const auto& edge) { return edge.second; });
    // Streams that the current stream has waited for, and up to which position.
    std::vector<uint32_t> waitedBy(m_graph.m_streams.size(), std::numeric_limits<uint32_t>::max());
    std::vector<uint32_t> waitedPosition(m_graph.m_streams.size(), 0);
    Edges kept;
    for (uint32_t stream = 0; stream < m_graph.m_streams.size(); ++stream)
    {
        for (OperatorId op : m_graph.m_streams[stream])
        {
            auto begin = given.values.begin() + given.first[op.Get()];
            auto end = given.values.begin() + given.first[op.Get() + 1];
            std::sort(begin, end, [&](OperatorId a, OperatorId b) {
                const StreamId sa = operators[a.Get()].stream;
                const StreamId sb = operators[b.Get()].stream;
                return sa == sb ? positions[b.Get()] < positions[a.Get()] : sa < sb;
            });
            for (auto it = begin; it != end; ++it)
            {
                const uint32_t other = operators[it->Get()].stream.Get();
                const uint32_t position = positions[it->Get()];
                const bool implied = other == stream ? position < positions[op.Get()]
                                                     : waitedBy[other] == stream &&
                                                           waitedPosition[other] >= position;
                if (!implied)
                {
                    kept.emplace_back(op, *it);
                    waitedBy[other] = stream;
                    waitedPosition[other] = position;
                }
            }
        }
    }
    return kept;
}

/** Numbers the operators so that each follows its dependencies, as near to the old order as can be.
 */
void ExecutionGraphBuilder::Order(Edges& edges)
{
    const bool ordered = std::all_of(
        edges.begin(), edges.end(), [](const auto& edge) { return edge.second < edge.first; });
    if (ordered)
    {
        return;
    }
    const auto count = static_cast<uint32_t>(m_graph.m_operators.size());
    Rows dependents(
        count,
        edges,
        [](const auto& edge) { return edge.second; },
        [](const auto& edge) { return edge.first; });
    std::vector<uint32_t> open(count, 0); // dependencies not numbered yet
    for (const auto& edge : edges)
    {
        ++open[edge.first.Get()];
    }
    std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
    for (uint32_t i = 0; i < count; ++i)
    {
        open[i] += m_graph.m_positions[i] > 0 ? 1 : 0;
        if (open[i] == 0)
        {
            ready.push(i);
        }
    }
    std::vector<OperatorId> renamed(count);
    std::vector<Operator> operators;
    operators.reserve(count);
    std::vector<uint32_t> positions;
    positions.reserve(count);
    while (!ready.empty())
    {
        const uint32_t old = ready.top();
        ready.pop();
        auto release = [&](OperatorId dependent) {
            if (--open[dependent.Get()] == 0)
            {
                ready.push(dependent.Get());
            }
        };
        for (uint32_t i = dependents.first[old]; i < dependents.first[old + 1]; ++i)
        {
            release(dependents.values[i]);
        }
        const auto& stream = m_graph.m_streams[m_graph.m_operators[old].stream.Get()];
        if (m_graph.m_positions[old] + 1 < stream.size())
        {
            release(stream[m_graph.m_positions[old] + 1]);
        }
        renamed[old] = OperatorId(static_cast<uint32_t>(operators.size()));
        operators.push_back(m_graph.m_operators[old]);
        positions.push_back(m_graph.m_positions[old]);
    }
    if (operators.size() < count)
    {
        FailWithCycle();
    }
    m_graph.m_operators = std::move(operators);
    m_graph.m_positions = std::move(positions);
    for (auto& stream : m_graph.m_streams)
    {
        for (OperatorId& op : stream)
        {
            op = renamed[op.Get()];
        }
    }
    for (auto& [op, dependency] : edges)
    {
        op = renamed[op.Get()];
        dependency = renamed[dependency.Get()];
    }
}

void ExecutionGraphBuilder::SetDependencies(const Edges& edges)
{
    Rows rows(
        static_cast<uint32_t>(m_graph.m_operators.size()),
        edges,
        [](const auto& edge) { return edge.first; },
        [](const auto& edge) { return edge.second; });
    for (uint32_t i = 0; i < m_graph.m_operators.size(); ++i)
    {
        m_graph.m_operators[i].firstDependency = rows.first[i];
        m_graph.m_operators[i].dependencyCount = rows.first[i + 1] - rows.first[i];
    }
    m_graph.m_dependencies = std::move(rows.values);
}

void ExecutionGraphBuilder::SetSlotNeeds()
{
    m_graph.m_slotNeeds.resize(m_graph.m_groupSlots);
    for (uint32_t i = 0; i < m_graph.m_operators.size(); ++i)
    {
        const Operator& op = m_graph.m_operators[i];
        if (op.type != OperatorType::COLLECTIVE && op.type != OperatorType::POINT_TO_POINT)
        {
            continue;
        }
        const CommunicationDescription& description = m_graph.GetCommunication(op);
        auto& needs = m_graph.m_slotNeeds[description.groupSlot];
        auto needIndex = [&](uint32_t index) {
            // An index of 2^32 - 1 is out of range of any group: no wrap to 0.
            const uint32_t size = std::max(index, index + 1);
            if (size > needs.minimumSize)
            {
                needs.minimumSize = size;
                needs.minimumBy = OperatorId(i);
            }
        };
        auto needSize = [&](size_t size) {
            if (size > 0 && needs.exactSize == 0)
            {
                needs.exactSize = static_cast<uint32_t>(size);
                needs.exactBy = OperatorId(i);
            }
            else if (size > 0 && needs.exactSize != size)
            {
                needs.otherExactBy = OperatorId(i);
            }
        };
        for (const auto& element : description.elements)
        {
            needIndex(element.peerIndex);
        }
        needIndex(description.spec.root);
        needSize(description.spec.sendBytes.size());
        needSize(description.spec.receiveBytes.size());
    }
}

void ExecutionGraphBuilder::FailWithCycle() const
{
    std::vector<std::pair<uint32_t, uint32_t>> edges;
    for (const auto& [op, dependency] : m_edges)
    {
        edges.emplace_back(op.Get(), dependency.Get());
    }
    const size_t given = edges.size();
    for (const auto& stream : m_graph.m_streams)
    {
        for (size_t i = 1; i < stream.size(); ++i)
        {
            edges.emplace_back(stream[i].Get(), stream[i - 1].Get());
        }
    }
    std::vector<std::pair<uint32_t, uint32_t>> dependencies(edges.begin(), edges.begin() + given);
    std::sort(dependencies.begin(), dependencies.end());
    std::vector<uint32_t> cycle =
        FindShortCycle(static_cast<uint32_t>(m_graph.m_operators.size()), std::move(edges));
    // Start where a dependency was given, so that runs in stream order are not broken.
    auto isDependency = [&](size_t i) {
        return std::binary_search(dependencies.begin(),
                                  dependencies.end(),
                                  std::make_pair(cycle[i], cycle[(i + 1) % cycle.size()]));
    };
    size_t start = 0;
    while (start < cycle.size() && !isDependency(start))
    {
        ++start;
    }
    std::rotate(cycle.begin(), cycle.begin() + start, cycle.end());
    constexpr uint32_t MAX_STEPS = 24;
    uint32_t steps = 0;
    std::string text = Label(OperatorId(cycle[0]));
    for (size_t i = 0; i < cycle.size();)
    {
        const bool waits = isDependency(i);
        ++i;
        while (!waits && i < cycle.size() && !isDependency(i))
        {
            ++i; // one phrase for a run in stream order
        }
        const OperatorId next(cycle[i % cycle.size()]);
        if (++steps <= MAX_STEPS)
        {
            text += steps > 1 ? ", which " : " ";
            text += waits ? "waits for " : "runs after ";
            text += Label(next);
            if (!waits)
            {
                text += " on stream " + m_graph.GetStreamName(m_graph.GetOperator(next).stream);
            }
        }
    }
    if (steps > MAX_STEPS)
    {
        text += ", ... (" + std::to_string(steps - MAX_STEPS) + " more) ..., back at the first";
    }
    throw InputError({m_graph.m_source, m_graph.m_operators[cycle[0]].line, ""},
                     "a cycle of " + std::to_string(cycle.size()) +
                         (cycle.size() == 1 ? " operator: " : " operators: ") + text,
                     "operators that can run in some order");
}

} // namespace echo
} // namespace ns3
