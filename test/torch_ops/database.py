# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's operator database: which operators and types there are, and which of their samples are tried."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Iterator
from typing import Any

import shapes as drawn_shapes
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import OpInfo
from torch.utils import _pytree as pytree

__all__ = ["chosen", "names", "operators", "pairs", "samples"]

MOST_SAMPLES = 300
"""How many samples of an operator and a type are looked at."""


@functools.cache
def operators() -> dict[str, OpInfo]:
    """Name, with the variant's behind a point -> operator."""
    return {full_name(op): op for op in op_db}


def full_name(op: OpInfo) -> str:
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name


def names(wanted: list[str] | None, draw: int | None, seed: int) -> list[str]:
    """The operators called `wanted`, or all; `draw` of them by random. ValueError for an unknown name."""
    found = list(operators())
    if wanted:
        unknown = [name for name in wanted if not any(_is_called(each, name) for each in found)]
        if unknown:
            raise ValueError(f"expected names of PyTorch's operator database, got {', '.join(unknown)}")
        found = [each for each in found if any(_is_called(each, name) for name in wanted)]
    if draw is not None and draw < len(found):
        found = sorted(random.Random(f"{seed}/operators").sample(found, draw))
    return found


def _is_called(full: str, name: str) -> bool:
    return full == name or operators()[full].name == name


def pairs(found: list[str], types: list[str] | None, shapes: bool = False) -> list[tuple[str, str]]:
    """Each operator with each type that it lists for CPUs; with `shapes` those that `shapes.py` knows."""
    return [
        (name, str(dtype).removeprefix("torch."))
        for name in found
        if not shapes or drawn_shapes.has(operators()[name])
        for dtype in sorted(operators()[name].supported_dtypes("cpu"), key=str)
        if not types or str(dtype).removeprefix("torch.") in types
    ]


def samples(name: str, type_name: str, seed: int, shapes: bool = False) -> Iterator[Any]:
    """The samples, with leaves that require gradients where the operator has such, or with `shapes` those of
    `shapes.py`; the same ones for a seed."""
    op, dtype = operators()[name], getattr(torch, type_name)
    _seed(seed)
    if shapes:
        return drawn_shapes.samples(op, dtype, seed)
    gradients = op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
    return itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=gradients), MOST_SAMPLES)


def chosen(name: str, type_name: str, seed: int, count: int, shapes: bool = False) -> list[int]:
    """Numbers of `count` samples which differ: in ranks, in being empty, in strides, in arguments; all of `shapes`."""
    if shapes:
        return list(range(len(list(samples(name, type_name, seed, shapes)))))
    kinds: dict[Any, list[int]] = {}
    for number, sample in enumerate(samples(name, type_name, seed)):
        kinds.setdefault(_kind(sample), []).append(number)
    rng = random.Random(f"{seed}/{name}/{type_name}")
    found: list[int] = []
    groups = list(kinds.values())
    rng.shuffle(groups)
    while len(found) < count and groups:
        for group in groups:
            found.append(group.pop(rng.randrange(len(group))))
        groups = [group for group in groups if group]
    return found[:count]


def _kind(sample: Any) -> Any:
    values, _ = pytree.tree_flatten((sample.input, sample.args))
    return (
        tuple(_kind_of(value) for value in values),
        tuple((name, _kind_of(value)) for name, value in sorted(sample.kwargs.items())),
    )


def _kind_of(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return type(value).__name__, value if isinstance(value, (bool, str)) else None
    if value.layout is not torch.strided:
        return str(value.layout)
    return value.ndim, value.numel() == 0, value.is_contiguous(), value.dtype


def _seed(seed: int) -> None:
    import numpy as np

    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed % (1 << 32))
