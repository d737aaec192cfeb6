# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions of rows that fit no workgroup's registers, or that are few: in blocks of their own kernel, whose results
are reduced by another (xetile-split-reductions). Against NumPy in f64."""

import re

import numpy as np
import pytest
import xetile
from gpu_programs import DTYPES, function, named_softmax, tensor
from xetile.mlir import ir

ALL, ROW = "affine_map<(m, n) -> (m, n)>", "affine_map<(m, n) -> (m)>"


@pytest.fixture
def compiled():
    def compile_(text, target="pvc"):
        with ir.Context(), ir.Location.unknown():
            return xetile.compile(ir.Module.parse(text), target=target, native="off")

    return compile_


def kernels(kernel):
    """The names of a program's kernels."""
    return re.findall(r"gpu\.func @(\w+)", kernel.stages["4-xegpu"])


def fresh(shape, dtype, scale=1.0, shift=0.0):
    """An array and the seed that gives it again."""
    seed = np.random.SeedSequence().entropy
    return (np.random.default_rng(seed).standard_normal(shape) * scale + shift).astype(DTYPES[dtype]), f"seed {seed}"


def reduction(name, dtype, shape, inputs, kept, combiner, init, result="f32", body=""):
    """A linalg.generic that reduces along n of inputs (name, type); the body has %w of %a0, %a1, .."""
    out = f"tensor<{kept}x{result}>"
    maps = ", ".join([ALL if f"{shape[1]}x" in kind else ROW for _, kind in inputs] + [ROW])
    names, kinds = (", ".join(each) for each in zip(*inputs, strict=True))
    arguments = ", ".join(f"%a{i}: {kind.rstrip('>').split('x')[-1]}" for i, (_, kind) in enumerate(inputs))
    return f"""
  {name}c = arith.constant {init} : {result}
  {name}e = tensor.empty() : {out}
  {name}z = linalg.fill ins({name}c : {result}) outs({name}e : {out}) -> {out}
  {name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "reduction"]}}
      ins({names} : {kinds}) outs({name}z : {out}) {{
  ^bb0({arguments}, %o: {result}):
    {body}
    %t = arith.{combiner} %o, %w : {result}
    linalg.yield %t : {result}
  }} -> {out}
"""


@pytest.mark.parametrize(
    ("rows", "n", "dtype"), [(1, 60000, "f32"), (3, 16411, "f16"), (2, 20000, "bf16"), (5, 16385, "f32")]
)
def test_sums_and_maxima_of_few_rows_are_shared_by_many_workgroups(compiled, rows, n, dtype):
    x, seed = fresh((rows, n), dtype, shift=-9.0)  # a zero behind the end would be the maximum
    kind = tensor((rows, n), dtype)
    widen = f"%w = arith.extf %a0 : {dtype} to f32" if dtype != "f32" else "%w = arith.mulf %a0, %one : f32"
    text = f"func.func @f(%x: {kind}) -> (tensor<{rows}xf32>, tensor<{rows}xf32>) {{\n%one = arith.constant 1.0 : f32"
    for name, combiner, init in (("%s", "addf", "0.0"), ("%m", "maximumf", "0xFF800000")):
        text += reduction(name, dtype, (rows, n), [("%x", kind)], rows, combiner, init, body=widen)
    text += f"return %s, %m : tensor<{rows}xf32>, tensor<{rows}xf32>\n}}\n"
    kernel = compiled(text)
    assert len(kernels(kernel)) == 2
    if rows > 1:
        x[1, n - 1] = np.nan
    total, top = kernel(x)
    wide = x.astype(np.float64)
    np.testing.assert_allclose(total, wide.sum(1), rtol=1e-5, err_msg=seed)
    np.testing.assert_array_equal(top, wide.max(1).astype(np.float32), seed)


@pytest.mark.parametrize(
    ("shape", "dtype", "target"), [((3, 17000), "f32", "pvc"), ((4, 16411), "f16", "bmg"), ((70, 16800), "bf16", "pvc")]
)
def test_a_softmax_of_long_rows_reads_them_twice(compiled, shape, dtype, target):
    body, arguments = named_softmax(shape, dtype, 1)
    kernel = compiled(function(arguments, [("%y", tensor(shape, dtype))], body), target)
    assert len(kernels(kernel)) == 3
    x, seed = fresh(shape, dtype, scale=5)
    x[0, : shape[1] // 3] = -np.inf  # blocks of nothing
    x[1] = -np.inf  # a row of nothing
    x[2, 77] = np.nan
    got = np.asarray(kernel(x)).astype(np.float64)
    with np.errstate(all="ignore"):
        powers = np.exp(x.astype(np.float64) - x.astype(np.float64).max(1, keepdims=True))
        expected = powers / powers.sum(1, keepdims=True)
    tolerance = {"f32": 2e-6, "f16": 2e-3, "bf16": 1e-2}[dtype]
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=1e-7 if dtype != "f16" else 1e-6, err_msg=seed)


