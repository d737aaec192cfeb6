# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads, stores, moves, gathers and atomics of tiles on the host CPU, against NumPy.

Tiles hang over all four edges of their matrices and start at negative offsets. `XETILE_SEED` repeats a failure.
"""

from __future__ import annotations

import numpy as np
import pytest
from xetile_programs import (
    DTYPES,
    EDGES,
    ZERO,
    Place,
    assert_same,
    each_dtype,
    each_edge,
    granule,
    memref_type,
    pack,
    place,
    read,
    run,
    sizes,
    text,
    tile_type,
    values,
    vector,
    write,
)


@each_dtype
@each_edge
def test_load_pads_outside(rng, dtype, edge):
    at = place(rng, edge, (granule(dtype),) * 2)
    matrix, padding = values(rng, dtype, *at.size), 3
    out = np.zeros(at.shape, matrix.dtype)
    tile = tile_type(at.shape, dtype)
    run(
        ZERO + f"%t = xetile.init_tile %0[%2, {at.offset[1]}] : {memref_type(matrix)} -> {tile}\n"
        f"%v = xetile.load_tile %t {{padding = {text(padding, dtype)}}} : {tile} -> {vector(at.shape, dtype)}\n"
        + write("v", 1, out, dtype),
        matrix,
        out,
        at.offset[0],
    )
    assert_same(out, at.window(matrix, padding))


@each_dtype
@each_edge
def test_store_drops_outside(rng, dtype, edge):
    at = place(rng, edge, (granule(dtype),) * 2)
    matrix, source = values(rng, dtype, *at.size), values(rng, dtype, *at.shape)
    expected = at.put(matrix, source)
    tile = tile_type(at.shape, dtype)
    run(
        ZERO
        + read("v", 1, source, dtype)
        + f"%t = xetile.init_tile %0[{at.offset[0]}, %2] : {memref_type(matrix)} -> {tile}\n"
        f"xetile.store_tile %v, %t : {vector(at.shape, dtype)}, {tile}",
        matrix,
        source,
        at.offset[1],
    )
    assert_same(matrix, expected)


@each_edge
def test_padded_rows_are_not_touched(rng, edge):
    at = place(rng, edge)
    buffer = values(rng, "f32", at.size[0], at.size[1] + 7)
    matrix, rest = buffer[:, : at.size[1]], buffer[:, at.size[1] :].copy()
    source = values(rng, "f32", *at.shape)
    expected = at.put(np.ascontiguousarray(matrix), source)
    out, tile = np.zeros(at.shape, np.float32), tile_type(at.shape, "f32")
    run(
        ZERO + read("v", 1, source, "f32") + f"%t = xetile.init_tile %0[%3, %4] : {memref_type(matrix)} -> {tile}\n"
        f"xetile.store_tile %v, %t : {vector(at.shape, 'f32')}, {tile}\n"
        f"%w = xetile.load_tile %t : {tile} -> {vector(at.shape, 'f32')}\n" + write("w", 2, out, "f32"),
        matrix,
        source,
        out,
        *at.offset,
    )
    assert_same(np.ascontiguousarray(matrix), expected)
    assert_same(buffer[:, at.size[1] :], rest)
    assert_same(out, at.window(expected))


@each_dtype
@each_edge
def test_column_major_by_order(rng, dtype, edge):
    at = place(rng, edge, (granule(dtype),) * 2)
    matrix = values(rng, dtype, *at.size[::-1]).T
    source, out = values(rng, dtype, *at.shape), np.zeros(at.shape, DTYPES[dtype])
    before = at.window(matrix, 2)
    expected = at.put(np.ascontiguousarray(matrix), source)
    tile = tile_type(at.shape, dtype, order="[0, 1]")
    run(
        ZERO + read("v", 1, source, dtype) + f"%t = xetile.init_tile %0[%3, %4] : {memref_type(matrix)} -> {tile}\n"
        f"%w = xetile.load_tile %t {{padding = {text(2, dtype)}}} : {tile} -> {vector(at.shape, dtype)}\n"
        f"xetile.store_tile %v, %t : {vector(at.shape, dtype)}, {tile}\n" + write("w", 2, out, dtype),
        matrix,
        source,
        out,
        *at.offset,
    )
    assert_same(out, before)
    assert_same(np.ascontiguousarray(matrix), expected)


@pytest.mark.parametrize("order", ["[1, 0]", "[0, 1]"])
@pytest.mark.parametrize("base", ["memref", "address"])
@each_edge
def test_shape_and_strides_given_at_run_time(rng, base, order, edge):
    """The memref's own sizes do not count: the matrix may be smaller, with any pitch."""
    at = place(rng, edge)
    columns = order == "[0, 1]"
    pitch = at.size[not columns] + 3
    buffer = values(rng, "f32", at.size[columns] + 2, pitch)
    matrix = buffer[: at.size[columns], : at.size[not columns]]
    matrix = matrix.T if columns else matrix
    strides = "[1, %6]" if columns else "[%6, 1]"
    out, tile = np.zeros(at.shape, np.float32), tile_type(at.shape, "f32", order=order)
    if base == "memref":
        source = f"%b = memref.cast %0 : {memref_type(buffer)} to memref<?x?xf32>\n"
        kind = "memref<?x?xf32>"
    else:
        source = (
            f"%p = memref.extract_aligned_pointer_as_index %0 : {memref_type(buffer)} -> index\n"
            "%b = arith.index_cast %p : index to i64\n"
        )
        kind = "i64"
    run(
        ZERO + source + f"%t = xetile.init_tile %b[%2, %3], [%4, %5], {strides} : {kind} -> {tile}\n"
        f"%v = xetile.load_tile %t : {tile} -> {vector(at.shape, 'f32')}\n" + write("v", 1, out, "f32"),
        buffer,
        out,
        *at.offset,
        *at.size,
        pitch,
    )
    assert_same(out, at.window(matrix))


