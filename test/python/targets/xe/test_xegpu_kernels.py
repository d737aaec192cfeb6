# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""XeGPU by hand at its levels, lowered by `xetile-lower-xegpu-to-binary`, run on the device, compared with NumPy."""

import numpy as np
import pytest
import xetile
from xegpu_programs import DTYPES, assert_same, numbers, run
from xetile import XeTileError


def elementwise(level: str, dtype: str, shape: tuple[int, int], middle: str, out: str | None = None) -> str:
    """Load `%v` at (8, 32), compute `%w` in `middle`, store it there."""
    out = out or dtype
    size = "x".join(map(str, shape))
    if level == "xetile":
        return f"""
          %ta = xetile.init_tile %a[8, 32] : memref<64x128x{dtype}> -> !xetile.tile<{size}x{dtype}>
          %v = xetile.load_tile %ta : !xetile.tile<{size}x{dtype}> -> vector<{size}x{dtype}>
          {middle}
          %tc = xetile.init_tile %c[8, 32] : memref<64x128x{out}> -> !xetile.tile<{size}x{out}>
          xetile.store_tile %w, %tc : vector<{size}x{out}>, !xetile.tile<{size}x{out}>"""
    return f"""
      %ta = xegpu.create_nd_tdesc %a : memref<64x128x{dtype}> -> !xegpu.tensor_desc<{size}x{dtype}>
      %v = xegpu.load_nd %ta[8, 32] : !xegpu.tensor_desc<{size}x{dtype}> -> vector<{size}x{dtype}>
      {middle}
      %tc = xegpu.create_nd_tdesc %c : memref<64x128x{out}> -> !xegpu.tensor_desc<{size}x{out}>
      xegpu.store_nd %w, %tc[8, 32] : vector<{size}x{out}>, !xegpu.tensor_desc<{size}x{out}>"""


BF16 = DTYPES["bf16"]
ARITHMETIC = {
    "addf": ("%w = arith.addf %v, %v : {V}", lambda x: x + x),
    "mulf": ("%w = arith.mulf %v, %v : {V}", lambda x: x * x),
    "divf": ("%t = arith.constant dense<3.0> : {V}\n%w = arith.divf %v, %t : {V}", lambda x: x / x.dtype.type(3)),
    "fma of rounded parts": (
        "%t = arith.constant dense<1.1> : {V}\n%p = arith.mulf %v, %t : {V}\n%w = arith.addf %p, %v : {V}",
        lambda x: x * x.dtype.type(1.1) + x,
    ),
    "maximumf": ("%t = arith.constant dense<2.0> : {V}\n%w = arith.maximumf %v, %t : {V}", lambda x: np.maximum(x, 2)),
    "negf": ("%w = arith.negf %v : {V}", lambda x: -x),
    "select": (
        "%t = arith.constant dense<2.0> : {V}\n%p = arith.cmpf ogt, %v, %t : {V}\n"
        "%w = arith.select %p, %v, %t : vector<{S}xi1>, {V}",
        lambda x: np.where(x > 2, x, x.dtype.type(2)),
    ),
    "exp2": ("%w = math.exp2 %v : {V}", lambda x: np.exp2(x.astype(np.float32)).astype(x.dtype)),
    "loop": (
        "%c1 = arith.constant 1 : index\n%c4 = arith.constant 4 : index\n"
        "%w = scf.for %i = %c0 to %c4 step %c1 iter_args(%y = %v) -> ({V}) {{\n"
        "%u = arith.addf %y, %v : {V}\nscf.yield %u : {V} }}",
        lambda x: (((x + x) + x) + x) + x,
    ),
}


