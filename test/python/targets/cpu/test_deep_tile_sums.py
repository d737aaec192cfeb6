# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums of narrow floats are computed in f32, whatever operation makes them."""

from __future__ import annotations

import numpy as np
import pytest
from deep_tile_cases import compile_text
from xetile import schedule

K = 4096


def contract(shapes: tuple[str, str, str], dims: str, maps: tuple[str, str, str], kind: str) -> tuple[str, str]:
    types = [f"tensor<{shape}{'x' if shape else ''}{kind}>" for shape in shapes]
    listed = ", ".join(f"affine_map<({dims}) -> ({results})>" for results in maps)
    body = f"""
  %r = linalg.contract indexing_maps = [{listed}] ins(%a, %b : {types[0]}, {types[1]})
    outs(%c : {types[2]}) -> {types[2]}
  return %r : {types[2]}"""
    return body, f"(%a: {types[0]}, %b: {types[1]}, %c: {types[2]}) -> {types[2]}"


CONTRACTIONS = {
    "matmul": (("16x4096", "4096x16", "16x16"), "i,j,k", ("i,k", "k,j", "i,j")),
    "matvec": (("16x4096", "4096", "16"), "i,k", ("i,k", "k", "i")),
    "transposed matvec": (("4096x16", "4096", "16"), "i,k", ("k,i", "k", "i")),
    "vecmat": (("4096", "4096x16", "16"), "j,k", ("k", "k,j", "j")),
    "dot": (("4096", "4096", ""), "k", ("k", "k", "")),
    "batched matvec": (("4096x4x16", "4096x4", "4x16"), "b,j,k", ("k,b,j", "k,b", "b,j")),
    "batched dot": (("4x4096", "4x4096", "4"), "b,k", ("b,k", "b,k", "b")),
    "batched matmul": (("3x4x4096", "3x4096x5", "3x4x5"), "b,i,j,k", ("b,i,k", "b,k,j", "b,i,j")),
    "two reductions": (("4x64x64", "64x64", "4"), "i,k,l", ("i,k,l", "k,l", "i")),
    "one row": (("1x4096", "4096x16", "1x16"), "i,j,k", ("i,k", "k,j", "i,j")),
    "one element": (("1x4096", "4096x1", "1x1"), "i,j,k", ("i,k", "k,j", "i,j")),
    "one element, a reduction of one": (("1x1x4096", "4096x1x1", "1x1"), "i,j,l,k", ("l,i,k", "k,j,l", "j,i")),
}


@pytest.mark.parametrize("kind", ["bf16", "f16"])
@pytest.mark.parametrize("name", CONTRACTIONS)
def test_contractions(name, kind):
    shapes, dims, maps = CONTRACTIONS[name]
    kernel = compile_text(*contract(shapes, dims, maps, kind), threads=1)
    a, b, c = (np.ones(spec.shape, spec.numpy_dtype) for spec in kernel.arguments)
    # In bf16 a sum of ones ends at 256, in f16 at 2048.
    assert np.all(kernel(a, b, np.zeros_like(c)).astype("f4") == K)


