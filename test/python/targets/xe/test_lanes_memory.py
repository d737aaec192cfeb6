# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads and stores of a subgroup's vectors of every kind, against NumPy."""

import numpy as np
import pytest
from xegpu_programs import DTYPES, assert_same, numbers, run

SEED = int(np.random.default_rng().integers(1 << 30))


def given(dtype: str, *shape: int) -> np.ndarray:
    print("seed", SEED)
    return numbers(dtype, *shape, seed=SEED)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("dtype", ["i8", "f16", "f32", "i64"])
@pytest.mark.parametrize("shape", [(8, 16), (32, 64), (3, 16), (24, 64), (16, 8), (5, 24)])
def test_copy_of_a_tile(shape, dtype):
    """Whatever the message; a quarter hangs over the edge, at the end or before the start."""
    rows, columns = shape
    tile = f"!xegpu.tensor_desc<{rows}x{columns}x{dtype}>"
    for corner in [(4, 8), (64 - rows + 1, 128 - columns + 4), (-1, -4)]:
        a, c = given(dtype, 64, 128), numbers(dtype, 64, 128, seed=SEED + 1)
        body = f"""%ta = xegpu.create_nd_tdesc %a : memref<64x128x{dtype}> -> {tile}
          %v = xegpu.load_nd %ta[{corner[0]}, {corner[1]}] : {tile} -> vector<{rows}x{columns}x{dtype}>
          %tr = xegpu.create_nd_tdesc %r : memref<{rows}x{columns}x{dtype}> -> {tile}
          %tc = xegpu.create_nd_tdesc %c : memref<64x128x{dtype}> -> {tile}
          xegpu.store_nd %v, %tr[0, 0] : vector<{rows}x{columns}x{dtype}>, {tile}
          xegpu.store_nd %v, %tc[{corner[0]}, {corner[1]}] : vector<{rows}x{columns}x{dtype}>, {tile}"""
        r = numbers(dtype, rows, columns, seed=SEED + 2)
        y, x = corner
        whole = np.zeros((64 + 128, 128 + 256), a.dtype)
        whole[64:128, 128:256] = a
        expected = whole[64 + y : 64 + y + rows, 128 + x : 128 + x + columns]
        wanted = c.copy()
        wanted[max(y, 0) : y + rows, max(x, 0) : x + columns] = a[max(y, 0) : y + rows, max(x, 0) : x + columns]
        run("subgroup", body, a=a, c=c, r=r)
        assert_same(r, np.ascontiguousarray(expected))
        assert_same(c, wanted)


@pytest.mark.parametrize("dtype", ["i8", "f16", "f32", "i64"])
@pytest.mark.parametrize("shape", [(5, 16), (12, 16), (24, 48), (3, 8), (8, 24)])
def test_prefetch_of_a_tile_of_any_size(shape, dtype):
    """Messages have powers of two of rows and columns; what hangs over the tile does no harm."""
    kind = f"{shape[0]}x{shape[1]}x{dtype}"
    a, c = given(dtype, 64, 128), numbers(dtype, *shape, seed=SEED + 1)
    body = f"""%ta = xegpu.create_nd_tdesc %a : memref<64x128x{dtype}> -> !xegpu.tensor_desc<{kind}>
      xegpu.prefetch_nd %ta[8, 16] : !xegpu.tensor_desc<{kind}>
      %v = xegpu.load_nd %ta[8, 16] : !xegpu.tensor_desc<{kind}> -> vector<{kind}>
      vector.store %v, %c[%c0, %c0] : memref<{kind}>, vector<{kind}>"""
    run("subgroup", body, a=a, c=c)
    assert_same(c, np.ascontiguousarray(a[8 : 8 + shape[0], 16 : 16 + shape[1]]))


@pytest.mark.parametrize("dtype", ["i8", "f16", "f32"])
@pytest.mark.parametrize("count", [16, 32, 48, 128])
def test_row_of_one_dimension(count, dtype):
    a, c = given(dtype, 256), numbers(dtype, 256, seed=SEED + 1)
    tile = f"!xegpu.tensor_desc<{count}x{dtype}>"
    body = f"""%ta = xegpu.create_nd_tdesc %a : memref<256x{dtype}> -> {tile}
      %v = xegpu.load_nd %ta[33] : {tile} -> vector<{count}x{dtype}>
      %tc = xegpu.create_nd_tdesc %c : memref<256x{dtype}> -> {tile}
      xegpu.store_nd %v, %tc[64] : vector<{count}x{dtype}>, {tile}"""
    expected = c.copy()
    expected[64 : 64 + count] = a[33 : 33 + count]
    run("subgroup", body, a=a, c=c)
    assert_same(c, expected)


