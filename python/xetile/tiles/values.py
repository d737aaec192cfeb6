# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers, and vectors of the shape of a tile, with arithmetic by operators.

Sizes of 1 are repeated as NumPy does it; element types are those of the operands, which are alike: `to` converts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias, overload

from xetile.errors import told
from xetile.mlir import ir
from xetile.tiles.trace import Value, emit, integers, parse_attribute, wrong
from xetile.tiles.types import (
    Shape,
    WgMap,
    attribute_of,
    bits_of,
    constant,
    is_float,
    name_of,
    type_of,
    vector_type,
)

__all__ = ["Number", "Operand", "Scalar", "Vector", "convert", "operate", "unify"]

# Names of the ops on floats and on integers; None where there is none.
_OPS = {
    "+": ("arith.addf", "arith.addi"),
    "-": ("arith.subf", "arith.subi"),
    "*": ("arith.mulf", "arith.muli"),
    "/": ("arith.divf", None),
    "//": (None, "arith.floordivsi"),
    "&": (None, "arith.andi"),
    "|": (None, "arith.ori"),
    "^": (None, "arith.xori"),
    "<<": (None, "arith.shli"),
    ">>": (None, "arith.shrsi"),
    "maximum": ("arith.maximumf", "arith.maxsi"),
    "minimum": ("arith.minimumf", "arith.minsi"),
    "fmax": ("arith.maxnumf", "arith.maxsi"),
    "fmin": ("arith.minnumf", "arith.minsi"),
}
_HINTS = {"/": "; whole numbers have //", "//": "; floats have /"}
# Numbers of predicates of cmpf (ordered, but for !=) and of cmpi (signed).
_COMPARE = {"==": (1, 0), "!=": (13, 1), "<": (4, 2), "<=": (5, 3), ">": (2, 4), ">=": (3, 5)}
_REDUCE = {
    "sum": ("add", "add"),
    "max": ("maximumf", "maxsi"),
    "min": ("minimumf", "minsi"),
    "fmax": ("maxnumf", "maxsi"),
    "fmin": ("minnumf", "minsi"),
    "prod": ("mul", "mul"),
}