@pytest.mark.parametrize("kind", ["bf16", "f16"])
@pytest.mark.parametrize("name", ["one row", "one element", "one element, a reduction of one"])
def test_contractions_that_a_schedule_leaves(rng, name, kind):
    """It tiles named operations."""
    shapes, dims, maps = CONTRACTIONS[name]
    types = [f"tensor<{shape.replace('4096', '13')}x{kind}>" for shape in shapes]
    listed = ", ".join(f"affine_map<({dims}) -> ({results})>" for results in maps)
    loops = ", ".join('"reduction"' if loop in "kl" else '"parallel"' for loop in dims.split(","))
    body = f"""
  %r = linalg.generic {{indexing_maps = [{listed}], iterator_types = [{loops}]}}
      ins(%a, %b : {types[0]}, {types[1]}) outs(%c : {types[2]}) {{
  ^bb0(%x: {kind}, %y: {kind}, %z: {kind}):
    %p = arith.mulf %x, %y : {kind}
    %s = arith.addf %z, %p : {kind}
    linalg.yield %s : {kind}
  }} -> {types[2]}
  return %r : {types[2]}"""
    own = schedule.load("cpu_matmul").with_values({"threads": 1})
    kernel = compile_text(body, f"(%a: {types[0]}, %b: {types[1]}, %c: {types[2]}) -> {types[2]}", schedule=own)
    half_unit = {"bf16": 2.0**-8, "f16": 2.0**-11}[kind]
    for _ in range(50):
        a, b, c = (rng.standard_normal(spec.shape).astype(spec.numpy_dtype) for spec in kernel.arguments)
        a64, b64 = a.astype("f8").reshape(1, 13), b.astype("f8").reshape(13, -1)
        exact = a64 @ b64 + c.astype("f8")
        sizes = np.abs(a64) @ np.abs(b64) + np.abs(c.astype("f8"))
        assert np.all(np.abs(kernel(a, b, c).astype("f8") - exact) <= half_unit * np.abs(exact) + 1e-5 * sizes)


STEPS = {"bf16": 2.0**-4, "f16": 2.0**-6}
"""Squares of 1 + step are rounded to 1 + 2 * step in these types."""


@pytest.mark.parametrize("kind", ["bf16", "f16"])
@pytest.mark.parametrize("name", ["dot", "matvec"])
def test_products_are_not_rounded(name, kind):
    shapes, maps = {"dot": (("2", "2", ""), ("k", "k", "")), "matvec": (("3x2", "2", "3"), ("i,k", "k", "i"))}[name]
    kernel = compile_text(*contract(shapes, "k" if name == "dot" else "i,k", maps, kind), threads=1)
    a, b, c = (np.zeros(spec.shape, spec.numpy_dtype) for spec in kernel.arguments)
    step = STEPS[kind]
    a[...] = [1 + step, 1]
    b[...] = [1 + step, -(1 + 2 * step)]
    assert np.all(kernel(a, b, c).astype("f4") == step**2)


@pytest.mark.parametrize("types", [("bf16", "f32"), ("f16", "f32")], ids="-".join)
def test_wide_results_of_narrow_operands(types):
    narrow, wide = types
    count = 1024
    signature = (
        f"(%a: tensor<16x{count}x{narrow}>, %b: tensor<{count}x{narrow}>, %c: tensor<16x{wide}>) -> tensor<16x{wide}>"
    )
    body = f"""
  %r = linalg.matvec ins(%a, %b : tensor<16x{count}x{narrow}>, tensor<{count}x{narrow}>)
    outs(%c : tensor<16x{wide}>) -> tensor<16x{wide}>
  return %r : tensor<16x{wide}>"""
    kernel = compile_text(body, signature, threads=1)
    a, b, c = (np.ones(spec.shape, spec.numpy_dtype) for spec in kernel.arguments)
    x = 1 + STEPS[narrow]
    assert np.all(kernel(np.full_like(a, x), np.full_like(b, x), c) == count * x**2 + 1)


def reduction(kind: str) -> tuple[str, str]:
    body = f"""
  %r = linalg.reduce {{arith.addf}} ins(%a : tensor<3x{K}x{kind}>) outs(%c : tensor<3x{kind}>) dimensions = [1]
  return %r : tensor<3x{kind}>"""
    return body, f"(%a: tensor<3x{K}x{kind}>, %c: tensor<3x{kind}>) -> tensor<3x{kind}>"


def pooling(kind: str) -> tuple[str, str]:
    body = f"""
  %w = tensor.empty() : tensor<64x64x{kind}>
  %r = linalg.pooling_nhwc_sum ins(%a, %w : tensor<1x64x64x2x{kind}>, tensor<64x64x{kind}>)
    outs(%c : tensor<1x1x1x2x{kind}>) -> tensor<1x1x1x2x{kind}>
  return %r : tensor<1x1x1x2x{kind}>"""
    return body, f"(%a: tensor<1x64x64x2x{kind}>, %c: tensor<1x1x1x2x{kind}>) -> tensor<1x1x1x2x{kind}>"


