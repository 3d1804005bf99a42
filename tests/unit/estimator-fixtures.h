// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TESTS_ESTIMATOR_FIXTURES_H
#define ECHO_TESTS_ESTIMATOR_FIXTURES_H

#include "small-cluster.h"

#include "ns3/echo-machine-profile.h"
#include "ns3/echo-nccl-selector.h"
#include "ns3/echo-profile-reader.h"
#include "ns3/echo-profile-residuals.h"
#include "ns3/echo-white-box-cost-model.h"

#include <memory>
#include <string>

namespace ns3
{
namespace echo
{

/** A file of the project. */
inline std::string SourceFile(const std::string& path)
{
    return std::string(ECHO_SOURCE_DIR) + "/" + path;
}

inline MachineProfile ReadAzureProfile()
{
    return ReadProfile(YamlNode::LoadFile(SourceFile("calibration/profiles/azure-ndv4-a100.yaml")));
}

/** A profile with constants that are easy to reckon with. */
inline MachineProfile MakeRoundProfile()
{
    NcclEnvironment nccl;
    nccl.version = "2.10";
    nccl.hostChannels = 10;
    nccl.channelsPerNic = 2;
    MachineProfile profile = MakePriorProfile(nccl, 100, 10);
    profile.name = "round";
    profile.nicsPerHost = 5;
    MachineConstants& constants = profile.constants;
    constants.setupUs = 7;
    constants.setupPerChannelUs = 0.5;
    constants.hostIssueUs = 1;
    constants.llChannelGBps = 1000;
    constants.treeBandwidthFactor = 1;
    constants.treeChunkUs = 3;
    constants.ringTail = 0.25;
    constants.overlapExponent = 1;
    constants.netOverlapExponent = 1;
    constants.peerUs = 2;
    constants.simplexGain = 1;
    constants.pairChannelGBps = 5;
    constants.netChannelGBps = 2.5;
    constants.pairwiseEfficiency = 0.5;
    constants.protocols[2] = {4, 20, 1, 1};
    return profile;
}

inline Ptr<WhiteBoxCostModel> MakeWhiteBox(const MachineProfile& profile)
{
    auto model = CreateObject<WhiteBoxCostModel>();
    model->SetProfile(std::make_shared<const MachineProfile>(profile));
    return model;
}

inline Ptr<NcclSelector> MakeSelector(Ptr<WhiteBoxCostModel> model)
{
    auto selector = CreateObject<NcclSelector>();
    selector->SetCostModel(model);
    return selector;
}

} // namespace echo
} // namespace ns3

#endif /* ECHO_TESTS_ESTIMATOR_FIXTURES_H */
