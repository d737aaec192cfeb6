# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transposed convolutions with strides as plain ones of the input, not of one with zeros between its places.

A result at o has the filter's taps k with o + padding - dilation * k a multiple of the stride s. Results of one
remainder of o have the same taps, every s-th one. Neighbours of them that have as many taps, of the same places, are
filters of one plain convolution, in as many groups: where the dilation is 1, there are at most two of these for each
dimension, one where the stride divides the taps. Their results are interleaved. No tap is a zero, which would make NaN
of infinities that PyTorch does not multiply. With a dilation that has a divisor in common with the stride, remainders
that are no multiples of it have no taps.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

__all__ = ["convolution", "per_dimension"]

_aten = torch.ops.aten
_MOST_PRODUCTS = 8
"""Products of places and taps for each result, which are in memory."""


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
    *,
    summed: bool = False,
) -> Any:
    """`aten.convolution`; NotImplemented where nothing is gained: without strides and groups. Where several plain
    convolutions would be needed, `summed` multiplies each place of the image once, by all taps, and adds up products
    of f32, as long as these are few times the results."""
    space = x.ndim - 2
    stride, padding, dilation, output_padding = per_dimension(space, stride, padding, dilation, output_padding)
    static = all(isinstance(size, int) for size in (*x.shape[2:], *weight.shape))
    if not transposed or not static:
        return NotImplemented
    if max(stride) == 1 and groups == 1:
        return NotImplemented
    each = zip(x.shape[2:], weight.shape[2:], stride, padding, dilation, output_padding, strict=True)
    sides = [_Side.of(*numbers) for numbers in each]
    # Where some results have no taps, a bias is all that is there.
    late = bias is not None and any(side.skipped > 1 or not all(run.taps for run in side.runs) for side in sides)
    if summed and any(sum(run.taps > 0 for run in side.runs) > 1 for side in sides) and _are_few(x, weight, sides):
        whole = _cut(_interleave(*_sums(x, weight, sides, groups), sides, groups), sides)
        whole = whole if bias is None else whole + bias.reshape(-1, *[1] * space)
        return _aten._to_copy(whole, dtype=x.dtype) if whole.dtype != x.dtype else whole
    # All read one image with zeros around it, which is moved in memory once.
    image = x
    for dim, side in enumerate(sides):
        image = _window(image, dim + 2, side.first, side.places, x.shape[dim + 2])
    ordered = _in_order(weight, sides, groups)
    parts = [
        _of_runs(image, ordered, None if late else bias, runs, sides, groups)
        for runs in itertools.product(*(side.runs for side in sides))
    ]
    whole = _cut(_interleave(parts, [len(side.runs) for side in sides], sides, groups), sides)
    return whole + bias.reshape(-1, *[1] * space) if bias is not None and late else whole


def _cut(whole: torch.Tensor, sides: Sequence[_Side]) -> torch.Tensor:
    """The results, of those that all remainders compute."""
    for dim, side in enumerate(sides):
        if whole.shape[dim + 2] != side.results:
            whole = _aten.slice.Tensor(whole, dim + 2, side.offset, side.offset + side.results)
    return whole


@dataclass(frozen=True)
class _Run:
    """Remainders one behind the other, `count` of them, whose results have `taps` of the filter, from `tap` on."""

    tap: int
    count: int
    taps: int
    first: int  # the place of the image that the first tap of the first result reads


