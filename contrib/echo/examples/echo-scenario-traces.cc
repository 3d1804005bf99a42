// SPDX-License-Identifier: GPL-2.0-only
// A scenario run from a script, with ns-3's attributes and trace sinks: 16 ranks exchange
// all-to-all over two leaves, pauses are counted port by port, and marks. Attributes are set as in
// any ns-3 script, such as --ns3::echo::RoceSwitch::BufferBytes=2000000.

#include "ns3/core-module.h"
#include "ns3/echo-roce-port.h"
#include "ns3/echo-scenario-reader.h"
#include "ns3/echo-scenario-runner.h"
#include "ns3/echo-units.h"
#include "ns3/echo-yaml.h"

#include <iostream>
#include <map>

using namespace ns3;
using namespace ns3::echo;

namespace
{

std::map<std::string, uint32_t> g_pauses; //!< by context: the path of the port
uint32_t g_marks = 0;                     //!< packets marked with ECN

void CountPause(std::string context, Time, uint32_t)
{
    ++g_pauses[context];
}

void CountMark(Time, Ptr<const Packet>)
{
    ++g_marks;
}

/** Nodes and ports exist from time zero on; until then there is nothing to connect to. */
void ConnectTraces()
{
    const std::string ports = "/NodeList/*/DeviceList/*/$ns3::echo::RocePort/";
    Config::Connect(ports + "Pause", MakeCallback(&CountPause));
    Config::ConnectWithoutContext(ports + "Mark", MakeCallback(&CountMark));
}

} // namespace

int main(int argc, char* argv[])
{
    UsePicoseconds();
    std::string control = "dcqcn";
    CommandLine cmd(__FILE__);
    cmd.AddValue("control", "congestion control", control);
    cmd.Parse(argc, argv);

    ScenarioOverrides overrides;
    overrides.sets = {"network.congestion_control=" + control};
    ScenarioRunner runner(ReadScenario(YamlNode::LoadText(R"(
echo: 1
name: traces
fidelity: packet
cluster:
  name: two-leaves
  hosts: 16
  gpu: {name: any}
  host: {gpus: 1, nics: 1, nic: {rate: 100Gbps, delay: 1us}}
  fabric: {type: leaf-spine, hosts_per_leaf: 8, spines: 2, oversubscription: 4}
workload: {collectives: [{op: all-to-all, bytes: 4MiB}]}
)",
                                                          "traces"),
                                       overrides));
    Simulator::Schedule(Time(0), &ConnectTraces);
    RecordSink ignore;
    const RunRecord run = runner.Run([&ignore]() -> RecordSink& { return ignore; });
    std::cout << control << ": step " << FormatTime(run.stepTime) << ", " << g_marks
              << " packets marked\n";
    for (const auto& [port, count] : g_pauses)
    {
        std::cout << count << " pauses at " << port << '\n';
    }
    NS_ABORT_MSG_UNLESS(g_marks == run.ecnMarks, "the trace source missed marks");
    return 0;
}
