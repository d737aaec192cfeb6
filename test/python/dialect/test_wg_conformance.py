# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What kernels of models need, written in workgroup-level XeTile, as SPIR-V on the CPU device, against NumPy.

The programs of the RFC's appendices are in test_rfc_device.py. `XETILE_SEED` repeats a failure.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from test_rfc_device import product, whole
from workgroups import Kernel, mapped_tile, plain_type, poisoned, run_device, wg_map
from xetile_programs import DTYPES, assert_same, vector

each_chip = pytest.mark.parametrize("chip", ["pvc", "bmg"])
BLOCK = "%bx = gpu.block_id x\n%by = gpu.block_id y\n"


def init(name: str, memref: str, array: np.ndarray, at: str, tile: str) -> str:
    return f"%{name} = xetile.init_tile %{memref}[{at}] : {plain_type(array)} -> {tile}\n"


@each_chip
@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_padding_that_is_not_zero(rng, dtype, chip):
    """64x64 tiles of a 60x60 matrix, whose rows of f16 are none for the 2D unit; the store drops what is outside."""
    x, y = whole(rng, dtype, 60, 60), poisoned((64, 64), dtype)
    tile, kind = mapped_tile((64, 64), dtype, wg_map((4, 2), (16, 32))), vector((64, 64), dtype)
    body = (
        init("tx", "X", x, "0, 0", tile)
        + init("ty", "Y", y, "0, 0", tile)
        + f"%v = xetile.load_tile %tx {{padding = 1.0 : {dtype}}} : {tile} -> {kind}\n"
        + f"xetile.store_tile %v, %ty : {kind}, {tile}\n"
    )
    expected = np.ones((64, 64), y.dtype)
    expected[:60, :60] = x
    assert_same(run_device(Kernel(body, {"X": x, "Y": y}, 8, chip=chip), rng)["Y"], expected)


@each_chip
def test_split_k_by_atomics(rng, chip):
    """64x64x8192 in eight workgroups, of which each adds its part of k to the result."""
    k, parts, step = 8192, 8, 32
    a, b, c = whole(rng, "bf16", 64, k), whole(rng, "bf16", k, 64), np.zeros((64, 64), np.float32)
    map_ = wg_map((2, 2), (32, 32))
    ta, tb, tc = (
        mapped_tile(shape, dtype) for shape, dtype in [((64, step), "bf16"), ((step, 64), "bf16"), ((64, 64), "f32")]
    )
    body = f"""%bx = gpu.block_id x
      %part = arith.constant {k // parts} : index
      %step = arith.constant {step} : index
      %start = arith.muli %bx, %part : index
      %end = arith.addi %start, %part : index
      %zero = arith.constant dense<0.0> : vector<64x64xf32>
      %sum = scf.for %k = %start to %end step %step iter_args(%acc = %zero) -> (vector<64x64xf32>) {{
        {init("ta", "A", a, "0, %k", ta)}
        {init("tb", "B", b, "%k, 0", tb)}
        %va = xetile.load_tile %ta : {ta} -> {vector((64, step), "bf16")}
        %vb = xetile.load_tile %tb : {tb} -> {vector((step, 64), "bf16")}
        %d = xetile.tile_mma %va, %vb, %acc {{wg_map = {map_}}}
            : {vector((64, step), "bf16")}, {vector((step, 64), "bf16")}, vector<64x64xf32> -> vector<64x64xf32>
        scf.yield %d : vector<64x64xf32>
      }}
      {init("tc", "C", c, "0, 0", tc)}
      %old = xetile.atomic_rmw_tile <addf> %sum, %tc : vector<64x64xf32>, {tc} -> vector<64x64xf32>
    """
    result = run_device(Kernel(body, {"A": a, "B": b, "C": c}, 4, grid=(parts, 1), chip=chip), rng)["C"]
    assert_same(result, product(a, b))


