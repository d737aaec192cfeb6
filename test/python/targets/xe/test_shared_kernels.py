# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers that are alike: their kernels are compiled once and launched for each, on the weights of each."""

import numpy as np
import xetile
from xetile.mlir import ir
from xetile.reports.launches import Launches, launches_in

ROWS, WIDTH, LAYERS = 19, 23, 3
WIDE = f"tensor<{ROWS}x{WIDTH}xf32>"
WEIGHT = f"tensor<{WIDTH}x{WIDTH}xf32>"
PLACES = ", ".join(["affine_map<(i, j) -> (i, j)>"] * 3)


def program(scales):
    """y = y - scale * relu(y w), a softmax after each; one scale and weight for each layer."""
    lines = []
    for number, scale in enumerate(scales):
        lines.append(f"""
  %m{number} = linalg.matmul ins(%y{number}, %w{number} : {WIDE}, {WEIGHT}) outs(%zeros : {WIDE}) -> {WIDE}
  %s{number} = linalg.generic {{indexing_maps = [{PLACES}], iterator_types = ["parallel", "parallel"]}}
      ins(%y{number}, %m{number} : {WIDE}, {WIDE}) outs(%empty : {WIDE}) {{
  ^bb0(%a: f32, %b: f32, %unused: f32):
    %scale = arith.constant {scale} : f32
    %relu = arith.maximumf %b, %zero : f32
    %part = arith.mulf %scale, %relu : f32
    %left = arith.subf %a, %part : f32
    linalg.yield %left : f32
  }} -> {WIDE}
  %y{number + 1} = linalg.softmax dimension(1) ins(%s{number} : {WIDE}) outs(%empty : {WIDE}) -> {WIDE}""")
    arguments = ", ".join(f"%w{number}: {WEIGHT}" for number in range(len(scales)))
    with ir.Context():
        return ir.Module.parse(f"""
func.func @f(%y0: {WIDE}, {arguments}) -> {WIDE} {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : {WIDE}
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : {WIDE}) -> {WIDE}{"".join(lines)}
  return %y{len(scales)} : {WIDE}
}}""")


def expected(x, weights, scales):
    x = x.astype("f8")
    for weight, scale in zip(weights, scales, strict=True):
        x = x - scale * np.maximum(x @ weight.astype("f8"), 0)
        x = np.exp(x - x.max(1, keepdims=True))
        x /= x.sum(1, keepdims=True)
    return x


def compiled(scales):
    kernel = xetile.compile(program(scales), schedule="gpu_model", target="pvc", native="off")
    launches = launches_in(kernel.stages.stage("4-xegpu").module)
    return kernel, [each.places for each in launches.values()], launches


def test_layers_that_are_alike_are_compiled_once(rng):
    scales = [0.5] * LAYERS
    kernel, places, launches = compiled(scales)
    assert set(places) == {LAYERS} and len(places) <= 2
    assert all(each == Launches(LAYERS) for each in launches.values())
    x, *weights = (rng.standard_normal((ROWS if not n else WIDTH, WIDTH)).astype("f4") for n in range(LAYERS + 1))
    out = np.full((ROWS, WIDTH), np.nan, "f4")
    kernel(x, *weights, out=out)
    np.testing.assert_allclose(out, expected(x, weights, scales), atol=1e-5)


def test_layers_with_other_numbers_have_kernels_of_their_own(rng):
    scales = [0.5, 0.25, 0.5]
    kernel, places, _ = compiled(scales)
    assert len(places) > len(compiled([0.5] * LAYERS)[1])
    x, *weights = (rng.standard_normal((ROWS if not n else WIDTH, WIDTH)).astype("f4") for n in range(LAYERS + 1))
    np.testing.assert_allclose(kernel(x, *weights), expected(x, weights, scales), atol=1e-5)


def test_a_bias_that_two_kernels_read_is_not_repeated_in_memory(rng):
    k, m, n = 5, ROWS, WIDTH
    left, right, wide = f"tensor<{m}x{k}xf32>", f"tensor<{k}x{n}xf32>", f"tensor<{m}x{n}xf32>"
    with ir.Context():
        module = ir.Module.parse(f"""
func.func @f(%x: {left}, %v: {right}, %w: {right}, %bias: tensor<{n}xf32>) -> ({wide}, {wide}) {{
  %any = tensor.empty() : {wide}
  %b = linalg.broadcast ins(%bias : tensor<{n}xf32>) outs(%any : {wide}) dimensions = [0]
  %p = linalg.matmul ins(%x, %v : {left}, {right}) outs(%b : {wide}) -> {wide}
  %s = linalg.softmax dimension(1) ins(%p : {wide}) outs(%any : {wide}) -> {wide}
  %q = linalg.matmul ins(%x, %w : {left}, {right}) outs(%b : {wide}) -> {wide}
  return %s, %q : {wide}, {wide}
}}""")
    kernel = xetile.compile(module, schedule="gpu_model", target="pvc", native="off")
    assert not any("elementwise" in name for name in launches_in(kernel.stages.stage("4-xegpu").module))
    x, v, w, bias = (rng.standard_normal(shape).astype("f4") for shape in ((m, k), (k, n), (k, n), n))
    got = kernel(x, v, w, bias)
    first = np.exp((x.astype("f8") @ v + bias) - (x.astype("f8") @ v + bias).max(1, keepdims=True))
    np.testing.assert_allclose(got[0], first / first.sum(1, keepdims=True), atol=1e-5)
    np.testing.assert_allclose(got[1], x.astype("f8") @ w + bias, atol=1e-5)
