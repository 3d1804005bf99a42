// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_SCENARIO_RUNNER_H
#define ECHO_SCENARIO_RUNNER_H

#include "echo-backend-helper.h"

#include "ns3/echo-hybrid-backend.h"
#include "ns3/echo-records.h"
#include "ns3/echo-scenario.h"
#include "ns3/echo-training-job.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Runs a scenario: assembles topology, placement, back end and job, simulates one step (of each of
 * its jobs) and reports. Hybrid fidelity with the contention policy simulates more than once (see
 * doc/formats/scenario.md); each pass asks for a fresh sink, and only the last one's records count.
 */
class ScenarioRunner
{
  public:
    /** Makes the sink of one pass; it must outlive the next call or the end of Run. */
    using SinkMaker = std::function<RecordSink&()>;

    /** @throws InputError if the ranks do not fit the cluster or an attribute is wrong */
    explicit ScenarioRunner(Scenario scenario);

    /**
     * @return what the run was, without its cost; OnRun of the last sink is the caller's
     * @throws InputError, UnsupportedError before time zero; StallError if work is left
     */
    RunRecord Run(const SinkMaker& makeSink);

    const Scenario& GetScenario() const
    {
        return m_scenario;
    }

    PlacementPtr GetPlacement() const
    {
        return m_placement;
    }

  private:
    using BackendHook = std::function<void(Ptr<CollectiveBackend>)>;
    using BackendTest = std::function<bool(Ptr<CollectiveBackend>)>;

    /**
     * One simulation from time zero to its end.
     * @param isVain whether its records will be thrown away; may be empty
     * @param finished may be empty
     */
    RunRecord RunOnce(Fidelity fidelity,
                      Ptr<FidelityPolicy> policy,
                      RecordSink& sink,
                      const BackendTest& isVain,
                      const BackendHook& finished);
    /** How and how long each of several jobs ran. */
    std::vector<JobRecord> DescribeJobs(const TrainingJob& job) const;
    /** Simulates each of several jobs without the others. */
    void CompareAlone(std::vector<JobRecord>& jobs) const;
    /** Folded where that changes nothing. */
    RunRecord RunAnalytical(const SinkMaker& makeSink);
    /** What meets others that rules give a model with more detail is served by that one as well. */
    RunRecord RunWithRules(const SinkMaker& makeSink);
    RunRecord RunWithContentionPolicy(const SinkMaker& makeSink);
    Fidelity ChooseContendedFidelity(uint64_t packetHops);
    /** All simulations that the fidelity needs. */
    RunRecord Simulate(const SinkMaker& makeSink);
    /** The same, once more without folding where it stalls, for a better message. */
    RunRecord SimulateOrExplain(const SinkMaker& makeSink);

    Scenario m_scenario;                 //!< as read
    PlacementPtr m_placement;            //!< ranks on GPUs
    Ptr<ComputeModel> m_compute;         //!< kernel times
    Ptr<SlowdownModel> m_slowdown;       //!< of kernels beside communication; null: none
    std::vector<std::string> m_warnings; //!< for the summary
    bool m_folds{true};                  //!< equal ranks, in the next simulation
    bool m_isFolded{false};              //!< they were, in the latest
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_SCENARIO_RUNNER_H */