@each_dtype
@each_edge
def test_blocks(rng, dtype, edge):
    blocks = sizes(rng, dtype, 2, 5)
    at = place(rng, edge, blocks)
    matrix, source = values(rng, dtype, *at.size), values(rng, dtype, *at.shape)
    order = rng.choice(["[1, 0]", "[0, 1]"])
    if order == "[0, 1]":
        matrix = np.ascontiguousarray(matrix.T).T
    before, expected = pack(at.window(matrix, 1), blocks), at.put(np.ascontiguousarray(matrix), source)
    out = np.zeros(before.shape, matrix.dtype)
    tile = tile_type(at.shape, dtype, order=order, inner_blocks=list(blocks))
    run(
        ZERO
        + read("v", 1, pack(source, blocks), dtype)
        + f"%t = xetile.init_tile %0[%3, %4] : {memref_type(matrix)} -> {tile}\n"
        f"%w = xetile.load_tile %t {{padding = {text(1, dtype)}}} : {tile} -> {vector(out.shape, dtype)}\n"
        f"xetile.store_tile %v, %t : {vector(out.shape, dtype)}, {tile}\n" + write("w", 2, out, dtype),
        matrix,
        pack(source, blocks),
        out,
        *at.offset,
    )
    assert_same(out, before)
    assert_same(np.ascontiguousarray(matrix), expected)


def test_shared_local_memory(rng):
    at = place(rng, "around", (2, 3))
    matrix, out = values(rng, "f32", *at.size), np.zeros(at.shape, np.float32)
    whole = Place(at.size, at.size, (0, 0))
    slm, small = tile_type(whole.shape, "f32", memory_space="slm"), tile_type(at.shape, "f32", memory_space="slm")
    memory = f"memref<{at.size[0]}x{at.size[1]}xf32, 3>"
    run(
        ZERO + read("v", 0, matrix, "f32") + f"%m = memref.alloca() : {memory}\n"
        f"%s = xetile.init_tile %m[0, 0] : {memory} -> {slm}\n"
        f"xetile.store_tile %v, %s : {vector(at.size, 'f32')}, {slm}\n"
        f"%t = xetile.init_tile %m[%2, %3] : {memory} -> {small}\n"
        f"%w = xetile.load_tile %t : {small} -> {vector(at.shape, 'f32')}\n" + write("w", 1, out, "f32"),
        matrix,
        out,
        *at.offset,
    )
    assert_same(out, at.window(matrix))


