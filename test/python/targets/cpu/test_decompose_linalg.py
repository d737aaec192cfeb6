# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""linalg.softmax, pack, unpack, Winograd's transforms, and elements without a bit width, on the CPU against NumPy."""

from __future__ import annotations

import element_types
import numpy as np
import pytest
from deep_tile_cases import compile_text
from xetile import cpu
from xetile.mlir import ir

DTYPES = element_types.scalars("f16", "bf16", "f32", "f64")
# Of one rounding, or of sums and exponentials in f32.
TOLERANCES = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2e-6, "f64": 1e-13}


def softmax(dtype: str, shape: tuple[int, ...], dim: int, open_dims: str = ""):
    text = "x".join("?" if str(axis) in open_dims else str(size) for axis, size in enumerate(shape))
    kind = f"tensor<{text}x{dtype}>"
    return compile_text(
        f"%r = linalg.softmax dimension({dim}) ins(%x : {kind}) outs(%e : {kind}) -> {kind}\nreturn %r : {kind}",
        f"(%x: {kind}, %e: {kind}) -> {kind}",
        threads=1,
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("shape", "dim", "open_dims"), [((8, 64), 1, ""), ((5, 33), 0, ""), ((3, 7, 11), 1, "02"), ((70, 9), 1, "01")]
)
def test_softmax(rng, dtype, shape, dim, open_dims):
    x = (rng.standard_normal(shape) * 9).astype(DTYPES[dtype])
    x.reshape(-1)[0] = -np.inf
    got = softmax(dtype, shape, dim, open_dims)(x, np.full(shape, np.nan, DTYPES[dtype])).astype(np.float64)
    wide = x.astype(np.float64)
    powers = np.exp(wide - wide.max(dim, keepdims=True))
    np.testing.assert_allclose(got, powers / powers.sum(dim, keepdims=True), TOLERANCES[dtype], TOLERANCES[dtype] / 100)


def test_softmax_of_rows_with_nan_or_nothing_but_minus_infinity_is_nan():
    x = np.zeros((3, 20), np.float32)
    x[0, 7], x[1] = np.nan, -np.inf
    got = softmax("f32", (3, 20), 1)(x, np.zeros_like(x))
    assert np.isnan(got[:2]).all() and np.allclose(got[2], 1 / 20)


