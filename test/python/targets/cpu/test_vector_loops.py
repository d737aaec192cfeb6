# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions along each dimension, and windows of every step, on the CPU against NumPy."""

from __future__ import annotations

import itertools

import element_types
import numpy as np
import pytest
from deep_tile_cases import compile_text

DTYPES = element_types.scalars("f16", "bf16", "f32", "f64", "i8", "i32")
# The op on floats and on integers; NumPy's; what to begin with.
REDUCTIONS = {
    "sum": ("arith.addf", "arith.addi", np.add, 3),
    "product": ("arith.mulf", "arith.muli", np.multiply, 2),
    "max": ("arith.maximumf", "arith.maxsi", np.maximum, -2),
    "min": ("arith.minnumf", "arith.minsi", np.minimum, 2),
}


def values(rng: np.random.Generator, dtype: str, shape: tuple[int, ...], low: int = -2, high: int = 3) -> np.ndarray:
    """Integers so small that sums of some hundreds are exact in every type."""
    return rng.integers(low, high, shape).astype(DTYPES[dtype])


# 137 is eight vectors of f32 and a part, which are two rounds of four sums; 3 is less than a vector.
@pytest.mark.one_in(8)
@pytest.mark.parametrize("shape", [(5, 137), (137, 5), (7, 64), (2, 3), (1, 1), (3, 0)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reduction_along_each_dimension(rng, name, dtype, shape):
    on_floats, on_integers, function, start = REDUCTIONS[name]
    op = on_integers if dtype.startswith("i") else on_floats
    for axis, keep in itertools.product((0, 1), (False, True)):
        rest = "mn"[1 - axis]
        result = f"(m, n) -> ({', '.join('0' if i == axis else d for i, d in enumerate('mn')) if keep else rest})"
        kinds = ", ".join('"reduction"' if i == axis else '"parallel"' for i in range(2))
        size = [1 if i == axis else extent for i, extent in enumerate(shape) if keep or i != axis]
        outcome = f"tensor<{'x'.join(map(str, size))}x{dtype}>"
        a = f"tensor<{shape[0]}x{shape[1]}x{dtype}>"
        kernel = compile_text(
            f"""
  %r = linalg.generic {{indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<{result}>],
                        iterator_types = [{kinds}]}} ins(%a : {a}) outs(%c : {outcome}) {{
  ^bb0(%x: {dtype}, %before: {dtype}):
    %y = {op} %x, %before : {dtype}
    linalg.yield %y : {dtype}
  }} -> {outcome}
  return %r : {outcome}""",
            f"(%a: {a}, %c: {outcome}) -> {outcome}",
            threads=1,
        )
        array = values(rng, dtype, shape)
        if name == "product":  # mostly ones, of both signs, so that nothing overflows
            array = np.where(rng.random(shape) < 0.03, array, np.sign(array) + (array == 0)).astype(array.dtype)
        before = np.full(size, start, array.dtype)
        wide = array.astype(np.float64 if op == on_floats else np.int64)
        expected = function.reduce(wide, axis, keepdims=keep, initial=start).astype(array.dtype)
        np.testing.assert_array_equal(kernel(array, before), expected, err_msg=f"axis {axis}")


def test_sums_of_rows_are_as_exact_as_pairwise_ones(rng):
    a = rng.standard_normal((9, 10007)).astype(np.float32)
    kernel = compile_text(
        """
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<9x?xf32>) outs(%c : tensor<9xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %y = arith.mulf %x, %x : f32
    %z = arith.addf %y, %sum : f32
    linalg.yield %z : f32
  } -> tensor<9xf32>
  return %r : tensor<9xf32>""",
        "(%a: tensor<9x?xf32>, %c: tensor<9xf32>) -> tensor<9xf32>",
        threads=1,
    )
    exact = np.sum(a.astype(np.float64) ** 2, axis=1)
    # 64 partial sums or more: fewer than n/64 additions one after the other, each off by half a unit at most.
    np.testing.assert_allclose(kernel(a, np.zeros(9, np.float32)), exact, rtol=(10007 / 64 + 8) * 2.0**-24)


@pytest.mark.parametrize("order", ["nan first", "nan last", "none"])
def test_extremes_of_special_numbers(rng, order):
    """`maximumf` hands on a NaN wherever it stands, `maxnumf` none that has a number beside it; zeros have signs."""
    a = -rng.random((2, 75)).astype(np.float32)
    a[1] = -0.0
    if order != "none":
        a[0, 0 if order == "nan first" else 74] = np.nan
    a[0, 33] = 0.5
    for op in ("maximumf", "maxnumf"):
        kernel = compile_text(
            f"""
  %r = linalg.generic {{indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>],
                        iterator_types = ["parallel", "reduction"]}}
      ins(%a : tensor<2x75xf32>) outs(%c : tensor<2xf32>) {{
  ^bb0(%x: f32, %before: f32):
    %y = arith.{op} %x, %before : f32
    linalg.yield %y : f32
  }} -> tensor<2xf32>
  return %r : tensor<2xf32>""",
            "(%a: tensor<2x75xf32>, %c: tensor<2xf32>) -> tensor<2xf32>",
            threads=1,
        )
        got = kernel(a, np.full(2, -np.inf, np.float32))
        expected = np.max(a[0]) if op == "maximumf" else np.nanmax(a[0])
        np.testing.assert_array_equal(got[0], expected, err_msg=op)
        assert got[1] == 0 and (op == "maxnumf" or np.signbit(got[1]))


WINDOWS = [(stride, dilation) for stride in (1, 2, 3) for dilation in (1, 2)]


def taps(a: np.ndarray, window: int, stride: int, dilation: int, axis: int) -> np.ndarray:
    """`a` with a last dimension more: the elements of each window along `axis`."""
    spread = np.lib.stride_tricks.sliding_window_view(a, (window - 1) * dilation + 1, axis)
    return spread.take(range(0, spread.shape[axis], stride), axis)[..., ::dilation]


@pytest.mark.parametrize(("stride", "dilation"), WINDOWS)
@pytest.mark.parametrize("columns", [5, 40])
@pytest.mark.parametrize("dtype", ["bf16", "f32", "i32"])
def test_pooling(rng, stride, dilation, columns, dtype):
    a = values(rng, dtype, (2, 3, 20, columns + 18))
    windows = taps(taps(a, 3, stride, dilation, 2), 4, stride, dilation, 3)
    kind, init, expected = {
        "f": ("max", -np.inf, windows.max((-2, -1))),
        "V": ("max", -np.inf, windows.astype(np.float32).max((-2, -1)).astype(a.dtype)),
        "i": ("sum", 0, windows.sum((-2, -1), dtype=a.dtype)),
    }[a.dtype.kind]
    types = [f"tensor<{'x'.join(map(str, x.shape))}x{dtype}>" for x in (a, expected)]
    kernel = compile_text(
        f"""
  %w = tensor.empty() : tensor<3x4x{dtype}>
  %r = linalg.pooling_nchw_{kind} {{dilations = dense<{dilation}> : vector<2xi64>,
                                    strides = dense<{stride}> : vector<2xi64>}}
      ins(%a, %w : {types[0]}, tensor<3x4x{dtype}>) outs(%c : {types[1]}) -> {types[1]}
  return %r : {types[1]}""",
        f"(%a: {types[0]}, %c: {types[1]}) -> {types[1]}",
        threads=1,
    )
    np.testing.assert_array_equal(kernel(a, np.full(expected.shape, init).astype(a.dtype)), expected)


@pytest.mark.parametrize(("stride", "dilation"), WINDOWS)
@pytest.mark.parametrize("dtype", ["bf16", "f32", "i32"])
def test_depthwise_convolution(rng, stride, dilation, dtype):
    a, f = values(rng, dtype, (2, 5, 19, 43)), values(rng, dtype, (5, 3, 2))
    windows = taps(taps(a, 3, stride, dilation, 2), 2, stride, dilation, 3)
    wide = np.float64 if dtype != "i32" else np.int64
    expected = np.einsum("nchwij,cij->nchw", windows.astype(wide), f.astype(wide)).astype(a.dtype)
    types = [f"tensor<{'x'.join(map(str, x.shape))}x{dtype}>" for x in (a, f, expected)]
    kernel = compile_text(
        f"""
  %r = linalg.depthwise_conv_2d_nchw_chw {{dilations = dense<{dilation}> : vector<2xi64>,
                                           strides = dense<{stride}> : vector<2xi64>}}
      ins(%a, %f : {types[0]}, {types[1]}) outs(%c : {types[2]}) -> {types[2]}
  return %r : {types[2]}""",
        f"(%a: {types[0]}, %f: {types[1]}, %c: {types[2]}) -> {types[2]}",
        threads=1,
    )
    np.testing.assert_array_equal(kernel(a, f, np.zeros_like(expected)), expected)