def test_offsets_of_descriptors_and_their_updates():
    a, c = given("f32", 4, 6, 64, 64), numbers("f32", 16, 16, seed=SEED + 1)
    body = """%c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %c8 = arith.constant 8 : index
      %c16 = arith.constant 16 : index
      %ta = xegpu.create_nd_tdesc %a[%c1, %c3, %c8, 0] : memref<4x6x64x64xf32> -> !xegpu.tensor_desc<16x16xf32>
      %tc = xegpu.create_nd_tdesc %c : memref<16x16xf32> -> !xegpu.tensor_desc<16x16xf32>
      %zero = arith.constant dense<0.0> : vector<16x16xf32>
      %end:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%t = %ta, %s = %zero)
          -> (!xegpu.tensor_desc<16x16xf32>, vector<16x16xf32>) {
        %v = xegpu.load_nd %t[%c8, 4] : !xegpu.tensor_desc<16x16xf32> -> vector<16x16xf32>
        %w = arith.addf %s, %v : vector<16x16xf32>
        %u = xegpu.update_nd_offset %t, [%c0, %c16] : !xegpu.tensor_desc<16x16xf32>
        scf.yield %u, %w : !xegpu.tensor_desc<16x16xf32>, vector<16x16xf32>
      }
      xegpu.store_nd %end#1, %tc[0, 0] : vector<16x16xf32>, !xegpu.tensor_desc<16x16xf32>"""
    expected = sum(a[1, 3, 16:32, 4 + 16 * i : 20 + 16 * i] for i in range(3))
    run("subgroup", body, a=a, c=c)
    assert_same(c, expected)


def test_address_and_sizes_of_the_run():
    a, c = given("f16", 40, 96), numbers("f16", 8, 32, seed=SEED + 1)
    body = """%p = memref.extract_aligned_pointer_as_index %a : memref<40x96xf16> -> index
      %address = arith.index_cast %p : index to i64
      %h = memref.dim %a, %c0 : memref<40x96xf16>
      %c96 = arith.constant 96 : index
      %c80 = arith.constant 80 : index
      %c1 = arith.constant 1 : index
      %ta = xegpu.create_nd_tdesc %address, shape: [%h, %c80], strides: [%c96, %c1]
        : i64 -> !xegpu.tensor_desc<8x32xf16>
      %v = xegpu.load_nd %ta[34, 64] : !xegpu.tensor_desc<8x32xf16> -> vector<8x32xf16>
      %tc = xegpu.create_nd_tdesc %c : memref<8x32xf16> -> !xegpu.tensor_desc<8x32xf16>
      xegpu.store_nd %v, %tc[0, 0] : vector<8x32xf16>, !xegpu.tensor_desc<8x32xf16>"""
    expected = np.zeros((8, 32), np.float16)
    expected[:6, :16] = a[34:, 64:80]
    run("subgroup", body, a=a, c=c)
    assert_same(c, expected)