@pytest.mark.parametrize(("rows", "n", "dtype"), [(3, 20000, "f32"), (2, 17011, "f16"), (300, 16640, "f32")])
def test_variances_of_long_rows_far_from_zero_keep_their_digits(compiled, rows, n, dtype):
    shift = 1000.0 if dtype == "f32" else 3.0
    x, seed = fresh((rows, n), dtype, shift=shift)
    kind, out, wide = tensor((rows, n), dtype), f"tensor<{rows}xf32>", tensor((rows, n), "f32")
    widen = f"%w = arith.extf %a0 : {dtype} to f32" if dtype != "f32" else "%w = arith.mulf %a0, %one : f32"
    text = f"func.func @f(%x: {kind}) -> ({out}, {out}) {{\n%one = arith.constant 1.0 : f32"
    text += reduction("%s", dtype, (rows, n), [("%x", kind)], rows, "addf", "0.0", body=widen)
    mean = f"%n = arith.constant {n}.0 : f32\n%mean = arith.divf %a1, %n : f32\n"
    far = f"{widen}\n{mean}%f = arith.subf %w, %mean : f32\nlinalg.yield %f : f32\n"
    maps = [ALL, ROW, ALL]
    text += f"""%e = tensor.empty() : {wide}
%d = linalg.generic {{indexing_maps = [{", ".join(maps)}], iterator_types = ["parallel", "parallel"]}}
  ins(%x, %s : {kind}, {out}) outs(%e : {wide}) {{
^bb0(%a0: {dtype}, %a1: f32, %o: f32):
{far}}} -> {wide}
"""
    text += reduction(
        "%q", "f32", (rows, n), [("%d", wide)], rows, "addf", "0.0", body="%w = arith.mulf %a0, %a0 : f32"
    )
    text += f"return %s, %q : {out}, {out}\n}}\n"
    kernel = compiled(text)
    assert len(kernels(kernel)) == 3  # x once; two results of what that gives
    total, squares = kernel(x)
    x = x.astype(np.float64)
    np.testing.assert_allclose(total, x.sum(1), rtol=1e-6, err_msg=seed)
    np.testing.assert_allclose(squares, ((x - x.mean(1, keepdims=True)) ** 2).sum(1), rtol=1e-5, err_msg=seed)


def test_all_elements_of_three_dimensions_are_one_number(compiled):
    x, seed = fresh((30, 40, 50), "f32")
    text = """func.func @f(%x: tensor<30x40x50xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> ()>],
                       iterator_types = ["reduction", "reduction", "reduction"]}
      ins(%x : tensor<30x40x50xf32>) outs(%z : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %s : tensor<f32>
}
"""
    kernel = compiled(text)
    assert len(kernels(kernel)) >= 2
    np.testing.assert_allclose(kernel(x), x.astype(np.float64).sum(), rtol=1e-5, atol=1e-3, err_msg=seed)


def test_integers_are_summed_exactly_from_what_they_start_from(compiled):
    n = 40009
    x = np.random.default_rng(7).integers(-100, 100, n, dtype=np.int32)
    body = "%t = arith.addi %o, %a0 : i32\nlinalg.yield %t : i32\n"
    maps = ["affine_map<(n) -> (n)>", "affine_map<(n) -> ()>"]
    text = f"""func.func @f(%x: tensor<{n}xi32>) -> tensor<i32> {{
  %c = arith.constant 5 : i32
  %e = tensor.empty() : tensor<i32>
  %z = linalg.fill ins(%c : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %s = linalg.generic {{indexing_maps = [{", ".join(maps)}], iterator_types = ["reduction"]}}
      ins(%x : tensor<{n}xi32>) outs(%z : tensor<i32>) {{
  ^bb0(%a0: i32, %o: i32):
    {body}
  }} -> tensor<i32>
  return %s : tensor<i32>
}}
"""
    assert int(compiled(text)(x)) == int(x.sum()) + 5
