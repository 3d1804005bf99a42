# SPDX-License-Identifier: GPL-2.0-only
"""Recordings become execution graphs; needs no PyTorch."""

import json
import os
import tempfile
import unittest

from echo_tracer import program, session


def compute(us, gap=0.0, name="aten::mm", phase="forward"):
    return {"what": "compute", "name": name, "phase": phase, "shapes": [[2, 2]], "us": us,
            "gap_us": gap, "flops": 16, "bytes": 48}


def collective(number, group="0", size=64, op="all-reduce"):
    return {"what": "collective", "op": op, "bytes": size, "type": "float32", "group": group,
            "id": number, "gap_us": 0.0, "phase": "forward"}


def message(number, send, peer, group="0", size=64):
    return {"what": "message", "send": send, "peer": peer, "bytes": size, "type": "float32",
            "tag": 0, "group": group, "id": number, "gap_us": 0.0}


def recording(events, rank=0, groups=None, device="cpu"):
    return {"rank": rank, "world": 4, "device": device, "events": events,
            "groups": groups or {"0": {"ranks": [0, 1], "number": 0}}}


class Programs(unittest.TestCase):
    def test_communication_follows_what_was_computed_and_is_waited_for(self):
        # K1, all-reduce, K2 beside it, wait, K3.
        events = [compute(10.0), collective(1), compute(20.0), {"what": "wait", "id": 1},
                  compute(5.0)]
        result, slots = program.make_program(recording(events))
        self.assertEqual(slots, ["0"])
        kinds = [(o["kind"], o["stream"], o.get("after")) for o in result["operators"]]
        self.assertEqual(kinds, [("compute", 0, None), ("collective", 1, [0]),
                                 ("compute", 0, None), ("compute", 0, [1])])
        self.assertEqual(result["communications"],
                         [{"group": 0, "op": "all-reduce", "bytes": 64, "type": "fp32"}])

    def test_host_time_is_on_the_cpu_s_stream_or_launches_on_a_gpu(self):
        events = [compute(10.0, gap=3.0)]
        on_cpu = program.make_program(recording(events))[0]["operators"]
        self.assertEqual([(o["kind"], o["stream"]) for o in on_cpu], [("host", 0), ("compute", 0)])
        on_gpu = program.make_program(recording(events, device="cuda"))[0]["operators"]
        self.assertEqual([(o["kind"], o["stream"], o.get("after")) for o in on_gpu],
                         [("host", 1, None), ("compute", 0, [0])])

    def test_messages_of_both_directions_do_not_queue_behind_each_other(self):
        result, _ = program.make_program(recording([message(1, True, 1), message(2, False, 1),
                                                    {"what": "wait", "id": 1}]))
        self.assertNotEqual(result["operators"][0]["stream"], result["operators"][1]["stream"])
        self.assertEqual(result["communications"][0]["messages"], [{"to": 1, "bytes": 64}])
        self.assertEqual(result["communications"][1]["messages"], [{"from": 1, "bytes": 64}])
        self.assertEqual(result["operators"][2]["kind"], "marker")

    def test_ranks_are_equal_up_to_times_and_names_of_groups(self):
        one = recording([compute(10.0), collective(1, "0")])
        same = recording([compute(99.0), collective(1, "7")], 2,
                         {"7": {"ranks": [2, 3], "number": 0}})
        self.assertEqual(program.signature(one), program.signature(same))
        for other in (recording([compute(10.0), collective(1, size=128)]),
                      recording([compute(10.0), collective(1)],
                                groups={"0": {"ranks": [0, 1, 2], "number": 0}}),
                      recording([collective(1), compute(10.0)])):
            self.assertNotEqual(program.signature(one), program.signature(other))

    def test_kinds_of_groups(self):
        groups = {"0": {"ranks": [0, 1, 2, 3]}, "1": {"ranks": [0, 1]}, "2": {"ranks": [0, 2]},
                  "3": {"ranks": [1, 3]}}
        events = [message(1, True, 1, "3")]
        self.assertEqual(program.guess_kinds(recording(events, groups=groups)),
                         {"0": "world", "1": "tp", "2": "dp", "3": "pp"})

    def test_a_graph_has_each_group_once_and_a_program_for_equal_ranks(self):
        groups = [{"0": {"ranks": [0, 1], "number": 0}}, {"0": {"ranks": [0, 1], "number": 0}}]
        recordings = {r: recording([compute(1.0), collective(1)], r, groups[r]) for r in (0, 1)}
        with tempfile.TemporaryDirectory() as folder:
            program.write_graph(folder, recordings, {0: 0, 1: 0})
            self.assertEqual(sorted(os.listdir(folder)), ["program-0.json", "workload.json"])
            with open(os.path.join(folder, "workload.json"), encoding="ascii") as file:
                workload = json.load(file)
        self.assertEqual([g["ranks"] for g in workload["groups"]], [[0, 1]])
        self.assertEqual([r["program"] for r in workload["ranks"]], ["program-0.json"] * 2)


