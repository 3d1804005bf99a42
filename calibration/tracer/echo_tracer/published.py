# SPDX-License-Identifier: GPL-2.0-only
"""The graphs that the paper's authors publish (NetX-lab/Echo-workload-tracer), as execution graphs.

Such a graph is a list of nodes (name, op, input and output nodes, types and shapes) of one rank:
forward, backward, and for each bucket of DDP a pair ddp_pre, ddp_Allreduce. It has no times. They come
from the profile of operators beside it (name -> mean milliseconds), or, without one, from
operations and bytes by Echo's compute profile. Needs no PyTorch.
"""

import gzip
import json
import os

from . import program

SIZES = {"torch.float32": 4, "torch.float16": 2, "torch.bfloat16": 2, "torch.float64": 8,
         "torch.int64": 8, "torch.int32": 4, "torch.bool": 1, "torch.uint8": 1}
#: nodes that start no kernel: views, sizes, parameters; and their gradients
NO_KERNEL = {
    "size", "view", "permute", "transpose", "split", "getattr", "_operator.getitem", "unsqueeze",
    "expand", "contiguous", "type", "torch.finfo", "AccumulateGrad", "ViewBackward0",
    "PermuteBackward0", "TransposeBackward0", "ExpandBackward0", "ReshapeAliasBackward0",
    "UnsafeViewBackward0", "ddp_pre",
}


def load(path):
    opener = gzip.open if path.endswith(".gz") else open
    try:
        with opener(path, "rt", encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError) as error:
        raise SystemExit(f"echo_tracer: {path}: found no JSON ({error}), expected a graph")


def product(shape):
    result = 1
    for length in shape:
        result *= length
    return result


def flops_of(node):
    """Operations of matrix products, forward and backward; 0 for all else."""
    inputs = [s for s in node["input_shapes"] if s]
    outputs = [s for s in node["output_shapes"] if s]
    kind = node["op"]
    if kind == "torch.addmm" and len(inputs) >= 3:
        return 2 * product(inputs[-2]) * inputs[-1][-1]
    if kind in ("torch.matmul", "torch.bmm") and len(inputs) >= 2:
        return 2 * product(inputs[-2]) * inputs[-1][-1]
    if kind in ("AddmmBackward0", "BmmBackward0", "MmBackward0") and inputs:
        # Two products of the size of the forward one: outputs are the gradients of its operands.
        operands = [s for s in outputs if len(s) >= 2]
        if len(operands) >= 2:
            return 4 * product(operands[-2]) * operands[-1][-1]
    if kind.endswith("linear.Linear") and node.get("weight_shape") and inputs:
        return 2 * product(inputs[0]) * node["weight_shape"][0]
    return 0


def bytes_of(node):
    total = 0
    for side in ("input", "output"):
        for kind, shape in zip(node[f"{side}_types"], node[f"{side}_shapes"]):
            total += SIZES.get(kind, 4) * product(shape) if shape else 0
    for side in ("weight", "bias"):
        if node.get(f"{side}_shape"):
            total += SIZES.get(node.get(f"{side}_type"), 4) * product(node[f"{side}_shape"])
    return total


def phase_of(node):
    return "backward" if "Backward" in node["op"] else "forward"


def make_program(nodes, profile, path):
    """One rank's program: kernels in the order of the list, all-reduces as their buckets fill."""
    operators, communications, place, buckets = [], [], {}, {}
    for node in nodes:
        for key in ("name", "op", "input_nodes", "input_shapes", "output_shapes"):
            if key not in node:
                raise SystemExit(f"echo_tracer: {path}: found a node without '{key}', expected it")
        if node["op"] == "ddp_Allreduce":
            buckets[node["name"]] = node
            continue
        has_kernel = (node["op"] not in NO_KERNEL and any(node["output_shapes"])
                      and node["input_nodes"])
        if has_kernel:
            operator = {"kind": "compute", "stream": 0,
                        "name": f'{phase_of(node)} {node["op"]}', "us": 0.0,
                        "memory_bytes": bytes_of(node)}
            if flops_of(node):
                operator["flops"] = flops_of(node)
            if node["name"] in profile:
                operator["us"] = 1e3 * profile[node["name"]]
            operators.append(operator)
        # What a node without a kernel depends on is what was computed last among its inputs.
        before = [place[name] for name in node["input_nodes"] if name in place]
        place[node["name"]] = len(operators) - 1 if has_kernel else max(before, default=-1)
    for name, node in buckets.items():
        gradients = [n for n in nodes if n["name"] in node["input_nodes"]]
        ready = max((place[g["name"]] for g in gradients), default=-1)
        size = 4 * node["attrs"]["bucket_size"]  # elements of float32
        description = {"group": 0, "op": "all-reduce", "bytes": size, "type": "fp32"}
        if description not in communications:
            communications.append(description)
        operators.append({"kind": "collective", "stream": 1, "name": name,
                          "communication": communications.index(description),
                          **({"after": [ready]} if ready >= 0 else {})})
    if buckets:
        operators.append({"kind": "marker", "stream": 0, "name": "end of step",
                          "after": [len(operators) - 1]})
    return {"echo_program": 1, "source": os.path.basename(path), "group_slots": 1,
            "streams": ["compute", "collective"], "communications": communications,
            "operators": operators}


def convert(path, profile_path, ranks, out):
    nodes = load(path)
    if not isinstance(nodes, list) or not nodes or not isinstance(nodes[0], dict):
        raise SystemExit(f"echo_tracer: {path}: found no list of nodes, expected a published graph")
    profile = load(profile_path) if profile_path else {}
    made = make_program(nodes, profile, path)
    os.makedirs(out, exist_ok=True)
    program.write_json(os.path.join(out, "program-0.json"), made)
    program.write_json(os.path.join(out, "workload.json"), {
        "echo_graph": 1,
        "groups": [{"kind": "dp", "name": "dp", "ranks": list(range(ranks))}],
        "ranks": [{"program": "program-0.json", "start_us": 0.0, "groups": [0]}] * ranks})
    kernels = sum(o["kind"] == "compute" for o in made["operators"])
    timed = sum(o.get("us", 0) > 0 for o in made["operators"])
    print(f"{len(nodes)} nodes: {kernels} kernels ({timed} with times), "
          f"{sum(o['kind'] == 'collective' for o in made['operators'])} all-reduces, "
          f"{ranks} equal ranks: {out}")
    return 0
