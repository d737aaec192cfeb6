# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Workgroup-level XeTile distributed over subgroups, stage by stage against NumPy: `workgroups.py` runs the stages.

Maps are drawn at random: pieces shared by subgroups, one for each, several for each. `XETILE_SEED` repeats a failure.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from test_xetile_vectors import REDUCTIONS
from workgroups import COLUMNS, Kernel, Program, mapped_tile, plain_type, poisoned, random_map, wg_map
from xetile_programs import DTYPES, assert_same, values, vector

each_column = pytest.mark.parametrize("column", COLUMNS)
# Unlucky maps give a subgroup so many pieces of a transpose that the OpenCL driver compiles for up to a minute.
SLOW = {"device": pytest.mark.exhaustive}
most_columns = pytest.mark.parametrize("column", [pytest.param(name, marks=SLOW.get(name, ())) for name in COLUMNS])


def check(kernel: Kernel, column: str, rng: np.random.Generator, **expected: np.ndarray) -> None:
    print(kernel.body)
    arrays = COLUMNS[column](kernel, rng)
    for name, array in expected.items():
        assert_same(np.ascontiguousarray(arrays[name]), np.ascontiguousarray(array))


def loaded(name: str, memref: str, array: np.ndarray, dtype: str, map_: str | None = None) -> str:
    """All of a memref as vector %`name`."""
    tile, kind = mapped_tile(array.shape, dtype, map_), plain_type(array)
    return (
        f"%{name}_tile = xetile.init_tile %{memref}[0, 0] : {kind} -> {tile}\n"
        f"%{name} = xetile.load_tile %{name}_tile : {tile} -> {vector(array.shape, dtype)}\n"
    )


def stored(name: str, memref: str, array: np.ndarray, dtype: str, map_: str | None = None) -> str:
    tile, kind = mapped_tile(array.shape, dtype, map_), plain_type(array)
    return (
        f"%{memref}_tile = xetile.init_tile %{memref}[0, 0] : {kind} -> {tile}\n"
        f"xetile.store_tile %{name}, %{memref}_tile : {vector(array.shape, dtype)}, {tile}\n"
    )


def through(
    op: str, x: np.ndarray, y: np.ndarray, dtypes: tuple[str, str], maps: tuple[str, str], **more: int
) -> Kernel:
    """Y = op(X): X loaded under the first map, Y stored under the second. `op` makes %y of %x."""
    body = loaded("x", "X", x, dtypes[0], maps[0]) + op + "\n" + stored("y", "Y", y, dtypes[1], maps[1])
    return Kernel(body, {"X": x, "Y": y}, **more)


SHAPES = [(48, 64), (64, 32), (1, 96), (80, 1), (24, 24)]
SUBGROUPS = [4, 6, 8]
AXES = [(0,), (1,), (0, 1)]


def drawn(rng: np.random.Generator) -> tuple[tuple[int, int], int]:
    """A shape of a vector, and how many subgroups share it."""
    return SHAPES[rng.integers(len(SHAPES))], int(rng.choice(SUBGROUPS))


@each_column
@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "i8", "i32"])
def test_conversion_of_maps(rng, column, dtype):
    shape, subgroups = drawn(rng)
    x, y = values(rng, dtype, *shape), poisoned(shape, dtype)
    maps = random_map(rng, shape, subgroups), random_map(rng, shape, subgroups)
    op = f"%y = xetile.tile_conv_layout %x {{wg_map = {maps[1]}, source_wg_map = {maps[0]}}} : {vector(shape, dtype)}"
    check(through(op, x, y, (dtype, dtype), maps, subgroups=subgroups), column, rng, Y=x)


@pytest.mark.parametrize("transposed", [False, True])
def test_in_parts_where_shared_memory_is_short(rng, transposed):
    """[32, 64] and [8, 256], scaled by 4: neither half of the vector fits."""
    shape = (64, 64)
    x = values(rng, "f32", *shape)
    y = poisoned(shape, "f32")
    maps = wg_map((8, 4), (8, 16)), wg_map((1, 32), (64, 2)) if transposed else wg_map((32, 1), (2, 64))
    op = f"%y = xetile.tile_transpose %x, [{'1, 0' if transposed else '0, 1'}] : vector<64x64xf32> -> vector<64x64xf32>"
    kernel = through(op, x, y, ("f32", "f32"), maps, subgroups=32, slm_bytes=64 * 64)
    code = kernel.distributed()
    assert code.count("gpu.barrier") == 7, code  # four parts
    assert re.search(r"memref<4096xi8, 3>", code)
    check(kernel, "subgroup", rng, Y=x.T if transposed else x)


