# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls of any shape and form by `xetile.compile` with defaults: the conformance table, random sizes, real ones.

Inputs are small integers, so that sums are exact in any order and results equal NumPy's; where rounding is the point,
they are not. Outputs are poisoned before a kernel writes them.
"""

import csv
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import xetile
from xetile import reference
from xetile.mlir import ir

NUMPY = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "i8": np.int8,
    "u8": np.uint8,
    "i32": np.int32,
}
REAL_SHAPES = Path(__file__).parent / "Inputs" / "gemm_shapes.csv"
UNALIGNED = [(1000, 1000, 1000), (1001, 999, 1003), (49, 3072, 768), (1, 1, 1), (13, 17, 19)]


def parse(text: str) -> ir.Module:
    with ir.Context():
        return ir.Module.parse(text)


def small(rng, shape, dtype):
    """Integers whose products and sums are exact in f32; few enough of them are not zero to be so in f16."""
    low = 0 if np.issubdtype(dtype, np.unsignedinteger) else -3
    return rng.integers(low, 4, shape).astype(dtype)


def tensor(shape, kind: str) -> str:
    return f"tensor<{'x'.join('?' if size is None else str(size) for size in shape)}x{kind}>"


def call(kernel, *arrays):
    """The kernel's result, written to memory that held other values; arguments must not change."""
    before = [array.copy() for array in arrays]
    spec = kernel.signature.results[0]
    if spec.is_static:
        out = np.empty(spec.shape, spec.numpy_dtype)
        out.view(np.uint8 if out.ndim == 0 else out.dtype).fill(77)
        result = kernel(*arrays, out=out)
    else:
        result = kernel(*arrays)
    for array, old in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, old)
    return result


def matmul_text(a: str, b: str, c: str, maps: str = "", op: str = "linalg.matmul") -> str:
    return f"""
      func.func @f(%a: {a}, %b: {b}, %c: {c}) -> {c} {{
        %d = {op} {maps} ins(%a, %b : {a}, {b}) outs(%c : {c}) -> {c}
        return %d : {c}
      }}"""


def check_exact(compile_kernel, rng, m, n, k, dtype, result="f32", **options):
    kernel = compile_kernel(xetile.matmul(m, n, k, dtype, result), **options)
    a, b = small(rng, (m, k), NUMPY[dtype]), small(rng, (k, n), NUMPY[dtype])
    c = small(rng, (m, n), NUMPY[result])
    expected = a.astype(np.float32) @ b.astype(np.float32) + c.astype(np.float32)
    np.testing.assert_array_equal(call(kernel, a, b, c).astype(np.float32), expected)
    return kernel


# The conformance table


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_plain(compile_kernel, rng, dtype):
    check_exact(compile_kernel, rng, 256, 256, 256, dtype)


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_low_precision_accumulators(compile_kernel, rng, dtype):
    kernel = compile_kernel(xetile.matmul(128, 256, 96, dtype, dtype))
    a, b = (rng.standard_normal(shape, np.float32).astype(NUMPY[dtype]) for shape in ((128, 96), (96, 256)))
    c = rng.standard_normal((128, 256), np.float32).astype(NUMPY[dtype])
    expected = a.astype(np.float64) @ b.astype(np.float64) + c.astype(np.float64)
    difference = reference.compare(call(kernel, a, b, c), expected)
    # Each of the 96 / 16 steps rounds once more.
    assert difference.max_relative < 8 * {"f16": 2.0**-11, "bf16": 2.0**-8}[dtype], difference


def test_a_result_that_is_narrowed_on_store(compile_kernel, rng):
    text = """
      #id = affine_map<(m, n) -> (m, n)>
      func.func @f(%a: tensor<128x96xf16>, %b: tensor<96x256xf16>) -> tensor<128x256xf16> {
        %zero = arith.constant 0.0 : f32
        %none = tensor.empty() : tensor<128x256xf32>
        %c = linalg.fill ins(%zero : f32) outs(%none : tensor<128x256xf32>) -> tensor<128x256xf32>
        %d = linalg.matmul ins(%a, %b : tensor<128x96xf16>, tensor<96x256xf16>)
            outs(%c : tensor<128x256xf32>) -> tensor<128x256xf32>
        %e = tensor.empty() : tensor<128x256xf16>
        %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
            ins(%d : tensor<128x256xf32>) outs(%e : tensor<128x256xf16>) {
        ^bb0(%x: f32, %o: f16):
          %t = arith.truncf %x : f32 to f16
          linalg.yield %t : f16
        } -> tensor<128x256xf16>
        return %h : tensor<128x256xf16>
      }"""
    kernel = compile_kernel(parse(text))
    a, b = (rng.standard_normal(shape, np.float32).astype(np.float16) for shape in ((128, 96), (96, 256)))
    expected = a.astype(np.float32) @ b.astype(np.float32)
    np.testing.assert_allclose(call(kernel, a, b).astype(np.float32), expected, rtol=2e-3, atol=2e-3)


