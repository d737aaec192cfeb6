# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels that machine_code.py compares: each as XeTile for us, as options of hand_written.cl for the peer."""

from __future__ import annotations

from dataclasses import dataclass

SIZE = 4096
STEP = 32
ROW = 64  # of the softmax


@dataclass(frozen=True)
class Bench:
    """One kernel: our XeTile at workgroup or subgroup level, and what the preprocessor of hand_written.cl is told."""

    name: str
    xetile: str
    defines: str
    element: str = ""  # of A and B where upstream's pipeline takes the kernel
    k: int = SIZE


def gemm(element: str = "f16", k: int = SIZE, transposed: bool = False, relu: bool = False) -> str:
    """A workgroup of 8 x 4 subgroups has 256 x 256 elements of C; operands are prefetched three steps ahead.

    `transposed`: B is n x k in memory. `relu`: C is max(A * B + bias, 0), with a bias for each column.
    """
    n, m = SIZE, SIZE
    step = 64 if element == "i8" else STEP
    result = "i32" if element == "i8" else "f32"
    b_memory = f"memref<{n}x{k}x{element}>" if transposed else f"memref<{k}x{n}x{element}>"
    a, c = f"memref<{m}x{k}x{element}>", f"memref<{m}x{n}x{result}>"
    a_tile, a_ahead = f"!xetile.tile<256x{step}x{element}, #a>", f"!xetile.tile<256x{step}x{element}, #a_shared>"
    c_tile = f"!xetile.tile<256x256x{result}, #c>"
    vector_a, vector_b, vector_c = (
        f"vector<256x{step}x{element}>",
        f"vector<{step}x256x{element}>",
        f"vector<256x256x{result}>",
    )
    if transposed:
        b_view, b_tile = (
            f"memref<{k}x{n}x{element}, strided<[1, {k}]>>",
            f"!xetile.tile<{step}x256x{element}, #b_columns>",
        )
        b_ahead, b_place = f"!xetile.tile<256x{step}x{element}, #a_shared>", "%n, {k}"
    else:
        b_view, b_tile = b_memory, f"!xetile.tile<{step}x256x{element}, #b>"
        b_ahead, b_place = f"!xetile.tile<{step}x256x{element}, #b_shared>", "{k}, %n"

    def ahead(name: str, at: str) -> str:
        return f"""
      %pa{name} = xetile.init_tile %a[%m, {at}] : {a} -> {a_ahead}
      xetile.prefetch_tile %pa{name} locality<3> : {a_ahead}
      %pb{name} = xetile.init_tile %b[{b_place.format(k=at)}] : {b_memory} -> {b_ahead}
      xetile.prefetch_tile %pb{name} locality<3> : {b_ahead}"""

    first = "".join(f"\n      %s{i} = arith.constant {i * step} : index" + ahead(f"s{i}", f"%s{i}") for i in range(3))
    view = f"%bv = memref.transpose %b (i, j) -> (j, i) : {b_memory} to {b_view}" if transposed else ""
    start = (
        f"%start = arith.constant dense<0.0> : {vector_c}"
        if relu
        else f"%start = xetile.load_tile %ct : {c_tile} -> {vector_c}"
    )
    end, done = "", "%sum"
    if relu:
        done = "%d"
        end = f"""
      %bias_tile = xetile.init_tile %bias[%c0, %n] : memref<1x{n}xf32> -> !xetile.tile<1x256xf32, #bias>
      %row = xetile.load_tile %bias_tile : !xetile.tile<1x256xf32, #bias> -> vector<1x256xf32>
      %added = xetile.tile_broadcast %row, [0] : vector<1x256xf32> -> {vector_c}
      %biased = arith.addf %sum, %added : {vector_c}
      %zeros = arith.constant dense<0.0> : {vector_c}
      %d = arith.maximumf %biased, %zeros : {vector_c}"""
    bias = f", %bias: memref<1x{n}xf32>" if relu else ""
    grid = f"array<i32: {n // 256}, {m // 256}, 1>"
    return f"""
#c = #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 64]>>
#a = #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, {step}]>>
#b = #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [{step}, 64]>>
#b_columns = #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [{step}, 64]>, order = [0, 1]>
#a_shared = #xetile.tile_attr<wg_map = <sg_layout = [32, 1], sg_data = [8, {step}]>>
#b_shared = #xetile.tile_attr<wg_map = <sg_layout = [{step // 8}, {256 // step}], sg_data = [8, {step}]>>
#bias = #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [1, 64]>>
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    gpu.func @gemm(%a: {a}, %b: {b_memory}, %c: {c}{bias}) kernel
        attributes {{known_block_size = array<i32: 512, 1, 1>, known_grid_size = {grid}}} {{
      %c0 = arith.constant 0 : index
      %step = arith.constant {step} : index
      %ahead = arith.constant {3 * step} : index
      %end = arith.constant {k} : index
      %c256 = arith.constant 256 : index
      %x = gpu.block_id x
      %y = gpu.block_id y
      %m = arith.muli %y, %c256 : index
      %n = arith.muli %x, %c256 : index
      {view}
      %ct = xetile.init_tile %c[%m, %n] : {c} -> {c_tile}
      {start}{first}
      %sum = scf.for %k = %c0 to %end step %step iter_args(%acc = %start) -> ({vector_c}) {{
      %next = arith.addi %k, %ahead : index{ahead("l", "%next")}
      %at = xetile.init_tile %a[%m, %k] : {a} -> {a_tile}
      %left = xetile.load_tile %at : {a_tile} -> {vector_a}
      %bt = xetile.init_tile %{"bv" if transposed else "b"}[%k, %n] : {b_view} -> {b_tile}
      %right = xetile.load_tile %bt : {b_tile} -> {vector_b}
      %mma = xetile.tile_mma %left, %right, %acc : {vector_a}, {vector_b}, {vector_c} -> {vector_c}
      scf.yield %mma : {vector_c}
      }}{end}
      xetile.store_tile {done}, %ct : {vector_c}, {c_tile}
      gpu.return
    }}
  }}
}}"""