@most_columns
@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "i8"])
def test_transpose(rng, column, dtype):
    shape, subgroups = drawn(rng)
    x, y = values(rng, dtype, *shape), poisoned(shape[::-1], dtype)
    maps = random_map(rng, shape, subgroups), random_map(rng, shape[::-1], subgroups)
    types = f"{vector(shape, dtype)} -> {vector(y.shape, dtype)}"
    op = f"%y = xetile.tile_transpose %x, [1, 0] {{wg_map = {maps[1]}}} : {types}"
    check(through(op, x, y, (dtype, dtype), maps, subgroups=subgroups), column, rng, Y=x.T)


@pytest.mark.parametrize(("map_bt", "exchanged"), [(wg_map((4, 8), (16, 8)), True), (wg_map((32, 1), (16, 8)), False)])
def test_both_transposes_of_the_rfc(rng, map_bt, exchanged):
    """Appendix 2.3 by a quarter: with the second map each subgroup has what it needs, and no memory is used."""
    x, y = values(rng, "f16", 64, 8), poisoned((8, 64), "f16")
    map_b = wg_map((8, 4), (8, 16))
    op = f"%y = xetile.tile_transpose %x, [1, 0] {{wg_map = {map_b}}} : vector<64x8xf16> -> vector<8x64xf16>"
    kernel = through(op, x, y, ("f16", "f16"), (map_bt, map_b), subgroups=32)
    code = kernel.distributed()
    assert ("gpu.barrier" in code) == ("memory_space = slm" in code) == exchanged
    check(kernel, "subgroup", rng, Y=x.T)


REDUCE = [
    ("add", "f32"), ("add", "f16"), ("add", "bf16"), ("mul", "f32"), ("maximumf", "f16"), ("minnumf", "f32"),
    ("add", "i32"), ("minsi", "i8"), ("maxui", "i32"), ("xor", "i32"), ("and", "i8"), ("or", "i32"),
]  # fmt: skip


@each_column
@pytest.mark.parametrize(("kind", "dtype"), REDUCE)
def test_reduce(rng, column, kind, dtype):
    (shape, subgroups), axes = drawn(rng), AXES[rng.integers(len(AXES))]
    x = values(rng, dtype, *shape)
    if kind == "mul":
        x = rng.choice([-1, 1, 0.5, 2], shape, p=[0.1, 0.8, 0.05, 0.05]).astype(x.dtype)
    wide = x.astype(np.float64) if not dtype.startswith("i") else x
    expected = REDUCTIONS[kind](wide, axes).astype(x.dtype)
    y = poisoned(expected.shape, dtype)
    maps = random_map(rng, shape, subgroups), random_map(rng, y.shape, subgroups)
    types = f"{vector(shape, dtype)} -> {vector(y.shape, dtype)}"
    op = f"%y = xetile.tile_reduce <{kind}> %x, {list(axes)} {{wg_map = {maps[1]}}} : {types}"
    check(through(op, x, y, (dtype, dtype), maps, subgroups=subgroups), column, rng, Y=expected)