SIGNS = {
    "s8 x s8": ("i8", "i8", "extsi", "extsi"),
    "u8 x u8": ("u8", "u8", "extui", "extui"),
    "u8 x s8": ("u8", "i8", "extui", "extsi"),
    "s8 x u8": ("i8", "u8", "extsi", "extui"),
}


@pytest.mark.parametrize(("signs", "shape"), [*((signs, (128, 128, 256)) for signs in SIGNS), ("u8 x s8", (7, 15, 33))])
def test_bytes(compile_kernel, rng, signs, shape):
    m, n, k = shape
    left, right, cast_a, cast_b = SIGNS[signs]
    a_type, b_type, c_type = tensor((m, k), "i8"), tensor((k, n), "i8"), tensor((m, n), "i32")
    text = f"""
      func.func @f(%a: {a_type}, %b: {b_type}, %c: {c_type}) -> {c_type} {{
        %d = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}}
            ins(%a, %b : {a_type}, {b_type}) outs(%c : {c_type}) {{
        ^bb0(%x: i8, %y: i8, %z: i32):
          %p = arith.{cast_a} %x : i8 to i32
          %q = arith.{cast_b} %y : i8 to i32
          %r = arith.muli %p, %q : i32
          %s = arith.addi %z, %r : i32
          linalg.yield %s : i32
        }} -> {c_type}
        return %d : {c_type}
      }}"""
    kernel = compile_kernel(parse(text))
    a = rng.integers(0, 256, (m, k)).astype(np.uint8).view(NUMPY[left])
    b = rng.integers(0, 256, (k, n)).astype(np.uint8).view(NUMPY[right])
    c = rng.integers(-1000, 1000, (m, n)).astype(np.int32)
    expected = a.astype(np.int32) @ b.astype(np.int32) + c
    np.testing.assert_array_equal(call(kernel, a.view(np.int8), b.view(np.int8), c), expected)


def test_tf32(compile_kernel, rng):
    kernel = compile_kernel(xetile.matmul(128, 96, 72, "f32", "f32"), params={"precision": "tf32"})
    a, b, c = (rng.standard_normal(shape, np.float32) for shape in ((128, 72), (72, 96), (128, 96)))
    difference = reference.compare(call(kernel, a, b, c), a.astype(np.float64) @ b + c)
    assert difference.max_relative < 2.0**-9, difference


def test_f32_is_not_narrowed_unasked(rng):
    payload = xetile.matmul(64, 64, 64, "f32", "f32")
    with pytest.raises(xetile.XeTileError, match="multiplies f32 as tf32.*allow it with precision=tf32"):
        xetile.compile(payload, schedule="matmul", native="off")
    # Without a schedule it is exact, on vector units. Products of these lose bits in tf32.
    a, b = (rng.integers(-(1 << 11), 1 << 11, (64, 64)).astype("f4") + 0.5 for _ in range(2))
    c = np.zeros((64, 64), "f4")
    got, exact = xetile.compile(payload, native="off")(a, b, c), a.astype("f8") @ b.astype("f8")
    bound = 64 * 2.0**-24 * (abs(a).astype("f8") @ abs(b).astype("f8"))
    assert (abs(got - exact) <= bound).all()


MAPS = {
    "A": ("(k, m)", "(k, n)"),
    "B": ("(m, k)", "(n, k)"),
    "A and B": ("(k, m)", "(n, k)"),
}


