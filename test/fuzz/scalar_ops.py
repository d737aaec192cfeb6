# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the ops of arith and math compute, element by element, with bounds of their errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from bounded import BITS, NUMPY, UNIT, Bounded, Wide, settle, times, unsigned_values, wrapped

# Floats


def _ends(f: Callable, x: Bounded) -> np.ndarray:
    """The error of a monotone function's value, from those at the ends of the interval."""
    with np.errstate(all="ignore"):
        middle = f(x.values)
        ends = np.maximum(np.abs(f(x.values + x.error) - middle), np.abs(middle - f(x.values - x.error)))
        ends = np.where(x.error == 0, 0, ends)
        # An argument that may be anything may be no number.
        return np.where(np.isnan(ends) | np.isinf(x.error), np.inf, ends).astype(np.float64)


def _each(f: Callable[[float], float]) -> Callable:
    """A function of Python's math on arrays; nan where it refuses."""

    def one(value: Any) -> float:
        try:
            return f(float(value))
        except (ValueError, OverflowError):
            return math.nan

    def whole(values: np.ndarray) -> np.ndarray:
        return np.array([one(value) for value in np.asarray(values).flat], Wide).reshape(np.shape(values))

    return whole


def _round_away(x: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(x), np.copysign(np.floor(np.abs(x) + Wide(0.5)), x), x)


# Monotone functions, with the roundings (units in the last place, halves) that an implementation may make.
MONOTONE = {
    "math.exp": (np.exp, 8),
    "math.exp2": (np.exp2, 8),
    "math.expm1": (np.expm1, 16),
    "math.log": (np.log, 8),
    "math.log2": (np.log2, 8),
    "math.log10": (np.log10, 8),
    "math.log1p": (np.log1p, 16),
    "math.sqrt": (np.sqrt, 1),
    "math.cbrt": (np.cbrt, 8),
    "math.tanh": (np.tanh, 16),
    "math.sinh": (np.sinh, 16),
    "math.atan": (np.arctan, 8),
    "math.asin": (np.arcsin, 16),
    "math.acos": (np.arccos, 16),
    "math.asinh": (np.arcsinh, 16),
    "math.erf": (_each(math.erf), 16),
}
# Functions whose value moves at most this much more than their argument.
LIPSCHITZ = {
    "math.sin": (np.sin, 1.0, 8),
    "math.cos": (np.cos, 1.0, 8),
    "math.absf": (np.abs, 1.0, 0),
    "arith.negf": (np.negative, 1.0, 0),
}
# Steps: nothing is known where the argument's error crosses one.
STEPS = {
    "math.floor": np.floor,
    "math.ceil": np.ceil,
    "math.trunc": np.trunc,
    "math.round": _round_away,
    "math.roundeven": np.rint,
}
FLOAT_UNARY = (*MONOTONE, *LIPSCHITZ, *STEPS, "math.rsqrt", "math.cosh", "math.tan")
FLOAT_BINARY = (
    "arith.addf",
    "arith.subf",
    "arith.mulf",
    "arith.divf",
    "arith.maximumf",
    "arith.minimumf",
    "arith.maxnumf",
    "arith.minnumf",
    "math.copysign",
    "math.atan2",
    "math.powf",
)


