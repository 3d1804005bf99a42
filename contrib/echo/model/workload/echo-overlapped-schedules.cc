// SPDX-License-Identifier: GPL-2.0-only
#include "echo-overlapped-schedules.h"

#include "ns3/echo-error.h"

#include <algorithm>
#include <deque>

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(CombinedSchedule);
NS_OBJECT_ENSURE_REGISTERED(DualPipeSchedule);
NS_OBJECT_ENSURE_REGISTERED(DualPipeVSchedule);

namespace
{

using Kind = PipelinePass::Kind;

template <typename Schedule, typename Parent>
TypeId MakeType(const char* name)
{
    return TypeId(name)
        .SetParent<Parent>()
        .SetGroupName("Echo")
        .template AddConstructor<Schedule>();
}

/**
 * The passes of one stage of a pipeline that is entered from two sides, in its eight phases
 * (deepseek-ai/DualPipe). Way 0 is that whose micro-batches reach this stage first.
 */
class TwoWayPasses
{
  public:
    /** A way: its chunk of the stage, and its first micro-batch. */
    struct Way
    {
        uint32_t chunk;
        uint32_t firstMicroBatch;
    };

    TwoWayPasses(Way first, Way second) : m_ways{first, second}
    {
    }

    /**
     * @param depth stages from the end to the middle of the pipeline
     * @param place of this stage among them, 0: at the end
     * @param count micro-batches of a way
     */
    std::vector<PipelinePass> Make(uint32_t depth, uint32_t place, uint32_t count)
    {
        const uint32_t rest = depth - place - 1; // stages between this one and the middle
        for (uint32_t i = 0; i < 2 * rest; ++i)
        {
            Forward(0);
        }
        for (uint32_t i = 0; i < place + 1; ++i)
        {
            Forward(0);
            Forward(1);
        }
        for (uint32_t i = 0; i < rest; ++i)
        {
            InputGradient(1);
            WeightGradient();
            Forward(1);
        }
        for (uint32_t i = 0; i < count - 2 * depth + place + 1; ++i)
        {
            // The first two passes in the middle run apart: together they would end later.
            Pair(0, 1, i > 0 || rest > 0);
            Pair(1, 0, true);
        }
        for (uint32_t i = 0; i < rest; ++i)
        {
            Backward(1);
            Pair(1, 0, true);
        }
        // From the middle of this phase on, weight gradients wait for the cool-down.
        const uint32_t half = (place + 1) / 2;
        for (uint32_t i = 0; i < place + 1; ++i)
        {
            (i > half || (i == half && place % 2 == 1)) ? InputGradient(1) : Backward(1);
            i >= half ? InputGradient(0) : Backward(0);
        }
        for (uint32_t i = 0; i < rest; ++i)
        {
            WeightGradient();
            InputGradient(0);
        }
        for (uint32_t i = 0; i < place + 1; ++i)
        {
            WeightGradient();
        }
        return std::move(m_passes);
    }

  private:
    void Add(Kind kind, uint32_t way, uint32_t index)
    {
        m_passes.push_back({kind, m_ways[way].firstMicroBatch + index, m_ways[way].chunk, false});
    }

    void Forward(uint32_t way)
    {
        Add(Kind::FORWARD, way, m_forwards[way]++);
    }

    void Backward(uint32_t way)
    {
        Add(Kind::BACKWARD, way, m_backwards[way]++);
    }

    void InputGradient(uint32_t way)
    {
        Add(Kind::BACKWARD_INPUT, way, m_backwards[way]++);
        m_deferred.push_back(m_passes.back());
    }

    /** Makes the weight gradients that have waited longest. */
    void WeightGradient()
    {
        m_passes.push_back(m_deferred.front());
        m_passes.back().kind = Kind::BACKWARD_WEIGHT;
        m_deferred.pop_front();
    }

    void Pair(uint32_t forward, uint32_t backward, bool runsTogether)
    {
        Forward(forward);
        m_passes.back().isPaired = runsTogether;
        Backward(backward);
    }

    Way m_ways[2];
    uint32_t m_forwards[2] = {0, 0};
    uint32_t m_backwards[2] = {0, 0};
    std::deque<PipelinePass> m_deferred;
    std::vector<PipelinePass> m_passes;
};

[[noreturn]] void Refuse(const std::string& found, const std::string& expected)
{
    throw InputError({"", 0, "parallel.schedule"}, found, expected);
}

void RefuseFewMicroBatches(const char* name, const PipelineShape& shape)
{
    if (shape.microBatches < 2 * shape.stages)
    {
        Refuse(std::string(name) + " with " + std::to_string(shape.microBatches) +
                   " micro-batches on " + std::to_string(shape.stages) + " stages",
               "at least twice as many micro-batches as stages");
    }
}

} // namespace

TypeId CombinedSchedule::GetTypeId()
{
    static TypeId tid =
        MakeType<CombinedSchedule, InterleavedSchedule>("ns3::echo::CombinedSchedule");
    return tid;
}

TypeId DualPipeSchedule::GetTypeId()
{
    static TypeId tid = MakeType<DualPipeSchedule, PipelineSchedule>("ns3::echo::DualPipeSchedule");
    return tid;
}

TypeId DualPipeVSchedule::GetTypeId()
{
    static TypeId tid =
        MakeType<DualPipeVSchedule, PipelineSchedule>("ns3::echo::DualPipeVSchedule");
    return tid;
}

std::vector<PipelinePass> CombinedSchedule::GetPasses(uint32_t stage,
                                                      const PipelineShape& shape) const
{
    return MakePasses(stage, shape, true);
}

void DualPipeSchedule::CheckShape(const PipelineShape& shape) const
{
    if (shape.stages % 2 != 0 || shape.microBatches % 2 != 0)
    {
        Refuse("dual-pipe with " + std::to_string(shape.stages) + " stages and " +
                   std::to_string(shape.microBatches) + " micro-batches",
               "an even number of both");
    }
    RefuseFewMicroBatches("dual-pipe", shape);
}

std::vector<PipelinePass> DualPipeSchedule::GetPasses(uint32_t stage,
                                                      const PipelineShape& shape) const
{
    const uint32_t half = shape.microBatches / 2;
    const uint32_t mirrored = shape.stages - 1 - stage;
    const TwoWayPasses::Way down{0, 0};
    const TwoWayPasses::Way up{1, half};
    TwoWayPasses passes(stage < mirrored ? down : up, stage < mirrored ? up : down);
    return passes.Make(shape.stages / 2, std::min(stage, mirrored), half);
}

void DualPipeVSchedule::CheckShape(const PipelineShape& shape) const
{
    RefuseFewMicroBatches("dual-pipe-v", shape);
}

std::vector<PipelinePass> DualPipeVSchedule::GetPasses(uint32_t stage,
                                                       const PipelineShape& shape) const
{
    TwoWayPasses passes({0, 0}, {1, 0});
    return passes.Make(shape.stages, stage, shape.microBatches);
}

} // namespace echo
} // namespace ns3
