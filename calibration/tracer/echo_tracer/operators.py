# SPDX-License-Identifier: GPL-2.0-only
"""Records what a script computes: every operator that PyTorch dispatches, forward, backward and
optimizer, with shapes, time and the communication that it has to wait for."""

import contextlib
import functools
import time

import torch
from torch.utils._python_dispatch import TorchDispatchMode

#: operators that start no kernel: they make views, or memory that nothing has written yet
NO_KERNEL = {
    "alias", "as_strided", "chunk", "detach", "diagonal", "empty", "empty_like", "empty_strided",
    "expand", "is_same_size", "lift_fresh", "narrow", "new_empty", "new_empty_strided", "permute",
    "reshape", "resize_", "select", "set_", "slice", "split", "split_with_sizes", "squeeze",
    "squeeze_", "t", "transpose", "unbind", "unfold", "unsqueeze", "unsqueeze_", "view", "view_as",
    "_reshape_alias", "_unsafe_view", "record_stream", "is_pinned",
}

#: operators by which the host reads a value: it waits for whoever writes it
READS = {"_local_scalar_dense", "item", "equal"}


#: operators that communicate: they come to the process group, which records them
COMMUNICATION = {"c10d", "_c10d_functional", "_c10d_functional_autograd", "c10d_functional"}


def tensors_in(value, found=None):
    found = [] if found is None else found
    if isinstance(value, torch.Tensor):
        found.append(value)
    elif isinstance(value, (list, tuple)):
        for entry in value:
            tensors_in(entry, found)
    elif isinstance(value, dict):
        for entry in value.values():
            tensors_in(entry, found)
    return found


def storage_of(tensor):
    """A number that views of the same memory share."""
    if hasattr(tensor, "untyped_storage"):
        return tensor.untyped_storage()._cdata
    return tensor.storage()._storage._cdata


def flops_of(name, inputs):
    """Floating-point operations of matrix products; 0 for all else."""
    shapes = [tuple(t.shape) for t in inputs]
    if name in ("mm", "addmm") and len(shapes) >= 2:
        (m, k), (_, n) = shapes[-2:]
        return 2 * m * k * n
    if name in ("bmm", "baddbmm") and len(shapes) >= 2:
        (b, m, k), (_, _, n) = shapes[-2:]
        return 2 * b * m * k * n
    return 0


class Recorder:
    def __init__(self, role):
        self.times = role == "trace"
        self.compute = role != "observe"
        self.device = "cuda" if torch.cuda.is_initialized() else "cpu"
        self.events = None
        self.phase = "forward"
        self.next_id = 0
        self.writer = {}  # storage -> number of the communication that writes it
        self.mode = None
        self.end_of_last = 0.0
        self.communication_s = 0.0  # observing: the CPU's time for communication
        self.device_events = []  # CUDA: (event, begin, end)
        _follow_phases(self)

    def clock(self):
        """Seconds. On a CPU the thread's own time, so that other processes do not count."""
        if self.device == "cpu" and torch.get_num_threads() == 1:
            return time.thread_time()
        return time.perf_counter()

    @contextlib.contextmanager
    def communicating(self):
        begin = self.clock()
        try:
            yield
        finally:
            self.communication_s += self.clock() - begin

    def synchronize(self):
        if self.device == "cpu" and torch.cuda.is_available() and torch.cuda.is_initialized():
            self.device = "cuda"
        if self.device == "cuda":
            torch.cuda.synchronize()

    def begin(self):
        self.events = []
        self.next_id = 0
        self.writer.clear()
        self.device_events = []
        self.phase = "forward"
        if self.compute:
            self.mode = _Mode(self)
            self.mode.__enter__()
        self.end_of_last = self.clock()

    def end(self):
        if self.mode is not None:
            self.mode.__exit__(None, None, None)
            self.mode = None
        self.synchronize()
        for event, begin, end in self.device_events:
            event["us"] = round(1e3 * begin.elapsed_time(end), 3)
        events, self.events = self.events, None
        return events

    def gap(self, now):
        return round(1e6 * max(0.0, now - self.end_of_last), 3)

    def add(self, event, now=None):
        if self.events is None:
            return
        if self.times and now is not None:
            event["gap_us"] = self.gap(now)
        self.events.append(event)

    def add_communication(self, event, written):
        """written: tensors that it fills; who uses them waits. Returns its number."""
        now = self.clock()
        self.next_id += 1
        event["id"] = self.next_id
        event["phase"] = self.phase
        self.add(event, now)
        for tensor in written:
            self.writer[storage_of(tensor)] = self.next_id
        self.end_of_last = self.clock()
        return self.next_id

    def wait(self, number):
        if self.events is not None and number in self.writer.values():
            self.writer = {s: n for s, n in self.writer.items() if n != number}
            self.add({"what": "wait", "id": number})

    def wait_for_inputs(self, tensors):
        if self.writer and self.events is not None:
            for tensor in tensors:
                number = self.writer.get(storage_of(tensor))
                if number is not None:
                    self.wait(number)

    def run(self, func, args, kwargs):
        """Runs an operator and records it."""
        space, _, name = func._schema.name.partition("::")
        inputs = tensors_in(args) + tensors_in(kwargs)
        if space in COMMUNICATION or name in NO_KERNEL or not inputs:
            return func(*args, **kwargs)
        self.wait_for_inputs(inputs)
        if name in READS:
            return func(*args, **kwargs)
        event = {"what": "compute", "name": f"{space}::{name}", "phase": self.phase,
                 "shapes": [list(t.shape) for t in inputs], "us": 0.0}
        if self.device == "cuda":
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start = self.clock()
            begin.record()
            result = func(*args, **kwargs)
            end.record()
            self.device_events.append((event, begin, end))
        else:
            start = self.clock()
            result = func(*args, **kwargs)
            event["us"] = round(1e6 * (self.clock() - start), 3) if self.times else 0.0
        event["flops"] = flops_of(name, inputs)
        event["bytes"] = sum(t.numel() * t.element_size() for t in inputs + tensors_in(result))
        self.add(event, start)
        self.end_of_last = self.clock()
        return result


def _is_made_of_others(kind):
    """Whether a class of tensors (DTensor, say) has operators of its own."""
    plain = getattr(torch._C, "_disabled_torch_dispatch_impl", None)
    return getattr(kind, "__torch_dispatch__", plain) not in (plain, torch.Tensor.__torch_dispatch__)


class _Mode(TorchDispatchMode):
    def __init__(self, recorder):
        super().__init__()
        self.recorder = recorder

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if any(_is_made_of_others(kind) for kind in types):
            return NotImplemented  # it does its work by operators on its parts, which come here
        return self.recorder.run(func, args, kwargs or {})


def _follow_phases(recorder):
    """forward unless a backward pass or an optimizer runs."""
    def during(phase, function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            before, recorder.phase = recorder.phase, phase
            try:
                return function(*args, **kwargs)
            finally:
                recorder.phase = before
        return call

    torch.autograd.backward = during("backward", torch.autograd.backward)
    make = torch.optim.Optimizer.__init__

    def make_optimizer(self, *args, **kwargs):
        make(self, *args, **kwargs)
        if not hasattr(type(self).step, "_echo_tracer"):
            type(self).step = during("optimizer", type(self).step)
            type(self).step._echo_tracer = True

    torch.optim.Optimizer.__init__ = make_optimizer