def _float_unary(op: str, x: Bounded) -> Bounded:
    with np.errstate(all="ignore"):
        if op in MONOTONE:
            f, ulps = MONOTONE[op]
            # The functions of narrow types are computed in f32.
            unit = UNIT["f32"] if x.dtype in ("f16", "bf16") else 0
            value = f(x.values)
            reference = 1e-15 if op == "math.erf" and x.dtype == "f64" else 0
            extra = np.where(np.isfinite(value), np.abs(value) * (ulps * (unit or UNIT[x.dtype])) + reference, 0)
            return settle(x.dtype, value, _ends(f, x) + np.where(_exact_at(op, x), 0, extra).astype(np.float64))
        if op in LIPSCHITZ:
            f, scale, ulps = LIPSCHITZ[op]
            if not ulps:
                return Bounded(x.dtype, f(x.values), x.error)
            error = x.error * scale + np.where(np.isfinite(x.values), ulps * _unit(x.dtype), 0)
            return settle(x.dtype, f(x.values), error)
        if op in STEPS:
            f = STEPS[op]
            same = f(x.values - x.error) == f(x.values + x.error)
            return Bounded(x.dtype, f(x.values), np.where(same | (x.error == 0), 0.0, np.inf))
        if op == "math.rsqrt":
            f = lambda v: 1 / np.sqrt(v)  # noqa: E731
            value = f(x.values)
            error = _ends(f, x) + np.where(np.isfinite(value), 8 * _unit(x.dtype) * value, 0).astype(np.float64)
            # The sign of a zero is not followed.
            return _unless(x.values - x.error <= 0, settle(x.dtype, value, error))
        if op == "math.cosh":
            size = Bounded(x.dtype, np.abs(x.values), x.error)
            error = _ends(np.cosh, size) + 16 * _unit(x.dtype) * np.cosh(np.minimum(size.values, 11000))
            return settle(x.dtype, np.cosh(x.values), error.astype(np.float64))
        slope = 1 + np.tan(x.values) ** 2
        value, error = np.tan(x.values), times(2 * slope, x.error)
        error = error + np.where(np.isfinite(value), 16 * _unit(x.dtype) * slope, 0).astype(np.float64)
        return _unless(times(slope, x.error) > 0.1, settle(x.dtype, value, error))


def _exact_at(op: str, x: Bounded) -> np.ndarray:
    return ~np.isfinite(x.values) & (x.error == 0)


def _unit(dtype: str) -> float:
    return UNIT["f64"] if dtype == "f64" else UNIT["f32"]


def _unless(unknown: np.ndarray, x: Bounded) -> Bounded:
    return Bounded(x.dtype, x.values, np.where(unknown, np.inf, x.error))


def _float_binary(op: str, x: Bounded, y: Bounded) -> Bounded:
    a, b, dtype = x.values, y.values, x.dtype
    with np.errstate(all="ignore"):
        if op in ("arith.addf", "arith.subf"):
            return settle(dtype, a + b if op == "arith.addf" else a - b, x.error + y.error)
        if op == "arith.mulf":
            return settle(dtype, a * b, times(b, x.error) + times(a, y.error) + times(x.error, y.error))
        if op == "arith.divf":
            low = np.abs(b) - y.error
            error = times(1 / low, x.error) + times(a / (low * np.abs(b)), y.error)
            return _unless(low <= 0, settle(dtype, a / b, error))
        if op in ("arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf"):
            names = {"arith.maximumf": np.maximum, "arith.minimumf": np.minimum, "arith.maxnumf": np.fmax}
            return Bounded(dtype, names.get(op, np.fmin)(a, b), np.maximum(x.error, y.error))
        if op == "math.copysign":
            sign_known = (np.abs(b) > y.error) & ~np.isnan(b)
            zero = (a == 0) & (x.error == 0)
            return _unless(~sign_known & ~zero, Bounded(dtype, np.copysign(a, b), x.error + np.zeros(b.shape)))
        if op == "math.atan2":
            radius = np.hypot(a, b) - x.error - y.error
            error = (x.error + y.error) / radius + 16 * _unit(dtype)
            # At the cut behind the origin one more bit decides the sign.
            cut = (radius <= 0) | ((b - y.error <= 0) & (np.abs(a) <= x.error)) | ~np.isfinite(a + b)
            return _unless(cut, settle(dtype, np.arctan2(a, b), error.astype(np.float64)))
        value = np.power(a, b)
        corners = [np.power(a + s * x.error, b + t * y.error) - value for s in (-1, 1) for t in (-1, 1)]
        error = np.max(np.abs(corners), axis=0)
        # Powers are computed as exp(b log a), whose error grows with its argument.
        scale = 1 + np.abs(b * np.log(np.abs(a)))
        error = error + np.where(np.isfinite(value), 16 * _unit(dtype) * scale * np.abs(value), 0)
        exact = (x.error == 0) & (y.error == 0)
        unknown = (a == 0) | (b == 0) | ~np.isfinite(a * b) | (~exact & (a - x.error <= 0)) | (a < 0)
        return _unless(unknown | np.isnan(error), settle(dtype, value, np.nan_to_num(error).astype(np.float64)))


