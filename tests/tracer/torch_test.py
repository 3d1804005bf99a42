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
    model = FullyShardedDataParallel(model)
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
    assert len(found) == 4
    optimizer.step()
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

    def trace(self, script, *arguments, world=4, options=("--repeats=1",)):
        result = tracer("trace", f"--world={world}", f"--out={self.path('trace')}", *options,
                        script, *arguments)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        with open(self.path("trace/communications.json"), encoding="ascii") as file:
            return json.load(file)

    def test_tensor_and_pipeline_ranks_do_what_the_job_does(self):
        self.trace(GPT, *SMALL)
        result = tracer("observe", "--world=4", f"--out={self.path('job')}", GPT, *SMALL)
        self.assertEqual(result.returncode, 0, result.stderr)
        result = tracer("compare", self.path("trace"), self.path("job"))
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("sequence and sizes are equal", result.stdout)

    def script(self):
        with open(self.path("script.py"), "w", encoding="ascii") as file:
            file.write(DDP)
        return self.path("script.py")

    def test_ddp(self):
        calls = self.trace(self.script())
        gradients = [c[2] for c in calls["0"] if c[0] == "all-reduce"]
        self.assertEqual(gradients.pop(), 4)  # the script's own
        self.assertEqual(sum(gradients), 4 * 4 * (400 * 400 + 400))
        self.assertGreater(len(gradients), 1)

    def test_fsdp(self):
        calls = self.trace(self.script(), "fsdp")
        whole = 4 * 4 * (400 * 400 + 400)
        self.assertIn(["all-gather", [0, 1, 2, 3], whole, "float32"], calls["0"])
        self.assertIn(["reduce-scatter", [0, 1, 2, 3], whole, "float32"], calls["0"])

    def test_out_of_memory_is_the_result(self):
        result = tracer("trace", "--world=1", f"--out={self.path('trace')}", "--memory-limit=0.05",
                        GPT, "--tp=1", "--pp=1", "--dp=1", "--hidden=2048", "--vocabulary=16000")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("rank 0 does not fit", result.stdout)
        with open(self.path("trace/trace.json"), encoding="ascii") as file:
            self.assertIn("allocate memory", json.load(file)["out_of_memory"]["0"])


if __name__ == "__main__":
    unittest.main()
