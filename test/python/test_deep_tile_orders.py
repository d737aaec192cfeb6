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
