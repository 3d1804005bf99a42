// SPDX-License-Identifier: GPL-2.0-only
#include "echo-error.h"

namespace ns3
{
namespace echo
{

std::string SourceLocation::ToString() const
{
    std::string text = file;
    if (line > 0)
    {
        text += (text.empty() ? "line " : ":") + std::to_string(line);
    }
    if (!item.empty())
    {
        text += (text.empty() ? "" : ": ") + item;
    }
    return text;
}

namespace
{

/** @return text as far as a message shows it: files hold words of any length */
std::string Shown(const std::string& text)
{
    const size_t most = 1000;
    if (text.size() <= most)
    {
        return text;
    }
    return text.substr(0, most) + "... (" + std::to_string(text.size()) + " bytes)";
}

std::string Sentence(const SourceLocation& where,
                     const std::string& found,
                     const std::string& expected)
{
    const std::string place = Shown(where.ToString());
    std::string text = place.empty() ? "" : place + ": ";
    text += "found " + Shown(found);
    if (!expected.empty())
    {
        text += ", expected " + expected;
    }
    for (char& c : text) // what was found may hold anything; a message is one line
    {
        c = static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? ' ' : c;
    }
    return text;
}

} // namespace

InputError::InputError(SourceLocation where, const std::string& found, const std::string& expected)
    : std::runtime_error(Sentence(where, found, expected)),
      m_where(std::move(where)),
      m_found(found),
      m_expected(expected)
{
}

InputError InputError::At(const SourceLocation& where) const
{
    return InputError(where, m_found, m_expected);
}

} // namespace echo
} // namespace ns3
