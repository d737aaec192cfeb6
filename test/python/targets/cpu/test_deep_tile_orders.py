# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Batched matmuls whose operands have their dimensions in any order: the batch's first, between, or last in memory."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from deep_tile_cases import compile_text, draw

SIZES = {
    "vectors along k": {"b": 2, "m": 1, "n": 2, "k": 21},
    "a column": {"b": 3, "m": 19, "n": 1, "k": 5},
    "a row": {"b": 2, "m": 1, "n": 40, "k": 17},
    "tiles": {"b": 2, "m": 20, "n": 35, "k": 18},
}


def orders(letters: str) -> list[str]:
    return ["".join(order) for order in itertools.permutations(letters)]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("types", [("f32", "f32"), ("i8", "i32"), ("bf16", "f32")], ids=["f32", "i8", "bf16"])
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_orders(rng, sizes, types):
    """Each order of each operand, in pairs by chance."""
    narrow, wide = types
    pairs = zip(
        rng.permutation(orders("bmk")), rng.permutation(orders("bkn")), rng.permutation(orders("bmn")), strict=True
    )
    for a, b, c in pairs:
        shapes = ["x".join(str(sizes[letter]) for letter in order) for order in (a, b, c)]
        kinds = [f"tensor<{shape}x{kind}>" for shape, kind in zip(shapes, (narrow, narrow, wide), strict=True)]
        maps = ", ".join(f"affine_map<(b, m, n, k) -> ({', '.join(order)})>" for order in (a, b, c))
        body = f"""
  %r = linalg.contract indexing_maps = [{maps}] ins(%a, %b : {kinds[0]}, {kinds[1]}) outs(%c : {kinds[2]}) -> {kinds[2]}
  return %r : {kinds[2]}"""
        kernel = compile_text(body, f"(%a: {kinds[0]}, %b: {kinds[1]}, %c: {kinds[2]}) -> {kinds[2]}", threads=1)
        arrays = [draw(rng, spec.shape, spec.numpy_dtype) for spec in kernel.arguments]
        x, y, z = (array.astype("f8" if wide == "f32" else "i8") for array in arrays)
        expected = z + np.einsum(f"{a},{b}->{c}", x, y)
        if wide == "i32":
            assert np.array_equal(kernel(*arrays), expected), (a, b, c)
        else:
            assert np.allclose(kernel(*arrays).astype("f8"), expected, rtol=1e-4, atol=1e-4), (a, b, c)


@pytest.mark.parametrize("order", orders("bmk"))
def test_operands_that_are_computed(rng, order):
    """What computes an operand is done block by block where a block's rows are rows of what it reads, too."""
    extents = {"b": 3, "m": 20, "k": 33, "n": 18}

    def of(dims):
        return f"tensor<{'x'.join(str(extents[dim]) for dim in dims)}xf32>"

    def affine(dims, space):
        return f"affine_map<({', '.join(space)}) -> ({', '.join(dims)})>"

    fused = []
    for read in orders("bmk"):
        kernel = compile_text(
            f"""
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {of(order)}
  %x = linalg.generic {{indexing_maps = [{affine(read, "bmk")}, {affine(order, "bmk")}],
      iterator_types = ["parallel", "parallel", "parallel"]}} ins(%a : {of(read)}) outs(%e : {of(order)}) {{
  ^bb0(%u: f32, %w: f32):
    %p = arith.addf %u, %u : f32
    linalg.yield %p : f32
  }} -> {of(order)}
  %f = tensor.empty() : {of("bmn")}
  %c = linalg.fill ins(%zero : f32) outs(%f : {of("bmn")}) -> {of("bmn")}
  %r = linalg.generic {{indexing_maps = [{affine(order, "bmnk")}, {affine("bkn", "bmnk")}, {affine("bmn", "bmnk")}],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}}
      ins(%x, %b : {of(order)}, {of("bkn")}) outs(%c : {of("bmn")}) {{
  ^bb0(%u: f32, %v: f32, %w: f32):
    %p = arith.mulf %u, %v : f32
    %q = arith.addf %p, %w : f32
    linalg.yield %q : f32
  }} -> {of("bmn")}
  return %r : {of("bmn")}""",
            f"(%a: {of(read)}, %b: {of('bkn')}) -> {of('bmn')}",
            threads=1,
        )
        a, b = (draw(rng, spec.shape, spec.numpy_dtype) for spec in kernel.arguments)
        assert np.allclose(kernel(a, b), np.einsum(f"{read},bkn->bmn", 2 * a, b), atol=1e-4), read
        if "arith.addf %in, %in " not in kernel.stages["1-tiled"]:  # no op of its own
            fused.append(read)
    inner = order.replace("b", "")
    assert fused == [read for read in orders("bmk") if read.replace("b", "") == inner]
