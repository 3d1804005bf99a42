# SPDX-License-Identifier: GPL-2.0-only
"""A small GPT with tensor, pipeline and data parallelism as Megatron-LM has them: column and row
parallel layers, 1F1B, plain or interleaved, gradients all-reduced in buckets. Runs over gloo as any such script does; the
two lines that the tracer needs are marked."""

import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional

import echo_tracer  # for the tracer: line 1


class CopyToTensorGroup(torch.autograd.Function):
    """Identity forward, all-reduce backward."""

    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.contiguous()
        dist.all_reduce(grad, group=ctx.group)
        return grad, None


class ReduceFromTensorGroup(torch.autograd.Function):
    """All-reduce forward, identity backward."""

    @staticmethod
    def forward(ctx, x, group):
        x = x.contiguous()
        dist.all_reduce(x, group=group)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad, None


class Block(nn.Module):
    def __init__(self, options, group):
        super().__init__()
        self.group, self.heads = group, options.heads // options.tp
        hidden, part = options.hidden, options.hidden // options.tp
        self.norm1, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.query_key_value = nn.Linear(hidden, 3 * part)
        self.projection = nn.Linear(part, hidden, bias=False)
        self.up, self.down = nn.Linear(hidden, 4 * part), nn.Linear(4 * part, hidden, bias=False)

    def forward(self, x):
        batch, length, _ = x.shape
        y = CopyToTensorGroup.apply(self.norm1(x), self.group)
        q, k, v = (t.reshape(batch, length, self.heads, -1).transpose(1, 2)
                   for t in self.query_key_value(y).chunk(3, dim=-1))
        scores = (q @ k.transpose(-1, -2)) / q.shape[-1] ** 0.5
        mask = torch.ones(length, length, dtype=torch.bool).tril()
        y = scores.masked_fill(~mask, float("-inf")).softmax(-1) @ v
        y = self.projection(y.transpose(1, 2).reshape(batch, length, -1))
        x = x + ReduceFromTensorGroup.apply(y, self.group)
        y = CopyToTensorGroup.apply(self.norm2(x), self.group)
        return x + ReduceFromTensorGroup.apply(self.down(functional.gelu(self.up(y))), self.group)


class Stage(nn.Module):
    """Part `part` of the model: of pp * vp."""

    def __init__(self, options, part, group):
        super().__init__()
        parts = options.pp * options.vp
        self.first, self.last = part == 0, part == parts - 1
        if self.first:
            self.tokens = nn.Embedding(options.vocabulary, options.hidden)
        self.blocks = nn.ModuleList(
            Block(options, group) for _ in range(options.layers // parts))
        if self.last:
            self.norm = nn.LayerNorm(options.hidden)
            self.head = nn.Linear(options.hidden, options.vocabulary, bias=False)

    def forward(self, x):
        x = self.tokens(x) if self.first else x
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)) if self.last else x


def make_groups(options, rank):
    """Megatron's order: tensor ranks are neighbours, then data, then pipeline."""
    tp, dp, pp = options.tp, options.dp, options.pp
    mine = {}
    lists = {"tp": [[b * tp + t for t in range(tp)] for b in range(dp * pp)],
             "dp": [[p * dp * tp + d * tp + t for d in range(dp)]
                    for p in range(pp) for t in range(tp)],
             "pp": [[p * dp * tp + r for p in range(pp)] for r in range(dp * tp)]}
    for kind, groups in lists.items():
        for ranks in groups:
            group = dist.new_group(ranks)
            if rank in ranks:
                mine[kind] = (group, ranks)
    return mine


def plain(stage, stages, _, micro_batches):
    """1F1B (Narayanan et al., SC 2021): warm-up, one forward one backward, cool-down."""
    warmup = min(stages - 1 - stage, micro_batches)
    forward = [("F", i, 0) for i in range(micro_batches)]
    backward = [("B", i, 0) for i in range(micro_batches)]
    return weave(forward, backward, warmup)


def interleaved(stage, stages, chunks, micro_batches):
    """Interleaved 1F1B of the same paper: groups of as many micro-batches as stages go through all
    chunks; the last group is smaller if they do not divide."""
    groups = [range(i, min(i + stages, micro_batches)) for i in range(0, micro_batches, stages)]
    forward = [("F", i, c) for group in groups for c in range(chunks) for i in group]
    backward = [("B", i, c) for group in groups for c in reversed(range(chunks)) for i in group]
    return weave(forward, backward, min(2 * (stages - 1 - stage) + (chunks - 1) * stages,
                                        len(forward)))


