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
from gpu_matmuls import NUMPY, call, parse, small, tensor
from xetile import reference
from xetile.mlir import ir

REAL_SHAPES = Path(__file__).parent / "Inputs" / "gemm_shapes.csv"
UNALIGNED = [(1000, 1000, 1000), (1001, 999, 1003), (49, 3072, 768), (1, 1, 1), (13, 17, 19)]


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


@pytest.mark.one_in(5)
@pytest.mark.parametrize("number", range(25))
def test_random_sizes(compile_kernel, rng, number):
    m, n, k = random_sizes(rng, 256)
    dtype = ("f16", "bf16")[number % 2]
    print(f"{m} x {n} x {k}, {dtype}")
    check_exact(compile_kernel, rng, m, n, k, dtype)


@pytest.mark.one_in(5)
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
