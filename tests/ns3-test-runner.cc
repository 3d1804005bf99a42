// SPDX-License-Identifier: GPL-2.0-only
// Runs the ns-3 TestSuites of the module out of an ns-3 tree.

#include "ns3/nstime.h"
#include "ns3/test.h"

int main(int argc, char* argv[])
{
    ns3::Time::SetResolution(ns3::Time::PS);
    return ns3::TestRunner::Run(argc, argv);
}
