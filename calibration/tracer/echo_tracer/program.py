# SPDX-License-Identifier: GPL-2.0-only
"""What was recorded of a rank, as an execution graph of Echo (doc/formats/execution-graph.md).

Needs no PyTorch. A recording is a dictionary:
  rank, world, device ("cpu" or "cuda")
  groups: names of process groups -> {"ranks": [...]}
  events: what the script did in one step, in order, each a dictionary with "what":
    compute     name, phase, shapes, us, gap_us (host time before it), flops, bytes
    collective  op, group, bytes, type, root, id, gap_us
    message     send (bool), peer (index in the group), group, bytes, tag, id, gap_us
    wait        id: the script waits for that communication, or uses what it wrote
"""

import json
import os

#: element types by the names that PyTorch and Echo give them
TYPES = {
    "float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "float64": "fp64", "int64": "int64",
    "int32": "int32", "int8": "int8", "uint8": "int8", "bool": "int8",
}


def guess_kinds(recording):
    """Names for groups in outputs and hybrid rules: pp passes messages, tp has neighbouring ranks,
    dp the rest, world all. Labels only: nothing else depends on them."""
    kinds = {}
    with_messages = {e["group"] for e in recording["events"] if e["what"] == "message"}
    for name, group in recording["groups"].items():
        ranks = group["ranks"]
        if len(ranks) == recording["world"]:
            kinds[name] = "world"
        elif name in with_messages:
            kinds[name] = "pp"
        elif all(b - a == 1 for a, b in zip(ranks, ranks[1:])):
            kinds[name] = "tp"
        else:
            kinds[name] = "dp"
    return kinds


#: What ends a pass and begins the next, by the pass that is on and the phase of what is done next:
#: "same" it goes on, "chunk" it goes on unless what is done next uses a message that it received: if
#: one was sent in the pass, the next pass is the next model chunk's; if the pass has used another
#: one, it is another micro-batch's. None: another micro-batch's.
NEXT_PASS = {
    ("start", "forward"): "forward", ("start", "backward"): "backward", ("start", "optimizer"): "end",
    ("forward", "forward"): "chunk", ("forward", "backward"): "backward",
    ("forward", "optimizer"): "end",
    ("backward", "backward"): "chunk", ("backward", "forward"): "end",
    ("backward", "optimizer"): "end",
    ("end", "forward"): "same", ("end", "optimizer"): "same", ("end", "backward"): None,
}

#: How a pass over one model chunk leads to that over the next one.
CHUNK_STEP = {"forward": 1, "backward": -1}


class _PassFinder:
    """Splits a step of one micro-batch into its passes (part, model chunk)."""

    def __init__(self, events):
        self.events = events
        self.part, self.chunk = "start", 0
        self.sent = self.used = False  # in this pass: a message
        self.passes = [None] * len(events)
        self.unwaited = {}  # a message's number -> the event that receives it
        self.received = []  # events whose messages the next operator uses
        self.is_one = True  # micro-batch

    def begin(self, part, chunk):
        self.part, self.chunk = part, chunk
        self.sent = self.used = False

    def operate(self, index, phase):
        """A kernel or a collective: it may begin a pass, and uses what has arrived."""
        following = NEXT_PASS[self.part, phase]
        if following is None:
            self.is_one = False
        elif following == "chunk" and self.received and self.sent:
            self.begin(self.part, self.chunk + CHUNK_STEP[self.part])
        elif following == "chunk":
            self.is_one = self.is_one and not (self.received and self.used)
        elif following != "same":
            self.begin(following, self.chunk if following == "backward" else 0)
        self.passes[index] = (self.part, self.chunk)
        for place in self.received:
            self.passes[place] = (self.part, self.chunk)
        self.used = self.used or bool(self.received)
        self.received = []

    def message(self, index, event):
        part = "forward" if self.part == "start" else self.part
        self.passes[index] = (part, self.chunk)  # of what is received: unless it is waited for
        self.is_one = self.is_one and self.part != "end"
        if event["send"]:
            self.sent = True
        else:
            self.unwaited[event["id"]] = index

    def wait(self, index, event):
        self.passes[index] = self.passes[index - 1] if index > 0 else ("forward", 0)
        if event["id"] in self.unwaited:
            self.received.append(self.unwaited.pop(event["id"]))

    def run(self):
        last_forward = 0
        for index, event in enumerate(self.events):
            if event["what"] == "message":
                self.message(index, event)
            elif event["what"] == "wait":
                self.wait(index, event)
            else:
                self.operate(index, event.get("phase", "forward"))
            if self.part == "forward":
                last_forward = self.chunk
        backward = [c for part, c in filter(None, self.passes) if part == "backward"]
        # Backward passes go through the chunks the other way and end with the first.
        is_whole = bool(backward) and max(backward) == last_forward and min(backward) == 0
        return self.passes if self.is_one and is_whole else None


