# SPDX-License-Identifier: GPL-2.0-only
"""python3 -m echo_tracer trace|observe|compare: see --help of each."""

import argparse
import json
import os
import resource
import runpy
import shutil
import signal
import socket
import sys
import tempfile
import time
import traceback

import echo_tracer

from . import program


def _parse():
    parser = argparse.ArgumentParser(prog="echo_tracer", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (("trace", "run SCRIPT as each rank in turn; write an execution graph"),
                       ("observe", "run SCRIPT as a real job over gloo; record what it communicates")):
        command = commands.add_parser(name, help=text)
        command.add_argument("--world", type=int, required=True, help="number of ranks")
        command.add_argument("--out", required=True, help="folder to write")
        command.add_argument("--warmup", type=int, default=2, help="steps before the first recorded")
        command.add_argument("--ranks-per-host", type=int, default=8, help="for LOCAL_RANK")
        if name == "trace":
            command.add_argument("--repeats", type=int, default=3, help="steps recorded")
            command.add_argument("--trace-all", action="store_true",
                                 help="time every rank, equal or not")
            command.add_argument("--memory-limit", type=float, default=0,
                                 help="GiB that a rank may use on the CPU")
        command.add_argument("script")
        command.add_argument("arguments", nargs=argparse.REMAINDER)
    command = commands.add_parser("compare", help="communication of a trace against an observed job")
    command.add_argument("trace")
    command.add_argument("observed")
    command.add_argument("--tolerance", type=float, default=None,
                         help="largest relative difference of a rank's compute time")
    return parser.parse_args()


def _run_as_rank(options):
    """The process that is a rank: runs the script until enough of it is recorded."""
    import torch

    from . import session

    sys.argv = [options.script] + options.arguments
    sys.path.insert(0, os.path.dirname(os.path.abspath(options.script)))
    limit = float(os.environ["ECHO_TRACER_MEMORY"])
    if limit > 0:
        with open("/proc/self/statm", encoding="ascii") as file:
            size = int(file.read().split()[0]) * 4096 + int(limit * 2**30)
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
    kinds = (MemoryError, getattr(torch.cuda, "OutOfMemoryError", MemoryError))
    try:
        echo_tracer.begin()
        runpy.run_path(options.script, run_name="__main__")
    except session.TraceDone:
        return
    except (RuntimeError, MemoryError) as error:
        text = str(error)
        if isinstance(error, kinds) or "out of memory" in text or "can't allocate memory" in text:
            session.report_out_of_memory(os.environ["ECHO_TRACER_OUT"],
                                         int(os.environ["RANK"]), text or "MemoryError")
            return
        raise
    raise SystemExit("echo_tracer: the script ended before enough steps; it needs "
                     "echo_tracer.step() after each, and at least "
                     f"{os.environ['ECHO_TRACER_WARMUP']} + those to record")


def _start(options, role, rank, folder, repeats, port=0):
    """Forks a rank. This process has loaded PyTorch, but started none of its threads or devices."""
    path = os.path.join(folder, f"{role}-{rank}.json")
    sys.stdout.flush()
    process = os.fork()
    if process != 0:
        return process, path
    code = 1
    try:
        os.environ.update(ECHO_TRACER_ROLE=role, ECHO_TRACER_OUT=path, RANK=str(rank),
                          WORLD_SIZE=str(options.world), MASTER_ADDR="127.0.0.1",
                          MASTER_PORT=str(port), ECHO_TRACER_WARMUP=str(options.warmup),
                          LOCAL_RANK=str(rank % options.ranks_per_host),
                          LOCAL_WORLD_SIZE=str(min(options.world, options.ranks_per_host)),
                          ECHO_TRACER_REPEATS=str(repeats), ECHO_TRACER_OBJECTS=folder,
                          ECHO_TRACER_MEMORY=str(getattr(options, "memory_limit", 0)))
        with open(os.devnull, "w", encoding="ascii") as nothing:
            os.dup2(nothing.fileno(), 1)
        _run_as_rank(options)
        code = 0
    except SystemExit as end:
        print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)  # threads of process groups may still wait for each other


def _finish(started):
    """Waits for ranks; if one fails, the others, which may wait for it, are ended."""
    rank_of = {process: rank for rank, (process, _) in started.items()}
    failed = None
    while rank_of:
        process, status = os.wait()
        rank = rank_of.pop(process, None)
        if rank is None:
            continue
        if (status != 0 or not os.path.exists(started[rank][1])) and failed is None:
            failed = rank
            for other in rank_of:
                os.kill(other, signal.SIGKILL)
    if failed is not None:
        raise SystemExit(f"echo_tracer: the script failed as rank {failed} (its messages are above)")
    result = {}
    for rank, (_, path) in started.items():
        with open(path, encoding="ascii") as file:
            result[rank] = json.load(file)
    return result