@each_column
@pytest.mark.parametrize("dtype", ["f16", "f32", "i32"])
def test_broadcast(rng, column, dtype):
    (shape, subgroups), axes = drawn(rng), AXES[rng.integers(len(AXES))]
    x = values(rng, dtype, *(1 if dim in axes else n for dim, n in enumerate(shape)))
    y = poisoned(shape, dtype)
    maps = random_map(rng, x.shape, subgroups), random_map(rng, shape, subgroups)
    types = f"{vector(x.shape, dtype)} -> {vector(shape, dtype)}"
    op = f"%y = xetile.tile_broadcast %x, {list(axes)} {{wg_map = {maps[1]}}} : {types}"
    check(through(op, x, y, (dtype, dtype), maps, subgroups=subgroups), column, rng, Y=np.broadcast_to(x, shape).copy())


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("op", ["broadcast", "reduce"])
def test_operand_in_pieces_of_a_result_in_one(rng, column, op):
    """Narrow vectors stay whole, but three blocks of eight rows are loaded for them."""
    x = values(rng, "f32", 48, 1 if op == "broadcast" else 8)
    y = poisoned((48, 8 if op == "broadcast" else 1), "f32")
    sides = (24, x.shape[1] if op == "broadcast" else 4), (24, 4 if op == "broadcast" else y.shape[1])
    maps = wg_map((2, 2), sides[0]), wg_map((2, 2), sides[1])
    kind = "tile_broadcast" if op == "broadcast" else "tile_reduce <maximumf>"
    types = f"{vector(x.shape, 'f32')} -> {vector(y.shape, 'f32')}"
    kernel = through(
        f"%y = xetile.{kind} %x, [1] {{wg_map = {maps[1]}}} : {types}", x, y, ("f32", "f32"), maps, subgroups=4
    )
    expected = np.broadcast_to(x, y.shape).copy() if op == "broadcast" else x.max(1, keepdims=True)
    check(kernel, column, rng, Y=expected)


@each_column
@pytest.mark.parametrize("axes", AXES, ids=str)
def test_broadcast_in_rounds(rng, column, axes):
    """Each subgroup owns three by two pieces, and each is made of another piece of the operand."""
    shape = (48, 64)
    x, y = values(rng, "f32", *(1 if dim in axes else n for dim, n in enumerate(shape))), poisoned(shape, "f32")
    x += np.arange(x.size, dtype=x.dtype).reshape(x.shape) * 16  # no two elements are equal
    map_ = wg_map((2, 2), (8, 16))
    types = f"{vector(x.shape, 'f32')} -> {vector(shape, 'f32')}"
    op = f"%y = xetile.tile_broadcast %x, {list(axes)} {{wg_map = {map_}}} : {types}"
    check(through(op, x, y, ("f32", "f32"), ("", map_), subgroups=4), column, rng, Y=np.broadcast_to(x, shape).copy())


@each_column
def test_elementwise_of_differently_owned_vectors(rng, column):
    """Mixed types, a select by a mask, a scalar in all elements; operands are brought to one map."""
    shape, subgroups = (48, 64), 8
    x, z, y = values(rng, "f32", *shape), values(rng, "f16", *shape), poisoned(shape, "f32")
    body = (
        loaded("x", "X", x, "f32", random_map(rng, shape, subgroups))
        + loaded("z", "Z", z, "f16", random_map(rng, shape, subgroups))
        + f"""%wide = arith.extf %z : {vector(shape, "f16")} to {vector(shape, "f32")}
        %half = arith.constant 0.5 : f32
        %halves = vector.broadcast %half : f32 to {vector(shape, "f32")}
        %less = arith.cmpf olt, %x, %wide : {vector(shape, "f32")}
        %scaled = arith.mulf %wide, %halves : {vector(shape, "f32")}
        %y = arith.select %less, %x, %scaled : {vector(shape, "i1")}, {vector(shape, "f32")}
        """
        + stored("y", "Y", y, "f32", random_map(rng, shape, subgroups))
    )
    kernel = Kernel(body, {"X": x, "Z": z, "Y": y}, subgroups)
    wide = z.astype(np.float32)
    check(kernel, column, rng, Y=np.where(x < wide, x, wide * np.float32(0.5)))


@each_column
def test_masks_change_their_owners(rng, column):
    shape, subgroups = (24, 32), 6
    x, y = values(rng, "f32", *shape), poisoned(shape, "f32")
    maps = [random_map(rng, shape, subgroups) for _ in range(3)]
    op = f"""%zero = arith.constant dense<0.0> : {vector(shape, "f32")}
    %one = arith.constant dense<1.0> : {vector(shape, "f32")}
    %positive = arith.cmpf ogt, %x, %zero : {vector(shape, "f32")}
    %moved = xetile.tile_conv_layout %positive {{wg_map = {maps[2]}}} : {vector(shape, "i1")}
    %y = arith.select %moved, %one, %zero : {vector(shape, "i1")}, {vector(shape, "f32")}"""
    check(
        through(op, x, y, ("f32", "f32"), (maps[0], maps[1]), subgroups=subgroups),
        column,
        rng,
        Y=(x > 0).astype(np.float32),
    )


