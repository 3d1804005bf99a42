// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_KINETO_TIMELINE_H
#define ECHO_KINETO_TIMELINE_H

#include "echo-kineto-links.h"
#include "echo-range-finder.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** The part of a recording that is imported, in nanoseconds of the file's clock. */
struct StepWindow
{
    int64_t start{0};
    int64_t end{0};
    uint32_t mainThread{KINETO_NONE}; //!< that runs the step
};

/** A GPU activity of the step with what it waited for. */
struct StepActivity
{
    uint32_t activity{0};               //!< in KinetoTrace::activities
    uint32_t previous{KINETO_NONE};     //!< the one before it on its stream, in the step
    uint32_t point{KINETO_NONE};        //!< HostPoint that launched it; none: not recorded
    std::vector<uint32_t> dependencies; //!< of other streams, in StepTimeline::activities
    int64_t launch{0};                  //!< when it could have started as far as the CPU goes
    int64_t gap{0};                     //!< delay that nothing recorded explains
    bool isGapAfterDependencies{false}; //!< the gap follows them, else only the stream's order
};

/** What a CPU thread waits for before it goes on. */
struct PointWait
{
    std::vector<uint32_t> activities;
    std::vector<uint32_t> points; //!< of other threads
    int64_t outsideUntil{0};      //!< until when it waited for work of earlier steps; 0: it did not
};

/** A moment of a CPU thread that others depend on, or at which it waits. */
struct HostPoint
{
    int64_t time{0};
    uint32_t name{KINETO_NONE}; //!< of the call, in KinetoTrace::names
    uint32_t wait{KINETO_NONE}; //!< in StepTimeline::waits; none: it does not wait
};

/** What one CPU thread did in the step: points in order; between them CPU time passes. */
struct HostThread
{
    uint32_t thread{0}; //!< in KinetoTrace::threads
    int64_t start{0};   //!< its time passes from here to its first point
    std::vector<uint32_t> points;
};

/** One rank's step: who waits for whom. */
struct StepTimeline
{
    StepWindow window;
    std::vector<StepActivity> activities; //!< sorted by recorded start
    std::vector<HostPoint> points;
    std::vector<PointWait> waits;
    std::vector<HostThread> threads; //!< the main thread first
    /// By stream (KinetoTrace::streams): until when earlier work kept it busy; 0 if none did.
    std::vector<int64_t> busyUntil;
    int64_t droppedBacklog{0}; //!< of that time, what the import leaves out

    // What the health report tells.
    uint64_t launchedBefore{0};      //!< activities in the window that were launched before it
    uint64_t unlaunched{0};          //!< without a recorded launch, behind others of the step
    uint64_t droppedDependencies{0}; //!< inferred, but contradicted by recorded times
    uint64_t inferredByTime{0};      //!< dependencies found by times only
    uint64_t unorderedThreads{0};    //!< worker threads whose order to the main one is unknown
    uint64_t longGaps{0};            //!< gaps above LONG_GAP
    int64_t longGapTime{0};          //!< their sum
    int64_t launchLatency{0};        //!< median from call to start on an idle stream
};

/** Shorter delays are the GPU's own; longer ones may be a dependency that was not recorded. */
constexpr int64_t LONG_GAP = 20000;

/**
 * Finds out what each activity and each CPU thread of a step waited for.
 *
 * - An activity follows the call that launched it, and its predecessor on its stream.
 * - A stream that waits for an event: from "cuda_sync" events where the file has any. Else a NCCL
 *   kernel waits for the stream on which its thread launched last (PyTorch synchronises NCCL's
 *   stream with the current stream); a recorded wait for a communication makes the stream of the
 *   thread's next launch wait for it; any other cudaStreamWaitEvent makes that stream wait for the
 *   last activity of each other stream. A dependency of the last two kinds that recorded times
 *   contradict is dropped.
 * - Without "cuda_sync" events, an activity that starts late without reason, right after one of
 * another stream ends, is taken to have waited for it.
 * - A CPU thread waits in synchronising calls until the activities in question are done; what the
 *   call takes beyond that is CPU time. So does a launch that comes when the GPU's queue is full
 *   (QUEUE_LENGTH). Other calls take the CPU time recorded.
 * - An autograd thread's work inside a pause of the main thread starts after the pause starts, and
 *   the main thread goes on after it.
 */
