# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""XeTile of one subgroup, cut into blocks, against NumPy.

`XETILE_SEED` repeats a failure.
"""

from __future__ import annotations

import element_types
import numpy as np
import pytest
from subgroup_programs import each_stage, memref, poisoned, run_stage, tile

NUMBERS = element_types.scalars("f16", "bf16", "f32", "i8", "i32")
# A and B, sums, k of one dpas.
PRODUCTS = [("f16", "f32", 16), ("f16", "f16", 16), ("bf16", "f32", 16), ("bf16", "bf16", 16), ("i8", "i32", 32)]
TF32 = ("f32", "f32", 8)


def whole(rng: np.random.Generator, dtype: str, shape: tuple[int, ...], limit: int = 3) -> np.ndarray:
    """Whole numbers that stay exact in products and sums."""
    return rng.integers(-limit, limit + 1, shape).astype(NUMBERS[dtype])


def product(a: np.ndarray, b: np.ndarray, dtype: str) -> np.ndarray:
    return (a.astype(np.float64) @ b.astype(np.float64)).astype(NUMBERS[dtype])


def assert_equal(actual: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_array_equal(actual.astype(np.float64), expected.astype(np.float64))


def gemm(a: str, b: str, c: str, tiles: tuple[str, str, str], vectors: tuple[str, str, str], k: int, step: int) -> str:
    """C = A * B by one subgroup: a loop that carries tiles and the sum."""
    zero = "0" if "xi32" in vectors[2] else "0.0"
    return f"""
      %c0 = arith.constant 0 : index
      %step = arith.constant {step} : index
      %k = arith.constant {k} : index
      %zero = arith.constant dense<{zero}> : {vectors[2]}
      %ta = xetile.init_tile %0[0, 0] : {a} -> {tiles[0]}
      %tb = xetile.init_tile %1[0, 0] : {b} -> {tiles[1]}
      %tc = xetile.init_tile %2[0, 0] : {c} -> {tiles[2]}
      %r:3 = scf.for %i = %c0 to %k step %step iter_args(%sum = %zero, %ma = %ta, %mb = %tb)
          -> ({vectors[2]}, {tiles[0]}, {tiles[1]}) {{
        %va = xetile.load_tile %ma : {tiles[0]} -> {vectors[0]}
        %vb = xetile.load_tile %mb : {tiles[1]} -> {vectors[1]}
        %d = xetile.tile_mma %va, %vb, %sum : {vectors[0]}, {vectors[1]}, {vectors[2]} -> {vectors[2]}
        %na = xetile.update_tile_offset %ma, [0, %step] : {tiles[0]}
        %nb = xetile.update_tile_offset %mb, [%step, 0] : {tiles[1]}
        scf.yield %d, %na, %nb : {vectors[2]}, {tiles[0]}, {tiles[1]}
      }}
      xetile.store_tile %r#0, %tc : {vectors[2]}, {tiles[2]}
    """


def run_gemm(
    stage: str,
    matrices: tuple[np.ndarray, np.ndarray, np.ndarray],
    tiles: tuple[int, int, int],
    names: tuple[str, str],
    orders: tuple[dict[str, str], dict[str, str]] = ({}, {}),
) -> None:
    (m, n, step), (dtype, sums) = tiles, names
    shapes = [(m, step), (step, n), (m, n)]
    kinds = [dtype, dtype, sums]
    attributes = [orders[0], orders[1], {}]
    vectors = [f"vector<{rows}x{columns}x{kind}>" for (rows, columns), kind in zip(shapes, kinds, strict=True)]
    names_of_tiles = [tile(*shape, kind, **more) for shape, kind, more in zip(shapes, kinds, attributes, strict=True)]
    memrefs = [memref(array) for array in matrices]
    run_stage(stage, gemm(*memrefs, names_of_tiles, vectors, matrices[0].shape[1], step), *matrices)


def padded(array: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """The same values as a corner of a larger buffer of poison."""
    buffer = poisoned((rows, columns), {np.dtype(kind): name for name, kind in NUMBERS.items()}[array.dtype])
    view = buffer[: array.shape[0], : array.shape[1]]
    view[...] = array
    return view


@pytest.mark.one_in(3)
@each_stage
@pytest.mark.parametrize(("dtype", "sums", "step"), [*PRODUCTS, TF32])
def test_product(rng, stage, dtype, sums, step):
    m, n, k = 16, 32, 4 * step
    a, b = whole(rng, dtype, (m, k)), whole(rng, dtype, (k, n))
    c = poisoned((m, n), sums)
    run_gemm(stage, (a, b, c), (m, n, 2 * step), (dtype, sums))
    assert_equal(c, product(a, b, sums))


@each_stage
@pytest.mark.parametrize("rows", [1, 4, 12, 24])
def test_product_of_few_rows(rng, stage, rows):
    a, b, c = whole(rng, "f16", (rows, 32)), whole(rng, "f16", (32, 16)), poisoned((rows, 16), "f32")
    run_gemm(stage, (a, b, c), (rows, 16, 16), ("f16", "f32"))
    assert_equal(c, product(a, b, "f32"))


@pytest.mark.one_in(8)
@each_stage
@pytest.mark.parametrize("operands", ["a", "b", "ab"])
@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "i8"])
def test_column_major_operands(rng, stage, dtype, operands):
    step = {"f32": 8, "i8": 32}.get(dtype, 16)
    m, n, k = 16, 32, 4 * step
    a, b = whole(rng, dtype, (m, k)), whole(rng, dtype, (k, n))
    column_major = {"order": "[0, 1]"}
    orders = [column_major if name in operands else {} for name in "ab"]
    a, b = (np.asfortranarray(x) if order else x for x, order in zip((a, b), orders, strict=True))
    sums = "i32" if dtype == "i8" else "f32"
    c = poisoned((m, n), sums)
    run_gemm(stage, (a, b, c), (m, n, 2 * step), (dtype, sums), orders)
    assert_equal(c, product(a, b, sums))


# Sizes: what the 2D unit takes, what it does not (pitch, width), tails along k.
SIZES = [(12, 32, 80), (1, 1, 1), (13, 17, 19), (12, 20, 100), (7, 33, 35)]


@pytest.mark.one_in(5)
@each_stage
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", ["f16", "i8", "f32"])
def test_edges(rng, stage, dtype, size):
    m, n, k = size
    sums, step = ("i32", 32) if dtype == "i8" else ("f32", 16)
    a, b, c = whole(rng, dtype, (m, k)), whole(rng, dtype, (k, n)), poisoned((m, n), sums)
    rows, columns = -(-m // 8) * 8, -(-n // 16) * 16
    run_gemm(stage, (a, b, c), (rows, columns, step), (dtype, sums))
    assert_equal(c, product(a, b, sums))


@each_stage
@pytest.mark.parametrize("columns", [64, 100])  # 100 f16: a pitch of 200 bytes
def test_padded_leading_dimension(rng, stage, columns):
    a, b = whole(rng, "f16", (16, 48)), whole(rng, "f16", (48, 32))
    c = poisoned((24, columns), "f32")
    view = c[:16, :32]
    run_gemm(stage, (padded(a, 16, columns), padded(b, 50, columns), view), (16, 32, 16), ("f16", "f32"))
    assert_equal(view, product(a, b, "f32"))
    assert np.isnan(c[16:]).all() and np.isnan(c[:, 32:]).all()


@pytest.mark.one_in(5)
@each_stage
@pytest.mark.parametrize("dims", [[0], [1], [0, 1]])
@pytest.mark.parametrize("kind", ["add", "maxnumf", "minimumf", "mul"])
@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_reduce_and_broadcast(rng, stage, dtype, kind, dims):
    shape = (16, 32)
    x, out = whole(rng, dtype, shape), poisoned(shape, dtype)
    if kind == "mul":
        x = np.where(rng.random(shape) < 0.5, -1, 1).astype(x.dtype)
    flat = tuple(1 if dim in dims else size for dim, size in enumerate(shape))
    full, small = f"vector<16x32x{dtype}>", f"vector<{flat[0]}x{flat[1]}x{dtype}>"
    body = f"""
      %t = xetile.init_tile %0[0, 0] : {memref(x)} -> !xetile.tile<16x32x{dtype}>
      %o = xetile.init_tile %1[0, 0] : {memref(out)} -> !xetile.tile<16x32x{dtype}>
      %v = xetile.load_tile %t : !xetile.tile<16x32x{dtype}> -> {full}
      %r = xetile.tile_reduce <{kind}> %v, {dims} : {full} -> {small}
      %b = xetile.tile_broadcast %r, {dims} : {small} -> {full}
      %d = arith.subf %v, %b : {full}
      xetile.store_tile %d, %o : {full}, !xetile.tile<16x32x{dtype}>
    """
    run_stage(stage, body, x, out)
    reduce = {"add": np.sum, "maxnumf": np.max, "minimumf": np.min, "mul": np.prod}[kind]
    reduced = reduce(x.astype(np.float64), axis=tuple(dims), keepdims=True).astype(x.dtype)
    assert_equal(out, (x - reduced).astype(x.dtype))


@each_stage
@pytest.mark.parametrize("dtype", ["f32", "f16", "i8"])
def test_transpose(rng, stage, dtype):
    x, out = whole(rng, dtype, (32, 16)), poisoned((16, 32), dtype)
    body = f"""
      %t = xetile.init_tile %0[0, 0] : {memref(x)} -> !xetile.tile<32x16x{dtype}>
      %o = xetile.init_tile %1[0, 0] : {memref(out)} -> !xetile.tile<16x32x{dtype}>
      %v = xetile.load_tile %t : !xetile.tile<32x16x{dtype}> -> vector<32x16x{dtype}>
      %r = xetile.tile_transpose %v, [1, 0] : vector<32x16x{dtype}> -> vector<16x32x{dtype}>
      xetile.store_tile %r, %o : vector<16x32x{dtype}>, !xetile.tile<16x32x{dtype}>
    """
    run_stage(stage, body, x, out)
    assert_equal(out, x.T)


@each_stage
def test_transposed_operand_between(rng, stage):
    """One value as a of one product and, transposed, as b of another."""
    x, out = whole(rng, "f16", (32, 32)), poisoned((32, 32), "f32")
    body = f"""
      %t = xetile.init_tile %0[0, 0] : {memref(x)} -> !xetile.tile<32x32xf16>
      %o = xetile.init_tile %1[0, 0] : {memref(out)} -> !xetile.tile<32x32xf32>
      %v = xetile.load_tile %t : !xetile.tile<32x32xf16> -> vector<32x32xf16>
      %r = xetile.tile_transpose %v, [1, 0] : vector<32x32xf16> -> vector<32x32xf16>
      %d = xetile.tile_mma %v, %r : vector<32x32xf16>, vector<32x32xf16> -> vector<32x32xf32>
      xetile.store_tile %d, %o : vector<32x32xf32>, !xetile.tile<32x32xf32>
    """
    run_stage(stage, body, x, out)
    assert_equal(out, product(x, x.T, "f32"))


@each_stage
def test_a_value_as_both_operands(rng, stage):
    x, out = whole(rng, "f16", (32, 32)), poisoned((32, 32), "f32")
    body = f"""
      %t = xetile.init_tile %0[0, 0] : {memref(x)} -> !xetile.tile<32x32xf16>
      %o = xetile.init_tile %1[0, 0] : {memref(out)} -> !xetile.tile<32x32xf32>
      %v = xetile.load_tile %t : !xetile.tile<32x32xf16> -> vector<32x32xf16>
      %d = xetile.tile_mma %v, %v : vector<32x32xf16>, vector<32x32xf16> -> vector<32x32xf32>
      xetile.store_tile %d, %o : vector<32x32xf32>, !xetile.tile<32x32xf32>
    """
    run_stage(stage, body, x, out)
    assert_equal(out, product(x, x, "f32"))


@each_stage
@pytest.mark.parametrize("offset", [(-3, -2), (50, 40), (4, 8), (-40, 0), (0, 90)])
@pytest.mark.parametrize("columns", [60, 61])  # 61 columns are no pitch for the 2D unit
@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_padding(rng, stage, dtype, columns, offset):
    x, out = whole(rng, dtype, (60, columns)), poisoned((32, 32), dtype)
    row, column = offset
    body = f"""
      %t = xetile.init_tile %0[{row}, {column}] : {memref(x)} -> !xetile.tile<32x32x{dtype}>
      %o = xetile.init_tile %1[0, 0] : {memref(out)} -> !xetile.tile<32x32x{dtype}>
      %v = xetile.load_tile %t {{padding = 1.5 : {dtype}}} : !xetile.tile<32x32x{dtype}> -> vector<32x32x{dtype}>
      xetile.store_tile %v, %o : vector<32x32x{dtype}>, !xetile.tile<32x32x{dtype}>
    """
    run_stage(stage, body, x, out)
    expected = np.full((32, 32), 1.5)
    for i in range(32):
        for j in range(32):
            if 0 <= row + i < 60 and 0 <= column + j < columns:
                expected[i, j] = x[row + i, column + j]
    assert_equal(out, expected)


@each_stage
@pytest.mark.parametrize("columns", [64, 61])
@pytest.mark.parametrize("order", ["[1, 0]", "[0, 1]"])
def test_stores_drop_what_is_outside(rng, stage, columns, order):
    value, out = whole(rng, "f32", (16, 32)), poisoned((70, columns), "f32")
    view = out if order == "[1, 0]" else poisoned((columns, 70), "f32").T
    kind = tile(16, 32, "f32", order=order)
    body = f"""
      %t = xetile.init_tile %0[0, 0] : {memref(value)} -> !xetile.tile<16x32xf32>
      %v = xetile.load_tile %t : !xetile.tile<16x32xf32> -> vector<16x32xf32>
      %o = xetile.init_tile %1[60, 40] : {memref(view)} -> {kind}
      xetile.store_tile %v, %o : vector<16x32xf32>, {kind}
    """
    run_stage(stage, body, value, view)
    expected = np.full((70, columns), np.nan)
    expected[60:, 40 : min(columns, 72)] = value[:10, : min(columns, 72) - 40]
    assert_equal(view, expected)


@each_stage
@pytest.mark.parametrize(("kind", "dtype"), [("addf", "f32"), ("addi", "i32"), ("maxs", "i32"), ("assign", "i32")])
def test_atomics(rng, stage, kind, dtype):
    x, value, old = whole(rng, dtype, (20, 24)), whole(rng, dtype, (16, 16)), poisoned((16, 16), dtype)
    before = x.copy()
    body = f"""
      %t = xetile.init_tile %0[8, 12] : {memref(x)} -> !xetile.tile<16x16x{dtype}>
      %s = xetile.init_tile %1[0, 0] : {memref(value)} -> !xetile.tile<16x16x{dtype}>
      %o = xetile.init_tile %2[0, 0] : {memref(old)} -> !xetile.tile<16x16x{dtype}>
      %v = xetile.load_tile %s : !xetile.tile<16x16x{dtype}> -> vector<16x16x{dtype}>
      %r = xetile.atomic_rmw_tile <{kind}> %v, %t : vector<16x16x{dtype}>, !xetile.tile<16x16x{dtype}>
          -> vector<16x16x{dtype}>
      xetile.store_tile %r, %o : vector<16x16x{dtype}>, !xetile.tile<16x16x{dtype}>
    """
    run_stage(stage, body, x, value, old)
    expected, was = before.copy(), np.zeros((16, 16), before.dtype)
    inside = value[:12, :12]
    was[:12, :12] = before[8:, 12:]
    new = {"assign": inside, "maxs": np.maximum(before[8:, 12:], inside)}.get(kind, before[8:, 12:] + inside)
    expected[8:, 12:] = new
    assert_equal(x, expected)
    assert_equal(old, was)


@each_stage
def test_atomics_of_values_in_other_blocks(rng, stage):
    """Of a slice, which is in no blocks, and of a reduced value, whose blocks a tile of its shape would not have."""
    x, flat = whole(rng, "i32", (136, 6)), whole(rng, "i32", (1, 6))
    column, row = whole(rng, "i32", (8, 1)), flat.copy()
    before = column.copy()
    body = f"""
      %s = xetile.init_tile %0[0, 0] : {memref(x)} -> !xetile.tile<136x6xi32>
      %v = xetile.load_tile %s : !xetile.tile<136x6xi32> -> vector<136x6xi32>
      %slice = vector.extract_strided_slice %v {{offsets = [5, 2], sizes = [8, 1], strides = [1, 1]}}
          : vector<136x6xi32> to vector<8x1xi32>
      %t = xetile.init_tile %1[0, 0] : {memref(column)} -> !xetile.tile<8x1xi32>
      %r = xetile.atomic_rmw_tile <addi> %slice, %t : vector<8x1xi32>, !xetile.tile<8x1xi32> -> vector<8x1xi32>
      %sum = xetile.tile_reduce <add> %v, [0] : vector<136x6xi32> -> vector<1x6xi32>
      %u = xetile.init_tile %2[0, 0] : {memref(row)} -> !xetile.tile<1x6xi32>
      %q = xetile.atomic_rmw_tile <addi> %sum, %u : vector<1x6xi32>, !xetile.tile<1x6xi32> -> vector<1x6xi32>
    """
    run_stage(stage, body, x, column, row)
    assert_equal(column, before + x[5:13, 2:3])
    assert_equal(row, flat + x.sum(axis=0, keepdims=True, dtype=np.int32))


@each_stage
def test_gather_and_scatter(rng, stage):
    x, out = whole(rng, "f32", (1, 512)), poisoned((1, 512), "f32")
    kind = tile(1, 64, "f32", scatter="true")
    body = f"""
      %p = memref.extract_aligned_pointer_as_index %0 : {memref(x)} -> index
      %q = memref.extract_aligned_pointer_as_index %1 : {memref(out)} -> index
      %from = arith.index_cast %p : index to i64
      %to = arith.index_cast %q : index to i64
      %step = vector.step : vector<64xindex>
      %places = vector.shape_cast %step : vector<64xindex> to vector<1x64xindex>
      %three = arith.constant dense<3> : vector<1x64xindex>
      %limit = arith.constant dense<50> : vector<1x64xindex>
      %spread = arith.muli %places, %three : vector<1x64xindex>
      %mask = arith.cmpi ult, %places, %limit : vector<1x64xindex>
      %t = xetile.init_tile %from, %spread : i64, vector<1x64xindex> -> {kind}
      %moved = xetile.update_tile_offset %t, %three : {kind}, vector<1x64xindex>
      %v = xetile.load_gather %moved, %mask {{padding = 7.0 : f32}} : {kind}, vector<1x64xi1> -> vector<1x64xf32>
      %o = xetile.init_tile %to, %places : i64, vector<1x64xindex> -> {kind}
      %all = arith.constant dense<true> : vector<1x64xi1>
      xetile.store_scatter %v, %all, %o : vector<1x64xf32>, vector<1x64xi1>, {kind}
    """
    run_stage(stage, body, x, out)
    expected = np.full((1, 512), np.nan)
    expected[0, :64] = 7
    expected[0, :50] = x[0, 3 : 3 + 150 : 3]
    assert_equal(out, expected)


@each_stage
def test_scattered_by_transposed_vectors(rng, stage):
    """A column is an element a block: its transposed indices and values are put together for the access."""
    places, column = np.array([[5], [0], [3]], np.int32), whole(rng, "f32", (3, 1))
    x, out = whole(rng, "f32", (1, 8)), whole(rng, "f32", (1, 8))
    before = out.copy()
    kind, scattered = "vector<3x1xi32>", tile(1, 3, "f32", scatter="true")
    body = f"""
      %p = memref.extract_aligned_pointer_as_index %2 : {memref(x)} -> index
      %q = memref.extract_aligned_pointer_as_index %3 : {memref(out)} -> index
      %from = arith.index_cast %p : index to i64
      %to = arith.index_cast %q : index to i64
      %ti = xetile.init_tile %0[0, 0] : {memref(places)} -> {tile(3, 1, "i32")}
      %tc = xetile.init_tile %1[0, 0] : {memref(column)} -> {tile(3, 1, "f32")}
      %i = xetile.load_tile %ti : {tile(3, 1, "i32")} -> {kind}
      %c = xetile.load_tile %tc : {tile(3, 1, "f32")} -> vector<3x1xf32>
      %zero = arith.constant dense<0> : {kind}
      %some = arith.cmpi ne, %i, %zero : {kind}
      %index = arith.index_cast %i : {kind} to vector<3x1xindex>
      %row = xetile.tile_transpose %index, [1, 0] : vector<3x1xindex> -> vector<1x3xindex>
      %mask = xetile.tile_transpose %some, [1, 0] : vector<3x1xi1> -> vector<1x3xi1>
      %value = xetile.tile_transpose %c, [1, 0] : vector<3x1xf32> -> vector<1x3xf32>
      %t = xetile.init_tile %from, %row : i64, vector<1x3xindex> -> {scattered}
      %v = xetile.load_gather %t, %mask : {scattered}, vector<1x3xi1> -> vector<1x3xf32>
      %sum = arith.addf %v, %value : vector<1x3xf32>
      %o = xetile.init_tile %to, %row : i64, vector<1x3xindex> -> {scattered}
      xetile.store_scatter %sum, %mask, %o : vector<1x3xf32>, vector<1x3xi1>, {scattered}
    """
    run_stage(stage, body, places, column, x, out)
    expected = before.copy()
    for place, value in ((5, column[0, 0]), (3, column[2, 0])):
        expected[0, place] = x[0, place] + value
    assert_equal(out, expected)


@each_stage
@pytest.mark.parametrize("columns", [64, 61])
def test_sizes_and_strides_of_the_run(rng, stage, columns):
    """The same code for matrices that the 2D unit takes and for one that it does not."""
    a, b, c = whole(rng, "f16", (12, columns)), whole(rng, "f16", (columns, columns)), poisoned((12, columns), "f32")
    dynamic = {0: "memref<?x?xf16>", 1: "memref<?x?xf16>", 2: "memref<?x?xf32>"}
    body = f"""
      %ta = xetile.init_tile %0[0, 0], [%3, %4], [%4, 1] : {dynamic[0]} -> !xetile.tile<16x16xf16>
      %tb = xetile.init_tile %1[0, 0], [%4, %4], [%4, 1] : {dynamic[1]} -> !xetile.tile<16x64xf16>
      %tc = xetile.init_tile %2[0, 0], [%3, %4], [%4, 1] : {dynamic[2]} -> !xetile.tile<16x64xf32>
      %c0 = arith.constant 0 : index
      %c16 = arith.constant 16 : index
      %zero = arith.constant dense<0.0> : vector<16x64xf32>
      %r = scf.for %k = %c0 to %4 step %c16 iter_args(%sum = %zero) -> (vector<16x64xf32>) {{
        %ma = xetile.update_tile_offset %ta, [0, %k] : !xetile.tile<16x16xf16>
        %mb = xetile.update_tile_offset %tb, [%k, 0] : !xetile.tile<16x64xf16>
        %va = xetile.load_tile %ma : !xetile.tile<16x16xf16> -> vector<16x16xf16>
        %vb = xetile.load_tile %mb : !xetile.tile<16x64xf16> -> vector<16x64xf16>
        xetile.prefetch_tile %ma locality<3> : !xetile.tile<16x16xf16>
        %d = xetile.tile_mma %va, %vb, %sum
            : vector<16x16xf16>, vector<16x64xf16>, vector<16x64xf32> -> vector<16x64xf32>
        scf.yield %d : vector<16x64xf32>
      }}
      xetile.store_tile %r, %tc : vector<16x64xf32>, !xetile.tile<16x64xf32>
    """
    run_stage(stage, body, a, b, c, 12, columns, types=dynamic)
    assert_equal(c, product(a, b, "f32"))


@each_stage
@pytest.mark.parametrize("columns", [48, 50])
def test_batches_by_subviews(rng, stage, columns):
    """A subview of a memref above 2D as base, its batch known only in a loop."""
    x, out = whole(rng, "f16", (2, 3, 32, columns)), poisoned((2, 3, 32, columns), "f16")
    strided = f"memref<32x{columns}xf16, strided<[{columns}, 1], offset: ?>>"
    kind = memref(x)
    body = f"""
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      scf.for %i = %c0 to %c3 step %c1 {{
        %s = memref.subview %0[1, %i, 0, 0] [1, 1, 32, {columns}] [1, 1, 1, 1] : {kind} to {strided}
        %d = memref.subview %1[1, %i, 0, 0] [1, 1, 32, {columns}] [1, 1, 1, 1] : {kind} to {strided}
        %t = xetile.init_tile %s[0, 0] : {strided} -> !xetile.tile<32x64xf16>
        %o = xetile.init_tile %d[0, 0] : {strided} -> !xetile.tile<32x64xf16>
        %v = xetile.load_tile %t : !xetile.tile<32x64xf16> -> vector<32x64xf16>
        %n = arith.negf %v : vector<32x64xf16>
        xetile.store_tile %n, %o : vector<32x64xf16>, !xetile.tile<32x64xf16>
      }}
    """
    run_stage(stage, body, x, out)
    assert_equal(out[1], -x[1])
    assert np.isnan(out[0].astype(np.float32)).all()


@each_stage
def test_dense_constants(rng, stage):
    out = poisoned((16, 32), "f32")
    values = whole(rng, "f32", (16, 32), 100)
    rows = ", ".join("[" + ", ".join(f"{value:.1f}" for value in row) + "]" for row in values)
    body = f"""
      %o = xetile.init_tile %0[0, 0] : {memref(out)} -> !xetile.tile<16x32xf32>
      %v = arith.constant dense<[{rows}]> : vector<16x32xf32>
      xetile.store_tile %v, %o : vector<16x32xf32>, !xetile.tile<16x32xf32>
    """
    run_stage(stage, body, out)
    assert_equal(out, values)


@each_stage
def test_odd_shapes(rng, stage):
    x, out = whole(rng, "f32", (13, 29)), poisoned((13, 29), "f32")
    body = f"""
      %t = xetile.init_tile %0[0, 0] : {memref(x)} -> !xetile.tile<13x29xf32>
      %o = xetile.init_tile %1[0, 0] : {memref(out)} -> !xetile.tile<13x29xf32>
      %v = xetile.load_tile %t : !xetile.tile<13x29xf32> -> vector<13x29xf32>
      %s = xetile.tile_reduce <add> %v, [1] : vector<13x29xf32> -> vector<13x1xf32>
      %b = xetile.tile_broadcast %s, [1] : vector<13x1xf32> -> vector<13x29xf32>
      %d = arith.addf %v, %b : vector<13x29xf32>
      xetile.store_tile %d, %o : vector<13x29xf32>, !xetile.tile<13x29xf32>
    """
    run_stage(stage, body, x, out)
    assert_equal(out, x + x.sum(axis=1, keepdims=True))


@each_stage
def test_blocks_by_hand(rng, stage):
    """The RFC's internal operations: tiles that come in blocks, products, sums and repetitions of blocks."""
    a, b, c = whole(rng, "f16", (16, 32)), whole(rng, "f16", (32, 32)), whole(rng, "f32", (16, 32))
    sums, out = whole(rng, "f32", (16, 32)), poisoned((16, 32), "f32")
    before = sums.copy()
    ta, tb = tile(16, 32, "f16", inner_blocks="[8, 16]"), tile(32, 32, "f16", inner_blocks="[16, 16]")
    tc, blocks = tile(16, 32, "f32", inner_blocks="[8, 16]"), "vector<2x2x8x16xf32>"
    body = f"""
      %ta = xetile.init_tile %0[0, 0] : {memref(a)} -> {ta}
      %tb = xetile.init_tile %1[0, 0] : {memref(b)} -> {tb}
      %tc = xetile.init_tile %2[0, 0] : {memref(c)} -> {tc}
      %ts = xetile.init_tile %3[0, 0] : {memref(sums)} -> {tc}
      %to = xetile.init_tile %4[0, 0] : {memref(out)} -> {tc}
      %va = xetile.load_tile %ta : {ta} -> vector<2x2x8x16xf16>
      %vb = xetile.load_tile %tb : {tb} -> vector<2x2x16x16xf16>
      %vc = xetile.load_tile %tc : {tc} -> {blocks}
      %d = xetile.tile_mma %va, %vb, %vc : vector<2x2x8x16xf16>, vector<2x2x16x16xf16>, {blocks} -> {blocks}
      %old = xetile.atomic_rmw_tile <addf> %d, %ts : {blocks}, {tc} -> {blocks}
      %r = xetile.tile_reduce <add> %d, [1, 3] : {blocks} -> vector<2x1x8x1xf32>
      %e = xetile.tile_broadcast %r, [1, 3] : vector<2x1x8x1xf32> -> {blocks}
      %f = arith.addf %e, %old : {blocks}
      xetile.store_tile %f, %to : {blocks}, {tc}
    """
    run_stage(stage, body, a, b, c, sums, out)
    d = a.astype(np.float32) @ b.astype(np.float32) + c
    assert_equal(sums, before + d)
    assert_equal(out, d.sum(1, keepdims=True) + before)