def squares(kind: str) -> tuple[str, str]:
    body = f"""
  %z = arith.constant 0.0 : {kind}
  %e = tensor.empty() : tensor<3x{kind}>
  %f = linalg.fill ins(%z : {kind}) outs(%e : tensor<3x{kind}>) -> tensor<3x{kind}>
  %r:2 = linalg.generic {{indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>,
      affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}}
      ins(%a : tensor<3x{K}x{kind}>) outs(%f, %c : tensor<3x{kind}>, tensor<3x{kind}>) {{
    ^bb0(%x: {kind}, %s: {kind}, %m: {kind}):
      %p = arith.mulf %x, %x : {kind}
      %t = arith.addf %s, %p : {kind}
      %n = arith.maximumf %m, %x : {kind}
      linalg.yield %t, %n : {kind}, {kind}
  }} -> (tensor<3x{kind}>, tensor<3x{kind}>)
  %q = arith.addf %r#0, %c : tensor<3x{kind}>
  %u = arith.addf %q, %r#1 : tensor<3x{kind}>
  %h = arith.subf %u, %r#1 : tensor<3x{kind}>
  return %r#0 : tensor<3x{kind}>"""
    return body, f"(%a: tensor<3x{K}x{kind}>, %c: tensor<3x{kind}>) -> tensor<3x{kind}>"


def differences(kind: str) -> tuple[str, str]:
    body = f"""
  %r = linalg.generic {{indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>],
      iterator_types = ["parallel", "reduction"]}} ins(%a : tensor<3x{K}x{kind}>) outs(%c : tensor<3x{kind}>) {{
    ^bb0(%x: {kind}, %s: {kind}):
      %n = arith.negf %x : {kind}
      %t = arith.subf %s, %n : {kind}
      linalg.yield %t : {kind}
  }} -> tensor<3x{kind}>
  return %r : tensor<3x{kind}>"""
    return body, f"(%a: tensor<3x{K}x{kind}>, %c: tensor<3x{kind}>) -> tensor<3x{kind}>"


@pytest.mark.parametrize("kind", ["bf16", "f16"])
@pytest.mark.parametrize("make", [reduction, pooling, squares, differences])
def test_reductions(make, kind):
    kernel = compile_text(*make(kind), threads=1)
    a, c = (np.ones(spec.shape, spec.numpy_dtype) for spec in kernel.arguments)
    assert np.all(kernel(a, np.zeros_like(c)).astype("f4") == K)


@pytest.mark.parametrize("kind", ["bf16", "f16"])
def test_convolutions(kind):
    types = [f"tensor<1x1x66x64x{kind}>", f"tensor<1x3x64x2x{kind}>", f"tensor<1x1x64x2x{kind}>"]
    body = f"""
  %r = linalg.conv_2d_nhwc_hwcf ins(%a, %b : {types[0]}, {types[1]}) outs(%c : {types[2]}) -> {types[2]}
  return %r : {types[2]}"""
    kernel = compile_text(body, f"(%a: {types[0]}, %b: {types[1]}, %c: {types[2]}) -> {types[2]}", threads=1)
    a, b, c = (np.ones(spec.shape, spec.numpy_dtype) for spec in kernel.arguments)
    # 4096 and 192 ones, rounded once: one by one they would be lost.
    assert np.all(kernel(a, b, np.full_like(c, K)).astype("f4") == K + 192)


@pytest.mark.parametrize("bits", [8, 16, 32])
def test_integers_wrap_around(rng, bits):
    kind = f"i{bits}"
    kernel = compile_text(*contract(("5x100", "100", "5"), "i,k", ("i,k", "k", "i"), kind), threads=1)
    dtype = kernel.arguments[0].numpy_dtype
    a, b, c = (rng.integers(-128, 128, spec.shape).astype(dtype) for spec in kernel.arguments)
    assert np.array_equal(kernel(a, b, c), (a.astype("i8") @ b.astype("i8") + c).astype(dtype))