@pytest.mark.parametrize("order", ["[1, 0]", "[0, 1]"])
def test_tile_moves_in_a_loop(rng, order):
    """Prefetches change nothing; the loop carries the tile over the edge."""
    steps, step = int(rng.integers(2, 5)), [int(n) for n in rng.integers(-3, 6, 2)]
    at = place(rng, "inside")
    matrix = values(rng, "i32", *at.size)
    if order == "[0, 1]":
        matrix = np.ascontiguousarray(matrix.T).T
    expected = np.zeros(at.shape, np.int32)
    for number in range(steps):
        moved = Place(at.size, at.shape, (at.offset[0] + number * step[0], at.offset[1] + number * step[1]))
        expected += moved.window(matrix)
    kept = matrix.copy()
    out, tile, sums = np.zeros(at.shape, np.int32), tile_type(at.shape, "i32", order=order), vector(at.shape, "i32")
    run(
        ZERO
        + f"""%one = arith.constant 1 : index
        %none = arith.constant dense<0> : {sums}
        %t = xetile.init_tile %0[%2, %3] : {memref_type(matrix)} -> {tile}
        %e:2 = scf.for %i = %zero to %4 step %one iter_args(%u = %t, %s = %none) -> ({tile}, {sums}) {{
          xetile.prefetch_tile %u locality<2> : {tile}
          %v = xetile.load_tile %u : {tile} -> {sums}
          %w = arith.addi %s, %v : {sums}
          %half = xetile.update_tile_offset %u, [%5, 0] : {tile}
          %next = xetile.update_tile_offset %half, [0, {step[1]}] : {tile}
          scf.yield %next, %w : {tile}, {sums}
        }}
        """
        + write("e#1", 1, out, "i32"),
        matrix,
        out,
        *at.offset,
        steps,
        step[0],
    )
    assert_same(out, expected)
    assert_same(np.ascontiguousarray(matrix), np.ascontiguousarray(kept))


# Scattered tiles