@each_column
@pytest.mark.parametrize("dtype", ["f32", "i8"])
def test_constants_whose_elements_differ(rng, column, dtype):
    """Also one whose rows are equal, so that many subgroups have the same slice."""
    shape, subgroups = (24, 32), 6
    x, y = values(rng, dtype, *shape), poisoned(shape, dtype)
    table = values(rng, dtype, *shape) // 2
    rows = np.broadcast_to(np.arange(32), shape).astype(DTYPES[dtype])
    add = "arith.addi" if dtype.startswith("i") else "arith.addf"
    op = f"""%table = arith.constant dense<{table.tolist()}> : {vector(shape, dtype)}
    %rows = arith.constant dense<{rows.tolist()}> : {vector(shape, dtype)}
    %sum = {add} %x, %table : {vector(shape, dtype)}
    %y = {add} %sum, %rows : {vector(shape, dtype)}"""
    map_ = random_map(rng, shape, subgroups)
    kernel = through(op, x, y, (dtype, dtype), (map_, map_), subgroups=subgroups)
    check(kernel, column, rng, Y=(x + table + rows).astype(DTYPES[dtype]))


@each_column
def test_counters_and_masks(rng, column):
    """vector.step as a row and as a column, create_mask and constant_mask."""
    shape, subgroups = (24, 32), 8
    x, y = values(rng, "i32", *shape), poisoned(shape, "i32")
    map_ = wg_map((2, 4), (6, 4))
    op = f"""%step = vector.step : vector<32xindex>
    %row = vector.shape_cast %step : vector<32xindex> to vector<1x32xindex>
    %numbers = arith.index_cast %row : vector<1x32xindex> to vector<1x32xi32>
    %all = xetile.tile_broadcast %numbers, [0] {{wg_map = {map_}}} : vector<1x32xi32> -> vector<24x32xi32>
    %sum = arith.addi %x, %all : vector<24x32xi32>
    %m = arith.constant 17 : index
    %n = arith.constant 27 : index
    %mask = vector.create_mask %m, %n : vector<24x32xi1>
    %fixed = vector.constant_mask [20, 5] : vector<24x32xi1>
    %first = arith.select %mask, %sum, %x : vector<24x32xi1>, vector<24x32xi32>
    %y = arith.select %fixed, %all, %first : vector<24x32xi1>, vector<24x32xi32>"""
    numbers = np.broadcast_to(np.arange(32, dtype=np.int32), shape)
    expected = x.copy()
    expected[:17, :27] += numbers[:17, :27]
    expected[:20, :5] = numbers[:20, :5]
    kernel = through(op, x, y, ("i32", "i32"), (map_, map_), subgroups=subgroups)
    check(kernel, column, rng, Y=expected)


@each_column
def test_rows_as_columns_by_shape_cast(rng, column):
    """Also under maps of which neither says anything about the other."""
    x, y = values(rng, "f32", 1, 96), poisoned((96, 1), "f32")
    maps = random_map(rng, (1, 96), 8), random_map(rng, (96, 1), 8)
    op = "%y = vector.shape_cast %x : vector<1x96xf32> to vector<96x1xf32>"
    check(through(op, x, y, ("f32", "f32"), maps, subgroups=8), column, rng, Y=x.T)


@each_column
def test_blocks_are_put_together_for_other_owners(rng, column):
    map_ = wg_map((2, 4), (16, 12))
    check_blocks(rng, column, (map_, random_map(rng, (32, 48), 8)))


def test_blocks_are_put_together_for_a_store(rng):
    """Pieces of 16x12 are stored whole, and come in the blocks of 8x4 that the user chose."""
    map_ = wg_map((2, 4), (16, 12))
    check_blocks(rng, "device", (map_, map_))


def check_blocks(rng: np.random.Generator, column: str, maps: tuple[str, str]) -> None:
    shape = (32, 48)
    x, y = values(rng, "f32", *shape), poisoned(shape, "f32")
    op = """%p = xetile.tile_pack %x {inner_blocks = array<i64: 8, 4>} : vector<32x48xf32> -> vector<4x12x8x4xf32>
    %n = arith.negf %p : vector<4x12x8x4xf32>
    %y = xetile.tile_unpack %n {inner_blocks = array<i64: 8, 4>} : vector<4x12x8x4xf32> -> vector<32x48xf32>"""
    check(through(op, x, y, ("f32", "f32"), maps, subgroups=8), column, rng, Y=-x)


