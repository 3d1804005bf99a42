# SPDX-License-Identifier: GPL-2.0-only
"""A process group that answers torch.distributed as rank r of N.

Ex situ it returns at once: nothing is sent, and what others would have sent is made up (and counted
as made up). Observing, it passes every call to gloo. In both cases it records kind, size, type,
group and order of what was asked.
"""

import collections
import os

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

from . import objects

_Work = getattr(dist, "Work", None) or torch._C._distributed_c10d.Work
_session = None
_groups = []  # every _Group of this process, in order of creation
_made_up = collections.Counter()
_works = []  # C++ keeps no reference to the Python part of a work


class _Done(_Work):
    """A communication that is over as soon as it is asked for."""

    def __init__(self, number, tensors):
        super().__init__()
        self.number = number
        self.future = torch.futures.Future()
        self.future.set_result(tensors)
        _works.append(self)

    def wait(self, timeout=None):
        _session.recorder.wait(self.number)
        return True

    def synchronize(self):
        self.wait()

    def is_completed(self):
        return True

    def is_success(self):
        return True

    def get_future(self):
        return self.future

    def result(self):
        return self.future.value()


class _Timed(_Work):
    """A communication of gloo; the CPU's time for it is no compute."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner
        _works.append(self)

    def wait(self, timeout=None):
        with _session.recorder.communicating():
            return self.inner.wait()

    def synchronize(self):
        self.wait()

    def is_completed(self):
        return self.inner.is_completed()

    def is_success(self):
        return self.inner.is_success()

    def get_future(self):
        return self.inner.get_future()

    def result(self):
        return self.inner.result()


class _Works(_Work):
    """Several communications that were asked for as one."""

    def __init__(self, works):
        super().__init__()
        self.works = works
        _works.append(self)

    def wait(self, timeout=None):
        return all([work.wait() for work in self.works])

    def synchronize(self):
        self.wait()

    def is_completed(self):
        return all(work.is_completed() for work in self.works)

    def is_success(self):
        return all(work.is_success() for work in self.works)

    def get_future(self):
        return torch.futures.collect_all([work.get_future() for work in self.works])

    def result(self):
        return [tensor for work in self.works for tensor in work.result()]


def _bytes(tensors):
    return sum(t.numel() * t.element_size() for t in tensors)


def _type(tensors):
    return str(tensors[0].dtype).replace("torch.", "") if tensors else "uint8"


def _given(opts):
    """Options as arguments: PyTorch passes none where it has none."""
    return [] if opts is None else [opts]


def _flat(lists):
    return [t for entry in lists for t in (entry if isinstance(entry, (list, tuple)) else [entry])]


class _Group(dist.ProcessGroup):
    def __init__(self, rank, size, inner):
        super().__init__(rank, size)
        self.place, self.inner = rank, inner
        self.random = torch.Generator().manual_seed(1)
        self.coalesced = None  # works of a group of calls
        _groups.append(self)

    # What torch.distributed asks of a group itself.
    def getBackendName(self):
        return "echo"

    def name(self):
        return "echo"

    def place_of(self, rank):
        """The place of a rank of the whole job."""
        ranks = self.ranks()
        return ranks.index(rank) if rank in ranks else 0

    def ranks(self):
        """Members' ranks, by their places in the group."""
        if hasattr(dist, "get_process_group_ranks"):
            return dist.get_process_group_ranks(self)
        known = c10d._pg_group_ranks.get(self)
        if not known:
            return list(range(self.size()))
        return [rank for rank, _ in sorted(known.items(), key=lambda item: item[1])]

    # Recording.
    def _name(self):
        return str(_groups.index(self))

    def record_object(self, op, tensors, root):
        """Records what a call about objects communicates."""
        self._collective(op, _bytes(tensors), tensors, [], None, root=root)

    def _record(self, event, written, call, read=()):
        """event: what is asked; written: tensors that it fills; call: of gloo, observing."""
        recorder = _session.recorder
        recorder.wait_for_inputs(list(read) + list(written))
        event["group"] = self._name()
        number = recorder.add_communication(event, written)
        if self.inner is not None and call is None:
            return None  # it is part of another call
        if self.inner is not None:
            with recorder.communicating():
                work = _Timed(call(self.inner))
        else:
            if event["what"] == "collective" and event["op"] != "barrier":
                _made_up[event["op"]] += 1
            work = _Done(number, written)
        if self.coalesced is not None:
            self.coalesced.append(work)
        return work

    def _collective(self, op, size, tensors, written, call, read=(), root=0):
        event = {"what": "collective", "op": op, "bytes": size, "type": _type(tensors)}
        if root:
            event["root"] = root
        return self._record(event, written, call, read)

    def _copy(self, outputs, value):
        """Others' parts are made up: they are as this rank's."""
        if self.inner is None:
            recorder = _session.recorder
            events, recorder.events = recorder.events, None
            with torch.no_grad():
                for output in outputs:
                    output.detach().copy_(value.detach().reshape(output.shape))
            recorder.events = events

    # Collectives. Sizes are nccl-tests'.
    def allreduce(self, tensors, opts=None):
        return self._collective("all-reduce", _bytes(tensors), tensors, tensors,
                                lambda g: g.allreduce(tensors, *_given(opts)))

    def allreduce_coalesced(self, tensors, opts=None):
        return self._collective("all-reduce", _bytes(tensors), tensors, tensors,
                                lambda g: g.allreduce_coalesced(tensors, *_given(opts)))

    def broadcast(self, tensors, opts=None):
        return self._collective("broadcast", _bytes(tensors), tensors, tensors,
                                lambda g: g.broadcast(tensors, *_given(opts)), root=opts.rootRank)

    def reduce(self, tensors, opts=None):
        return self._collective("reduce", _bytes(tensors), tensors, tensors,
                                lambda g: g.reduce(tensors, *_given(opts)), root=opts.rootRank)

    def allgather(self, outputs, inputs, opts=None):
        work = self._collective("all-gather", _bytes(_flat(outputs)), inputs, _flat(outputs),
                                lambda g: g.allgather(outputs, inputs, *_given(opts)), read=inputs)
        for parts, value in zip(outputs, inputs):
            self._copy(parts, value)
        return work

    def _allgather_base(self, output, value, opts=None):
        work = self._collective("all-gather", _bytes([output]), [value], [output],
                                lambda g: g.allgather([list(output.chunk(self.size()))], [value]),
                                read=[value])
        self._copy(output.reshape(self.size(), -1).unbind(0), value.reshape(-1))
        return work

    def allgather_into_tensor_coalesced(self, outputs, inputs, opts=None):
        return _Works([self._allgather_base(o, i, opts) for o, i in zip(outputs, inputs)])

    def reduce_scatter(self, outputs, inputs, opts=None):
        work = self._collective("reduce-scatter", _bytes(_flat(inputs)), outputs, outputs,
                                lambda g: g.reduce_scatter(outputs, inputs, *_given(opts)),
                                read=_flat(inputs))
        for output, parts in zip(outputs, inputs):
            self._copy([output], parts[self.place])
        return work

    def _reduce_by_gloo(self, gloo, output, value):
        """Gloo has no reduce-scatter: all is reduced, and the part taken."""
        whole = value.detach().clone()
        work = gloo.allreduce([whole])
        work.wait()
        with torch.no_grad():
            output.copy_(whole.reshape(self.size(), -1)[self.place].reshape(output.shape))
        return work

    def _reduce_scatter_base(self, output, value, opts=None):
        work = self._collective("reduce-scatter", _bytes([value]), [output], [output],
                                lambda g: self._reduce_by_gloo(g, output, value),
                                read=[value])
        self._copy([output], value.reshape(self.size(), -1)[self.place])
        return work

    def reduce_scatter_tensor_coalesced(self, outputs, inputs, opts=None):
        return _Works([self._reduce_scatter_base(o, i, opts) for o, i in zip(outputs, inputs)])

    def alltoall_base(self, output, value, output_splits, input_splits, opts=None):
        event = {"what": "collective", "op": "all-to-all", "bytes": _bytes([value]),
                 "type": _type([value])}
        if input_splits:
            row = _bytes([value]) // max(1, value.shape[0])
            event.update(op="all-to-all-v", send=[row * n for n in input_splits],
                         receive=[row * n for n in output_splits])
        work = self._record(event, [output], lambda g: g.alltoall_base(
            output, value, output_splits, input_splits, *_given(opts)), [value])
        self._fill([output])
        return work

    def alltoall(self, outputs, inputs, opts=None):
        event = {"what": "collective", "op": "all-to-all-v", "bytes": _bytes(inputs),
                 "type": _type(inputs), "send": [_bytes([t]) for t in inputs],
                 "receive": [_bytes([t]) for t in outputs]}
        work = self._record(event, outputs,
                            lambda g: g.alltoall(outputs, inputs, *_given(opts)), inputs)
        self._fill(outputs)
        return work

    def barrier(self, opts=None):
        return self._collective("barrier", 0, [], [],
                                lambda g: g.barrier(*_given(opts)))

    # Messages.
    def _message(self, send, peer, tensors, tag, call):
        event = {"what": "message", "send": send, "peer": peer, "bytes": _bytes(tensors),
                 "type": _type(tensors), "tag": tag}
        return self._record(event, [] if send else tensors, call, tensors if send else ())

    def _fill(self, tensors):
        """What another rank sends is made up: small numbers, zeros where they are whole."""
        if self.inner is not None:
            return
        recorder = _session.recorder
        events, recorder.events = recorder.events, None
        with torch.no_grad():
            for tensor in tensors:
                if not tensor.is_floating_point():
                    tensor.detach().zero_()
                elif tensor.device.type == "cpu":
                    tensor.detach().uniform_(-1, 1, generator=self.random)
                else:
                    tensor.detach().uniform_(-1, 1)
        recorder.events = events

    def send(self, tensors, peer, tag=0):
        return self._message(True, peer, tensors, tag, lambda g: g.send(tensors, peer, tag))

    def recv(self, tensors, peer, tag=0):
        work = self._message(False, peer, tensors, tag, lambda g: g.recv(tensors, peer, tag))
        if self.inner is None:
            _made_up["receive"] += 1
        self._fill(tensors)
        return work

    def _exchange_with_root(self, root, own, parts, to_root, call):
        """Messages to or from the root, as NCCL does it; gloo has an operation for it."""
        if self.place == root:
            pairs = [(peer, part) for peer, part in enumerate(parts) if peer != root]
        else:
            pairs = [(root, own)]
        sends = (self.place != root) == to_root
        if self.inner is not None:
            for peer, part in pairs:
                self._message(sends, peer, [part], 0, None)
            with _session.recorder.communicating():
                return _Timed(call(self.inner))
        works = [self.send([part], peer) if sends else self.recv([part], peer)
                 for peer, part in pairs]
        return works[-1] if works else _Done(0, [own])

    def gather(self, outputs, inputs, opts):
        parts = outputs[0] if outputs else []
        work = self._exchange_with_root(opts.rootRank, inputs[0], parts, True,
                                        lambda g: g.gather(outputs, inputs, opts))
        if self.place == opts.rootRank:
            self._copy(parts, inputs[0])
        return work

    def scatter(self, outputs, inputs, opts):
        parts = inputs[0] if inputs else []
        work = self._exchange_with_root(opts.rootRank, outputs[0], parts, False,
                                        lambda g: g.scatter(outputs, inputs, opts))
        if self.place == opts.rootRank:
            self._copy(outputs, parts[self.place])
        return work

    # PyTorch 2.x: what is grouped into one call; each part of it is a call of its own here.
    def _start_coalescing(self, device=None):
        self.coalesced = []

    def _end_coalescing(self, device=None):
        works, self.coalesced = self.coalesced, None
        return _Works(works or [])

    start_coalescing, end_coalescing = _start_coalescing, _end_coalescing
    # Later versions call these by other names.
    all_gather_single, reduce_scatter_single = _allgather_base, _reduce_scatter_base
    all_gather_single_coalesced = allgather_into_tensor_coalesced
    reduce_scatter_single_coalesced = reduce_scatter_tensor_coalesced
    all_to_all_single = alltoall_base