# The verifier of descriptors wants chunks of whole dwords.
@pytest.mark.parametrize(
    ("chunk", "dtype", "form"),
    [
        (chunk, dtype, form)
        for form in ("offsets", "descriptor")
        for chunk in (1, 2, 3, 8)
        for dtype in ("i8", "f16", "bf16", "f32", "i64")
        if form == "offsets" or chunk == 1 or chunk * DTYPES[dtype].itemsize % 4 == 0
    ],
)
def test_scattered(chunk, dtype, form):
    a, c = given(dtype, 512), numbers(dtype, 512, seed=SEED + 1)
    generator = np.random.default_rng(SEED)
    places, targets = generator.permutation(64)[:16] * 8, generator.permutation(64)[:16] * 8
    mask = generator.integers(0, 2, 16).astype(bool)
    lists = [", ".join(map(str, x)).lower() for x in (places.tolist(), targets.tolist(), mask.tolist())]
    value = f"vector<16x{chunk}x{dtype}>" if chunk > 1 else f"vector<16x{dtype}>"
    size = f"<{{chunk_size = {chunk} : i64}}>" if chunk > 1 else ""
    constants = f"""%from = arith.constant dense<[{lists[0]}]> : vector<16xindex>
      %to = arith.constant dense<[{lists[1]}]> : vector<16xindex>
      %some = arith.constant dense<[{lists[2]}]> : vector<16xi1>
      %all = arith.constant dense<true> : vector<16xi1>"""
    memref = f"memref<512x{dtype}>"
    if form == "offsets":
        body = f"""{constants}
      %v = xegpu.load %a[%from], %all {size} : {memref}, vector<16xindex>, vector<16xi1> -> {value}
      xegpu.store %v, %c[%to], %some {size} : {value}, {memref}, vector<16xindex>, vector<16xi1>"""
    else:
        shape = f"16x{chunk}x{dtype}" if chunk > 1 else f"16x{dtype}"
        attribute = f"chunk_size = {chunk} : i64" if chunk > 1 else ""
        tile = f"!xegpu.tensor_desc<{shape}, #xegpu.scatter_tdesc_attr<{attribute}>>"
        body = f"""{constants}
      %ones = arith.constant dense<1> : vector<16xindex>
      %less = arith.subi %from, %ones : vector<16xindex>
      %ta = xegpu.create_tdesc %a, %less : {memref}, vector<16xindex> -> {tile}
      %ua = xegpu.update_offset %ta, %ones : {tile}, vector<16xindex>
      %tc = xegpu.create_tdesc %c, %to : {memref}, vector<16xindex> -> {tile}
      xegpu.prefetch %ua : {tile}
      %v = xegpu.load %ua, %all : {tile}, vector<16xi1> -> {value}
      xegpu.store %v, %tc, %some : {value}, {tile}, vector<16xi1>"""
    expected = c.copy()
    for place, target, is_on in zip(places, targets, mask, strict=True):
        if is_on:
            expected[target : target + chunk] = a[place : place + chunk]
    run("subgroup", body, a=a, c=c)
    assert_same(c, expected)


def test_scattered_in_two_dimensions():
    a, c = given("f32", 4096), numbers("f32", 16, 32, seed=SEED + 1)
    body = """%step = vector.step : vector<512xindex>
      %grid = vector.shape_cast %step : vector<512xindex> to vector<16x32xindex>
      %five = arith.constant dense<5> : vector<16x32xindex>
      %from = arith.muli %grid, %five : vector<16x32xindex>
      %all = arith.constant dense<true> : vector<16x32xi1>
      %v = xegpu.load %a[%from], %all : memref<4096xf32>, vector<16x32xindex>, vector<16x32xi1> -> vector<16x32xf32>
      vector.store %v, %c[%c0, %c0] : memref<16x32xf32>, vector<16x32xf32>"""
    run("subgroup", body, a=a, c=c)
    assert_same(c, a[: 5 * 512 : 5].reshape(16, 32))


