// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_SWITCH_BUFFER_H
#define ECHO_SWITCH_BUFFER_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * The packet memory of a switch, shared by its ports, with an account for each traffic class of
 * each ingress port that decides on pauses (priority flow control).
 *
 * A port may hold alpha times what is free of the shared part (dynamic threshold, Choudhury and
 * Hahne, IEEE/ACM ToN 1998). What comes beyond goes to the port's own headroom, and the link is
 * paused (XOFF) until the headroom is empty and the port is a margin below its threshold (XON).
 * The headroom holds what still comes after XOFF, so nothing is lost.
 *
 * Identities: admitted = released + held; held = shared + headrooms; shared + all headrooms'
 * limits <= capacity. Bytes are wire bytes.
 */
class SwitchBuffer
{
  public:
    /** What admitting a packet led to. */
    enum class Verdict
    {
        HELD,
        HELD_AND_PAUSE, //!< the ingress link is to be paused now
        DROPPED,
    };

    /**
     * Worst case of what arrives after a port runs over its threshold: the packet that did; then,
     * until the pause frame is out (behind one full packet that is being sent), on its way, and
     * the other end has finished the packet it had begun, two full packets, the pause frame and
     * twice the delay at line rate.
     */
    static uint64_t ComputeHeadroom(uint64_t bytesInFlight,
                                    uint32_t fullPacket,
                                    uint32_t pauseFrame)
    {
        return 2 * bytesInFlight + 3 * uint64_t{fullPacket} + pauseFrame;
    }

    /**
     * @param accounts ingress ports times traffic classes
     * @param headrooms by account; empty: a lossy switch, where ports share all of the memory and a
     * packet that finds it full is dropped
     * @param margin how far below its threshold a port is when its link restarts
     */
    void Configure(uint64_t capacity,
                   uint32_t accounts,
                   const std::vector<uint64_t>& headrooms,
                   double alpha,
                   uint64_t margin);

    Verdict Admit(uint32_t number, uint32_t bytes)
    {
        Account& account = m_accounts[number];
        if (!m_lossless)
        {
            if (m_sharedUsed + bytes > m_shared)
            {
                return Verdict::DROPPED;
            }
        }
        else if (account.shared + bytes > GetThreshold())
        {
            if (account.headroom + bytes > account.headroomLimit)
            {
                return Verdict::DROPPED;
            }
            account.headroom += bytes;
            m_headroomUsed += bytes;
            m_maxHeld = std::max(m_maxHeld, GetHeld());
            if (account.paused)
            {
                return Verdict::HELD;
            }
            account.paused = true;
            return Verdict::HELD_AND_PAUSE;
        }
        account.shared += bytes;
        m_sharedUsed += bytes;
        m_maxHeld = std::max(m_maxHeld, GetHeld());
        return Verdict::HELD;
    }

    /** @return true if the ingress link is to restart now */
    bool Release(uint32_t number, uint32_t bytes)
    {
        Account& account = m_accounts[number];
        const uint64_t fromHeadroom = std::min<uint64_t>(account.headroom, bytes);
        account.headroom -= fromHeadroom;
        m_headroomUsed -= fromHeadroom;
        account.shared -= bytes - fromHeadroom;
        m_sharedUsed -= bytes - fromHeadroom;
        if (account.paused && account.headroom == 0 &&
            (account.shared == 0 || account.shared + m_margin <= GetThreshold()))
        {
            account.paused = false;
            return true;
        }
        return false;
    }

    /** @return true if the account's link was paused and not restarted */
    bool IsPaused(uint32_t number) const
    {
        return m_accounts[number].paused;
    }

    /** @return true if the account's link would stay paused with @p bytes held for good */
    bool StaysPaused(uint32_t number, uint64_t bytes) const
    {
        return m_accounts[number].paused && bytes > 0 && bytes + m_margin > GetThreshold();
    }

    /** @return bytes held now */
    uint64_t GetHeld() const
    {
        return m_sharedUsed + m_headroomUsed;
    }

    /** @return the most bytes held so far */
    uint64_t GetMaxHeld() const
    {
        return m_maxHeld;
    }

    uint64_t GetCapacity() const
    {
        return m_capacity;
    }

  private:
    /** One traffic class of one ingress port. */
    struct Account
    {
        uint64_t shared{0};        //!< held in the shared part
        uint64_t headroom{0};      //!< held in the headroom
        uint64_t headroomLimit{0}; //!< size of the headroom
        bool paused{false};        //!< XOFF sent
    };

    uint64_t GetThreshold() const
    {
        return static_cast<uint64_t>(m_alpha * static_cast<double>(m_shared - m_sharedUsed));
    }

    std::vector<Account> m_accounts; //!< by ingress port, then traffic class
    bool m_lossless{true};           //!< pauses instead of drops
    double m_alpha{0.125};           //!< of the dynamic threshold
    uint64_t m_capacity{0};          //!< all memory
    uint64_t m_shared{0};            //!< capacity without headrooms
    uint64_t m_margin{0};            //!< between XOFF and XON
    uint64_t m_sharedUsed{0};        //!< held in the shared part
    uint64_t m_headroomUsed{0};      //!< held in headrooms
    uint64_t m_maxHeld{0};           //!< largest sum
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_SWITCH_BUFFER_H */
