// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_ROCE_PORT_TRACE_H
#define ECHO_ROCE_PORT_TRACE_H

#include "ns3/callback.h"
#include "ns3/nstime.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <string>

namespace ns3
{
namespace echo
{

/** @return a time of the data path (ps) as traces give it */
inline Time ToTime(int64_t picoseconds)
{
    return TimeStep(static_cast<uint64_t>(picoseconds));
}

/** What a port has done so far; of its transmitting direction. */
struct RocePortStatistics
{
    uint64_t packets{0};       //!< started; pause frames are not counted
    uint64_t wireBytes{0};     //!< pause frames not counted
    uint64_t payloadBytes{0};  //!< retransmissions counted
    uint64_t maxQueueBytes{0}; //!< largest data queue, wire bytes
    uint64_t marks{0};         //!< packets that left with ECN set here
    uint64_t pauses{0};        //!< XOFF frames received
    uint64_t drops{0}; //!< packets of this link lost on it, at its end or, as it is down, before it
    int64_t busy{0};   //!< ps spent transmitting, pause frames included
    int64_t paused{0}; //!< ps in pause, ended pauses only
    double peakRate{0}; //!< largest busy share of a window of 2^26 ps (67 us)
};

/**
 * A trace source of a port. Connecting it tells the port, so that unconnected ones cost the data
 * path one test of a flag for all.
 */
template <typename Port, typename... Ts>
class RocePortTrace
{
  public:
    explicit RocePortTrace(Port* port) : m_port(port)
    {
    }

    void ConnectWithoutContext(const CallbackBase& callback)
    {
        m_trace.ConnectWithoutContext(callback);
        m_port->SetTraced();
    }

    void Connect(const CallbackBase& callback, const std::string& path)
    {
        m_trace.Connect(callback, path);
        m_port->SetTraced();
    }

    void DisconnectWithoutContext(const CallbackBase& callback)
    {
        m_trace.DisconnectWithoutContext(callback);
    }

    void Disconnect(const CallbackBase& callback, const std::string& path)
    {
        m_trace.Disconnect(callback, path);
    }

    bool IsEmpty() const
    {
        return m_trace.IsEmpty();
    }

    void operator()(Ts... arguments) const
    {
        m_trace(arguments...);
    }

  private:
    TracedCallback<Ts...> m_trace; //!< who listens
    Port* m_port;                  //!< whose trace
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_ROCE_PORT_TRACE_H */
