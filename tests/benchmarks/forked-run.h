// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_FORKED_RUN_H
#define ECHO_FORKED_RUN_H

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <type_traits>

namespace ns3
{
namespace echo
{

/** @return the largest resident memory of this process so far, MiB */
inline double GetPeakMebibytes()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024; // Linux: KiB
}

/**
 * Runs @p work in a child process, so that its memory is its own.
 * @param result what work() has returned
 * @return true if it has
 */
template <typename Result, typename Work>
bool RunForked(const Work& work, Result& result)
{
    static_assert(std::is_trivially_copyable_v<Result>, "it comes through a pipe");
    int ends[2];
    if (pipe(ends) != 0)
    {
        return false;
    }
    const pid_t child = fork();
    if (child == 0)
    {
        close(ends[0]);
        const Result measured = work();
        const bool written = write(ends[1], &measured, sizeof(measured)) == sizeof(measured);
        _exit(written ? 0 : 1);
    }
    close(ends[1]);
    const bool read = child > 0 && ::read(ends[0], &result, sizeof(result)) == sizeof(result);
    close(ends[0]);
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0 && read;
}

} // namespace echo
} // namespace ns3

#endif /* ECHO_FORKED_RUN_H */
