# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Constant operands of deep-tiled matmuls, packed when they are compiled, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from deep_tile_cases import SMALL, T, compile_text, floats, tensor
from xetile import cpu
from xetile.kernels.signature import ArraySpec
from xetile.mlir import ir


def constant(values: np.ndarray, kind: str, *, resource: bool) -> tuple[str, str]:
    """An `arith.constant`'s value with these elements, and what the module needs besides."""
    data = values.tobytes().hex().upper()
    if not resource:
        return f'dense<"0x{data}"> : {tensor(values.shape, kind)}', ""
    text = f'{{-# dialect_resources: {{ builtin: {{ w: "0x{values.itemsize:02X}000000{data}" }} }} #-}}'
    return f"dense_resource<w> : {tensor(values.shape, kind)}", text


@pytest.mark.parametrize("kind", ["f32", "bf16"])
@pytest.mark.parametrize("transposed", [False, True], ids=["kn", "nk"])
@pytest.mark.parametrize("resource", [False, True], ids=["dense", "resource"])
@pytest.mark.parametrize("sizes", [(48, 56, 32), (100, 90, 71)], ids=lambda s: "x".join(map(str, s)))
def test_constant_weights_are_packed_by_the_compiler(rng, sizes, kind, transposed, resource):
    m, n, k = sizes
    dtype = ArraySpec((), kind).numpy_dtype
    weights = rng.uniform(-1, 1, (n, k) if transposed else (k, n)).astype(dtype)
    value, more = constant(weights, kind, resource=resource)
    a_type, w_type, c_type = tensor((m, k), kind), tensor(weights.shape, kind), tensor((m, n), "f32")
    second = "(m, n, k) -> (n, k)" if transposed else "(m, n, k) -> (k, n)"
    text = f"""
func.func @f(%a: {a_type}, %c: {c_type}) -> {c_type} {{
  %w = arith.constant {value}
  %d = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<{second}>,
      affine_map<(m, n, k) -> (m, n)>] ins(%a, %w : {a_type}, {w_type}) outs(%c : {c_type}) -> {c_type}
  return %d : {c_type}
}}
{more}"""
    with ir.Context():
        module = ir.Module.parse(text)
    a, c = rng.uniform(-1, 1, (m, k)).astype(dtype), rng.uniform(-1, 1, (m, n)).astype("f4")
    wide = weights.astype("f8")
    expected = a.astype("f8") @ (wide.T if transposed else wide) + c
    blocks = {**SMALL, "innermostKBlock": 8, "NThreads": 2}
    for options in ({"threads": 2}, {"threads": 2, "config": blocks}, {"threads": 1, "pack": "always"}):
        kernel = cpu.compile(module, **options)
        assert np.abs(kernel(a, c) - expected).max() < 1e-4 * k
        # The weights are there once, and nothing copies them to panels.
        memory = kernel.stages["2-memory"]
        assert memory.count("memref.global") == 1
        assert f"memref<{'x'.join(map(str, weights.shape))}x{kind}>" not in memory


def test_constant_a_is_packed_by_the_compiler(rng):
    values = rng.uniform(-1, 1, (50, 70)).astype("f4")
    value, _ = constant(values, "f32", resource=False)
    t, u = tensor((70, 40), "f32"), tensor((50, 40), "f32")
    text = f"  %a = arith.constant {value}\n  %d = linalg.matmul ins(%a, %b : {tensor((50, 70), 'f32')}, {t}) "
    for order in range(6):
        kernel = compile_text(
            f"{text} outs(%c : {u}) -> {u}\n  return %d : {u}",
            f"(%b: {t}, %c: {u}) -> {u}",
            threads=1,
            pack="always",
            config={**SMALL, "loopOrder": order},
        )
        b, c = floats(rng, (70, 40), (50, 40))
        assert np.allclose(kernel(b, c), values @ b + c, atol=1e-4)
        assert "memref<50x70xf32>" not in kernel.stages["2-memory"]


def test_two_matmuls_share_packed_weights(rng):
    weights = rng.uniform(-1, 1, (40, 40)).astype("f4")
    value, _ = constant(weights, "f32", resource=False)
    kernel = compile_text(
        f"""  %w = arith.constant {value}
  %d = linalg.matmul ins(%a, %w : {T}, {T}) outs(%b : {T}) -> {T}
  %q = linalg.matmul ins(%b, %w : {T}, {T}) outs(%d : {T}) -> {T}
  return %q : {T}""",
        f"(%a: {T}, %b: {T}) -> {T}",
        threads=2,
    )
    a, b = floats(rng, (40, 40), (40, 40))
    assert np.allclose(kernel(a, b), b @ weights + a @ weights + b, atol=1e-4)
    assert kernel.stages["2-memory"].count("memref.global") == 1


def test_splat_weights(rng):
    kernel = compile_text(
        f"""  %w = arith.constant dense<0.5> : {T}
  %d = linalg.matmul ins(%a, %w : {T}, {T}) outs(%b : {T}) -> {T}
  return %d : {T}""",
        f"(%a: {T}, %b: {T}) -> {T}",
        threads=1,
    )
    a, b = floats(rng, (40, 40), (40, 40))
    assert np.allclose(kernel(a, b), a @ np.full((40, 40), 0.5) + b, atol=1e-4)
