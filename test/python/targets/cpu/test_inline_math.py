# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""exp, expm1, tanh, erf, log and log1p, which are polynomials on CPUs with FMA: arguments of all kinds of bits.

References are the functions of C in f64. A sweep takes a million f32 numbers at a random offset, so that every run sees
others, and numbers around all edges; f16 and bf16 are tried one and all. Bounds are those of the documentation of the
pass xetile-lower-math.
"""

from __future__ import annotations

import functools
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import element_types
import ml_dtypes
import numpy as np
import pytest
from xetile import cpu
from xetile.mlir import ir

pytestmark = pytest.mark.skipif(
    "fma" not in Path("/proc/cpuinfo").read_text().split(), reason="the polynomials are for CPUs with FMA"
)

TYPES = element_types.scalars("f16", "bf16", "f32")
COLUMNS = 1 << 10
Function = Callable[[np.ndarray], np.ndarray]


def of_each(function: Callable[[float], float]) -> Function:
    return lambda x: np.array([function(value) for value in x.ravel().tolist()]).reshape(x.shape)


FUNCTIONS: dict[str, tuple[Function, float]] = {
    "exp": (np.exp, 1),
    "expm1": (np.expm1, 2),
    "tanh": (np.tanh, 3),
    "erf": (of_each(math.erf), 3.5),
    "log": (np.log, 1),
    "log1p": (np.log1p, 2),
}


def text(lines: str, rows: int, columns: int, kind: str, turned: bool = False) -> str:
    """Turned: the operand is read against the grain, element by element."""
    t = f"tensor<{rows}x{columns}x{kind}>"
    given, read = (f"tensor<{columns}x{rows}x{kind}>", "(m, n) -> (n, m)") if turned else (t, "(m, n) -> (m, n)")
    return f"""func.func @main(%a: {given}) -> {t} {{
      %e = tensor.empty() : {t}
      %0 = linalg.generic {{indexing_maps = [affine_map<{read}>, affine_map<(m, n) -> (m, n)>],
          iterator_types = ["parallel", "parallel"]}} ins(%a : {given}) outs(%e : {t}) {{
      ^bb0(%x: {kind}, %o: {kind}):
        {lines.replace(": T", f": {kind}")}
        linalg.yield %r : {kind}
      }} -> {t}
      return %0 : {t}
    }}"""


@functools.cache
def compiled(source: str) -> cpu.Kernel:
    with ir.Context():
        return cpu.compile(ir.Module.parse(source), threads=1)


def run(lines: str, x: np.ndarray, kind: str, turned: bool = False) -> np.ndarray:
    given = np.ascontiguousarray(x.T) if turned else x
    return compiled(text(lines, *x.shape, kind, turned))(given)


def check(name: str, x: np.ndarray, kind: str) -> None:
    function, bound = FUNCTIONS[name]
    got = run(f"%r = math.{name} %x : T", x, kind)
    with np.errstate(all="ignore"):
        result, wide = got.astype(np.float64), x.astype(np.float64)
        expected = function(wide)
        nearest = expected.astype(TYPES[kind]).astype(np.float64)
        info = ml_dtypes.finfo(TYPES[kind])
        # The exponent of the last bit: that of the least subnormal number at least.
        last = np.maximum(np.frexp(expected)[1] - 1, int(info.minexp)) - int(info.nmant)
        error = np.abs(result - expected) / np.ldexp(1.0, last)
    numbers = np.isfinite(expected) & np.isfinite(nearest) & np.isfinite(result)
    same = (result == nearest) | (np.isnan(result) & np.isnan(nearest))
    # Half a bit more than the largest number rounds to infinity: the largest is within the bound.
    edge = (np.abs(expected) > float(info.max)) & (np.abs(result) >= float(info.max) * (1 - 1e-6))
    error = np.where(numbers, error, np.where(same | edge, 0, np.inf))
    signs = (np.signbit(got) == np.signbit(expected)) | np.isnan(nearest)
    error = np.where(signs, error, np.inf)
    limit = bound if kind == "f32" else 0.51
    worst = np.unravel_index(np.argmax(error), error.shape)
    assert error[worst] <= limit, (
        f"{name}({x[worst]!r}): {error[worst]:.3g} ULP, {got[worst]!r} for {expected[worst]!r}"
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_sweep_of_all_exponents_is_within_the_bound(rng, name):
    count = 1 << 20
    stride = (1 << 32) // count
    patterns = np.arange(count, dtype=np.uint64) * stride + rng.integers(0, stride, count, dtype=np.uint64)
    check(name, patterns.astype(np.uint32).view(np.float32).reshape(-1, COLUMNS), "f32")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arguments_around_every_edge_are_within_the_bound(rng, name):
    limits = [0.0, 1.0, 0.5, 2**-25, 2**-24, 3.92, 9.01, 10, 17.3, 20, 87.33655, 88.02969, 88.376263, 88.72284, 89, 90]
    limits += [103.27893, 103.97208, 105, math.sqrt(0.5), math.sqrt(2), math.sqrt(2) - 1, 1 - math.sqrt(0.5), 2**24]
    limits += [np.finfo(np.float32).tiny, np.finfo(np.float32).max, np.inf]
    limits += [(n + 0.5) * math.log(2) for n in range(0, 128, 9)]
    center = np.array(limits, np.float32).view(np.int32)
    near = (center[:, None] + np.arange(-64, 65)).ravel()
    near = np.concatenate([near[near >= 0], rng.integers(0x7F800001, 0x7FFFFFFF, 16).astype(np.int32)])
    x = near.astype(np.uint32).view(np.float32)
    x = np.concatenate([x, -x])
    check(name, np.resize(x, (-(-len(x) // COLUMNS), COLUMNS)), "f32")


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_all_narrow_numbers_are_rounded_once(name, kind):
    x = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16).view(TYPES[kind]).reshape(-1, COLUMNS)
    check(name, x, kind)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_result_does_not_depend_on_the_place_of_its_element(rng, name):
    """Full vectors, what is left of rows, single elements."""
    x = rng.integers(0, 1 << 32, (37, 53), dtype=np.uint64).astype(np.uint32).view(np.float32)
    x[::2] = rng.uniform(-4, 4, x[::2].shape)
    lines = f"%r = math.{name} %x : T"
    in_rows = run(lines, x, "f32")
    in_one = run(lines, np.resize(x, (1, 37 * 64)), "f32")[:, : x.size].reshape(x.shape)
    alone = run(lines, x, "f32", turned=True)
    for other in (in_one, alone):
        assert np.array_equal(np.isnan(in_rows), np.isnan(other))
        known = ~np.isnan(in_rows)
        assert np.array_equal(in_rows[known].view(np.uint32), other[known].view(np.uint32))


PREDICATES = ("oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno")


def asks(predicate: str, x: np.ndarray, limit: float) -> np.ndarray:
    """What arith.cmpf says of f64."""
    wide = x.astype(np.float64)
    unordered = np.isnan(wide)
    if predicate in ("ord", "uno"):
        return unordered == (predicate == "uno")
    relation = {
        "eq": np.equal,
        "ne": np.not_equal,
        "gt": np.greater,
        "ge": np.greater_equal,
        "lt": np.less,
        "le": np.less_equal,
    }[predicate[1:]]
    return np.where(unordered, predicate[0] == "u", relation(wide, limit))


def mixed(rng: np.random.Generator, rows: int = 24, columns: int = 83) -> np.ndarray:
    """Rows of one sign, of both, of zeros, of NaN, and of few numbers of the other sign."""
    x = rng.uniform(-3, 3, (rows, columns)).astype(np.float32)
    x[::6] = np.abs(x[::6])
    x[1::6] = -np.abs(x[1::6])
    x[2::6] = rng.choice(np.array([0.0, -0.0, np.nan, 1.0], np.float32), x[2::6].shape)
    x[3::6] = np.where(rng.random(x[3::6].shape) < 0.02, -x[3::6], np.abs(x[3::6]))
    x[4::6] = rng.choice(np.array([np.nan, np.inf, -np.inf], np.float32), x[4::6].shape)
    return x


def same(left: np.ndarray, right: np.ndarray) -> bool:
    known = ~np.isnan(left)
    return np.array_equal(known, ~np.isnan(right)) and np.array_equal(
        left[known].view(np.uint32), right[known].view(np.uint32)
    )


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("predicate", PREDICATES)
def test_what_no_lane_takes_is_skipped_and_nothing_else(rng, predicate, first):
    x = mixed(rng)
    power = run("%r = math.expm1 %x : T", x, "f32")
    sides = ("%p", "%x") if first else ("%x", "%p")
    lines = (
        "%zero = arith.constant 0.0 : T\n%p = math.expm1 %x : T\n"
        f"%c = arith.cmpf {predicate}, %x, %zero : T\n%r = arith.select %c, {sides[0]}, {sides[1]} : T"
    )
    condition = asks(predicate, x, 0.0)
    expected = np.where(condition, power, x) if first else np.where(condition, x, power)
    got = run(lines, x, "f32")
    assert same(got, expected)
    if predicate not in ("ord", "uno"):
        assert "vector.reduce." in compiled(text(lines, *x.shape, "f32")).stages["3-llvm"]


@pytest.mark.parametrize("limit", [0.0, 0.1, -1.7, 1e300, -1e300, 1e-300, 20.0])
@pytest.mark.parametrize("predicate", PREDICATES)
def test_comparisons_of_extended_numbers_say_the_same(rng, predicate, limit):
    x = mixed(rng)
    near = np.float32(limit if abs(limit) < 1e30 else math.copysign(3.4028235e38, limit))
    x[5::6] = rng.choice(np.array([near, np.nextafter(near, np.float32(9)), np.nextafter(near, np.float32(-9))]), 83)
    for swapped in (False, True):
        operands = "%limit, %wide" if swapped else "%wide, %limit"
        lines = (
            f"%limit = arith.constant {limit:e} : f64\n%zero = arith.constant 0.0 : T\n%one = arith.constant 1.0 : T\n"
            f"%wide = arith.extf %x : f32 to f64\n%c = arith.cmpf {predicate}, {operands} : f64\n"
            "%r = arith.select %c, %one, %zero : T"
        )
        mirror = {"gt": "lt", "ge": "le", "lt": "gt", "le": "ge"}
        relation = predicate[0] + mirror.get(predicate[1:], predicate[1:]) if swapped else predicate
        assert np.array_equal(run(lines, x, "f32"), asks(relation, x, limit).astype(np.float32))


WIDE = """
import numpy as np
from xetile import cpu
from xetile.mlir import ir
with ir.Context():
    kernel = cpu.compile(ir.Module.parse('''module attributes {dlti.target_system_spec =
        #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"max_vector_width" = 512 : i32>>} {
      func.func @f(%x: tensor<4096xf32>) -> tensor<4096xf32> {
        %e = tensor.empty() : tensor<4096xf32>
        %y = linalg.exp ins(%x : tensor<4096xf32>) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
        return %y : tensor<4096xf32>
      }
    }'''), threads=1)
x = np.linspace(-87, 88, 4096, dtype=np.float32)
print(np.abs(kernel(x) / np.exp(x.astype("f8")) - 1).max(), "scalef" in kernel.stages["3-llvm"])
"""


def test_vectors_that_are_described_need_no_avx512():
    """LLVM splits them; what only AVX-512 has is left out."""
    environment = os.environ | {"XETILE_CPU_WITHOUT": "avx512f"}
    ran = subprocess.run([sys.executable, "-c", WIDE], env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    error, scales = ran.stdout.split()
    assert float(error) < 2e-7 and scales == "False"
