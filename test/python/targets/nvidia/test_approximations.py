# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Polynomials that stand for functions on Nvidia's GPUs, as the host computes them, against libm's in f64."""

import math
import re

import ml_dtypes
import numpy as np
import pytest
from xetile import passes
from xetile.mlir import ir
from xetile_programs import run

COUNT = 20_000


# Instructions of Nvidia's GPUs in ones that a host has: 0 below 2^-126, of operands and results.
FLUSHED = {
    "llvm.nvvm.ex2.approx.ftz.f32": "math.exp2 %{0}_x",
    "llvm.nvvm.rcp.approx.ftz.f": "arith.divf %{0}_one, %{0}_x",
}


def on_host(call: re.Match[str]) -> str:
    """A call of an intrinsic of `FLUSHED`."""
    result, intrinsic, x = call.groups()
    value = result.removeprefix("%")
    lines = [f"%{value}_least = arith.constant 0x00800000 : f32", f"%{value}_zero = arith.constant 0.0 : f32"]
    lines.append(f"%{value}_one = arith.constant 1.0 : f32")

    def flush(source: str, target: str) -> None:
        size, low = f"{target}_size", f"{target}_low"
        lines.append(f"{size} = math.absf {source} : f32")
        lines.append(f"{low} = arith.cmpf olt, {size}, %{value}_least : f32")
        lines.append(f"{target}_nothing = math.copysign %{value}_zero, {source} : f32")
        lines.append(f"{target} = arith.select {low}, {target}_nothing, {source} : f32")

    flush(x, f"%{value}_x")
    lines.append(f"%{value}_y = {FLUSHED[intrinsic].format(value)} : f32")
    flush(f"%{value}_y", result)
    return "\n".join(lines)


def body_of(function: str, narrow: bool = False) -> str:
    """A loop over %0 that writes to %1, the function as the pass leaves it; `narrow`: of x rounded to bf16."""
    lines = ["%n = arith.truncf %x : f32 to bf16", "%w = arith.extf %n : bf16 to f32"] if narrow else []
    name, _, flags = function.partition(" ")
    return body_of_lines([*lines, f"%y = math.{name} {'%w' if narrow else '%x'} {flags} : f32"])


def body_of_lines(lines: list[str]) -> str:
    """A loop over %0 that writes to %1: what the pass leaves of `lines`, which make %y of %x."""
    newline = "\n"
    with ir.Context():
        module = ir.Module.parse(
            f"""gpu.module @kernels {{
              gpu.func @f(%x: f32, %out: memref<f32>) {{
                {newline.join(lines)}
                memref.store %y, %out[] : memref<f32>
                gpu.return
              }}
            }}"""
        )
        passes.run(module, "gpu.module(xetile-approximate-math)")
        text = str(module)
    body = re.sub(r"%(\d+)", r"%v\1", text[text.index("{", text.index("gpu.func")) + 1 : text.index("gpu.return")])
    body = re.sub(r'(%\w+) = llvm.call_intrinsic "(llvm.nvvm[^"]*)"\((%\w+)\) : \(f32\) -> f32', on_host, body)
    memory = f"memref<{COUNT}xf32, strided<[1]>>"
    body = body.replace("%arg0", "%x").replace("%arg1[] : memref<f32>", f"%1[%i] : {memory}")
    return f"""
      %none = arith.constant 0 : index
      %step = arith.constant 1 : index
      %count = arith.constant {COUNT} : index
      scf.for %i = %none to %count step %step {{
        %x = memref.load %0[%i] : {memory}
        {body}
      }}"""


@pytest.mark.parametrize(
    ("function", "exact", "low", "high", "allowed"),
    [
        ("erf", math.erf, -6, 6, 3e-7),
        ("tanh", math.tanh, -12, 12, 3e-7),
        ("tanh", math.tanh, -0.61, 0.61, 3e-7),
        ("exp", math.exp, -87, 88.7, 3e-7),
        ("exp", math.exp, -1, 1, 2e-7),
        ("rsqrt", lambda x: 1 / math.sqrt(x), 1e-3, 1e3, 5e-7),
        ("absf", abs, -5, 5, 0.0),
    ],
)
def test_they_are_close(rng, function, exact, low, high, allowed):
    x = rng.uniform(low, high, COUNT).astype(np.float32)
    y = np.full(COUNT, np.nan, np.float32)
    run(body_of(function), x, y)
    expected = np.array([exact(float(value)) for value in x])
    assert np.all(np.abs(y - expected) <= allowed * np.abs(expected))


