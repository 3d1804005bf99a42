# SPDX-License-Identifier: GPL-2.0-only
"""What old versions of PyTorch need before a script can be traced; nothing for 2.x."""

import dataclasses
import sys

import torch


def load():
    """Loads what scripts are likely to use, once for all ranks."""
    if sys.version_info >= (3, 11) and torch.__version__.startswith("1."):
        _let_defaults_be_unhashable()
    try:
        from torch.distributed import fsdp  # noqa: F401
    except ImportError:
        pass


def apply():
    if not torch.cuda.is_available() and torch.__version__.startswith("1."):
        _let_fsdp_use_the_cpu()


def _let_defaults_be_unhashable():
    """torch 1.13's sharding classes have dataclass instances as defaults, which Python 3.11
    refuses for want of a hash."""
    original = dataclasses._get_field

    def get_field(cls, name, kind, kw_only):
        default = getattr(cls, name, dataclasses.MISSING)
        if isinstance(default, dataclasses.Field):
            default = default.default
        own = type(default)
        if dataclasses.is_dataclass(own) and own.__hash__ is None:
            own.__hash__ = object.__hash__
        return original(cls, name, kind, kw_only)

    dataclasses._get_field = get_field


def _let_fsdp_use_the_cpu():
    """torch 1.13's FSDP asks for streams and a current device, which a CPU has not."""

    class Stream:
        def __init__(self, *_, **__):
            pass

        def wait_stream(self, _):
            pass

        def wait_event(self, _):
            pass

        def synchronize(self):
            pass

        def record_event(self, event=None):
            return event

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return False

    class Event(Stream):
        def record(self, *_):
            pass

        def query(self):
            return True

    torch.cuda.Stream = Stream
    torch.cuda.Event = Event
    torch.cuda.stream = lambda stream: stream
    torch.cuda.current_stream = lambda *_: Stream()
    torch.cuda.current_device = lambda: torch.device("cpu")
    torch.cuda.synchronize = lambda *_: None
    torch.Tensor.record_stream = lambda *_: None
    try:
        from torch.distributed.fsdp import fully_sharded_data_parallel as fsdp
    except ImportError:
        return
    fsdp.FullyShardedDataParallel._get_compute_device = lambda *_: torch.device("cpu")
    fsdp.torch = _With(torch, cuda=_With(torch.cuda, is_available=lambda: True))


class _With:
    """A module as another module sees it, with some attributes replaced."""

    def __init__(self, module, **replaced):
        self.__dict__.update(replaced)
        self._module = module

    def __getattr__(self, name):
        return getattr(self._module, name)
