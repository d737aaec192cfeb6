# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Samples of elementwise operators and reductions in shapes that PyTorch's database lacks: all ranks, odd, zero."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import torch
from torch.testing import make_tensor
from torch.testing._internal.opinfo.core import BinaryUfuncInfo, OpInfo, ReductionOpInfo, SampleInput, UnaryUfuncInfo

__all__ = ["has", "samples"]

RANKS = range(6)
KINDS = ("odd", "one", "empty")
_MOST = {0: 1, 1: 257, 2: 65, 3: 17, 4: 9, 5: 5}


def has(op: OpInfo) -> bool:
    """True for operators whose arguments follow from a shape."""
    return isinstance(op, (UnaryUfuncInfo, BinaryUfuncInfo, ReductionOpInfo))


def samples(op: OpInfo, dtype: torch.dtype, seed: int) -> Iterator[SampleInput]:
    """One for each rank and kind of sizes, without gradients; the same ones for a seed."""
    rng = random.Random(f"{seed}/{op.name}/{op.variant_test_name}/{dtype}")
    for rank in RANKS:
        for kind in KINDS if rank else ("one",):
            shape = _shape(rng, rank, kind)
            if isinstance(op, UnaryUfuncInfo):
                yield _unary(op, dtype, shape)
            elif isinstance(op, BinaryUfuncInfo):
                yield _binary(op, dtype, shape, rng)
            else:
                yield from _reduction(op, dtype, shape, rng)


def _shape(rng: random.Random, rank: int, kind: str) -> list[int]:
    if kind == "one":
        return [1] * rank
    shape = [
        rng.choice([size for size in (3, 5, 7, 9, 17, 33, 65, 129, 257) if size <= _MOST[rank]]) for _ in range(rank)
    ]
    if kind == "empty":
        shape[rng.randrange(rank)] = 0
    return shape


def _unary(op: UnaryUfuncInfo, dtype: torch.dtype, shape: list[int]) -> SampleInput:
    low, high = op.domain
    tensor = make_tensor(shape, device="cpu", dtype=dtype, low=low, high=high)
    return SampleInput(tensor, kwargs=op.sample_kwargs("cpu", dtype, tensor)[0])


def _binary(op: BinaryUfuncInfo, dtype: torch.dtype, shape: list[int], rng: random.Random) -> SampleInput:
    """The second argument is broadcast along some dimensions, or lacks the first ones."""
    other = [size if rng.random() < 0.7 else 1 for size in shape]
    if rng.random() < 0.3:
        other = other[rng.randrange(len(other) + 1) :]
    left = make_tensor(shape, device="cpu", dtype=dtype, **op.lhs_make_tensor_kwargs)
    right = make_tensor(other, device="cpu", dtype=dtype, **op.rhs_make_tensor_kwargs)
    return SampleInput(left, args=(right,))


def _reduction(op: ReductionOpInfo, dtype: torch.dtype, shape: list[int], rng: random.Random) -> Iterator[SampleInput]:
    """Along some dimensions and, drawn, along all."""
    tensor = make_tensor(shape, device="cpu", dtype=dtype)
    ways = list(op.generate_args_kwargs(tensor))
    args, kwargs = rng.choice(ways) if ways else ((), {})
    dims: dict[str, Any] = {}
    if shape and rng.random() < 0.8:
        some = rng.sample(range(len(shape)), rng.randint(1, len(shape)) if op.supports_multiple_dims else 1)
        dims = {"dim": tuple(some) if len(some) > 1 else some[0], "keepdim": rng.random() < 0.5}
    yield SampleInput(tensor, args=args, kwargs={**kwargs, **dims})
