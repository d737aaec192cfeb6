# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every op of the math dialect on the CPU: in all types, alone, before and after a matmul, and read against the grain.

References are NumPy's functions in a wider type (f64's in the 80-bit type of x86). Errors are counted in ULP of the
result's type; the bounds are those that the documentation of the pass xetile-lower-math states.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import element_types
import ml_dtypes
import numpy as np
import pytest
from xetile import cpu
from xetile.mlir import ir

WIDE = np.longdouble
FLOATS = element_types.scalars("f16", "bf16", "f32", "f64")
INTEGERS = element_types.scalars("i8", "i16", "i32", "i64")
# Digits of the significand, the implicit one, too, and the exponent of the least normal number.
FORMATS = {"f16": (11, -14), "bf16": (8, -126), "f32": (24, -126), "f64": (53, -1022)}
POSITIONS = ("alone", "before a matmul", "after a matmul", "against the grain")
# Odd in both dimensions: rows end in masked vectors.
ROWS, COLUMNS = 21, 83


@dataclass(frozen=True)
class Op:
    """`lines` compute `%r` from `%x`, `%y` and `%z`; `numpy` does from arrays of a wider type. Arguments of the first
    operand are drawn from `low` to `high`, others from `others`; results are within `ulp` in f32 and f64."""

    lines: str
    numpy: Callable[..., np.ndarray]
    low: float = -8
    high: float = 8
    ulp: float = 4
    operands: int = 1
    others: tuple[float, float] = (-3, 3)
    rounds: bool = True


