# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GELU of f32 that is rounded to bf16 or f16, by one polynomial: all numbers of 16 bits, and of f32 all kinds of them.

References are C's erfc in f64, with which nothing cancels out. The bounds are those of the documentation of the pass
xetile-inline-gelu.
"""

from __future__ import annotations

import functools
import math
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
RELATIVE = {"bf16": 2.0**-13, "f16": 2.0**-17}
# Of a fit of so many bits, and about twice what was counted.
WRONG = {"bf16": 50, "f16": 50}
END = float(np.float32(12.9))
SHARE = (
    "%c = arith.constant 0.70710678 : f32\n%one = arith.constant 1.0 : f32\n%half = arith.constant 0.5 : f32\n"
    "%s = arith.mulf %w, %c : f32\n%e = math.erf %s : f32\n%m = arith.addf %e, %one : f32\n"
)
FORMS = {
    "erf": SHARE + "%h = arith.mulf %w, %half : f32\n%y = arith.mulf %h, %m : f32",
    "erfc": "%c = arith.constant -0.70710678 : f32\n%half = arith.constant 0.5 : f32\n%s = arith.mulf %w, %c : f32\n"
    "%e = math.erfc %s : f32\n%h = arith.mulf %half, %e : f32\n%y = arith.mulf %h, %w : f32",
}


def text(form: str, rows: int, columns: int, given: str, kind: str, turned: bool = False) -> str:
    """GELU of `given`, rounded to `kind`. Turned: the operand is read against the grain, element by element."""
    shape = (columns, rows) if turned else (rows, columns)
    read = "(m, n) -> (n, m)" if turned else "(m, n) -> (m, n)"
    source, result = f"tensor<{shape[0]}x{shape[1]}x{given}>", f"tensor<{rows}x{columns}x{kind}>"
    wide = "%w = arith.addf %x, %zero : f32" if given == "f32" else f"%w = arith.extf %x : {given} to f32"
    return f"""func.func @main(%a: {source}) -> {result} {{
      %empty = tensor.empty() : {result}
      %0 = linalg.generic {{indexing_maps = [affine_map<{read}>, affine_map<(m, n) -> (m, n)>],
          iterator_types = ["parallel", "parallel"]}} ins(%a : {source}) outs(%empty : {result}) {{
      ^bb0(%x: {given}, %o: {kind}):
        %zero = arith.constant -0.0 : f32
        {wide}
        {FORMS[form]}
        %r = arith.truncf %y : f32 to {kind}
        linalg.yield %r : {kind}
      }} -> {result}
      return %0 : {result}
    }}"""


@functools.cache
def compiled(source: str) -> cpu.Kernel:
    with ir.Context():
        return cpu.compile(ir.Module.parse(source), threads=1)


def run(form: str, x: np.ndarray, given: str, kind: str, turned: bool = False) -> np.ndarray:
    operand = np.ascontiguousarray(x.T) if turned else x
    return compiled(text(form, *x.shape, given, kind, turned))(operand)


def widened(x: np.ndarray) -> np.ndarray:
    # NumPy warns of NaN.
    with np.errstate(all="ignore"):
        return x.astype(np.float64)


def gelu(x: np.ndarray) -> np.ndarray:
    wide = widened(x)
    with np.errstate(all="ignore"):
        shares = np.array([math.erfc(value) for value in (-wide / math.sqrt(2)).ravel().tolist()]) / 2
        return wide * shares.reshape(wide.shape)


def check(x: np.ndarray, got: np.ndarray, kind: str) -> None:
    """Where all bits are there, relative errors; elsewhere half a bit, or zero below where powers end."""
    exact, result, wide = gelu(x), widened(got), widened(x)
    assert np.array_equal(np.isnan(result), np.isnan(exact))
    infinite = np.isinf(wide)
    assert np.all(result[infinite & (wide > 0)] == np.inf)
    known = np.isfinite(wide)
    assert np.array_equal(np.signbit(got[known]), np.signbit(x[known]))
    info = ml_dtypes.finfo(TYPES[kind])
    size, least = np.abs(exact), float(info.smallest_normal)
    half = np.ldexp(0.5, np.maximum(np.frexp(exact)[1] - 1, int(info.minexp)) - int(info.nmant))
    relative = np.where(wide < -6, 4 * RELATIVE[kind], RELATIVE[kind])
    allowed = half + relative * np.maximum(size, least)
    allowed = np.where((wide <= -END) & (kind == "bf16"), 2.0**-121, allowed)
    overflows = size >= float(info.max)
    with np.errstate(all="ignore"):
        error = np.where(known & ~overflows, np.abs(result - exact) / allowed, 0)
    worst = np.unravel_index(np.argmax(error), error.shape)
    assert error[worst] <= 1, (
        f"GELU({x[worst]!r}): {got[worst]!r} for {exact[worst]!r}, {error[worst]:.3g} of the bound"
    )
    assert np.all(result[overflows & (wide > 0)] >= float(info.max))


@pytest.mark.parametrize("kind", ["bf16", "f16"])
@pytest.mark.parametrize("form", FORMS)
def test_all_narrow_numbers_are_rounded_rightly_but_for_few(form, kind):
    x = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16).view(TYPES[kind]).reshape(-1, COLUMNS)
    got = run(form, x, kind, kind)
    check(x, got, kind)
    with np.errstate(all="ignore"):
        nearest = gelu(x).astype(TYPES[kind])
    wide = widened(x)
    known = np.isfinite(wide) & (wide > -END)
    apart = np.abs(got.view(np.int16).astype(int) - nearest.view(np.int16).astype(int))[known]
    assert apart.max() <= 1
    assert np.count_nonzero(apart) <= WRONG[kind], f"{np.count_nonzero(apart)} are not the nearest number"
    # As x / 2 is: halves of the least bits are rounded to even.
    least = known & (np.abs(wide) < 2.0**-100 if kind == "bf16" else x == 0)
    assert np.array_equal(got[least], nearest[least])


@pytest.mark.parametrize("kind", ["bf16", "f16"])
def test_numbers_of_f32_are_within_the_bound(rng, kind):
    patterns = rng.integers(0, 1 << 32, 1 << 18, dtype=np.uint64).astype(np.uint32).view(np.float32)
    usual = rng.uniform(-14, 14, 1 << 18).astype(np.float32)
    edges = np.array([12.9, 5.8, 0.0, np.inf, np.finfo(np.float32).max, np.finfo(np.float32).tiny], np.float32)
    edges = (edges.view(np.int32)[:, None] + np.arange(-64, 65)).ravel().astype(np.uint32).view(np.float32)
    x = np.concatenate([patterns, usual, edges, -edges])
    x = np.resize(x, (-(-len(x) // COLUMNS), COLUMNS))
    with np.errstate(all="ignore"):
        check(x, run("erf", x, "f32", kind), kind)


def test_no_payload_of_a_nan_makes_a_number(rng):
    """Rounding such a NaN as numbers are would carry into its sign."""
    payloads = np.concatenate([[0x7FFFFFFF, 0xFFFFFFFF, 0x7FFF8000, 0x7FC00000], rng.integers(0x7F800001, 1 << 31, 60)])
    x = np.resize(payloads.astype(np.uint32).view(np.float32), (8, 64))
    assert np.all(np.isnan(run("erf", x, "f32", "bf16").astype(np.float32)))
    short = np.arange(0x7F81, 0x8000, dtype=np.uint16)
    x = np.resize(np.concatenate([short, short | 0x8000]).view(TYPES["bf16"]), (8, 64))
    assert np.all(np.isnan(run("erf", x, "bf16", "bf16").astype(np.float32)))


@pytest.mark.parametrize("kind", ["bf16", "f16"])
def test_a_result_does_not_depend_on_the_place_of_its_element(rng, kind):
    """Full vectors, what is left of rows, single elements."""
    x = rng.uniform(-6, 6, (37, 53)).astype(TYPES[kind])
    in_rows = run("erf", x, kind, kind)
    in_one = run("erf", np.resize(x, (1, 37 * 64)), kind, kind)[:, : x.size].reshape(x.shape)
    alone = run("erf", x, kind, kind, turned=True)
    for other in (in_one, alone):
        assert np.array_equal(in_rows.view(np.uint16), other.view(np.uint16))


def test_a_gelu_takes_no_division(rng):
    source = text("erf", 4, 64, "bf16", "bf16")
    assert "llvm.fdiv" not in compiled(source).stages["3-llvm"]