@pytest.mark.parametrize(("dtype", "shape"), [("f16", (128, 256, 64)), ("bf16", (45, 37, 70))], ids=str)
@pytest.mark.parametrize("form", MAPS)
def test_transposed_operands(compile_kernel, rng, form, dtype, shape):
    """A column-major matrix is the transposed one of a row-major."""
    m, n, k = shape
    a_map, b_map = MAPS[form]
    a_shape = (k, m) if a_map == "(k, m)" else (m, k)
    b_shape = (n, k) if b_map == "(n, k)" else (k, n)
    maps = ", ".join(f"affine_map<(m, n, k) -> {result}>" for result in (a_map, b_map, "(m, n)"))
    text = matmul_text(
        tensor(a_shape, dtype), tensor(b_shape, dtype), tensor((m, n), "f32"), f"indexing_maps = [{maps}]"
    )
    kernel = compile_kernel(parse(text))
    a, b = small(rng, a_shape, NUMPY[dtype]), small(rng, b_shape, NUMPY[dtype])
    c = small(rng, (m, n), np.float32)
    left = a.astype(np.float32).T if a_shape != (m, k) or a_map == "(k, m)" else a.astype(np.float32)
    right = b.astype(np.float32).T if b_map == "(n, k)" else b.astype(np.float32)
    np.testing.assert_array_equal(call(kernel, a, b, c), left @ right + c)


def test_a_transposed_result(compile_kernel, rng):
    maps = ", ".join(f"affine_map<(m, n, k) -> {result}>" for result in ("(m, k)", "(k, n)", "(n, m)"))
    text = matmul_text(
        "tensor<40x64xf16>", "tensor<64x72xf16>", "tensor<72x40xf32>", f"indexing_maps = [{maps}]", "linalg.contract"
    )
    kernel = compile_kernel(parse(text))
    a, b, c = small(rng, (40, 64), np.float16), small(rng, (64, 72), np.float16), small(rng, (72, 40), np.float32)
    np.testing.assert_array_equal(call(kernel, a, b, c), (a.astype(np.float32) @ b.astype(np.float32)).T + c)


def test_a_padded_leading_dimension(compile_kernel, rng):
    text = """
      func.func @f(%a: tensor<256x320xf16>, %b: tensor<256x320xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
        %p = tensor.extract_slice %a[0, 0] [256, 250] [1, 1] : tensor<256x320xf16> to tensor<256x250xf16>
        %q = tensor.extract_slice %b[0, 64] [250, 256] [1, 1] : tensor<256x320xf16> to tensor<250x256xf16>
        %d = linalg.matmul ins(%p, %q : tensor<256x250xf16>, tensor<250x256xf16>)
            outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
        return %d : tensor<256x256xf32>
      }"""
    kernel = compile_kernel(parse(text))
    a, b = (small(rng, (256, 320), np.float16) for _ in range(2))
    c = small(rng, (256, 256), np.float32)
    expected = a[:, :250].astype(np.float32) @ b[:250, 64:].astype(np.float32) + c
    np.testing.assert_array_equal(call(kernel, a, b, c), expected)


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_a_tail_along_k(compile_kernel, rng, dtype):
    check_exact(compile_kernel, rng, 128, 256, 100, dtype)


@pytest.mark.parametrize("shape", UNALIGNED, ids=str)
def test_unaligned(compile_kernel, rng, shape):
    check_exact(compile_kernel, rng, *shape, ("f16", "bf16")[int(rng.integers(2))])


@pytest.mark.parametrize("batches", [(6,), (2, 3)], ids=str)
def test_batches(compile_kernel, rng, batches):
    m, n, k = 128, 256, 96
    loops = [f"b{number}" for number in range(len(batches))]
    space = ", ".join([*loops, "m", "n", "k"])
    maps = ", ".join(f"affine_map<({space}) -> ({', '.join([*loops, *dims])})>" for dims in ("mk", "kn", "mn"))
    text = matmul_text(
        tensor((*batches, m, k), "f16"),
        tensor((*batches, k, n), "f16"),
        tensor((*batches, m, n), "f32"),
        f"indexing_maps = [{maps}]",
        "linalg.contract",
    )
    kernel = compile_kernel(parse(text))
    a, b = small(rng, (*batches, m, k), np.float16), small(rng, (*batches, k, n), np.float16)
    c = small(rng, (*batches, m, n), np.float32)
    np.testing.assert_array_equal(call(kernel, a, b, c), a.astype(np.float32) @ b.astype(np.float32) + c)


