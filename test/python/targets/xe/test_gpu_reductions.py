# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions whose operands are computed: what a kernel combines, and in which type, against NumPy."""

import ml_dtypes
import numpy as np
import pytest
import xetile
from xetile.mlir import ir

NUMPY = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}


def run(text, *arrays, **options):
    with ir.Context(), ir.Location.unknown():
        kernel = xetile.compile(ir.Module.parse(text), native="off", **{"target": "pvc", **options})
    return kernel(*arrays)


def over(rows, columns, dims):
    """|y| with the sign of what it is written over, x, then summed along one dimension."""
    kinds = ["reduction" if dim in dims else "parallel" for dim in range(2)]
    kept = [f"d{dim}" for dim in range(2) if dim not in dims]
    line = "x".join(str((rows, columns)[dim]) for dim in range(2) if dim not in dims)
    kind, result = f"tensor<{rows}x{columns}xf32>", f"tensor<{line}xf32>" if line else "tensor<f32>"
    return f"""#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%x: {kind}, %y: {kind}, %z: {result}) -> {result} {{
  %t = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%y : {kind}) outs(%x : {kind}) {{
  ^bb0(%a: f32, %o: f32):
    %r = math.copysign %a, %o : f32
    linalg.yield %r : f32
  }} -> {kind}
  %s = linalg.generic {{indexing_maps = [#id, affine_map<(d0, d1) -> ({", ".join(kept)})>],
      iterator_types = ["{kinds[0]}", "{kinds[1]}"]}} ins(%t : {kind}) outs(%z : {result}) {{
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  }} -> {result}
  return %s : {result}
}}
"""


@pytest.mark.parametrize("target", ["pvc", "bmg"])
@pytest.mark.parametrize(("rows", "columns", "dims"), [(4, 4, [0]), (37, 29, [0]), (37, 29, [1]), (5, 70, [0, 1])])
def test_what_a_reduction_reads_may_be_written_over_something_that_it_reads(rows, columns, dims, target):
    rng = np.random.default_rng(rows)
    x, y = (rng.standard_normal((rows, columns)).astype(np.float32) for _ in range(2))
    z = rng.standard_normal([(rows, columns)[dim] for dim in range(2) if dim not in dims]).astype(np.float32)
    expected = np.copysign(y, x).astype(np.float64).sum(tuple(dims)) + z
    assert np.abs(run(over(rows, columns, dims), x, y, z, target=target) - expected).max() < 1e-4


BESIDE = """#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @f(%x: tensor<7x21xf32>, %c: tensor<7x21xf32>, %z: tensor<7xf32>) -> tensor<7xf32> {
  %t, %s = linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<7x21xf32>) outs(%c, %z : tensor<7x21xf32>, tensor<7xf32>) {
  ^bb0(%a: f32, %o: f32, %q: f32):
    %r = arith.maximumf %a, %o : f32
    %u = arith.addf %q, %r : f32
    linalg.yield %r, %u : f32, f32
  } -> (tensor<7x21xf32>, tensor<7xf32>)
  return %s : tensor<7xf32>
}
"""


def test_an_op_of_several_results_reads_each_at_its_own_places():
    rng = np.random.default_rng(3)
    x, c = (rng.standard_normal((7, 21)).astype(np.float32) for _ in range(2))
    z = rng.standard_normal(7).astype(np.float32)
    expected = np.maximum(x, c).astype(np.float64).sum(1) + z
    assert np.abs(run(BESIDE, x, c, z, schedule="rows") - expected).max() < 1e-5