@each_chip
@pytest.mark.parametrize("dim", [0, 1])
def test_reductions(rng, dim, chip):
    """1024x1024 along either dimension; a workgroup has 32 rows or columns, and its subgroups share what is summed."""
    x = whole(rng, "f32", 1024, 1024)
    y = poisoned((1024, 1) if dim else (1, 1024), "f32")
    shape, flat = ((32, 1024), (32, 1)) if dim else ((1024, 32), (1, 32))
    map_ = wg_map((4, 8), (8, 128)) if dim else wg_map((16, 2), (64, 16))
    tile, small = mapped_tile(shape, "f32", map_), mapped_tile(flat, "f32")
    at = "%at, 0" if dim else "0, %at"
    body = f"""{BLOCK}
      %size = arith.constant 32 : index
      %at = arith.muli %bx, %size : index
      {init("tx", "X", x, at, tile)}
      {init("ty", "Y", y, at, small)}
      %v = xetile.load_tile %tx : {tile} -> {vector(shape, "f32")}
      %r = xetile.tile_reduce <add> %v, [{dim}] : {vector(shape, "f32")} -> {vector(flat, "f32")}
      xetile.store_tile %r, %ty : {vector(flat, "f32")}, {small}
    """
    result = run_device(Kernel(body, {"X": x, "Y": y}, 32, grid=(32, 1), chip=chip), rng)["Y"]
    assert_same(result, x.sum(dim, keepdims=True))


each_width = pytest.mark.parametrize("width", [128, 1024])


