# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transposed convolutions with strides as plain ones of the input, not of one with zeros between its places.

A result at o has the filter's taps k with o + padding - k a multiple of the stride s. Results of one remainder of o
have the same taps, every s-th one. The filters of all remainders are filters of one plain convolution, whose results
are interleaved. Where the stride does not divide the taps, some of these are zeros.
"""

from __future__ import annotations

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
    filters, part, counts, offsets = weight, x, [], []
    for dim, (s, p, tap, size, result) in enumerate(zip(stride, padding, taps, sizes, results, strict=True)):
        # The first place that is kept, and how many taps each remainder has, with zeros.
        first, kept = p // s, -(-tap // s)
        counts.append(-(-(p + result) // s) - first)
        offsets.append(p % s)
        part = _window(part, dim + 2, first - kept + 1, counts[-1] + kept - 1, size)
        filters = _window(filters, dim + 2, 0, s * kept, tap)
    # From the filter's dimensions [channels, results, k * s ...] to [k ..., channels, s ..., results]: rows of memory,
    # whose order along each k is turned around.
    split = [n for s, size in zip(stride, filters.shape[2:], strict=True) for n in (size // s, s)]
    filters = filters.reshape(*weight.shape[:2], *split)
    filters = filters.permute(*range(2, 2 * space + 2, 2), 0, *range(3, 2 * space + 2, 2), 1)
    filters = filters.reshape(*filters.shape[:space], weight.shape[0], -1)
    for dim in range(space):
        pieces = [_aten.slice.Tensor(filters, dim, k, k + 1) for k in reversed(range(filters.shape[dim]))]
        filters = torch.cat(pieces, dim) if len(pieces) > 1 else filters
    filters = filters.permute(space + 1, space, *range(space))
    ones, zeros = [1] * space, [0] * space
    biases = None if bias is None else bias.repeat(math.prod(stride))
    together = _aten.convolution.default(part, filters, biases, ones, zeros, ones, False, zeros, 1)
    # Behind each dimension of the image the remainders of its places.
    together = together.reshape(x.shape[0], *stride, weight.shape[1], *counts)
    order = [0, space + 1]
    for dim in range(space):
        order += [space + 2 + dim, dim + 1]
    whole = together.permute(order).reshape(
        x.shape[0], weight.shape[1], *map(math.prod, zip(counts, stride, strict=True))
    )
    for dim, (first, result) in enumerate(zip(offsets, results, strict=True)):
        if whole.shape[dim + 2] != result:
            whole = _aten.slice.Tensor(whole, dim + 2, first, first + result)
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
