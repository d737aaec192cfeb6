# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of a kernel's arguments, and tiles of them: what is loaded, stored and prefetched."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

from xetile.errors import told
from xetile.mlir import ir
from xetile.tiles.trace import Value, emit, integers, parse_type, wrong
from xetile.tiles.types import Shape, WgMap, constant, is_float, number_attribute, tile_type, vector_type
from xetile.tiles.values import Scalar, Vector

__all__ = ["Array", "Index", "Tile", "index_of"]

Index: TypeAlias = Scalar | int

_ATOMICS = {"add": ("addf", "addi"), "max": ("maximumf", "maxs"), "min": ("minimumf", "mins")}


def index_of(what: str, value: Any) -> ir.Value[Any]:
    """A place or a size as a value."""
    if isinstance(value, Scalar):
        if value.dtype != "index":
            raise wrong(f'{what}: expected a number of index, got {value!r}; convert with .to("index")')
        return value.value
    if not isinstance(value, int) or isinstance(value, bool):
        raise wrong(f"{what}: expected a whole number, of Python or of the kernel; got {told(value)}")
    return constant(value, "index")


class Array(Value):
    """Memory of an argument, or a part of it: `shape`, `dtype`."""

    def __init__(
        self, value: ir.Value[Any], shape: tuple[int, ...], dtype: str, strides: tuple[int, ...], offset: int | None = 0
    ) -> None:
        super().__init__(value)
        self.shape, self.dtype = shape, dtype
        self._strides, self._offset = strides, offset

    def __getitem__(self, indices: Index | tuple[Index, ...]) -> Array:
        """The part at indices of the first dimensions, which it does not have any more: `a[batch, head]`."""
        given = indices if isinstance(indices, tuple) else (indices,)
        if not 0 < len(given) < len(self.shape):
            raise wrong(f"expected 1 to {len(self.shape) - 1} indices of {self!r}, got {len(given)}")
        places, dynamic, offset = [], [], self._offset
        for dim, index in enumerate(given):
            if isinstance(index, int) and not 0 <= index < self.shape[dim]:
                raise wrong(f"index {index} is not in dimension {dim} of {self!r}")
            if isinstance(index, int) and not isinstance(index, bool):
                places.append(index)
                offset = None if offset is None else offset + index * self._strides[dim]
            else:
                dynamic.append(index_of("an index", index))
                places.append(_dynamic())
                offset = None
        kept = len(given)
        shape, strides = self.shape[kept:], self._strides[kept:]
        rank = len(self.shape)
        made = emit(
            "memref.subview",
            [_memref(shape, self.dtype, strides, offset)],
            [self.value, *dynamic],
            operandSegmentSizes=ir.DenseI32ArrayAttr.get([1, len(dynamic), 0, 0]),
            static_offsets=ir.DenseI64ArrayAttr.get(places + [0] * (rank - kept)),
            static_sizes=ir.DenseI64ArrayAttr.get([1] * kept + list(shape)),
            static_strides=ir.DenseI64ArrayAttr.get([1] * rank),
        )
        return Array(made.results[0], shape, self.dtype, strides, offset)

    @property
    def T(self) -> Array:
        """The matrix transposed, where it is."""
        if len(self.shape) != 2:
            raise wrong(f"T: expected a matrix, got {self!r}; take a part of it, as a[0]")
        shape, strides = self.shape[::-1], self._strides[::-1]
        made = emit(
            "memref.transpose",
            [_memref(shape, self.dtype, strides, self._offset)],
            [self.value],
            permutation=ir.Attribute.parse("affine_map<(d0, d1) -> (d1, d0)>"),
        )
        return Array(made.results[0], shape, self.dtype, strides, self._offset)

    def tile(self, shape: Sequence[int], at: Sequence[Index] = (0, 0), map: WgMap | None = None) -> Tile:
        """The tile of `shape` (rows, columns) that starts `at` (row, column) of a matrix; it may hang over its edges.

        `map` says which subgroup owns which part of it, where other values' maps do not.
        """
        if len(self.shape) != 2:
            raise wrong(f"tile: expected a matrix, got {self!r}; take a part of it, as a[0], or pass it as 1xN")
        rows, columns = integers("tile: shape", shape, 2)
        if not isinstance(at, Sequence) or len(at) != 2:
            raise wrong(f"tile: at: expected a row and a column, got {told(at)}")
        places, dynamic = _places("tile: at", at)
        transposed = self._strides[1] != 1 or (self._strides[0] == 1 and self.shape[1] > 1)
        empty = ir.DenseI64ArrayAttr.get([])
        made = emit(
            "xetile.init_tile",
            [tile_type((rows, columns), self.dtype, map, transposed)],
            [self.value, *dynamic],
            operandSegmentSizes=ir.DenseI32ArrayAttr.get([1, len(dynamic), 0, 0, 0]),
            static_offsets=places,
            static_base_shape=empty,
            static_base_strides=empty,
        )
        return Tile(made.results[0], (rows, columns), self.dtype)

    def __repr__(self) -> str:
        return "x".join([*map(str, self.shape), self.dtype])


