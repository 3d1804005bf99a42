# SPDX-License-Identifier: GPL-2.0-only
"""A small GPT with tensor, pipeline and data parallelism as Megatron-LM has them: column and row
parallel layers, 1F1B, gradients all-reduced in buckets. Runs over gloo as any such script does; the
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
    def __init__(self, options, stage, group):
        super().__init__()
        self.first, self.last = stage == 0, stage == options.pp - 1
        if self.first:
            self.tokens = nn.Embedding(options.vocabulary, options.hidden)
        self.blocks = nn.ModuleList(
            Block(options, group) for _ in range(options.layers // options.pp))
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


class Pipeline:
    """1F1B (Narayanan et al., SC 2021): warm-up, one forward one backward, cool-down."""

    def __init__(self, options, model, group, ranks, stage):
        self.options, self.model, self.group, self.stage = options, model, group, stage
        self.before = ranks[stage - 1] if stage > 0 else None
        self.after = ranks[stage + 1] if stage + 1 < len(ranks) else None
        self.shape = (options.micro_batch, options.sequence, options.hidden)
        self.waiting, self.sent = [], []

    def forward(self, tokens):
        x = tokens[:, :-1]
        if self.before is not None:
            x = torch.empty(self.shape, requires_grad=True)
            dist.recv(x.data, self.before, group=self.group)
        y = self.model(x)
        if self.after is None:
            y = functional.cross_entropy(y.flatten(0, 1), tokens[:, 1:].flatten())
            y = y / self.options.micro_batches
        else:
            data = y.detach()
            self.sent.append((dist.isend(data, self.after, group=self.group), data))
        self.waiting.append((x, y))

    def backward(self):
        x, y = self.waiting.pop(0)
        grad = None
        if self.after is not None:
            grad = torch.empty(self.shape)
            dist.recv(grad, self.after, group=self.group)
        torch.autograd.backward(y, grad)
        if self.before is not None:
            self.sent.append((dist.isend(x.grad, self.before, group=self.group), x.grad))

    def run(self, batches):
        warmup = min(self.options.pp - 1 - self.stage, len(batches))
        for i, tokens in enumerate(batches):
            self.forward(tokens)
            if i >= warmup:
                self.backward()
        while self.waiting:
            self.backward()
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
    for name, value in (("tp", 2), ("pp", 2), ("dp", 2), ("layers", 4), ("hidden", 128),
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
    model = Stage(options, stage, groups["tp"][0])
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