@pytest.mark.parametrize("space", ["3", "#gpu.address_space<workgroup>", "#xegpu<memory_space slm>"])
def test_memory_that_a_kernel_allocates(rng, space):
    """Rows of two subgroups go to shared local memory by memref.alloc, and come back turned around."""
    x, y = values(rng, "f32", 32, 32), poisoned((32, 32), "f32")
    slm = "!xetile.tile<16x32xf32, #xetile.tile_attr<memory_space = slm>>"
    rows = "!xetile.tile<16x32xf32>"
    body = f"""
      %memory = memref.alloc() : memref<32x32xf32, {space}>
      %id = gpu.subgroup_id : index
      %c16 = arith.constant 16 : index
      %mine = arith.muli %id, %c16 : index
      %other = arith.subi %c16, %mine : index
      %from = xetile.init_tile %X[%mine, 0] : {plain_type(x)} -> {rows}
      %x = xetile.load_tile %from : {rows} -> vector<16x32xf32>
      %there = xetile.init_tile %memory[%mine, 0] : memref<32x32xf32, {space}> -> {slm}
      xetile.store_tile %x, %there : vector<16x32xf32>, {slm}
      gpu.barrier
      %theirs = xetile.init_tile %memory[%other, 0] : memref<32x32xf32, {space}> -> {slm}
      %y = xetile.load_tile %theirs : {slm} -> vector<16x32xf32>
      %to = xetile.init_tile %Y[%mine, 0] : {plain_type(y)} -> {rows}
      xetile.store_tile %y, %to : vector<16x32xf32>, {rows}
      memref.dealloc %memory : memref<32x32xf32, {space}>
    """
    check(Kernel(body, {"X": x, "Y": y}, subgroups=2), "device", rng, Y=np.concatenate([x[16:], x[:16]]))


@each_column
def test_exchanges_in_loops_and_branches(rng, column):
    """The transpose of a square: three times in scf.for, once in scf.if, twice in scf.while."""
    shape, subgroups = (32, 32), 8
    x, y = values(rng, "f32", *shape), poisoned(shape, "f32")
    maps = random_map(rng, shape, subgroups), random_map(rng, shape, subgroups)
    kind = vector(shape, "f32")
    turn = f"xetile.tile_transpose %{{0}}, [1, 0] {{{{wg_map = {maps[0]}}}}} : {kind} -> {kind}"
    op = f"""%c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %ones = arith.constant dense<1.0> : {kind}
    %turned = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %x) -> ({kind}) {{
      %t = {turn.format("v")}
      %u = arith.addf %t, %ones : {kind}
      scf.yield %u : {kind}
    }}
    %yes = arith.cmpi eq, %c0, %c0 : index
    %chosen = scf.if %yes -> ({kind}) {{
      %t = {turn.format("turned")}
      scf.yield %t : {kind}
    }} else {{
      scf.yield %turned : {kind}
    }}
    %last:2 = scf.while (%i = %c0, %v = %chosen) : (index, {kind}) -> (index, {kind}) {{
      %t = {turn.format("v")}
      %more = arith.cmpi ult, %i, %c1 : index
      scf.condition(%more) %i, %t : index, {kind}
    }} do {{
    ^bb0(%i: index, %v: {kind}):
      %u = arith.addf %v, %v : {kind}
      %next = arith.addi %i, %c1 : index
      scf.yield %next, %u : index, {kind}
    }}
    %y = arith.addf %last#1, %ones : {kind}"""
    turned = x.T + 3
    expected = 2 * turned.T + 1
    kernel = through(op, x, y, ("f32", "f32"), (maps[0], maps[1]), subgroups=subgroups)
    check(kernel, column, rng, Y=expected.astype(np.float32))


