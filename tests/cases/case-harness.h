// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_CASE_HARNESS_H
#define ECHO_CASE_HARNESS_H

#include "ns3/echo-error.h"
#include "ns3/echo-scenario-reader.h"
#include "ns3/echo-scenario-runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** Keeps every record of a run. */
struct CapturedRun : public RecordSink
{
    std::vector<OperatorRecord> operators;
    std::vector<CollectiveRecord> collectives;
    std::vector<FlowRecord> flows;
    std::vector<LinkRecord> links;
    std::vector<RankRecord> ranks;
    RunRecord run;
    std::string error; //!< what was thrown, if anything
    int exitCode{0};   //!< as the program would end

    void OnOperator(const OperatorRecord& record) override
    {
        operators.push_back(record);
    }

    void OnCollective(const CollectiveRecord& record) override
    {
        collectives.push_back(record);
    }

    void OnFlow(const FlowRecord& record) override
    {
        flows.push_back(record);
    }

    void OnLink(const LinkRecord& record) override
    {
        links.push_back(record);
    }

    void OnRank(const RankRecord& record) override
    {
        ranks.push_back(record);
    }

    const OperatorRecord& FindOperator(uint32_t rank, const std::string& name) const
    {
        for (const auto& record : operators)
        {
            if (record.rank == RankId(rank) && record.name == name)
            {
                return record;
            }
        }
        throw std::runtime_error("no operator " + name + " on rank " + std::to_string(rank));
    }
};

/** Runs a scenario given as text; relative paths start in the scenarios folder. */
inline CapturedRun RunText(const std::string& yaml, ScenarioOverrides overrides = {})
{
    CapturedRun result;
    // Records of every rank, unless the caller says otherwise.
    overrides.sets.insert(overrides.sets.begin(), "timeline.folding=off");
    const std::string name = std::string(ECHO_SOURCE_DIR) + "/scenarios/text.yaml";
    try
    {
        ScenarioRunner runner(ReadScenario(YamlNode::LoadText(yaml, name), overrides));
        CapturedRun captured;
        const RunRecord run = runner.Run([&]() -> RecordSink& {
            captured = CapturedRun{};
            return captured;
        });
        result = std::move(captured);
        result.run = run;
    }
    catch (const StallError& error)
    {
        result.error = error.what();
        result.exitCode = 3;
    }
    catch (const InputError& error)
    {
        result.error = error.what();
        result.exitCode = 2;
    }
    catch (const UnsupportedError& error)
    {
        result.error = error.what();
        result.exitCode = 2;
    }
    return result;
}

/** The cases' convention: one GPU a host on one 100 Gb/s NIC, 1 us a link, one switch. */
inline std::string CaseCluster(uint32_t hosts, const std::string& fabric = "{type: single-switch}")
{
    return "cluster:\n"
           "  echo_cluster: 1\n"
           "  name: case\n"
           "  hosts: " +
           std::to_string(hosts) +
           "\n"
           "  gpu: {name: any}\n"
           "  host: {gpus: 1, nics: 1, nic: {rate: 100Gbps, delay: 1us}}\n"
           "  fabric: " +
           fabric + "\n";
}

inline double Milliseconds(Time time)
{
    return static_cast<double>(time.GetPicoSeconds()) / 1e9;
}

} // namespace echo
} // namespace ns3

#endif /* ECHO_CASE_HARNESS_H */