@each_dtype
def test_gather_and_scatter(rng, dtype):
    shape = sizes(rng, dtype, 2, 9 // granule(dtype))
    count = shape[0] * shape[1]
    memory, source = values(rng, dtype, 3 * count + 4), values(rng, dtype, *shape)
    indices = rng.permutation(2 * count)[:count].reshape(shape).astype(np.int64)
    # Masked elements must not be touched: send them far away.
    mask = rng.integers(0, 2, shape).astype(bool)
    indices = np.where(mask, indices, 1 << 40)
    deltas = np.full(shape, int(rng.integers(0, 4)), np.int64)
    at = (indices + deltas)[mask]
    before, expected = memory.copy(), memory.copy()
    gathered = np.full(shape, 5, memory.dtype)
    gathered[mask] = before[at]
    expected[at] = source[mask]
    out, tile = np.zeros(shape, memory.dtype), tile_type(shape, dtype, scatter="true")
    indexed, masked = vector(shape, "index"), vector(shape, "i1")
    run(
        ZERO
        + read("s", 1, source, dtype)
        + read_indices("i", 2, indices)
        + read_indices("d", 3, deltas)
        + f"""%m8 = arith.constant 0 : i8
        %mv = vector.transfer_read %4[%zero, %zero], %m8 {{in_bounds = [true, true]}}
          : {memref_type(mask.astype(np.int8))}, {vector(shape, "i8")}
        %m0 = arith.constant dense<0> : {vector(shape, "i8")}
        %m = arith.cmpi ne, %mv, %m0 : {vector(shape, "i8")}
        %p = memref.extract_aligned_pointer_as_index %0 : {memref_type(memory)} -> index
        %a = arith.index_cast %p : index to i64
        %t = xetile.init_tile %a, %i : i64, {indexed} -> {tile}
        %u = xetile.update_tile_offset %t, %d : {tile}, {indexed}
        %v = xetile.load_gather %u, %m {{padding = {text(5, dtype)}}} : {tile}, {masked} -> {vector(shape, dtype)}
        xetile.store_scatter %s, %m, %u : {vector(shape, dtype)}, {masked}, {tile}
        """
        + write("v", 5, out, dtype),
        memory,
        source,
        indices,
        deltas,
        mask.astype(np.int8),
        out,
    )
    assert_same(out, gathered)
    assert_same(memory, expected)


def read_indices(name: str, number: int, array: np.ndarray) -> str:
    return (
        f"%{name} = vector.transfer_read %{number}[%zero, %zero], %zero {{in_bounds = [true, true]}} : "
        f"{memref_type(array)}, {vector(array.shape, 'index')}\n"
    )


# Atomics

ATOMIC_INTEGERS = {
    "addi": lambda a, b: a + b,
    "muli": lambda a, b: a * b,
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
    "maxs": np.maximum,
    "mins": np.minimum,
    "maxu": lambda a, b: np.maximum(a.view(f"u{a.itemsize}"), b.view(f"u{b.itemsize}")).view(a.dtype),
    "minu": lambda a, b: np.minimum(a.view(f"u{a.itemsize}"), b.view(f"u{b.itemsize}")).view(a.dtype),
    "assign": lambda a, b: b,
}
ATOMIC_FLOATS = {
    "addf": lambda a, b: a + b,
    "mulf": lambda a, b: a * b,
    "maximumf": np.maximum,
    "minimumf": np.minimum,
    "maxnumf": np.fmax,
    "minnumf": np.fmin,
    "assign": lambda a, b: b,
}
ATOMICS = [(kind, dtype) for kind in ATOMIC_INTEGERS for dtype in ("i8", "i32")] + [
    (kind, dtype) for kind in ATOMIC_FLOATS for dtype in ("f16", "bf16", "f32")
]


# Of elements that replace what is at one place the order is open.
@pytest.mark.parametrize(("kind", "dtype"), [each for each in ATOMICS if each[0] != "assign"])
def test_atomics_of_scattered_elements_count_each_of_those_at_one_place(rng, kind, dtype):
    shape = sizes(rng, dtype, 2, 9 // granule(dtype))
    memory, source = values(rng, dtype, 8), values(rng, dtype, *shape)
    mask = rng.integers(0, 2, shape).astype(bool)
    # Masked elements must not be touched: send them far away.
    indices = np.where(mask, rng.integers(0, 8, shape), 1 << 40)
    compute = ATOMIC_INTEGERS.get(kind) if dtype.startswith("i") else ATOMIC_FLOATS.get(kind)
    expected = memory.copy()
    for at, value in zip(indices[mask], source[mask], strict=True):
        with np.errstate(over="ignore"):
            expected[at : at + 1] = compute(expected[at : at + 1], np.array([value], memory.dtype))
    tile, masked = tile_type(shape, dtype, scatter="true"), vector(shape, "i1")
    run(
        ZERO
        + read("s", 1, source, dtype)
        + read_indices("i", 2, indices)
        + f"""%m8 = arith.constant 0 : i8
        %mv = vector.transfer_read %3[%zero, %zero], %m8 {{in_bounds = [true, true]}}
          : {memref_type(mask.astype(np.int8))}, {vector(shape, "i8")}
        %m0 = arith.constant dense<0> : {vector(shape, "i8")}
        %m = arith.cmpi ne, %mv, %m0 : {vector(shape, "i8")}
        %p = memref.extract_aligned_pointer_as_index %0 : {memref_type(memory)} -> index
        %a = arith.index_cast %p : index to i64
        %t = xetile.init_tile %a, %i : i64, {vector(shape, "index")} -> {tile}
        xetile.atomic_rmw_scatter <{kind}> %s, %m, %t : {vector(shape, dtype)}, {masked}, {tile}
        """,
        memory,
        source,
        indices,
        mask.astype(np.int8),
    )
    assert_same(memory, expected)


@pytest.mark.parametrize(("kind", "dtype"), ATOMICS)
def test_atomics(rng, kind, dtype):
    blocks = sizes(rng, dtype, 2, 4)
    at = place(rng, rng.choice(EDGES), blocks)
    matrix, source = values(rng, dtype, *at.size), values(rng, dtype, *at.shape)
    compute = ATOMIC_INTEGERS.get(kind) if dtype.startswith("i") else ATOMIC_FLOATS.get(kind)
    before = at.window(matrix)
    with np.errstate(over="ignore"):
        expected = at.put(matrix, compute(before, source).astype(matrix.dtype))
    blocked = bool(rng.integers(0, 2))
    tile = tile_type(at.shape, dtype, **({"inner_blocks": list(blocks)} if blocked else {}))
    source, before = (pack(source, blocks), pack(before, blocks)) if blocked else (source, before)
    out = np.full(before.shape, 1, matrix.dtype)
    shape = vector(out.shape, dtype)
    run(
        ZERO + read("v", 1, source, dtype) + f"%t = xetile.init_tile %0[%3, %4] : {memref_type(matrix)} -> {tile}\n"
        f"%w = xetile.atomic_rmw_tile <{kind}> %v, %t : {shape}, {tile} -> {shape}\n" + write("w", 2, out, dtype),
        matrix,
        source,
        out,
        *at.offset,
    )
    assert_same(out, before)
    assert_same(matrix, expected)
