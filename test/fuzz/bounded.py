# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays with a bound of their error: what a compiled program may compute, from a reference that is nearly exact.

Floats are evaluated in NumPy's longdouble, integers in int64 modulo their width. The bound holds for each element: it
grows with every rounding that the program's own types do, and is infinite where the program may give anything (a
comparison of two numbers that are equal within their errors, an overflow that depends on the order of a sum).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import ml_dtypes
import numpy as np

Wide = np.longdouble
NUMPY = {
    "f64": np.dtype(np.float64),
    "f32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "i1": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "index": np.dtype(np.int64),
}
FLOATS = ("f64", "f32", "f16", "bf16")
BITS = {"f64": 64, "f32": 32, "f16": 16, "bf16": 16, "i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64}
# Half the distance from 1 to the next number: the relative error of one rounding.
UNIT = {"f64": 2.0**-53, "f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
# Numbers this small may be flushed to zero or lose digits.
TINY = {"f64": 2.3e-308, "f32": 1.2e-38, "f16": 6.2e-5 * 2.0**-10, "bf16": 1.2e-38}
LARGEST = {"f64": 1.797e308, "f32": 3.4028e38, "f16": 65504.0, "bf16": 3.389e38}


def is_float(dtype: str) -> bool:
    return dtype in UNIT


@dataclass(frozen=True)
class Bounded:
    """`values` (longdouble or int64) of elements of type `dtype`, each right to within `error`."""

    dtype: str
    values: np.ndarray
    error: np.ndarray

    @classmethod
    def exact(cls, dtype: str, array: np.ndarray) -> Bounded:
        values = np.asarray(array).astype(Wide if is_float(dtype) else np.int64)
        return cls(dtype, values, np.zeros(values.shape))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    def view(self, change: Callable[[np.ndarray], np.ndarray]) -> Bounded:
        """The same elements in another order or number."""
        return Bounded(self.dtype, change(self.values), change(self.error))

    def difference(self, result: np.ndarray) -> str | None:
        """How `result` differs by more than the error, or None."""
        if result.shape != self.shape:
            return f"shape {list(result.shape)}, expected {list(self.shape)}"
        if result.dtype != NUMPY[self.dtype]:
            return f"elements of type {result.dtype}, expected {NUMPY[self.dtype]}"
        got = result.astype(self.values.dtype)
        with np.errstate(all="ignore"):
            same = (got == self.values) | (np.isnan(got) & np.isnan(self.values)) | np.isinf(self.error)
            wrong = ~(same | (np.abs(got - self.values) <= self.error))
        if not wrong.any():
            return None
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        return (
            f"{int(wrong.sum())} of {wrong.size} elements are wrong; first at {list(at)}: got {got[at]}, "
            f"expected {self.values[at]} within {self.error[at]:.3g}"
        )


def settle(dtype: str, values: np.ndarray, error: np.ndarray, roundings: float = 1.0) -> Bounded:
    """Rounds a result to `dtype`: adds that error, and gives up where the result may overflow."""
    with np.errstate(all="ignore"):
        values = np.asarray(values, Wide)
        size = np.abs(values) + error
        total = error + (roundings * UNIT[dtype] * size + TINY[dtype]).astype(np.float64)
        # A number that is not finite is right if nothing before it was inexact.
        total = np.where(np.isfinite(values), total, np.where(error == 0, 0.0, np.inf))
        total = np.where(np.isfinite(values) & (size * (1 + 4 * UNIT[dtype]) > LARGEST[dtype]), np.inf, total)
        return Bounded(dtype, values, np.where(np.isnan(total), np.inf, total).astype(np.float64))


def wrapped(dtype: str, values: np.ndarray, error: np.ndarray) -> Bounded:
    """An integer modulo its width; an error of it is either 0 or infinite."""
    values = np.asarray(values, np.int64)
    bits = BITS[dtype]
    if bits == 1:
        values = values & 1
    elif bits < 64:
        values = ((values + (1 << (bits - 1))) & ((1 << bits) - 1)) - (1 << (bits - 1))
    return Bounded(dtype, values, np.where(np.broadcast_to(error, values.shape) == 0, 0.0, np.inf))


def depends_on_order(kind: str, dtype: str, factors: np.ndarray) -> np.ndarray:
    """Whether a part of the sum ("add") or product ("mul") over axis 0 may overflow or vanish in one order, and not in
    another."""
    sizes = np.abs(np.asarray(factors, Wide))
    finite, known = np.isfinite(sizes), LARGEST[dtype] / 1.1
    with np.errstate(all="ignore"):
        if kind == "add":
            return np.where(finite, sizes, 0).sum(axis=0) > known
        overflows = np.where(finite, np.maximum(sizes, 1), 1).prod(axis=0) > known
        smallest = np.where(sizes == 0, 1, np.minimum(sizes, 1)).prod(axis=0)
        vanishes = smallest < float(ml_dtypes.finfo(NUMPY[dtype]).smallest_normal) * 1.1
    # All orders end at infinity or at zero where one of the numbers is.
    return (overflows & finite.all(axis=0)) | (vanishes & (sizes != 0).all(axis=0))


def times(values: np.ndarray, error: np.ndarray) -> np.ndarray:
    """|values| * error, where no error stays none even times infinity."""
    with np.errstate(all="ignore"):
        return np.where(error == 0, 0.0, np.abs(values) * error).astype(np.float64)


def contract(
    maps: tuple[str, str, str], a: Bounded, b: Bounded, c: Bounded, *, unsigned: bool = False, products: float = 0.0
) -> Bounded:
    """c + sum of a * b over the letters that the third of `maps` lacks, summed in f32 at least.

    `products` is the relative error that each product may have besides.
    """
    dtype, formula = c.dtype, f"{maps[0]},{maps[1]}->{maps[2]}"
    if not is_float(dtype):
        x, y = (unsigned_values(v) if unsigned else v.values for v in (a, b))
        with np.errstate(all="ignore"):
            total = np.einsum(formula, x, y) + c.values
            error = np.einsum(formula, a.error + 1, b.error + 1) - np.einsum(formula, a.error * 0 + 1, b.error * 0 + 1)
        # With infinite errors that difference is infinite or not a number.
        return wrapped(dtype, total, np.where(error == 0, c.error, np.inf))
    # NumPy takes a factor that a view repeats out of the sum, where infinities would cancel to no number.
    a, b = (replace(x, values=np.array(x.values)) for x in (a, b))
    sizes = dict(zip(maps[0] + maps[1], a.shape + b.shape, strict=True))
    terms = int(np.prod([size for letter, size in sizes.items() if letter not in maps[2]], dtype=np.int64))
    unit = UNIT["f64" if dtype == "f64" else "f32"]
    # Roundings of long sums cancel: at their worst the bound would hide a product that is left out. Those of equal
    # products do not.
    equal = all(_is_constant_along(x.values, letters, maps[2]) for x, letters in ((a, maps[0]), (b, maps[1])))
    steps = (terms if equal else min(terms, 4 * terms**0.5)) + 3
    with np.errstate(all="ignore"):
        total = np.einsum(formula, a.values, b.values) + c.values
        size = np.einsum(formula, np.abs(a.values), np.abs(b.values)) + np.abs(c.values)
        error = c.error
        if a.error.any():
            error = error + np.einsum(formula, a.error, np.abs(b.values).astype(np.float64))
        if b.error.any():
            error = error + np.einsum(formula, (np.abs(a.values) + a.error).astype(np.float64), b.error)
        inexact = error != 0
        error = error + np.where(np.isfinite(total), (steps * unit + products) * size, 0).astype(np.float64)
        error = np.where(~np.isfinite(total) & inexact, np.inf, error)
        # Parts of the sum may overflow in one order, and not in another.
        error = np.where(np.isfinite(total) & (size > LARGEST["f64" if dtype == "f64" else "f32"]), np.inf, error)
    return settle(dtype, total, error)


def _is_constant_along(values: np.ndarray, letters: str, kept: str) -> bool:
    """Whether all elements along the letters that are not kept are equal."""
    summed = tuple(axis for axis, letter in enumerate(letters) if letter not in kept)
    if not values.size:
        return True
    with np.errstate(all="ignore"):
        return bool(np.all(values.max(summed) == values.min(summed)))


def unsigned_values(x: Bounded) -> np.ndarray:
    bits = BITS[x.dtype]
    return x.values if bits == 64 else x.values & ((1 << bits) - 1)