@pytest.mark.parametrize(
    ("kind", "dtype", "function"),
    [
        ("addi", "i32", np.add),
        ("addi", "i64", np.add),
        ("maxs", "i32", np.maximum),
        ("minu", "i32", lambda x, y: np.minimum(x.view(np.uint32), y.view(np.uint32)).view(np.int32)),
        ("ori", "i32", np.bitwise_or),
        ("muli", "i32", np.multiply),
        ("addi", "i8", np.add),
        ("addf", "f32", np.add),
        ("addf", "f16", np.add),
        ("addf", "bf16", np.add),
        ("maximumf", "f32", np.maximum),
        ("assign", "f32", lambda x, y: y),
    ],
)
def test_atomics(kind, dtype, function):
    """Pairs of lanes meet at one address; four lanes are masked."""
    a, c, old = given(dtype, 16), numbers(dtype, 64, seed=SEED + 1), numbers(dtype, 16, seed=SEED + 2)
    shared = kind != "assign"
    places = [3 * (i // 2) if shared else 3 * i for i in range(16)]
    body = f"""%from = arith.constant dense<{places}> : vector<16xindex>
      %m = vector.constant_mask [12] : vector<16xi1>
      %v = vector.load %a[%c0] : memref<16x{dtype}>, vector<16x{dtype}>
      %t = xegpu.create_tdesc %c, %from : memref<64x{dtype}>, vector<16xindex>
        -> !xegpu.tensor_desc<16x{dtype}, #xegpu.scatter_tdesc_attr<>>
      %o = xegpu.atomic_rmw {kind} %t, %m, %v
        : !xegpu.tensor_desc<16x{dtype}, #xegpu.scatter_tdesc_attr<>>, vector<16xi1>, vector<16x{dtype}>
          -> vector<16x{dtype}>
      vector.store %o, %old[%c0] : memref<16x{dtype}>, vector<16x{dtype}>"""
    expected = c.copy()
    with np.errstate(over="ignore"):
        for i in range(12):
            expected[places[i]] = function(expected[places[i] : places[i] + 1], a[i : i + 1]).astype(c.dtype)[0]
    before = c.copy()
    run("subgroup", body, a=a, c=c, old=old)
    assert_same(c, expected)
    if not shared:
        assert_same(old[:12], before[places[:12]])


@pytest.mark.one_in(3)
@pytest.mark.parametrize("dtype", ["f16", "f32", "i8"])
@pytest.mark.parametrize(
    "layout", ["", ", #xegpu.mem_layout<stride = [1, 64]>", ", #xegpu.mem_layout<block = [16, 16]>"]
)
def test_matrix_in_shared_memory(layout, dtype):
    a, c = given(dtype, 64, 32), numbers(dtype, 16, 32, seed=SEED + 1)
    kind = f"!xegpu.mem_desc<64x32x{dtype}{layout}>"
    body = f"""%c8 = arith.constant 8 : index
      %m = memref.alloca() : memref<{64 * 32}x{dtype}, 3>
      %d = xegpu.create_mem_desc %m : memref<{64 * 32}x{dtype}, 3> -> {kind}
      %v = vector.load %a[%c0, %c0] : memref<64x32x{dtype}>, vector<64x32x{dtype}>
      xegpu.store_matrix %v, %d[0, 0] : vector<64x32x{dtype}>, {kind}
      gpu.barrier
      %w = xegpu.load_matrix %d[%c8, 0] : {kind}, index -> vector<16x32x{dtype}>
      vector.store %w, %c[%c0, %c0] : memref<16x32x{dtype}>, vector<16x32x{dtype}>"""
    run("subgroup", body, a=a, c=c)
    assert_same(c, np.ascontiguousarray(a[8:24]))


@pytest.mark.parametrize("dtype", ["f16", "i32"])
def test_transfers_over_the_edge(dtype):
    a, c = given(dtype, 20, 30), numbers(dtype, 20, 30, seed=SEED + 1)
    body = f"""%pad = arith.constant {"7.0" if dtype == "f16" else "7"} : {dtype}
      %c12 = arith.constant 12 : index
      %c5 = arith.constant 5 : index
      %v = vector.transfer_read %a[%c12, %c5], %pad : memref<20x30x{dtype}>, vector<16x32x{dtype}>
      vector.transfer_write %v, %c[%c5, %c12] : vector<16x32x{dtype}>, memref<20x30x{dtype}>"""
    padded = np.full((64, 64), 7, a.dtype)
    padded[:20, :30] = a
    expected = c.copy()
    expected[5:20, 12:30] = padded[12 : 12 + 15, 5 : 5 + 18]
    run("subgroup", body, a=a, c=c)
    assert_same(c, expected)


def test_transfers_that_permute_broadcast_and_mask():
    a, c = given("f32", 24, 24), numbers("f32", 8, 16, seed=SEED + 1)
    body = """%pad = arith.constant 5.0 : f32
      %c3 = arith.constant 3 : index
      %c9 = arith.constant 9 : index
      %m = vector.create_mask %c9, %c3 : vector<16x8xi1>
      %v = vector.transfer_read %a[%c3, %c0], %pad, %m {in_bounds = [true, true],
        permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : memref<24x24xf32>, vector<8x16xf32>
      %w = vector.transfer_read %a[%c3, %c9], %pad {in_bounds = [true, true],
        permutation_map = affine_map<(d0, d1) -> (0, d0)>} : memref<24x24xf32>, vector<8x16xf32>
      %s = arith.addf %v, %w : vector<8x16xf32>
      vector.transfer_write %s, %c[%c0, %c0] {in_bounds = [true, true]} : vector<8x16xf32>, memref<8x16xf32>"""
    read = np.full((8, 16), 5, np.float32)
    read[:3, :9] = a[3:12, :3].T
    run("subgroup", body, a=a, c=c)
    assert_same(c, read + a[3:19, 9])


def test_barrier_of_all_subgroups():
    """Each subgroup reads what the other wrote to shared memory."""
    a, c = given("f32", 2, 8, 16), numbers("f32", 2, 8, 16, seed=SEED + 1)
    body = """%m = memref.alloca() : memref<16x16xf32, 3>
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %id = arith.constant 1 : i8
      %two = arith.constant 2 : i8
      xegpu.alloc_nbarrier 2
      %b = xegpu.init_nbarrier %id, %two : i8, i8 -> !xegpu.nbarrier
      %d = xegpu.create_mem_desc %m : memref<16x16xf32, 3> -> !xegpu.mem_desc<16x16xf32>
      %s = gpu.subgroup_id : index
      %other = arith.subi %c1, %s : index
      %to = arith.muli %s, %c8 : index
      %from = arith.muli %other, %c8 : index
      %pad = arith.constant 0.0 : f32
      %v = vector.transfer_read %a[%s, %c0, %c0], %pad {in_bounds = [true, true]} : memref<2x8x16xf32>, vector<8x16xf32>
      xegpu.store_matrix %v, %d[%to, 0] : vector<8x16xf32>, !xegpu.mem_desc<16x16xf32>, index
      xegpu.fence memory_kind = slm, fence_scope = workgroup
      xegpu.nbarrier_arrive %b : !xegpu.nbarrier
      xegpu.nbarrier_wait %b : !xegpu.nbarrier
      %w = xegpu.load_matrix %d[%from, 0] : !xegpu.mem_desc<16x16xf32>, index -> vector<8x16xf32>
      vector.transfer_write %w, %c[%s, %c0, %c0] {in_bounds = [true, true]} : vector<8x16xf32>, memref<2x8x16xf32>"""
    run("subgroup", body, subgroups=2, a=a, c=c)
    assert_same(c, np.ascontiguousarray(a[::-1]))


def test_users_layouts_decide_the_lanes():
    """A lane's rows as a user asks for them; lanes show in what each of them stores."""
    a, c = given("i32", 16, 16), numbers("i32", 16, 16, seed=SEED + 1)
    body = """%ta = xegpu.create_nd_tdesc %a : memref<16x16xi32> -> !xegpu.tensor_desc<16x16xi32>
      %v = xegpu.load_nd %ta[0, 0] <{layout = #xegpu.layout<lane_layout = [16, 1], lane_data = [1, 1]>}>
        : !xegpu.tensor_desc<16x16xi32> -> vector<16x16xi32>
      %w = xegpu.convert_layout %v <{input_layout = #xegpu.layout<lane_layout = [16, 1], lane_data = [1, 1]>,
        target_layout = #xegpu.layout<lane_layout = [4, 4], lane_data = [2, 1]>}> : vector<16x16xi32>
      %tc = xegpu.create_nd_tdesc %c : memref<16x16xi32> -> !xegpu.tensor_desc<16x16xi32>
      xegpu.store_nd %w, %tc[0, 0] : vector<16x16xi32>, !xegpu.tensor_desc<16x16xi32>"""
    run("subgroup", body, a=a, c=c)
    assert_same(c, a)


@pytest.mark.parametrize("first", [True, False])
def test_descriptors_that_branches_give(first):
    # Of other matrices, places and pitches; what is alike is known behind the branch.
    a, b, c = given("f32", 64, 64), numbers("f32", 64, 48, seed=SEED + 1), numbers("f32", 8, 16, seed=SEED + 2)
    which = np.array([int(first)], np.int32)
    tile = "!xegpu.tensor_desc<8x16xf32>"
    body = f"""%c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %n = memref.load %which[%c0] : memref<1xi32>
      %is = arith.trunci %n : i32 to i1
      %ta = xegpu.create_nd_tdesc %a : memref<64x64xf32> -> {tile}
      %t, %row = scf.if %is -> ({tile}, index) {{
        %moved = xegpu.update_nd_offset %ta, [%c8, %c4] : {tile}
        scf.yield %moved, %c8 : {tile}, index
      }} else {{
        %tb = xegpu.create_nd_tdesc %b[%c4, %c8] : memref<64x48xf32> -> {tile}
        scf.yield %tb, %c4 : {tile}, index
      }}
      %v = xegpu.load_nd %t[%row, 0] : {tile} -> vector<8x16xf32>
      %u = scf.if %is -> ({tile}) {{
        scf.yield %ta : {tile}
      }} else {{
        %other = xegpu.update_nd_offset %ta, [%c0, %c8] : {tile}
        scf.yield %other : {tile}
      }}
      %w = xegpu.load_nd %u[0, 0] : {tile} -> vector<8x16xf32>
      %s = arith.addf %v, %w : vector<8x16xf32>
      %tc = xegpu.create_nd_tdesc %c : memref<8x16xf32> -> {tile}
      xegpu.store_nd %s, %tc[0, 0] : vector<8x16xf32>, {tile}"""
    expected = a[16:24, 4:20] + a[:8, :16] if first else b[8:16, 8:24] + a[:8, 8:24]
    run("subgroup", body, a=a, b=b, c=c, which=which)
    assert_same(c, expected)
