// SPDX-License-Identifier: GPL-2.0-only
#include "echo-roce-pcap-helper.h"

#include "ns3/boolean.h"
#include "ns3/echo-error.h"
#include "ns3/echo-roce-port.h"
#include "ns3/pcap-file-wrapper.h"

namespace ns3
{
namespace echo
{

namespace
{

void WriteFrame(Ptr<PcapFileWrapper> file, Time at, Ptr<const Packet> frame)
{
    file->Write(at, frame);
}

} // namespace

void RocePcapHelper::EnablePcapInternal(std::string prefix,
                                        Ptr<NetDevice> device,
                                        bool,
                                        bool explicitFilename)
{
    const Ptr<RocePort> port = DynamicCast<RocePort>(device);
    if (!port)
    {
        return; // another kind of device on the same node
    }
    const std::string name =
        explicitFilename ? prefix : PcapHelper().GetFilenameFromDevice(prefix, device);
    Ptr<PcapFileWrapper> file = CreateObject<PcapFileWrapper>();
    file->SetAttribute("NanosecMode", BooleanValue(true));
    file->Open(name, std::ios::out | std::ios::binary);
    if (file->Fail())
    {
        throw InputError({name, 0, ""}, "a file that cannot be written", "one that can");
    }
    file->Init(PcapHelper::DLT_EN10MB);
    port->TraceConnectWithoutContext("Transmit", MakeBoundCallback(&WriteFrame, file));
    port->TraceConnectWithoutContext("Receive", MakeBoundCallback(&WriteFrame, file));
}

} // namespace echo
} // namespace ns3