@each_column
@pytest.mark.parametrize("used", [False, True])
def test_atomic_updates_are_made_once(rng, column, used):
    """Two workgroups add to one place; every piece has several owners."""
    shape, subgroups = (16, 16), 8
    x, y, before = values(rng, "f32", *shape), values(rng, "f32", *shape), poisoned((2 * shape[0], shape[1]), "f32")
    map_, kind = wg_map((4, 2), (8, 8)), vector(shape, "f32")
    tile, wide = mapped_tile(shape, "f32", map_), mapped_tile(shape, "f32", wg_map((1, 8), (16, 2)))
    body = (
        loaded("x", "X", x, "f32", map_)
        + f"""
      %t = xetile.init_tile %Y[0, 0] : memref<16x16xf32> -> {tile}
      %old = xetile.atomic_rmw_tile <addf> %x, %t : {kind}, {tile} -> {kind}
    """
    )
    if used:
        body += f"""%b = gpu.block_id x
        %rows = arith.constant 16 : index
        %row = arith.muli %b, %rows : index
        %o = xetile.init_tile %Z[%row, 0] : memref<32x16xf32> -> {wide}
        xetile.store_tile %old, %o : {kind}, {wide}
        """
    arrays = COLUMNS[column](Kernel(body, {"X": x, "Y": y, "Z": before}, subgroups, grid=(2, 1)), rng)
    assert_same(arrays["Y"], y + 2 * x)
    if used:
        # Nothing orders the workgroups: of each element either may be first.
        own, other = arrays["Z"][:16], arrays["Z"][16:]
        assert_same(np.where(own == y, own, other), y)
        assert_same(np.where(own == y, other, own), y + x)


@each_column
def test_gather_and_scatter(rng, column):
    shape, subgroups = (1, 64), 4
    x, y = values(rng, "f32", 1, 200), values(rng, "f32", 1, 200)
    places = rng.permutation(200)[:64].reshape(shape)
    mask = rng.integers(0, 2, shape).astype(np.int8)
    map_ = wg_map((1, 4), (1, 8))
    tile, index = mapped_tile(shape, "f32", map_, scatter="true"), vector(shape, "index")
    bits = vector(shape, "i1")
    body = (
        loaded("i", "I", places.astype(np.int32), "i32")
        + loaded("m", "M", mask, "i8")
        + f"""%px = memref.extract_aligned_pointer_as_index %X : memref<1x200xf32> -> index
        %py = memref.extract_aligned_pointer_as_index %Y : memref<1x200xf32> -> index
        %ax = arith.index_cast %px : index to i64
        %ay = arith.index_cast %py : index to i64
        %zero = arith.constant dense<0> : {vector(shape, "i8")}
        %mask = arith.cmpi ne, %m, %zero : {vector(shape, "i8")}
        %places = arith.index_cast %i : {vector(shape, "i32")} to {index}
        %from = xetile.init_tile %ax, %places : i64, {index} -> {tile}
        %to = xetile.init_tile %ay, %places : i64, {index} -> {tile}
        %v = xetile.load_gather %from, %mask {{padding = 7.0 : f32}} : {tile}, {bits} -> {vector(shape, "f32")}
        %w = arith.addf %v, %v : {vector(shape, "f32")}
        xetile.store_scatter %w, %mask, %to : {vector(shape, "f32")}, {bits}, {tile}
        """
    )
    kernel = Kernel(body, {"X": x, "Y": y, "I": places.astype(np.int32), "M": mask}, subgroups)
    expected = y.copy()
    taken = places[0][mask[0] == 1]
    expected[0, taken] = 2 * x[0, taken]
    check(kernel, column, rng, Y=expected)


@each_column
def test_edges_padding_and_order(rng, column):
    """A column-major tile that hangs over all edges, with padding; a store that drops what is outside."""
    x = values(rng, "f32", 30, 50).T  # 50 rows, column-major
    y = poisoned((60, 28), "f32")
    map_ = wg_map((2, 4), (16, 8))
    source = mapped_tile((64, 32), "f32", map_, order="[0, 1]")
    target = mapped_tile((64, 32), "f32", wg_map((8, 1), (8, 16)))
    body = f"""%s = xetile.init_tile %X[-5, -1] : memref<50x30xf32, strided<[1, 50]>> -> {source}
    %v = xetile.load_tile %s {{padding = 3.0 : f32}} : {source} -> vector<64x32xf32>
    %t = xetile.init_tile %Y[-2, 0] : memref<60x28xf32> -> {target}
    xetile.store_tile %v, %t : vector<64x32xf32>, {target}"""
    window = np.full((64, 32), 3, np.float32)
    window[5:55, 1:31] = x
    expected = y.copy()
    expected[:60, :28] = window[2:62, :28]
    check(Kernel(body, {"X": x, "Y": y}, 8), column, rng, Y=expected)


