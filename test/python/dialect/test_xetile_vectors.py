# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""XeTile's operations on vectors, and a GEMM of any size, on the host CPU, against NumPy.

`XETILE_SEED` repeats a failure.
"""

from __future__ import annotations

import numpy as np
import pytest
from xetile_programs import (
    DTYPES,
    ON_HOST,
    ZERO,
    apply,
    assert_same,
    each_dtype,
    granule,
    memref_type,
    pack,
    run,
    sizes,
    tile_type,
    values,
    vector,
)

MMA = [
    ("f16", "f32"),
    ("f16", "f16"),
    ("bf16", "f32"),
    ("bf16", "bf16"),
    ("f32", "f32"),
    ("i8", "i32"),
]


@pytest.mark.parametrize("with_c", [False, True])
@pytest.mark.parametrize("blocked", [False, True])
@pytest.mark.parametrize(("dtype", "sum_dtype"), MMA)
def test_mma(rng, dtype, sum_dtype, blocked, with_c):
    (m, n, k), (bm, bn, bk) = sizes(rng, "", 3, 5), sizes(rng, dtype, 3, 4)
    a, b = values(rng, dtype, m * bm, k * bk), values(rng, dtype, k * bk, n * bn)
    c = values(rng, sum_dtype, m * bm, n * bn)
    if sum_dtype in ("f16", "bf16"):
        # Whole numbers whose sums stay below 256, which bf16 holds exactly: at most 4 * 6 products of 2 * 2.
        a, b, c = (np.rint(array.astype(np.float64) / 2).astype(DTYPES[dtype]) for array in (a, b, c))
    wide = np.int64 if dtype == "i8" else np.float64
    expected = a.astype(wide) @ b.astype(wide) + (c.astype(wide) if with_c else 0)
    expected = (expected + 0).astype(DTYPES[sum_dtype])  # no negative zeros
    if blocked:
        a, b, c, expected = pack(a, (bm, bk)), pack(b, (bk, bn)), pack(c, (bm, bn)), pack(expected, (bm, bn))
    types = [vector(a.shape, dtype), vector(b.shape, dtype)] + [vector(c.shape, sum_dtype)] * with_c
    operands = [(a, dtype), (b, dtype)] + [(c, sum_dtype)] * with_c
    names = ", ".join(f"%v{number}" for number in range(len(operands)))
    op = f"%r0 = xetile.tile_mma {names} : {', '.join(types)} -> {vector(c.shape, sum_dtype)}"
    (result,) = apply(op, [(c.shape, sum_dtype)], *operands)
    assert_same(result, expected)


@each_dtype
def test_transpose_pack_and_unpack(rng, dtype):
    (m, n), (bm, bn) = sizes(rng, "", 2, 6), sizes(rng, dtype, 2, 6)
    v = values(rng, dtype, m * bm, n * bn)
    packed, flat = vector((m, n, bm, bn), dtype), vector(v.shape, dtype)
    blocks = f"{{inner_blocks = array<i64: {bm}, {bn}>}}"
    op = f"""%r0 = xetile.tile_transpose %v0, [1, 0] : {flat} -> {vector(v.T.shape, dtype)}
    %r1 = xetile.tile_pack %v0 {blocks} : {flat} -> {packed}
    %r2 = xetile.tile_unpack %v1 {blocks} : {packed} -> {flat}
    %r3 = xetile.tile_transpose %v0, [0, 1] : {flat} -> {flat}"""
    w = values(rng, dtype, *v.shape)
    shapes = [(v.T.shape, dtype), ((m, n, bm, bn), dtype), (v.shape, dtype), (v.shape, dtype)]
    transposed, blocked, unpacked, same = apply(op, shapes, (v, dtype), (pack(w, (bm, bn)), dtype))
    assert_same(transposed, np.ascontiguousarray(v.T))
    assert_same(blocked, pack(v, (bm, bn)))
    assert_same(unpacked, w)
    assert_same(same, v)


def test_conv_layout_keeps_the_vector(rng, monkeypatch):
    """It has no meaning without maps; the same map on both sides folds away."""
    monkeypatch.setattr("xetile_programs.ON_HOST", f"canonicalize,{ON_HOST}")
    v = values(rng, "f32", 8, 16)
    map_ = "#xetile.wg_map<sg_layout = [1, 1], sg_data = [8, 16]>"
    op = f"%r0 = xetile.tile_conv_layout %v0 {{wg_map = {map_}, source_wg_map = {map_}}} : {vector(v.shape, 'f32')}"
    (result,) = apply(op, [(v.shape, "f32")], (v, "f32"))
    assert_same(result, v)


REDUCTIONS = {
    "add": lambda v, axes: v.sum(axes, keepdims=True),
    "mul": lambda v, axes: v.prod(axes, keepdims=True),
    "minsi": lambda v, axes: v.min(axes, keepdims=True),
    "maxsi": lambda v, axes: v.max(axes, keepdims=True),
    "minui": lambda v, axes: v.view(f"u{v.itemsize}").min(axes, keepdims=True).view(v.dtype),
    "maxui": lambda v, axes: v.view(f"u{v.itemsize}").max(axes, keepdims=True).view(v.dtype),
    "and": lambda v, axes: np.bitwise_and.reduce(v, axes, keepdims=True),
    "or": lambda v, axes: np.bitwise_or.reduce(v, axes, keepdims=True),
    "xor": lambda v, axes: np.bitwise_xor.reduce(v, axes, keepdims=True),
    "minnumf": lambda v, axes: np.fmin.reduce(v, axes, keepdims=True),
    "maxnumf": lambda v, axes: np.fmax.reduce(v, axes, keepdims=True),
    "minimumf": lambda v, axes: v.min(axes, keepdims=True),
    "maximumf": lambda v, axes: v.max(axes, keepdims=True),
}
REDUCE = [
    (kind, dtype)
    for kind in REDUCTIONS
    for dtype in DTYPES
    if kind in ("add", "mul") or kind.endswith("f") == (not dtype.startswith("i"))
]


@pytest.mark.parametrize("blocked", [False, True])
@pytest.mark.parametrize(("kind", "dtype"), REDUCE)
def test_reduce(rng, kind, dtype, blocked):
    shape = sizes(rng, dtype, 4 if blocked else 2, 7 // granule(dtype))
    v = values(rng, dtype, *shape)
    choices = [(0, 2), (1, 3), (1,), (3,), (0, 1, 2, 3)] if blocked else [(0,), (1,), (0, 1)]
    axes = choices[rng.integers(len(choices))]
    if kind == "mul" and not dtype.startswith("i"):
        v = rng.choice([-1, 1, 0.5, 2], shape).astype(v.dtype)
    wide = v.astype(np.float64) if not dtype.startswith("i") else v
    with np.errstate(over="ignore"):
        expected = REDUCTIONS[kind](wide, axes).astype(v.dtype)
    types = f"{vector(shape, dtype)} -> {vector(expected.shape, dtype)}"
    op = f"%r0 = xetile.tile_reduce <{kind}> %v0, {list(axes)} : {types}"
    (result,) = apply(op, [(expected.shape, dtype)], (v, dtype))
    assert_same(result, expected)  # sums of sixteenths and products of powers of two are exact


# A value that the others of its row cannot hide, and theirs.
DECISIVE = {
    "add": (3, 0),
    "mul": (2, 1),
    "minsi": (-5, 7),
    "maxsi": (7, -5),
    "minui": (7, -5),
    "maxui": (-5, 7),
    "and": (4, -1),
    "or": (4, 0),
    "xor": (4, 0),
    "minnumf": (-5, 7),
    "maxnumf": (7, -5),
    "minimumf": (-5, 7),
    "maximumf": (7, -5),
}


@pytest.mark.parametrize(("kind", "dtype"), REDUCE)
def test_reduce_takes_every_element(kind, dtype):
    """In row i and column i the result is decided by element i alone."""
    one, others = DECISIVE[kind]
    v = np.full((10, 10), others, DTYPES[dtype])
    np.fill_diagonal(v, one)
    op = f"""%r0 = xetile.tile_reduce <{kind}> %v0, [0] : vector<10x10x{dtype}> -> vector<1x10x{dtype}>
    %r1 = xetile.tile_reduce <{kind}> %v0, [1] : vector<10x10x{dtype}> -> vector<10x1x{dtype}>"""
    columns, rows = apply(op, [((1, 10), dtype), ((10, 1), dtype)], (v, dtype))
    assert_same(columns, np.full((1, 10), one, v.dtype))
    assert_same(rows, np.full((10, 1), one, v.dtype))


@pytest.mark.parametrize(
    ("kind", "expected"), [("minimumf", np.nan), ("maximumf", np.nan), ("minnumf", -2.0), ("maxnumf", 7.0)]
)
def test_reduce_of_nan(kind, expected):
    v = np.array([[np.nan, -2.0, 7.0], [np.nan, np.nan, np.nan]], np.float32)
    op = f"%r0 = xetile.tile_reduce <{kind}> %v0, [1] : vector<2x3xf32> -> vector<2x1xf32>"
    (result,) = apply(op, [((2, 1), "f32")], (v, "f32"))
    np.testing.assert_array_equal(result, np.array([[expected], [np.nan]], np.float32))


@each_dtype
@pytest.mark.parametrize("blocked", [False, True])
def test_broadcast(rng, dtype, blocked):
    shape = sizes(rng, dtype, 4 if blocked else 2, 7 // granule(dtype))
    choices = [(0, 2), (1, 3), (0, 1, 2, 3)] if blocked else [(0,), (1,), (0, 1)]
    axes = choices[rng.integers(len(choices))]
    source = values(rng, dtype, *(1 if dim in axes else n for dim, n in enumerate(shape)))
    op = f"%r0 = xetile.tile_broadcast %v0, {list(axes)} : {vector(source.shape, dtype)} -> {vector(shape, dtype)}"
    (result,) = apply(op, [(shape, dtype)], (source, dtype))
    assert_same(result, np.ascontiguousarray(np.broadcast_to(source, shape)))


@pytest.mark.parametrize(("dtype", "sum_dtype"), [("f16", "f32"), ("bf16", "f32"), ("i8", "i32")])
def test_gemm_of_any_size(rng, dtype, sum_dtype):
    """C = A*B in tiles of 16x16x16 that hang over all edges, B column-major."""
    m, n, k = (int(size) for size in rng.integers(1, 50, 3))
    a, b = values(rng, dtype, m, k), values(rng, dtype, n, k).T
    c = values(rng, sum_dtype, m, n)
    wide = np.int64 if dtype == "i8" else np.float64
    expected = (a.astype(wide) @ b.astype(wide) + 0).astype(c.dtype)  # no negative zeros
    ta, tb, tc = tile_type((16, 16), dtype), tile_type((16, 16), dtype, order="[0, 1]"), tile_type((16, 16), sum_dtype)
    v, s = vector((16, 16), dtype), vector((16, 16), sum_dtype)
    run(
        ZERO
        + f"""%step = arith.constant 16 : index
        %none = arith.constant dense<{0 if dtype == "i8" else 0.0}> : {s}
        scf.for %i = %zero to %3 step %step {{
          scf.for %j = %zero to %4 step %step {{
            %ta = xetile.init_tile %0[%i, 0] : {memref_type(a)} -> {ta}
            %tb = xetile.init_tile %1[0, %j] : {memref_type(b)} -> {tb}
            %e:3 = scf.for %l = %zero to %5 step %step iter_args(%x = %none, %ua = %ta, %ub = %tb)
                -> ({s}, {ta}, {tb}) {{
              %va = xetile.load_tile %ua : {ta} -> {v}
              %vb = xetile.load_tile %ub : {tb} -> {v}
              %y = xetile.tile_mma %va, %vb, %x : {v}, {v}, {s} -> {s}
              %na = xetile.update_tile_offset %ua, [0, %step] : {ta}
              %nb = xetile.update_tile_offset %ub, [%step, 0] : {tb}
              scf.yield %y, %na, %nb : {s}, {ta}, {tb}
            }}
            %tc = xetile.init_tile %2[%i, %j] : {memref_type(c)} -> {tc}
            xetile.store_tile %e#0, %tc : {s}, {tc}
          }}
        }}""",
        a,
        b,
        c,
        m,
        n,
        k,
    )
    assert_same(c, expected)
