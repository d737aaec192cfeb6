# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Softmax, pack, unpack, random numbers, and Winograd's transforms, which together are a convolution."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from payloads import FLOATS, INTEGERS, NUMBERS, NUMPY, SHAPES, Case, Draw, Payload, Spec, exactly, nearly, tensor

__all__ = ["specs"]

# Sizes of what comes out of a block, and of a filter.
WINOGRAD = {"F_2_3": (2, 3), "F_4_3": (4, 3), "F_2_5": (2, 5)}


def _softmax(dtype: str, rank: int, draw: Draw) -> Case:
    payload, shape = Payload(), draw.shape(rank)
    axis = int(draw.rng.integers(rank))
    array = draw.array(shape, dtype)
    name, start, kind = payload.argument(array, dtype), payload.empty(shape, dtype), tensor(shape, dtype)
    result = payload.line(f"linalg.softmax dimension({axis}) ins({name} : {kind}) outs({start} : {kind}) -> {kind}")
    wide = array.astype(np.float64)
    raised = np.exp(wide - wide.max(axis, keepdims=True, initial=-np.inf)) if array.size else wide
    return payload.case([result], [nearly(raised / raised.sum(axis, keepdims=True), dtype, ulps=8)])


def _layout(draw: Draw, rank: int) -> tuple[list[int], list[int], list[int], str]:
    """Positions, tiles, the order of outer dimensions, and all as attributes."""
    positions = draw.permutation(rank)[: int(draw.rng.integers(0, rank + 1))]
    tiles = [draw.choice([1, 2, 3, 4, 7, 8]) for _ in positions]
    order = draw.permutation(rank) if draw.rng.random() < 0.5 else list(range(rank))
    text = f"outer_dims_perm = [{', '.join(map(str, order))}] " if order != list(range(rank)) else ""
    text += f"inner_dims_pos = [{', '.join(map(str, positions))}] inner_tiles = [{', '.join(map(str, tiles))}]"
    return positions, tiles, order, text


