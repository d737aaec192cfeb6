# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Workgroup-level kernels with memory: allocated, exchanged in loops, atomic, scattered, beyond edges."""

from __future__ import annotations

import re

import numpy as np
import pytest
from wg_kernel_texts import check, each_column, loaded, stored, through
from workgroups import COLUMNS, Kernel, Program, mapped_tile, plain_type, poisoned, random_map, wg_map
from xetile_programs import assert_same, values, vector


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