def exact_fma(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Rounded to 64 digits once: where the sum cancels, those of the product alone are too few."""
    out = np.asarray(x * y + z)
    for place in np.argwhere(np.isfinite(out) & (out != 0)):
        exact = [Fraction(float(np.asarray(part)[tuple(place)])) for part in (x, y, z)]
        value = exact[0] * exact[1] + exact[2]
        high = float(value) if abs(value) < 2**1023 else None
        if high is not None:
            out[tuple(place)] = WIDE(high) + WIDE(float(value - Fraction(high)))
    return out


def of_floats(name: str, numpy: Callable[..., np.ndarray], low: float = -8, high: float = 8, **options) -> Op:
    operands = ", ".join(["%x", "%y", "%z"][: options.get("operands", 1)])
    return Op(f"%r = math.{name} {operands} : T", numpy, low, high, **options)


def question(name: str, numpy: Callable[..., np.ndarray]) -> Op:
    return Op(f"%q = math.{name} %x : T\n%r = arith.uitofp %q : i1 to T", numpy, ulp=0)


def elementwise(function: Callable[[float], float]) -> Callable[[np.ndarray], np.ndarray]:
    """C's function in f64: within 1 ULP, which the bounds in f64 below include."""

    def on_array(x: np.ndarray) -> np.ndarray:
        return np.array([function(float(value)) for value in x.flat], WIDE).reshape(x.shape)

    return on_array


def half_away(x: np.ndarray) -> np.ndarray:
    return np.copysign(np.floor(np.abs(x) + WIDE(0.5)), x)


def small_power(exponent: int) -> Op:
    return Op(f"%n = arith.constant {exponent} : i32\n%r = math.fpowi %x, %n : T, i32", lambda x: x**exponent, ulp=2)


def float_power(exponent: float) -> Op:
    lines = f"%n = arith.constant {exponent} : T\n%r = math.powf %x, %n : T"
    return Op(lines, lambda x: np.power(x, exponent), 0, 9, ulp=0.51)


def power_of(kind: str) -> Op:
    """The exponent is the second operand's integer part."""
    lines = f"%n = arith.fptosi %y : T to {kind}\n%r = math.fpowi %x, %n : T, {kind}"
    return Op(lines, lambda x, y: x ** np.trunc(y), 0.5, 3, operands=2, others=(-9, 9))


FLOAT_OPS = {
    "absf": of_floats("absf", np.abs, ulp=0),
    "acos": of_floats("acos", np.arccos, -1, 1),
    "acosh": of_floats("acosh", np.arccosh, 1, 9),
    "asin": of_floats("asin", np.arcsin, -1, 1),
    "asinh": of_floats("asinh", np.arcsinh),
    "atan": of_floats("atan", np.arctan),
    "atan2": of_floats("atan2", np.arctan2, operands=2),
    "atanh": of_floats("atanh", np.arctanh, -0.99, 0.99),
    "cbrt": of_floats("cbrt", np.cbrt),
    "ceil": of_floats("ceil", np.ceil, ulp=0),
    "clampf": Op(
        "%r = math.clampf %x to [%y, %z] : T", lambda x, y, z: np.minimum(np.maximum(x, y), z), ulp=0, operands=3
    ),
    "copysign": of_floats("copysign", np.copysign, ulp=0, operands=2),
    "cos": of_floats("cos", np.cos),
    "cosh": of_floats("cosh", np.cosh),
    "erf": of_floats("erf", elementwise(math.erf), ulp=5),
    "erfc": of_floats("erfc", elementwise(math.erfc), -3, 3, ulp=5),
    "exp": of_floats("exp", np.exp),
    "exp2": of_floats("exp2", np.exp2),
    "expm1": of_floats("expm1", np.expm1),
    "floor": of_floats("floor", np.floor, ulp=0),
    "fma": of_floats("fma", exact_fma, ulp=0.51, operands=3),
    "fpowi": power_of("i32"),
    "fpowi of i64": power_of("i64"),
    "fpowi of 0": small_power(0),
    "fpowi of 3": small_power(3),
    "fpowi of 4": small_power(4),
    "fpowi of -2": Op("%n = arith.constant -2 : i32\n%r = math.fpowi %x, %n : T, i32", lambda x: 1 / x**2, 0.5, 8),
    "isfinite": question("isfinite", np.isfinite),
    "isinf": question("isinf", np.isinf),
    "isnan": question("isnan", np.isnan),
    "isnormal": question("isnormal", lambda x: np.isfinite(x) & (x != 0)),
    "log": of_floats("log", np.log, 1e-3, 8),
    "log10": of_floats("log10", np.log10, 1e-3, 8),
    "log1p": of_floats("log1p", np.log1p, -0.9, 8),
    "log2": of_floats("log2", np.log2, 1e-3, 8),
    "powf": of_floats("powf", np.power, 0.1, 8, operands=2),
    "powf of 0.5": float_power(0.5),
    "powf of 2": float_power(2.0),
    "round": of_floats("round", half_away, ulp=0),
    "roundeven": of_floats("roundeven", np.rint, ulp=0),
    "rsqrt": of_floats("rsqrt", lambda x: 1 / np.sqrt(x), 1e-2, 8, ulp=1.5),
    "sin": of_floats("sin", np.sin),
    "sincos": Op(
        "%s, %c = math.sincos %x : T\n%r = math.copysign %s, %c : T", lambda x: np.copysign(np.sin(x), np.cos(x))
    ),
    "sinh": of_floats("sinh", np.sinh),
    "sqrt": of_floats("sqrt", np.sqrt, 0, 8, ulp=0.51),
    "tan": of_floats("tan", np.tan),
    "tanh": of_floats("tanh", np.tanh),
    "trunc": of_floats("trunc", np.trunc, ulp=0),
}


def wrapping(values: list[int], dtype: np.dtype) -> np.ndarray:
    """Integers modulo 2^bits, in two's complement."""
    bits = dtype.itemsize * 8
    return np.array([value % 2**bits for value in values], f"u{dtype.itemsize}").view(dtype)


def integer_power(base: int, exponent: int) -> int:
    if exponent >= 0:
        return pow(base, exponent, 2**64)
    return {1: 1, -1: -1 if exponent % 2 else 1}.get(base, 0)


def count_bits(function: Callable[[int, int], int]) -> Callable[[int, int], int]:
    return lambda x, bits: function(x % 2**bits, bits)


INTEGER_OPS: dict[str, tuple[str, Callable[..., int]]] = {
    "absi": ("%r = math.absi %x : T", lambda x, bits: abs(x)),
    "ctlz": ("%r = math.ctlz %x : T", count_bits(lambda x, bits: bits - x.bit_length())),
    "cttz": ("%r = math.cttz %x : T", count_bits(lambda x, bits: (x & -x).bit_length() - 1 if x else bits)),
    "ctpop": ("%r = math.ctpop %x : T", count_bits(lambda x, bits: x.bit_count())),
    "ipowi": ("%r = math.ipowi %x, %y : T", lambda x, y, bits: integer_power(x, y)),
    "ipowi of 5": ("%n = arith.constant 5 : T\n%r = math.ipowi %x, %n : T", lambda x, bits: integer_power(x, 5)),
}


def generic(lines: str, kind: str, operands: int, position: str, rows: int = ROWS, columns: int = COLUMNS) -> str:
    """A function of `operands` arrays, and of an identity matrix where a matmul is before or after the op."""
    t = f"tensor<{rows}x{columns}x{kind}>"
    turned = position == "against the grain"
    given = f"tensor<{columns}x{rows}x{kind}>" if turned else t
    names = ["%a", "%b", "%c"][:operands]
    inputs = list(names)
    arguments = [f"{name}: {given if number == 0 else t}" for number, name in enumerate(names)]
    before, after, result = [], [], "%0"
    if "matmul" in position:
        arguments.append(f"%i: tensor<{columns}x{columns}x{kind}>")
        zero = "0.0" if kind in FLOATS else "0"
        product = [
            f"%zero = arith.constant {zero} : {kind}",
            f"%z0 = tensor.empty() : {t}",
            f"%z1 = linalg.fill ins(%zero : {kind}) outs(%z0 : {t}) -> {t}",
            f"%m = linalg.matmul ins(OPERAND, %i : {t}, tensor<{columns}x{columns}x{kind}>) outs(%z1 : {t}) -> {t}",
        ]
        if position == "before a matmul":
            after, result = [line.replace("OPERAND", "%0") for line in product], "%m"
        else:
            before, inputs[0] = [line.replace("OPERAND", "%a") for line in product], "%m"
    maps = ["(m, n) -> (n, m)" if turned else "(m, n) -> (m, n)", *["(m, n) -> (m, n)"] * operands]
    types = [given if number == 0 else t for number in range(operands)]
    values = ["%x", "%y", "%z"][:operands]
    return "\n".join(
        [
            f"func.func @main({', '.join(arguments)}) -> {t} {{",
            *before,
            f"%e = tensor.empty() : {t}",
            f"%0 = linalg.generic {{indexing_maps = [{', '.join(f'affine_map<{m}>' for m in maps)}], "
            'iterator_types = ["parallel", "parallel"]}'
            f" ins({', '.join(inputs)} : {', '.join(types)}) outs(%e : {t}) {{",
            f"^bb0({', '.join(f'{v}: {kind}' for v in values)}, %o: {kind}):",
            lines.replace(": T", f": {kind}").replace("to T", f"to {kind}"),
            f"linalg.yield %r : {kind}",
            f"}} -> {t}",
            *after,
            f"return {result} : {t}",
            "}",
        ]
    )


@functools.cache
def compiled(text: str) -> cpu.Kernel:
    with ir.Context():
        return cpu.compile(ir.Module.parse(text), threads=1)


def run(lines: str, kind: str, arrays: list[np.ndarray], position: str = "alone") -> np.ndarray:
    rows, columns = arrays[-1].shape if len(arrays) > 1 or position != "against the grain" else arrays[0].shape
    given = list(arrays)
    if position == "against the grain":
        given[0] = np.ascontiguousarray(given[0].T)
    if "matmul" in position:
        given.append(np.eye(columns, dtype=arrays[0].dtype))
    return compiled(generic(lines, kind, len(arrays), position, rows, columns))(*given)


def round_to(values: np.ndarray, kind: str) -> np.ndarray:
    """To the nearest number of the type, once."""
    digits, least = FORMATS[kind]
    with np.errstate(all="ignore"):
        exponent = np.maximum(np.frexp(values)[1] - 1, least)
        spacing = np.ldexp(WIDE(1), exponent - digits + 1)
        rounded = np.where(np.isfinite(values), np.rint(values / spacing) * spacing, values)
        return rounded.astype(FLOATS[kind])


def errors(got: np.ndarray, expected: np.ndarray, kind: str) -> np.ndarray:
    """In ULP of the result's type; infinite where one is NaN or infinite and the other is not the same, and for a wrong
    sign of zero."""
    digits, least = FORMATS[kind]
    rounded = round_to(expected, kind).astype(WIDE)
    got = got.astype(WIDE)
    with np.errstate(all="ignore"):
        exponent = np.maximum(np.frexp(expected)[1] - 1, least)
        distance = np.abs(got - expected) / np.ldexp(WIDE(1), exponent - digits + 1)
    same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
    special = ~(np.isfinite(got) & np.isfinite(rounded))
    signs = np.signbit(got) == np.signbit(expected)
    zeros = (expected == 0) & (got == 0)
    # The largest number instead of infinity is within the bound.
    largest = WIDE(np.finfo(FLOATS[kind]).max) if kind != "bf16" else WIDE(ml_dtypes.finfo(ml_dtypes.bfloat16).max)
    edge = special & signs & (np.abs(got) >= largest * WIDE(0.9999995)) & (np.abs(rounded) >= largest * WIDE(0.9999995))
    return np.where(special, np.where(same | edge, 0, np.inf), np.where(zeros & ~signs, np.inf, distance))


def bound(op: Op, kind: str) -> float:
    # Narrow types are computed in f32 and rounded once.
    return op.ulp if kind in ("f32", "f64") else min(op.ulp, 0.51)


def check(op: Op, kind: str, arrays: list[np.ndarray], position: str = "alone") -> None:
    got = run(op.lines, kind, arrays, position)
    with np.errstate(all="ignore"):
        expected = np.asarray(op.numpy(*[array.astype(WIDE) for array in arrays]), WIDE)
    if position == "before a matmul":
        # The sums of the product start from zero.
        expected = expected + WIDE(0)
    error = errors(got, expected, kind)
    worst = np.unravel_index(np.argmax(error), error.shape)
    given = [str(array[worst]) for array in arrays]
    assert error[worst] <= bound(op, kind), f"{given}: {error[worst]:.3g} ULP, {got[worst]} for {expected[worst]}"


def draw(rng: np.random.Generator, op: Op, kind: str) -> list[np.ndarray]:
    ranges = [(op.low, op.high), op.others, op.others][: op.operands]
    return [rng.uniform(*limits, (ROWS, COLUMNS)).astype(FLOATS[kind]) for limits in ranges]


def op_of(name: str, kind: str) -> Op:
    """That of the table; which numbers are normal is a matter of the type, not of the wider one of the reference."""
    op = FLOAT_OPS[name]
    if name != "isnormal":
        return op
    least = WIDE(ml_dtypes.finfo(FLOATS[kind]).tiny)
    return replace(op, numpy=lambda v: np.isfinite(v) & (np.abs(v) >= least))


@pytest.mark.one_in(5)
@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("name", FLOAT_OPS)
def test_op_of_floats_is_as_accurate_as_documented(rng, name, kind, position):
    op = op_of(name, kind)
    check(op, kind, draw(rng, op, kind), position)


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize("name", INTEGER_OPS)
def test_op_of_integers_is_exact(rng, name, kind, position):
    lines, python = INTEGER_OPS[name]
    dtype = np.dtype(INTEGERS[kind])
    bits, limits = dtype.itemsize * 8, np.iinfo(dtype)
    arrays = [
        rng.integers(limits.min, limits.max, (ROWS, COLUMNS), dtype, endpoint=True) for _ in range(1 + ("%y" in lines))
    ]
    for array in arrays:
        array[0, :8] = [0, 1, -1, 2, limits.min, limits.max, -2, 3]
    if len(arrays) == 2:
        arrays[1][3] = rng.integers(-4, 20, COLUMNS)
        arrays[0][4] = rng.integers(-1, 2, COLUMNS)
    expected = wrapping(
        [python(*map(int, values), bits) for values in zip(*[a.flat for a in arrays], strict=True)], dtype
    )
    got = run(lines, kind, arrays, position)
    assert np.array_equal(got, expected.reshape(got.shape))


SPECIALS = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1e6, -1e6, 1e10, 3.0]


