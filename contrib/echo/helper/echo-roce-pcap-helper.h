// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_ROCE_PCAP_HELPER_H
#define ECHO_ROCE_PCAP_HELPER_H

#include "ns3/trace-helper.h"

namespace ns3
{
namespace echo
{

/**
 * Captures of RocePorts in pcap files with nanoseconds, by ns-3's usual calls (EnablePcap,
 * EnablePcapAll): a packet that the port sends at the start of its transmission, one that it
 * receives at the arrival of its last bit. Payload and invariant check are zeros; preamble and
 * frame check are left out, as network cards do. Wireshark reads the frames as RoCEv2 (InfiniBand
 * over UDP port 4791) and priority pauses.
 *
 * A port captures to the end of its network's life.
 */
class RocePcapHelper : public PcapHelperForDevice
{
  private:
    void EnablePcapInternal(std::string prefix,
                            Ptr<NetDevice> device,
                            bool promiscuous,
                            bool explicitFilename) override;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_ROCE_PCAP_HELPER_H */
