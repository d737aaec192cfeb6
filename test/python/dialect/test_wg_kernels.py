# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Workgroup-level XeTile distributed over subgroups, stage by stage against NumPy: `workgroups.py` runs the stages.

Maps are drawn at random: pieces shared by subgroups, one for each, several for each. `XETILE_SEED` repeats a failure.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from test_xetile_vectors import REDUCTIONS
from wg_kernel_texts import AXES, check, drawn, each_column, loaded, most_columns, stored, through
from workgroups import COLUMNS, Kernel, poisoned, random_map, wg_map
from xetile_programs import DTYPES, values, vector


@pytest.mark.one_in(5)
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


@pytest.mark.one_in(5)
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


@pytest.mark.one_in(8)
@each_column
@pytest.mark.parametrize(("kind", "dtype"), REDUCE)
def test_reduce(rng, column, kind, dtype):
    # LLVM takes most of a minute to allocate registers for sums of a larger vector in one piece.
    (shape, subgroups), axes = drawn(rng, 1024 if column == "workgroup" else 1 << 20), AXES[rng.integers(len(AXES))]
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


@pytest.mark.one_in(3)
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