@dataclass(frozen=True)
class _Side:
    """One dimension of the image: `remainders` of the stride have results of taps, every `skipped`-th one."""

    size: int  # of the image
    results: int
    offset: int  # the first result, of those that all remainders compute
    count: int  # results of each remainder
    remainders: int
    skipped: int
    apart: int  # places between those of a remainder's taps
    runs: tuple[_Run, ...]

    def reach(self, run: _Run) -> int:
        """Places before the last one that a result is computed of."""
        return (run.taps - 1) * self.apart

    def taps_of(self, run: _Run, remainder: int) -> list[tuple[int, int]]:
        """Taps of a remainder of the run that may read the image, and the places that their first results read."""
        taps = [
            (run.tap + remainder + j * self.remainders, run.first - j * self.apart) for j in reversed(range(run.taps))
        ]
        return [(tap, first) for tap, first in taps if -self.count < first < self.size]

    @property
    def first(self) -> int:
        """The first place of the image that is read."""
        return min(run.first - self.reach(run) for run in self.runs if run.taps)

    def before(self, run: _Run) -> int:
        """Places that are read before the run's first one."""
        return run.first - self.reach(run) - self.first

    @property
    def places(self) -> int:
        """Places of the image that are read."""
        return max(run.first for run in self.runs if run.taps) + self.count - self.first

    @staticmethod
    def of(size: int, taps: int, stride: int, padding: int, dilation: int, extra: int) -> _Side:
        results = (size - 1) * stride - 2 * padding + dilation * (taps - 1) + 1 + extra
        skipped = math.gcd(stride, dilation)
        remainders, apart = stride // skipped, dilation // skipped
        # From the first result on, or the last one before it that has the first tap, where there are fewer runs then.
        starts = (padding // skipped, padding // stride * remainders)
        runs, start = min(((_runs(start, taps, remainders, apart), start) for start in starts), key=lambda r: len(r[0]))
        offset = padding - start * skipped
        return _Side(size, results, offset, -(-(offset + results) // stride), remainders, skipped, apart, runs)


def _runs(start: int, taps: int, remainders: int, apart: int) -> tuple[_Run, ...]:
    """Those of results from `start` on, which counts those that have taps, padding included."""
    runs: list[_Run] = []
    for place in range(start, start + remainders):
        tap = place * pow(apart, -1, remainders) % remainders
        run = _Run(tap, 1, len(range(tap, taps, remainders)), (place - tap * apart) // remainders)
        last = runs[-1] if runs else run
        if runs and (last.taps, last.first) == (run.taps, run.first):
            runs[-1] = _Run(last.tap, last.count + 1, last.taps, last.first)
        else:
            runs.append(run)
    return tuple(runs)


def _of_runs(
    image: torch.Tensor,
    ordered: torch.Tensor,
    bias: torch.Tensor | None,
    runs: Sequence[_Run],
    sides: Sequence[_Side],
    groups: int,
) -> torch.Tensor:
    """The results of a run in each dimension: [images * groups, remainders ..., results, places ...]."""
    space, counts = len(sides), [side.count for side in sides]
    shape = [image.shape[0] * groups, *(run.count for run in runs), ordered.shape[-1], *counts]
    if not all(run.taps for run in runs):
        return image.new_zeros(shape)
    part = image
    for dim, (run, side) in enumerate(zip(runs, sides, strict=True)):
        part = _window(part, dim + 2, side.before(run), side.count + side.reach(run), image.shape[dim + 2])
    filters = _filters(ordered, runs, sides)
    times = filters.shape[0] // (groups * ordered.shape[-1])
    if bias is not None and times > 1:
        bias = bias.reshape(groups, 1, -1).repeat(1, times, 1).reshape(-1)
    ones, zeros = [1] * space, [0] * space
    apart = [side.apart for side in sides]
    return _aten.convolution.default(part, filters, bias, ones, zeros, apart, False, zeros, groups).reshape(shape)


def _in_order(weight: torch.Tensor, sides: Sequence[_Side], groups: int) -> torch.Tensor:
    """Filters [taps ..., channels, results], of several groups [groups, taps ..., channels, results], of filters
    [groups * channels, results, taps ...]: the taps of a run before those of the next one, in each the last taps of
    all remainders first, as plain convolutions have them."""
    space = len(sides)
    filters = weight.permute(*range(2, space + 2), 0, 1)
    if groups > 1:
        filters = weight.reshape(groups, -1, *weight.shape[1:]).permute(0, *range(3, space + 3), 1, 2)
    for dim, side in enumerate(sides, filters.ndim - space - 2):
        pieces = [
            _aten.slice.Tensor(filters, dim, tap, tap + run.count)
            for run in side.runs
            for tap in reversed(range(run.tap, run.tap + run.taps * side.remainders, side.remainders))
        ]
        filters = torch.cat(pieces, dim) if len(pieces) > 1 else filters
    return filters


def _filters(ordered: torch.Tensor, runs: Sequence[_Run], sides: Sequence[_Side]) -> torch.Tensor:
    """Filters [groups * remainders ... * results, channels, taps ...] of those in order."""
    space, filters = len(sides), ordered
    first = filters.ndim - space - 2
    for dim, (run, side) in enumerate(zip(runs, sides, strict=True), first):
        start = sum(each.taps * each.count for each in side.runs[: side.runs.index(run)])
        filters = _window(filters, dim, start, run.taps * run.count, filters.shape[dim])
    # Kernels take 8 dimensions: those of three with groups are split one by one.
    several = [dim for dim, run in enumerate(runs) if run.count > 1]
    at_once = [several] if len(several) + filters.ndim <= 8 else [[dim] for dim in reversed(several)]
    for dims in at_once:
        filters = _remainders_behind(filters, dims, runs) if dims else filters
    filters = filters.permute(*range(first), space + 1 + first, space + first, *range(first, space + first))
    return filters.reshape(-1, *filters.shape[first + 1 :])


def _remainders_behind(filters: torch.Tensor, dims: Sequence[int], runs: Sequence[_Run]) -> torch.Tensor:
    """Filters with taps [k * s] in `dims` as [k], and [channels, s ... * results]."""
    space = len(runs)
    first = filters.ndim - space - 2
    split, kept, behind = [*filters.shape[:first]], [*range(first)], []
    for dim, count in enumerate(filters.shape[first:-2]):
        kept.append(len(split))
        if dim in dims:
            behind.append(len(split) + 1)
            split += [runs[dim].taps, runs[dim].count]
        else:
            split.append(count)
    end = len(split)
    filters = filters.reshape(*split, *filters.shape[-2:]).permute(*kept, end, *behind, end + 1)
    return filters.reshape(*filters.shape[: first + space + 1], -1)


def _are_few(x: torch.Tensor, weight: torch.Tensor, sides: Sequence[_Side]) -> bool:
    """True if products of all places and taps are few times the results."""
    products = math.prod(x.shape[2:]) * math.prod(weight.shape[2:])
    return products <= _MOST_PRODUCTS * math.prod(side.results for side in sides)


def _sums(
    x: torch.Tensor, weight: torch.Tensor, sides: Sequence[_Side], groups: int
) -> tuple[list[torch.Tensor], list[int]]:
    """The results of each remainder in each dimension, in f32 at least, and how many there are in each."""
    space, ones, zeros = len(sides), [1] * len(sides), [0] * len(sides)
    if x.dtype in (torch.float16, torch.bfloat16):
        x, weight = (_aten._to_copy(each, dtype=torch.float32) for each in (x, weight))
    filters = weight.reshape(groups, weight.shape[0] // groups, -1).transpose(1, 2)
    filters = filters.reshape(-1, weight.shape[0] // groups, *ones)
    products = _aten.convolution.default(x, filters, None, ones, zeros, ones, False, zeros, groups)
    products = products.reshape(x.shape[0] * groups, weight.shape[1], *weight.shape[2:], *x.shape[2:])
    shape = [products.shape[0], *ones, weight.shape[1], *(side.count for side in sides)]
    remainders = [[side.taps_of(run, i) for run in side.runs for i in range(run.count)] for side in sides]
    sums = []
    for each in itertools.product(*remainders):
        total = None
        for taps in itertools.product(*each):
            part = products
            for dim, ((tap, first), side) in enumerate(zip(taps, sides, strict=True)):
                part = _aten.slice.Tensor(part, 2 + dim, tap, tap + 1)
                part = _window(part, 2 + space + dim, first, side.count, x.shape[dim + 2])
            part = part.reshape(shape)
            total = part if total is None else total + part
        sums.append(products.new_zeros(shape) if total is None else total)
    return sums, [len(each) for each in remainders]


def _interleave(
    parts: Sequence[torch.Tensor], numbers: Sequence[int], sides: Sequence[_Side], groups: int
) -> torch.Tensor:
    """Results [images, groups * results, places ...] of those of some remainders each, of which there are `numbers` in
    each dimension, the last one's one after the other."""
    space = len(sides)
    for dim in reversed(range(space)):
        count = numbers[dim]
        parts = [
            torch.cat(parts[first : first + count], dim + 1) if count > 1 else parts[first]
            for first in range(0, len(parts), count)
        ]
    (whole,) = parts
    images, results = whole.shape[0] // groups, whole.shape[space + 1]
    # Behind each dimension of the image the remainders of its places. Kernels take 8 dimensions: zeros in three of the
    # image come behind it.
    order = [0, space + 1]
    for dim in range(space):
        order += [space + 2 + dim, dim + 1]
    whole = whole.permute(order)
    if space < 3:
        for dim, side in enumerate(sides):
            whole = _with_zeros(whole, 2 * dim + 3, side.skipped)
    places = [whole.shape[2 * dim + 2] * whole.shape[2 * dim + 3] for dim in range(space)]
    whole = whole.reshape(images, groups * results, *places)
    if space >= 3:
        for dim, side in enumerate(sides):
            whole = _with_zeros(whole, dim + 2, side.skipped)
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


def _with_zeros(x: torch.Tensor, dim: int, times: int) -> torch.Tensor:
    """Each place followed by zeros, `times` places in all."""
    if times == 1:
        return x
    behind = x.ndim - 1 - dim
    spread = _aten.constant_pad_nd(x.unsqueeze(dim + 1), [0, 0] * behind + [0, times - 1], 0)
    return spread.reshape(*x.shape[:dim], x.shape[dim] * times, *x.shape[dim + 1 :])