def split_parts(recording):
    """Passes of the step for Echo to compose pipeline schedules of: for each event its part
    ("forward", "backward", "end") and the model chunk; None if the step holds more than one
    micro-batch.

    A pass is what its phase computes. A message that is sent belongs to the pass before it; one that
    is received to the pass that uses it. The end begins with the first thing after the backward pass
    that is no message.
    """
    return _PassFinder(recording["events"]).run()


def _description(event, slot):
    """A communication as in the file, relative to the rank's place in the group."""
    if event["what"] == "message":
        message = {"to" if event["send"] else "from": event["peer"], "bytes": event["bytes"]}
        if event.get("tag"):
            message["tag"] = event["tag"]
        return {"group": slot, "messages": [message]}
    description = {"group": slot, "op": event["op"], "bytes": event["bytes"]}
    description["type"] = TYPES.get(event["type"], "fp32")
    if event.get("root"):
        description["root"] = event["root"]
    for key in ("send", "receive"):
        if event.get(key):
            description[key] = event[key]
    return description


class _Builder:
    """Streams as the device has them: kernels in one, each communicator and each pair in its own."""

    def __init__(self, recording):
        self.recording = recording
        self.streams = ["compute"]
        self.slots = []  # names of groups, by slot
        self.communications = []
        self.operators = []
        self.last = {}  # stream -> index of its last operator
        self.of_id = {}  # communication's number -> operator
        self.pending = set()  # operators that the next kernel waits for
        self.part = None

    def stream(self, name):
        if name not in self.streams:
            self.streams.append(name)
        return self.streams.index(name)

    def add(self, operator, after=()):
        stream = operator["stream"]
        if self.part is not None:
            operator["part"], chunk = self.part
            if chunk:
                operator["chunk"] = chunk
        after = sorted({a for a in after if self.operators[a]["stream"] != stream})
        if after:
            operator["after"] = after
        self.operators.append(operator)
        self.last[stream] = len(self.operators) - 1
        return self.last[stream]

    def add_gap(self, event):
        """Host time. On a CPU the host computes itself; on a GPU it launches from its own stream."""
        gap = event.get("gap_us", 0)
        on_gpu = self.recording["device"] != "cpu"
        if on_gpu:
            return self.add({"kind": "host", "stream": self.stream("host"),
                             "name": "launch", "us": gap})
        if gap > 0:
            self.add({"kind": "host", "stream": 0, "name": "host", "us": gap}, self.take_pending())
        return None

    def take_pending(self):
        pending, self.pending = self.pending, set()
        return pending

    def add_compute(self, event):
        launch = self.add_gap(event)
        operator = {"kind": "compute", "stream": 0,
                    "name": f'{event["phase"]} {event["name"]}', "us": event["us"]}
        if event.get("flops"):
            operator["flops"] = event["flops"]
        if event.get("bytes"):
            operator["memory_bytes"] = event["bytes"]
        after = self.take_pending()
        self.add(operator, after | ({launch} if launch is not None else set()))

    def add_communication(self, event):
        launch = self.add_gap(event)
        if event["group"] not in self.slots:
            self.slots.append(event["group"])
        slot = self.slots.index(event["group"])
        description = _description(event, slot)
        if description not in self.communications:
            self.communications.append(description)
        if event["what"] == "message":
            kind = "point-to-point"
            name = "send" if event["send"] else "receive"
            # NCCL has a communicator for each pair; both directions at once do not block there.
            stream = f'{name} {event["group"]} {event["peer"]}'
        else:
            kind, name, stream = "collective", event["op"], f'collective {event["group"]}'
        after = set(self.pending)
        if 0 in self.last:
            after.add(self.last[0])
        if launch is not None:
            after.add(launch)
        self.of_id[event["id"]] = self.add(
            {"kind": kind, "stream": self.stream(stream), "name": name,
             "communication": self.communications.index(description)}, after)

    def build(self):
        parts = split_parts(self.recording)
        for i, event in enumerate(self.recording["events"]):
            self.part = parts[i] if parts else None
            if event["what"] == "compute":
                self.add_compute(event)
            elif event["what"] == "wait":
                if event["id"] in self.of_id:
                    self.pending.add(self.of_id[event["id"]])
            else:
                self.add_communication(event)
        if self.pending:
            self.add({"kind": "marker", "stream": 0, "name": "end of step"}, self.take_pending())
        return {"echo_program": 1, "source": "echo_tracer", "group_slots": len(self.slots),
                "streams": self.streams, "communications": self.communications,
                "operators": self.operators}