def _make_group(store, rank, size, timeout):
    inner = None
    if _session.role == "observe":
        inner = dist.ProcessGroupGloo(store, rank, size, timeout)
    return _Group(rank, size, inner)


def install(session):
    """Puts the group in the place of whatever back end the script asks for."""
    global _session
    _session = session
    ex_situ = session.role != "observe"
    if torch.__version__.startswith("1."):
        dist.Backend.register_backend("echo", _make_group)
    else:
        dist.Backend.register_backend("echo", _make_group, devices=["cpu", "cuda"])
    start, new_group = dist.init_process_group, dist.new_group

    def init_process_group(*_, **__):
        if ex_situ:
            start("echo", rank=session.rank, world_size=session.world, store=dist.HashStore())
        else:
            start("echo", init_method="env://", rank=session.rank, world_size=session.world)

    def make_subgroup(ranks=None, timeout=None, backend=None, pg_options=None, **_):
        return new_group(ranks)

    if ex_situ:
        c10d._store_based_barrier = lambda *_, **__: None
        objects.answer(os.environ["ECHO_TRACER_OBJECTS"])
    for module in (dist, c10d):
        module.init_process_group = init_process_group
        module.new_group = make_subgroup


def describe():
    """All groups by name; equal sets of ranks are told apart by a number."""
    result, seen = {}, collections.Counter()
    for group in _groups:
        ranks = group.ranks()
        result[group._name()] = {"ranks": ranks, "number": seen[tuple(ranks)]}
        seen[tuple(ranks)] += 1
    return result


def of(group):
    """The group that a script means."""
    return group if isinstance(group, _Group) else _groups[0]


def make_up(what):
    """Counts a value that another rank would have sent."""
    _made_up[what] += 1


def made_up():
    return dict(sorted(_made_up.items()))
