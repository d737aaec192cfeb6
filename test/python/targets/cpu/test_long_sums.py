# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums of millions of f32 on CPUs lose no digits: blocks of some hundreds (xetile-block-sums), against NumPy in f64."""

from __future__ import annotations

import numpy as np
import pytest
from xetile import cpu
from xetile.mlir import ir

# A sum one after the other is 3 % off at this length.
_LONG = 3_000_001


def _sum_of(shape: str, result: str, dims: str, element: str = "f32") -> str:
    result = f"{result}x{element}" if result else element
    return f"""func.func @sum(%x: tensor<{shape}x{element}>, %z: tensor<{result}>) -> tensor<{result}> {{
  %r = linalg.reduce {{arith.addf}} ins(%x : tensor<{shape}x{element}>)
    outs(%z : tensor<{result}>) dimensions = [{dims}]
  return %r : tensor<{result}>
}}"""


def _compile(text: str) -> cpu.Kernel:
    with ir.Context():
        return cpu.compile(ir.Module.parse(text), threads=1)


@pytest.mark.parametrize(
    ("shape", "result", "dims"),
    [
        ((_LONG, 2), (2,), (0,)),
        ((2, _LONG), (2,), (1,)),
        ((_LONG,), (), (0,)),
        ((300, 2, 7001), (2,), (0, 2)),
        ((300_001, 2, 3), (2,), (0, 2)),
        ((5001, 3, 101), (3, 101), (0,)),
    ],
)
@pytest.mark.parametrize("known", [True, False], ids=["static", "dynamic"])
def test_a_long_sum_is_as_exact_as_a_short_one(shape, result, dims, known):
    text = _sum_of(
        "x".join(map(str, shape) if known else "?" * len(shape)),
        "x".join(map(str, result) if known else "?" * len(result)),
        ", ".join(map(str, dims)),
    )
    x = np.full(shape, 0.1, np.float32)
    z = np.full(result, 2.5, np.float32)
    got = np.asarray(_compile(text)(x, z))
    want = 2.5 + x.astype(np.float64).sum(dims)
    np.testing.assert_allclose(got, want, rtol=5e-6)


def test_products_of_long_vectors_are_summed_by_blocks():
    text = f"""func.func @dot(%x: tensor<{_LONG}xf32>, %y: tensor<{_LONG}xf32>, %z: tensor<f32>) -> tensor<f32> {{
  %r = linalg.dot ins(%x, %y : tensor<{_LONG}xf32>, tensor<{_LONG}xf32>) outs(%z : tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}}"""
    x = np.full(_LONG, 0.1, np.float32)
    got = np.asarray(_compile(text)(x, x, np.zeros((), np.float32)))
    np.testing.assert_allclose(got, x.astype(np.float64) @ x.astype(np.float64), rtol=5e-6)


@pytest.mark.parametrize(
    ("shape", "dims"),
    [((64, 32_768), (1,)), ((512, 64), (0,)), ((16, 32, 64), (0, 1)), ((5000, 64), (0,)), ((8, 4_000_000), (1,))],
)
def test_errors_are_those_of_chains_of_some_dozens_of_additions(shape, dims):
    x = np.random.default_rng(0).standard_normal(shape, np.float32)
    want, sizes = x.sum(dims, np.float64), np.abs(x).sum(dims, np.float64)
    text = _sum_of("x".join(map(str, shape)), str(len(want)), ", ".join(map(str, dims)))
    error = np.abs(_compile(text)(x, np.zeros(len(want), np.float32)) - want) / sizes
    # Roundings are as random as signs; of 512 in a row this is 20 and more.
    count = x.size / len(want)
    assert error.max() / 2**-24 * np.sqrt(count) < 16


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_goes_through_blocks(special):
    x = np.full((3001, 2), 0.1, np.float32)
    x[2999, 1] = special
    got = _compile(_sum_of("3001x2", "2", "0"))(x, np.zeros(2, np.float32))
    np.testing.assert_allclose(got, x.astype(np.float64).sum(0), rtol=5e-6)


def test_a_sum_of_minus_zeros_keeps_its_sign():
    x, z = np.full((3001, 2), -0.0, np.float32), np.array([-0.0, 0.0], np.float32)
    got = _compile(_sum_of("3001x2", "2", "0"))(x, z)
    assert np.signbit(got).tolist() == [True, False]


@pytest.mark.parametrize("element", ["f16", "f32", "f64"])
@pytest.mark.parametrize(
    ("shape", "result", "dims", "sizes"),
    [
        ("0x?", "", "0, 1", (0, 64)),
        ("?x0", "", "0, 1", (3, 0)),
        ("?x0", "?", "1", (3, 0)),
        ("0x?", "?", "0", (0, 5)),
        ("0x3000", "3000", "0", (0, 3000)),
        ("0x?", "0", "1", (0, 3000)),
    ],
)
def test_sums_of_no_elements_are_what_they_started_from(shape, result, dims, sizes, element):
    dtype = {"f16": np.float16, "f32": np.float32, "f64": np.float64}[element]
    kernel = _compile(_sum_of(shape, result, dims, element))
    axes = tuple(int(dim) for dim in dims.split(","))
    start = np.full(np.zeros(sizes).sum(axis=axes).shape, 3.5, dtype)
    np.testing.assert_array_equal(kernel(np.empty(sizes, dtype), start), start, strict=True)