def make_program(recording):
    """Returns (program, names of the groups that its slots are bound to)."""
    builder = _Builder(recording)
    program = builder.build()
    return program, builder.slots


def signature(recording):
    """What two ranks must have in common to be one program: everything but times and the names of
    groups (slots by first use, peers by their places)."""
    places = {}
    parts = []
    for event in recording["events"]:
        part = {k: v for k, v in event.items() if k not in ("us", "gap_us", "group")}
        if "group" in event:
            size = len(recording["groups"][event["group"]]["ranks"])
            part["group"] = [places.setdefault(event["group"], len(places)), size]
        parts.append(part)
    return json.dumps(parts, sort_keys=True)


def communications_of(recording):
    """The communications of a step in order, with the ranks that take part: what traced and real
    runs must have in common."""
    result = []
    for event in recording["events"]:
        if event["what"] not in ("collective", "message"):
            continue
        ranks = recording["groups"][event["group"]]["ranks"]
        if event["what"] == "collective":
            result.append([event["op"], ranks, event["bytes"], event["type"]])
        else:
            result.append(["send" if event["send"] else "receive", [ranks[event["peer"]]],
                           event["bytes"], event["type"]])
    return result


def compute_us(recording):
    """Time of the step without communication: operators and host."""
    return sum(e.get("us", 0) + e.get("gap_us", 0) for e in recording["events"])


def write_graph(folder, recordings, owner):
    """Writes workload.json and the programs.

    recordings: by rank, at least those that others share; owner: rank -> rank whose program it has.
    Groups of a rank without a recording of its own come from its (untimed) recording in `recordings`.
    """
    os.makedirs(folder, exist_ok=True)
    groups = []  # [kind, name, ranks]
    index = {}
    ranks = []
    files = {}
    for rank in sorted(recordings):
        recording = recordings[rank]
        kinds = guess_kinds(recording)
        if owner[rank] not in files:
            files[owner[rank]] = f"program-{len(files)}.json"
        _, slots = make_program(recording)
        bound = []
        for name in slots:
            members = recording["groups"][name]["ranks"]
            # A group is created by all its members alike; its number tells equal sets apart.
            key = (tuple(members), recording["groups"][name].get("number", 0))
            if key not in index:
                index[key] = len(groups)
                groups.append({"kind": kinds[name], "name": kinds[name] + " " + ",".join(
                    map(str, members)), "ranks": members})
            bound.append(index[key])
        ranks.append({"program": files[owner[rank]], "start_us": 0.0, "groups": bound})
    for rank, file in files.items():
        write_json(os.path.join(folder, file), make_program(recordings[rank])[0])
    write_json(os.path.join(folder, "workload.json"),
           {"echo_graph": 1, "groups": groups, "ranks": ranks})


def write_json(path, value):
    """Writes JSON with an operator a line, so that versions compare well."""
    with open(path, "w", encoding="ascii") as file:
        file.write("{\n")
        for i, (key, entry) in enumerate(value.items()):
            end = ",\n" if i + 1 < len(value) else "\n"
            if isinstance(entry, list) and entry and isinstance(entry[0], dict):
                lines = ",\n".join("  " + json.dumps(_rounded(e)) for e in entry)
                file.write(f'"{key}": [\n{lines}\n]{end}')
            else:
                file.write(f'"{key}": {json.dumps(entry)}{end}')
        file.write("}\n")


def _rounded(entry):
    return {k: round(v, 3) if isinstance(v, float) else v for k, v in entry.items()}