@pytest.mark.parametrize("level", ["xetile", "subgroup", "instruction"])
@pytest.mark.parametrize("name", ARITHMETIC)
def test_bf16_arithmetic_rounds_each_operation(name, level):
    middle, function = ARITHMETIC[name]
    a = numbers("bf16", 64, 128)
    c = numbers("bf16", 64, 128, seed=1)
    expected = c.copy()
    expected[8:16, 32:48] = function(a[8:16, 32:48]).astype(BF16)
    run(level, elementwise(level, "bf16", (8, 16), middle.format(V="vector<8x16xbf16>", S="8x16")), a=a, c=c)
    assert_same(c, expected)


@pytest.mark.parametrize(
    ("source", "target", "op"),
    [("bf16", "f32", "extf"), ("f32", "bf16", "truncf"), ("bf16", "i32", "fptosi"), ("i32", "bf16", "sitofp")],
)
def test_bf16_converts(source, target, op):
    a, c = numbers(source, 64, 128), numbers(target, 64, 128, seed=1)
    middle = f"%w = arith.{op} %v : vector<8x16x{source}> to vector<8x16x{target}>"
    expected = c.copy()
    expected[8:16, 32:48] = a[8:16, 32:48].astype(DTYPES[target])
    run("xetile", elementwise("xetile", source, (8, 16), middle, target), a=a, c=c)
    assert_same(c, expected)


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize("operand", ["a", "b"])
def test_operand_converted_from_f32(operand, dtype):
    """The sum of the truncated products is exact."""
    kinds = {"a": dtype, "b": dtype} | {operand: "f32"}
    a, b = numbers(kinds["a"], 64, 64), numbers(kinds["b"], 64, 64, seed=1)
    c = numbers("f32", 64, 64, seed=2)
    shapes = {"a": "16x32", "b": "32x32"}
    lines = [
        f"""%t{x} = xetile.init_tile %{x}[0, 0] : memref<64x64x{kind}> -> !xetile.tile<{shapes[x]}x{kind}>
        %l{x} = xetile.load_tile %t{x} : !xetile.tile<{shapes[x]}x{kind}> -> vector<{shapes[x]}x{kind}>"""
        for x, kind in kinds.items()
    ]
    shape = shapes[operand]
    lines.append(f"%h = arith.truncf %l{operand} : vector<{shape}xf32> to vector<{shape}x{dtype}>")
    left, right = ("%h", "%lb") if operand == "a" else ("%la", "%h")
    lines.append(f"""
      %d = xetile.tile_mma {left}, {right} : vector<16x32x{dtype}>, vector<32x32x{dtype}> -> vector<16x32xf32>
      %tc = xetile.init_tile %c[0, 0] : memref<64x64xf32> -> !xetile.tile<16x32xf32>
      xetile.store_tile %d, %tc : vector<16x32xf32>, !xetile.tile<16x32xf32>""")
    expected = c.copy()
    expected[:16, :32] = a[:16, :32].astype(np.float32) @ b[:32, :32].astype(np.float32)
    run("xetile", "\n".join(lines), a=a, b=b, c=c)
    assert_same(c, expected)


@pytest.mark.parametrize("dtype", ["f32", "f16"])
@pytest.mark.parametrize("memory", ["attribution", "alloca", "named space"])
def test_shared_memory_transposes(memory, dtype):
    """Lane l writes row l and reads column l; the launch gives no bytes of shared memory."""
    space = "#gpu.address_space<workgroup>" if memory == "named space" else "3"
    kind = f"memref<16x16x{dtype}, {space}>"
    body = "" if memory != "alloca" else f"%m = memref.alloca() : {kind}"
    body += f"""
      %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index
      %l = gpu.lane_id
      scf.for %i = %c0 to %c16 step %c1 {{
        %v = memref.load %a[%l, %i] : memref<16x16x{dtype}>
        memref.store %v, %m[%l, %i] : {kind}
      }}
      gpu.barrier
      scf.for %i = %c0 to %c16 step %c1 {{
        %v = memref.load %m[%i, %l] : {kind}
        memref.store %v, %c[%l, %i] : memref<16x16x{dtype}>
      }}"""
    a, c = numbers(dtype, 16, 16), numbers(dtype, 16, 16, seed=1)
    run("lane", body, attributions="" if memory == "alloca" else f"workgroup(%m: {kind})", a=a, c=c)
    assert_same(c, np.ascontiguousarray(a.T))


