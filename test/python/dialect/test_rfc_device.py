# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The products of the RFC's appendices with the RFC's tiles and maps, as SPIR-V on the CPU device, against NumPy.

Their text is that of test/IR/rfc-appendix-*.mlir; only the matrices are smaller than 4096. Values are small whole
numbers, so that results are exact. `XETILE_SEED` repeats a failure.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from test_rfc_programs import PROGRAMS, scaled
from workgroups import Kernel, plain_type, poisoned, run_device, wg_map
from xetile import passes
from xetile.mlir import ir
from xetile_programs import DTYPES, assert_same

SIZE = 512
each_chip = pytest.mark.parametrize("chip", ["pvc", "bmg"])


def whole(rng: np.random.Generator, dtype: str, *shape: int) -> np.ndarray:
    return rng.integers(-2, 3, shape).astype(DTYPES[dtype])


def function(code: str, name: str) -> tuple[str, str]:
    """The aliases of a file, and the body of one of its functions."""
    body = re.search(rf"^func\.func @{name}\([^{{]*\{{\n(.*?)^  return", code, flags=re.M | re.S)
    assert body, name
    return "\n".join(re.findall(r"^#.*$", code, flags=re.M)), body[1]


def kernel(
    appendix: str,
    arrays: dict[str, np.ndarray],
    subgroups: int,
    chip: str,
    name: str = "test_gemm",
    before: str = "",
    grid: tuple[int, int] = (1, 1),
) -> Kernel:
    code = (PROGRAMS / f"rfc-appendix-{appendix}.mlir").read_text()
    if appendix == "2-5":
        code = half_the_rows(code)
    aliases, body = function(scaled(code, SIZE, parts=1), name)
    return Kernel(before + body, arrays, subgroups, grid, aliases=aliases, chip=chip)


def half_the_rows(code: str) -> str:
    """The RFC's 64x64 of a subgroup are 16 KB of sums, all the registers that there are: 32x64 are what fits."""
    code = re.sub(r"^  %c256 = .*\n", "", code, flags=re.M)
    code = code.replace("%c512", "%c256").replace("arith.constant 512", "arith.constant 256")
    code = re.sub(r"(memref<[^>]*>)|512x", lambda match: match[1] or "256x", code)
    return code.replace("sg_data = [64, ", "sg_data = [32, ").replace("sg_data = [16, ", "sg_data = [8, ")


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a.astype(np.float32) @ b.astype(np.float32)


@each_chip
@pytest.mark.parametrize(("appendix", "subgroups"), [("2-1", 32), ("2-4", 64), ("2-5", 32)])
def test_gemm(rng, appendix, subgroups, chip):
    """Prefetched (2.1), loaded together into a ring of buffers in shared memory (2.4), two levels of caches (2.5)."""
    a, b, c = whole(rng, "f16", SIZE, SIZE), whole(rng, "f16", SIZE, SIZE), poisoned((SIZE, SIZE), "f32")
    memory = "%slm_a = memref.alloca() : memref<256x128xf16, 3>\n%slm_b = memref.alloca() : memref<128x256xf16, 3>\n"
    code = kernel(appendix, {"a": a, "b": b, "c": c}, subgroups, chip, before=memory if appendix == "2-4" else "")
    assert_same(run_device(code, rng)["c"], product(a, b))


@each_chip
def test_transpose_broadcast_and_reduction(rng, chip):
    """2.2: a transpose and a conversion through shared memory, sums of all columns by atomics."""
    a, bt = whole(rng, "f16", SIZE, SIZE), whole(rng, "f16", SIZE, SIZE)
    bcast, res = whole(rng, "f32", SIZE), np.zeros(SIZE, np.float32)
    code = kernel("2-2", {"a": a, "bt": bt, "bcast": bcast, "res": res}, 32, chip)
    assert_same(run_device(code, rng)["res"], (product(a, bt.T) + bcast).sum(1))


