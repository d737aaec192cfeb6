# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels written in XeTile, lowered by `xetile-lower-to-binary`, run on the device and compared with NumPy.

The schedules do not reach these: maps of every kind, tiles that hang over the edges, moved tiles, other bases, int8.
"""

import ctypes

import numpy as np
import pytest
from xetile import passes, runtime
from xetile.mlir import ir
from xetile.mlir.execution_engine import ExecutionEngine
from xetile.mlir.runtime import get_ranked_memref_descriptor

MLIR_TYPES = {"float16": "f16", "float32": "f32", "int8": "i8", "int32": "i32"}


def assert_product(c: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
    """c is a @ b, as far as sums of f32 in another order are: terms may cancel, so the bound is of the terms."""
    exact = a.astype(np.float64) @ b.astype(np.float64)
    terms = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
    assert (np.abs(c - exact) <= 2e-6 * terms).all(), np.abs(c - exact).max()


def run_kernel(
    body: str,
    arrays: dict[str, np.ndarray],
    grid: tuple[int, int],
    work_items: int,
    types: dict[str, str] | None = None,
) -> None:
    """Runs `body` as a gpu.func whose memrefs are `arrays` by name; writes to them in place.

    `types` replaces a memref's type, for layouts and dynamic shapes.
    """
    kinds = {
        name: f"memref<{'x'.join(map(str, array.shape))}x{MLIR_TYPES[array.dtype.name]}>"
        for name, array in arrays.items()
    } | (types or {})
    parameters = ", ".join(f"%{name}: {kind}" for name, kind in kinds.items())
    arguments = ", ".join(f"%{name} : {kind}" for name, kind in kinds.items())
    with ir.Context():
        module = ir.Module.parse(f"""