@pytest.mark.one_in(5)
@pytest.mark.parametrize("position", ["alone", "against the grain"])
@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("name", FLOAT_OPS)
def test_op_of_special_numbers_is_as_in_c(rng, name, kind, position):
    """NaN, infinities, signed zeros, subnormals, the largest and the least numbers, any bits."""
    op, dtype = op_of(name, kind), np.dtype(FLOATS[kind])
    info = ml_dtypes.finfo(dtype)
    with np.errstate(over="ignore"):
        known = np.array(
            [*SPECIALS, info.max, -info.max, info.tiny, -info.tiny, info.smallest_subnormal, -info.smallest_subnormal]
        ).astype(dtype)
    # The shape of the other tests, whose kernels are there; each special number meets each other one.
    arrays = []
    for first in (np.repeat(known, len(known)), np.tile(known, len(known)), rng.permuted(np.tile(known, len(known)))):
        any_bits = np.frombuffer(rng.bytes((ROWS * COLUMNS - len(first)) * dtype.itemsize), dtype)
        arrays.append(np.concatenate([first, any_bits]).reshape(ROWS, COLUMNS))
    arrays = arrays[: op.operands]
    if name in ("fpowi", "fpowi of i64"):
        # Only integers that the exponent's type has.
        arrays[1] = rng.integers(-300, 300, (ROWS, COLUMNS)).astype(dtype)
    if name == "clampf":
        # The larger of two zeros may have either sign: NumPy's own differs from machine to machine.
        arrays = [np.where(array == 0, np.zeros_like(array), array) for array in arrays]
        arrays[1], arrays[2] = np.fmin(arrays[1], arrays[2]), np.fmax(arrays[1], arrays[2])
    if name == "fma":
        # The reference has 64 digits.
        arrays = [rng.permuted(np.resize(known[:16], (ROWS, COLUMNS))) for _ in arrays]
    check(op, kind, arrays, position)