def softmax() -> str:
    """Of each row of a matrix with 64 columns; a subgroup has 8 rows."""
    kind, tile = f"memref<{SIZE}x{ROW}xf32>", f"!xetile.tile<8x{ROW}xf32>"
    rows, ones = f"vector<8x{ROW}xf32>", "vector<8x1xf32>"
    return f"""
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    gpu.func @softmax(%in: {kind}, %out: {kind}) kernel
        attributes {{known_block_size = array<i32: 16, 1, 1>, known_grid_size = array<i32: {SIZE // 8}, 1, 1>}} {{
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %x = gpu.block_id x
      %m = arith.muli %x, %c8 : index
      %from = xetile.init_tile %in[%m, %c0] : {kind} -> {tile}
      %v = xetile.load_tile %from : {tile} -> {rows}
      %top = xetile.tile_reduce <maximumf> %v, [1] : {rows} -> {ones}
      %tops = xetile.tile_broadcast %top, [1] : {ones} -> {rows}
      %d = arith.subf %v, %tops : {rows}
      %e = math.exp %d : {rows}
      %sum = xetile.tile_reduce <add> %e, [1] : {ones.replace("8x1", f"8x{ROW}")} -> {ones}
      %sums = xetile.tile_broadcast %sum, [1] : {ones} -> {rows}
      %r = arith.divf %e, %sums : {rows}
      %to = xetile.init_tile %out[%m, %c0] : {kind} -> {tile}
      xetile.store_tile %r, %to : {rows}, {tile}
      gpu.return
    }}
  }}
}}"""


BENCHES = (
    Bench("f16", gemm(), "-D TYPE=16", "f16"),
    Bench("bf16", gemm("bf16"), "-D TYPE=160", "bf16"),
    # Steps: 127, an odd number; then 127.25.
    Bench("f16, k = 4064", gemm(k=4064), "-D TYPE=16", "f16", 4064),
    Bench("f16, k = 4072", gemm(k=4072), "-D TYPE=16", "", 4072),
    Bench("int8", gemm("i8"), "-D TYPE=8"),
    Bench("f16, B transposed", gemm(transposed=True), "-D TYPE=16 -D TRANSPOSED"),
    Bench("f16, bias and relu", gemm(relu=True), "-D TYPE=16 -D RELU"),
    Bench("softmax of rows", softmax(), f"-D SOFTMAX -D N={ROW}"),
)