def received(number, peer):
    """A message that is received and waited for."""
    return [message(number, False, peer), {"what": "wait", "id": number}]


class Parts(unittest.TestCase):
    def passes(self, events):
        """Parts and chunks of what is no wait."""
        found = program.split_parts(recording(events))
        self.assertIsNotNone(found)
        return [f for f, e in zip(found, events) if e["what"] != "wait"]

    def test_messages_go_to_the_pass_that_makes_or_needs_them(self):
        # A middle stage: receive, forward, send; receive, backward, send; gradients, optimizer.
        events = [*received(1, 0), compute(1.0), message(2, True, 2), *received(3, 2),
                  compute(1.0, phase="backward"), message(4, True, 0), {"what": "wait", "id": 4},
                  collective(5), compute(1.0, phase="optimizer")]
        self.assertEqual(self.passes(events), [("forward", 0)] * 3 + [("backward", 0)] * 3
                         + [("end", 0)] * 2)
        operators = program.make_program(recording(events))[0]["operators"]
        self.assertEqual([o["part"] for o in operators][:6], ["forward"] * 3 + ["backward"] * 3)
        self.assertNotIn("chunk", operators[0])

    def test_what_was_asked_for_ahead_belongs_to_the_pass_that_waits_for_it(self):
        # The gradient is asked for before the forward pass is over.
        events = [*received(1, 0), message(2, False, 2), compute(1.0), message(3, True, 2),
                  {"what": "wait", "id": 2}, compute(1.0, phase="backward"), message(4, True, 0)]
        self.assertEqual(self.passes(events), [("forward", 0), ("backward", 0)]
                         + [("forward", 0)] * 2 + [("backward", 0)] * 2)

    def test_a_message_that_arrives_after_one_was_sent_begins_the_next_chunk(self):
        # The last of two stages with two chunks each, what comes first being a batch that is
        # broadcast: F0, F1 and the loss, B1, B0.
        events = [collective(9), *received(1, 0), compute(1.0), message(2, True, 0),
                  *received(3, 0), compute(1.0), compute(1.0), compute(1.0, phase="backward"),
                  message(4, True, 0), *received(5, 0), compute(1.0, phase="backward"),
                  message(6, True, 0), compute(1.0, phase="optimizer")]
        self.assertEqual(self.passes(events), [("forward", 0)] * 4 + [("forward", 1)] * 3
                         + [("backward", 1)] * 2 + [("backward", 0)] * 3 + [("end", 0)])
        operators = program.make_program(recording(events))[0]["operators"]
        self.assertEqual([o.get("chunk", 0) for o in operators], [0] * 4 + [1] * 5 + [0] * 4)

    def test_a_pass_of_a_chunk_without_its_backward_pass_is_no_step_of_one_micro_batch(self):
        forward = [*received(1, 0), compute(1.0), message(2, True, 0), *received(3, 0), compute(1.0)]
        self.assertIsNone(program.split_parts(recording(
            forward + [compute(1.0, phase="backward")])))
        self.assertIsNone(program.split_parts(recording(forward)))

    def test_steps_of_several_micro_batches_have_no_parts(self):
        one = [compute(1.0), compute(1.0, phase="backward")]
        self.assertIsNone(program.split_parts(recording(one + one)))
        self.assertNotIn("part", program.make_program(recording(one + one))[0]["operators"][0])
        # Two micro-batches on the first of two stages: F F B B, and on the last one of GPipe.
        events = [compute(1.0), message(1, True, 1), compute(1.0), message(2, True, 1),
                  *received(3, 1), compute(1.0, phase="backward"), *received(4, 1),
                  compute(1.0, phase="backward")]
        self.assertIsNone(program.split_parts(recording(events)))
        events = [*received(1, 0), compute(1.0), *received(2, 0), compute(1.0),
                  compute(1.0, phase="backward"), message(3, True, 0),
                  compute(1.0, phase="backward"), message(4, True, 0)]
        self.assertIsNone(program.split_parts(recording(events)))


class Steps(unittest.TestCase):
    def test_times_are_medians(self):
        merged = session.merge([[compute(us)] for us in (10.0, 99.0, 11.0)])
        self.assertEqual(merged[0]["us"], 11.0)

    def test_steps_that_differ_are_refused(self):
        with self.assertRaisesRegex(SystemExit, "step 2 does other things"):
            session.merge([[compute(1.0)], [compute(1.0), compute(1.0)]])
        with self.assertRaisesRegex(SystemExit, "step 2"):
            session.merge([[collective(1)], [collective(1, size=65)]])

    def test_gaps_are_scaled_to_steps_without_recording(self):
        # Kernels take 30 us, the untouched step 40: gaps of 20 recorded become 10.
        result = recording([compute(10.0, 5.0), compute(20.0, 15.0)])
        result["plain_us"] = 40.0
        session.fit_gaps(result)
        self.assertEqual([e["gap_us"] for e in result["events"]], [2.5, 7.5])
        self.assertEqual(program.compute_us(result), 40.0)


if __name__ == "__main__":
    unittest.main()