class _Arithmetic(Value):
    """The operators of numbers and vectors."""

    dtype: str

    def __add__(self, other: Operand) -> Any:
        return operate("+", self, other)

    def __radd__(self, other: Operand) -> Any:
        return operate("+", other, self)

    def __sub__(self, other: Operand) -> Any:
        return operate("-", self, other)

    def __rsub__(self, other: Operand) -> Any:
        return operate("-", other, self)

    def __mul__(self, other: Operand) -> Any:
        return operate("*", self, other)

    def __rmul__(self, other: Operand) -> Any:
        return operate("*", other, self)

    def __truediv__(self, other: Operand) -> Any:
        return operate("/", self, other)

    def __rtruediv__(self, other: Operand) -> Any:
        return operate("/", other, self)

    def __floordiv__(self, other: Operand) -> Any:
        return operate("//", self, other)

    def __rfloordiv__(self, other: Operand) -> Any:
        return operate("//", other, self)

    def __mod__(self, other: Operand) -> Any:
        return self - (self // other) * other

    def __rmod__(self, other: Operand) -> Any:
        return other - operate("//", other, self) * self

    def __and__(self, other: Operand) -> Any:
        return operate("&", self, other)

    __rand__ = __and__

    def __or__(self, other: Operand) -> Any:
        return operate("|", self, other)

    __ror__ = __or__

    def __xor__(self, other: Operand) -> Any:
        return operate("^", self, other)

    __rxor__ = __xor__

    def __lshift__(self, other: Operand) -> Any:
        return operate("<<", self, other)

    def __rshift__(self, other: Operand) -> Any:
        return operate(">>", self, other)

    def __pow__(self, other: object) -> Any:
        raise wrong("**: expected products, or tiles.exp2(tiles.log2(x) * y)")

    def __matmul__(self, other: object) -> Any:
        raise wrong("@: expected tiles.mma(a, b), which takes a map")

    def __neg__(self) -> Any:
        if is_float(self.dtype):
            return apply("arith.negf", self)
        return operate("-", 0, self)

    def __invert__(self) -> Any:
        return operate("^", self, True if self.dtype == "i1" else -1)

    def __lt__(self, other: Operand) -> Any:
        return compare("<", self, other)

    def __le__(self, other: Operand) -> Any:
        return compare("<=", self, other)

    def __gt__(self, other: Operand) -> Any:
        return compare(">", self, other)

    def __ge__(self, other: Operand) -> Any:
        return compare(">=", self, other)

    def __eq__(self, other: Operand) -> Any:  # type: ignore[override]
        return compare("==", self, other)

    def __ne__(self, other: Operand) -> Any:  # type: ignore[override]
        return compare("!=", self, other)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise wrong(
            "a value of a kernel is known when that runs only: expected no `if`, `while`, `and`, `or`, `not`, `in` or "
            "chained comparison of it, but tiles.where, & and |"
        )


class Scalar(_Arithmetic):
    """A number that all subgroups have: `dtype` is "index" for places and sizes."""

    def __init__(self, value: ir.Value[Any], dtype: str) -> None:
        super().__init__(value)
        self.dtype = dtype

    def to(self, dtype: str) -> Scalar:
        """Converted: floats round to nearest, to whole numbers towards zero."""
        converted = convert(self, name_of(dtype))
        assert isinstance(converted, Scalar)
        return converted

    def __repr__(self) -> str:
        return f"<number of {self.dtype}>"


class Vector(_Arithmetic):
    """The elements of a tile, in registers: `shape` (rows, columns) and `dtype`."""

    def __init__(self, value: ir.Value[Any], shape: Shape, dtype: str) -> None:
        super().__init__(value)
        self.shape, self.dtype = shape, dtype

    def to(self, dtype: str) -> Vector:
        """Converted: floats round to nearest, to whole numbers towards zero."""
        converted = convert(self, name_of(dtype))
        assert isinstance(converted, Vector)
        return converted

    def sum(self, axis: int, map: WgMap | None = None) -> Vector:
        """Along the axis, which stays with size 1: 0 for a row of sums of columns, 1 for a column of sums of rows."""
        return self._reduce("sum", axis, map)

    def prod(self, axis: int, map: WgMap | None = None) -> Vector:
        """As `sum`, of products."""
        return self._reduce("prod", axis, map)

    def max(self, axis: int, map: WgMap | None = None) -> Vector:
        """As `sum`; NaN where there is one."""
        return self._reduce("max", axis, map)

    def min(self, axis: int, map: WgMap | None = None) -> Vector:
        """As `sum`; NaN where there is one."""
        return self._reduce("min", axis, map)

    def fmax(self, axis: int, map: WgMap | None = None) -> Vector:
        """As `sum`; of NaN and numbers the numbers count. Costs less than `max`."""
        return self._reduce("fmax", axis, map)

    def fmin(self, axis: int, map: WgMap | None = None) -> Vector:
        """As `sum`; of NaN and numbers the numbers count. Costs less than `min`."""
        return self._reduce("fmin", axis, map)

    @overload
    def __getitem__(self, at: tuple[slice, slice]) -> Vector: ...
    @overload
    def __getitem__(self, at: tuple[int, int]) -> Scalar: ...
    def __getitem__(self, at: Any) -> Any:
        """`v[0:16, :]` are rows and columns, `v[0, 0]` is an element as a number. Each subgroup cuts what it has:
        XeTileError of the compiler where that is not the same of all, which `with_map` or a reduction before mends."""
        if not isinstance(at, tuple) or len(at) != 2:
            raise wrong(f"v[..]: expected a slice of rows and one of columns, or two numbers, got {told(at)}")
        if all(isinstance(place, int) and not isinstance(place, bool) for place in at):
            places = [_place(place, size) for place, size in zip(at, self.shape, strict=True)]
            static = ir.DenseI64ArrayAttr.get(places)
            made = emit("vector.extract", [type_of(self.dtype)], [self.value], static_position=static)
            return Scalar(made.results[0], self.dtype)
        bounds = [_bounds(part, size) for part, size in zip(at, self.shape, strict=True)]
        shape = (bounds[0][1], bounds[1][1])
        made = emit(
            "vector.extract_strided_slice",
            [vector_type(shape, self.dtype)],
            [self.value],
            offsets=_integers(first for first, _ in bounds),
            sizes=_integers(shape),
            strides=_integers((1, 1)),
        )
        return Vector(made.results[0], shape, self.dtype)

    @property
    def T(self) -> Vector:
        """Transposed."""
        shape = (self.shape[1], self.shape[0])
        order = ir.DenseI64ArrayAttr.get([1, 0])
        made = emit("xetile.tile_transpose", [vector_type(shape, self.dtype)], [self.value], permutation=order)
        return Vector(made.results[0], shape, self.dtype)

    def broadcast(self, shape: Shape) -> Vector:
        """Repeated along dimensions of size 1. XeTileError if others differ."""
        rows, columns = integers("broadcast", shape, 2)
        if (rows, columns) == self.shape:
            return self
        dims = [dim for dim in (0, 1) if self.shape[dim] != shape[dim]]
        if any(self.shape[dim] != 1 for dim in dims):
            raise wrong(f"cannot repeat {self!r} to {shape[0]}x{shape[1]}: expected equal sizes, or 1")
        kind = vector_type(shape, self.dtype)
        made = emit("xetile.tile_broadcast", [kind], [self.value], broadcast_dims=ir.DenseI64ArrayAttr.get(dims))
        return Vector(made.results[0], shape, self.dtype)

    def with_map(self, map: WgMap, source: WgMap | None = None) -> Vector:
        """The same elements, owned by the subgroups as `map` says, through shared memory if need be; `source` is how
        they are owned now, by default as it follows from what made them."""
        made = emit(
            "xetile.tile_conv_layout",
            [self.value.type],
            [self.value],
            wg_map=attribute_of(map),
            source_wg_map=attribute_of(source),
        )
        return Vector(made.results[0], self.shape, self.dtype)

    def _reduce(self, name: str, axis: int, map_: WgMap | None) -> Vector:
        if axis not in (0, 1) or isinstance(axis, bool):
            raise wrong(f"{name}: expected the axis 0 or 1, got {told(axis)}")
        kind = _REDUCE[name][0 if is_float(self.dtype) else 1]
        shape = (1, self.shape[1]) if axis == 0 else (self.shape[0], 1)
        made = emit(
            "xetile.tile_reduce",
            [vector_type(shape, self.dtype)],
            [self.value],
            kind=parse_attribute(f"#vector.kind<{kind}>"),
            reduction_dims=ir.DenseI64ArrayAttr.get([axis]),
            wg_map=attribute_of(map_),
        )
        return Vector(made.results[0], shape, self.dtype)

    def __repr__(self) -> str:
        return f"{self.shape[0]}x{self.shape[1]}x{self.dtype}"


def _place(place: int, size: int) -> int:
    if not -size <= place < size:
        raise wrong(f"v[..]: expected a place below {size}, got {place}")
    return place % size


def _bounds(part: Any, size: int) -> tuple[int, int]:
    """The first place of a slice, and its size."""
    known = (int, type(None))
    if not isinstance(part, slice) or not all(isinstance(end, known) for end in (part.start, part.stop, part.step)):
        raise wrong(f"v[..]: expected slices of numbers that are known when the kernel is built, got {told(part)}")
    first, last, step = part.indices(size)
    if step != 1 or last <= first:
        raise wrong(f"v[..]: expected a slice of at least one of {size} places, with step 1, got {told(part)}")
    return first, last - first


def _integers(values: Iterable[int]) -> ir.Attribute:
    i64 = ir.IntegerType.get_signless(64)
    return ir.ArrayAttr.get([ir.IntegerAttr.get(i64, value) for value in values])


Number: TypeAlias = int | float
Operand: TypeAlias = Vector | Scalar | int | float


def wrap(value: ir.Value[Any], shape: Shape | None, dtype: str) -> Any:
    """A vector, or a number where there is no shape."""
    return Scalar(value, dtype) if shape is None else Vector(value, shape, dtype)


def _kind(shape: Shape | None, dtype: str) -> ir.Type:
    return type_of(dtype) if shape is None else vector_type(shape, dtype)


def unify(what: str, *operands: Any) -> tuple[list[ir.Value[Any]], Shape | None, str]:
    """The operands as values of one shape and one element type. XeTileError where they have not."""
    typed = [operand for operand in operands if isinstance(operand, (Vector, Scalar))]
    for operand in operands:
        if not isinstance(operand, (Vector, Scalar, int, float)) and not hasattr(operand, "dtype"):
            raise wrong(f"{what}: expected vectors and numbers, got {told(operand)}")
    vectors = [operand for operand in typed if isinstance(operand, Vector)]
    if not typed:
        raise wrong(f"{what}: expected a vector or a number of the kernel, got numbers of Python alone")
    dtype = (vectors or typed)[0].dtype
    shape = _common(what, vectors) if vectors else None
    return [_fit(what, operand, shape, dtype, typed) for operand in operands], shape, dtype


def _common(what: str, vectors: list[Vector]) -> Shape:
    sizes = []
    for dim in (0, 1):
        found = {vector.shape[dim] for vector in vectors} - {1}
        if len(found) > 1:
            shown = ", ".join(map(repr, vectors))
            raise wrong(f"{what}: expected vectors of equal sizes, or 1, in dimension {dim}; got {shown}")
        sizes.append(found.pop() if found else 1)
    return sizes[0], sizes[1]


def _fit(what: str, operand: Any, shape: Shape | None, dtype: str, typed: list[Any]) -> ir.Value[Any]:
    if isinstance(operand, Vector):
        if operand.dtype != dtype:
            shown = ", ".join(map(repr, typed))
            raise wrong(f'{what}: expected one element type, got {shown}; convert with .to("{dtype}")')
        assert shape is not None
        return operand.broadcast(shape).value
    if not isinstance(operand, Scalar):
        return constant(operand, dtype, shape)
    # Places go with vectors of any integers.
    if operand.dtype == "index" and dtype != "index" and not is_float(dtype) and shape is not None:
        operand = operand.to(dtype)
    if operand.dtype != dtype:
        shown = ", ".join(map(repr, typed))
        raise wrong(f'{what}: expected one element type, got {shown}; convert with .to("{dtype}")')
    if shape is None:
        value: ir.Value[Any] = operand.value
        return value
    return spread(operand, shape)


def spread(number: Scalar, shape: Shape) -> ir.Value[Any]:
    """A vector of the number."""
    made: ir.Value[Any] = emit("vector.broadcast", [vector_type(shape, number.dtype)], [number.value]).results[0]
    return made


def operate(what: str, *operands: Any) -> Any:
    """The binary operation of that name."""
    values, shape, dtype = unify(what, *operands)
    name = _OPS[what][0 if is_float(dtype) else 1]
    if name is None:
        raise wrong(f"{what}: there is none of {dtype}{_HINTS.get(what, '')}")
    return wrap(emit(name, [_kind(shape, dtype)], values).results[0], shape, dtype)


def apply(name: str, *operands: Any, floats: bool = True) -> Any:
    """The op of that name, on floats alone if `floats`; its result is like its operands."""
    values, shape, dtype = unify(name.partition(".")[2], *operands)
    if floats and not is_float(dtype):
        raise wrong(f'{name.partition(".")[2]}: expected floats, got {dtype}; convert with .to("f32")')
    return wrap(emit(name, [_kind(shape, dtype)], values).results[0], shape, dtype)


def compare(what: str, *operands: Any) -> Any:
    values, shape, dtype = unify(what, *operands)
    name = "arith.cmpf" if is_float(dtype) else "arith.cmpi"
    number = _COMPARE[what][0 if is_float(dtype) else 1]
    predicate = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)
    return wrap(emit(name, [_kind(shape, "i1")], values, predicate=predicate).results[0], shape, "i1")