def near_multiples_of_half_pi(count: int, largest: float, dtype: np.dtype, rng: np.random.Generator) -> np.ndarray:
    multiples = (
        rng.integers(1, int(largest / 1.57), count).astype(WIDE) * (WIDE(np.pi) + WIDE(1.2246467991473532e-16)) / 2
    )
    return multiples.astype(dtype) * rng.choice([-1, 1], count).astype(dtype)


@pytest.mark.parametrize("position", ["alone", "against the grain", "after a matmul"])
@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_large_arguments_are_reduced_exactly(rng, name, kind, position):
    """The reference is C's function in f64, for f64 within 1 ULP of the exact result."""
    dtype = np.dtype(FLOATS[kind])
    tiny = float(np.finfo(dtype).tiny)
    parts = [
        rng.uniform(0.9, 1.1, COLUMNS).astype(dtype) * dtype.type(size)
        for size in (1e3, 1e4, 1e5, 1e6, 1e8, 1e10, 1e20, 1e38)
    ]
    parts += [near_multiples_of_half_pi(COLUMNS, size, dtype, rng) for size in (10, 1e3, 1e6, 1e10)]
    parts += [
        (rng.uniform(-1, 1, COLUMNS) * tiny).astype(dtype),
        np.resize(np.array([0.0, -0.0, tiny], dtype), COLUMNS),
    ]
    if position != "after a matmul":
        parts.append(np.resize(np.array([np.nan, np.inf, -np.inf, np.finfo(dtype).max], dtype), COLUMNS))
    x = np.stack(parts)
    if position == "after a matmul":
        # The products with zeros add up: negative zeros do not pass through.
        x = np.where(x == 0, dtype.type(0), x)

    def in_c(values: np.ndarray) -> np.ndarray:
        function = getattr(math, name)
        return elementwise(lambda v: function(v) if math.isfinite(v) else math.nan)(values)

    check(Op(f"%r = math.{name} %x : T", in_c, ulp=5 if kind == "f64" else 4), kind, [x], position)


