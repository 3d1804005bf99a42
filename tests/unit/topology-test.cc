// SPDX-License-Identifier: GPL-2.0-only
// The cluster graph.

#include "error-message.h"

#include "ns3/echo-error.h"
#include "ns3/echo-topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

using namespace ns3;
using namespace ns3::echo;
using ::testing::HasSubstr;

namespace
{

const DataRate RATE(100000000000);

TEST(Topology, PortsNameLinkAndDirection)
{
    Topology topology;
    const DeviceId gpu = topology.AddDevice(DeviceRole::GPU, "host0/gpu0", HostId(0), 0);
    const DeviceId nic = topology.AddDevice(DeviceRole::NIC, "host0/nic0", HostId(0), 0);
    const DeviceId leaf = topology.AddDevice(DeviceRole::LEAF, "leaf0", HostId(), 0);
    const LinkId pcie = topology.AddLink(gpu, nic, RATE, NanoSeconds(500));
    const LinkId first = topology.AddLink(nic, leaf, RATE, MicroSeconds(1));
    const LinkId second = topology.AddLink(leaf, nic, RATE, MicroSeconds(2));
    topology.Seal();

    EXPECT_EQ(topology.GetDeviceCount(), 3u);
    EXPECT_EQ(topology.GetLinkCount(), 3u);
    EXPECT_EQ(topology.GetHostCount(), 1u);
    // Link l has ports 2l at a and 2l + 1 at b; parallel links are links of their own.
    EXPECT_EQ(topology.GetPorts(nic), (std::vector<PortId>{PortId(1), PortId(2), PortId(5)}));
    EXPECT_EQ(topology.OwnerOf(PortId(4)), leaf);
    EXPECT_EQ(topology.NeighborOf(PortId(4)), nic);
    EXPECT_EQ(Topology::LinkOf(PortId(5)), second);
    EXPECT_EQ(Topology::PeerOf(PortId(5)), PortId(4));
    EXPECT_EQ(topology.DelayOf(PortId(4)), MicroSeconds(2));
    EXPECT_EQ(topology.RateOf(PortId(2)).GetBitRate(), RATE.GetBitRate());
    EXPECT_FALSE(topology.IsFabricLink(pcie));
    EXPECT_TRUE(topology.IsFabricLink(first));
    EXPECT_EQ(topology.FindDevice("leaf0"), leaf);
    EXPECT_FALSE(topology.FindDevice("leaf1").IsValid());
    EXPECT_EQ(topology.GetNicOf(gpu), nic);
    EXPECT_FALSE(topology.HasNvSwitch(HostId(0)));
}

TEST(Topology, RefusesBadDevicesAndLinks)
{
    Topology topology;
    const DeviceId gpu = topology.AddDevice(DeviceRole::GPU, "host0/gpu0", HostId(0), 0);
    const DeviceId other = topology.AddDevice(DeviceRole::GPU, "host1/gpu0", HostId(1), 0);
    const DeviceId nic = topology.AddDevice(DeviceRole::NIC, "host0/nic0", HostId(0), 0);
    const DeviceId leaf = topology.AddDevice(DeviceRole::LEAF, "leaf0", HostId(), 0);
    EXPECT_THAT(MessageOf([&] { topology.AddDevice(DeviceRole::LEAF, "leaf0", HostId(), 1); }),
                HasSubstr("leaf0: found a second device of this name"));
    EXPECT_THAT(MessageOf([&] { topology.AddLink(gpu, gpu, RATE, Time(0)); }),
                HasSubstr("link host0/gpu0 - host0/gpu0: found a link from a device to itself"));
    EXPECT_THAT(MessageOf([&] { topology.AddLink(nic, leaf, DataRate(0), Time(0)); }),
                HasSubstr("rate 0"));
    EXPECT_THAT(MessageOf([&] { topology.AddLink(nic, leaf, RATE, NanoSeconds(-1)); }),
                HasSubstr("negative delay"));
    EXPECT_THAT(MessageOf([&] { topology.AddLink(gpu, other, RATE, Time(0)); }),
                HasSubstr("links between hosts and switches to start at NICs"));
    EXPECT_THAT(MessageOf([&] { topology.AddLink(gpu, leaf, RATE, Time(0)); }),
                HasSubstr("links between hosts and switches to start at NICs"));
    EXPECT_THROW(topology.AddDevice(DeviceRole::GPU, "x", HostId(), 0), std::logic_error);
    EXPECT_THROW(topology.AddDevice(DeviceRole::SPINE, "x", HostId(0), 0), std::logic_error);
    EXPECT_THROW(topology.AddDevice(DeviceRole::GPU, "late", HostId(2), 0), std::logic_error);
    EXPECT_THROW(topology.GetDevice(DeviceId(99)), std::out_of_range);
    topology.Seal();
    EXPECT_THROW(topology.AddLink(nic, leaf, RATE, Time(0)), std::logic_error);
    EXPECT_THROW(topology.Seal(), std::logic_error);
}

TEST(Topology, SealRefusesGapsAndHostsWithoutGpu)
{
    {
        Topology none;
        EXPECT_THAT(MessageOf([&] { none.Seal(); }),
                    HasSubstr("found no GPU, expected at least one"));
    }
    {
        Topology gap;
        gap.AddDevice(DeviceRole::GPU, "host0/gpu0", HostId(0), 0);
        gap.AddDevice(DeviceRole::GPU, "host0/gpu2", HostId(0), 2);
        EXPECT_THAT(MessageOf([&] { gap.Seal(); }),
                    HasSubstr("host0/gpu2: found gpu number 2, expected number 1"));
    }
    {
        Topology hostGap;
        hostGap.AddDevice(DeviceRole::GPU, "host0/gpu0", HostId(0), 0);
        hostGap.AddDevice(DeviceRole::GPU, "host2/gpu0", HostId(2), 0);
        EXPECT_THAT(MessageOf([&] { hostGap.Seal(); }), HasSubstr("host 1: found no GPU"));
    }
}

} // namespace
