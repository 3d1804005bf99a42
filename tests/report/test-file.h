// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TEST_FILE_H
#define ECHO_TEST_FILE_H

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include <unistd.h>

namespace ns3
{
namespace echo
{

/** A path that no other test, running at the same time, has. */
inline std::string TestPath(const std::string& name)
{
    return testing::TempDir() + std::to_string(getpid()) + "-" + name;
}

inline std::string TextOf(const std::string& path)
{
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

} // namespace echo
} // namespace ns3

#endif /* ECHO_TEST_FILE_H */
