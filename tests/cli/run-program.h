// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TESTS_RUN_PROGRAM_H
#define ECHO_TESTS_RUN_PROGRAM_H

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

struct Outcome
{
    int code;
    std::string text; //!< standard output and error
};

/** Runs a program of build/scenarios as a shell would. */
inline Outcome RunProgram(const std::string& program, const std::string& arguments)
{
    const std::string command =
        "'" ECHO_BINARY_DIR "/scenarios/" + program + "' " + arguments + " 2>&1";
    std::FILE* pipe = popen(command.c_str(), "r");
    Outcome outcome{-1, ""};
    std::array<char, 4096> block{};
    while (const size_t read = std::fread(block.data(), 1, block.size(), pipe))
    {
        outcome.text.append(block.data(), read);
    }
    outcome.code = WEXITSTATUS(pclose(pipe));
    return outcome;
}

#endif /* ECHO_TESTS_RUN_PROGRAM_H */
