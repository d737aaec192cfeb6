# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers and models of PyTorch on a CPU: this project's backend of torch.compile beside eager and inductor.

usage: cpu_models.py THREADS END [WORD ...]

`cpu_bench.py` starts one process for each number of threads. It compiles all cases at once, as compilers take longer
than what they compile; prints "ready"; measures when a line with the numbers of its cores comes in, so that one
process measures at a time; and prints a JSON object for each case. END is the time, in seconds since 1970, after which
cases are left out; so are those whose names have none of the words.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import torch
from cpu_bench import Sides, rounds_of
from cpu_tables import OURS
from quiet_cores import stay_on
from torch import nn

ROUND_SECONDS, ROWS_AT_ONCE = 0.03, 12
# Of the largest number; bf16 is rounded in other places.
ERROR = 2e-2
READY = "ready"

Case = tuple[str, nn.Module, list[Any]]


class Attention(nn.Module):
    def forward(self, q: Any, k: Any, v: Any) -> Any:
        return nn.functional.scaled_dot_product_attention(q, k, v)


class Gelu(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(768, 3072)

    def forward(self, x: Any) -> Any:
        return nn.functional.gelu(self.linear(x))


class Block(nn.Module):
    """A layer of a transformer."""

    def __init__(self, width: int, heads: int, causal: bool) -> None:
        super().__init__()
        self.heads, self.causal = heads, causal
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Any) -> Any:
        batch, tokens, width = x.shape
        parts = self.qkv(self.first(x)).chunk(3, -1)
        q, k, v = (part.view(batch, tokens, self.heads, -1).transpose(1, 2) for part in parts)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        x = x + self.out(y.transpose(1, 2).reshape(batch, tokens, width))
        return x + self.narrow(nn.functional.gelu(self.wide(self.second(x))))


class Gpt(nn.Module):
    """12 layers of 256, 128 tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.place = nn.Embedding(1000, 256), nn.Parameter(0.02 * torch.randn(128, 256))
        self.blocks = nn.Sequential(*[Block(256, 4, causal=True) for _ in range(12)])
        self.norm, self.head = nn.LayerNorm(256), nn.Linear(256, 1000)

    def forward(self, tokens: Any) -> Any:
        return self.head(self.norm(self.blocks(self.embed(tokens) + self.place)))


class Residual(nn.Module):
    def __init__(self, inner: int, outer: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            *(nn.Conv2d(inner, outer, 3, stride, 1, bias=False), nn.BatchNorm2d(outer), nn.ReLU()),
            *(nn.Conv2d(outer, outer, 3, 1, 1, bias=False), nn.BatchNorm2d(outer)),
        )
        plain = inner == outer and stride == 1
        convolved = nn.Sequential(nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer))
        self.side = nn.Identity() if plain else convolved

    def forward(self, x: Any) -> Any:
        return torch.relu(self.body(x) + self.side(x))


def resnet18() -> nn.Module:
    parts = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    width = 64
    for outer, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        parts += [Residual(width, outer, stride), Residual(outer, outer, 1)]
        width = outer
    return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 1000))


def cases() -> list[Case]:
    heads = [torch.randn(1, 12, 197, 64) for _ in range(3)]
    image, layer, tokens = torch.randn(1, 3, 224, 224), torch.randn(1, 197, 768), torch.randint(0, 1000, (1, 128))
    return [
        ("linear 256x768x3072 with GELU, bf16", Gelu().bfloat16(), [torch.randn(256, 768).bfloat16()]),
        ("linear 197x768x3072 with GELU, bf16", Gelu().bfloat16(), [torch.randn(197, 768).bfloat16()]),
        ("linear 256x768x3072 with GELU, f32", Gelu(), [torch.randn(256, 768)]),
        ("softmax 1024x1000", nn.Softmax(-1), [torch.randn(1024, 1000)]),
        ("layer norm 1024x768", nn.LayerNorm(768), [torch.randn(1024, 768)]),
        ("attention of 12 heads, 197x64", Attention(), heads),
        ("layer of 768, 197 tokens, f32", Block(768, 12, causal=False), [layer]),
        ("layer of 768, 197 tokens, bf16", Block(768, 12, causal=False).bfloat16(), [layer.bfloat16()]),
        ("ResNet-18 at 224, f32", resnet18(), [image]),
        ("ResNet-18 at 224, bf16", resnet18().bfloat16(), [image.bfloat16()]),
        ("GPT of 12 layers of 256, 128 tokens, f32", Gpt(), [tokens]),
        ("GPT of 12 layers of 256, 128 tokens, bf16", Gpt().bfloat16(), [tokens]),
    ]


def compiled(module: nn.Module, inputs: list[Any], threads: int) -> tuple[Sides, dict[str, str]]:
    """What to call, and what is not right or cannot be compiled."""
    sides: Sides = {"eager": lambda: module(*inputs)}
    failed = {}
    want = module(*inputs)
    for side, backend in (("inductor", "inductor"), (OURS, "xetile")):
        options = {"target": "cpu", "threads": threads} if backend == "xetile" else None
        try:
            made = torch.compile(module, backend=backend, options=options, dynamic=False)
            got = made(*inputs)
            error = float((got - want).abs().max() / want.abs().max())
            if not error < ERROR:
                failed[side] = f"differs by {error:.2g}"
                continue
            sides[side] = lambda made=made: made(*inputs)
        except Exception as reason:  # of a compiler that another project's code calls
            failed[side] = f"{type(reason).__name__}: {reason}"[:300]
    return sides, failed


def main() -> int:
    threads, end, words = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    # One function is compiled for several types and by two backends; a reset would forget what is ready.
    torch._dynamo.config.recompile_limit = 64
    with torch.no_grad():
        ready = []
        for name, module, inputs in cases():
            if words and not any(word in name for word in words):
                continue
            if time.time() > end:
                print(json.dumps({"left_out": name, "threads": threads}), flush=True)
                continue
            ready.append((name, *compiled(module.eval(), inputs, threads)))
        print(READY, flush=True)
        cores = sys.stdin.readline().split()
        if not cores:
            return 1
        stay_on([int(core) for core in cores])
        for first in range(0, len(ready), ROWS_AT_ONCE):
            some = ready[first : first + ROWS_AT_ONCE]
            measured = rounds_of([sides for _, sides, _ in some], threads, seconds=ROUND_SECONDS)
            for (name, _, failed), times in zip(some, measured, strict=True):
                us = {side: [round(1e6 * best, 1) for best in bests] for side, bests in times.items()}
                print(json.dumps({"layer": name, "threads": threads, "failed": failed, "us": us}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
