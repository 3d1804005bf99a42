# SPDX-License-Identifier: GPL-2.0-only
"""A script that runs as one rank: which of its steps are recorded, and how their times become one.

Roles (environment ECHO_TRACER_ROLE):
  sequence  ex situ; one step's operations, no times (to find equal ranks)
  trace     ex situ; warm-up, steps recorded, steps untouched (for the host's own time)
  observe   the real job: communication is carried out, and recorded
"""

import json
import statistics
import sys
import time


class TraceDone(BaseException):
    """Ends the script once enough steps are recorded."""


class Session:
    def __init__(self, role, rank, world, path, warmup, repeats):
        self.role = role
        self.rank = rank
        self.world = world
        self.path = path
        self.warmup = warmup
        self.repeats = repeats if role == "trace" else 1
        self.plain = {"sequence": 0, "trace": repeats, "observe": 3}[role]
        self.steps = 0
        self.recorded = []
        self.plain_us = []
        self.began = time.time()
        self.recorder = None
        self.mark = 0.0

    def prepare(self):
        """Everything that needs PyTorch."""
        from . import groups, operators, shims

        shims.apply()
        self.recorder = operators.Recorder(self.role)
        groups.install(self)

    def begin_step(self):
        index = self.steps - self.warmup
        self.recorder.synchronize()
        if 0 <= index < self.repeats:
            self.recorder.begin()
        self.recorder.communication_s = 0.0
        self.mark = self.recorder.clock()

    def end_step(self):
        self.recorder.synchronize()
        passed = 1e6 * (self.recorder.clock() - self.mark - self.recorder.communication_s)
        index = self.steps - self.warmup
        if 0 <= index < self.repeats:
            self.recorded.append(self.recorder.end())
        elif index >= self.repeats:
            self.plain_us.append(passed)
        self.steps += 1
        if index + 1 >= self.repeats + self.plain:
            self.finish()
            raise TraceDone()
        self.begin_step()

    def finish(self):
        from . import groups

        recording = {
            "rank": self.rank, "world": self.world, "device": self.recorder.device,
            "groups": groups.describe(), "events": merge(self.recorded),
            "plain_us": statistics.median(self.plain_us) if self.plain_us else None,
            "made_up": groups.made_up(), "seconds": round(time.time() - self.began, 2),
        }
        if self.role == "trace":
            fit_gaps(recording)
        save(self.path, recording)


def save(path, recording):
    with open(path, "w", encoding="ascii") as file:
        json.dump(recording, file)


def merge(steps):
    """One step of several: medians of times. Steps that differ in what they do are refused."""
    def bare(event):
        return {k: v for k, v in event.items() if k not in ("us", "gap_us")}

    first = steps[0]
    for number, other in enumerate(steps[1:], 2):
        if [bare(e) for e in other] != [bare(e) for e in first]:
            raise SystemExit(f"echo_tracer: recorded step {number} does other things than the first "
                             "one; raise --warmup until the script repeats itself")
    merged = []
    for events in zip(*steps):
        event = bare(events[0])
        for key in ("us", "gap_us"):
            if key in events[0]:
                event[key] = round(statistics.median(e[key] for e in events), 3)
        merged.append(event)
    return merged


def fit_gaps(recording):
    """Recording makes the host slower: gaps are scaled so that the step takes what untouched steps
    took. Where operators alone take longer, they are left and there are no gaps."""
    if recording["device"] != "cpu" or recording["plain_us"] is None:
        return
    events = recording["events"]
    kernels = sum(e.get("us", 0) for e in events)
    gaps = sum(e.get("gap_us", 0) for e in events)
    scale = max(0.0, recording["plain_us"] - kernels) / gaps if gaps > 0 else 0.0
    for event in events:
        if "gap_us" in event:
            event["gap_us"] = round(event["gap_us"] * scale, 3)
    recording["gap_scale"] = round(scale, 4)


def begin(environment):
    session = Session(environment["ECHO_TRACER_ROLE"], int(environment["RANK"]),
                      int(environment["WORLD_SIZE"]), environment["ECHO_TRACER_OUT"],
                      int(environment.get("ECHO_TRACER_WARMUP", "2")),
                      int(environment.get("ECHO_TRACER_REPEATS", "3")))
    session.prepare()
    session.begin_step()
    return session


def report_out_of_memory(path, rank, error):
    save(path, {"rank": rank, "out_of_memory": str(error).splitlines()[0][:300]})
    print(f"echo_tracer: rank {rank} is out of memory", file=sys.stderr)
