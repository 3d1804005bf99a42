// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_ERROR_H
#define ECHO_ERROR_H

#include <cstdint>
#include <stdexcept>
#include <string>

namespace ns3
{
namespace echo
{

/** Where in a user's input something stands; empty parts are left out of messages. */
struct SourceLocation
{
    std::string file; //!< file name as the user gave it
    uint32_t line{0}; //!< 1-based; 0 if unknown
    std::string item; //!< key path, node or operator ("cluster.host.gpus", "rank 3 node 17")

    /** @return "file:line: item" with the empty parts left out */
    std::string ToString() const;
};

/**
 * A user's input is wrong. The message is one sentence: where, what was found, what was expected.
 * Programs exit with 2.
 */
class InputError : public std::runtime_error
{
  public:
    InputError(SourceLocation where, const std::string& found, const std::string& expected);

    const SourceLocation& GetLocation() const
    {
        return m_where;
    }

    /** @return the same error at @p where, for callers that know the place better */
    InputError At(const SourceLocation& where) const;

  private:
    SourceLocation m_where; //!< the place
    std::string m_found;    //!< what stands there
    std::string m_expected; //!< what should
};

/** The input is valid but a chosen model cannot represent it (known before time zero). Exit 2. */
class UnsupportedError : public std::runtime_error
{
    using std::runtime_error::runtime_error;
};

/**
 * The run ended, or stopped progressing, with work left; the message names who waits for whom.
 * Exit 3.
 */
class StallError : public std::runtime_error
{
    using std::runtime_error::runtime_error;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_ERROR_H */
