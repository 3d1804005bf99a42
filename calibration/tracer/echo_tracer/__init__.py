# SPDX-License-Identifier: GPL-2.0-only
"""Traces a distributed PyTorch training script ex situ: one process acts as each rank in turn.

Two lines go into the script: `import echo_tracer` before torch.distributed is initialised, and
`echo_tracer.step()` at the end of each training step. Run by `python3 -m echo_tracer trace`, the
script is rank r of N; run in any other way, both lines do nothing.
"""

import os


def step():
    """Says that a training step has ended."""
    if _session is not None:
        _session.end_step()


_session = None


def begin():
    """Makes this process the rank that the environment says; by the tracer's own programs."""
    global _session
    from . import session

    _session = session.begin(os.environ)
