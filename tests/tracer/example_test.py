# SPDX-License-Identifier: GPL-2.0-only
"""The committed examples: traces of one process as each rank against jobs of as many processes."""

import json
import os
import unittest

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        "../../calibration/tracer/examples")


def load(folder, name):
    with open(os.path.join(EXAMPLES, folder, name), encoding="ascii") as file:
        return json.load(file)


class Both:
    """What holds of either example."""

    def setUp(self):
        self.trace = load(self.name, "communications.json")
        self.job = load(self.name + "-observed", "communications.json")

    def test_sequence_and_sizes_equal_those_of_the_job(self):
        self.assertEqual(sorted(self.trace), [str(r) for r in range(self.world)])
        self.assertEqual(self.trace, self.job)

    def test_the_graph_has_the_same_communications(self):
        workload = load(self.name, "workload.json")
        for rank, entry in enumerate(workload["ranks"]):
            program = load(self.name, entry["program"])
            groups = [workload["groups"][g]["ranks"] for g in entry["groups"]]
            found = []
            for operator in program["operators"]:
                if "communication" not in operator:
                    continue
                asked = program["communications"][operator["communication"]]
                members = groups[asked["group"]]
                self.assertIn(rank, members)
                if "messages" in asked:
                    (entry_,) = asked["messages"]
                    send = "to" in entry_
                    peer = members[entry_["to" if send else "from"]]
                    found.append(["send" if send else "receive", [peer], entry_["bytes"]])
                else:
                    found.append([asked["op"], members, asked["bytes"]])
            self.assertEqual(found, [c[:3] for c in self.trace[str(rank)]], f"rank {rank}")

    def test_equal_ranks_were_timed_once_and_their_time_is_the_job_s(self):
        manifest, job = load(self.name, "trace.json"), load(self.name + "-observed",
                                                            "observed.json")
        self.assertEqual(manifest["program_of_rank"], self.owners)
        self.assertEqual(manifest["timed_ranks"], sorted(set(self.owners)))
        for rank, owner in enumerate(manifest["program_of_rank"]):
            traced, real = manifest["compute_us"][str(owner)], job["compute_us"][str(rank)]
            # CPU time beside other processes on 2 cores varies by some 15 %.
            self.assertLess(abs(traced / real - 1), 0.25, f"rank {rank}")


class Plain(Both, unittest.TestCase):
    name, world, owners = "gpt-tp2-pp2-dp2", 8, [0, 0, 0, 0, 4, 4, 4, 4]

    def test_sizes_are_those_of_the_plan(self):
        # Activations: 2 sequences x 64 tokens x 128 x 4 B = 65,536 B. Two blocks a stage, each with
        # 2 all-reduces forward and 2 backward, 4 micro-batches: 32 over [0, 1].
        tensor = [c for c in self.trace["0"] if c[1] == [0, 1]]
        self.assertEqual(tensor, [["all-reduce", [0, 1], 65536, "float32"]] * 32)
        # 4 activations to the next stage, 4 gradients back.
        self.assertEqual([c for c in self.trace["0"] if c[0] == "send"],
                         [["send", [4], 65536, "float32"]] * 4)
        self.assertEqual([c for c in self.trace["0"] if c[0] == "receive"],
                         [["receive", [4], 65536, "float32"]] * 4)
        # Gradients of stage 0: token table 512 x 128; a block: query, key, value 128 x 192 + 192,
        # projection 64 x 128, up 128 x 256 + 256, down 256 x 128, two norms 2 x 256.
        block = 128 * 192 + 192 + 64 * 128 + 128 * 256 + 256 + 256 * 128 + 512
        sums = sum(c[2] for c in self.trace["0"] if c[1] == [0, 2])
        self.assertEqual(sums, 4 * (512 * 128 + 2 * block))


class Interleaved(Both, unittest.TestCase):
    name, world, owners = "gpt-pp2-vp2-dp2", 4, [0, 0, 2, 2]

    def test_sizes_are_those_of_the_plan(self):
        # Activations: 2 sequences x 32 tokens x 64 x 4 B = 16,384 B, of each of 4 micro-batches.
        # Stage 0 has parts 0 and 2 of the model: it sends activations of both and gradients of
        # part 2; stage 1, with parts 1 and 3, activations of part 1 and gradients of both.
        for rank, peer in (("0", 2), ("2", 0)):
            for kind in ("send", "receive"):
                self.assertEqual([c for c in self.trace[rank] if c[0] == kind],
                                 [[kind, [peer], 16384, "float32"]] * 12)
        # Gradients of stage 0: token table 128 x 64 and two blocks.
        block = 64 * 192 + 192 + 64 * 64 + 64 * 256 + 256 + 256 * 64 + 4 * 64
        sums = sum(c[2] for c in self.trace["0"] if c[1] == [0, 1] and c[2] > 0)
        self.assertEqual(sums, 4 * (128 * 64 + 2 * block))

    def test_one_micro_batch_has_its_passes_told_apart(self):
        for number in range(2):
            program = load(self.name + "-one-micro-batch", f"program-{number}.json")
            passes = [(o["part"], o.get("chunk", 0)) for o in program["operators"]]
            changes = [p for i, p in enumerate(passes) if i == 0 or p != passes[i - 1]]
            self.assertEqual(changes, [("forward", 0), ("forward", 1), ("backward", 1),
                                       ("backward", 0), ("end", 0)])


if __name__ == "__main__":
    unittest.main()