def test_device_function():
    helper = """func.func @twice(%x: f32) -> f32 {
      %y = arith.addf %x, %x : f32
      return %y : f32
    }"""
    a = numbers("f32", 16)
    expected = a + a
    body = """%i = gpu.lane_id
      %v = memref.load %a[%i] : memref<16xf32>
      %w = func.call @twice(%v) : (f32) -> f32
      memref.store %w, %a[%i] : memref<16xf32>"""
    run("lane", body, extra=helper, a=a)
    assert_same(a, expected)


@pytest.mark.parametrize("level", ["subgroup", "instruction"])
def test_barrier_between_blocks(level):
    a, c = numbers("f32", 64, 128), numbers("f32", 64, 128, seed=1)
    expected = c.copy()
    expected[8:16, 32:48] = 2 * a[8:16, 32:48]
    middle = "%w = arith.addf %v, %v : vector<8x16xf32>\ngpu.barrier"
    run(level, elementwise(level, "f32", (8, 16), middle), a=a, c=c)
    assert_same(c, expected)


@pytest.mark.parametrize("kind", ["global", "slm"])
def test_fence_orders_accesses_of_a_lane(kind):
    a, c = numbers("f32", 16), numbers("f32", 16, seed=1)
    body = f"""%l = gpu.lane_id
      %x = memref.load %a[%l] : memref<16xf32>
      memref.store %x, %c[%l] : memref<16xf32>
      xegpu.fence memory_kind = {kind}, fence_scope = workgroup
      %y = memref.load %c[%l] : memref<16xf32>
      %z = arith.addf %x, %y : f32
      memref.store %z, %c[%l] : memref<16xf32>"""
    run("lane", body, a=a, c=c)
    assert_same(c, a + a)


def copy_blocks(dtype: str, tile: str, mode: str, count: int, base: str) -> str:
    """Each lane writes the `count` elements that it got of a block at `base` to its row of %c."""
    return f"""%c1 = arith.constant 1 : index
      %cn = arith.constant {count} : index
      %l = gpu.lane_id
      %t = xegpu.create_nd_tdesc %a : memref<64x64x{dtype}> -> {tile}
      %v = xegpu.load_nd %t[{base}] {mode} : {tile} -> vector<{count}x{dtype}>
      scf.for %i = %c0 to %cn step %c1 {{
        %e = vector.extract %v[%i] : {dtype} from vector<{count}x{dtype}>
        memref.store %e, %c[%l, %i] : memref<16x{count}x{dtype}>
      }}"""


@pytest.mark.parametrize("dtype", ["f32", "i32"])
@pytest.mark.parametrize(("rows", "columns"), [(16, 8), (16, 4), (8, 8)])
def test_transposed_load(rows, columns, dtype):
    """The transposed block is dealt to the lanes row by row."""
    count = rows * columns // 16
    a, c = numbers(dtype, 64, 64), numbers(dtype, 16, count, seed=1)
    tile = f"!xegpu.tensor_desc<{rows}x{columns}x{dtype}>"
    run("lane", copy_blocks(dtype, tile, "<{transpose = array<i64: 1, 0>}>", count, "8, 16"), a=a, c=c)
    block = a[8 : 8 + rows, 16 : 16 + columns]
    assert_same(c, np.ascontiguousarray(block.T.reshape(count, 16).T))


@pytest.mark.parametrize("dtype", ["f16", "bf16", "i16", "i8"])
def test_packed_load(dtype):
    """A lane holds its column's rows in order, two or four to a word."""
    a, c = numbers(dtype, 64, 64), numbers(dtype, 16, 16, seed=1)
    run("lane", copy_blocks(dtype, f"!xegpu.tensor_desc<16x16x{dtype}>", "<{packed}>", 16, "8, 16"), a=a, c=c)
    assert_same(c, np.ascontiguousarray(a[8:24, 16:32].T))


