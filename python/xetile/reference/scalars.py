# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of arith and math on elements, computed by NumPy: whole arrays of elements at a time.

Floats of all types are arrays of one precision, rounded to f16 or bf16 where that is the type of what an operation
gives. Integers are signed arrays of their width (of the next one that NumPy has, sign-extended), i1 is bool.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from xetile.errors import XeTileError
from xetile.mlir import ir

__all__ = ["compute", "conform", "dtype_of", "narrow_type", "unsigned"]

Array = NDArray[Any]
Precision = type[np.floating[Any]]


def dtype_of(element: ir.Type, precision: Precision) -> np.dtype[Any]:
    """NumPy's type that elements are computed in. XeTileError for others than numbers."""
    if isinstance(element, ir.FloatType):
        return np.dtype(precision)
    if isinstance(element, ir.IndexType):
        return np.dtype(np.int64)
    if isinstance(element, ir.IntegerType) and element.width <= 64:
        if element.width == 1:
            return np.dtype(np.bool_)
        return np.dtype(f"i{max(1, 1 << (element.width - 1).bit_length() >> 3)}")
    raise XeTileError(f"cannot compute with {element} in NumPy; expected floats, integers of at most 64 bits and index")


def narrow_type(element: ir.Type) -> np.dtype[Any] | None:
    """NumPy's type of f16 and bf16, of others None."""
    if isinstance(element, ir.F16Type):
        return np.dtype(np.float16)
    return np.dtype(ml_dtypes.bfloat16) if isinstance(element, ir.BF16Type) else None


def conform(values: Any, element: ir.Type, precision: Precision) -> Array:
    """`values` as elements of that type: floats rounded, integers wrapped around."""
    array = np.asarray(values)
    narrow = narrow_type(element)
    if narrow is not None:
        with np.errstate(over="ignore"):
            array = array.astype(narrow)
    if isinstance(element, ir.IntegerType) and element.width > 1:
        dtype = dtype_of(element, precision)
        spare = 8 * dtype.itemsize - element.width
        array = array.astype(dtype)
        wrapped: Array = array << spare >> spare
        return wrapped
    return array.astype(dtype_of(element, precision))


def unsigned(array: Array, element: ir.Type) -> Array:
    """Integers read without a sign."""
    if array.dtype == np.bool_:
        return array.astype(np.uint8)
    bits = array.view(f"u{array.dtype.itemsize}")
    width = element.width if isinstance(element, ir.IntegerType) else 64
    masked: Array = bits & bits.dtype.type((1 << width) - 1)
    return masked


def _signed(array: Array) -> Array:
    """i1 as a number with a sign: true is -1."""
    return -array.astype(np.int8) if array.dtype == np.bool_ else array


def _divide(x: Array, y: Array) -> Array:
    """Towards zero; without an error for zeros, which mean nothing."""
    divisor = np.where(y == 0, 1, y)
    quotient = np.floor_divide(x, divisor)
    # The least number has no negative: nothing is computed of magnitudes.
    more: Array = quotient + ((quotient * divisor != x) & ((x < 0) != (divisor < 0)))
    return more


_ERF = np.vectorize(math.erf, otypes=[np.float64])