@each_column
def test_normalised_rows(rng, column):
    """Rows that are spread over subgroups: two reductions and two broadcasts, all maps but one inferred."""
    shape = (32, 64)
    x, y = rng.standard_normal(shape).astype(np.float32), poisoned(shape, "f32")
    v, r = vector(shape, "f32"), vector((32, 1), "f32")
    op = f"""%m = xetile.tile_reduce <maximumf> %x, [1] : {v} -> {r}
    %mb = xetile.tile_broadcast %m, [1] : {r} -> {v}
    %d = arith.subf %x, %mb : {v}
    %e = arith.mulf %d, %d : {v}
    %s = xetile.tile_reduce <add> %e, [1] : {v} -> {r}
    %sb = xetile.tile_broadcast %s, [1] : {r} -> {v}
    %y = arith.divf %e, %sb : {v}"""
    body = loaded("x", "X", x, "f32", wg_map((2, 4), (16, 16))) + op + stored("y", "Y", y, "f32")
    kernel = Kernel(body, {"X": x, "Y": y}, 8)
    e = np.square(x - x.max(1, keepdims=True))
    actual = COLUMNS[column](kernel, rng)["Y"]
    np.testing.assert_allclose(actual, e / e.sum(1, keepdims=True), rtol=1e-5)


def two_exchanges(rng: np.random.Generator) -> tuple[Kernel, np.ndarray]:
    """In a loop: a transpose of much, a reduction to little and its broadcast."""
    shape, subgroups = (32, 32), 8
    x, y = values(rng, "f32", *shape), poisoned(shape, "f32")
    kind, map_ = vector(shape, "f32"), wg_map((2, 4), (16, 8))
    op = f"""%c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %y = scf.for %i = %c0 to %c4 step %c1 iter_args(%v = %x) -> ({kind}) {{
      %t = xetile.tile_transpose %v, [1, 0] {{wg_map = {map_}}} : {kind} -> {kind}
      %s = xetile.tile_reduce <maximumf> %t, [1] : {kind} -> vector<32x1xf32>
      %b = xetile.tile_broadcast %s, [1] {{wg_map = {map_}}} : vector<32x1xf32> -> {kind}
      %u = arith.subf %t, %b : {kind}
      scf.yield %u : {kind}
    }}"""
    expected = x
    for _ in range(4):
        expected = expected.T - expected.T.max(1, keepdims=True)
    return through(op, x, y, ("f32", "f32"), (map_, map_), subgroups=subgroups), expected


@pytest.mark.parametrize("slm_bytes", [128 * 1024, 4096])
def test_no_barrier_can_go(rng, slm_bytes):
    """Without any one of them some order of the subgroups gives wrong numbers; with all of them none does."""
    kernel, expected = two_exchanges(rng)
    kernel = Kernel(kernel.body, kernel.arrays, kernel.subgroups, slm_bytes=slm_bytes)
    code = kernel.distributed()
    # Side by side the two buffers need one barrier each: that of the one protects the other. Where they share memory
    # each write waits for the reads before.
    barriers = [match.span() for match in re.finditer(r"gpu\.barrier", code)]
    assert len(barriers) == (2 if slm_bytes > 4096 else 4), code
    for _ in range(5):
        assert_same(Program(kernel, code).run(rng, kernel.subgroups)["Y"], expected)
    for start, end in barriers:
        broken = Program(kernel, code[:start] + code[end:])
        results = [broken.run(rng, kernel.subgroups)["Y"] for _ in range(20)]
        assert any(not np.array_equal(result, expected) for result in results), code[max(0, start - 400) : end]


def test_subgroups_know_their_place_from_one_operation(rng):
    code = two_exchanges(rng)[0].distributed()
    assert code.count("gpu.subgroup_id") == 1
    assert code.index("gpu.subgroup_id") < code.index("scf.for")