@each_chip
@pytest.mark.parametrize("name", ["through_shared_memory", "in_registers"])
def test_transpose_of_256x32(rng, name, chip):
    """2.3: the same transpose under two maps, all over a matrix; the second needs no shared memory."""
    bt, b = whole(rng, "f16", SIZE, SIZE), poisoned((SIZE, SIZE), "f16")
    place = """
      %x = gpu.block_id x
      %y = gpu.block_id y
      %rows = arith.constant 256 : index
      %columns = arith.constant 32 : index
      %j = arith.muli %x, %rows : index
      %k = arith.muli %y, %columns : index
    """
    code = kernel("2-3", {"BT": bt, "B": b}, 32, chip, name, before=place, grid=(SIZE // 256, SIZE // 32))
    assert ("memref.alloca" in code.distributed()) == (name == "through_shared_memory")
    assert_same(run_device(code, rng)["B"], bt.T)


@each_chip
def test_a_tile_with_map_order_and_blocks(rng, chip):
    """The RFC's tile with all three attributes: rounds of rows, each of two subgroups, of a column-major matrix, in
    blocks."""
    a, b = whole(rng, "f16", SIZE, SIZE).T, poisoned((SIZE, SIZE), "f16")
    tile, rows = "!xetile.tile<128x128xf16, #all>", "!xetile.tile<128x128xf16, #rows>"
    body = f"""
      %x = gpu.block_id x
      %y = gpu.block_id y
      %side = arith.constant 128 : index
      %m = arith.muli %x, %side : index
      %n = arith.muli %y, %side : index
      %ta = xetile.init_tile %a[%m, %n] : {plain_type(a)} -> {tile}
      %v = xetile.load_tile %ta : {tile} -> vector<4x8x32x16xf16>
      %twice = arith.addf %v, %v : vector<4x8x32x16xf16>
      %whole = xetile.tile_unpack %twice {{inner_blocks = array<i64: 32, 16>}}
          : vector<4x8x32x16xf16> -> vector<128x128xf16>
      %tb = xetile.init_tile %b[%m, %n] : {plain_type(b)} -> {rows}
      xetile.store_tile %whole, %tb : vector<128x128xf16>, {rows}
    """
    aliases = f"""
      #map = {wg_map((2, 2), (32, 128))}
      #all = #xetile.tile_attr<wg_map = #map, order = [0, 1], inner_blocks = [32, 16]>
      #rows = #xetile.tile_attr<wg_map = #map>
    """
    code = Kernel(body, {"a": a, "b": b}, 4, (SIZE // 128, SIZE // 128), aliases=aliases, chip=chip)
    assert_same(run_device(code, rng)["b"], a + a)


@each_chip
@pytest.mark.parametrize("name", ["plain", "viewed_by_order", "transposed_as_a_vector"])
def test_programs_of_appendix_1(rng, name, chip):
    """Matrices given by address, with sizes and a place that only a run knows; B as it is, by `order`, and transposed
    as a vector. One workgroup for each 64x64 of the result; the k of the place is one step's."""
    a, b, c = whole(rng, "bf16", SIZE, SIZE), whole(rng, "bf16", SIZE, SIZE), poisoned((SIZE, SIZE), "f32")
    k = 32 * int(rng.integers(SIZE // 32))
    right = "B" if name == "plain" else "BT"
    arrays = {"A": a, right: b if name == "plain" else np.ascontiguousarray(b.T), "C": c}
    memrefs = {f"{argument}_memref": array for argument, array in arrays.items()}
    memrefs["sizes"] = np.array([SIZE, SIZE, SIZE, k], np.int32)
    aliases, body = function((PROGRAMS / "rfc-appendix-1.mlir").read_text(), name)
    before = "".join(
        f"%{argument}_index = memref.extract_aligned_pointer_as_index %{argument}_memref : {plain_type(array)} -> index"
        f"\n%{argument} = arith.index_cast %{argument}_index : index to i64\n"
        for argument, array in arrays.items()
    )
    for number, size in enumerate("MNKk"):
        before += f"""
          %{size}_place = arith.constant {number} : index
          %{size}_size = memref.load %sizes[%{size}_place] : memref<4xi32>
          %{size} = arith.index_cast %{size}_size : i32 to index
        """
    before += """
      %x = gpu.block_id x
      %y = gpu.block_id y
      %side = arith.constant 64 : index
      %i = arith.muli %x, %side : index
      %j = arith.muli %y, %side : index
    """
    mma = body.replace("tile_mma %va, %vb", f"tile_mma %va, %vb {{wg_map = {wg_map((2, 2), (32, 32))}}}")
    code = Kernel(before + mma, memrefs, 4, (SIZE // 64, SIZE // 64), aliases=aliases, chip=chip)
    assert_same(run_device(code, rng)["C_memref"], product(a[:, k : k + 32], b[k : k + 32]))


VECTORS = """
func.func @f(%A: {A}, %B: {B}, %C: {C}, %i: index, %j: index, %k: index) {{
  %zero = arith.constant 0 : index
  %pad = arith.constant 0.0 : bf16
  %none = arith.constant dense<0.0> : vector<64x64xbf16>
  %a = memref.subview %A[%i, %k] [64, 32] [1, 1] : {A} to memref<64x32xbf16, strided<[{size}, 1], offset: ?>>
  %va = vector.transfer_read %a[%zero, %zero], %pad
      : memref<64x32xbf16, strided<[{size}, 1], offset: ?>>, vector<64x32xbf16>
  {right}
  %vc = vector.contract {{
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>
  }} %va, %vb, %none : vector<64x32xbf16>, vector<32x64xbf16> into vector<64x64xbf16>
  %c = memref.subview %C[%i, %j] [64, 64] [1, 1] : {C} to memref<64x64xbf16, strided<[{size}, 1], offset: ?>>
  vector.transfer_write %vc, %c[%zero, %zero] : vector<64x64xbf16>, memref<64x64xbf16, strided<[{size}, 1], offset: ?>>
  return
}}"""
COLUMN_MAJOR = """
  %b = memref.subview %B[%k, %j] [32, 64] [1, 1] : {B} to memref<32x64xbf16, strided<[1, {size}], offset: ?>>
  %vb = vector.transfer_read %b[%zero, %zero], %pad
      : memref<32x64xbf16, strided<[1, {size}], offset: ?>>, vector<32x64xbf16>"""
TRANSPOSED = """
  %b = memref.subview %B[%j, %k] [64, 32] [1, 1] : {B} to memref<64x32xbf16, strided<[{size}, 1], offset: ?>>
  %vbt = vector.transfer_read %b[%zero, %zero], %pad
      : memref<64x32xbf16, strided<[{size}, 1], offset: ?>>, vector<64x32xbf16>
  %vb = vector.transpose %vbt, [1, 0] : vector<64x32xbf16> to vector<32x64xbf16>"""


@each_chip
@pytest.mark.parametrize("right", [COLUMN_MAJOR, TRANSPOSED], ids=["column_major", "transposed"])
def test_vector_programs_of_appendix_1(rng, right, chip):
    """The same on memrefs and vectors, brought to XeTile: B is a column-major view, or transposed as a vector."""
    a, bt, c = whole(rng, "bf16", SIZE, SIZE), whole(rng, "bf16", SIZE, SIZE), poisoned((SIZE, SIZE), "bf16")
    k = 32 * int(rng.integers(SIZE // 32))
    arrays = {"arg0": a, "arg1": bt.T if right == COLUMN_MAJOR else bt, "arg2": c}
    types = dict(zip("ABC", map(plain_type, arrays.values()), strict=True))
    text = VECTORS.format(right=right.format(size=SIZE, **types), size=SIZE, **types)
    with ir.Context():
        module = ir.Module.parse(text)
        passes.run(module, "func.func(convert-vector-to-xetile,canonicalize)")
        _, body = function(module.operation.get_asm(use_local_scope=True).replace("\n  ", "\n"), "f")
    place = f"""
      %x = gpu.block_id x
      %y = gpu.block_id y
      %side = arith.constant 64 : index
      %arg3 = arith.muli %x, %side : index
      %arg4 = arith.muli %y, %side : index
      %arg5 = arith.constant {k} : index
    """
    mma = re.sub(r"(tile_mma (?:%\w+(?:, )?)+)", rf"\1 {{wg_map = {wg_map((2, 2), (32, 32))}}}", body)
    code = Kernel(place + mma, arrays, 4, (SIZE // 64, SIZE // 64), chip=chip)
    expected = product(a[:, k : k + 32], bt.T[k : k + 32]).astype(DTYPES["bf16"])
    assert_same(run_device(code, rng)["arg2"], expected)
