# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What surrounds a matmul joins its kernel: bias, activations, residuals, operands that are computed.

Inputs are small integers, so that results equal NumPy's but where functions round. Outputs are poisoned before.
"""

import numpy as np
import pytest
from gpu_matmuls import call, parse, small, tensor


def surrounded(m, n, k, ops: str, arguments: str, results: str, dtype="f16") -> str:
    """`ops` use %d, the product of %a and %b."""
    a, b, d = tensor((m, k), dtype), tensor((k, n), dtype), tensor((m, n), "f32")
    return f"""
      #id = affine_map<(m, n) -> (m, n)>
      #row = affine_map<(m, n) -> (n)>
      #column = affine_map<(m, n) -> (m)>
      func.func @f(%a: {a}, %b: {b}{arguments}) -> {results} {{
        %zero = arith.constant 0.0 : f32
        %none = tensor.empty() : {d}
        %start = linalg.fill ins(%zero : f32) outs(%none : {d}) -> {d}
        %d = linalg.matmul ins(%a, %b : {a}, {b}) outs(%start : {d}) -> {d}
        {ops}
      }}"""


def elementwise(name: str, inputs: str, types: str, maps: str, out: str, body: str) -> str:
    count = len(types.split(","))
    arguments = ", ".join(
        f"%x{number}: {kind.split('x')[-1].rstrip('>')}" for number, kind in enumerate(types.split(","))
    )
    element = out.split("x")[-1].rstrip(">")
    return (
        f"""
        {name} = linalg.generic {{indexing_maps = [{maps}, #id], iterator_types = ["parallel", "parallel"]}}
            ins({inputs} : {types}) outs(%none : {out}) {{
        ^bb0({arguments}, %o: {element}):
          {body}
        }} -> {out}"""
        if count
        else ""
    )


SHAPES = [(256, 256, 64), (70, 90, 50)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("side", ["row", "column"])
def test_bias_and_relu(compile_kernel, rng, shape, side):
    m, n, k = shape
    d, bias = tensor((m, n), "f32"), tensor((n if side == "row" else m,), "f32")
    body = """%s = arith.addf %x0, %x1 : f32
          %r = arith.maximumf %s, %zero : f32
          linalg.yield %r : f32"""
    ops = elementwise("%e", "%d, %bias", f"{d}, {bias}", f"#id, #{side}", d, body)
    text = surrounded(m, n, k, ops + f"\n return %e : {d}", f", %bias: {bias}", d)
    kernel = compile_kernel(parse(text))
    a, b = small(rng, (m, k), np.float16), small(rng, (k, n), np.float16)
    v = small(rng, (n if side == "row" else m,), np.float32)
    product = a.astype(np.float32) @ b.astype(np.float32)
    np.testing.assert_array_equal(call(kernel, a, b, v), np.maximum(product + (v if side == "row" else v[:, None]), 0))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gelu(compile_kernel, rng, shape):
    m, n, k = shape
    d = tensor((m, n), "f32")
    body = """%c0 = arith.constant 0.7978845608 : f32
          %c1 = arith.constant 0.044715 : f32
          %half = arith.constant 0.5 : f32
          %one = arith.constant 1.0 : f32
          %q = arith.mulf %x0, %x0 : f32
          %q3 = arith.mulf %q, %x0 : f32
          %s = arith.mulf %q3, %c1 : f32
          %t = arith.addf %x0, %s : f32
          %u = arith.mulf %t, %c0 : f32
          %v = math.tanh %u : f32
          %w = arith.addf %v, %one : f32
          %h = arith.mulf %x0, %half : f32
          %g = arith.mulf %h, %w : f32
          linalg.yield %g : f32"""
    text = surrounded(m, n, k, elementwise("%e", "%d", d, "#id", d, body) + f"\n return %e : {d}", "", d)
    kernel = compile_kernel(parse(text))
    a, b = (rng.standard_normal(size, np.float32).astype(np.float16) for size in ((m, k), (k, n)))
    x = a.astype(np.float64) @ b.astype(np.float64)
    expected = 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))
    np.testing.assert_allclose(call(kernel, a, b), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_residual_and_the_product_itself(compile_kernel, rng, shape):
    """Both are results: one kernel writes two matrices."""
    m, n, k = shape
    d = tensor((m, n), "f32")
    body = """%s = arith.addf %x0, %x1 : f32
          linalg.yield %s : f32"""
    ops = elementwise("%e", "%d, %residual", f"{d}, {d}", "#id, #id", d, body)
    text = surrounded(m, n, k, ops + f"\n return %d, %e : {d}, {d}", f", %residual: {d}", f"({d}, {d})")
    kernel = compile_kernel(parse(text))
    a, b = small(rng, (m, k), np.float16), small(rng, (k, n), np.float16)
    residual = small(rng, (m, n), np.float32)
    product, total = kernel(a, b, residual)
    np.testing.assert_array_equal(product, a.astype(np.float32) @ b.astype(np.float32))
    np.testing.assert_array_equal(total, product + residual)


@pytest.mark.parametrize("shape", [(256, 256, 64), (64, 64, 100)], ids=str)
@pytest.mark.parametrize("operand", ["A", "B"])
def test_a_computed_operand(compile_kernel, rng, operand, shape):
    """x + 1 is not zero out of bounds, where operands must be."""
    m, n, k = shape
    a, b, d = tensor((m, k), "f16"), tensor((k, n), "f16"), tensor((m, n), "f32")
    kind = a if operand == "A" else b
    text = f"""
      #id = affine_map<(i, j) -> (i, j)>
      func.func @f(%a: {a}, %b: {b}, %c: {d}) -> {d} {{
        %one = arith.constant 1.0 : f16
        %none = tensor.empty() : {kind}
        %p = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}}
            ins({"%a" if operand == "A" else "%b"} : {kind}) outs(%none : {kind}) {{
        ^bb0(%x: f16, %o: f16):
          %s = arith.addf %x, %one : f16
          linalg.yield %s : f16
        }} -> {kind}
        %d = linalg.matmul ins({"%p, %b" if operand == "A" else "%a, %p"} : {a}, {b}) outs(%c : {d}) -> {d}
        return %d : {d}
      }}"""
    kernel = compile_kernel(parse(text))
    x, y = small(rng, (m, k), np.float16), small(rng, (k, n), np.float16)
    c = small(rng, (m, n), np.float32)
    left, right = x.astype(np.float32), y.astype(np.float32)
    left, right = (left + 1, right) if operand == "A" else (left, right + 1)
    np.testing.assert_array_equal(call(kernel, x, y, c), left @ right + c)


@pytest.mark.parametrize("k", [40, 64])
def test_operands_computed_with_constants(compile_kernel, rng, k):
    """(a + 2)(b + 3): beyond k = 40 neither is zero, and a constant tensor has no edge that would say so."""
    m, n = 64, 64
    a, b, d = tensor((m, k), "f16"), tensor((k, n), "f16"), tensor((m, n), "f32")
    text = f"""
      func.func @f(%a: {a}, %b: {b}, %c: {d}) -> {d} {{
        %two = arith.constant dense<2.0> : {a}
        %three = arith.constant dense<3.0> : {b}
        %left = tensor.empty() : {a}
        %right = tensor.empty() : {b}
        %p = linalg.elementwise kind=#linalg.elementwise_kind<add> ins(%a, %two : {a}, {a}) outs(%left : {a}) -> {a}
        %q = linalg.elementwise kind=#linalg.elementwise_kind<add> ins(%b, %three : {b}, {b}) outs(%right : {b}) -> {b}
        %d = linalg.matmul ins(%p, %q : {a}, {b}) outs(%c : {d}) -> {d}
        return %d : {d}
      }}"""
    kernel = compile_kernel(parse(text))
    x, y = small(rng, (m, k), np.float16), small(rng, (k, n), np.float16)
    c = small(rng, (m, n), np.float32)
    exact = (x.astype(np.float32) + 2) @ (y.astype(np.float32) + 3) + c
    np.testing.assert_array_equal(call(kernel, x, y, c), exact)


def test_an_epilogue_that_needs_no_product(compile_kernel, rng):
    """x - x of integers is 0: the matmul is nobody's, and no loop over k is left for its steps."""
    a, d = tensor((40, 24), "i8"), tensor((40, 40), "i32")
    text = f"""
      func.func @f(%a: {a}, %b: {tensor((24, 40), "i8")}) -> {d} {{
        %zero = arith.constant 0 : i32
        %none = tensor.empty() : {d}
        %start = linalg.fill ins(%zero : i32) outs(%none : {d}) -> {d}
        %d = linalg.matmul ins(%a, %b : {a}, {tensor((24, 40), "i8")}) outs(%start : {d}) -> {d}
        %e = linalg.sub ins(%d, %d : {d}, {d}) outs(%none : {d}) -> {d}
        return %e : {d}
      }}"""
    kernel = compile_kernel(parse(text))
    got = call(kernel, small(rng, (40, 24), np.int8), small(rng, (24, 40), np.int8))
    np.testing.assert_array_equal(got, np.zeros((40, 40), np.int32))


@pytest.mark.parametrize("alone", [True, False])
def test_an_operand_of_one_number(compile_kernel, rng, alone):
    """tensor.splat, which bufferization would leave to the host."""
    a, b, d = tensor((40, 24), "i8"), tensor((24, 50), "i8"), tensor((40, 50), "i32")
    both = tensor((80, 50), "i32")
    rest = f"return %d : {d}"
    if not alone:
        rest = f"%e = tensor.concat dim(0) %d, %c : ({d}, {d}) -> {both}\n return %e : {both}"
    text = f"""
      func.func @f(%b: {b}, %c: {d}) -> {d if alone else both} {{
        %three = arith.constant 3 : i8
        %a = tensor.splat %three : {a}
        %d = linalg.matmul ins(%a, %b : {a}, {b}) outs(%c : {d}) -> {d}
        {rest}
      }}"""
    kernel = compile_kernel(parse(text))
    x, c = small(rng, (24, 50), np.int8), small(rng, (40, 50), np.int32)
    product = 3 * np.broadcast_to(x.sum(0, dtype=np.int32), (40, 50)) + c
    expected = product if alone else np.concatenate([product, c])
    np.testing.assert_array_equal(call(kernel, x, c), expected)


def test_an_outer_product_of_columns(compile_kernel, rng):
    """Of the operand's dimensions of one element the one along k is read, not another with another stride."""
    a, b, d = tensor((1, 1, 40, 1), "f16"), tensor((1, 20, 1), "f16"), tensor((20, 40, 1, 1), "f32")
    names = "(d0, d1, d2, d3, d4) ->"
    text = f"""
      func.func @f(%a: {a}, %b: {b}, %c: {d}) -> {d} {{
        %d = linalg.generic {{indexing_maps = [affine_map<{names} (d1, d0, d3, d4)>, affine_map<{names} (d0, d2, d4)>,
            affine_map<{names} (d2, d3, d0, d1)>],
            iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}}
            ins(%a, %b : {a}, {b}) outs(%c : {d}) {{
        ^bb0(%x: f16, %y: f16, %z: f32):
          %xw = arith.extf %x : f16 to f32
          %yw = arith.extf %y : f16 to f32
          %p = arith.mulf %xw, %yw : f32
          %s = arith.addf %z, %p : f32
          linalg.yield %s : f32
        }} -> {d}
        return %d : {d}
      }}"""
    kernel = compile_kernel(parse(text))
    x, y = small(rng, (1, 1, 40, 1), np.float16), small(rng, (1, 20, 1), np.float16)
    c = small(rng, (20, 40, 1, 1), np.float32)
    product = np.einsum("Mbhk,bnk->nhbM", x.astype(np.float32), y.astype(np.float32))
    np.testing.assert_array_equal(call(kernel, x, y, c), product + c)
