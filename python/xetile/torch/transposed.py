# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transposed convolutions with strides as plain ones of the input, not of one with zeros between its places.

A result at o has the filter's taps k with o + padding - dilation * k a multiple of the stride s. Results of one
remainder of o have the same taps, every s-th one. The filters of all remainders are filters of one plain convolution,
in as many groups, whose results are interleaved. Where the stride does not divide the taps, some of these are zeros.
With a dilation that has a divisor in common with the stride, remainders that are no multiples of it have no taps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

__all__ = ["convolution", "per_dimension"]

_aten = torch.ops.aten
_TILE = 64
"""Filters that kernels multiply at once."""


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
    """`aten.convolution`; NotImplemented where nothing is gained: without strides and groups."""
    space = x.ndim - 2
    stride, padding, dilation, output_padding = per_dimension(space, stride, padding, dilation, output_padding)
    sizes = x.shape[2:]
    static = all(isinstance(size, int) for size in (*sizes, *weight.shape))
    if not transposed or not static:
        return NotImplemented
    if max(stride) == 1 and groups == 1:
        return NotImplemented
    each = [*zip(sizes, weight.shape[2:], stride, padding, dilation, output_padding, strict=True)]
    # Remainders without taps have filters of zeros where a tile has room for them, else zeros among the results.
    filled = weight.shape[1] * math.prod(stride) <= _TILE
    # Kernels take 8 dimensions, which those with remainders have without zeros.
    filled |= space > 2 and any(math.gcd(s, d) < s for s, d in zip(stride, dilation, strict=True))
    sides = [_Side.of(*numbers, filled=filled) for numbers in each]
    part = x
    for dim, (side, size) in enumerate(zip(sides, sizes, strict=True)):
        part = _window(part, dim + 2, side.first - side.reach, side.count + side.reach, size)
    filters = _filters_of_remainders(weight, sides, groups)
    ones, zeros = [1] * space, [0] * space
    apart = [side.apart for side in sides]
    # Where some remainders have no taps, a bias is all that is there.
    skips = math.prod(side.skipped for side in sides) > 1
    biases = None
    if bias is not None and not skips:
        biases = bias.reshape(groups, 1, -1).repeat(1, filters.shape[0] // bias.shape[0], 1).reshape(-1)
    together = _aten.convolution.default(part, filters, biases, ones, zeros, apart, False, zeros, groups)
    is_whole = all(side.remainders == side.skipped == 1 for side in sides)
    whole = together if is_whole else _interleave(together, sides, groups)
    for dim, side in enumerate(sides):
        if whole.shape[dim + 2] != side.results:
            whole = _aten.slice.Tensor(whole, dim + 2, side.offset, side.offset + side.results)
    return whole if bias is None or not skips else whole + bias.reshape(-1, *ones)


@dataclass(frozen=True)
class _Side:
    """One dimension of the image: `remainders` of the stride have taps, every `skipped`-th, `kept` each, `apart`."""

    results: int
    taps: int  # of the filter, with zeros between its own, which are `spread`
    spread: int
    before: int  # zeros before its taps
    remainders: int
    skipped: int
    kept: int
    apart: int
    first: int  # the first place that all remainders compute, in the image
    count: int  # places of each remainder
    offset: int  # the first result of them

    @property
    def reach(self) -> int:
        """Places before the last one that a result is computed of."""
        return (self.kept - 1) * self.apart

    @staticmethod
    def of(size: int, taps: int, stride: int, padding: int, dilation: int, extra: int, *, filled: bool) -> _Side:
        results = (size - 1) * stride - 2 * padding + dilation * (taps - 1) + 1 + extra
        common = math.gcd(stride, dilation)
        spread, remainders, apart = 1, stride // common, dilation // common
        # Where taps of remainders are not side by side, or all remainders have filters.
        if (remainders > 1 and apart > 1) or (filled and common > 1):
            spread, remainders, apart, common = dilation, stride, 1, 1
        taps, before = (taps - 1) * spread + 1, 0
        # Zeros that no remainder has more taps for make the first result one of the first place.
        if remainders == stride and -(-(taps + -padding % stride) // stride) == -(-taps // stride):
            before = -padding % stride
        taps, padding = taps + before, padding + before
        first = padding // stride
        count = -(-(padding + results) // stride) - first
        return _Side(
            results,
            taps,
            spread,
            before,
            remainders,
            common,
            -(-taps // remainders),
            apart,
            first,
            count,
            padding % stride,
        )


def _filters_of_remainders(weight: torch.Tensor, sides: Sequence[_Side], groups: int) -> torch.Tensor:
    """Filters [groups * remainders ... * results, channels, taps ...] of filters [channels, results, taps ...]."""
    space, filters = len(sides), weight
    if all(side.remainders == 1 for side in sides):
        taps = range(3, space + 3)
        filters = filters.reshape(groups, -1, *weight.shape[1:]).permute(0, 2, 1, *taps)
        return filters.reshape(-1, *filters.shape[2:]).flip([*range(2, space + 2)])
    for dim, side in enumerate(sides):
        filters = _with_zeros(filters, dim + 2, side.spread)
        filters = _window(filters, dim + 2, -side.before, side.remainders * side.kept, filters.shape[dim + 2])
    # From the filter's dimensions [channels, results, k * s ...] to [k ..., channels, s ..., results]: rows of memory,
    # whose order along each k is turned around. Kernels take 8 dimensions: groups are taken out of channels behind it.
    split = [n for side in sides for n in (side.kept, side.remainders)]
    filters = filters.reshape(*weight.shape[:2], *split)
    filters = filters.permute(*range(2, 2 * space + 2, 2), 0, *range(3, 2 * space + 2, 2), 1)
    filters = filters.reshape(*filters.shape[:space], weight.shape[0], -1)
    first = 0
    if groups > 1:
        filters = filters.reshape(*filters.shape[:space], groups, -1, filters.shape[-1])
        filters = filters.permute(space, *range(space), space + 1, space + 2)
        first = 1
    taps = range(first, first + space)
    for dim in taps:
        pieces = [_aten.slice.Tensor(filters, dim, k, k + 1) for k in reversed(range(filters.shape[dim]))]
        filters = torch.cat(pieces, dim) if len(pieces) > 1 else filters
    filters = filters.permute(*range(first), first + space + 1, first + space, *taps)
    return filters.reshape(-1, *filters.shape[first + 1 :])


def _interleave(together: torch.Tensor, sides: Sequence[_Side], groups: int) -> torch.Tensor:
    """Results [images, groups * remainders ... * results, places ...], those of remainders behind one another."""
    space, images = len(sides), together.shape[0]
    if space > 2 and all(side.remainders == 1 for side in sides):
        for dim, side in enumerate(sides):
            together = _with_zeros(together, dim + 2, side.skipped)
        return together
    remainders, counts = [side.remainders for side in sides], [side.count for side in sides]
    # Images and groups are one: kernels take 8 dimensions.
    together = together.reshape(images * groups, *remainders, -1, *counts)
    # Behind each dimension of the image the remainders of its places.
    order = [0, space + 1]
    for dim in range(space):
        order += [space + 2 + dim, dim + 1]
    whole = together.permute(order)
    for dim, side in enumerate(sides):
        whole = _with_zeros(whole, 2 * dim + 3, side.skipped)
    places = [side.count * side.remainders * side.skipped for side in sides]
    return whole.reshape(images, groups * whole.shape[1], *places)


def _window(x: torch.Tensor, dim: int, start: int, count: int, size: int) -> torch.Tensor:
    """`count` places from `start` on, zeros where there is nothing."""
    end = start + count
    if start > 0 or end < size:
        x = _aten.slice.Tensor(x, dim, max(start, 0), min(end, size))
    before, behind = max(-start, 0), max(end - size, 0)
    if before or behind:
        x = _aten.constant_pad_nd(x, [0, 0] * (x.ndim - 1 - dim) + [before, behind], 0)
    return x


def _with_zeros(x: torch.Tensor, dim: int, times: int) -> torch.Tensor:
    """Each place followed by zeros, `times` places in all."""
    if times == 1:
        return x
    behind = x.ndim - 1 - dim
    spread = _aten.constant_pad_nd(x.unsqueeze(dim + 1), [0, 0] * behind + [0, times - 1], 0)
    return spread.reshape(*x.shape[:dim], x.shape[dim] * times, *x.shape[dim + 1 :])
