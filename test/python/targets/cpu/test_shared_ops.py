# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Poolings, windows of convolutions, pads and transposes on any number of threads: the same numbers as NumPy's."""

from __future__ import annotations

import machines
import numpy as np
import pytest
from xetile import cpu
from xetile.mlir import ir

# Threads start for next to nothing, so that small ops have some.
MACHINE = machines.spec({"fork_ns": 1.0})
IMAGE = "tensor<2x7x13x15xf32>"


def windows(x: np.ndarray, stride: int = 1) -> np.ndarray:
    return np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))[:, :, ::stride, ::stride]


def convolution(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    return np.einsum("nchwij,fcij->nfhw", windows(x, 2), w)


STRIDES = "{dilations = dense<1> : vector<2xi64>, strides = dense<STRIDE> : vector<2xi64>}"
CASES = {
    "max pooling": (
        "%any = tensor.empty() : tensor<3x3xf32> "
        "%lows = linalg.fill ins(%lowest : f32) outs(%c : tensor<2x7x11x13xf32>) -> tensor<2x7x11x13xf32> "
        "%r = linalg.pooling_nchw_max " + STRIDES.replace("STRIDE", "1") +
        f" ins(%x, %any : {IMAGE}, tensor<3x3xf32>) outs(%lows : tensor<2x7x11x13xf32>) -> tensor<2x7x11x13xf32>",
        (1,), (2, 7, 11, 13), lambda x, w: windows(x).max((4, 5)),
    ),
    "depthwise": (
        "%r = linalg.depthwise_conv_2d_nchw_chw " + STRIDES.replace("STRIDE", "1") +
        f" ins(%x, %w : {IMAGE}, tensor<7x3x3xf32>) outs(%zeros : tensor<2x7x11x13xf32>) -> tensor<2x7x11x13xf32>",
        (7, 3, 3), (2, 7, 11, 13), lambda x, w: np.einsum("nchwij,cij->nchw", windows(x), w),
    ),
    "convolution": (
        "%r = linalg.conv_2d_nchw_fchw " + STRIDES.replace("STRIDE", "2") +
        f" ins(%x, %w : {IMAGE}, tensor<5x7x3x3xf32>) outs(%zeros : tensor<2x5x6x7xf32>) -> tensor<2x5x6x7xf32>",
        (5, 7, 3, 3), (2, 5, 6, 7), convolution,
    ),
    "transpose": (
        f"%r = linalg.transpose ins(%x : {IMAGE}) outs(%c : tensor<15x7x2x13xf32>) permutation = [3, 1, 0, 2]",
        (1,), (15, 7, 2, 13), lambda x, w: x.transpose(3, 1, 0, 2),
    ),
    "pad": (
        f"%r = tensor.pad %x low[0, 0, 1, 2] high[0, 1, 2, 1] {{ ^bb0(%a: index, %b: index, %d: index, %e: index): "
        f"tensor.yield %zero : f32 }} : {IMAGE} to tensor<2x8x16x18xf32>",
        (1,), (2, 8, 16, 18), lambda x, w: np.pad(x, ((0, 0), (0, 1), (1, 2), (2, 1))),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_ops_are_shared_by_threads(rng, name):
    body, filters, shape, function = CASES[name]
    result, weights = (f"tensor<{'x'.join(map(str, sizes))}xf32>" for sizes in (shape, filters))
    text = f"""module attributes {{dlti.target_system_spec = {MACHINE}}} {{
func.func @f(%x: {IMAGE}, %w: {weights}, %c: {result}) -> {result} {{
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %zeros = linalg.fill ins(%zero : f32) outs(%c : {result}) -> {result}
  {body}
  return %r : {result}
}} }}"""
    x = rng.integers(-9, 10, (2, 7, 13, 15)).astype("f4")
    w = rng.integers(-9, 10, filters).astype("f4")
    expected = function(x, w)
    for threads in (1, 2, 3):
        with ir.Context():
            kernel = cpu.compile(ir.Module.parse(text), threads=threads)
        got = kernel(x, w, rng.uniform(-1, 1, shape).astype("f4"))
        np.testing.assert_array_equal(got, expected)
        assert ("scf.forall" in kernel.stages["2-memory"]) == (threads > 1)