def test_erf_of_zeros_infinities_and_nan():
    x = np.resize(np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, -1e-30, 4, -4], np.float32), COUNT)
    y = np.full(COUNT, 7, np.float32)
    run(body_of("erf"), x, y)
    expected = np.array([math.erf(float(value)) for value in x[:9]], np.float32)
    np.testing.assert_allclose(y[:9], expected, rtol=3e-7)
    np.testing.assert_array_equal(np.signbit(y[:2]), [False, True])


def test_exp_where_it_ends():
    """Infinities, NaN, what overflows, and what is below the least normal number."""
    x = np.resize(np.array([0, np.inf, -np.inf, np.nan, 88.72, 88.73, 1e30, -1e30, -89, -103], np.float32), COUNT)
    y = np.full(COUNT, 7, np.float32)
    run(body_of("exp"), x, y)
    expected = np.array([1, np.inf, 0, np.nan, math.exp(np.float32(88.72)), np.inf, np.inf, 0], np.float32)
    np.testing.assert_allclose(y[:8], expected, rtol=3e-7)
    np.testing.assert_allclose(y[8:10], np.exp(x[8:10].astype(np.float64)), atol=1.5e-45)


def test_relaxed_exp(rng):
    """Numbers below 2^-126 are kept."""
    x = rng.uniform(-104, 89, COUNT).astype(np.float32)
    x[:6] = np.inf, -np.inf, np.nan, 1e30, -1e30, 0
    y = np.full(COUNT, 7, np.float32)
    run(body_of("exp fastmath<afn>"), x, y)
    with np.errstate(over="ignore"):
        expected = np.exp(x.astype(np.float64))
    largest = float(np.finfo(np.float32).max)
    normal = expected < 0.999 * largest
    np.testing.assert_allclose(y[normal], expected[normal], rtol=2e-5, atol=1.5e-45)
    assert np.all(np.isinf(y[expected > 1.001 * largest]))
    assert np.isnan(y[2])
    low = (expected < 2.0**-126) & (expected > 2.0**-140)
    assert low.sum() > 500
    assert np.all(y[low] > 0)


@pytest.mark.parametrize("flags", ["", "fastmath<afn>"])
@pytest.mark.parametrize("numerator", ["1.0", "-0.5"])
def test_logistic_functions_of_bf16(rng, numerator, flags):
    """Powers are beside a 1, quotients of numbers from there on."""
    x = rng.uniform(-90, 90, COUNT).astype(np.float32)
    x[::2] /= 20
    x[:6] = np.inf, -np.inf, np.nan, 1e30, -1e30, 0
    y = np.full(COUNT, 7, np.float32)
    lines = ["%one = arith.constant 1.0 : f32", f"%c = arith.constant {numerator} : f32", "%m = arith.negf %x : f32"]
    lines += [f"%e = math.exp %m {flags} : f32", "%s = arith.addf %e, %one : f32", "%q = arith.divf %c, %s : f32"]
    lines += ["%n = arith.truncf %q : f32 to bf16", "%y = arith.extf %n : bf16 to f32"]
    run(body_of_lines(lines), x, y)
    with np.errstate(over="ignore"):
        expected = float(numerator) / (1 + np.exp(-x.astype(np.float64)))
    # Half a unit in the last place; below 2^-126 nothing is kept.
    np.testing.assert_allclose(y, expected, rtol=2.0**-8 * 1.01, atol=2.0**-126)


def test_tanh_of_zeros_infinities_and_nan():
    x = np.resize(np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, -1e-30, 50, -1e30], np.float32), COUNT)
    y = np.full(COUNT, 7, np.float32)
    run(body_of("tanh"), x, y)
    np.testing.assert_allclose(y[:9], np.tanh(x[:9].astype(np.float64)), rtol=3e-7)
    np.testing.assert_array_equal(np.signbit(y[:2]), [False, True])


def test_tanh_of_bf16(rng):
    """Its sign comes from the power."""
    x = (rng.uniform(-12, 12, COUNT) * rng.choice([1, 0.1, 1e-6], COUNT)).astype(np.float32)
    x[:6] = np.inf, -np.inf, np.nan, -0.0, 1e30, -1e30
    y = np.full(COUNT, 7, np.float32)
    run(body_of("tanh", narrow=True), x, y)
    rounded = x.astype(ml_dtypes.bfloat16).astype(np.float64)
    np.testing.assert_allclose(y, np.tanh(rounded), rtol=5e-7)
    assert np.signbit(y[3])
