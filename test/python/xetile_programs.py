# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs snippets of XeTile on the host CPU, through convert-xetile-to-vector, with NumPy arrays.

What the numeric tests of its operations share: random shapes, offsets and values, text of types, comparisons.
"""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass
from pathlib import Path

import element_types
import numpy as np
import pytest
from xetile import passes
from xetile.mlir import ir
from xetile.mlir.execution_engine import ExecutionEngine

DTYPES = element_types.dtypes("f16", "bf16", "f32", "i8", "i32")
OTHERS = element_types.dtypes("index", "i1", "i16")
ON_HOST = (
    "convert-xetile-to-vector,canonicalize,cse,func.func(lower-vector-multi-reduction),"
    "convert-vector-to-scf{full-unroll=true},expand-strided-metadata,lower-affine,convert-scf-to-cf,"
    "arith-emulate-unsupported-floats{source-types=bf16 target-type=f32},func.func(arith-expand{include-bf16=true}),"
    "convert-vector-to-llvm,convert-math-to-llvm,convert-arith-to-llvm,convert-cf-to-llvm,finalize-memref-to-llvm,"
    "convert-func-to-llvm,convert-ub-to-llvm,reconcile-unrealized-casts"
)

each_dtype = pytest.mark.parametrize("dtype", DTYPES)
each_float = pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])


def lower_on_host(module: ir.Module, before: str = "") -> None:
    """By the passes of `before` and ON_HOST. LLVM 22 has no code for some moves of bf16 vectors: bf16 is computed in
    f32, and what is moved is bits, unless there is an atomic update, which needs floats."""
    moves = "" if re.search(r"atomic_rmw.*bf16", str(module)) else ",xetile-bf16-as-bits"
    passes.run(module, before + ON_HOST + moves)


def run(body: str, *arguments: np.ndarray | int | np.int64) -> None:
    """Runs `func.func @f(<arguments>) { body }`. Arrays are memrefs %0, %1, ...; whole numbers are of type index."""
    with ir.Context(), ir.Location.unknown():
        types = ", ".join(f"%{number}: {memref_type(argument)}" for number, argument in enumerate(arguments))
        text = f"func.func @f({types}) attributes {{llvm.emit_c_interface}} {{\n{body}\nreturn\n}}"
        module = ir.Module.parse(text)
        lower_on_host(module)
        engine = ExecutionEngine(module, opt_level=1, shared_libs=_narrow_floats())
        keep = [_pack(argument) for argument in arguments]
        engine.invoke("f", *keep)


def _narrow_floats() -> list[str]:
    """MLIR's conversions of bf16, which code calls where the CPU has no instruction; they lie beside libMLIR."""
    loaded = re.search(r"/\S*/libMLIR\.so\S*", Path("/proc/self/maps").read_text())
    assert loaded, "libMLIR is not loaded"
    return [str(Path(loaded[0]).with_name("libmlir_float16_utils.so"))]


def memref_type(argument: np.ndarray | int) -> str:
    if not isinstance(argument, np.ndarray):
        return "index"
    element = next(name for name, dtype in {**DTYPES, **OTHERS}.items() if dtype == argument.dtype)
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
        f"{memref_type(array)}, {vector(array.shape, dtype)}\n"
    )


def write(name: str, number: int, array: np.ndarray, dtype: str) -> str:
    """Writes the vector %`name` to all of argument `number`."""
    zeros = ", ".join(["%zero"] * array.ndim)
    bounds = ", ".join(["true"] * array.ndim)
    return (
        f"vector.transfer_write %{name}, %{number}[{zeros}] {{in_bounds = [{bounds}]}} : "
        f"{vector(array.shape, dtype)}, {memref_type(array)}\n"
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


def pack(matrix: np.ndarray, blocks: tuple[int, int]) -> np.ndarray:
    rows, columns = matrix.shape
    split = matrix.reshape(rows // blocks[0], blocks[0], columns // blocks[1], blocks[1])
    return np.ascontiguousarray(split.transpose(0, 2, 1, 3))
