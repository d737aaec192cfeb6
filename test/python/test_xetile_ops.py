"""Each XeTile operation and attribute on the host CPU, through convert-xetile-to-vector, against NumPy.

Every test draws shapes, offsets and values; tiles hang over all four edges of their matrices and start at negative
offsets. `XETILE_SEED` repeats a failure.
"""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass

import ml_dtypes
import numpy as np
import pytest
from xetile import passes
from xetile.mlir import ir
from xetile.mlir.execution_engine import ExecutionEngine

DTYPES = {
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "i8": np.dtype(np.int8),
    "i32": np.dtype(np.int32),
}
TOLERANCE = {"f16": 1e-2, "bf16": 6e-2, "f32": 1e-5}
ON_HOST = (
    "convert-xetile-to-vector,canonicalize,cse,func.func(lower-vector-multi-reduction),"
    "convert-vector-to-scf{full-unroll=true},expand-strided-metadata,lower-affine,convert-scf-to-cf,"
    "convert-vector-to-llvm,convert-arith-to-llvm,convert-cf-to-llvm,finalize-memref-to-llvm,"
    "convert-func-to-llvm,convert-ub-to-llvm,reconcile-unrealized-casts"
)

each_dtype = pytest.mark.parametrize("dtype", DTYPES)
each_float = pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])


def run(body: str, *arguments: np.ndarray | int | np.int64) -> None:
    """Runs `func.func @f(<arguments>) { body }`. Arrays are memrefs %0, %1, ...; whole numbers are of type index."""
    with ir.Context(), ir.Location.unknown():
        types = ", ".join(f"%{number}: {_type(argument)}" for number, argument in enumerate(arguments))
        text = f"func.func @f({types}) attributes {{llvm.emit_c_interface}} {{\n{body}\nreturn\n}}"
        module = ir.Module.parse(text)
        passes.run(module, ON_HOST)
        engine = ExecutionEngine(module, opt_level=1)
        keep = [_pack(argument) for argument in arguments]
        engine.invoke("f", *keep)