def convert(operand: Any, dtype: str) -> Any:
    """A vector or number of other elements, by as many steps as it takes."""
    shape = operand.shape if isinstance(operand, Vector) else None
    if operand.dtype == dtype:
        return operand
    if dtype == "i1":
        raise wrong("to: expected another type than i1: compare, x != 0 for one")
    for middle in _steps(operand.dtype, dtype):
        name = _conversion(operand.dtype, middle)
        operand = wrap(emit(name, [_kind(shape, middle)], [operand.value]).results[0], shape, middle)
    return operand


def _steps(source: str, target: str) -> list[str]:
    floats = is_float(source), is_float(target)
    if floats == (True, True):
        return ["f32", target] if bits_of(source) == bits_of(target) else [target]
    if "index" in (source, target):
        other = target if source == "index" else source
        if other == "i64" or (not any(floats) and other != "i1"):
            return [target]
        return ["i64", target]
    return [target]


def _conversion(source: str, target: str) -> str:
    wider = bits_of(target) > bits_of(source)
    choose: dict[tuple[bool, bool], Callable[[], str]] = {
        (True, True): lambda: "arith.extf" if wider else "arith.truncf",
        (True, False): lambda: "arith.fptosi",
        (False, True): lambda: "arith.uitofp" if source == "i1" else "arith.sitofp",
        (False, False): lambda: ("arith.extui" if source == "i1" else "arith.extsi") if wider else "arith.trunci",
    }
    if "index" in (source, target):
        return "arith.index_cast"
    return choose[is_float(source), is_float(target)]()
