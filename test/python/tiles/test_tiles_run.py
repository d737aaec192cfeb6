# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels by hand, `xetile.kernel`: compiled for GPUs, run on the device, against NumPy in f64."""

from __future__ import annotations

import math
from collections.abc import Callable

import element_types
import ml_dtypes
import numpy as np
import pytest
import xetile
from xetile import tiles

NUMPY = element_types.scalars("f16", "bf16", "f32", "i32", "i8")


def run(kernel: tiles.TileKernel, *arrays: np.ndarray, chip: str = "pvc") -> None:
    xetile.compile(kernel, target=chip, native="off")(*arrays)


def relative(got: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(got.astype(np.float64) - expected).max() / np.abs(expected).max())


def attention(heads: int, keys: int, queries: int, subgroups: int, causal: bool = False) -> tiles.TileKernel:
    """O of `heads` heads of size 64, in workgroups of `subgroups` subgroups of 8 queries each."""
    rows, d, scale = 8 * subgroups, 64, math.log2(math.e) / 8

    @xetile.kernel(
        f"{heads}x{queries}x64xf16",
        f"{heads}x{keys}x64xf16",
        f"{heads}x{keys}x64xf16",
        f"{heads}x{queries}x64xf32",
        grid=(queries // rows, heads),
    )
    def attend(q: tiles.Array, k: tiles.Array, v: tiles.Array, o: tiles.Array) -> None:
        row, head = tiles.workgroup_id(0) * rows, tiles.workgroup_id(1)
        own, all_keys = tiles.wg_map((subgroups, 1), (8, d)), tiles.wg_map((subgroups, 1), (64, d))
        queries = q[head].tile((rows, d), (row, 0), own).load()
        start = tiles.full((rows, 1), -1e30, "f32"), tiles.zeros((rows, 1), "f32"), tiles.zeros((rows, d), "f32")
        steps = tiles.range(0, keys, 64, carry=start)
        for key, (peak, total, acc) in steps:
            scores = tiles.mma(queries, k[head].T.tile((d, 64), (0, key), all_keys).load(), map=own)
            if causal:
                behind = tiles.arange(64, axis=1) + key > tiles.arange(rows, axis=0) + row
                scores = tiles.where(behind, -1e30, scores)
            new = tiles.fmax(peak, scores.fmax(1) * scale)
            alpha = tiles.exp2(peak - new)
            powers = tiles.exp2(tiles.fma(scores, scale, -new))
            values = v[head].tile((64, d), (key, 0), all_keys).load()
            acc = tiles.mma(powers.to("f16"), values, acc * alpha, map=own)
            steps.carry(new, total * alpha + powers.sum(1), acc)
        _, total, acc = steps.results
        o[head].tile((rows, d), (row, 0), own).store(acc * (1.0 / total))

    return attend


@pytest.mark.parametrize(("chip", "causal"), [("pvc", False), ("bmg", True)])
def test_attention(rng, chip, causal):
    heads, keys, queries = 2, 128, 32
    q, k, v = (rng.standard_normal((heads, n, 64)).astype(np.float16) for n in (queries, keys, keys))
    o = np.full((heads, queries, 64), np.nan, np.float32)
    run(attention(heads, keys, queries, 2, causal), q, k, v, o, chip=chip)
    scores = np.einsum("hid,hjd->hij", q.astype(np.float64), k.astype(np.float64)) / 8
    if causal:
        scores = np.where(np.tril(np.ones((queries, keys), bool)), scores, -np.inf)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    expected = np.einsum("hij,hjd->hid", powers / powers.sum(-1, keepdims=True), v.astype(np.float64))
    assert relative(o, expected) < 2e-3


@pytest.mark.parametrize(
    ("chip", "dtype", "shape", "moves"),
    [("lnl", "f16", (50, 40, 36), False), ("pvc", "bf16", (33, 64, 70), True), ("bmg", "i8", (20, 70, 48), True)],
)
def test_a_matmul_whose_tiles_hang_over_the_edges(rng, chip, dtype, shape, moves):
    m, n, k = shape
    sums = "i32" if dtype == "i8" else "f32"

    @xetile.kernel(f"{m}x{k}x{dtype}", f"{k}x{n}x{dtype}", f"{m}x{n}x{sums}", grid=(-(-n // 32), -(-m // 32)))
    def matmul(a: tiles.Array, b: tiles.Array, c: tiles.Array) -> None:
        row, column = tiles.workgroup_id(1) * 32, tiles.workgroup_id(0) * 32
        own = tiles.wg_map((2, 1), (16, 32))
        a_tile = a.tile((32, 32), (row, 0), own)
        b_tile = b.tile((32, 32), (0, column), tiles.wg_map((2, 1), (32, 32)))
        zeros = tiles.zeros((32, 32), sums)
        if moves:
            loop = tiles.range(0, k, 32, carry=(a_tile, b_tile, zeros))
            for _, (at, bt, acc) in loop:
                at.move(0, 32).prefetch()
                loop.carry(at.move(0, 32), bt.move(32, 0), tiles.mma(at.load(), bt.load(), acc, map=own))
            total = loop.results[2]
        else:
            sums_ = tiles.range(0, k, 32, carry=zeros)
            for step, acc in sums_:
                sums_.carry(tiles.mma(a_tile.move(0, step).load(), b_tile.move(step, 0).load(), acc, map=own))
            total = sums_.results
        c.tile((32, 32), (row, column), own).store(total)

    if dtype == "i8":
        a, b = (rng.integers(-128, 128, size).astype(np.int8) for size in ((m, k), (k, n)))
    else:
        a, b = (rng.standard_normal(size).astype(NUMPY[dtype]) for size in ((m, k), (k, n)))
    c = np.full((m, n), 7, NUMPY[sums])
    run(matmul, a, b, c, chip=chip)
    assert relative(c, a.astype(np.float64) @ b.astype(np.float64)) < 1e-5


def test_softmax_and_layer_norm_of_rows(rng):
    """Two kernels' worth in one; the second workgroup hangs over the last row."""
    n = 32

    @xetile.kernel(f"30x{n}xf16", f"30x{n}xf32", f"30x{n}xf16", grid=(2,))
    def rows(x: tiles.Array, soft: tiles.Array, norm: tiles.Array) -> None:
        at, own = (tiles.workgroup_id(0) * 16, 0), tiles.wg_map((2, 1), (8, 32))
        values = x.tile((16, 32), at, own).load().to("f32")
        powers = tiles.exp(values - values.max(1))
        soft.tile((16, 32), at, own).store(powers / powers.sum(1))
        mean = values.sum(1) / n
        apart = values - mean
        normed = apart * tiles.rsqrt((apart * apart).sum(1) / n + 1e-5)
        norm.tile((16, 32), at, own).store(normed.to("f16"))

    x = (3 * rng.standard_normal((30, n))).astype(np.float16)
    soft, norm = np.zeros((30, n), np.float32), np.zeros((30, n), np.float16)
    run(rows, x, soft, norm)
    values = x.astype(np.float64)
    powers = np.exp(values - values.max(1, keepdims=True))
    assert relative(soft, powers / powers.sum(1, keepdims=True)) < 1e-5
    expected = (values - values.mean(1, keepdims=True)) / np.sqrt(values.var(1, keepdims=True) + 1e-5)
    assert relative(norm, expected) < 1e-3


def test_elements_outside_of_the_matrix_are_the_padding(rng):
    @xetile.kernel("5x16xf32", "8x16xf32", grid=(1,))
    def pad(x: tiles.Array, y: tiles.Array) -> None:
        y.tile((8, 16)).store(x.tile((8, 16), (-1, 0)).load(padding=-math.inf))

    x, y = rng.standard_normal((5, 16)).astype(np.float32), np.zeros((8, 16), np.float32)
    run(pad, x, y)
    np.testing.assert_array_equal(y, np.pad(x, ((1, 2), (0, 0)), constant_values=-np.inf))


# On two vectors of a tile: what tiles compute, and what NumPy does of the same arrays in f64 or of the same integers.
OPS: dict[str, tuple[Callable, Callable]] = {
    "sum and difference": (lambda x, y: 1 + x + y - 2, lambda x, y: 1 + x + y - 2),
    "from the left": (lambda x, y: 3 - x * 2, lambda x, y: 3 - x * 2),
    "negation": (lambda x, y: -x, lambda x, y: -x),
    "maxima": (
        lambda x, y: tiles.maximum(x, 1) - tiles.minimum(x, y),
        lambda x, y: np.maximum(x, 1) - np.minimum(x, y),
    ),
    "numeric maxima": (lambda x, y: tiles.fmax(x, y) - tiles.fmin(x, y), lambda x, y: np.fmax(x, y) - np.fmin(x, y)),
    "absolute": (lambda x, y: tiles.abs(x), lambda x, y: np.abs(x)),
    "choice": (lambda x, y: tiles.where(x < y, x, 5), lambda x, y: np.where(x < y, x, 5)),
    "both": (lambda x, y: tiles.where((x <= y) & ~(x == y), x, y), lambda x, y: np.where((x <= y) & (x != y), x, y)),
    "either": (lambda x, y: tiles.where((x > 2) | (y >= 3), x, y), lambda x, y: np.where((x > 2) | (y >= 3), x, y)),
    "differs": (lambda x, y: tiles.where(x != y, x, 9), lambda x, y: np.where(x != y, x, 9)),
    "rows": (lambda x, y: x - y.sum(1), lambda x, y: x - y.sum(1, keepdims=True)),
    "columns": (lambda x, y: x + y.max(0) + y.min(0), lambda x, y: x + y.max(0) + y.min(0)),
    "numeric": (lambda x, y: x + y.fmax(1) - y.fmin(1), lambda x, y: x + y.max(1)[:, None] - y.min(1)[:, None]),
    "outer": (lambda x, y: x.sum(1) + y.sum(0), lambda x, y: x.sum(1)[:, None] + y.sum(0)),
    "places": (
        lambda x, y: x + (tiles.arange(8, 0, "i32") * 16 + tiles.arange(16, 1, "i32")).to(x.dtype),
        lambda x, y: x + np.arange(128).reshape(8, 16),
    ),
}
FLOATS = {
    "quotient": (lambda x, y: x / (y * y + 1), lambda x, y: x / (y * y + 1)),
    "fma": (lambda x, y: tiles.fma(x, y, 2.5), lambda x, y: x * y + 2.5),
    "powers": (lambda x, y: tiles.exp2(x) + tiles.exp(y), lambda x, y: np.exp2(x) + np.exp(y)),
    "roots": (lambda x, y: tiles.sqrt(x * x) - tiles.rsqrt(y * y + 1), lambda x, y: np.abs(x) - 1 / np.sqrt(y * y + 1)),
    "logarithms": (
        lambda x, y: tiles.log(x * x + 1) + tiles.log2(y * y + 1),
        lambda x, y: np.log(x * x + 1) + np.log2(y * y + 1),
    ),
    "tanh": (lambda x, y: tiles.tanh(x), lambda x, y: np.tanh(x)),
    "whole": (lambda x, y: tiles.floor(x / 2) + tiles.ceil(y / 2), lambda x, y: np.floor(x / 2) + np.ceil(y / 2)),
    "by way of integers": (lambda x, y: x.to("i32").to(x.dtype), lambda x, y: np.trunc(x)),
}
INTEGERS = {
    "quotient": (lambda x, y: x // 3 + x % 3 + 7 % (y * y + 1), lambda x, y: x // 3 + x % 3 + 7 % (y * y + 1)),
    "bits": (lambda x, y: (6 & x) ^ (1 | y), lambda x, y: (x & 6) ^ (y | 1)),
    "inverse": (lambda x, y: ~x, lambda x, y: ~x),
    "shifts": (lambda x, y: (x << 2) + (y >> 1), lambda x, y: (x << 2) + (y >> 1)),
    "by way of floats": (lambda x, y: (x.to("f32") * 1.5).to("i32"), lambda x, y: np.trunc(x * 1.5).astype(int)),
}


@pytest.mark.parametrize("dtype", ["f32", "f16", "i32"])
def test_operators_are_numpys(rng, dtype):
    ops = OPS | (INTEGERS if dtype == "i32" else FLOATS)
    if dtype == "f16":
        ops = {name: ops[name] for name in ("sum and difference", "choice", "outer", "fma")}

    @xetile.kernel(f"8x16x{dtype}", f"8x16x{dtype}", f"{8 * len(ops)}x16x{dtype}", grid=(1,))
    def operators(x: tiles.Array, y: tiles.Array, out: tiles.Array) -> None:
        left, right = x.tile((8, 16)).load(), y.tile((8, 16)).load()
        for number, (compute, _) in enumerate(ops.values()):
            out.tile((8, 16), (8 * number, 0)).store(compute(left, right))

    x, y = (rng.integers(-5, 6, (8, 16)).astype(NUMPY[dtype]) for _ in range(2))
    out = np.full((8 * len(ops), 16), 99, NUMPY[dtype])
    run(operators, x, y, out)
    wide = np.int64 if dtype == "i32" else np.float64
    for number, (name, (_, numpys)) in enumerate(ops.items()):
        got, expected = out[8 * number : 8 * number + 8].astype(wide), numpys(x.astype(wide), y.astype(wide))
        error = np.abs(got - expected) / np.maximum(np.abs(expected), 1)
        assert error.max() <= {"f32": 1e-5, "f16": 4e-3, "i32": 0}[dtype], name


# From -128 to 127, which have signs, to other types and back to f32.
CONVERSIONS: dict[str, tuple[Callable, Callable]] = {
    "wider integers": (lambda x: x.to("i16").to("i32").to("f32"), lambda x: x),
    "narrower integers": (lambda x: (x.to("i32") * 3).to("i8").to("f32"), lambda x: (x * 3).astype(np.int8)),
    "halves": (lambda x: (x.to("f16") / 2).to("bf16").to("f32"), lambda x: (x / 2).astype(ml_dtypes.bfloat16)),
    "rounding": (lambda x: (x.to("bf16") / 2).to("f16").to("f32"), lambda x: (x / 2).astype(ml_dtypes.bfloat16)),
    "towards zero": (lambda x: (x.to("f32") / 4).to("i8").to("f32"), lambda x: np.trunc(x / 4)),
    "conditions": (lambda x: (x > 3).to("f32") + (x < 0).to("i32").to("f32"), lambda x: (x > 3) + (x < 0) * 1.0),
    "places": (lambda x: tiles.arange(16, 1, "f32") + x.to("f32"), lambda x: x + np.arange(16)),
    "numbers of index": (
        lambda x: x.to("f32") + (tiles.workgroup_id(0) + 5).to("f32"),
        lambda x: x + 5,
    ),
    "places of vectors": (lambda x: (x.to("i32") + (tiles.workgroup_id(0) - 2)).to("f32"), lambda x: x - 2),
}


def test_conversions_are_numpys(rng):
    @xetile.kernel("8x16xi8", f"{8 * len(CONVERSIONS)}x16xf32", grid=(1,))
    def conversions(x: tiles.Array, out: tiles.Array) -> None:
        value = x.tile((8, 16)).load()
        for number, (convert, _) in enumerate(CONVERSIONS.values()):
            out.tile((8, 16), (8 * number, 0)).store(convert(value))

    x = rng.integers(-128, 128, (8, 16)).astype(np.int8)
    out = np.full((8 * len(CONVERSIONS), 16), 99, np.float32)
    run(conversions, x, out)
    for number, (name, (_, numpys)) in enumerate(CONVERSIONS.items()):
        got, expected = out[8 * number : 8 * number + 8], numpys(x.astype(np.int64))
        np.testing.assert_array_equal(got, expected.astype(np.float32), err_msg=name)


def test_views_maps_and_atomics(rng):
    """A transposed part of an array, elements given to other subgroups, sums of workgroups."""

    @xetile.kernel("3x2x32x16xf32", "16x32xf32", grid=(6,))
    def gather(x: tiles.Array, y: tiles.Array) -> None:
        rows, columns = tiles.wg_map((2, 1), (8, 32)), tiles.wg_map((1, 2), (16, 16))
        part = x[tiles.workgroup_id(0) // 2, tiles.workgroup_id(0) % 2]
        value = part.T.tile((16, 32), (0, 0), rows).load()
        value = value + part.tile((32, 16), (0, 0), tiles.wg_map((2, 1), (16, 16))).load().T.with_map(rows)
        y.tile((16, 32), (0, 0), columns).atomic("add", value.with_map(columns, rows))

    x, y = rng.integers(-9, 9, (3, 2, 32, 16)).astype(np.float32), np.ones((16, 32), np.float32)
    run(gather, x, y)
    np.testing.assert_array_equal(y, 1 + 2 * x.sum((0, 1)).T)


@pytest.mark.parametrize(
    ("chip", "dtype"), [("pvc", "f32"), ("bmg", "f16"), ("lnl", "i8"), ("pvc", "bf16"), ("bmg", "i32")]
)
def test_slices_are_numpys(rng, chip, dtype):
    """Columns of rows that a subgroup has; rounds of rows that subgroups share; an element, which is a number."""
    own, few = tiles.wg_map((4, 1), (8, 64)), tiles.wg_map((4, 1), (8, 16))

    @xetile.kernel(f"96x64x{dtype}", f"96x16x{dtype}", f"32x64x{dtype}", f"1x1x{dtype}", grid=(1,))
    def cut(x: tiles.Array, columns: tiles.Array, rows: tiles.Array, one: tiles.Array) -> None:
        whole = x.tile((96, 64), map=own).load()
        columns.tile((96, 16), map=few).store(whole[:, 8:24] + whole[:, -16:])
        rows.tile((32, 64), map=own).store(whole[32:64, :])
        number = whole.max(0).max(1)[0, 0]
        one.tile((1, 1), map=tiles.wg_map((4, 1), (1, 1))).store(tiles.full((1, 1), 0, dtype) + number)

    x = rng.integers(-50, 50, (96, 64)).astype(NUMPY[dtype])
    outs = [np.full(shape, 77).astype(x.dtype) for shape in ((96, 16), (32, 64), (1, 1))]
    run(cut, x, *outs, chip=chip)
    wide = x.astype(np.int64)
    for got, expected in zip(outs, (wide[:, 8:24] + wide[:, -16:], wide[32:64], wide.max().reshape(1, 1)), strict=True):
        np.testing.assert_array_equal(got.astype(np.int64), expected)


def test_a_slice_that_subgroups_share_says_what_to_do(rng):
    @xetile.kernel("64x64xf32", "32x64xf32", grid=(1,))
    def cut(x: tiles.Array, y: tiles.Array) -> None:
        y.tile((32, 64), map=tiles.wg_map((4, 1), (8, 64))).store(
            x.tile((64, 64), map=tiles.wg_map((4, 1), (16, 64))).load()[16:48, :]
        )

    with pytest.raises(xetile.XeTileError, match="multiples of 64 and 1, or a tile_conv_layout before it"):
        xetile.compile(cut, target="pvc", native="off")

    @xetile.kernel("64x64xf32", "32x64xf32", grid=(1,))
    def given(x: tiles.Array, y: tiles.Array) -> None:
        rows, columns = tiles.wg_map((4, 1), (16, 64)), tiles.wg_map((1, 4), (64, 16))
        value = x.tile((64, 64), map=rows).load().with_map(columns, rows)[16:48, :]
        y.tile((32, 64), map=tiles.wg_map((1, 4), (32, 16))).store(value)

    x, y = rng.standard_normal((64, 64)).astype(np.float32), np.full((32, 64), np.nan, np.float32)
    run(given, x, y)
    np.testing.assert_array_equal(y, x[16:48])