def by_rows(rng: np.random.Generator, op: str, width: int, chip: str) -> tuple[np.ndarray, np.ndarray]:
    """Y = op(X) on 1024 rows of `width`, sixteen in a workgroup of eight subgroups.

    `op` makes %y, a VECTOR, of %x and of %n, the width, a COLUMN.
    """
    x, y = rng.standard_normal((1024, width)).astype(np.float32), poisoned((1024, width), "f32")
    tile, kind = mapped_tile((16, width), "f32", wg_map((2, 4), (8, width // 4))), vector((16, width), "f32")
    op = op.replace("VECTOR", kind).replace("COLUMN", vector((16, 1), "f32"))
    body = f"""%bx = gpu.block_id x
      %size = arith.constant 16 : index
      %at = arith.muli %bx, %size : index
      {init("tx", "X", x, "%at, 0", tile)}
      {init("ty", "Y", y, "%at, 0", tile)}
      %x = xetile.load_tile %tx : {tile} -> {kind}
      %n = arith.constant dense<{width}.0> : vector<16x1xf32>
      {op}
      xetile.store_tile %y, %ty : {kind}, {tile}
    """
    return x, run_device(Kernel(body, {"X": x, "Y": y}, 8, grid=(64, 1), chip=chip), rng)["Y"]


@each_chip
@each_width
def test_softmax(rng, width, chip):
    x, y = by_rows(
        rng,
        """%m = xetile.tile_reduce <maximumf> %x, [1] : VECTOR -> COLUMN
      %mb = xetile.tile_broadcast %m, [1] : COLUMN -> VECTOR
      %d = arith.subf %x, %mb : VECTOR
      %e = math.exp %d : VECTOR
      %s = xetile.tile_reduce <add> %e, [1] : VECTOR -> COLUMN
      %sb = xetile.tile_broadcast %s, [1] : COLUMN -> VECTOR
      %y = arith.divf %e, %sb : VECTOR""",
        width,
        chip,
    )
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(1, keepdims=True), rtol=1e-5)


@each_chip
@each_width
def test_layer_norm(rng, width, chip):
    x, y = by_rows(
        rng,
        """%s = xetile.tile_reduce <add> %x, [1] : VECTOR -> COLUMN
      %mean = arith.divf %s, %n : COLUMN
      %mb = xetile.tile_broadcast %mean, [1] : COLUMN -> VECTOR
      %d = arith.subf %x, %mb : VECTOR
      %q = arith.mulf %d, %d : VECTOR
      %qs = xetile.tile_reduce <add> %q, [1] : VECTOR -> COLUMN
      %var = arith.divf %qs, %n : COLUMN
      %tiny = arith.constant dense<1.0e-5> : COLUMN
      %more = arith.addf %var, %tiny : COLUMN
      %root = math.rsqrt %more : COLUMN
      %rb = xetile.tile_broadcast %root, [1] : COLUMN -> VECTOR
      %y = arith.mulf %d, %rb : VECTOR""",
        width,
        chip,
    )
    wide = x.astype(np.float64)
    d = wide - wide.mean(1, keepdims=True)
    np.testing.assert_allclose(y, d / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5), rtol=1e-5, atol=1e-5)


@each_chip
@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_gather_and_scatter(rng, dtype, chip):
    """1x256 tiles under masks, from a row and to a row; what the mask keeps out is padding, or stays."""
    x, y = whole(rng, dtype, 1, 1000), whole(rng, dtype, 1, 1000)
    places = rng.permutation(1000)[:256].reshape(1, 256).astype(np.int32)
    mask = rng.integers(0, 2, (1, 256)).astype(np.int8)
    tile, wide, bits = (
        mapped_tile((1, 256), dtype, wg_map((1, 8), (1, 32)), scatter="true"),
        vector((1, 256), dtype),
        "vector<1x256xi1>",
    )
    body = f"""
      {init("ti", "I", places, "0, 0", mapped_tile((1, 256), "i32"))}
      {init("tm", "M", mask, "0, 0", mapped_tile((1, 256), "i8"))}
      %i = xetile.load_tile %ti : !xetile.tile<1x256xi32> -> vector<1x256xi32>
      %m = xetile.load_tile %tm : !xetile.tile<1x256xi8> -> vector<1x256xi8>
      %zero = arith.constant dense<0> : vector<1x256xi8>
      %mask = arith.cmpi ne, %m, %zero : vector<1x256xi8>
      %all = arith.cmpi eq, %m, %m : vector<1x256xi8>
      %places = arith.index_cast %i : vector<1x256xi32> to vector<1x256xindex>
      %px = memref.extract_aligned_pointer_as_index %X : {plain_type(x)} -> index
      %py = memref.extract_aligned_pointer_as_index %Y : {plain_type(y)} -> index
      %ax = arith.index_cast %px : index to i64
      %ay = arith.index_cast %py : index to i64
      %from = xetile.init_tile %ax, %places : i64, vector<1x256xindex> -> {tile}
      %to = xetile.init_tile %ay, %places : i64, vector<1x256xindex> -> {tile}
      %v = xetile.load_gather %from, %mask {{padding = 7.0 : {dtype}}} : {tile}, {bits} -> {wide}
      %w = arith.addf %v, %v : {wide}
      xetile.store_scatter %w, %all, %to : {wide}, {bits}, {tile}
    """
    arrays = {"X": x, "Y": y, "I": places, "M": mask}
    expected = y.copy()
    expected[0, places[0]] = 2 * np.where(mask[0] != 0, x[0, places[0]], DTYPES[dtype].type(7))
    assert_same(run_device(Kernel(body, arrays, 8, chip=chip), rng)["Y"], expected)


@each_chip
def test_batches_of_a_matrix_above_two_dimensions(rng, chip):
    """2x3 products of 128x256x96, each in one workgroup, from subviews of memrefs of four dimensions."""
    m, n, k = 128, 256, 96
    a, b, c = whole(rng, "f16", 2, 3, m, k), whole(rng, "f16", 2, 3, k, n), poisoned((2, 3, m, n), "f32")
    step, body = 32, BLOCK
    shapes = {"A": (a, "f16", (m, step)), "B": (b, "f16", (step, n)), "C": (c, "f32", (m, n))}
    tiles = {name: mapped_tile(shape, dtype) for name, (_, dtype, shape) in shapes.items()}
    views = {}
    for name, (array, dtype, _) in shapes.items():
        rows, columns = array.shape[2:]
        views[name] = f"memref<{rows}x{columns}x{dtype}, strided<[{columns}, 1], offset: ?>>"
        body += (
            f"%s{name} = memref.subview %{name}[%bx, %by, 0, 0] [1, 1, {rows}, {columns}] [1, 1, 1, 1]"
            f" : {plain_type(array)} to {views[name]}\n"
        )
    body += f"""%c0 = arith.constant 0 : index
      %step = arith.constant {step} : index
      %end = arith.constant {k} : index
      %zero = arith.constant dense<0.0> : {vector((m, n), "f32")}
      %sum = scf.for %k = %c0 to %end step %step iter_args(%acc = %zero) -> ({vector((m, n), "f32")}) {{
        %ta = xetile.init_tile %sA[0, %k] : {views["A"]} -> {tiles["A"]}
        %tb = xetile.init_tile %sB[%k, 0] : {views["B"]} -> {tiles["B"]}
        %va = xetile.load_tile %ta : {tiles["A"]} -> {vector((m, step), "f16")}
        %vb = xetile.load_tile %tb : {tiles["B"]} -> {vector((step, n), "f16")}
        %d = xetile.tile_mma %va, %vb, %acc {{wg_map = {wg_map((4, 4), (32, 64))}}}
            : {vector((m, step), "f16")}, {vector((step, n), "f16")}, {vector((m, n), "f32")} -> {vector((m, n), "f32")}
        scf.yield %d : {vector((m, n), "f32")}
      }}
      %tc = xetile.init_tile %sC[0, 0] : {views["C"]} -> {tiles["C"]}
      xetile.store_tile %sum, %tc : {vector((m, n), "f32")}, {tiles["C"]}
    """
    result = run_device(Kernel(body, {"A": a, "B": b, "C": c}, 16, grid=(2, 3), chip=chip), rng)["C"]
    assert_same(result, product(a, b))


# a and b, the sums, what is stored.
PRODUCTS = [
    ("f16", "f16", "f16"),
    ("bf16", "bf16", "bf16"),
    ("f16", "f32", "f16"),
    ("i8", "i32", "i32"),
    ("f32", "f32", "f32"),
]


@pytest.mark.one_in(3)
@each_chip
@pytest.mark.parametrize(("dtype", "sums", "out"), PRODUCTS)
def test_types_of_products(rng, dtype, sums, out, chip):
    """128x256x96 with a tail along k: low-precision sums and results, int8, tf32; small numbers are exact in all."""
    m, n, k = 128, 256, 100
    step = {"i8": 32, "f32": 8}.get(dtype, 16)
    a, b, c = whole(rng, dtype, m, k), whole(rng, dtype, k, n), poisoned((m, n), out)
    if sums == "bf16":  # whole numbers are exact up to 256
        a, b = (np.where(rng.random(x.shape) < 0.9, 0, x.astype(np.float32)).astype(ml_dtypes.bfloat16) for x in (a, b))
    ta, tb, tc = mapped_tile((m, step), dtype), mapped_tile((step, n), dtype), mapped_tile((m, n), out)
    kind, result = vector((m, n), sums), vector((m, n), out)
    stored = "%sum" if sums == out else "%narrow"
    narrow = "" if sums == out else f"%narrow = arith.truncf %sum : {kind} to {result}\n"
    body = f"""%c0 = arith.constant 0 : index
      %step = arith.constant {step} : index
      %end = arith.constant {k} : index
      %zero = arith.constant dense<{"0" if sums == "i32" else "0.0"}> : {kind}
      %sum = scf.for %k = %c0 to %end step %step iter_args(%acc = %zero) -> ({kind}) {{
        {init("ta", "A", a, "0, %k", ta)}
        {init("tb", "B", b, "%k, 0", tb)}
        %va = xetile.load_tile %ta : {ta} -> {vector((m, step), dtype)}
        %vb = xetile.load_tile %tb : {tb} -> {vector((step, n), dtype)}
        %d = xetile.tile_mma %va, %vb, %acc {{wg_map = {wg_map((4, 4), (32, 64))}}}
            : {vector((m, step), dtype)}, {vector((step, n), dtype)}, {kind} -> {kind}
        scf.yield %d : {kind}
      }}
      {narrow}
      {init("tc", "C", c, "0, 0", tc)}
      xetile.store_tile {stored}, %tc : {result}, {tc}
    """
    actual = run_device(Kernel(body, {"A": a, "B": b, "C": c}, 16, chip=chip), rng)["C"]
    expected = (a.astype(np.float64) @ b.astype(np.float64)).astype(c.dtype)
    np.testing.assert_array_equal(actual.astype(np.float64), expected.astype(np.float64))
