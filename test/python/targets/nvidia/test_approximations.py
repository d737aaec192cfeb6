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


def body_of(function: str, narrow: bool = False) -> str:
    """A loop over %0 that writes to %1, the function as the pass leaves it; `narrow`: of x rounded to bf16."""
    lines = ["%n = arith.truncf %x : f32 to bf16", "%w = arith.extf %n : bf16 to f32"] if narrow else []
    newline = "\n"
    with ir.Context():
        module = ir.Module.parse(
            f"""gpu.module @kernels {{
              gpu.func @f(%x: f32, %out: memref<f32>) {{
                {newline.join(lines)}
                %y = math.{function} {"%w" if narrow else "%x"} : f32
                memref.store %y, %out[] : memref<f32>
                gpu.return
              }}
            }}"""
        )
        passes.run(module, "gpu.module(xetile-approximate-math)")
        text = str(module)
    body = re.sub(r"%(\d+)", r"%v\1", text[text.index("{", text.index("gpu.func")) + 1 : text.index("gpu.return")])
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
