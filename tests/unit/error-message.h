// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_ERROR_MESSAGE_H
#define ECHO_ERROR_MESSAGE_H

#include "ns3/echo-error.h"

#include <functional>
#include <string>

namespace ns3
{
namespace echo
{

/** @return the message of the InputError that @p action throws, "" if none */
inline std::string MessageOf(const std::function<void()>& action)
{
    try
    {
        action();
    }
    catch (const InputError& error)
    {
        return error.what();
    }
    return "";
}

} // namespace echo
} // namespace ns3

#endif /* ECHO_ERROR_MESSAGE_H */
