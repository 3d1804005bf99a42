# SPDX-License-Identifier: GPL-2.0-only
"""Traces small scripts as several ranks and as a real job; skipped without PyTorch."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import torch.distributed  # noqa: F401
except ImportError:
    print("no PyTorch: skipped")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
GPT = os.path.join(HERE, "../../calibration/tracer/examples/gpt_tp_pp_dp.py")
SMALL = ["--layers=2", "--hidden=32", "--heads=2", "--sequence=8", "--vocabulary=32",
         "--micro-batches=2", "--bucket-bytes=4096", "--dp=1"]
DDP = """
import sys
import torch
import torch.distributed as dist
import echo_tracer
torch.set_num_threads(1)
dist.init_process_group("nccl")
model = torch.nn.Sequential(*[torch.nn.Linear(400, 400) for _ in range(4)])
if "fsdp" in sys.argv:
    from torch.distributed.fsdp import FullyShardedDataParallel
    model = FullyShardedDataParallel(torch.nn.Sequential(
        *[FullyShardedDataParallel(layer) for layer in model]))
else:
    model = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(50):
    optimizer.zero_grad()
    model(torch.randn(4, 400)).sum().backward()
    norm = torch.tensor([1.0])
    dist.all_reduce(norm)
    found = [None] * dist.get_world_size()
    dist.all_gather_object(found, {"norm": norm.item()})
    assert len(found) == dist.get_world_size()
    optimizer.step()
    echo_tracer.step()