class Tile(Value):
    """A 2D piece of a matrix in memory: `shape` (rows, columns), `dtype`."""

    def __init__(self, value: ir.Value[Any], shape: Shape, dtype: str) -> None:
        super().__init__(value)
        self.shape, self.dtype = shape, dtype

    def load(self, padding: float | int | None = None) -> Vector:
        """Its elements; those outside of the matrix are `padding`, zero if that is None."""
        outside = None if padding is None else number_attribute(padding, self.dtype)
        made = emit("xetile.load_tile", [vector_type(self.shape, self.dtype)], [self.value], padding=outside)
        return Vector(made.results[0], self.shape, self.dtype)

    def store(self, vector: Vector) -> None:
        """Writes the elements; those outside of the matrix are not written."""
        emit("xetile.store_tile", [], [self._fitting("store", vector), self.value])

    def prefetch(self, locality: int = 3) -> None:
        """Asks for it ahead: `locality` from 0, no use again soon, to 3, for all caches. Changes no value."""
        if locality not in (0, 1, 2, 3):
            raise wrong(f"prefetch: expected a locality from 0 to 3, got {told(locality)}")
        number = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), locality)
        emit("xetile.prefetch_tile", [], [self.value], locality=number)

    def move(self, rows: Index, columns: Index) -> Tile:
        """The tile so many rows and columns on."""
        places, dynamic = _places("move", (rows, columns))
        made = emit(
            "xetile.update_tile_offset",
            [self.value.type],
            [self.value, *dynamic],
            operandSegmentSizes=ir.DenseI32ArrayAttr.get([1, len(dynamic), 0]),
            static_deltas=places,
        )
        return Tile(made.results[0], self.shape, self.dtype)

    def atomic(self, kind: str, vector: Vector) -> Vector:
        """Replaces each element by its sum ("add"), maximum or minimum ("max", "min") with that of `vector`, atomically
        each, and gives what they were."""
        if kind not in _ATOMICS:
            raise wrong(f"atomic: expected one of {', '.join(_ATOMICS)}; got {told(kind)}")
        name = _ATOMICS[kind][0 if is_float(self.dtype) else 1]
        operands = [self._fitting("atomic", vector), self.value]
        made = emit("xetile.atomic_rmw_tile", [operands[0].type], operands, kind=_atomic_kind(name))
        return Vector(made.results[0], self.shape, self.dtype)

    def _fitting(self, what: str, vector: Any) -> ir.Value[Any]:
        if not isinstance(vector, Vector):
            raise wrong(f"{what}: expected a vector of {self!r}, got {told(vector)}; tiles.full makes one of a number")
        if vector.shape != self.shape:
            raise wrong(f"{what}: expected a vector of {self!r}, as the tile is, got {vector!r}")
        if vector.dtype != self.dtype:
            raise wrong(f'{what}: expected a vector of {self!r}, got {vector!r}; convert with .to("{self.dtype}")')
        return vector.value

    def __repr__(self) -> str:
        return f"{self.shape[0]}x{self.shape[1]}x{self.dtype}"


# As `arith` numbers them.
_KINDS = ("addf", "addi", "andi", "assign", "maximumf", "maxnumf", "maxs", "maxu", "minimumf", "minnumf", "mins")


def _atomic_kind(name: str) -> ir.Attribute:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), _KINDS.index(name))


def _dynamic() -> int:
    return ir.ShapedType.get_dynamic_stride_or_offset()


def _places(what: str, values: Sequence[Index]) -> tuple[ir.Attribute, list[ir.Value[Any]]]:
    """Offsets: those that Python knows in an attribute, others as values."""
    known, dynamic = [], []
    for value in values:
        if isinstance(value, int) and not isinstance(value, bool):
            if not -(1 << 62) < value < 1 << 62:
                raise wrong(f"{what}: expected a number between -2^62 and 2^62, got {value}")
            known.append(value)
        else:
            known.append(_dynamic())
            dynamic.append(index_of(what, value))
    return ir.DenseI64ArrayAttr.get(known), dynamic


def _memref(shape: tuple[int, ...], dtype: str, strides: tuple[int, ...], offset: int | None) -> ir.Type:
    dense = tuple(math.prod(shape[dim + 1 :]) for dim in range(len(shape)))
    layout = ""
    if strides != dense or offset != 0:
        shown = "" if offset == 0 else f", offset: {'?' if offset is None else offset}"
        layout = f", strided<{list(strides)}{shown}>"
    return parse_type(f"memref<{'x'.join([*map(str, shape), dtype])}{layout}>")


def argument(value: ir.Value[Any], shape: tuple[int, ...], dtype: str) -> Array:
    """All memory of an argument, in C order."""
    return Array(value, shape, dtype, tuple(math.prod(shape[dim + 1 :]) for dim in range(len(shape))))
