# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Images enlarged a whole number of times, each element repeated: views and copies, no indices computed in f32."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import fx

__all__ = ["keep_enlarged", "nearest"]


def nearest(x: torch.Tensor, output_size: Sequence[int] | None, scale_factors: Sequence[float] | None) -> Any:
    """`aten.upsample_nearest` of any dimensions; NotImplemented where sides are enlarged by other factors."""
    sizes = x.shape[2:]
    # Of channels last the result has them last, too.
    if not all(isinstance(size, int) for size in x.shape) or not x.is_contiguous():
        return NotImplemented
    if scale_factors is not None:
        times = [int(factor) for factor in scale_factors]
        whole = times == [*scale_factors]
    else:
        times = [new // size for new, size in zip(output_size or (), sizes, strict=True)]
        whole = [*(output_size or ())] == [size * time for size, time in zip(sizes, times, strict=True)]
    if not whole or min(times) < 1 or not all(map(_repeats, sizes, times)):
        return NotImplemented
    apart = [n for size in sizes for n in (size, 1)]
    repeated = [n for size, time in zip(sizes, times, strict=True) for n in (size, time)]
    enlarged = [size * time for size, time in zip(sizes, times, strict=True)]
    return x.reshape(*x.shape[:2], *apart).expand(*x.shape[:2], *repeated).reshape(*x.shape[:2], *enlarged)


def keep_enlarged(graph: fx.GraphModule) -> fx.GraphModule:
    """The graph, whose images are enlarged by `nearest` where that takes them: PyTorch makes gathers of them before."""
    for node in graph.graph.nodes:
        if node.op == "call_function" and node.target is torch.nn.functional.interpolate:
            node.target = _interpolate
    graph.recompile()
    return graph


def _interpolate(
    x: torch.Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", *rest: Any, **others: Any
) -> Any:
    """`torch.nn.functional.interpolate`."""
    if mode == "nearest" and not any([*rest, *others.values()]):
        space = x.ndim - 2
        sizes = [size] * space if isinstance(size, int) else size
        factors = [scale_factor] * space if isinstance(scale_factor, (int, float)) else scale_factor
        if (whole := nearest(x, sizes, factors)) is not NotImplemented:
            return whole
    return torch.nn.functional.interpolate(x, size, scale_factor, mode, *rest, **others)


def _repeats(size: int, times: int) -> bool:
    """True if PyTorch, which multiplies places by the factor's reciprocal in f32, takes each element as often."""
    places = np.arange(size * times, dtype=np.int64)
    taken = np.floor(places.astype(np.float32) * np.float32(1 / times)).astype(np.int64)
    return bool(np.array_equal(np.minimum(taken, size - 1), places // times))
