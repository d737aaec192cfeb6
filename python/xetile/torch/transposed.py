# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transposed convolutions with strides as plain ones, without products with zeros.

A result at o has the filter's taps k with o + padding - k a multiple of the stride s. Results of one remainder of o
have the same taps, every s-th one: a plain convolution of the input. Those of all remainders are interleaved.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import torch

__all__ = ["convolution", "per_dimension"]

_aten = torch.ops.aten


def per_dimension(space: int, *lists: Sequence[int]) -> list[list[int]]:
    """A number for each of `space` dimensions of the image in each of the lists; one stands for all."""
    return [[*each] * (space if len(each) == 1 else 1) for each in lists]


def convolution(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Any:
    """`aten.convolution`; NotImplemented where nothing is gained: no strides, dilated or grouped filters."""
    space = x.ndim - 2
    stride, padding, dilation, output_padding = per_dimension(space, stride, padding, dilation, output_padding)
    sizes, taps = x.shape[2:], weight.shape[2:]
    static = all(isinstance(size, int) for size in (*sizes, *taps))
    if not transposed or groups != 1 or max(stride) == 1 or max(dilation) != 1 or not static:
        return NotImplemented
    results = [
        (size - 1) * s - 2 * p + tap + extra
        for size, s, p, tap, extra in zip(sizes, stride, padding, taps, output_padding, strict=True)
    ]
    # Results of each remainder; some are too many where the stride divides no size.
    counts = [math.ceil(result / s) for result, s in zip(results, stride, strict=True)]
    plain = weight.transpose(0, 1).flip(list(range(2, weight.ndim)))
    parts = []
    for remainders in itertools.product(*map(range, stride)):
        part, filters = x, plain
        for dim, remainder in enumerate(remainders):
            s, tap, size = stride[dim], taps[dim], sizes[dim]
            first, start = (remainder + padding[dim]) % s, (remainder + padding[dim]) // s
            kept = len(range(first, tap, s))
            low, count = start - kept + 1, counts[dim] + kept - 1
            if kept == 0 or low >= size or low + count <= 0:
                part = None
                break
            # The taps first, first + s, ... of the filter, which is reversed.
            last = first + s * (kept - 1)
            filters = _aten.slice.Tensor(filters, dim + 2, tap - 1 - last, tap - first, s)
            part = _window(part, dim + 2, low, count, size)
        if part is None:
            parts.append(_zeros(x, weight.shape[1], counts, bias))
        else:
            ones = [1] * space
            parts.append(_aten.convolution.default(part, filters, bias, ones, [0] * space, ones, False, [0] * space, 1))
    together = torch.stack(parts).reshape(*stride, *parts[0].shape)
    # Behind each dimension of the image the remainders of its places.
    order = [space, space + 1]
    for dim in range(space):
        order += [space + 2 + dim, dim]
    whole = together.permute(order).reshape(*parts[0].shape[:2], *(c * s for c, s in zip(counts, stride, strict=True)))
    for dim, result in enumerate(results):
        whole = _aten.slice.Tensor(whole, dim + 2, 0, result) if whole.shape[dim + 2] != result else whole
    return whole


def _window(x: torch.Tensor, dim: int, start: int, count: int, size: int) -> torch.Tensor:
    """`count` places from `start` on, zeros where there is nothing."""
    end = start + count
    if start > 0 or end < size:
        x = _aten.slice.Tensor(x, dim, max(start, 0), min(end, size))
    before, behind = max(-start, 0), max(end - size, 0)
    if before or behind:
        x = _aten.constant_pad_nd(x, [0, 0] * (x.ndim - 1 - dim) + [before, behind], 0)
    return x


def _zeros(x: torch.Tensor, channels: int, counts: Sequence[int], bias: torch.Tensor | None) -> torch.Tensor:
    """Elements that no tap reaches: zeros, or the bias."""
    empty = x.new_zeros((x.shape[0], channels, *counts))
    return empty if bias is None else empty + bias.reshape(-1, *[1] * len(counts))