def products(dtype, sizes):
    """The sums over m and p of a[m, i, p] * b[m, p, j, k], which no matmul computes as it is."""
    m, p, i, j, k = sizes
    a, b, c = (f"tensor<{'x'.join(map(str, each))}x{dtype}>" for each in ((m, i, p), (m, p, j, k), (i, k, j)))
    return f"""func.func @f(%a: {a}, %b: {b}) -> {c} {{
  %zero = arith.constant 0.0 : {dtype}
  %any = tensor.empty() : {c}
  %none = linalg.fill ins(%zero : {dtype}) outs(%any : {c}) -> {c}
  %s = linalg.contract indexing_maps = [affine_map<(j, i, k, m, p) -> (m, i, p)>,
      affine_map<(j, i, k, m, p) -> (m, p, j, k)>, affine_map<(j, i, k, m, p) -> (i, k, j)>]
      ins(%a, %b : {a}, {b}) outs(%none : {c}) -> {c}
  return %s : {c}
}}
"""


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_products_of_narrow_factors_are_summed_unrounded(dtype):
    """Products of f16 beyond 65504 cancel in f32: neither do they overflow, nor does a rounding stay."""
    sizes, rng = (7, 4, 11, 5, 3), np.random.default_rng(5)
    a = rng.uniform(200, 400, (7, 11, 4)).astype(NUMPY[dtype])
    b = rng.uniform(200, 400, (7, 4, 5, 3)).astype(NUMPY[dtype])
    # Each product is there with both signs, but one.
    a[1], a[3], a[5] = -a[0], -a[2], -a[4]
    b[1], b[3], b[5], b[6] = b[0], b[2], b[4], 1
    a[6] = a[6] / 16
    expected = np.einsum("mip,mpjk->ikj", a.astype(np.float64), b.astype(np.float64))
    got = run(products(dtype, sizes), a, b).astype(np.float64)
    assert np.isfinite(got).all()
    tolerance = {"f16": 2e-3, "bf16": 1e-2}[dtype]
    assert np.abs(got / expected - 1).max() < tolerance


def test_a_product_that_is_a_tensor_is_rounded_before_it_is_summed():
    """The program says f16 between the two ops: infinity where the product is beyond it."""
    text = """#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%x: tensor<9x20xf16>) -> (tensor<9x20xf16>, tensor<9xf16>) {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<9x20xf16>
  %l = tensor.empty() : tensor<9xf16>
  %none = linalg.fill ins(%zero : f16) outs(%l : tensor<9xf16>) -> tensor<9xf16>
  %p = linalg.mul ins(%x, %x : tensor<9x20xf16>, tensor<9x20xf16>) outs(%e : tensor<9x20xf16>) -> tensor<9x20xf16>
  %s = linalg.reduce ins(%p : tensor<9x20xf16>) outs(%none : tensor<9xf16>) dimensions = [1]
    (%a: f16, %o: f16) {
      %r = arith.addf %a, %o : f16
      linalg.yield %r : f16
    }
  return %p, %s : tensor<9x20xf16>, tensor<9xf16>
}
"""
    x = np.ones((9, 20), np.float16)
    x[4, 7] = 300
    squares, sums = run(text, x)
    assert np.isinf(squares[4, 7]) and np.isinf(sums[4])
    assert (np.delete(sums, 4) == 20).all()


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize(("rows", "k"), [(9, 17), (12, 33), (13, 21)])
def test_elements_that_all_lanes_load_reach_their_own_rows(rows, k, dtype):
    """The last element of each row, behind whole vectors. For Intel's CPUs with AVX-512 the driver's compiler gives the
    second row the first one's, hence it compiles for AVX2 there.
    """
    a, b, c = (f"tensor<{'x'.join(map(str, shape))}x{dtype}>" for shape in ((rows, 1, k), (rows, k), (rows, 1)))
    text = f"""func.func @f(%a: {a}, %b: {b}, %c: {c}) -> {c} {{
  %r = linalg.batch_matvec ins(%a, %b : {a}, {b}) outs(%c : {c}) -> {c}
  return %r : {c}
}}
"""
    rng = np.random.default_rng(rows)
    left, right, old = (
        rng.integers(-4, 5, shape).astype(NUMPY[dtype]) for shape in ((rows, 1, k), (rows, k), (rows, 1))
    )
    expected = (left.astype(np.float64) @ right.astype(np.float64)[:, :, None])[:, :, 0] + old.astype(np.float64)
    np.testing.assert_array_equal(run(text, left, right, old).astype(np.float64), expected.astype(NUMPY[dtype]))
