// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_IDS_H
#define ECHO_IDS_H

#include <cstdint>
#include <functional>
#include <limits>
#include <ostream>

namespace ns3
{
namespace echo
{

/**
 * @ingroup echo
 * A dense integer id that cannot be mixed up with one of another kind.
 *
 * Ids start at 0 and index vectors (`Get()`). A default-constructed id is invalid.
 */
template <typename Tag>
class StrongId
{
  public:
    constexpr StrongId() = default;

    explicit constexpr StrongId(uint32_t value) : m_value(value)
    {
    }

    /** @return the index; the largest uint32_t if the id is invalid */
    constexpr uint32_t Get() const
    {
        return m_value;
    }

    constexpr bool IsValid() const
    {
        return m_value != std::numeric_limits<uint32_t>::max();
    }

    friend constexpr bool operator==(StrongId a, StrongId b)
    {
        return a.m_value == b.m_value;
    }

    friend constexpr bool operator!=(StrongId a, StrongId b)
    {
        return a.m_value != b.m_value;
    }

    friend constexpr bool operator<(StrongId a, StrongId b)
    {
        return a.m_value < b.m_value;
    }

    friend std::ostream& operator<<(std::ostream& os, StrongId id)
    {
        return id.IsValid() ? os << id.m_value : os << "none";
    }

  private:
    uint32_t m_value{std::numeric_limits<uint32_t>::max()}; //!< the index
};

using RankId = StrongId<struct RankIdTag>;         //!< a process of the job, 0 .. ranks-1
using HostId = StrongId<struct HostIdTag>;         //!< a server, 0 .. hosts-1
using DeviceId = StrongId<struct DeviceIdTag>;     //!< a device (vertex) of the topology
using LinkId = StrongId<struct LinkIdTag>;         //!< a full-duplex link (edge) of the topology
using PortId = StrongId<struct PortIdTag>;         //!< one end of a link: 2 * link + side
using GroupId = StrongId<struct GroupIdTag>;       //!< a process group
using StreamId = StrongId<struct StreamIdTag>;     //!< an in-order stream of one rank
using OperatorId = StrongId<struct OperatorIdTag>; //!< an operator of one rank's program
using CollectiveId = StrongId<struct CollectiveIdTag>; //!< one instance of a collective or pair

} // namespace echo
} // namespace ns3

namespace std
{
template <typename Tag>
struct hash<ns3::echo::StrongId<Tag>>
{
    size_t operator()(ns3::echo::StrongId<Tag> id) const noexcept
    {
        return std::hash<uint32_t>{}(id.Get());
    }
};
} // namespace std

#endif /* ECHO_IDS_H */