def _run(options, role, rank, folder, repeats):
    return _finish({rank: _start(options, role, rank, folder, repeats)})[rank]


def trace(options):
    began = time.time()
    folder = tempfile.mkdtemp(prefix="echo-tracer-")
    try:
        sequences, owner, first, failed = {}, {}, {}, {}
        for rank in range(options.world):
            recording = _run(options, "sequence", rank, folder, 1)
            if "out_of_memory" in recording:
                failed[rank] = recording["out_of_memory"]
                continue
            sequences[rank] = recording
            key = program.signature(recording)
            owner[rank] = rank if options.trace_all else first.setdefault(key, rank)
        timed = {}
        for rank in sorted(set(owner.values())):
            if failed:
                break
            recording = _run(options, "trace", rank, folder, options.repeats)
            if "out_of_memory" in recording:
                failed[rank] = recording["out_of_memory"]
            elif program.signature(recording) != program.signature(sequences[rank]):
                raise SystemExit(f"echo_tracer: rank {rank} did other things the second time; "
                                 "raise --warmup until the script repeats itself")
            else:
                timed[rank] = recording
        os.makedirs(options.out, exist_ok=True)
        manifest = {"world": options.world, "script": os.path.basename(options.script),
                    "arguments": options.arguments, "out_of_memory": failed or None,
                    "program_of_rank": [owner.get(r) for r in range(options.world)],
                    "timed_ranks": sorted(timed), "made_up": {r: timed[r]["made_up"] for r in timed},
                    "compute_us": {r: round(program.compute_us(timed[r]), 1) for r in timed},
                    "seconds": round(time.time() - began, 1)}
        if not failed:
            recordings = {r: dict(sequences[r], **({} if r not in timed else timed[r]))
                          for r in sequences}
            program.write_graph(options.out, recordings, owner)
            _save(options.out, "communications.json", {
                r: program.communications_of(sequences[r]) for r in sequences})
        _save(options.out, "trace.json", manifest)
        for rank, text in sorted(failed.items()):
            print(f"rank {rank} does not fit: {text}")
        if failed:
            print("no graph is written: the plan is out of memory")
            return 2
        print(f"{options.world} ranks, {len(timed)} timed, in {manifest['seconds']} s; values that "
              f"ranks would have got from others were made up: {options.out}")
        return 0
    finally:
        shutil.rmtree(folder)


def observe(options):
    folder = tempfile.mkdtemp(prefix="echo-tracer-")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    try:
        done = _finish({rank: _start(options, "observe", rank, folder, 1, port)
                        for rank in range(options.world)}).values()
        os.makedirs(options.out, exist_ok=True)
        _save(options.out, "communications.json",
              {r["rank"]: program.communications_of(r) for r in done})
        _save(options.out, "observed.json", {
            "world": options.world, "script": os.path.basename(options.script),
            "compute_us": {r["rank"]: round(r["plain_us"], 1) for r in done}})
        print(f"{options.world} processes: {options.out}")
        return 0
    finally:
        shutil.rmtree(folder)


def _save(folder, name, value):
    with open(os.path.join(folder, name), "w", encoding="ascii") as file:
        json.dump(value, file, indent=1)
        file.write("\n")


def _load(folder, name):
    with open(os.path.join(folder, name), encoding="ascii") as file:
        return json.load(file)


def compare(options):
    traced = _load(options.trace, "communications.json")
    observed = _load(options.observed, "communications.json")
    wrong = 0
    for rank in sorted(set(traced) | set(observed), key=int):
        one, other = traced.get(rank, []), observed.get(rank, [])
        if one != other:
            wrong += 1
            place = next((i for i, (a, b) in enumerate(zip(one, other)) if a != b),
                         min(len(one), len(other)))
            print(f"rank {rank}: communication {place} is {one[place:place + 1]} in the trace, "
                  f"{other[place:place + 1]} in the job")
    calls = sum(len(c) for c in traced.values())
    print(f"{calls} communications of {len(traced)} ranks: "
          + ("sequence and sizes are equal" if wrong == 0 else f"{wrong} ranks differ"))
    manifest, job = _load(options.trace, "trace.json"), _load(options.observed, "observed.json")
    for rank, owner in enumerate(manifest["program_of_rank"]):
        mine, its = manifest["compute_us"][str(owner)], job["compute_us"][str(rank)]
        difference = mine / its - 1
        far = options.tolerance is not None and abs(difference) > options.tolerance
        wrong += far
        print(f"rank {rank}: {mine / 1e3:.2f} ms of CPU traced, {its / 1e3:.2f} ms in the job "
              f"({100 * difference:+.1f} %)" + (": too far" if far else ""))
    return 1 if wrong else 0


def main():
    options = _parse()
    if options.command != "compare":
        from . import shims

        shims.load()
    sys.exit({"trace": trace, "observe": observe, "compare": compare}[options.command](options))


if __name__ == "__main__":
    main()