@pytest.mark.parametrize("is_open", [False, True], ids=["static", "open"])
@pytest.mark.parametrize(("size", "perm"), [((16, 3), (0, 1)), ((17, 10), (1, 0)), ((8, 4), (1, 0))])
def test_pack_and_unpack(rng, size, perm, is_open):
    outer = [-(-size[0] // 8), -(-size[1] // 4)]
    shape = [outer[dim] for dim in perm] + [8, 4]
    plain, packed = (
        f"tensor<{'?x?' if is_open else f'{sizes[0]}x{sizes[1]}'}{more}xf32>"
        for sizes, more in ((size, ""), (shape, "x8x4"))
    )
    how = f"outer_dims_perm = [{perm[0]}, {perm[1]}] inner_dims_pos = [0, 1] inner_tiles = [8, 4]"
    kernel = compile_text(
        f"""
  %z = arith.constant 7.0 : f32
  %0 = linalg.pack %a padding_value(%z : f32) {how} into %p : {plain} -> {packed}
  %1 = linalg.unpack %0 {how} into %u : {packed} -> {plain}
  return %0, %1 : {packed}, {plain}""",
        f"(%a: {plain}, %p: {packed}, %u: {plain}) -> ({packed}, {plain})",
        threads=1,
    )
    a = rng.standard_normal(size).astype(np.float32)
    got, back = kernel(a, np.full(shape, np.nan, np.float32), np.full(size, np.nan, np.float32))
    whole = np.pad(a, ((0, outer[0] * 8 - size[0]), (0, outer[1] * 4 - size[1])), constant_values=7)
    blocks = whole.reshape(outer[0], 8, outer[1], 4).transpose(0, 2, 1, 3)
    np.testing.assert_array_equal(got, blocks if perm == (0, 1) else blocks.transpose(1, 0, 2, 3))
    np.testing.assert_array_equal(back, a)


def test_explain_tells_what_softmax_becomes():
    kind = "tensor<8x64xf32>"
    text = f"""func.func @f(%x: {kind}, %e: {kind}) -> {kind} {{
  %r = linalg.softmax dimension(1) ins(%x : {kind}) outs(%e : {kind}) -> {kind}
  return %r : {kind} }}"""
    with ir.Context():
        said = cpu.explain(ir.Module.parse(text), threads=1)
    assert said.count("-:2:8: a loop nest of its own") == 4, said


def test_elements_of_type_index():
    t, r = "tensor<4x8xindex>", "tensor<4x8x2xindex>"
    kernel = compile_text(
        f"""
  %d = tensor.empty() : {r}
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (i, j, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]}} ins(%x : {t}) outs(%d : {r}) {{
  ^bb0(%a: index, %o: index):
    %k = linalg.index 2 : index
    %s = arith.addi %a, %k : index
    linalg.yield %s : index
  }} -> {r}
  return %r : {r}""",
        f"(%x: {t}) -> {r}",
        threads=1,
    )
    x = np.arange(-16, 16).reshape(4, 8)
    np.testing.assert_array_equal(kernel(x), np.stack([x, x + 1], -1))


def test_complex_elements_between(rng):
    """exp(x + iy) and a product, of which the parts are taken."""
    kernel = compile_text(
        """
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<4x6xcomplex<f32>>
  %1 = linalg.generic {indexing_maps = [
        affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<4x6xf32>, tensor<4x6xf32>) outs(%e : tensor<4x6xcomplex<f32>>) {
  ^bb0(%a: f32, %b: f32, %o: complex<f32>):
    %z = complex.create %a, %b : complex<f32>
    %p = complex.exp %z : complex<f32>
    %q = complex.mul %p, %z : complex<f32>
    linalg.yield %q : complex<f32>
  } -> tensor<4x6xcomplex<f32>>
  %2 = tensor.empty() : tensor<4x6x2xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (i, j, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%1 : tensor<4x6xcomplex<f32>>) outs(%2 : tensor<4x6x2xf32>) {
  ^bb0(%z: complex<f32>, %o: f32):
    %re = complex.re %z : complex<f32>
    %im = complex.im %z : complex<f32>
    %k = linalg.index 2 : index
    %first = arith.cmpi eq, %k, %c0 : index
    %part = arith.select %first, %re, %im : f32
    linalg.yield %part : f32
  } -> tensor<4x6x2xf32>
  return %3 : tensor<4x6x2xf32>""",
        "(%x: tensor<4x6xf32>, %y: tensor<4x6xf32>) -> tensor<4x6x2xf32>",
        threads=1,
    )
    x, y = rng.standard_normal((2, 4, 6)).astype(np.float32)
    z = x.astype(np.float64) + 1j * y
    expected = np.exp(z) * z
    np.testing.assert_allclose(kernel(x, y), np.stack([expected.real, expected.imag], -1), rtol=1e-5, atol=1e-6)


def test_winograds_transforms_give_the_convolution(rng):
    """F(2 x 2, 3 x 3) of an image of 6 x 6."""
    kernel = compile_text(
        """
  %0 = tensor.empty() : tensor<4x4x5x3xf32>
  %1 = linalg.winograd_filter_transform fmr(F_2_3) ins(%arg1 : tensor<3x3x3x5xf32>) outs(%0 : tensor<4x4x5x3xf32>)
      -> tensor<4x4x5x3xf32>
  %2 = tensor.empty() : tensor<4x4x2x2x2x5xf32>
  %3 = linalg.winograd_input_transform fmr(F_2_3) ins(%arg0 : tensor<2x6x6x5xf32>)
      outs(%2 : tensor<4x4x2x2x2x5xf32>) -> tensor<4x4x2x2x2x5xf32>
  %collapsed = tensor.collapse_shape %1 [[0, 1], [2], [3]] : tensor<4x4x5x3xf32> into tensor<16x5x3xf32>
  %collapsed_0 = tensor.collapse_shape %3 [[0, 1], [2, 3, 4], [5]] : tensor<4x4x2x2x2x5xf32> into tensor<16x8x5xf32>
  %4 = tensor.empty() : tensor<16x8x3xf32>
  %cst = arith.constant 0.000000e+00 : f32
  %5 = linalg.fill ins(%cst : f32) outs(%4 : tensor<16x8x3xf32>) -> tensor<16x8x3xf32>
  %6 = linalg.batch_matmul ins(%collapsed_0, %collapsed : tensor<16x8x5xf32>, tensor<16x5x3xf32>)
      outs(%5 : tensor<16x8x3xf32>) -> tensor<16x8x3xf32>
  %expanded = tensor.expand_shape %6 [[0, 1], [2, 3, 4], [5]] output_shape [4, 4, 2, 2, 2, 3] : tensor<16x8x3xf32>
      into tensor<4x4x2x2x2x3xf32>
  %7 = linalg.winograd_output_transform fmr(F_2_3) ins(%expanded : tensor<4x4x2x2x2x3xf32>)
      outs(%arg2 : tensor<2x4x4x3xf32>) -> tensor<2x4x4x3xf32>
  return %7 : tensor<2x4x4x3xf32>""",
        "(%arg0: tensor<2x6x6x5xf32>, %arg1: tensor<3x3x3x5xf32>, %arg2: tensor<2x4x4x3xf32>) -> tensor<2x4x4x3xf32>",
        threads=1,
    )
    image, weights = rng.standard_normal((2, 6, 6, 5)).astype("f4"), rng.standard_normal((3, 3, 3, 5)).astype("f4")
    windows = np.lib.stride_tricks.sliding_window_view(image.astype(np.float64), (3, 3), (1, 2))
    expected = np.einsum("nhwcij,fijc->nhwf", windows, weights)
    got = kernel(image, weights, np.zeros((2, 4, 4, 3), np.float32))
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4)
