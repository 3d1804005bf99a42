// SPDX-License-Identifier: GPL-2.0-only
#include "echo-learned-slowdown.h"

#include "echo-constant-slowdown.h"

#include "ns3/double.h"
#include "ns3/echo-name-table.h"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(LearnedSlowdown);

namespace
{

const double LARGEST = 1000; //!< factor; beyond what any measurement shows

const NameTable<SlowdownTarget> TARGETS{{SlowdownTarget::LOG_FACTOR, "log-factor"},
                                        {SlowdownTarget::FACTOR, "factor"},
                                        {SlowdownTarget::EXCESS, "excess"}};

/** Features of the communication: these and all behind. */
const char* const FIRST_OF_COMMUNICATION = "algorithm";

/** @return a column's name as features are written: "L1 hit rate" is l1_hit_rate */
std::string Normalise(const std::string& name)
{
    std::string text;
    for (const char c : name)
    {
        text += c == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return text;
}

size_t FindFeature(const std::string& name, const std::string& file)
{
    const auto& known = GetFeatureNames();
    const auto it = std::find(known.begin(), known.end(), Normalise(name));
    if (it == known.end())
    {
        std::string list;
        for (const auto& candidate : known)
        {
            list += (list.empty() ? "" : ", ") + candidate;
        }
        throw InputError({file, 0, "features"}, "'" + name + "'", "of " + list);
    }
    return static_cast<size_t>(it - known.begin());
}

} // namespace

const char* ToString(SlowdownTarget target)
{
    return NameOf(TARGETS, target);
}

SlowdownTarget ParseSlowdownTarget(const std::string& text)
{
    return ValueOf(TARGETS, text);
}

TypeId LearnedSlowdown::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::LearnedSlowdown")
            .SetParent<SlowdownModel>()
            .SetGroupName("Echo")
            .AddConstructor<LearnedSlowdown>()
            .AddAttribute("Clock",
                          "Clock of the simulated GPUs over their usual one, where a "
                          "kernel's counters do not say: below 1 where power is "
                          "short.",
                          DoubleValue(1),
                          MakeDoubleAccessor(&LearnedSlowdown::m_clock),
                          MakeDoubleChecker<double>(0.1, 1));
    return tid;
}

void LearnedSlowdown::SetModel(std::shared_ptr<const TreeEnsemble> ensemble,
                               const std::string& file,
                               const std::vector<std::string>& features,
                               SlowdownTarget target)
{
    const std::string tag = ensemble->GetTag("echo_target");
    m_target = tag.empty() ? target : ParseSlowdownTarget(tag);
    const auto& own = ensemble->GetFeatures();
    const auto& names = !features.empty() ? features : !own.empty() ? own : GetFeatureNames();
    if (names.size() != ensemble->GetFeatureCount())
    {
        throw InputError({file, 0, "features"},
                         std::to_string(names.size()) + " names",
                         std::to_string(ensemble->GetFeatureCount()) + ", as the model has");
    }
    const size_t communication = FindFeature(FIRST_OF_COMMUNICATION, file);
    m_order.clear();
    m_seesCommunication = false;
    for (const auto& name : names)
    {
        m_order.push_back(FindFeature(name, file));
        m_seesCommunication = m_seesCommunication || m_order.back() >= communication;
    }
    m_defaults.clear();
    std::istringstream defaults(ensemble->GetTag("echo_defaults"));
    for (std::string word; defaults >> word;)
    {
        m_defaults.push_back(word == "-" ? NAN : std::strtof(word.c_str(), nullptr));
    }
    m_defaults.resize(m_order.size(), NAN);
    m_ensemble = std::move(ensemble);
    m_known.clear();
}

void LearnedSlowdown::SetGpu(const GpuSpec& gpu)
{
    m_gpu = gpu;
    m_known.clear();
}

OverlapDescription LearnedSlowdown::Describe(const ExecutionGraph& graph,
                                             const Operator& op,
                                             Time alone,
                                             const Operator& communication) const
{
    OverlapDescription description;
    if (const KernelCounters* counters = graph.GetCounters(op))
    {
        description.counters = *counters;
    }
    description.durationUs = alone.GetPicoSeconds() / 1e6;
    description.kernel = GetKernelKind(graph, op);
    description.gpu = GetGpuCategory(m_gpu.name);
    const double seconds = alone.GetSeconds();
    KernelCounters& counters = description.counters;
    counters.clock = std::isnan(counters.clock) ? m_clock : counters.clock;
    const auto peak = m_gpu.peakFlops.find(op.precision);
    if (std::isnan(counters.computeThroughput) && op.flops > 0 && peak != m_gpu.peakFlops.end() &&
        peak->second > 0)
    {
        counters.computeThroughput = std::min(100.0, 100 * op.flops / (seconds * peak->second));
    }
    if (op.memoryBytes > 0 && m_gpu.memoryBandwidthBytesPerSecond > 0)
    {
        const double share =
            std::min(100.0, 100 * op.memoryBytes / (seconds * m_gpu.memoryBandwidthBytesPerSecond));
        if (std::isnan(counters.dramThroughput))
        {
            counters.dramThroughput = share;
        }
        if (std::isnan(counters.memoryThroughput))
        {
            counters.memoryThroughput = share;
        }
    }
    const CommunicationDescription& asked = graph.GetCommunication(communication);
    CollectiveSpec spec = asked.spec;
    for (const auto& element : asked.elements)
    {
        spec.kind = CollectiveKind::SEND_RECV;
        spec.bytes += element.bytes;
    }
    description.SetCommunication(spec);
    return description;
}

float LearnedSlowdown::GetRaw(const OverlapDescription& description) const
{
    const std::vector<float> all = MakeFeatures(description);
    std::vector<float> values;
    for (size_t i = 0; i < m_order.size(); ++i)
    {
        const float value = all[m_order[i]];
        values.push_back(std::isnan(value) ? m_defaults[i] : value);
    }
    return m_ensemble->Predict(values);
}

double LearnedSlowdown::GetFactor(const OverlapDescription& description) const
{
    double factor = GetRaw(description);
    factor = m_target == SlowdownTarget::LOG_FACTOR ? std::exp(factor)
             : m_target == SlowdownTarget::EXCESS   ? 1 + factor
                                                    : factor;
    return std::isnan(factor) ? 1 : std::min(LARGEST, std::max(1.0, factor));
}

double LearnedSlowdown::GetFactor(const ExecutionGraph& graph,
                                  const Operator& op,
                                  Time alone,
                                  const Operator& communication) const
{
    if (op.type != OperatorType::COMPUTE)
    {
        return 1;
    }
    const Key key{&graph,
                  graph.GetId(op).Get(),
                  alone.GetTimeStep(),
                  m_seesCommunication ? communication.communication : 0};
    const auto [entry, isNew] = m_known.emplace(key, 1);
    if (isNew)
    {
        entry->second = GetFactor(Describe(graph, op, alone, communication));
    }
    return entry->second;
}

} // namespace echo
} // namespace ns3