def _packed(array: np.ndarray, positions: list[int], tiles: list[int], order: list[int], padding: object) -> np.ndarray:
    rank = array.ndim
    tile = dict(zip(positions, tiles, strict=True))
    ends = [(0, -size % tile.get(axis, 1)) for axis, size in enumerate(array.shape)]
    padded = np.pad(array, ends, constant_values=padding) if rank else array
    split = padded.reshape([part for axis, size in enumerate(padded.shape)
                            for part in (size // tile.get(axis, 1), tile.get(axis, 1))])  # fmt: skip
    rest = [2 * axis + 1 for axis in range(rank) if axis not in tile]
    moved = split.transpose([2 * axis for axis in order] + [2 * axis + 1 for axis in positions] + rest)
    return moved.reshape(moved.shape[: rank + len(positions)])


def _pack(dtype: str, rank: int, draw: Draw) -> Case:
    payload, shape = Payload(), draw.shape(rank)
    positions, tiles, order, text = _layout(draw, rank)
    array = draw.array(shape, dtype)
    padding = draw.array((), dtype)[()]
    after = _packed(array, positions, tiles, order, padding)
    name = payload.argument(array, dtype)
    value = payload.constant(padding, dtype)
    start = payload.empty(after.shape, dtype)
    result = payload.line(
        f"linalg.pack {name} padding_value({value} : {dtype}) {text} into {start} : {tensor(shape, dtype)} -> "
        f"{tensor(after.shape, dtype)}"
    )
    return payload.case([result], [exactly(after, dtype)])


def _unpack(dtype: str, rank: int, draw: Draw) -> Case:
    payload, shape = Payload(), draw.shape(rank)
    positions, tiles, order, text = _layout(draw, rank)
    array = draw.array(shape, dtype)
    packed = _packed(array, positions, tiles, order, NUMPY[dtype](1))
    name, start = payload.argument(packed, dtype), payload.empty(shape, dtype)
    result = payload.line(
        f"linalg.unpack {name} {text} into {start} : {tensor(packed.shape, dtype)} -> {tensor(shape, dtype)}"
    )
    return payload.case([result], [exactly(array, dtype)])


def _random_numbers(dtype: str, draw: Draw) -> Case:
    payload, shape = Payload(), draw.shape(2)
    low, high, seed = -5.0, 11.0, int(draw.rng.integers(1 << 20))
    values = [payload.constant(low, "f64"), payload.constant(high, "f64"), payload.constant(seed, "i32")]
    start, kind = payload.empty(shape, dtype), tensor(shape, dtype)
    result = payload.line(
        f"linalg.fill_rng_2d ins({', '.join(values)} : f64, f64, i32) outs({start} : {kind}) -> {kind}"
    )
    rows, columns = (each.astype(np.int32) for each in np.indices(shape))
    with np.errstate(over="ignore"):
        first = (rows + np.int32(seed)) * np.int32(1103515245) + np.int32(12345)
        second = (columns + first) * np.int32(1103515245) + np.int32(12345)
    exact = (2147483647.0 + second.astype(np.float64)) * ((high - low) * 2.3283064e-10) + low
    if dtype[0] == "i":
        return payload.case([result], [exactly(np.trunc(exact), dtype)])
    return payload.case([result], [nearly(exact, dtype, np.abs(exact) + 16, parts=2)])


def _winograd(fmr: str, dtype: str, draw: Draw) -> Case:
    """A convolution of channels last by all three transforms: each has the others as its reference."""
    out, window = WINOGRAD[fmr]
    block = out + window - 1
    n, c, f = draw.size(3, least=1), draw.size(7, least=1), draw.size(7, least=1)
    # Blocks of a filter of one row have one row.
    kernel = [(window, window), (window, 1), (1, window)][int(draw.rng.integers(3))]
    blocks = [draw.size(5, least=1) for _ in kernel]
    outs = [count * out if size > 1 else count for count, size in zip(blocks, kernel, strict=True)]
    shape = [size + each - 1 for size, each in zip(outs, kernel, strict=True)]
    alpha = [block if size > 1 else 1 for size in kernel]
    array, weights = draw.array((n, *shape, c), dtype), draw.array((f, *kernel, c), dtype)
    payload = Payload()

    def transform(name: str, value: str, before: tuple[int, ...], after: tuple[int, ...]) -> str:
        start = payload.filled(0, after, dtype) if name == "output" else payload.empty(after, dtype)
        return payload.line(
            f"linalg.winograd_{name}_transform fmr({fmr}) ins({value} : {tensor(before, dtype)}) "
            f"outs({start} : {tensor(after, dtype)}) -> {tensor(after, dtype)}"
        )

    names = [payload.argument(array, dtype), payload.argument(weights, dtype)]
    g_shape, d_shape = (*alpha, c, f), (*alpha, *blocks, n, c)
    g = transform("filter", names[1], weights.shape, g_shape)
    d = transform("input", names[0], array.shape, d_shape)
    m_shape = (*alpha, *blocks, n, f)
    start, kind = payload.filled(0, m_shape, dtype), tensor(m_shape, dtype)
    maps = ", ".join(
        f"affine_map<(a, b, h, w, n, f, c) -> ({each})>"
        for each in ("a, b, h, w, n, c", "a, b, c, f", "a, b, h, w, n, f")
    )
    m = payload.line(
        f"linalg.contract indexing_maps = [{maps}] ins({d}, {g} : {tensor(d_shape, dtype)}, {tensor(g_shape, dtype)}) "
        f"outs({start} : {kind}) -> {kind}"
    )
    result = transform("output", m, m_shape, (n, *outs, f))
    view = np.lib.stride_tricks.sliding_window_view(array.astype(np.float64), kernel, (1, 2))
    exact = np.einsum("nhwcij,fijc->nhwf", view, weights.astype(np.float64))
    # Upstream's matrices have the digits of f32.
    parts = {"F_2_3": 20, "F_4_3": 100, "F_2_5": 200}[fmr] * (2.0**29 if dtype == "f64" else 1)
    # The transforms add numbers that are up to some ten times those that come out, and each is rounded to the type.
    magnitude = np.full(exact.shape, np.abs(view).max() * np.abs(weights.astype(np.float64)).sum((1, 2, 3)).max())
    return payload.case([result], [nearly(exact, dtype, magnitude, parts=parts)])


def specs() -> Iterator[Spec]:
    for rank in range(1, 6):
        for dtype in FLOATS:
            yield Spec("linalg.softmax", f"{dtype} rank {rank}", partial(_softmax, dtype, rank))
    for rank in range(6):
        for dtype in NUMBERS:
            shapes = SHAPES if rank else ("one",)
            yield Spec("linalg.pack", f"{dtype} rank {rank}", partial(_pack, dtype, rank), shapes)
            yield Spec("linalg.unpack", f"{dtype} rank {rank}", partial(_unpack, dtype, rank), shapes)
    for dtype in (*FLOATS, *INTEGERS):
        yield Spec("linalg.fill_rng_2d", dtype, partial(_random_numbers, dtype))
    for fmr in WINOGRAD:
        for dtype in FLOATS:
            for part in ("filter", "input", "output"):
                make = partial(_winograd, fmr, dtype)
                yield Spec(f"linalg.winograd_{part}_transform", f"{fmr} {dtype}", make, ("odd", "one"))
