# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention in blocks of rows, on the CPU against NumPy, with caches so small that there are several blocks."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np
import pytest
from xetile import cpu
from xetile.errors import XeTileError
from xetile.kernels.kernel import Kernel
from xetile.mlir import ir

SMALL = """attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
  "L1_cache_size_in_bytes" = 256 : i32, "L2_cache_size_in_bytes" = 32768 : i32>>}"""


@dataclass(frozen=True)
class Sizes:
    """Of one attention: `heads` of queries for each of keys and values, `keys` of them, elements of each."""

    batch: int
    heads: int
    rows: int
    keys: int
    inner: int
    values: int

    def arrays(self, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        shapes = [
            (self.batch, self.heads, self.rows, self.inner),
            (self.batch, self.keys, self.inner),
            (self.batch, self.keys, self.values),
            (self.rows, self.keys),
        ]
        return tuple(rng.uniform(-2, 2, shape).astype("f4") for shape in shapes)


def attend(q: np.ndarray, k: np.ndarray, v: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """With `heads` that share keys: b h m d, b n d, b n e, m n."""
    q, k, v, bias = (x.astype("f8") for x in (q, k, v, bias))
    scores = np.einsum("bhmd,bnd->bhmn", q, k) + bias
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("bhmn,bne->bhme", powers / powers.sum(-1, keepdims=True), v)


def text(s: Sizes, returned: str = "%y", factor: str = "arith.divf", scale: float = 1.0) -> str:
    """The scores get a bias, powers are divided by their sums before values are added up."""
    scores, row = f"tensor<{s.batch}x{s.heads}x{s.rows}x{s.keys}xf32>", f"tensor<{s.batch}x{s.heads}x{s.rows}xf32>"
    q, k = f"tensor<{s.batch}x{s.heads}x{s.rows}x{s.inner}xf32>", f"tensor<{s.batch}x{s.keys}x{s.inner}xf32>"
    v, y = f"tensor<{s.batch}x{s.keys}x{s.values}xf32>", f"tensor<{s.batch}x{s.heads}x{s.rows}x{s.values}xf32>"
    bias = f"tensor<{s.rows}x{s.keys}xf32>"
    results = ", ".join({"%y": y, "%e": scores, "%s": scores}[name] for name in returned.split(", "))
    contraction = '"parallel", "parallel", "parallel", "parallel", "reduction"'
    both = '"parallel", "parallel", "parallel", "parallel"'
    rows = '"parallel", "parallel", "parallel", "reduction"'
    return f"""
#q = affine_map<(b, h, m, n, k) -> (b, h, m, k)>
#k = affine_map<(b, h, m, n, k) -> (b, n, k)>
#v = affine_map<(b, h, m, n, k) -> (b, k, n)>
#c = affine_map<(b, h, m, n, k) -> (b, h, m, n)>
#all = affine_map<(b, h, m, n) -> (b, h, m, n)>
#row = affine_map<(b, h, m, n) -> (b, h, m)>
#bias = affine_map<(b, h, m, n) -> (m, n)>
module {SMALL} {{
func.func @f(%q: {q}, %k: {k}, %v: {v}, %bias: {bias}) -> ({results}) {{
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : {scores}
  %er = tensor.empty() : {row}
  %ey = tensor.empty() : {y}
  %zs = linalg.fill ins(%zero : f32) outs(%es : {scores}) -> {scores}
  %zr = linalg.fill ins(%zero : f32) outs(%er : {row}) -> {row}
  %lr = linalg.fill ins(%lowest : f32) outs(%er : {row}) -> {row}
  %zy = linalg.fill ins(%zero : f32) outs(%ey : {y}) -> {y}
  %s = linalg.generic {{indexing_maps = [#q, #k, #c], iterator_types = [{contraction}]}}
      ins(%q, %k : {q}, {k}) outs(%zs : {scores}) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  }} -> {scores}
  %d = linalg.generic {{indexing_maps = [#all, #bias, #all], iterator_types = [{both}]}}
      ins(%s, %bias : {scores}, {bias}) outs(%es : {scores}) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %u = arith.addf %a, %b : f32
    %f = arith.constant {scale} : f32
    %t = arith.mulf %u, %f : f32
    linalg.yield %t : f32
  }} -> {scores}
  %max = linalg.generic {{indexing_maps = [#all, #row], iterator_types = [{rows}]}}
      ins(%d : {scores}) outs(%lr : {row}) {{
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %a, %o : f32
    linalg.yield %t : f32
  }} -> {row}
  %e = linalg.generic {{indexing_maps = [#all, #row, #all], iterator_types = [{both}]}}
      ins(%d, %max : {scores}, {row}) outs(%es : {scores}) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.subf %a, %b : f32
    %p = math.exp %t : f32
    linalg.yield %p : f32
  }} -> {scores}
  %sum = linalg.reduce {{ arith.addf }} ins(%e : {scores}) outs(%zr : {row}) dimensions = [3]
  %p = linalg.generic {{indexing_maps = [#all, #row, #all], iterator_types = [{both}]}}
      ins(%e, %sum : {scores}, {row}) outs(%es : {scores}) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = {factor} %a, %b : f32
    linalg.yield %t : f32
  }} -> {scores}
  %y = linalg.generic {{indexing_maps = [#q, #v, #c], iterator_types = [{contraction}]}}
      ins(%p, %v : {scores}, {v}) outs(%zy : {y}) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %x = arith.mulf %a, %b : f32
    %t = arith.addf %o, %x : f32
    linalg.yield %t : f32
  }} -> {y}
  return {returned} : {results}
}}
}}"""


def build(module: str, **options) -> Kernel:
    with ir.Context():
        return cpu.compile(ir.Module.parse(module), **options)


def scratch(kernel: Kernel) -> int:
    """Bytes of the largest tensor that is allocated."""
    found = re.findall(r"memref\.alloc\(\).*: memref<((?:\d+x)+)f32", str(kernel.stages.stage("2-memory").module))
    return max(math.prod(int(size) for size in sizes[:-1].split("x")) * 4 for sizes in found)


def shares_k(kernel: Kernel) -> bool:
    return any(int(count) > 1 for count in re.findall(r'"KThreads": (\d+)', kernel.explain()))


CASES = [
    Sizes(1, 1, 64, 64, 16, 16),
    Sizes(1, 1, 300, 129, 24, 40),
    Sizes(2, 3, 197, 197, 64, 64),
    Sizes(1, 4, 65, 1000, 32, 8),
    Sizes(3, 1, 2, 33, 5, 7),
    Sizes(1, 2, 515, 31, 33, 17),
    Sizes(1, 8, 9, 257, 128, 2),
    Sizes(5, 1, 129, 3, 64, 65),
    # Vectors along the keys of few values: of two blocks of one thread, of one each of several.
    Sizes(2, 2, 390, 16, 15, 4),
    # Two threads share k of its scores.
    Sizes(3, 1, 7, 3, 55, 2),
]


def random_sizes(rng: np.random.Generator) -> Sizes:
    most = (3, 3, 400, 300, 70, 70)
    return Sizes(*(int(rng.integers(1 if place < 2 else 2, size + 1)) for place, size in enumerate(most)))


@pytest.mark.parametrize("case", [*range(len(CASES)), *["random"] * 3])
def test_attention_is_as_in_numpy_on_any_number_of_threads(rng, case):
    sizes = random_sizes(rng) if case == "random" else CASES[case]
    arrays = sizes.arrays(rng)
    expected = attend(*arrays)
    first = None
    for threads in (1, 2, 3):
        kernel = build(text(sizes), threads=threads)
        out = np.full(expected.shape, np.nan, "f4")
        kernel(*arrays, out=out)
        np.testing.assert_allclose(out, expected, rtol=2e-5, atol=2e-5, err_msg=str(sizes))
        first = out if first is None else first
        # Few rows whose scores stay near are two matmuls, of which threads may share k: then sums have another order.
        if not shares_k(kernel):
            np.testing.assert_array_equal(out, first, err_msg=str(sizes))


def test_attention_is_recognised_by_its_structure(rng):
    sizes = Sizes(2, 3, 197, 197, 64, 64)
    said = build(text(sizes), threads=2).explain()
    assert "attention: blocks of 56 of 197 rows of scores, by 197 keys" in said
    assert "2x3 heads, rows in 1 part for threads" in said


def test_the_largest_scratch_does_not_grow_with_scores():
    """Keys times rows are sixteen times as many; keys and values, and a block's scores, four times."""
    small, large = (scratch(build(text(Sizes(1, 2, size, size, 32, 32)), threads=2)) for size in (256, 1024))
    whole = scratch(build(text(Sizes(1, 2, 1024, 1024, 32, 32)), threads=2, attention=False))
    assert whole == 2 * 1024 * 1024 * 4
    assert large == 4 * small == 64 * 1024 * 4


@pytest.mark.parametrize("returned", ["%y, %e", "%y, %s"])
def test_scores_that_are_results_stay_whole(rng, returned):
    sizes = Sizes(1, 2, 130, 67, 16, 24)
    kernel = build(text(sizes, returned), threads=2)
    assert "used elsewhere, too" in kernel.explain()
    arrays = sizes.arrays(rng)
    y, scores = kernel(*arrays)
    q, k, _, bias = arrays
    expected = np.einsum("bhmd,bnd->bhmn", q.astype("f8"), k.astype("f8"))
    if returned.endswith("%e"):
        expected = np.exp(expected + bias - (expected + bias).max(-1, keepdims=True))
    np.testing.assert_allclose(y, attend(*arrays), rtol=2e-5, atol=2e-5)
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-4)


def test_rows_that_a_bias_leaves_nothing_of_are_nan_as_in_numpy(rng):
    sizes = Sizes(1, 2, 150, 70, 16, 16)
    q, k, v, bias = sizes.arrays(rng)
    bias[rng.random(bias.shape) < 0.7] = -np.inf
    bias[:, 0] = 0
    bias[77] = -np.inf
    with np.errstate(invalid="ignore"):
        expected = attend(q, k, v, bias)
    np.testing.assert_allclose(build(text(sizes), threads=2)(q, k, v, bias), expected, rtol=2e-5, atol=2e-5)


def test_factors_that_are_no_sums_scale_rows(rng):
    """Products of powers and sums instead of quotients: the factor moves behind the second matmul, too."""
    sizes = Sizes(1, 2, 200, 33, 16, 20)
    arrays = sizes.arrays(rng)
    q, k, v, bias = (x.astype("f8") for x in arrays)
    scores = np.einsum("bhmd,bnd->bhmn", q, k) + bias
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    expected = np.einsum("bhmn,bne->bhme", powers * powers.sum(-1, keepdims=True), v)
    got = build(text(sizes, factor="arith.mulf"), threads=1)(*arrays)
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4)