_FLOATS: Mapping[str, Callable[..., Any]] = {
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    "arith.remf": np.fmod,
    "arith.negf": np.negative,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin,
    "arith.extf": lambda x: x,
    "arith.truncf": lambda x: x,
    "math.absf": np.abs,
    "math.acos": np.arccos,
    "math.acosh": np.arccosh,
    "math.asin": np.arcsin,
    "math.asinh": np.arcsinh,
    "math.atan": np.arctan,
    "math.atan2": np.arctan2,
    "math.atanh": np.arctanh,
    "math.cbrt": np.cbrt,
    "math.ceil": np.ceil,
    "math.copysign": np.copysign,
    "math.cos": np.cos,
    "math.cosh": np.cosh,
    "math.erf": _ERF,
    "math.exp": np.exp,
    "math.exp2": np.exp2,
    "math.expm1": np.expm1,
    "math.floor": np.floor,
    "math.fma": lambda x, y, z: x * y + z,
    "math.log": np.log,
    "math.log10": np.log10,
    "math.log1p": np.log1p,
    "math.log2": np.log2,
    "math.powf": np.power,
    "math.round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "math.roundeven": np.rint,
    "math.rsqrt": lambda x: 1 / np.sqrt(x),
    "math.sin": np.sin,
    "math.sinh": np.sinh,
    "math.sqrt": np.sqrt,
    "math.tan": np.tan,
    "math.tanh": np.tanh,
    "math.trunc": np.trunc,
}
_INTEGERS: Mapping[str, Callable[..., Any]] = {
    "arith.addi": lambda x, y: x ^ y if x.dtype == np.bool_ else x + y,
    "arith.subi": lambda x, y: x ^ y if x.dtype == np.bool_ else x - y,
    "arith.muli": lambda x, y: x & y if x.dtype == np.bool_ else x * y,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
    "arith.shli": np.left_shift,
}
# Of operands with a sign, and read without one.
_SIGNED: Mapping[str, Callable[..., Any]] = {
    "arith.divsi": _divide,
    "arith.remsi": lambda x, y: x - y * _divide(x, y),
    "arith.floordivsi": lambda x, y: np.floor_divide(x, np.where(y == 0, 1, y)),
    "arith.shrsi": np.right_shift,
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
    "arith.extsi": lambda x: x,
    "arith.trunci": lambda x: x & 1,
    "arith.sitofp": lambda x: x,
    "arith.index_cast": lambda x: x,
    "math.absi": np.abs,
}
_UNSIGNED: Mapping[str, Callable[..., Any]] = {
    "arith.divui": lambda x, y: x // np.where(y == 0, 1, y),
    "arith.remui": lambda x, y: x % np.where(y == 0, 1, y),
    "arith.shrui": np.right_shift,
    "arith.maxui": np.maximum,
    "arith.minui": np.minimum,
    "arith.extui": lambda x: x,
    "arith.uitofp": lambda x: x,
    "arith.index_castui": lambda x: x,
}
# As their attributes number them.
_ORDER = (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)
_COMPARED = (*_ORDER, *_ORDER[2:])
_ORDERED = (None, np.equal, np.greater, np.greater_equal, np.less, np.less_equal, np.not_equal)


def compute(op: ir.Operation, operands: list[Array], precision: Precision) -> Array | None:
    """The elementwise result of an operation; None for one that is unknown or has several results."""
    name = op.name
    if len(op.results) != 1:
        return None
    element = _element(op.results[0].type)
    with np.errstate(all="ignore"):
        result = _computed(op, name, element, operands, precision)
        return None if result is None else conform(result, element, precision)


def _element(kind: ir.Type) -> ir.Type:
    return kind.element_type if isinstance(kind, ir.ShapedType) else kind


def _computed(op: ir.Operation, name: str, element: ir.Type, operands: list[Array], precision: Precision) -> Any:
    if name in _FLOATS:
        return _FLOATS[name](*operands)
    if name == "arith.trunci" and isinstance(element, ir.IntegerType) and element.width > 1:
        return operands[0]
    if name in _INTEGERS:
        return _INTEGERS[name](*operands)
    if name in _SIGNED:
        return _SIGNED[name](*map(_signed, operands))
    kinds = [_element(operand.type) for operand in op.operands]
    if name in _UNSIGNED:
        result = _UNSIGNED[name](*map(unsigned, operands, kinds))
        return result if isinstance(element, ir.FloatType) else result.astype(np.uint64).view(np.int64)
    if name == "arith.select":
        return np.where(*operands)
    if name in ("arith.fptosi", "arith.fptoui"):
        whole = np.trunc(operands[0])
        if name == "arith.fptoui":
            return np.where(whole >= 2.0**63, whole - 2.0**64, whole).astype(np.int64)
        return whole.astype(np.int64)
    if name == "arith.cmpi":
        predicate = ir.IntegerAttr(op.attributes["predicate"]).value
        sides = [_signed(side) if predicate < 6 else unsigned(side, kinds[0]) for side in operands]
        return _COMPARED[predicate](*sides)
    if name == "arith.cmpf":
        return _compare(ir.IntegerAttr(op.attributes["predicate"]).value, *operands)
    return None


def _compare(predicate: int, x: Array, y: Array) -> Array:
    nan = np.isnan(x) | np.isnan(y)
    if predicate in (0, 15):
        return np.full(nan.shape, predicate == 15)
    if predicate in (7, 14):
        return np.logical_not(nan) if predicate == 7 else np.asarray(nan)
    compare = _ORDERED[predicate if predicate < 7 else predicate - 7]
    assert compare is not None
    holds = compare(x, y)
    result: Array = holds & ~nan if predicate < 7 else holds | nan
    return result