def weave(forward, backward, warmup):
    passes = forward[:warmup]
    for one, other in zip(forward[warmup:], backward):
        passes += [one, other]
    return passes + backward[len(forward) - warmup:]


class Pipeline:
    """Carries out a stage's passes; each message has a tag of its own."""

    def __init__(self, options, chunks, group, ranks, stage):
        self.options, self.chunks, self.group, self.ranks = options, chunks, group, ranks
        self.stage, self.parts = stage, options.pp * options.vp
        self.shape = (options.micro_batch, options.sequence, options.hidden)
        self.waiting, self.sent = {}, []
        schedule = interleaved if options.vp > 1 else plain
        self.passes = schedule(stage, options.pp, options.vp, options.micro_batches)

    def tag(self, kind, index, maker):
        return 2 * (index * self.parts + maker) + (kind == "F")

    def receive(self, kind, index, maker, x):
        dist.recv(x.data, self.ranks[maker % self.options.pp], group=self.group,
                  tag=self.tag(kind, index, maker))

    def send(self, kind, index, part, to, data):
        work = dist.isend(data, self.ranks[to % self.options.pp], group=self.group,
                          tag=self.tag(kind, index, part))
        self.sent.append((work, data))

    def forward(self, tokens, index, chunk):
        part = chunk * self.options.pp + self.stage
        x = tokens[:, :-1]
        if part > 0:
            x = torch.empty(self.shape, requires_grad=True)
            self.receive("F", index, part - 1, x)
        y = self.chunks[chunk](x)
        if part == self.parts - 1:
            y = functional.cross_entropy(y.flatten(0, 1), tokens[:, 1:].flatten())
            y = y / self.options.micro_batches
        else:
            self.send("F", index, part, part + 1, y.detach())
        self.waiting[index, chunk] = x, y

    def backward(self, index, chunk):
        part = chunk * self.options.pp + self.stage
        x, y = self.waiting.pop((index, chunk))
        grad = None
        if part < self.parts - 1:
            grad = torch.empty(self.shape)
            self.receive("B", index, part + 1, grad)
        torch.autograd.backward(y, grad)
        if part > 0:
            self.send("B", index, part, part - 1, x.grad)

    def run(self, batches):
        for kind, index, chunk in self.passes:
            if kind == "F":
                self.forward(batches[index], index, chunk)
            else:
                self.backward(index, chunk)
        for work, _ in self.sent:
            work.wait()
        self.sent.clear()


def reduce_gradients(model, group, size, bucket_bytes):
    """All-reduces gradients in buckets, last layers first."""
    buckets, current = [], []
    for parameter in reversed(list(model.parameters())):
        current.append(parameter.grad)
        if sum(g.numel() * 4 for g in current) >= bucket_bytes:
            buckets.append(current)
            current = []
    for bucket in buckets + ([current] if current else []):
        flat = torch.cat([g.reshape(-1) for g in bucket])
        dist.all_reduce(flat, group=group)
        flat /= size
        for grad, part in zip(bucket, flat.split([g.numel() for g in bucket])):
            grad.copy_(part.view_as(grad))


def main():
    parser = argparse.ArgumentParser()
    for name, value in (("tp", 2), ("pp", 2), ("vp", 1), ("dp", 2), ("layers", 4), ("hidden", 128),
                        ("heads", 4), ("sequence", 64), ("vocabulary", 512), ("micro-batch", 2),
                        ("micro-batches", 4), ("steps", 100), ("bucket-bytes", 1 << 19)):
        parser.add_argument("--" + name, type=int, default=value)
    options = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(rank)
    groups = make_groups(options, rank)
    pp_group, pp_ranks = groups["pp"]
    stage = pp_ranks.index(rank)
    model = nn.ModuleList(Stage(options, chunk * options.pp + stage, groups["tp"][0])
                          for chunk in range(options.vp))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    pipeline = Pipeline(options, model, pp_group, pp_ranks, stage)
    for _ in range(options.steps):
        optimizer.zero_grad(set_to_none=True)
        pipeline.run([torch.randint(options.vocabulary, (options.micro_batch, options.sequence + 1))
                      for _ in range(options.micro_batches)])
        reduce_gradients(model, groups["dp"][0], options.dp, options.bucket_bytes)
        optimizer.step()
        echo_tracer.step()  # for the tracer: line 2


if __name__ == "__main__":
    main()