"""
OBJECTS = """
import torch
import torch.distributed as dist
import echo_tracer
torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
pairs = [dist.new_group([0, 1]), dist.new_group([2, 3])]
mine = pairs[rank // 2]
for step in range(50):
    plan = [{"seed": 7, "step": step}, "text"] if rank == 0 else [None, None]
    dist.broadcast_object_list(plan, src=0)
    assert plan == [{"seed": 7, "step": step}, "text"]  # what rank 0 said, on every rank
    pair = [rank] if rank % 2 == 0 else [None]
    dist.broadcast_object_list(pair, src=rank - rank % 2, group=mine)
    assert pair == [rank - rank % 2]
    part = [None]
    dist.scatter_object_list(part, ["ab", "cd", "ef", "gh"] if rank == 0 else None, src=0)
    assert part == [("ab", "cd", "ef", "gh")[rank]]
    found = [None] * 2
    dist.all_gather_object(found, "z" * 10, group=mine)
    assert found == ["z" * 10] * 2
    whole = [None] * 4 if rank == 0 else None
    dist.gather_object("gathered", whole, dst=0)
    assert rank > 0 or whole[0] == "gathered"
    late = ["x"] if rank == 3 else ["y"]
    dist.broadcast_object_list(late, src=3)  # ex situ not known to ranks before
    torch.ones(4).mul_(2)
    echo_tracer.step()
"""
LATER = """
import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d
import echo_tracer
torch.set_num_threads(1)
dist.init_process_group("gloo")
group = c10d._get_default_group()
for step in range(50):
    # What PyTorch 2.x asks of a group for functional collectives, FSDP2 and DTensor.
    outputs, inputs = [torch.empty(8), torch.empty(16)], [torch.ones(2), torch.ones(4)]
    work = group.allgather_into_tensor_coalesced(outputs, inputs)
    work.wait()
    assert outputs[1].sum() == 16
    group.reduce_scatter_tensor_coalesced([torch.empty(2)], [torch.ones(8)]).wait()
    group.start_coalescing(torch.device("cpu"))
    group.send([torch.ones(3)], 1, 0)
    group.recv([torch.ones(5)], 1, 0)
    group.end_coalescing(torch.device("cpu")).wait()
    group.all_to_all_single(torch.empty(8), torch.ones(8), [], []).wait()
    echo_tracer.step()
"""


def tracer(*arguments):
    return subprocess.run([sys.executable, "-W", "ignore", "-m", "echo_tracer", *arguments],
                          capture_output=True, text=True, check=False)


class Traces(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def trace(self, script, *arguments, options=("--repeats=1",)):
        result = tracer("trace", "--world=4", f"--out={self.path('trace')}", *options,
                        script, *arguments)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        with open(self.path("trace/communications.json"), encoding="ascii") as file:
            return json.load(file)

    def test_tensor_and_pipeline_ranks_do_what_the_job_does(self):
        self.trace(GPT, *SMALL)
        self.compare_with_job(GPT, *SMALL)

    def script(self, text=DDP):
        with open(self.path("script.py"), "w", encoding="ascii") as file:
            file.write(text)
        return self.path("script.py")

    def test_objects_are_what_their_source_said_and_cost_what_they_do_in_the_job(self):
        script = self.script(OBJECTS)
        self.trace(script)
        self.compare_with_job(script)
        with open(self.path("trace/trace.json"), encoding="ascii") as file:
            self.assertGreater(json.load(file)["made_up"]["0"]["object"], 0)  # rank 3's

    def test_what_later_versions_ask_of_a_group(self):
        calls = self.trace(self.script(LATER), options=("--repeats=1", "--trace-all"))
        self.assertEqual(self.timed_ranks(), [0, 1, 2, 3])  # though all are equal
        self.assertEqual([[c[0], c[2]] for c in calls["0"]],
                         [["all-gather", 32], ["all-gather", 64], ["reduce-scatter", 32],
                          ["send", 12], ["receive", 20], ["all-to-all", 32]])

    def test_tensors_made_of_others_count_by_their_parts(self):
        class Halves(torch.Tensor):
            """Two tensors as one, as DTensor is several."""

            @staticmethod
            def __new__(cls, parts):
                shape = (2 * parts[0].shape[0], *parts[0].shape[1:])
                whole = torch.Tensor._make_wrapper_subclass(cls, shape, dtype=parts[0].dtype)
                whole.parts = parts
                return whole

            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
                return cls([func(*[a.parts[i] if isinstance(a, cls) else a for a in args])
                            for i in range(2)])

        from echo_tracer import operators

        recorder = operators.Recorder("trace")
        parts, weight = [torch.ones(3, 4), torch.ones(3, 4)], torch.ones(4, 5)
        recorder.begin()
        product = torch.mm(Halves(parts), weight)
        events = [e for e in recorder.end() if e["name"] == "aten::mm"]
        self.assertEqual(tuple(product.shape), (6, 5))
        self.assertEqual([e["flops"] for e in events], [2 * 3 * 4 * 5] * 2)

    def test_without_the_tracer_both_lines_do_nothing(self):
        script = self.script("import echo_tracer\nechoed = echo_tracer.step()\nprint(echoed)\n")
        result = subprocess.run([sys.executable, script], capture_output=True, text=True,
                                check=False)
        self.assertEqual((result.returncode, result.stdout), (0, "None\n"), result.stderr)

    def timed_ranks(self):
        with open(self.path("trace/trace.json"), encoding="ascii") as file:
            return json.load(file)["timed_ranks"]

    def compare_with_job(self, script, *arguments):
        """Runs the script as four processes over gloo too: they must communicate the same."""
        result = tracer("observe", "--world=4", f"--out={self.path('job')}", script, *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        result = tracer("compare", self.path("trace"), self.path("job"))
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("sequence and sizes are equal", result.stdout)

    def test_ddp(self):
        script = self.script()
        calls = self.trace(script)
        gradients = [c[2] for c in calls["0"] if c[0] == "all-reduce"]
        self.assertEqual(gradients.pop(), 4)  # the script's own
        self.assertEqual(sum(gradients), 4 * 4 * (400 * 400 + 400))
        self.assertGreater(len(gradients), 1)
        self.assertEqual(self.timed_ranks(), [0])  # all are equal
        self.compare_with_job(script)

    def test_fsdp(self):
        script = self.script()
        calls = self.trace(script, "fsdp")
        layer = 4 * (400 * 400 + 400)
        # Each layer's parameters are gathered for either pass, gradients scattered behind each.
        kinds = [c[0] for c in calls["0"] if c[2] == layer]
        self.assertEqual(kinds[:4], ["all-gather"] * 4)
        self.assertEqual(kinds.count("reduce-scatter"), 4)
        self.compare_with_job(script, "fsdp")

    def test_out_of_memory_is_the_result(self):
        result = tracer("trace", "--world=1", f"--out={self.path('trace')}", "--memory-limit=0.05",
                        GPT, "--tp=1", "--pp=1", "--dp=1", "--hidden=2048", "--vocabulary=16000")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("rank 0 does not fit", result.stdout)
        with open(self.path("trace/trace.json"), encoding="ascii") as file:
            self.assertIn("allocate memory", json.load(file)["out_of_memory"]["0"])


if __name__ == "__main__":
    unittest.main()
