# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What transform.xetile.online makes, on tensors, compiled for this CPU and compared with NumPy in f64."""

from __future__ import annotations

import numpy as np
import pytest
import xetile
from attention_programs import Attention
from xetile.mlir import ir

SCHEDULE = """
module attributes {{transform.with_named_sequence}} {{
  transform.named_sequence @__transform_main(%module: !transform.any_op {{transform.consumed}}) -> !transform.any_op {{
    %simple = transform.apply_registered_pass "xetile-simplify-attention" to %module
        : (!transform.any_op) -> !transform.any_op
    %func = transform.structured.match ops{{["func.func"]}} in %simple : (!transform.any_op) -> !transform.any_op
    %block = transform.param.constant {block} : i64 -> !transform.param<i64>
    %loop = transform.xetile.online %func block = %block
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield %simple : !transform.any_op
  }}
}}
"""

SOFTMAX = """
#all = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#one = affine_map<(m) -> (m)>
func.func @softmax(%x: tensor<{m}x{n}xf32>) -> (tensor<{m}x{n}xf32>, tensor<{m}xf32>) {{
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<{m}x{n}xf32>
  %r = tensor.empty() : tensor<{m}xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%r : tensor<{m}xf32>) -> tensor<{m}xf32>
  %lr = linalg.fill ins(%low : f32) outs(%r : tensor<{m}xf32>) -> tensor<{m}xf32>
  %top = linalg.generic {{indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}}
      ins(%x : tensor<{m}x{n}xf32>) outs(%lr : tensor<{m}xf32>) {{
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %a, %o : f32
    linalg.yield %t : f32
  }} -> tensor<{m}xf32>
  %p = linalg.generic {{indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}}
      ins(%x, %top : tensor<{m}x{n}xf32>, tensor<{m}xf32>) outs(%e : tensor<{m}x{n}xf32>) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %t = math.exp %d : f32
    linalg.yield %t : f32
  }} -> tensor<{m}x{n}xf32>
  %l = linalg.generic {{indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}}
      ins(%p : tensor<{m}x{n}xf32>) outs(%zr : tensor<{m}xf32>) {{
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %o, %a : f32
    linalg.yield %t : f32
  }} -> tensor<{m}xf32>
  %y = linalg.generic {{indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}}
      ins(%p, %l : tensor<{m}x{n}xf32>, tensor<{m}xf32>) outs(%e : tensor<{m}x{n}xf32>) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.divf %a, %b : f32
    linalg.yield %t : f32
  }} -> tensor<{m}x{n}xf32>
  %s = linalg.generic {{indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]}}
      ins(%top, %l : tensor<{m}xf32>, tensor<{m}xf32>) outs(%r : tensor<{m}xf32>) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %g = math.log %b : f32
    %t = arith.addf %a, %g : f32
    linalg.yield %t : f32
  }} -> tensor<{m}xf32>
  return %y, %s : tensor<{m}x{n}xf32>, tensor<{m}xf32>
}}
"""


@pytest.fixture
def online(tmp_path):
    """Compiles a program for this CPU, its dependent reductions in blocks."""

    def compile_(text, block):
        path = tmp_path / f"online_{block}.mlir"
        path.write_text(SCHEDULE.format(block=block))
        with ir.Context(), ir.Location.unknown():
            return xetile.compile(ir.Module.parse(text), str(path), "cpu")

    return compile_


@pytest.mark.parametrize("keys,block", [(64, 16), (70, 16), (5, 16), (33, 32)])
@pytest.mark.parametrize("mask", ["none", "causal", "selected"])
def test_attention_in_blocks_is_as_it_was(online, keys, block, mask):
    case = Attention(rows=19, keys=keys, inner=8, values=12, dtype="f32", mask=mask)
    arrays = case.arrays()
    got = online(case.text(), block)(*arrays)
    np.testing.assert_allclose(got, case.reference(arrays), rtol=2e-5, atol=2e-5)


def test_sums_of_narrow_floats_are_carried_wide_and_divided_in_the_end(online):
    case = Attention(rows=8, keys=500, inner=8, values=8, dtype="f16")
    arrays = case.arrays()
    got = online(case.text(), 16)(*arrays)
    np.testing.assert_allclose(got, case.reference(arrays), atol=2e-3)


def softmax(x):
    with np.errstate(all="ignore"):
        top = x.max(-1, keepdims=True)
        powers = np.exp(x - top)
        total = powers.sum(-1, keepdims=True)
        return powers / total, (top + np.log(total))[:, 0]


