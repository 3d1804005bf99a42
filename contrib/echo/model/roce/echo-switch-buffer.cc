// SPDX-License-Identifier: GPL-2.0-only
#include "echo-switch-buffer.h"

#include "ns3/assert.h"

#include <numeric>

namespace ns3
{
namespace echo
{

void SwitchBuffer::Configure(uint64_t capacity,
                             uint32_t accounts,
                             const std::vector<uint64_t>& headrooms,
                             double alpha,
                             uint64_t margin)
{
    m_accounts.assign(accounts, Account{});
    m_lossless = !headrooms.empty();
    m_alpha = alpha;
    m_margin = margin;
    m_capacity = capacity;
    m_shared = capacity;
    if (m_lossless)
    {
        const uint64_t reserved = std::accumulate(headrooms.begin(), headrooms.end(), uint64_t{0});
        NS_ASSERT_MSG(reserved < capacity, "headrooms leave no shared memory");
        m_shared = capacity - reserved;
        for (uint32_t i = 0; i < accounts; ++i)
        {
            m_accounts[i].headroomLimit = headrooms[i];
        }
    }
}

} // namespace echo
} // namespace ns3
