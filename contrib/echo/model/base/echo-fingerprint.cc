// SPDX-License-Identifier: GPL-2.0-only
#include "echo-fingerprint.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

void Fingerprint::Add(const std::string& text)
{
    Add(static_cast<uint64_t>(text.size()));
    for (size_t begin = 0; begin < text.size(); begin += 8)
    {
        const size_t count = std::min<size_t>(8, text.size() - begin);
        uint64_t word = 0;
        for (size_t i = 0; i < count; ++i)
        {
            word |= static_cast<uint64_t>(static_cast<unsigned char>(text[begin + i])) << (8 * i);
        }
        Add(word);
    }
}

std::string Fingerprint::ToString() const
{
    static const char digits[] = "0123456789abcdef";
    std::string text(16, '0');
    for (int i = 0; i < 16; ++i)
    {
        text[15 - i] = digits[(m_state >> (4 * i)) & 0xf];
    }
    return text;
}

} // namespace echo
} // namespace ns3