@pytest.mark.parametrize("dtype", ["f32", "i32"])
@pytest.mark.parametrize("count", [2, 4, 8])
def test_row_of_one_dimension(count, dtype):
    a, c = numbers(dtype, 256), numbers(dtype, 256, seed=1)
    tile = f"!xegpu.tensor_desc<{16 * count}x{dtype}>"
    body = f"""%ta = xegpu.create_nd_tdesc %a : memref<256x{dtype}> -> {tile}
      %v = xegpu.load_nd %ta[32] : {tile} -> vector<{count}x{dtype}>
      %tc = xegpu.create_nd_tdesc %c : memref<256x{dtype}> -> {tile}
      xegpu.store_nd %v, %tc[64] : vector<{count}x{dtype}>, {tile}"""
    expected = c.copy()
    expected[64 : 64 + 16 * count] = a[32 : 32 + 16 * count]
    run("lane", body, a=a, c=c)
    assert_same(c, expected)


@pytest.mark.parametrize("dtype", list(DTYPES))
@pytest.mark.parametrize("count", [1, 2, 4])
def test_scattered_load_and_store(count, dtype):
    """Lanes read chunks backwards; odd ones are masked."""
    chunk = f"<{{chunk_size = {count} : i64}}>" if count > 1 else ""
    a, c = numbers(dtype, 64), numbers(dtype, 64, seed=1)
    body = f"""%c1 = arith.constant 1 : index
      %c15 = arith.constant 15 : index
      %n = arith.constant {count} : index
      %l = gpu.lane_id
      %back = arith.subi %c15, %l : index
      %from = arith.muli %back, %n : index
      %to = arith.muli %l, %n : index
      %low = arith.andi %l, %c1 : index
      %even = arith.cmpi eq, %low, %c0 : index
      %all = arith.constant true
      %v = xegpu.load %a[%from], %all {chunk} : memref<64x{dtype}>, index, i1 -> vector<{count}x{dtype}>
      xegpu.store %v, %c[%to], %even {chunk} : vector<{count}x{dtype}>, memref<64x{dtype}>, index, i1"""
    expected = c.copy()
    chunks = expected[: 16 * count].reshape(16, count)
    chunks[::2] = a[: 16 * count].reshape(16, count)[::-1][::2]
    run("lane", body, a=a, c=c)
    assert_same(c, expected)


def test_unsupported_is_refused_in_python():
    a = numbers("i32", 64, 128)
    body = """%ta = xegpu.create_nd_tdesc %a : memref<64x128xi32> -> !xegpu.tensor_desc<8x16xi32>
      %v = xegpu.load_nd %ta[0, 0] : !xegpu.tensor_desc<8x16xi32> -> vector<8x16xi32>
      vector.print %v : vector<8x16xi32>"""
    with pytest.raises(XeTileError, match=r"'vector\.print' op has no lowering to lanes"):
        run("subgroup", body, a=a)


@pytest.mark.parametrize(
    ("tile", "subgroups", "k_step"), [((16, 16), (1, 1), 16), ((16, 32), (1, 2), 16), ((16, 16), (2, 1), 32)]
)
def test_small_bf16_schedules(tile, subgroups, k_step):
    """Loops that carry bf16, shuffles of them: no bf16 reaches SPIR-V."""
    m, n, k = tile[0] * 2, tile[1] * 2, 96
    schedule = xetile.schedule.matmul(workgroup_tile=tile, subgroup_layout=subgroups, k_step=k_step, prefetch=1)
    kernel = xetile.compile(xetile.matmul(m, n, k, "bf16"), schedule=schedule, native="off")
    a, b, c = numbers("bf16", m, k), numbers("bf16", k, n, seed=1), numbers("f32", m, n, seed=2)
    assert_same(kernel(a, b, c), a.astype(np.float32) @ b.astype(np.float32) + c)
