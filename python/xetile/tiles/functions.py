# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of vectors and numbers, vectors of constants and of places, and which workgroup runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xetile.errors import told
from xetile.mlir import ir
from xetile.tiles.trace import emit, integers, wrong
from xetile.tiles.types import Shape, WgMap, attribute_of, constant, is_float, name_of, type_of, vector_type
from xetile.tiles.values import Number, Operand, Scalar, Vector, apply, operate, spread, unify, wrap

__all__ = [
    "abs",
    "arange",
    "ceil",
    "erf",
    "exp",
    "exp2",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "full",
    "log",
    "log2",
    "maximum",
    "minimum",
    "mma",
    "rsqrt",
    "sqrt",
    "tanh",
    "where",
    "workgroup_id",
    "zeros",
]

_SUMS = {"f16": "f32", "bf16": "f32", "f32": "f32", "i8": "i32"}


def workgroup_id(dim: int) -> Scalar:
    """The number of the workgroup along a dimension of the grid, from 0 on."""
    if dim not in (0, 1, 2) or isinstance(dim, bool):
        raise wrong(f"workgroup_id: expected a dimension of the grid, 0 to 2; got {told(dim)}")
    index = type_of("index")
    dimension = ir.Attribute.parse(f"#gpu<dim {'xyz'[dim]}>")
    return Scalar(emit("gpu.block_id", [index], dimension=dimension).results[0], "index")


def full(shape: Sequence[int], number: Number, dtype: str) -> Vector:
    """A vector of the number."""
    rows, columns = integers("full: shape", shape, 2)
    if rows * columns >= 1 << 31:
        raise wrong(f"full: shape: expected fewer than 2^31 elements, as tiles have, got {told(shape)}")
    return Vector(constant(number, name_of(dtype), (rows, columns)), (rows, columns), dtype)


def zeros(shape: Sequence[int], dtype: str) -> Vector:
    """A vector of zeros."""
    return full(shape, 0, dtype)


def arange(count: int, axis: int, dtype: str = "i32") -> Vector:
    """0, 1, .. to below `count`: a column for the axis 0, numbers of rows; a row for the axis 1, numbers of columns."""
    (size,) = integers("arange", [count], 1)
    if axis not in (0, 1) or isinstance(axis, bool):
        raise wrong(f"arange: expected the axis 0 or 1, got {told(axis)}")
    shape: Shape = (size, 1) if axis == 0 else (1, size)
    kind = vector_type(shape, "index")
    line = emit("vector.step", [ir.Type.parse(f"vector<{size}xindex>")]).results[0]
    made = emit("vector.shape_cast", [kind], [line]).results[0]
    return Vector(made, shape, "index").to(dtype)


def mma(a: Vector, b: Vector, c: Vector | None = None, map: WgMap | None = None) -> Vector:
    """The product of matrices a @ b, plus `c`, of whose type it is; by default of f32, or i32 of bytes.

    `map` says which subgroup owns which part of it, where other values' maps do not.
    """
    for name, operand in (("a", a), ("b", b), ("c", c)):
        if not isinstance(operand, Vector) and not (name == "c" and operand is None):
            raise wrong(f"mma: {name}: expected a vector, got {told(operand)}")
    if a.shape[1] != b.shape[0] or a.dtype != b.dtype:
        raise wrong(f"mma: expected as many columns of a as rows of b, of one type; got a {a!r}, b {b!r}")
    if a.dtype not in _SUMS:
        raise wrong(f"mma: expected elements of {', '.join(_SUMS)}; got {a.dtype}")
    shape = (a.shape[0], b.shape[1])
    dtype = c.dtype if c is not None else _SUMS[a.dtype]
    if c is not None and (c.shape != shape or dtype not in (_SUMS[a.dtype], a.dtype) or dtype == "i8"):
        raise wrong(
            f"mma: c: expected {shape[0]}x{shape[1]}x{_SUMS[a.dtype]}, as the product of {a!r} and {b!r}; got {c!r}"
        )
    operands = [a.value, b.value] + ([] if c is None else [c.value])
    made = emit("xetile.tile_mma", [vector_type(shape, dtype)], operands, wg_map=attribute_of(map))
    return Vector(made.results[0], shape, dtype)


def where(condition: Any, a: Operand, b: Operand) -> Any:
    """`a` where the condition holds, `b` elsewhere."""
    if getattr(condition, "dtype", None) != "i1":
        raise wrong(f"where: expected a condition, as x < y gives it; got {told(condition)}")
    values, shape, dtype = unify("where", a, b)
    if isinstance(condition, Vector):
        shape = shape or condition.shape
        sizes = [max(pair) for pair in zip(shape, condition.shape, strict=True)]
        # Spread all three to what they have in common.
        shape = (sizes[0], sizes[1])
        wrapped = [wrap(value, _shape_of(value), dtype) for value in values]
        values = [each.broadcast(shape).value if isinstance(each, Vector) else spread(each, shape) for each in wrapped]
        chosen = condition.broadcast(shape).value
    else:
        chosen = condition.value
    made = emit("arith.select", [values[0].type], [chosen, *values])
    return wrap(made.results[0], shape, dtype)


def _shape_of(value: ir.Value[Any]) -> Shape | None:
    kind = value.type
    return (kind.get_dim_size(0), kind.get_dim_size(1)) if isinstance(kind, ir.VectorType) else None


def maximum(a: Operand, b: Operand) -> Any:
    """The larger one; NaN where one is."""
    return operate("maximum", a, b)


def minimum(a: Operand, b: Operand) -> Any:
    """The smaller one; NaN where one is."""
    return operate("minimum", a, b)


def fmax(a: Operand, b: Operand) -> Any:
    """The larger one; of NaN and a number the number. Costs less than `maximum`."""
    return operate("fmax", a, b)


def fmin(a: Operand, b: Operand) -> Any:
    """The smaller one; of NaN and a number the number. Costs less than `minimum`."""
    return operate("fmin", a, b)


def fma(a: Operand, b: Operand, c: Operand) -> Any:
    """a * b + c of floats, rounded once."""
    return apply("math.fma", a, b, c)


def abs(x: Vector | Scalar) -> Any:
    """The absolute value."""
    return apply("math.absf", x) if is_float(getattr(x, "dtype", "f32")) else apply("math.absi", x, floats=False)


def exp2(x: Vector | Scalar) -> Any:
    """2 to the power of x, of floats. Costs less than `exp`."""
    return apply("math.exp2", x)


def exp(x: Vector | Scalar) -> Any:
    """e to the power of x, of floats."""
    return apply("math.exp", x)


def log2(x: Vector | Scalar) -> Any:
    """The logarithm of base 2, of floats."""
    return apply("math.log2", x)


def log(x: Vector | Scalar) -> Any:
    """The natural logarithm, of floats."""
    return apply("math.log", x)


def sqrt(x: Vector | Scalar) -> Any:
    """The square root, of floats."""
    return apply("math.sqrt", x)


def rsqrt(x: Vector | Scalar) -> Any:
    """One by the square root, of floats."""
    return apply("math.rsqrt", x)


def tanh(x: Vector | Scalar) -> Any:
    """The hyperbolic tangent, of floats."""
    return apply("math.tanh", x)


def erf(x: Vector | Scalar) -> Any:
    """The error function, of floats."""
    return apply("math.erf", x)


def floor(x: Vector | Scalar) -> Any:
    """The next whole number below, of floats."""
    return apply("math.floor", x)


def ceil(x: Vector | Scalar) -> Any:
    """The next whole number above, of floats."""
    return apply("math.ceil", x)
