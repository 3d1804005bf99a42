// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_KINETO_TRACE_H
#define ECHO_KINETO_TRACE_H

#include "echo-communication-record.h"

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** No index. */
constexpr uint32_t KINETO_NONE = 0xffffffff;

/** Work on a GPU. Times are nanoseconds on the file's clock. */
struct GpuActivity
{
    enum class Kind : uint8_t
    {
        KERNEL,
        COPY,
        SET,
        COMMUNICATION, //!< a kernel of NCCL or RCCL
    };

    Kind kind{Kind::KERNEL};
    uint32_t name{0};             //!< in KinetoTrace::names
    uint32_t stream{0};           //!< in KinetoTrace::streams
    uint32_t record{KINETO_NONE}; //!< COMMUNICATION: its arguments, in KinetoTrace::records
    int64_t start{0};
    int64_t end{0};
    int64_t correlation{-1}; //!< joins it to the call that launched it
    uint64_t bytes{0};       //!< COPY, SET
};

/** A call of the CUDA (or HIP) runtime or driver by a CPU thread. */
struct HostCall
{
    enum class Kind : uint8_t
    {
        OTHER,       //!< launches, or nothing that matters for order
        STREAM_SYNC, //!< waits for a stream
        DEVICE_SYNC, //!< waits for all streams
        EVENT_SYNC,  //!< waits for an event
        COPY,        //!< a copy or fill; waits for it if recorded so
        FREE,        //!< frees memory: may wait for the device
        RECORD,      //!< records an event
        STREAM_WAIT, //!< makes a stream wait for an event
    };

    Kind kind{Kind::OTHER};
    uint32_t name{0};
    uint32_t thread{0}; //!< in KinetoTrace::threads
    int64_t start{0};
    int64_t end{0};
    int64_t correlation{-1};
};

/** What a "cuda_sync" event adds to a call of equal correlation. */
struct SyncRecord
{
    uint32_t stream{KINETO_NONE};       //!< that waits or is waited for by the CPU
    uint32_t waitOnStream{KINETO_NONE}; //!< of the event
    int64_t recordCorrelation{-1};      //!< of the cudaEventRecord call
};

/**
 * A CPU range that says something about a communication: record_param_comms, "nccl:..." or an
 * operator of a library with communication of its own ("symm_mem::multimem_all_reduce_").
 */
struct CommunicationRange
{
    uint32_t thread{0};
    int64_t start{0};
    int64_t end{0};
    bool isAnnotation{false}; //!< "nccl:..." or an operator, else record_param_comms
    CommunicationRecord record;
};

/** A ProfilerStep#N range. */
struct ProfilerStep
{
    int64_t number{0};
    uint32_t thread{0};
    int64_t start{0};
    int64_t end{0};
};

/** A pause of the main thread that is shorter than this, in nanoseconds, is no wait. */
constexpr int64_t SHORTEST_PAUSE = 50000;

struct KinetoThread
{
    std::string name;       //!< "pid/tid"
    bool isAutograd{false}; //!< runs backward operators
    /// Sorted starts and ends of its ranges; of a thread that runs no backward operators those at
    /// which a pause of SHORTEST_PAUSE may start or end suffice.
    std::vector<int64_t> boundaries;
};

/** One file of PyTorch's profiler, as far as Echo uses it. */
struct KinetoTrace
{
    std::string file;
    int64_t rank{-1};                                    //!< distributedInfo.rank, or -1
    int64_t worldSize{-1};                               //!< distributedInfo.world_size, or -1
    std::string gpu;                                     //!< name of the first device
    std::map<std::string, std::vector<uint32_t>> groups; //!< members by process group name

    std::vector<std::string> names;
    std::vector<std::string> streams; //!< stream numbers; "device.stream" with several devices
    std::vector<KinetoThread> threads;
    // Files hold millions of these: deques grow without being copied.
    std::deque<GpuActivity> activities;       //!< sorted by start
    std::vector<CommunicationRecord> records; //!< of communications
    std::deque<HostCall> calls;               //!< that launch or matter for order, by start
    int64_t callsStart{std::numeric_limits<int64_t>::max()}; //!< of all calls, kept or not
    int64_t callsEnd{std::numeric_limits<int64_t>::min()};   //!< of all calls, kept or not
    std::map<int64_t, SyncRecord> syncs;                     //!< by correlation
    std::vector<CommunicationRange> ranges;                  //!< sorted by start
    std::vector<ProfilerStep> steps;                         //!< sorted by start
    std::map<std::string, uint64_t> ignored;                 //!< events not used, by category
    uint64_t events{0};                                      //!< all
    double recordedShare{1}; //!< of the profiler's events that the file holds
};

/**
 * Reads one profiler file ("traceEvents", or a bare list of events), of any length: what is kept is
 * what Echo uses of it.
 * @throws InputError if the text is no JSON, is cut off or is no profiler file
 */
KinetoTrace ReadKinetoTrace(const std::string& file);

/**
 * Leaves the first and the last of the times in each half of SHORTEST_PAUSE, sorted: two times with
 * none between them that are SHORTEST_PAUSE apart both stay, and no others become such.
 */
void ThinOutBoundaries(std::vector<int64_t>& times);

/**
 * Completes what was read: forgets calls that neither launched anything nor matter for order,
 * sorts.
 * @param base nanoseconds to be added to every time
 */
void FinishKinetoTrace(KinetoTrace& trace, int64_t base);

/** What a JSON file of PyTorch holds. */
enum class TraceFormat : uint8_t
{
    KINETO,          //!< of the profiler
    EXECUTION_TRACE, //!< of the execution trace observer
};

/**
 * Tells profiler files from PyTorch execution traces by their keys.
 * @throws InputError if the text is no JSON or neither of the two
 */
TraceFormat RecognizeTrace(const std::string& file);

/**
 * @return a decimal number times 10^decimals, further digits dropped; none if it is no number or
 *         does not fit
 */
std::optional<int64_t> ParseFixedPoint(const std::string& number, uint32_t decimals);

/** @return nanoseconds of a decimal number of microseconds, rounded down to a nanosecond */
std::optional<int64_t> ParseMicroseconds(const std::string& number);

/** @return numbers of "[0, 1, 2]"; empty if it is no such list, is cut short with dots or has
 * numbers below zero */
std::vector<uint64_t> ParseNumberList(const std::string& text);

/** @return numbers as ranks; those beyond 32 bits are KINETO_NONE, which is no rank */
std::vector<uint32_t> ToRanks(const std::vector<uint64_t>& numbers);

} // namespace echo
} // namespace ns3

#endif /* ECHO_KINETO_TRACE_H */