# Integers

INT_UNARY = ("math.absi", "math.ctlz", "math.cttz", "math.ctpop")
INT_BINARY = (
    "arith.addi",
    "arith.subi",
    "arith.muli",
    "arith.andi",
    "arith.ori",
    "arith.xori",
    "arith.maxsi",
    "arith.minsi",
    "arith.maxui",
    "arith.minui",
)
# Their second operand is a constant that is neither 0 nor -1, or less than the width.
INT_BY_CONSTANT = (
    "arith.divsi",
    "arith.remsi",
    "arith.divui",
    "arith.remui",
    "arith.floordivsi",
    "arith.ceildivsi",
    "arith.shli",
    "arith.shrsi",
    "arith.shrui",
)


def _int_unary(op: str, x: Bounded) -> Bounded:
    bits, raw = BITS[x.dtype], unsigned_values(x).astype(np.uint64)
    if op == "math.absi":
        return wrapped(x.dtype, np.abs(x.values), x.error)
    text = [format(int(value), f"0{bits}b") for value in raw.flat]
    count = {
        "math.ctlz": lambda t: len(t) - len(t.lstrip("0")),
        "math.cttz": lambda t: len(t) - len(t.rstrip("0")),
        "math.ctpop": lambda t: t.count("1"),
    }[op]
    return wrapped(x.dtype, np.array([count(t) for t in text], np.int64).reshape(x.shape), x.error)


