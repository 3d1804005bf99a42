// SPDX-License-Identifier: GPL-2.0-only
#include "echo-pipeline-schedule.h"

#include "ns3/echo-error.h"

#include <algorithm>
#include <optional>
#include <sstream>

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(PipelineSchedule);
NS_OBJECT_ENSURE_REGISTERED(GpipeSchedule);
NS_OBJECT_ENSURE_REGISTERED(OneForwardOneBackwardSchedule);
NS_OBJECT_ENSURE_REGISTERED(InterleavedSchedule);
NS_OBJECT_ENSURE_REGISTERED(ZeroBubbleSchedule);
NS_OBJECT_ENSURE_REGISTERED(ListedSchedule);

namespace
{

using Kind = PipelinePass::Kind;

template <typename Schedule>
TypeId MakeType(const char* name)
{
    return TypeId(name)
        .SetParent<PipelineSchedule>()
        .SetGroupName("Echo")
        .AddConstructor<Schedule>();
}

} // namespace

TypeId PipelineSchedule::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::PipelineSchedule").SetParent<Object>().SetGroupName("Echo");
    return tid;
}

TypeId GpipeSchedule::GetTypeId()
{
    static TypeId tid = MakeType<GpipeSchedule>("ns3::echo::GpipeSchedule");
    return tid;
}

TypeId OneForwardOneBackwardSchedule::GetTypeId()
{
    static TypeId tid =
        MakeType<OneForwardOneBackwardSchedule>("ns3::echo::OneForwardOneBackwardSchedule");
    return tid;
}

TypeId InterleavedSchedule::GetTypeId()
{
    static TypeId tid = MakeType<InterleavedSchedule>("ns3::echo::InterleavedSchedule");
    return tid;
}

TypeId ZeroBubbleSchedule::GetTypeId()
{
    static TypeId tid = MakeType<ZeroBubbleSchedule>("ns3::echo::ZeroBubbleSchedule");
    return tid;
}

TypeId ListedSchedule::GetTypeId()
{
    // No constructor: it is made of passes, not chosen by name.
    static TypeId tid =
        TypeId("ns3::echo::ListedSchedule").SetParent<PipelineSchedule>().SetGroupName("Echo");
    return tid;
}

std::string ToString(const PipelinePass& pass)
{
    const char* letters = "FBIW";
    std::string text(1, letters[static_cast<size_t>(pass.kind)]);
    text += std::to_string(pass.microBatch);
    text += pass.chunk > 0 ? "." + std::to_string(pass.chunk) : "";
    return pass.isPaired ? text + "&" : text;
}

std::vector<PipelinePass> GpipeSchedule::GetPasses(uint32_t, const PipelineShape& shape) const
{
    std::vector<PipelinePass> passes;
    for (uint32_t i = 0; i < shape.microBatches; ++i)
    {
        passes.push_back({Kind::FORWARD, i, 0});
    }
    for (uint32_t i = shape.microBatches; i-- > 0;)
    {
        passes.push_back({Kind::BACKWARD, i, 0});
    }
    return passes;
}

std::vector<PipelinePass> OneForwardOneBackwardSchedule::GetPasses(uint32_t stage,
                                                                   const PipelineShape& shape) const
{
    const uint32_t warmUp = std::min(shape.stages - stage - 1, shape.microBatches);
    std::vector<PipelinePass> passes;
    for (uint32_t i = 0; i < shape.microBatches + warmUp; ++i)
    {
        if (i < shape.microBatches)
        {
            passes.push_back({Kind::FORWARD, i, 0});
        }
        if (i >= warmUp)
        {
            passes.push_back({Kind::BACKWARD, i - warmUp, 0});
        }
    }
    return passes;
}

std::vector<PipelinePass> InterleavedSchedule::GetPasses(uint32_t stage,
                                                         const PipelineShape& shape) const
{
    return MakePasses(stage, shape, false);
}