def test_powers_keep_the_parity_of_large_exponents():
    """f64 does not have these exponents."""
    lines = "%n = arith.constant {} : i64\n%r = math.fpowi %x, %n : T, i64"
    x = np.array([[-1.0, 1.0, -0.0, 0.0, -0.5, np.inf, -np.inf, np.nan]], np.float64)
    odd = run(lines.format(2**53 + 1), "f64", [x])
    even = run(lines.format(2**53 + 2), "f64", [x])
    assert np.array_equal(odd, [[-1, 1, -0.0, 0, -0.0, np.inf, -np.inf, np.nan]], equal_nan=True)
    assert np.array_equal(np.signbit(odd[0, :7]), [1, 0, 1, 0, 1, 0, 1])
    assert np.array_equal(even, [[1, 1, 0, 0, 0, np.inf, np.inf, np.nan]], equal_nan=True)


ON_TENSORS = ["absf", "ceil", "exp", "rsqrt", "sincos", "atan", "tanh"]


@pytest.mark.parametrize("name", ON_TENSORS)
def test_op_on_tensors_is_as_accurate(rng, name):
    """The op itself takes tensors; sincos returns both of its results."""
    x = rng.uniform(0.1, 8, (ROWS, COLUMNS)).astype(np.float32)
    t = f"tensor<{ROWS}x{COLUMNS}xf32>"
    results = ["%r", "%s"] if name == "sincos" else ["%r"]
    types = ", ".join([t] * len(results))
    text = (
        f"func.func @main(%x: {t}) -> ({types}) {{\n{', '.join(results)} = math.{name} %x : {t}\n"
        f"return {', '.join(results)} : {types}\n}}"
    )
    got = compiled(text)(x)
    wide = x.astype(WIDE)
    expected = [np.sin(wide), np.cos(wide)] if name == "sincos" else [FLOAT_OPS[name].numpy(wide)]
    for array, want in zip(got if isinstance(got, tuple) else (got,), expected, strict=True):
        assert errors(array, want, "f32").max() <= 4


def test_vectors_are_one_call_and_not_one_for_each_lane(rng):
    """exp2 of a whole array takes at most a few times as long as NumPy's, which is vectorised, too; one call for each
    element takes 30 times as long."""
    x = rng.uniform(-8, 8, (4096, 384)).astype(np.float32)
    kernel = compiled(generic("%r = math.exp2 %x : T", "f32", 1, "alone", *x.shape))
    out, peer = np.empty_like(x), np.empty_like(x)

    def best(function: Callable[[], object]) -> float:
        times = []
        for _ in range(9):
            start = time.perf_counter()
            function()
            times.append(time.perf_counter() - start)
        return min(times)

    ratio = best(lambda: kernel(x, out=out)) / best(lambda: np.exp2(x, out=peer))
    print(f"exp2 of 4096x384: {ratio:.2f} of NumPy's time")
    assert "call @exp2f" not in kernel.stages["3-llvm"] and "@_ZGV" in kernel.stages["3-llvm"]
    assert ratio < 6