def _int_binary(op: str, x: Bounded, y: Bounded) -> Bounded:
    a, b, bits = x.values, y.values, BITS[x.dtype]
    c, d = unsigned_values(x).astype(np.uint64), unsigned_values(y).astype(np.uint64)
    error = np.where((x.error == 0) & (y.error == 0), 0.0, np.inf)
    with np.errstate(all="ignore"):
        if op in ("arith.divsi", "arith.remsi", "arith.floordivsi", "arith.ceildivsi"):
            b = np.where(b == 0, 1, b)
            floor = np.where(b == -1, -a, a // b)
            exact = floor * b == a
            to_zero = np.where((floor < 0) & ~exact, floor + 1, floor)
            value = {"arith.floordivsi": floor, "arith.ceildivsi": np.where(exact, floor, floor + 1)}.get(op, to_zero)
            return wrapped(x.dtype, a - to_zero * b if op == "arith.remsi" else value, error)
        if op in ("arith.divui", "arith.remui"):
            d = np.where(d == 0, np.uint64(1), d)
            return wrapped(x.dtype, (c // d if op == "arith.divui" else c % d).astype(np.int64), error)
        if op in ("arith.shli", "arith.shrsi", "arith.shrui"):
            error = np.where(b < bits, error, np.inf)
            b, d = np.minimum(b, bits - 1), np.minimum(d, np.uint64(bits - 1))
            value = {"arith.shli": a << b, "arith.shrsi": a >> b, "arith.shrui": (c >> d).astype(np.int64)}[op]
            return wrapped(x.dtype, value, error)
        function = {
            "arith.addi": np.add,
            "arith.subi": np.subtract,
            "arith.muli": np.multiply,
            "arith.andi": np.bitwise_and,
            "arith.ori": np.bitwise_or,
            "arith.xori": np.bitwise_xor,
            "arith.maxsi": np.maximum,
            "arith.minsi": np.minimum,
        }.get(op)
        if function:
            return wrapped(x.dtype, function(a, b), error)
        largest = (c > d) == (op == "arith.maxui")
        return wrapped(x.dtype, np.where(largest, a, b), error)


# Comparisons, choices, casts

FLOAT_PREDICATES = ("oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno")
INT_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_COMPARE = {
    "eq": np.equal,
    "ne": np.not_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lt": np.less,
    "le": np.less_equal,
}
CASTS = (
    "arith.extf",
    "arith.truncf",
    "arith.extsi",
    "arith.extui",
    "arith.trunci",
    "arith.sitofp",
    "arith.uitofp",
    "arith.fptosi",
    "arith.fptoui",
    "arith.index_cast",
    "arith.bitcast",
)


def _compare(op: str, predicate: str, x: Bounded, y: Bounded) -> Bounded:
    with np.errstate(all="ignore"):
        if op == "arith.cmpi":
            a, b = (unsigned_values(v).astype(np.uint64) if predicate[0] == "u" else v.values for v in (x, y))
            value = _COMPARE[predicate if predicate in _COMPARE else predicate[1:]](a, b)
            return wrapped("i1", value, np.where((x.error == 0) & (y.error == 0), 0.0, np.inf))
        nan = np.isnan(x.values) | np.isnan(y.values)
        if predicate in ("ord", "uno"):
            unknown = np.isinf(x.error) | np.isinf(y.error)
            return wrapped("i1", nan if predicate == "uno" else ~nan, np.where(unknown, np.inf, 0.0))
        value = _COMPARE[{"oeq": "eq", "one": "ne", "ueq": "eq", "une": "ne"}.get(predicate, predicate[1:])](
            x.values, y.values
        )
        value = np.where(nan, predicate[0] == "u", value)
        close = np.abs(x.values - y.values) <= x.error + y.error
        close |= np.isinf(x.error) | np.isinf(y.error)
        exact = (x.error == 0) & (y.error == 0)
        return wrapped("i1", value, np.where(close & ~exact, np.inf, 0.0))


def _select(c: Bounded, x: Bounded, y: Bounded) -> Bounded:
    error = np.where(c.error == 0, np.where(c.values, x.error, y.error), np.inf)
    return Bounded(x.dtype, np.where(c.values, x.values, y.values), error)


def _cast(op: str, to: str, x: Bounded) -> Bounded:
    with np.errstate(all="ignore"):
        if op == "arith.extf":
            return Bounded(to, x.values, x.error)
        if op == "arith.truncf":
            return settle(to, x.values, x.error)
        if op in ("arith.sitofp", "arith.uitofp"):
            values = x.values if op == "arith.sitofp" else unsigned_values(x).astype(np.uint64)
            values = -values if op == "arith.sitofp" and x.dtype == "i1" else values
            return settle(to, values.astype(Wide), np.where(x.error == 0, 0.0, np.inf))
        if op in ("arith.fptosi", "arith.fptoui"):
            low, high = np.trunc(x.values - x.error), np.trunc(x.values + x.error)
            most = 2.0 ** (BITS[to] - (op == "arith.fptosi"))
            least = -most if op == "arith.fptosi" else 0
            known = (low == high) & (low >= least) & (high < most)
            return wrapped(to, np.where(known, low, 0).astype(np.int64), np.where(known, 0.0, np.inf))
        if op == "arith.bitcast":
            bits = Bounded.exact(to, x.values.astype(NUMPY[x.dtype]).view(NUMPY[to]))
            return Bounded(to, bits.values, np.where(x.error == 0, 0.0, np.inf))
        signed = -x.values if op == "arith.extsi" and x.dtype == "i1" else x.values
        value = unsigned_values(x) if op == "arith.extui" else signed
        return wrapped(to, value, x.error)


def apply(op: str, words: list[str], operands: list[Bounded]) -> Bounded:
    if op in ("arith.cmpf", "arith.cmpi"):
        return _compare(op, words[0], *operands)
    if op == "arith.select":
        return _select(*operands)
    if op in CASTS:
        return _cast(op, words[0], operands[0])
    if op == "math.fma":
        x, y, z = operands
        product = _float_binary("arith.mulf", x, y)
        return _float_binary("arith.addf", product, z)
    if op in FLOAT_UNARY:
        return _float_unary(op, operands[0])
    if op in FLOAT_BINARY:
        return _float_binary(op, *operands)
    return _int_unary(op, operands[0]) if op in INT_UNARY else _int_binary(op, *operands)
