# SPDX-License-Identifier: GPL-2.0-only
"""Graphs in the form that the paper's authors publish become execution graphs."""

import json
import os
import tempfile
import unittest

from echo_tracer import published


def node(name, op, inputs, input_shapes, output_shapes, **more):
    return {"name": name, "op": op, "input_nodes": inputs, "output_nodes": [],
            "input_types": ["torch.float32"] * len(input_shapes), "input_shapes": input_shapes,
            "output_types": ["torch.float32"] * len(output_shapes),
            "output_shapes": output_shapes, **more}


# y = tanh(x W + b); two gradients in buckets of their own.
NODES = [
    node("x", "x", [], [], [[4, 8]]),
    node("size", "size", ["x"], [[4, 8]], []),
    node("addmm", "torch.addmm", ["b", "x", "w"], [[2], [4, 8], [8, 2]], [[4, 2]]),
    node("tanh", "torch.tanh", ["addmm"], [[4, 2]], [[4, 2]]),
    node("TanhBackward00", "TanhBackward0", ["tanh"], [[4, 2]], [[4, 2]]),
    node("AccumulateGrad0", "AccumulateGrad", ["TanhBackward00"], [[2]], [None]),
    node("AddmmBackward00", "AddmmBackward0", ["TanhBackward00"], [[4, 2]], [None, [4, 8], [8, 2]]),
    node("AccumulateGrad1", "AccumulateGrad", ["AddmmBackward00"], [[8, 2]], []),
    node("ddp_pre_0", "ddp_pre", ["AccumulateGrad0"], [], [], attrs={"bucket_size": 2}),
    node("ddp_Allreduce_0", "ddp_Allreduce", ["ddp_pre_0"], [], [], attrs={"bucket_size": 2}),
    node("ddp_pre_1", "ddp_pre", ["AccumulateGrad1", "ddp_Allreduce_0"], [], [],
         attrs={"bucket_size": 16}),
    node("ddp_Allreduce_1", "ddp_Allreduce", ["ddp_pre_1"], [], [], attrs={"bucket_size": 16}),
]


class Published(unittest.TestCase):
    def test_kernels_and_buckets(self):
        made = published.make_program(NODES, {}, "g.json")
        kernels = [(o["name"], o.get("flops"), o["memory_bytes"]) for o in made["operators"]
                   if o["kind"] == "compute"]
        # 2 x 4 x 8 x 2 forward, twice that backward; floats of 4 bytes.
        self.assertEqual(kernels, [("forward torch.addmm", 128, 4 * (2 + 32 + 16 + 8)),
                                   ("forward torch.tanh", None, 64),
                                   ("backward TanhBackward0", None, 64),
                                   ("backward AddmmBackward0", 256, 4 * (8 + 32 + 16))])
        collectives = [o for o in made["operators"] if o["kind"] == "collective"]
        self.assertEqual([o["after"] for o in collectives], [[2], [3]])
        self.assertEqual([made["communications"][o["communication"]]["bytes"]
                          for o in collectives], [8, 64])
        self.assertEqual(made["operators"][-1]["after"], [5])

    def test_times_of_a_profile(self):
        made = published.make_program(NODES, {"addmm": 0.0225}, "g.json")
        self.assertAlmostEqual(made["operators"][0]["us"], 22.5)

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "g.json")
            with open(path, "w", encoding="ascii") as file:
                json.dump(NODES, file)
            self.assertEqual(published.convert(path, "", 4, os.path.join(folder, "out")), 0)
            with open(os.path.join(folder, "out", "workload.json"), encoding="ascii") as file:
                self.assertEqual(len(json.load(file)["ranks"]), 4)
            with open(path, "w", encoding="ascii") as file:
                file.write("{")
            with self.assertRaisesRegex(SystemExit, "found no JSON"):
                published.convert(path, "", 4, folder)
            with open(path, "w", encoding="ascii") as file:
                file.write('[{"name": "a"}]')
            with self.assertRaisesRegex(SystemExit, "a node without 'op'"):
                published.convert(path, "", 4, folder)


if __name__ == "__main__":
    unittest.main()
