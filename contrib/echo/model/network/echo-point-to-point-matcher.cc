// SPDX-License-Identifier: GPL-2.0-only
#include "echo-point-to-point-matcher.h"

#include "echo-collective-agreement.h"

#include "ns3/echo-error.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace ns3
{
namespace echo
{

namespace
{

std::string RankText(RankId rank)
{
    return "rank " + std::to_string(rank.Get());
}

} // namespace

bool PointToPointMatcher::Key::operator==(const Key& other) const
{
    return group == other.group && source == other.source && destination == other.destination &&
           tag == other.tag;
}

size_t PointToPointMatcher::KeyHash::operator()(const Key& key) const
{
    uint64_t hash =
        (uint64_t{key.source.Get()} << 32 | key.destination.Get()) ^
        (uint64_t{key.group.Get()} << 32 | static_cast<uint32_t>(key.tag)) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ (hash >> 29)) * 0xbf58476d1ce4e5b9u;
    return static_cast<size_t>(hash ^ (hash >> 32));
}

std::optional<MatchedPair> PointToPointMatcher::Add(const CommGroup& group,
                                                    RankId rank,
                                                    const PointToPointElement& element,
                                                    PointToPointCall call)
{
    const RankId source = element.isSend ? rank : element.peer;
    const RankId destination = element.isSend ? element.peer : rank;
    const Key key{group.GetId(), source, destination, element.tag};
    Queue& queue = m_queues[key];
    if (queue.calls.IsEmpty() || queue.areSends == element.isSend)
    {
        queue.areSends = element.isSend;
        m_calls.Append(queue.calls, m_calls.Add({std::move(call), group.GetName()}));
        return std::nullopt;
    }
    MatchedPair pair;
    (element.isSend ? pair.send : pair.receive) = std::move(call);
    (element.isSend ? pair.receive : pair.send) = m_calls.Take(m_calls.PopFirst(queue.calls)).call;
    pair.sequence = queue.matched++;
    if (pair.send.bytes != pair.receive.bytes)
    {
        RefuseSizes(key, group, pair);
    }
    return pair;
}

void PointToPointMatcher::RefuseSizes(const Key& key,
                                      const CommGroup& group,
                                      const MatchedPair& pair) const
{
    const auto& [id, source, destination, tag] = key;
    std::string text =
        "a send of " + ExactBytes(pair.send.bytes) + " by " + RankText(source) + " (" +
        pair.send.origin + ") meets a receive of " + ExactBytes(pair.receive.bytes) + " by " +
        RankText(destination) + " (" + pair.receive.origin + "): tag " + std::to_string(tag) +
        ", group " + group.GetName() + ", number " + std::to_string(pair.sequence) + " of the pair";
    constexpr size_t SHOWN = 8;
    const auto behind = DescribeUnmatched();
    for (size_t i = 0; i < behind.size() && i < SHOWN; ++i)
    {
        text += (i == 0 ? "; also waiting: " : "; ") + behind[i];
    }
    if (behind.size() > SHOWN)
    {
        text += "; and " + std::to_string(behind.size() - SHOWN) + " more";
    }
    throw StallError(text);
}

std::vector<std::string> PointToPointMatcher::DescribeUnmatched() const
{
    std::vector<std::pair<Key, Queue>> queues(m_queues.begin(), m_queues.end());
    std::sort(queues.begin(), queues.end(), [](const auto& a, const auto& b) {
        const auto order = [](const Key& key) {
            return std::make_tuple(key.group, key.source, key.destination, key.tag);
        };
        return order(a.first) < order(b.first);
    });
    std::vector<std::string> lines;
    for (const auto& [key, queue] : queues)
    {
        for (uint32_t index = queue.calls.first; index != PoolQueue::NONE;
             index = m_calls.GetNext(index))
        {
            const PointToPointCall& call = m_calls[index].call;
            const std::string where = ", tag " + std::to_string(key.tag) + ", group " +
                                      m_calls[index].group + ": no matching ";
            const std::string what = ExactBytes(call.bytes) + " by " +
                                     RankText(queue.areSends ? key.source : key.destination) +
                                     " (" + call.origin + ")";
            lines.push_back(
                queue.areSends
                    ? "send of " + what + " to " + RankText(key.destination) + where + "receive"
                    : "receive of " + what + " from " + RankText(key.source) + where + "send");
        }
    }
    return lines;
}

} // namespace echo
} // namespace ns3
