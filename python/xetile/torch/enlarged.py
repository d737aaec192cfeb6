# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Images enlarged a whole number of times, each element repeated: views and copies, no indices computed in f32."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

__all__ = ["nearest"]


def nearest(x: torch.Tensor, output_size: Sequence[int] | None, scale_factors: Sequence[float] | None) -> Any:
    """`aten.upsample_nearest` of any dimensions; NotImplemented where sides are enlarged by other factors."""
    sizes = x.shape[2:]
    if not all(isinstance(size, int) for size in x.shape):
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


def _repeats(size: int, times: int) -> bool:
    """True if PyTorch, which multiplies places by the factor's reciprocal in f32, takes each element as often."""
    places = np.arange(size * times, dtype=np.int64)
    taken = np.floor(places.astype(np.float32) * np.float32(1 / times)).astype(np.int64)
    return bool(np.array_equal(np.minimum(taken, size - 1), places // times))
