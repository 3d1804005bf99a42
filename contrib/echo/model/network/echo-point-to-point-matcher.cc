// SPDX-License-Identifier: GPL-2.0-only
#include "echo-point-to-point-matcher.h"

#include "echo-collective-agreement.h"

#include "ns3/echo-error.h"

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

std::optional<MatchedPair> PointToPointMatcher::Add(const CommGroup& group,
                                                    RankId rank,
                                                    const PointToPointElement& element,
                                                    PointToPointCall call)
{
    const RankId source = element.isSend ? rank : element.peer;
    const RankId destination = element.isSend ? element.peer : rank;
    const Key key{group.GetId(), source, destination, element.tag};
    Queue& queue = m_queues[key];
    if (queue.group.empty())
    {
        queue.group = group.GetName();
    }
    auto& partners = element.isSend ? queue.receives : queue.sends;
    if (partners.empty())
    {
        (element.isSend ? queue.sends : queue.receives).push_back(std::move(call));
        return std::nullopt;
    }
    MatchedPair pair;
    (element.isSend ? pair.send : pair.receive) = std::move(call);
    (element.isSend ? pair.receive : pair.send) = std::move(partners.front());
    partners.pop_front();
    pair.sequence = queue.matched++;
    if (pair.send.bytes != pair.receive.bytes)
    {
        RefuseSizes(key, queue, pair);
    }
    return pair;
}

void PointToPointMatcher::RefuseSizes(const Key& key,
                                      const Queue& queue,
                                      const MatchedPair& pair) const
{
    const auto& [group, source, destination, tag] = key;
    std::string text = "a send of " + ExactBytes(pair.send.bytes) + " by " + RankText(source) +
                       " (" + pair.send.origin + ") meets a receive of " +
                       ExactBytes(pair.receive.bytes) + " by " + RankText(destination) + " (" +
                       pair.receive.origin + "): tag " + std::to_string(tag) + ", group " +
                       queue.group + ", number " + std::to_string(pair.sequence) + " of the pair";
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
    std::vector<std::string> lines;
    for (const auto& [key, queue] : m_queues)
    {
        const auto& [group, source, destination, tag] = key;
        const std::string where =
            ", tag " + std::to_string(tag) + ", group " + queue.group + ": no matching ";
        for (const auto& send : queue.sends)
        {
            lines.push_back("send of " + ExactBytes(send.bytes) + " by " + RankText(source) + " (" +
                            send.origin + ") to " + RankText(destination) + where + "receive");
        }
        for (const auto& receive : queue.receives)
        {
            lines.push_back("receive of " + ExactBytes(receive.bytes) + " by " +
                            RankText(destination) + " (" + receive.origin + ") from " +
                            RankText(source) + where + "send");
        }
    }
    return lines;
}

} // namespace echo
} // namespace ns3