module attributes {{gpu.container_module}} {{
  gpu.module @device {{
    gpu.func @kernel({parameters}) kernel attributes {{known_block_size = array<i32: {work_items}, 1, 1>}} {{
      {body}
      gpu.return
    }}
  }}
  func.func @main({parameters}) attributes {{llvm.emit_c_interface}} {{
    %one = arith.constant 1 : index
    %x = arith.constant {grid[0]} : index
    %y = arith.constant {grid[1]} : index
    %threads = arith.constant {work_items} : index
    gpu.launch_func @device::@kernel blocks in (%x, %y, %one) threads in (%threads, %one, %one) args({arguments})
    return
  }}
}}""")
        passes.run(module, "xetile-lower-to-binary{chip=pvc native=off}")
        with runtime.checked():
            engine = ExecutionEngine(module, opt_level=2, shared_libs=[str(runtime.library_path())])
            engine.initialize()  # loads the kernel, which a global constructor does
            descriptors = [ctypes.pointer(ctypes.pointer(get_ranked_memref_descriptor(a))) for a in arrays.values()]
            engine.invoke("main", *descriptors)


def poisoned(shape: tuple[int, ...], dtype: type = np.float32) -> np.ndarray:
    """Not a number, or -99: an element that the kernel leaves out cannot pass for a result."""
    return np.full(shape, np.nan if np.issubdtype(dtype, np.floating) else -99, dtype)


GEMM = """
  %c0 = arith.constant 0 : index
  %cm = arith.constant {wg_m} : index
  %cn = arith.constant {wg_n} : index
  %k_end = arith.constant {k} : index
  %k_step = arith.constant {k_step} : index
  %bx = gpu.block_id x
  %by = gpu.block_id y
  %m = arith.muli %bx, %cm : index
  %n = arith.muli %by, %cn : index
  %zero = arith.constant dense<{zero}> : vector<{wg_m}x{wg_n}x{out}>
  %ta = xetile.init_tile %A[%m, 0] : {A} -> !xetile.tile<{wg_m}x{k_step}x{element}>
  %tb = xetile.init_tile %B[0, %n] : {B} -> !xetile.tile<{k_step}x{wg_n}x{element}>
  %r:3 = scf.for %i = %c0 to %k_end step %k_step iter_args(%sum = %zero, %a = %ta, %b = %tb)
      -> (vector<{wg_m}x{wg_n}x{out}>,
          !xetile.tile<{wg_m}x{k_step}x{element}>, !xetile.tile<{k_step}x{wg_n}x{element}>) {{
    %va = xetile.load_tile %a : !xetile.tile<{wg_m}x{k_step}x{element}> -> vector<{wg_m}x{k_step}x{element}>
    %vb = xetile.load_tile %b : !xetile.tile<{k_step}x{wg_n}x{element}> -> vector<{k_step}x{wg_n}x{element}>
    %d = xetile.tile_mma %va, %vb, %sum {{wg_map = #xetile.wg_map<sg_layout = {layout}, sg_data = {data}>}}
        : vector<{wg_m}x{k_step}x{element}>, vector<{k_step}x{wg_n}x{element}>, vector<{wg_m}x{wg_n}x{out}>
        -> vector<{wg_m}x{wg_n}x{out}>
    %na = xetile.update_tile_offset %a, [0, %k_step] : !xetile.tile<{wg_m}x{k_step}x{element}>
    %nb = xetile.update_tile_offset %b, [%k_step, 0] : !xetile.tile<{k_step}x{wg_n}x{element}>
    scf.yield %d, %na, %nb
        : vector<{wg_m}x{wg_n}x{out}>, !xetile.tile<{wg_m}x{k_step}x{element}>, !xetile.tile<{k_step}x{wg_n}x{element}>
  }}
  %tc = xetile.init_tile %C[%m, %n] : {C} -> !xetile.tile<{wg_m}x{wg_n}x{out}>
  xetile.store_tile %r#0, %tc : vector<{wg_m}x{wg_n}x{out}>, !xetile.tile<{wg_m}x{wg_n}x{out}>
"""


def gemm(
    m: int,
    n: int,
    k: int,
    tile: tuple[int, int, int],
    layout: list[int],
    data: list[int],
    element: str = "f16",
    out: str = "f32",
    **kinds: str,
) -> tuple[str, tuple[int, int], int]:
    """The body, grid and work-items of C = A * B with workgroup tile (m, n, k step) and a map of the result."""
    wg_m, wg_n, k_step = tile
    memrefs = {
        "A": f"memref<{m}x{k}x{element}>",
        "B": f"memref<{k}x{n}x{element}>",
        "C": f"memref<{m}x{n}x{out}>",
    } | kinds
    body = GEMM.format(
        wg_m=wg_m,
        wg_n=wg_n,
        k=k,
        k_step=k_step,
        layout=layout,
        data=data,
        element=element,
        out=out,
        zero="0" if out == "i32" else "0.0",
        **memrefs,
    )
    return body, (-(-m // wg_m), -(-n // wg_n)), layout[0] * layout[1] * 16


@pytest.mark.parametrize(
    ("tile", "layout", "data"),
    [
        ((64, 64, 32), [2, 2], [32, 32]),  # one piece each
        ((32, 64, 16), [1, 1], [32, 64]),  # one subgroup
        ((128, 128, 32), [2, 2], [32, 32]),  # round-robin: four pieces each
        ((64, 32, 32), [4, 4], [32, 32]),  # wrap-around: eight subgroups share each piece
        ((48, 96, 32), [2, 3], [24, 32]),  # sizes that are no powers of two
    ],
)
def test_maps(rng: np.random.Generator, tile: tuple[int, int, int], layout: list[int], data: list[int]) -> None:
    m, n, k = 192, 192, 96
    a = rng.standard_normal((m, k)).astype(np.float16)
    b = rng.standard_normal((k, n)).astype(np.float16)
    c = poisoned((m, n))
    run_kernel(*_with(gemm(m, n, k, tile, layout, data), {"A": a, "B": b, "C": c}))
    assert_product(c, a, b)


@pytest.mark.parametrize(
    ("tile", "layout", "data"),
    [
        ((64, 64, 256), [2, 1], [32, 64]),  # a and b in slices of 32
        ((32, 64, 128), [1, 1], [32, 32]),  # two pieces: a is read twice and stays whole, b comes in slices
        ((48, 96, 192), [2, 1], [24, 96]),  # slices of 16 beside 9 KB of sums
    ],
)
def test_k_in_slices(rng: np.random.Generator, tile: tuple[int, int, int], layout: list[int], data: list[int]) -> None:
    """Steps of k whose operands do not fit the registers whole; the last step hangs over the edge of k."""
    m, n, k = 100, 192, 2 * tile[2] - 48
    a = rng.standard_normal((m, k)).astype(np.float16)
    b = rng.standard_normal((k, n)).astype(np.float16)
    c = poisoned((m, n))
    run_kernel(*_with(gemm(m, n, k, tile, layout, data), {"A": a, "B": b, "C": c}))
    assert_product(c, a, b)


def test_slices_of_int8(rng: np.random.Generator) -> None:
    m, n, k = 64, 64, 1024
    a = rng.integers(-128, 128, (m, k), np.int8)
    b = rng.integers(-128, 128, (k, n), np.int8)
    c = poisoned((m, n), np.int32)
    run_kernel(*_with(gemm(m, n, k, (32, 64, 512), [1, 1], [32, 64], "i8", "i32"), {"A": a, "B": b, "C": c}))
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))


def test_sums_of_a_loop_stored_as_bytes(rng: np.random.Generator) -> None:
    """A lane has a column of the sums, not the two bytes that upstream gives to it where bytes are stored."""
    m, n, k = 64, 128, 128
    a = rng.integers(-128, 128, (m, k), np.int8)
    b = rng.integers(-128, 128, (k, n), np.int8)
    c = poisoned((m, n), np.int8)
    body, grid, work_items = gemm(m, n, k, (32, 64, 32), [2, 2], [16, 32], "i8", "i32")
    body = f"""{body.partition("%tc")[0]}
      %eight = arith.constant dense<8> : vector<32x64xi32>
      %shifted = arith.shrsi %r#0, %eight : vector<32x64xi32>
      %bytes = arith.trunci %shifted : vector<32x64xi32> to vector<32x64xi8>
      %tc = xetile.init_tile %C[%m, %n] : memref<{m}x{n}xi8> -> !xetile.tile<32x64xi8>
      xetile.store_tile %bytes, %tc : vector<32x64xi8>, !xetile.tile<32x64xi8>
    """
    run_kernel(body, {"A": a, "B": b, "C": c}, grid, work_items)
    np.testing.assert_array_equal(c, (a.astype(np.int32) @ b.astype(np.int32) >> 8).astype(np.int8))


def test_two_maps_with_the_same_pieces(rng: np.random.Generator) -> None:
    """B's own grid is 4 x 8, the result's 8 x 4; of 32 x 256 both give a subgroup the same columns."""
    a = rng.standard_normal((256, 32)).astype(np.float16)
    b = rng.standard_normal((32, 256)).astype(np.float16)
    c = poisoned((256, 256))
    tile = "!xetile.tile<32x256xf16, #xetile.tile_attr<wg_map = <sg_layout = [4, 8], sg_data = [32, 64]>>>"
    body = f"""
      %ta = xetile.init_tile %A[0, 0] : memref<256x32xf16> -> !xetile.tile<256x32xf16>
      %tb = xetile.init_tile %B[0, 0] : memref<32x256xf16> -> {tile}
      %tc = xetile.init_tile %C[0, 0] : memref<256x256xf32> -> !xetile.tile<256x256xf32>
      %a = xetile.load_tile %ta : !xetile.tile<256x32xf16> -> vector<256x32xf16>
      %b = xetile.load_tile %tb : {tile} -> vector<32x256xf16>
      %c = xetile.tile_mma %a, %b {{wg_map = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>}}
          : vector<256x32xf16>, vector<32x256xf16> -> vector<256x256xf32>
      xetile.store_tile %c, %tc : vector<256x256xf32>, !xetile.tile<256x256xf32>
    """
    run_kernel(body, {"A": a, "B": b, "C": c}, (1, 1), 512)
    assert_product(c, a, b)


def _with(kernel: tuple[str, tuple[int, int], int], arrays: dict[str, np.ndarray]) -> tuple:
    body, grid, work_items = kernel
    return body, arrays, grid, work_items


def test_tiles_hang_over_the_edges(rng: np.random.Generator) -> None:
    """Loads give zeros outside of A and B along m, n and k; stores outside of C are dropped."""
    m, n, k = 100, 200, 72
    a = rng.standard_normal((m, k)).astype(np.float16)
    b = rng.standard_normal((k, n)).astype(np.float16)
    c = poisoned((m, n))
    run_kernel(*_with(gemm(m, n, k, (64, 64, 32), [2, 2], [32, 32]), {"A": a, "B": b, "C": c}))
    assert_product(c, a, b)


def test_padded_leading_dimension(rng: np.random.Generator) -> None:
    m, n, k = 64, 64, 64
    whole = rng.standard_normal((m + 1, 128)).astype(np.float16)
    a = whole[1:, 32:96]
    b = rng.standard_normal((k, n)).astype(np.float16)
    c = poisoned((m, n))
    kind = "memref<64x64xf16, strided<[128, 1]>>"
    body, grid, work_items = gemm(m, n, k, (64, 64, 32), [2, 2], [32, 32], A=kind)
    run_kernel(body, {"A": a, "B": b, "C": c}, grid, work_items, {"A": kind})
    assert_product(c, a, b)


def test_int8(rng: np.random.Generator) -> None:
    m, n, k = 128, 64, 96
    a = rng.integers(-128, 128, (m, k), np.int8)
    b = rng.integers(-128, 128, (k, n), np.int8)
    c = poisoned((m, n), np.int32)
    run_kernel(*_with(gemm(m, n, k, (64, 64, 32), [2, 2], [32, 32], "i8", "i32"), {"A": a, "B": b, "C": c}))
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))


def test_address_and_elementwise(rng: np.random.Generator) -> None:
    """A tile of a bare address; a value used outside of tile_mma; a sum without a loop."""
    x = rng.standard_normal((32, 64)).astype(np.float32)
    y = poisoned((32, 64))
    body = """
      %index = memref.extract_aligned_pointer_as_index %X : memref<32x64xf32> -> index
      %address = arith.index_cast %index : index to i64
      %two = arith.constant dense<2.0> : vector<32x64xf32>
      %tx = xetile.init_tile %address[0, 0], [32, 64], [64, 1] : i64 -> !xetile.tile<32x64xf32>
      %x = xetile.load_tile %tx : !xetile.tile<32x64xf32> -> vector<32x64xf32>
      %d = arith.mulf %x, %two : vector<32x64xf32>
      %ty = xetile.init_tile %Y[0, 0] : memref<32x64xf32> -> !xetile.tile<32x64xf32>
      xetile.store_tile %d, %ty : vector<32x64xf32>, !xetile.tile<32x64xf32>
    """
    run_kernel(body, {"X": x, "Y": y}, (1, 1), 16)
    np.testing.assert_array_equal(y, 2 * x)
