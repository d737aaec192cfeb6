# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `xetile run --check` compares with: payloads computed by NumPy, against its own functions and plain loops."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest
from xetile import XeTileError, reference
from xetile.kernels.signature import Signature
from xetile.mlir import ir


def evaluate(text: str, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    with ir.Context():
        return reference.evaluate(ir.Module.parse(text), arrays)


def maps(*texts: str) -> str:
    return f"[{', '.join(f'affine_map<{text}>' for text in texts)}]"


def generic(ins: str, outs: str, body: str, indexing: str, kinds: str) -> str:
    iterators = ", ".join(f'"{"parallel" if kind == "p" else "reduction"}"' for kind in kinds)
    taken = f"ins({ins})" if ins else ""
    return (
        f"linalg.generic {{indexing_maps = {indexing}, iterator_types = [{iterators}]}} {taken} outs({outs}) {{{body}}}"
    )


@pytest.mark.parametrize("a", ["mk", "km"])
@pytest.mark.parametrize("b", ["kn", "nk"])
def test_matmuls_with_maps(rng, a, b):
    sizes = {"m": 5, "n": 7, "k": 11}

    def of(dims: str) -> tuple[np.ndarray, str]:
        shape = [sizes[dim] for dim in dims]
        return rng.standard_normal(shape), f"tensor<{'x'.join(map(str, shape))}xf64>"

    (left, lt), (right, rt), (start, ct) = of(a), of(b), of("mn")
    indexing = maps(*(f"(m, n, k) -> ({', '.join(dims)})" for dims in (a, b, "mn")))
    op = "linalg.matmul indexing_maps ="
    text = f"""func.func @f(%a: {lt}, %b: {rt}, %c: {ct}) -> {ct} {{
      %r = {op} {indexing} ins(%a, %b : {lt}, {rt}) outs(%c : {ct}) -> {ct}
      return %r : {ct} }}"""
    (got,) = evaluate(text, left, right, start)
    np.testing.assert_allclose(got, start + np.einsum(f"{a},{b}->mn", left, right), rtol=1e-12)


def test_a_product_that_does_not_see_all_loops_is_counted(rng):
    a, c = rng.standard_normal((3, 4)), np.zeros(3)
    body = """^bb0(%x: f64, %y: f64, %o: f64):
      %p = arith.mulf %x, %y : f64 %s = arith.addf %p, %o : f64 linalg.yield %s : f64"""
    indexing = maps("(m, k) -> (m, k)", "(m, k) -> (m, k)", "(m, k) -> (m)")
    text = generic("%a, %a : tensor<3x4xf64>, tensor<3x4xf64>", "%c : tensor<3xf64>", body, indexing, "pr")
    (got,) = evaluate(
        f"func.func @f(%a: tensor<3x4xf64>, %c: tensor<3xf64>) -> tensor<3xf64> {{ %r = {text} -> tensor<3xf64>\n"
        "return %r : tensor<3xf64> }",
        a,
        c,
    )
    np.testing.assert_allclose(got, (a * a).sum(1))


@pytest.mark.parametrize(("stride", "dilation"), [(1, 1), (2, 1), (1, 3), (2, 2)])
def test_convolutions_and_pools_are_sums_over_windows(rng, stride, dilation):
    image, weights = rng.standard_normal((2, 3, 12, 11)), rng.standard_normal((4, 3, 3, 2))
    rows, columns = (12 - 2 * dilation - 1) // stride + 1, (11 - dilation - 1) // stride + 1
    attributes = f"{{dilations = dense<{dilation}> : vector<2xi64>, strides = dense<{stride}> : vector<2xi64>}}"
    a, f, c, p = (
        "tensor<2x3x12x11xf64>",
        "tensor<4x3x3x2xf64>",
        *(f"tensor<2x{n}x{rows}x{columns}xf64>" for n in (4, 3)),
    )
    conv, pool = evaluate(
        f"""func.func @f(%a: {a}, %f: {f}, %c: {c}, %p: {p}) -> ({c}, {p}) {{
          %w = tensor.empty() : tensor<3x2xf64>
          %0 = linalg.conv_2d_nchw_fchw {attributes} ins(%a, %f : {a}, {f}) outs(%c : {c}) -> {c}
          %1 = linalg.pooling_nchw_max {attributes} ins(%a, %w : {a}, tensor<3x2xf64>) outs(%p : {p}) -> {p}
          return %0, %1 : {c}, {p} }}""",
        image,
        weights,
        np.zeros((2, 4, rows, columns)),
        np.full((2, 3, rows, columns), -9.0),
    )
    for n, i, j in itertools.product(range(2), range(rows), range(columns)):
        window = image[n, :, i * stride :, j * stride :][:, : 2 * dilation + 1 : dilation, : dilation + 1 : dilation]
        np.testing.assert_allclose(conv[n, :, i, j], (weights * window).sum((1, 2, 3)), atol=1e-12)
        np.testing.assert_array_equal(pool[n, :, i, j], window.max((1, 2)))


def test_integers_wrap_around_and_bytes_have_the_signs_that_extend_them():
    a = np.array([[200, 1], [255, 128]], np.uint8).view(np.int8)
    body = """^bb0(%x: i8, %y: i8, %o: i16):
      %u = arith.extui %x : i8 to i16 %v = arith.extsi %y : i8 to i16
      %p = arith.muli %u, %v : i16 %s = arith.addi %o, %p : i16 linalg.yield %s : i16"""
    indexing = maps("(m, n, k) -> (m, k)", "(m, n, k) -> (k, n)", "(m, n, k) -> (m, n)")
    t, r = "tensor<2x2xi8>", "tensor<2x2xi16>"
    (got,) = evaluate(
        f"func.func @f(%a: {t}, %c: {r}) -> {r} {{ "
        f"%r = {generic(f'%a, %a : {t}, {t}', f'%c : {r}', body, indexing, 'ppr')} -> {r}\nreturn %r : {r} }}",
        a,
        np.full((2, 2), 32700, np.int16),
    )
    expected = (32700 + a.view(np.uint8).astype(np.int64) @ a.astype(np.int64)).astype(np.int16)
    np.testing.assert_array_equal(got, expected)
    assert got.dtype == np.int64


def elementwise(op: str, source: str, target: str, *arrays: np.ndarray) -> np.ndarray:
    count, names = arrays[0].size, [f"%x{number}" for number in range(len(arrays))]
    text = ", ".join(f"{name}: tensor<{count}x{source}>" for name in names)
    (got,) = evaluate(
        f"func.func @f({text}) -> tensor<{count}x{target}> {{ "
        f"%r = {op} {', '.join(names)} : {op_types(op, count, source, target)}\n"
        f"return %r : tensor<{count}x{target}> }}",
        *arrays,
    )
    return got


def op_types(op: str, count: int, source: str, target: str) -> str:
    casts = ("ext", "trunc", "fp", "to", "cast")
    tensor = f"tensor<{count}x{source}>"
    return f"{tensor} to tensor<{count}x{target}>" if any(word in op.partition(".")[2] for word in casts) else tensor


def test_operations_on_integers_of_both_signs():
    x, y = (
        np.array(pairs, np.int8)
        for pairs in zip(*itertools.product([-128, -7, -1, 3, 127], [-5, -1, 2, 7]), strict=True)
    )
    wide, also, u, v = x.astype(int), y.astype(int), x.view(np.uint8).astype(int), y.view(np.uint8).astype(int)
    quotient = np.trunc(wide / also).astype(int)
    expected = {
        "addi": wide + also,
        "muli": wide * also,
        "divsi": quotient,
        "remsi": wide - also * quotient,
        "floordivsi": np.floor(wide / also).astype(int),
        "divui": u // v,
        "remui": u % v,
        "maxsi": np.maximum(wide, also),
        "maxui": np.maximum(u, v),
        "minui": np.minimum(u, v),
        "xori": wide ^ also,
    }
    for name, value in expected.items():
        got = elementwise(f"arith.{name}", "i8", "i8", x, y)
        np.testing.assert_array_equal(got, value.astype(np.int8), name)
    shifts = np.full(x.size, 3, np.int8)
    np.testing.assert_array_equal(elementwise("arith.shrsi", "i8", "i8", x, shifts), wide >> 3)
    np.testing.assert_array_equal(elementwise("arith.shrui", "i8", "i8", x, shifts), u >> 3)
    for name, order in {"slt": wide < also, "ult": u < v, "uge": u >= v, "sge": wide >= also, "ne": x != y}.items():
        np.testing.assert_array_equal(elementwise(f"arith.cmpi {name},", "i8", "i1", x, y), order)
    np.testing.assert_array_equal(elementwise("arith.extui", "i8", "i32", x), u)
    np.testing.assert_array_equal(elementwise("arith.uitofp", "i8", "f32", x), u)
    np.testing.assert_array_equal(elementwise("arith.extsi", "i1", "i8", np.array([True, False])), [-1, 0])
    np.testing.assert_array_equal(elementwise("arith.trunci", "i8", "i1", x), wide & 1)


def test_operations_on_floats_know_nan_and_are_rounded_to_their_type():
    nan = np.nan
    x, y = np.array([1.0, nan, 2.0, nan, -0.0]), np.array([2.0, 1.0, nan, nan, 0.0])
    for name, expected in {
        "maximumf": [2, nan, nan, nan, 0],
        "maxnumf": [2, 1, 2, nan, 0],
        "minnumf": [1, 1, 2, nan, 0],
    }.items():
        np.testing.assert_array_equal(elementwise(f"arith.{name}", "f64", "f64", x, y), expected)
    for name, expected in {
        "olt": [1, 0, 0, 0, 0],
        "ult": [1, 1, 1, 1, 0],
        "ueq": [0, 1, 1, 1, 1],
        "one": [1, 0, 0, 0, 0],
        "une": [1, 1, 1, 1, 0],
        "ord": [1, 0, 0, 0, 1],
        "uno": [0, 1, 1, 1, 0],
        "true": [1] * 5,
    }.items():
        np.testing.assert_array_equal(elementwise(f"arith.cmpf {name},", "f64", "i1", x, y), expected, name)
    z = np.array([1.00390625, 3.3e38, -1e-3, 65519.0])
    np.testing.assert_array_equal(
        elementwise("arith.truncf", "f64", "bf16", z), z.astype(ml_dtypes.bfloat16).astype(float)
    )
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(elementwise("arith.truncf", "f64", "f16", z), z.astype(np.float16).astype(float))
    np.testing.assert_array_equal(elementwise("math.round", "f64", "f64", np.array([0.5, -2.5, 1.4])), [1, -3, 1])
    np.testing.assert_array_equal(elementwise("math.roundeven", "f64", "f64", np.array([0.5, -2.5])), [0, -2])
    np.testing.assert_array_equal(elementwise("arith.fptosi", "f64", "i32", np.array([-2.9, 2.9])), [-2, 2])


def test_loops_that_no_function_of_numpy_is_are_run_step_by_step(rng):
    """Places of the largest numbers: two results, which the body reads and compares."""
    a = rng.standard_normal((4, 9))
    body = """^bb0(%x: f64, %most: f64, %place: index):
      %k = linalg.index 1 : index %more = arith.cmpf ogt, %x, %most : f64
      %w = arith.select %more, %x, %most : f64 %j = arith.select %more, %k, %place : index
      linalg.yield %w, %j : f64, index"""
    indexing = maps("(i, k) -> (i, k)", "(i, k) -> (i)", "(i, k) -> (i)")
    op = generic("%a : tensor<4x9xf64>", "%v, %i : tensor<4xf64>, tensor<4xindex>", body, indexing, "pr")
    most, place = evaluate(
        f"func.func @f(%a: tensor<4x9xf64>, %v: tensor<4xf64>, %i: tensor<4xindex>)"
        f" -> (tensor<4xf64>, tensor<4xindex>) {{"
        f"%r:2 = {op} -> (tensor<4xf64>, tensor<4xindex>)\nreturn %r#0, %r#1 : tensor<4xf64>, tensor<4xindex> }}",
        a,
        np.full(4, -np.inf),
        np.zeros(4, np.int64),
    )
    np.testing.assert_array_equal(most, a.max(1))
    np.testing.assert_array_equal(place, a.argmax(1))


def test_tensors_are_cut_put_together_padded_and_reshaped(rng):
    a = rng.standard_normal((4, 6))
    cut, put, padded, turned = evaluate(
        """func.func @f(%a: tensor<4x6xf64>) -> (tensor<3xf64>, tensor<4x6xf64>, tensor<7x6xf64>, tensor<3x4x2xf64>) {
          %z = arith.constant 7.0 : f64
          %0 = tensor.extract_slice %a[1, 1] [1, 3] [1, 2] : tensor<4x6xf64> to tensor<3xf64>
          %1 = tensor.insert_slice %0 into %a[3, 0] [1, 3] [1, 1] : tensor<3xf64> into tensor<4x6xf64>
          %2 = tensor.pad %a low[1, 0] high[2, 0] { ^bb0(%i: index, %j: index): tensor.yield %z : f64 }
              : tensor<4x6xf64> to tensor<7x6xf64>
          %3 = tensor.expand_shape %a [[0], [1, 2]] output_shape [4, 3, 2] : tensor<4x6xf64> into tensor<4x3x2xf64>
          %e = tensor.empty() : tensor<3x4x2xf64>
          %4 = linalg.transpose ins(%3 : tensor<4x3x2xf64>) outs(%e : tensor<3x4x2xf64>) permutation = [1, 0, 2]
          return %0, %1, %2, %4 : tensor<3xf64>, tensor<4x6xf64>, tensor<7x6xf64>, tensor<3x4x2xf64> }""",
        a,
    )
    np.testing.assert_array_equal(cut, a[1, 1:6:2])
    expected = a.copy()
    expected[3, :3] = cut
    np.testing.assert_array_equal(put, expected)
    np.testing.assert_array_equal(padded, np.pad(a, ((1, 2), (0, 0)), constant_values=7))
    np.testing.assert_array_equal(turned, a.reshape(4, 3, 2).transpose(1, 0, 2))


def test_softmax_pack_and_unpack(rng):
    x = rng.standard_normal((5, 7)) * 9
    shares, packed, back = evaluate(
        """func.func @f(%x: tensor<5x7xf64>) -> (tensor<5x7xf64>, tensor<3x2x4x3xf64>, tensor<5x7xf64>) {
          %e = tensor.empty() : tensor<5x7xf64>
          %p = tensor.empty() : tensor<3x2x4x3xf64>
          %v = arith.constant -1.0 : f64
          %0 = linalg.softmax dimension(0) ins(%x : tensor<5x7xf64>) outs(%e : tensor<5x7xf64>) -> tensor<5x7xf64>
          %1 = linalg.pack %x padding_value(%v : f64)
              outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [4, 3]
              into %p : tensor<5x7xf64>
              -> tensor<3x2x4x3xf64>
          %2 = linalg.unpack %1 outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [4, 3] into %e
              : tensor<3x2x4x3xf64> -> tensor<5x7xf64>
          return %0, %1, %2 : tensor<5x7xf64>, tensor<3x2x4x3xf64>, tensor<5x7xf64> }""",
        x,
    )
    np.testing.assert_allclose(shares, np.exp(x) / np.exp(x).sum(0), rtol=1e-12)
    whole = np.pad(x, ((0, 3), (0, 2)), constant_values=-1)
    np.testing.assert_array_equal(packed, whole.reshape(2, 4, 3, 3).transpose(2, 0, 1, 3))
    np.testing.assert_array_equal(back, x)


def test_sums_of_narrow_floats_are_rounded_once(rng):
    a = np.full(4096, 0.1, np.float16)
    body = "^bb0(%x: f16, %o: f16): %s = arith.addf %o, %x : f16 linalg.yield %s : f16"
    op = generic("%a : tensor<4096xf16>", "%c : tensor<f16>", body, maps("(i) -> (i)", "(i) -> ()"), "r")
    (got,) = evaluate(
        f"func.func @f(%a: tensor<4096xf16>, %c: tensor<f16>) -> tensor<f16> {{ %r = {op} -> tensor<f16>\n"
        "return %r : tensor<f16> }",
        a,
        np.zeros((), np.float16),
    )
    assert got == float(np.float16(a.astype(float).sum()))


def test_what_is_between_decides_how_exact_results_are():
    def tolerance(dtype: str) -> float:
        text = f"""func.func @f(%a: tensor<4xf16>) -> tensor<4xf32> {{
          %0 = arith.extf %a : tensor<4xf16> to tensor<4xf32>
          %1 = arith.truncf %0 : tensor<4xf32> to tensor<4x{dtype}>
          %2 = arith.extf %1 : tensor<4x{dtype}> to tensor<4xf32> return %2 : tensor<4xf32> }}"""
        with ir.Context():
            return reference.tolerance(ir.Module.parse(text))

    assert tolerance("bf16") == 2.0**-7 and tolerance("f16") == 1e-3


def test_flops_are_those_of_all_sums_of_products():
    t, r = "tensor<3x8x4xf32>", "tensor<3x8x8xf32>"
    indexing = maps(*(f"(b, m, n, k) -> (b, {dims})" for dims in ("m, k", "n, k", "m, n")))
    text = f"""func.func @f(%a: {t}, %c: {r}) -> {r} {{
      %0 = linalg.batch_matmul indexing_maps = {indexing}
        ins(%a, %a : {t}, {t}) outs(%c : {r}) -> {r}
      return %0 : {r} }}"""
    with ir.Context():
        assert reference.count_flops(ir.Module.parse(text)) == 2 * 3 * 8 * 8 * 4


def test_what_is_not_known_is_refused():
    t = "tensor<4xf32>"
    for text, message in {
        f"%r = bufferization.alloc_tensor() : {t}": "cannot compute bufferization.alloc_tensor with NumPy",
        f"%r = tensor.generate {{ ^bb0(%i: index): %z = arith.constant 0.0 : f32 tensor.yield %z : f32 }} : {t}": (
            "cannot compute tensor.generate with NumPy"
        ),
    }.items():
        with pytest.raises(XeTileError, match=message):
            evaluate(f"func.func @f(%a: {t}) -> {t} {{ {text}\n return %r : {t} }}", np.zeros(4, np.float32))
    with pytest.raises(XeTileError, match=r"expected an argument of 4xf32, got one of \[5\]"):
        evaluate(f"func.func @f(%a: {t}) -> {t} {{ return %a : {t} }}", np.zeros(5, np.float32))


def test_the_public_function_is_computed_wherever_it_is(rng):
    t = "tensor<4xf32>"
    private = f"func.func private @other(%a: {t}) -> {t} {{ return %a : {t} }}\n"
    public = f"func.func @f(%a: {t}) -> {t} {{ %r = arith.addf %a, %a : {t}\n return %r : {t} }}\n"
    x = rng.standard_normal(4).astype(np.float32)
    for text in (private + public, public + private):
        (got,) = evaluate(text, x)
        np.testing.assert_array_equal(got, x + x)


GATHER = """
func.func @rows(%at: tensor<6xi64>, %table: tensor<7x3xf32>, %other: tensor<4xi32>) -> tensor<6x3xf32> {
  %e = tensor.empty() : tensor<6x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]} ins(%at : tensor<6xi64>) outs(%e : tensor<6x3xf32>) {
  ^bb0(%place: i64, %o: f32):
    %i = arith.index_cast %place : i64 to index
    %j = linalg.index 1 : index
    %x = tensor.extract %table[%i, %j] : tensor<7x3xf32>
    linalg.yield %x : f32
  } -> tensor<6x3xf32>
  return %r : tensor<6x3xf32>
}
"""


def test_random_indices_are_places_of_what_they_index(rng):
    with ir.Context():
        payload = ir.Module.parse(GATHER)
        signature = Signature.of(payload)
        drawn = [reference.random_arguments(signature, rng, payload) for _ in range(30)]
        places = np.concatenate([arrays[0] for arrays in drawn])
        assert (places.min(), places.max()) == (0, 6)
        assert np.concatenate([arrays[2] for arrays in drawn]).min() < 0
        at, table, other = drawn[0]
        (result,) = reference.evaluate(payload, drawn[0])
        np.testing.assert_array_equal(result, table[at])
        for wrong in (-1, 7):
            with pytest.raises(XeTileError, match=f"expected indices from 0 to 6 in dimension 0, got {wrong}"):
                reference.evaluate(payload, [np.where(np.arange(6) == 2, wrong, at), table, other])