def test_batches_that_share_an_operand(compile_kernel, rng):
    maps = ", ".join(f"affine_map<(b, m, n, k) -> {result}>" for result in ("(b, m, k)", "(k, n)", "(b, m, n)"))
    text = matmul_text(
        "tensor<3x33x40xbf16>",
        "tensor<40x50xbf16>",
        "tensor<3x33x50xf32>",
        f"indexing_maps = [{maps}]",
        "linalg.contract",
    )
    kernel = compile_kernel(parse(text))
    a, b = small(rng, (3, 33, 40), ml_dtypes.bfloat16), small(rng, (40, 50), ml_dtypes.bfloat16)
    c = small(rng, (3, 33, 50), np.float32)
    np.testing.assert_array_equal(call(kernel, a, b, c), a.astype(np.float32) @ b.astype(np.float32) + c)


# What surrounds a matmul


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


# Sizes that only a run knows


@pytest.mark.parametrize("sizes", [(64, 64, 64), (61, 67, 50), (1, 1, 1), (130, 96, 32)], ids=str)
def test_sizes_of_a_run(dynamic_kernel, rng, sizes):
    m, n, k = sizes
    a, b = small(rng, (m, k), np.float16), small(rng, (k, n), np.float16)
    c = small(rng, (m, n), np.float32)
    np.testing.assert_array_equal(call(dynamic_kernel, a, b, c), a.astype(np.float32) @ b.astype(np.float32) + c)


@pytest.fixture(scope="module")
def dynamic_kernel():
    text = matmul_text("tensor<?x?xf16>", "tensor<?x?xf16>", "tensor<?x?xf32>")
    return xetile.compile(parse(text), native="off")


def test_sizes_of_a_run_must_fit(dynamic_kernel):
    a, b, c = np.zeros((8, 9), np.float16), np.zeros((8, 7), np.float16), np.zeros((8, 7), np.float32)
    with pytest.raises(
        xetile.XeTileError, match=r"expected argument 0, dimension 1 \(9\) == argument 1, dimension 0 \(8\)"
    ):
        dynamic_kernel(a, b, c)


def test_matrices_of_a_run_may_be_empty(dynamic_kernel):
    a, b, c = np.zeros((0, 9), np.float16), np.zeros((9, 7), np.float16), np.zeros((0, 7), np.float32)
    assert dynamic_kernel(a, b, c).shape == (0, 7)


# Random sizes and real ones


def random_sizes(rng, largest: int) -> tuple[int, int, int]:
    """Sizes of all magnitudes, a third of them multiples of 8."""
    sizes = np.exp(rng.uniform(0, np.log(largest), 3)).astype(int)
    if rng.integers(3) == 0:
        sizes = np.maximum(8, sizes // 8 * 8)
    return tuple(int(size) for size in sizes)


@pytest.mark.parametrize("number", range(25))
def test_random_sizes(compile_kernel, rng, number):
    m, n, k = random_sizes(rng, 256)
    dtype = ("f16", "bf16")[number % 2]
    print(f"{m} x {n} x {k}, {dtype}")
    check_exact(compile_kernel, rng, m, n, k, dtype)


@pytest.mark.parametrize(
    "number", [*range(25), *(pytest.param(number, marks=pytest.mark.exhaustive) for number in range(25, 200))]
)
def test_large_random_sizes(compile_kernel, rng, number):
    m, n, k = (int(size) for size in rng.integers(1, 2049, 3))
    dtype = ("f16", "bf16")[number % 2]
    print(f"{m} x {n} x {k}, {dtype}")
    check_exact(compile_kernel, rng, m, n, k, dtype)


def real_shapes() -> list[dict[str, str]]:
    with REAL_SHAPES.open() as file:
        return list(csv.DictReader(file))


def real_matmul(row: dict[str, str]) -> ir.Module:
    batch, m, n, k = (int(row[name]) for name in ("BatchSize", "M", "N", "K"))
    kind = row["dtype"]
    if batch == 1:
        return xetile.matmul(m, n, k, kind)
    a, b, c = tensor((batch, m, k), kind), tensor((batch, k, n), kind), tensor((batch, m, n), "f32")
    return parse(matmul_text(a, b, c, op="linalg.batch_matmul"))


def test_real_shapes_are_128():
    assert len(real_shapes()) == 128


@pytest.mark.parametrize("number", range(0, 128, 8))
def test_some_real_shapes_compile(compile_kernel, number):
    compile_kernel(real_matmul(real_shapes()[number]))


@pytest.mark.exhaustive
@pytest.mark.parametrize("number", range(128))
def test_all_real_shapes_compile(compile_kernel, number):
    compile_kernel(real_matmul(real_shapes()[number]))
