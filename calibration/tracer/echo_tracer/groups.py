# SPDX-License-Identifier: GPL-2.0-only
"""A process group that answers torch.distributed as rank r of N.

Ex situ it returns at once: nothing is sent, and what others would have sent is made up (and counted
as made up). Observing, it passes every call to gloo. In both cases it records kind, size, type,
group and order of what was asked.
"""

import collections
import pickle

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

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


def _bytes(tensors):
    return sum(t.numel() * t.element_size() for t in tensors)


def _type(tensors):
    return str(tensors[0].dtype).replace("torch.", "") if tensors else "uint8"


def _flat(lists):
    return [t for entry in lists for t in (entry if isinstance(entry, (list, tuple)) else [entry])]


class _Group(dist.ProcessGroup):
    def __init__(self, rank, size, inner):
        super().__init__(rank, size)
        self.place, self.inner = rank, inner
        self.random = torch.Generator().manual_seed(1)
        _groups.append(self)

    # What torch.distributed asks of a group itself.
    def getBackendName(self):
        return "echo"

    def name(self):
        return "echo"

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

    def _record(self, event, written, call, read=()):
        """event: what is asked; written: tensors that it fills; call: of gloo, observing."""
        recorder = _session.recorder
        recorder.wait_for_inputs(list(read) + list(written))
        event["group"] = self._name()
        number = recorder.add_communication(event, written)
        if self.inner is not None:
            with recorder.communicating():
                return _Timed(call(self.inner))
        if event["what"] == "collective" and event["op"] != "barrier":
            _made_up[event["op"]] += 1
        return _Done(number, written)

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
                                lambda g: g.allreduce(tensors, opts))

    def allreduce_coalesced(self, tensors, opts=None):
        return self._collective("all-reduce", _bytes(tensors), tensors, tensors,
                                lambda g: g.allreduce_coalesced(tensors, opts))

    def broadcast(self, tensors, opts=None):
        return self._collective("broadcast", _bytes(tensors), tensors, tensors,
                                lambda g: g.broadcast(tensors, opts), root=opts.rootRank)

    def reduce(self, tensors, opts=None):
        return self._collective("reduce", _bytes(tensors), tensors, tensors,
                                lambda g: g.reduce(tensors, opts), root=opts.rootRank)

    def allgather(self, outputs, inputs, opts=None):
        work = self._collective("all-gather", _bytes(_flat(outputs)), inputs, _flat(outputs),
                                lambda g: g.allgather(outputs, inputs, opts), read=inputs)
        for parts, value in zip(outputs, inputs):
            self._copy(parts, value)
        return work

    def _allgather_base(self, output, value, opts=None):
        work = self._collective("all-gather", _bytes([output]), [value], [output],
                                lambda g: g.allgather([list(output.chunk(self.size()))], [value]),
                                read=[value])
        self._copy(output.reshape(self.size(), -1).unbind(0), value.reshape(-1))
        return work

    def reduce_scatter(self, outputs, inputs, opts=None):
        work = self._collective("reduce-scatter", _bytes(_flat(inputs)), outputs, outputs,
                                lambda g: g.reduce_scatter(outputs, inputs, opts),
                                read=_flat(inputs))
        for output, parts in zip(outputs, inputs):
            self._copy([output], parts[self.place])
        return work

    def _reduce_scatter_base(self, output, value, opts=None):
        work = self._collective("reduce-scatter", _bytes([value]), [output], [output],
                                lambda g: g._reduce_scatter_base(output, value, opts),
                                read=[value])
        self._copy([output], value.reshape(self.size(), -1)[self.place])
        return work

    def alltoall_base(self, output, value, output_splits, input_splits, opts=None):
        event = {"what": "collective", "op": "all-to-all", "bytes": _bytes([value]),
                 "type": _type([value])}
        if input_splits:
            row = _bytes([value]) // max(1, value.shape[0])
            event.update(op="all-to-all-v", send=[row * n for n in input_splits],
                         receive=[row * n for n in output_splits])
        work = self._record(event, [output], lambda g: g.alltoall_base(
            output, value, output_splits, input_splits, opts), [value])
        self._fill([output])
        return work

    def alltoall(self, outputs, inputs, opts=None):
        event = {"what": "collective", "op": "all-to-all-v", "bytes": _bytes(inputs),
                 "type": _type(inputs), "send": [_bytes([t]) for t in inputs],
                 "receive": [_bytes([t]) for t in outputs]}
        work = self._record(event, outputs, lambda g: g.alltoall(outputs, inputs, opts), inputs)
        self._fill(outputs)
        return work

    def barrier(self, opts=None):
        return self._collective("barrier", 0, [], [],
                                lambda g: g.barrier(opts) if opts else g.barrier())

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

    def gather(self, outputs, inputs, opts):
        """Messages to the root: NCCL has no gather either."""
        if self.inner is not None:
            return self.inner.gather(outputs, inputs, opts)
        if self.place != opts.rootRank:
            return self.send(inputs, opts.rootRank)
        works = [self.recv([part], peer) for peer, part in enumerate(outputs[0])
                 if peer != self.place]
        self._copy([outputs[0][self.place]], inputs[0])
        return works[-1] if works else _Done(0, inputs)

    def scatter(self, outputs, inputs, opts):
        """Messages from the root."""
        if self.inner is not None:
            return self.inner.scatter(outputs, inputs, opts)
        if self.place != opts.rootRank:
            return self.recv(outputs, opts.rootRank)
        works = [self.send([part], peer) for peer, part in enumerate(inputs[0])
                 if peer != self.place]
        self._copy(outputs, inputs[0][self.place])
        return works[-1] if works else _Done(0, outputs)


def _make_group(store, rank, size, timeout):
    inner = None
    if _session.role == "observe":
        inner = dist.ProcessGroupGloo(store, rank, size, timeout)
    return _Group(rank, size, inner)


def _answer_objects():
    """Object collectives are pickled tensors underneath; ex situ others' objects are this rank's."""
    def record(op, value, group):
        target = group if isinstance(group, _Group) else _groups[0]
        size = len(pickle.dumps(value))
        whole = size * target.size() if op == "all-gather" else size
        target._collective(op, whole, [], [], None)

    def all_gather_object(object_list, obj, group=None):
        record("all-gather", obj, group)
        object_list[:] = [obj] * len(object_list)

    def broadcast_object_list(object_list, src=0, group=None, device=None):
        record("broadcast", object_list, group)

    def gather_object(obj, object_gather_list=None, dst=0, group=None):
        record("all-gather", obj, group)
        if object_gather_list is not None:
            object_gather_list[:] = [obj] * len(object_gather_list)

    def scatter_object_list(output, inputs, src=0, group=None):
        record("broadcast", inputs, group)
        target = group if isinstance(group, _Group) else _groups[0]
        output[0] = inputs[target.place] if inputs else None

    for function in (all_gather_object, broadcast_object_list, gather_object, scatter_object_list):
        setattr(dist, function.__name__, function)
        setattr(c10d, function.__name__, function)


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
        _answer_objects()
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


def made_up():
    return dict(sorted(_made_up.items()))