std::vector<PipelinePass> InterleavedSchedule::MakePasses(uint32_t stage,
                                                          const PipelineShape& shape,
                                                          bool inPairs)
{
    // The order of forward passes; that of backward passes is the same with chunks reversed.
    std::vector<std::pair<uint32_t, uint32_t>> order; // micro-batch, chunk
    const uint32_t group = shape.microBatches < shape.stages
                               ? shape.microBatches
                               : shape.stages + shape.microBatches % shape.stages;
    for (uint32_t first = 0, end = 0; first < shape.microBatches; first = end)
    {
        end = first + (first == 0 ? group : shape.stages);
        for (uint32_t chunk = 0; chunk < shape.chunks; ++chunk)
        {
            for (uint32_t i = first; i < end; ++i)
            {
                order.emplace_back(i, chunk);
            }
        }
    }
    const auto total = static_cast<uint32_t>(order.size());
    const uint32_t warmUp = std::min(
        2 * (shape.stages - stage - 1) + (shape.chunks - 1) * group + (inPairs ? 1 : 0), total);
    std::vector<PipelinePass> passes;
    for (uint32_t i = 0; i < total + warmUp; ++i)
    {
        if (i < total)
        {
            passes.push_back(
                {Kind::FORWARD, order[i].first, order[i].second, inPairs && i >= warmUp});
        }
        if (i >= warmUp)
        {
            const auto& [microBatch, chunk] = order[i - warmUp];
            passes.push_back({Kind::BACKWARD, microBatch, shape.chunks - 1 - chunk});
        }
    }
    return passes;
}

std::vector<PipelinePass> ZeroBubbleSchedule::GetPasses(uint32_t stage,
                                                        const PipelineShape& shape) const
{
    const uint32_t warmUp = std::min(shape.stages - stage - 1, shape.microBatches);
    const uint32_t delay = std::min(stage, shape.microBatches);
    std::vector<PipelinePass> passes;
    for (uint32_t i = 0; i < shape.microBatches + warmUp; ++i)
    {
        if (i < shape.microBatches)
        {
            passes.push_back({Kind::FORWARD, i, 0});
        }
        if (i >= warmUp)
        {
            const uint32_t done = i - warmUp;
            passes.push_back({Kind::BACKWARD_INPUT, done, 0});
            if (done >= delay)
            {
                passes.push_back({Kind::BACKWARD_WEIGHT, done - delay, 0});
            }
        }
    }
    for (uint32_t i = shape.microBatches - delay; i < shape.microBatches; ++i)
    {
        passes.push_back({Kind::BACKWARD_WEIGHT, i, 0});
    }
    return passes;
}

void ListedSchedule::SetPasses(std::vector<std::vector<PipelinePass>> passes)
{
    m_passes = std::move(passes);
}

std::vector<PipelinePass> ListedSchedule::GetPasses(uint32_t stage,
                                                    const PipelineShape& shape) const
{
    if (m_passes.size() != shape.stages)
    {
        throw InputError({"", 0, "parallel.schedule"},
                         std::to_string(m_passes.size()) + " lists of passes",
                         std::to_string(shape.stages) + ", one a stage");
    }
    return m_passes[stage];
}

namespace
{

/** @return the pass that @p text names, as "F3" or "B3.1"; nothing if it names none */
std::optional<PipelinePass> ParsePass(const std::string& text)
{
    const size_t kind = std::string("FBIW").find(text.substr(0, 1));
    PipelinePass pass;
    char dot = 0;
    std::istringstream numbers(text.substr(std::min<size_t>(1, text.size())));
    const bool isRead =
        text.size() > 1 && std::isdigit(static_cast<unsigned char>(text[1])) &&
        (numbers >> pass.microBatch) &&
        (numbers.eof() || ((numbers >> dot) && dot == '.' && std::isdigit(numbers.peek()) &&
                           (numbers >> pass.chunk) && numbers.eof()));
    if (kind == std::string::npos || !isRead)
    {
        return std::nullopt;
    }
    pass.kind = static_cast<Kind>(kind);
    return pass;
}

} // namespace

std::vector<PipelinePass> ParsePipelinePasses(const std::string& text)
{
    std::vector<PipelinePass> passes;
    std::istringstream words(text);
    std::string word;
    while (words >> word)
    {
        const size_t both = word.find('&');
        const std::optional<PipelinePass> first = ParsePass(word.substr(0, both));
        const std::optional<PipelinePass> second =
            both == std::string::npos ? first : ParsePass(word.substr(both + 1));
        if (!first || !second)
        {
            throw InputError({"", 0, ""},
                             "'" + word + "'",
                             "a pass: F, B, I or W, the micro-batch, and .chunk, as F3 or B3.1; "
                             "or two that run together, as F3&B1");
        }
        passes.push_back(*first);
        if (both != std::string::npos)
        {
            passes.back().isPaired = true;
            passes.push_back(*second);
        }
    }
    return passes;
}

} // namespace echo
} // namespace ns3