def _type(argument: np.ndarray | int) -> str:
    if not isinstance(argument, np.ndarray):
        return "index"
    element = next(
        name
        for name, dtype in {**DTYPES, "index": np.dtype(np.int64), "i1": np.dtype(bool)}.items()
        if dtype == argument.dtype
    )
    strides = ", ".join(str(stride // argument.itemsize) for stride in argument.strides)
    return f"memref<{'x'.join(map(str, argument.shape))}x{element}, strided<[{strides}]>>"


def _pack(argument: np.ndarray | int) -> object:
    """What `invoke` takes: a pointer to an index, a pointer to a pointer to a memref descriptor."""
    if not isinstance(argument, np.ndarray):
        return ctypes.pointer(ctypes.c_int64(argument))
    strides = [stride // argument.itemsize for stride in argument.strides]
    words = [argument.ctypes.data, argument.ctypes.data, 0, *argument.shape, *strides]
    descriptor = (ctypes.c_int64 * len(words))(*words)
    return ctypes.pointer(ctypes.pointer(descriptor))


def values(rng: np.random.Generator, dtype: str, *shape: int) -> np.ndarray:
    """Small numbers, exact in all types; integers span their type where that is narrow."""
    if dtype.startswith("i"):
        return rng.integers(-128, 128, shape).astype(DTYPES[dtype])
    return (rng.integers(-64, 65, shape) / 16).astype(DTYPES[dtype])


def bits(array: np.ndarray) -> np.ndarray:
    """For exact comparison of all types, NaN and the sign of zero included."""
    return array.view(f"i{array.itemsize}")


def assert_same(actual: np.ndarray, expected: np.ndarray) -> None:
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(bits(np.ascontiguousarray(actual)), bits(np.ascontiguousarray(expected)))


def assert_close(actual: np.ndarray, expected: np.ndarray, dtype: str, terms: int = 1) -> None:
    if dtype.startswith("i"):
        assert_same(actual, expected)
        return
    scale = max(1.0, float(np.abs(expected.astype(np.float64)).max()))
    np.testing.assert_allclose(
        actual.astype(np.float64),
        expected.astype(np.float64),
        rtol=0,
        atol=TOLERANCE[dtype] * scale * max(1, terms / 16),
    )


def text(value: float, dtype: str) -> str:
    return f"{int(value)} : {dtype}" if dtype.startswith("i") else f"{float(value)} : {dtype}"


@dataclass
class Place:
    """A tile of `shape` at `offset` in a matrix of `size`, both in rows and columns."""

    size: tuple[int, int]
    shape: tuple[int, int]
    offset: tuple[int, int]

    def window(self, matrix: np.ndarray, padding: float = 0) -> np.ndarray:
        """The tile's elements, `padding` outside of the matrix."""
        out = np.full(self.shape, padding, matrix.dtype)
        inside = self.inside()
        rows, columns = np.ogrid[: self.shape[0], : self.shape[1]]
        rows, columns = np.broadcast_arrays(rows + self.offset[0], columns + self.offset[1])
        out[inside] = matrix[rows[inside], columns[inside]]
        return out

    def put(self, matrix: np.ndarray, tile: np.ndarray) -> np.ndarray:
        """The matrix with the tile stored to it."""
        out, inside = matrix.copy(), self.inside()
        rows, columns = np.ogrid[: self.shape[0], : self.shape[1]]
        rows, columns = np.broadcast_arrays(rows + self.offset[0], columns + self.offset[1])
        out[rows[inside], columns[inside]] = tile[inside]
        return out

    def inside(self) -> np.ndarray:
        rows, columns = np.ogrid[: self.shape[0], : self.shape[1]]
        rows, columns = rows + self.offset[0], columns + self.offset[1]
        return (rows >= 0) & (rows < self.size[0]) & (columns >= 0) & (columns < self.size[1])


EDGES = ["inside", "top", "bottom", "left", "right", "around", "above", "beyond"]
each_edge = pytest.mark.parametrize("edge", EDGES)


def place(rng: np.random.Generator, edge: str, blocks: tuple[int, int] = (1, 1)) -> Place:
    """A random tile that hangs over `edge`: one side, all of them ("around"), or wholly out of the matrix."""
    shape = tuple(int(rng.integers(1, 6) * block) for block in blocks)
    size = [int(rng.integers(1, 12)) + n for n in shape]
    offset = [int(rng.integers(0, matrix - n + 1)) for matrix, n in zip(size, shape, strict=True)]
    if edge in ("top", "left"):
        offset[edge == "left"] = -int(rng.integers(1, shape[edge == "left"] + 1))
    elif edge in ("bottom", "right"):
        dim = edge == "right"
        offset[dim] = size[dim] - shape[dim] + int(rng.integers(1, shape[dim] + 1))
    elif edge == "around":
        size = [int(n) for n in rng.integers(2, 7, 2)]
        shape = tuple(-(-(n + 2) // block) * block for n, block in zip(size, blocks, strict=True))
        offset = [-1, -1]
    elif edge == "above":
        offset[0] = -shape[0] - int(rng.integers(0, 9))
    elif edge == "beyond":
        offset[1] = size[1] + int(rng.integers(0, 9))
    return Place(tuple(size), shape, tuple(offset))


def granule(dtype: str) -> int:
    """What the sizes of vectors are multiples of.

    2 for bf16: LLVM 22 stops ("do not know how to soft promote") at some operations on bf16 vectors of odd length for
    CPUs with AVX512-BF16.
    """
    return 2 if dtype == "bf16" else 1


def sizes(rng: np.random.Generator, dtype: str, count: int, stop: int) -> tuple[int, ...]:
    """`count` random sizes of vectors, 1 to `stop` - 1 granules."""
    return tuple(int(n) * granule(dtype) for n in rng.integers(1, stop, count))


def tile_type(shape: tuple[int, int], dtype: str, **attributes: str) -> str:
    inner = ", ".join(f"{name} = {value}" for name, value in attributes.items())
    return f"!xetile.tile<{shape[0]}x{shape[1]}x{dtype}{f', #xetile.tile_attr<{inner}>' if inner else ''}>"


def vector(shape: tuple[int, ...], dtype: str) -> str:
    return f"vector<{'x'.join(map(str, shape))}x{dtype}>"


def read(name: str, number: int, array: np.ndarray, dtype: str) -> str:
    """Reads all of argument `number` into the vector %`name`."""
    zero = text(0, dtype) if dtype != "i1" else "false"
    zeros = ", ".join(["%zero"] * array.ndim)
    bounds = ", ".join(["true"] * array.ndim)
    pad = f"%{name}_pad = arith.constant {zero}\n"
    return (
        pad + f"%{name} = vector.transfer_read %{number}[{zeros}], %{name}_pad {{in_bounds = [{bounds}]}} : "
        f"{_type(array)}, {vector(array.shape, dtype)}\n"
    )


def write(name: str, number: int, array: np.ndarray, dtype: str) -> str:
    """Writes the vector %`name` to all of argument `number`."""
    zeros = ", ".join(["%zero"] * array.ndim)
    bounds = ", ".join(["true"] * array.ndim)
    return (
        f"vector.transfer_write %{name}, %{number}[{zeros}] {{in_bounds = [{bounds}]}} : "
        f"{vector(array.shape, dtype)}, {_type(array)}\n"
    )


ZERO = "%zero = arith.constant 0 : index\n"


def apply(op: str, results: list[tuple[tuple[int, ...], str]], *operands: tuple[np.ndarray, str]) -> list[np.ndarray]:
    """Runs `op`, which computes %r0, %r1, ... of the given shapes and types from vectors %v0, %v1, ..."""
    outputs = [np.zeros(shape, DTYPES[dtype]) for shape, dtype in results]
    body = ZERO
    for number, (array, dtype) in enumerate(operands):
        body += read(f"v{number}", number, array, dtype)
    body += op + "\n"
    for number, (array, (_, dtype)) in enumerate(zip(outputs, results, strict=True)):
        body += write(f"r{number}", len(operands) + number, array, dtype)
    run(body, *(array for array, _ in operands), *outputs)
    return outputs


# Loads and stores


@each_dtype
@each_edge
def test_load_pads_outside(rng, dtype, edge):
    at = place(rng, edge, (granule(dtype),) * 2)
    matrix, padding = values(rng, dtype, *at.size), 3
    out = np.zeros(at.shape, matrix.dtype)
    tile = tile_type(at.shape, dtype)
    run(
        ZERO + f"%t = xetile.init_tile %0[%2, {at.offset[1]}] : {_type(matrix)} -> {tile}\n"
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
        + f"%t = xetile.init_tile %0[{at.offset[0]}, %2] : {_type(matrix)} -> {tile}\n"
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
        ZERO + read("v", 1, source, "f32") + f"%t = xetile.init_tile %0[%3, %4] : {_type(matrix)} -> {tile}\n"
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
        ZERO + read("v", 1, source, dtype) + f"%t = xetile.init_tile %0[%3, %4] : {_type(matrix)} -> {tile}\n"
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
        source = f"%b = memref.cast %0 : {_type(buffer)} to memref<?x?xf32>\n"
        kind = "memref<?x?xf32>"
    else:
        source = (
            f"%p = memref.extract_aligned_pointer_as_index %0 : {_type(buffer)} -> index\n"
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
        + f"%t = xetile.init_tile %0[%3, %4] : {_type(matrix)} -> {tile}\n"
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
        %t = xetile.init_tile %0[%2, %3] : {_type(matrix)} -> {tile}
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
          : {_type(mask.astype(np.int8))}, {vector(shape, "i8")}
        %m0 = arith.constant dense<0> : {vector(shape, "i8")}
        %m = arith.cmpi ne, %mv, %m0 : {vector(shape, "i8")}
        %p = memref.extract_aligned_pointer_as_index %0 : {_type(memory)} -> index
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
        f"{_type(array)}, {vector(array.shape, 'index')}\n"
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
        ZERO + read("v", 1, source, dtype) + f"%t = xetile.init_tile %0[%3, %4] : {_type(matrix)} -> {tile}\n"
        f"%w = xetile.atomic_rmw_tile <{kind}> %v, %t : {shape}, {tile} -> {shape}\n" + write("w", 2, out, dtype),
        matrix,
        source,
        out,
        *at.offset,
    )
    assert_same(out, before)
    assert_same(matrix, expected)


# Vectors


def pack(matrix: np.ndarray, blocks: tuple[int, int]) -> np.ndarray:
    rows, columns = matrix.shape
    split = matrix.reshape(rows // blocks[0], blocks[0], columns // blocks[1], blocks[1])
    return np.ascontiguousarray(split.transpose(0, 2, 1, 3))


MMA = [
    ("f16", "f32"),
    ("f16", "f16"),
    ("bf16", "f32"),
    ("bf16", "bf16"),
    ("f32", "f32"),
    ("i8", "i32"),
]


@pytest.mark.parametrize("with_c", [False, True])
@pytest.mark.parametrize("blocked", [False, True])
@pytest.mark.parametrize(("dtype", "sum_dtype"), MMA)
def test_mma(rng, dtype, sum_dtype, blocked, with_c):
    (m, n, k), (bm, bn, bk) = sizes(rng, "", 3, 5), sizes(rng, dtype, 3, 4)
    a, b = values(rng, dtype, m * bm, k * bk), values(rng, dtype, k * bk, n * bn)
    c = values(rng, sum_dtype, m * bm, n * bn)
    wide = np.int64 if dtype == "i8" else np.float64
    expected = a.astype(wide) @ b.astype(wide) + (c.astype(wide) if with_c else 0)
    expected = expected.astype(DTYPES[sum_dtype])
    if blocked:
        a, b, c, expected = pack(a, (bm, bk)), pack(b, (bk, bn)), pack(c, (bm, bn)), pack(expected, (bm, bn))
    types = [vector(a.shape, dtype), vector(b.shape, dtype)] + [vector(c.shape, sum_dtype)] * with_c
    operands = [(a, dtype), (b, dtype)] + [(c, sum_dtype)] * with_c
    names = ", ".join(f"%v{number}" for number in range(len(operands)))
    op = f"%r0 = xetile.tile_mma {names} : {', '.join(types)} -> {vector(c.shape, sum_dtype)}"
    (result,) = apply(op, [(c.shape, sum_dtype)], *operands)
    assert_close(result, expected, sum_dtype, terms=int(k * bk))


@each_dtype
def test_transpose_pack_and_unpack(rng, dtype):
    (m, n), (bm, bn) = sizes(rng, "", 2, 6), sizes(rng, dtype, 2, 6)
    v = values(rng, dtype, m * bm, n * bn)
    packed, flat = vector((m, n, bm, bn), dtype), vector(v.shape, dtype)
    blocks = f"{{inner_blocks = array<i64: {bm}, {bn}>}}"
    op = f"""%r0 = xetile.tile_transpose %v0, [1, 0] : {flat} -> {vector(v.T.shape, dtype)}
    %r1 = xetile.tile_pack %v0 {blocks} : {flat} -> {packed}
    %r2 = xetile.tile_unpack %v1 {blocks} : {packed} -> {flat}
    %r3 = xetile.tile_transpose %v0, [0, 1] : {flat} -> {flat}"""
    w = values(rng, dtype, *v.shape)
    shapes = [(v.T.shape, dtype), ((m, n, bm, bn), dtype), (v.shape, dtype), (v.shape, dtype)]
    transposed, blocked, unpacked, same = apply(op, shapes, (v, dtype), (pack(w, (bm, bn)), dtype))
    assert_same(transposed, np.ascontiguousarray(v.T))
    assert_same(blocked, pack(v, (bm, bn)))
    assert_same(unpacked, w)
    assert_same(same, v)


def test_conv_layout_keeps_the_vector(rng, monkeypatch):
    """It has no meaning without maps; the same map on both sides folds away."""
    monkeypatch.setattr(sys.modules[__name__], "ON_HOST", f"canonicalize,{ON_HOST}")
    v = values(rng, "f32", 8, 16)
    map_ = "#xetile.wg_map<sg_layout = [1, 1], sg_data = [8, 16]>"
    op = f"%r0 = xetile.tile_conv_layout %v0 {{wg_map = {map_}, source_wg_map = {map_}}} : {vector(v.shape, 'f32')}"
    (result,) = apply(op, [(v.shape, "f32")], (v, "f32"))
    assert_same(result, v)


REDUCTIONS = {
    "add": lambda v, axes: v.sum(axes, keepdims=True),
    "mul": lambda v, axes: v.prod(axes, keepdims=True),
    "minsi": lambda v, axes: v.min(axes, keepdims=True),
    "maxsi": lambda v, axes: v.max(axes, keepdims=True),
    "minui": lambda v, axes: v.view(f"u{v.itemsize}").min(axes, keepdims=True).view(v.dtype),
    "maxui": lambda v, axes: v.view(f"u{v.itemsize}").max(axes, keepdims=True).view(v.dtype),
    "and": lambda v, axes: np.bitwise_and.reduce(v, axes, keepdims=True),
    "or": lambda v, axes: np.bitwise_or.reduce(v, axes, keepdims=True),
    "xor": lambda v, axes: np.bitwise_xor.reduce(v, axes, keepdims=True),
    "minnumf": lambda v, axes: np.fmin.reduce(v, axes, keepdims=True),
    "maxnumf": lambda v, axes: np.fmax.reduce(v, axes, keepdims=True),
    "minimumf": lambda v, axes: v.min(axes, keepdims=True),
    "maximumf": lambda v, axes: v.max(axes, keepdims=True),
}
REDUCE = [
    (kind, dtype)
    for kind in REDUCTIONS
    for dtype in DTYPES
    if kind in ("add", "mul") or kind.endswith("f") == (not dtype.startswith("i"))
]


@pytest.mark.parametrize("blocked", [False, True])
@pytest.mark.parametrize(("kind", "dtype"), REDUCE)
def test_reduce(rng, kind, dtype, blocked):
    shape = sizes(rng, dtype, 4 if blocked else 2, 7 // granule(dtype))
    v = values(rng, dtype, *shape)
    choices = [(0, 2), (1, 3), (1,), (3,), (0, 1, 2, 3)] if blocked else [(0,), (1,), (0, 1)]
    axes = choices[rng.integers(len(choices))]
    if kind == "mul" and not dtype.startswith("i"):
        v = rng.choice([-1, 1, 0.5, 2], shape).astype(v.dtype)
    wide = v.astype(np.float64) if not dtype.startswith("i") else v
    with np.errstate(over="ignore"):
        expected = REDUCTIONS[kind](wide, axes).astype(v.dtype)
    types = f"{vector(shape, dtype)} -> {vector(expected.shape, dtype)}"
    op = f"%r0 = xetile.tile_reduce <{kind}> %v0, {list(axes)} : {types}"
    (result,) = apply(op, [(expected.shape, dtype)], (v, dtype))
    if kind in ("add", "mul"):
        assert_close(result, expected, dtype, terms=v.size)
    else:
        assert_same(result, expected)


@pytest.mark.parametrize(
    ("kind", "expected"), [("minimumf", np.nan), ("maximumf", np.nan), ("minnumf", -2.0), ("maxnumf", 7.0)]
)
def test_reduce_of_nan(kind, expected):
    v = np.array([[np.nan, -2.0, 7.0], [np.nan, np.nan, np.nan]], np.float32)
    op = f"%r0 = xetile.tile_reduce <{kind}> %v0, [1] : vector<2x3xf32> -> vector<2x1xf32>"
    (result,) = apply(op, [((2, 1), "f32")], (v, "f32"))
    np.testing.assert_array_equal(result, np.array([[expected], [np.nan]], np.float32))


@each_dtype
@pytest.mark.parametrize("blocked", [False, True])
def test_broadcast(rng, dtype, blocked):
    shape = sizes(rng, dtype, 4 if blocked else 2, 7 // granule(dtype))
    choices = [(0, 2), (1, 3), (0, 1, 2, 3)] if blocked else [(0,), (1,), (0, 1)]
    axes = choices[rng.integers(len(choices))]
    source = values(rng, dtype, *(1 if dim in axes else n for dim, n in enumerate(shape)))
    op = f"%r0 = xetile.tile_broadcast %v0, {list(axes)} : {vector(source.shape, dtype)} -> {vector(shape, dtype)}"
    (result,) = apply(op, [(shape, dtype)], (source, dtype))
    assert_same(result, np.ascontiguousarray(np.broadcast_to(source, shape)))


# Together


@pytest.mark.parametrize(("dtype", "sum_dtype"), [("f16", "f32"), ("bf16", "f32"), ("i8", "i32")])
def test_gemm_of_any_size(rng, dtype, sum_dtype):
    """C = A*B in tiles of 16x16x16 that hang over all edges, B column-major."""
    m, n, k = (int(size) for size in rng.integers(1, 50, 3))
    a, b = values(rng, dtype, m, k), values(rng, dtype, n, k).T
    c = values(rng, sum_dtype, m, n)
    wide = np.int64 if dtype == "i8" else np.float64
    expected = (a.astype(wide) @ b.astype(wide)).astype(c.dtype)
    ta, tb, tc = tile_type((16, 16), dtype), tile_type((16, 16), dtype, order="[0, 1]"), tile_type((16, 16), sum_dtype)
    v, s = vector((16, 16), dtype), vector((16, 16), sum_dtype)
    run(
        ZERO
        + f"""%step = arith.constant 16 : index
        %none = arith.constant dense<{0 if dtype == "i8" else 0.0}> : {s}
        scf.for %i = %zero to %3 step %step {{
          scf.for %j = %zero to %4 step %step {{
            %ta = xetile.init_tile %0[%i, 0] : {_type(a)} -> {ta}
            %tb = xetile.init_tile %1[0, %j] : {_type(b)} -> {tb}
            %e:3 = scf.for %l = %zero to %5 step %step iter_args(%x = %none, %ua = %ta, %ub = %tb)
                -> ({s}, {ta}, {tb}) {{
              %va = xetile.load_tile %ua : {ta} -> {v}
              %vb = xetile.load_tile %ub : {tb} -> {v}
              %y = xetile.tile_mma %va, %vb, %x : {v}, {v}, {s} -> {s}
              %na = xetile.update_tile_offset %ua, [0, %step] : {ta}
              %nb = xetile.update_tile_offset %ub, [%step, 0] : {tb}
              scf.yield %y, %na, %nb : {s}, {ta}, {tb}
            }}
            %tc = xetile.init_tile %2[%i, %j] : {_type(c)} -> {tc}
            xetile.store_tile %e#0, %tc : {s}, {tc}
          }}
        }}""",
        a,
        b,
        c,
        m,
        n,
        k,
    )
    assert_close(c, expected, sum_dtype, terms=k)