StepTimeline AnalyseStep(const KinetoTrace& trace,
                         const KinetoLinks& links,
                         const StepWindow& window);

/**
 * CUDA accepts so many launches that have not started; the next launch waits (1,021 were pending in
 * every one of the 700 launches that took over 100 us of a V100's profile, less in no other).
 */
constexpr uint64_t QUEUE_LENGTH = 1000;

/** What a call waited for. */
struct HostWait
{
    std::vector<uint32_t> activities; //!< of the step
    int64_t outsideUntil{0};          //!< end of an activity before the step; 0: none
    bool isBeforeLaunch{false};       //!< the call waits first and launches then
};

/** Calls and what they launched, in order of the calls. */
class KinetoLaunches
{
  public:
    /** One activity of a call, which may launch several (a CUDA graph). */
    struct Launch
    {
        uint32_t call;
        uint32_t activity; //!< of the step
    };

    using Range = std::pair<const Launch*, const Launch*>;

    void Add(uint32_t call, uint32_t activity)
    {
        m_launches.push_back({call, activity});
    }

    /** To be called once, after all are added. */
    void Sort();

    /** @return activities that a call launched; none: an empty range */
    Range Find(uint32_t call) const;

    /** @return all, by call and activity */
    const std::vector<Launch>& GetAll() const
    {
        return m_launches;
    }

    /** @return whether it is the first of its call */
    bool IsFirst(const Launch& launch) const
    {
        return &launch == m_launches.data() || (&launch - 1)->call != launch.call;
    }

  private:
    std::vector<Launch> m_launches;
};

/** First half of AnalyseStep(): activities with dependencies, synchronising calls with waits. */
class KinetoDependencies
{
  public:
    KinetoDependencies(const KinetoTrace& trace, const KinetoLinks& links, StepTimeline& timeline);

    /** Fills timeline.activities, dependencies and busyUntil. */
    void Find();

    /** @return by call: what it waits for */
    const std::map<uint32_t, HostWait>& GetWaits() const
    {
        return m_waits;
    }

    const KinetoLaunches& GetLaunches() const
    {
        return m_launches;
    }

    /** Adds dependencies of late starters found by recorded times, after gaps are known. */
    bool InferByTime(uint32_t activity);

  private:
    using Snapshot = std::vector<uint32_t>; //!< last activity by stream

    void SelectActivities();
    void SetStreams();
    void VisitLaunch(KinetoLaunches::Range launched);
    void VisitStreamWait(uint32_t call);
    void VisitSync(uint32_t call);
    void WaitForStreams(uint32_t call, bool needsOverlap);
    void WaitForEarlierSteps(uint32_t call);
    void FindFullQueues();
    uint32_t CurrentStream(uint32_t thread, int64_t time, bool next) const;
    void Depend(uint32_t activity, uint32_t on);
    const GpuActivity& Get(uint32_t activity) const;
    bool IsCommunication(uint32_t activity) const;

    const KinetoTrace& m_trace;
    const KinetoLinks& m_links;
    StepTimeline& m_timeline;
    RangeFinder m_records;
    RangeFinder m_annotations;
    std::map<uint32_t, HostWait> m_waits;
    KinetoLaunches m_launches;
    std::vector<int64_t> m_earlierEnds;           //!< of activities launched before, sorted
    std::vector<uint32_t> m_stepIndex;            //!< by activity of the trace
    std::vector<std::vector<uint32_t>> m_streams; //!< activities by stream, in order
    Snapshot m_last;                              //!< last launched, by stream
    std::vector<std::vector<uint32_t>> m_pending; //!< by stream: what its next activity waits for
    std::map<int64_t, Snapshot> m_recorded;       //!< m_last at cudaEventRecord, by correlation
    /// By thread: (time, stream) of launches that are no communication, in order of time.
    std::vector<std::vector<std::pair<int64_t, uint32_t>>> m_threadStreams;
    std::vector<uint32_t> m_lastStream; //!< by thread: stream of the last launch of any kind
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_KINETO_TIMELINE_H */