@pytest.mark.parametrize("block", [1, 8, 24, 100])
def test_softmax_and_logarithm_of_its_sum(online, block):
    x = np.random.default_rng(1).standard_normal((6, 50)).astype(np.float32) * 30
    got = online(SOFTMAX.format(m=6, n=50), block)(x)
    for one, other in zip(got, softmax(x.astype(np.float64)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_infinities_and_nan_are_as_they_were(online):
    x = np.random.default_rng(2).standard_normal((7, 24)).astype(np.float32)
    x[0, :8] = -np.inf  # a first block of nothing
    x[1, 8:16] = -np.inf  # one between
    x[2, :23] = -np.inf  # all but one
    x[3] = -np.inf  # all
    x[4, 3] = np.inf
    x[5, 20] = np.nan
    got = online(SOFTMAX.format(m=7, n=24), 8)(x)
    for one, other in zip(got, softmax(x.astype(np.float64)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
        assert np.isnan(np.asarray(one).reshape(7, -1)[3:6]).any(axis=1).all()
        assert np.isfinite(np.asarray(one).reshape(7, -1)[:3]).all()


# A mean by `mean` of the sum %b, what lies between it and the elements squared by `square`, their sum by `scale` of it.
VARIANCE = """
#all = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
func.func @variance(%x: tensor<{m}x{n}x{dtype}>) -> (tensor<{m}xf32>, tensor<{m}xf32>) {{
  %zero = arith.constant 0.0 : f32
  %r = tensor.empty() : tensor<{m}xf32>
  %e = tensor.empty() : tensor<{m}x{n}xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<{m}xf32>) -> tensor<{m}xf32>
  %s = linalg.generic {{indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}}
      ins(%x : tensor<{m}x{n}x{dtype}>) outs(%z : tensor<{m}xf32>) {{
  ^bb0(%a: {dtype}, %o: f32):
    {widen}
    %t = arith.addf %o, %w : f32
    linalg.yield %t : f32
  }} -> tensor<{m}xf32>
  %d = linalg.generic {{indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}}
      ins(%x, %s : tensor<{m}x{n}x{dtype}>, tensor<{m}xf32>) outs(%e : tensor<{m}x{n}xf32>) {{
  ^bb0(%a: {dtype}, %b: f32, %o: f32):
    {widen}
    %n = arith.constant {n}.0 : f32
    {mean}
    {far}
    linalg.yield %t : f32
  }} -> tensor<{m}x{n}xf32>
  %q = linalg.generic {{indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}}
      ins(%d : tensor<{m}x{n}xf32>) outs(%z : tensor<{m}xf32>) {{
  ^bb0(%a: f32, %o: f32):
    %two = arith.constant 2.0 : f32
    {square}
    {scale}
    %t = arith.addf %o, %g : f32
    linalg.yield %t : f32
  }} -> tensor<{m}xf32>
  return %s, %q : tensor<{m}xf32>, tensor<{m}xf32>
}}
"""
QUOTIENT = "%mean = arith.divf %b, %n : f32"
NEAR, OPPOSITE = "%t = arith.subf %w, %mean : f32", "%t = arith.subf %mean, %w : f32"
PRODUCT, POWER = "%p = arith.mulf %a, %a : f32", "%p = math.powf %a, %two : f32"
TWICE = "%g = arith.mulf %p, %two : f32"


def variance(dtype="f32", m=5, n=200, mean=QUOTIENT, far=NEAR, square=PRODUCT, scale=TWICE):
    widen = "%w = arith.extf %a : f16 to f32" if dtype == "f16" else "%w = arith.addf %a, %zero : f32"
    return VARIANCE.format(dtype=dtype, m=m, n=n, widen=widen, mean=mean, far=far, square=square, scale=scale)


@pytest.mark.parametrize("block", [1, 7, 64, 200])
@pytest.mark.parametrize("spelling", [{}, {"far": OPPOSITE}, {"square": POWER}, {"dtype": "f16"}])
def test_variances_far_from_zero_keep_their_digits(online, block, spelling):
    seed = np.random.SeedSequence().entropy
    x = (np.random.default_rng(seed).standard_normal((5, 200)) + 1000).astype(
        np.float16 if spelling.get("dtype") else np.float32
    )
    wide = x.astype(np.float64)
    total, squares = online(variance(**spelling), block)(x)
    np.testing.assert_allclose(total, wide.sum(1), rtol=1e-6, err_msg=f"seed {seed}")
    expected = 2 * ((wide - wide.mean(1, keepdims=True)) ** 2).sum(1)
    # Each of many blocks rounds the sum of all, a thousand times a distance, once more.
    np.testing.assert_allclose(squares, expected, rtol=2e-5 if block >= 64 else 5e-4, err_msg=f"seed {seed}")


def test_squares_are_about_what_the_program_says_if_that_is_no_mean(online):
    x = np.random.default_rng(3).standard_normal((5, 200)).astype(np.float32)
    half = "%h = arith.constant 0.25 : f32\n%mean = arith.mulf %b, %h : f32"
    _, squares = online(variance(mean=half), 64)(x)
    wide = x.astype(np.float64)
    expected = 2 * ((wide - wide.sum(1, keepdims=True) / 4) ** 2).sum(1)
    np.testing.assert_allclose(squares, expected, rtol=2e-6)


def test_variances_of_infinities_and_nan_are_nan(online):
    x = np.random.default_rng(4).standard_normal((5, 200)).astype(np.float32)
    x[1, 3], x[2, 199], x[3, 70] = np.inf, -np.inf, np.nan
    _, squares = online(variance(), 64)(x)
    assert np.isnan(squares).tolist() == [False, True, True, True, False]
