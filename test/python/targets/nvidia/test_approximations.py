# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Polynomials that stand for functions on Nvidia's GPUs, as the host computes them, against libm's in f64."""

import math
import re

import numpy as np
import pytest
from xetile import passes
from xetile.mlir import ir
from xetile_programs import run

COUNT = 20_000


def body_of(function: str) -> str:
    """A loop over %0 that writes to %1, the function as the pass leaves it."""
    with ir.Context():
        module = ir.Module.parse(
            f"""gpu.module @kernels {{
              gpu.func @f(%x: f32, %out: memref<f32>) {{
                %y = math.{function} %x : f32
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
        ("tanh", math.tanh, -12, 12, 5e-7),
        ("exp", math.exp, -80, 80, 5e-7),
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
