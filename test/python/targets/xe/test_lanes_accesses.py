# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rarer accesses of a subgroup: arrays of blocks, shared local memory by descriptors, prefetches, on the device."""

import numpy as np
import pytest
from xegpu_programs import assert_same, numbers, run
from xetile import passes
from xetile.mlir import ir

PLACES = np.random.default_rng(3).permutation(64)[:16]


def dense(values: np.ndarray) -> str:
    return f"dense<[{', '.join(map(str, values))}]>"


@pytest.mark.parametrize("dtype", ["i8", "f16", "f32"])
def test_array_of_blocks(dtype):
    a, r = numbers(dtype, 64, 128), numbers(dtype, 2, 8, 16, seed=1)
    tile = f"!xegpu.tensor_desc<8x16x{dtype}, #xegpu.block_tdesc_attr<array_length = 2>>"
    body = f"""%t = xegpu.create_nd_tdesc %a : memref<64x128x{dtype}> -> {tile}
      %v = xegpu.load_nd %t[5, 32] : {tile} -> vector<2x8x16x{dtype}>
      vector.store %v, %r[%c0, %c0, %c0] : memref<2x8x16x{dtype}>, vector<2x8x16x{dtype}>"""
    run("subgroup", body, a=a, r=r)
    assert_same(r, np.stack([a[5:13, 32:48], a[5:13, 48:64]]))


def in_shared_memory(count: int, dtype: str) -> str:
    return f"""%s = memref.alloca() : memref<{count}x{dtype}, 3>
      %whole = vector.load %a[%c0] : memref<{count}x{dtype}>, vector<{count}x{dtype}>
      vector.store %whole, %s[%c0] : memref<{count}x{dtype}, 3>, vector<{count}x{dtype}>
      gpu.barrier
      """


@pytest.mark.parametrize("dtype", ["i8", "f16", "f32"])
def test_row_in_shared_memory(dtype):
    a, r = numbers(dtype, 256), numbers(dtype, 64, seed=1)
    tile = f"!xegpu.tensor_desc<64x{dtype}, #xegpu.block_tdesc_attr<memory_space = slm>>"
    body = f"""{in_shared_memory(256, dtype)}
      %t = xegpu.create_nd_tdesc %s : memref<256x{dtype}, 3> -> {tile}
      %v = xegpu.load_nd %t[37] : {tile} -> vector<64x{dtype}>
      vector.store %v, %r[%c0] : memref<64x{dtype}>, vector<64x{dtype}>"""
    run("subgroup", body, a=a, r=r)
    assert_same(r, a[37:101])


@pytest.mark.parametrize("chunk", [1, 4])
def test_scattered_in_shared_memory(chunk):
    shape = "16" if chunk == 1 else f"16x{chunk}"
    a, r = numbers("f32", 512), numbers("f32", *map(int, shape.split("x")), seed=1)
    more = "" if chunk == 1 else f", chunk_size = {chunk}"
    tile = f"!xegpu.tensor_desc<{shape}xf32, #xegpu.scatter_tdesc_attr<memory_space = slm{more}>>"
    zeros = ", ".join(["%c0"] * r.ndim)
    body = f"""{in_shared_memory(512, "f32")}
      %o = arith.constant {dense(PLACES * chunk)} : vector<16xindex>
      %m = arith.constant dense<true> : vector<16xi1>
      %t = xegpu.create_tdesc %s, %o : memref<512xf32, 3>, vector<16xindex> -> {tile}
      %v = xegpu.load %t, %m : {tile}, vector<16xi1> -> vector<{shape}xf32>
      vector.store %v, %r[{zeros}] : memref<{shape}xf32>, vector<{shape}xf32>"""
    run("subgroup", body, a=a, r=r)
    assert_same(r, a[PLACES[:, None] * chunk + np.arange(chunk)].reshape(r.shape))


@pytest.mark.parametrize("form", ["row", "descriptor", "offsets"])
def test_prefetch_changes_nothing(form):
    a, r = numbers("f32", 512), numbers("f32", 16, seed=1)
    row, scattered = "!xegpu.tensor_desc<16xf32>", "!xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>"
    prefetch = {
        "row": f"""%t = xegpu.create_nd_tdesc %a : memref<512xf32> -> {row}
      xegpu.prefetch_nd %t[37] : {row}""",
        "descriptor": f"""%t = xegpu.create_tdesc %a, %o : memref<512xf32>, vector<16xindex> -> {scattered}
      xegpu.prefetch %t : {scattered}""",
        "offsets": "xegpu.prefetch %a[%o] : memref<512xf32>, vector<16xindex>",
    }[form]
    body = f"""%o = arith.constant {dense(PLACES)} : vector<16xindex>
      %m = arith.constant dense<true> : vector<16xi1>
      {prefetch}
      %v = xegpu.load %a[%o], %m : memref<512xf32>, vector<16xindex>, vector<16xi1> -> vector<16xf32>
      vector.store %v, %r[%c0] : memref<16xf32>, vector<16xf32>"""
    run("subgroup", body, a=a, r=r)
    assert_same(r, a[PLACES])


@pytest.mark.parametrize("scope", ["workgroup", "gpu"])
@pytest.mark.parametrize("kind", ["global", "slm"])
def test_fence_of_a_subgroup(kind, scope):
    a, r = numbers("f32", 16), numbers("f32", 16, seed=1)
    body = f"""%v = vector.load %a[%c0] : memref<16xf32>, vector<16xf32>
      xegpu.fence memory_kind = {kind}, fence_scope = {scope}
      vector.store %v, %r[%c0] : memref<16xf32>, vector<16xf32>"""
    run("subgroup", body, a=a, r=r)
    assert_same(r, a)


@pytest.mark.parametrize("kind", ["ui64", "ui32"])
def test_addresses_without_a_sign_compile(kind):
    """No operation of arith gives them: they come as arguments, which a launch from here cannot have."""
    tile = "!xegpu.tensor_desc<8x16xf32>"
    with ir.Context():
        module = ir.Module.parse(f"""
          gpu.module @device {{
            gpu.func @kernel(%p: {kind}, %r: memref<8x16xf32>) kernel {{
              %c0 = arith.constant 0 : index
              %t = xegpu.create_nd_tdesc %p, shape: [64, 64], strides: [64, 1] : {kind} -> {tile}
              %v = xegpu.load_nd %t[3, 16] : {tile} -> vector<8x16xf32>
              vector.store %v, %r[%c0, %c0] : memref<8x16xf32>, vector<8x16xf32>
              gpu.return
            }}
          }}""")
        passes.run(module, "xetile-lower-xegpu-to-binary{chip=pvc native=off xegpu-op-level=subgroup}")
        assert "gpu.binary @device" in str(module)