def test_quotients_of_sums_by_powers_are_not_taken_for_factors(rng):
    """The other way around it is no linear function of powers."""
    sizes = Sizes(1, 2, 200, 33, 16, 20)
    arrays = sizes.arrays(rng)
    body = text(sizes, scale=0.01).replace("arith.divf %a, %b", "arith.divf %b, %a")
    q, k, v, bias = (x.astype("f8") for x in arrays)
    scores = (np.einsum("bhmd,bnd->bhmn", q, k) + bias) * 0.01
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    expected = np.einsum("bhmn,bne->bhme", powers.sum(-1, keepdims=True) / powers, v)
    np.testing.assert_allclose(build(body, threads=1)(*arrays), expected, rtol=1e-4, atol=1e-3)


def test_attention_can_be_left_alone(rng):
    sizes = Sizes(1, 2, 130, 67, 16, 24)
    arrays = sizes.arrays(rng)
    for options in ({"attention": False}, {"config": {"loopOrder": 0}}):
        kernel = build(text(sizes), threads=1, **options)
        assert "attention:" not in kernel.explain()
        np.testing.assert_allclose(kernel(*arrays), attend(*arrays), rtol=2e-5, atol=2e-5)
    with pytest.raises(XeTileError, match="attention: expected True or False"):
        build(text(sizes), attention="no")
