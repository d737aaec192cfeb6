# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What functions take and give on the CPU: one buffer as several results, i1, numbers."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from deep_tile_cases import compile_text, floats
from xetile import XeTileError, cli

T = "tensor<4x4xf32>"
MATMUL = f"%d = linalg.matmul ins(%a, %b : {T}, {T}) outs(%c : {T}) -> {T}"
EXP = f"""
  %e = tensor.empty() : {T}
  %0 = linalg.exp ins(%a : {T}) outs(%e : {T}) -> {T}
  %f = tensor.empty() : {T}
  %1 = linalg.exp ins(%a : {T}) outs(%f : {T}) -> {T}"""
COPY = f"""
  %e = tensor.empty() : {T}
  %0 = linalg.exp ins(%a : {T}) outs(%e : {T}) -> {T}
  %f = tensor.empty() : {T}
  %1 = linalg.copy ins(%0 : {T}) outs(%f : {T}) -> {T}"""


def results(kernel, *arrays):
    """Of a call with new results, of one through C++ and of one with `out`, which are all the same."""
    first = kernel(*arrays)
    first = first if isinstance(first, tuple) else (first,)
    out = tuple(np.full_like(result, 7) for result in first)
    for again in (kernel(*arrays), kernel(*arrays, out=out)):
        again = again if isinstance(again, tuple) else (again,)
        assert all(np.array_equal(*pair) for pair in zip(first, again, strict=True))
    memory = [*first, *(array for array in arrays if isinstance(array, np.ndarray))]
    assert not any(np.may_share_memory(x, y) for i, x in enumerate(memory) for y in memory[:i])
    return first


@pytest.mark.parametrize(
    ("body", "returned", "expected"),
    [
        (MATMUL, "%d, %d", lambda a, b, c: (a @ b + c,) * 2),
        (MATMUL, "%d, %d, %d", lambda a, b, c: (a @ b + c,) * 3),
        (EXP, "%0, %1", lambda a, b, c: (np.exp(a),) * 2),
        (COPY, "%0, %1", lambda a, b, c: (np.exp(a),) * 2),
        ("", "%a, %c, %a", lambda a, b, c: (a, c, a)),
        (MATMUL, "%c, %d", lambda a, b, c: (c, a @ b + c)),
        (f"%z = arith.constant dense<2.5> : {T}", "%z, %z", lambda a, b, c: (np.full((4, 4), 2.5),) * 2),
        (
            f"%e = tensor.empty() : {T}\n%s = linalg.exp ins(%a : {T}) outs(%e : {T}) -> {T}\n"
            f"%d = linalg.copy ins(%s : {T}) outs(%a : {T}) -> {T}",
            "%d, %a, %s",
            lambda a, b, c: (np.exp(a), a, np.exp(a)),
        ),
    ],
    ids=["twice", "thrice", "equal", "copy", "arguments", "argument and result", "constant", "copy onto argument"],
)
def test_one_buffer_may_be_several_results(rng, body, returned, expected):
    count = returned.count("%")
    types = ", ".join([T] * count)
    kernel = compile_text(
        f"{body}\nreturn {returned} : {types}", f"(%a: {T}, %b: {T}, %c: {T}) -> ({types})", threads=1
    )
    arrays = floats(rng, *[(4, 4)] * 3)
    for got, want in zip(results(kernel, *arrays), expected(*arrays), strict=True):
        assert np.allclose(got, want, atol=1e-5)


VIEWS = f"""
  {MATMUL}
  %s = tensor.extract_slice %d[1, 1] [2, 3] [1, 1] : {T} to tensor<2x3xf32>
  %t = tensor.extract_slice %d[0, 2] [4, 1] [1, 1] : {T} to tensor<4xf32>
  %u = tensor.collapse_shape %d [[0, 1]] : {T} into tensor<16xf32>
  %v = tensor.extract_slice %a[3, 2] [1, 1] [1, 1] : {T} to tensor<f32>
  %w = tensor.extract_slice %a[0, 0] [1, 2] [2, 2] : {T} to tensor<2xf32>
  return %s, %t, %d, %u, %v, %w : tensor<2x3xf32>, tensor<4xf32>, {T}, tensor<16xf32>, tensor<f32>, tensor<2xf32>"""


def test_results_may_be_views_of_each_other_and_of_arguments(rng):
    kinds = f"(tensor<2x3xf32>, tensor<4xf32>, {T}, tensor<16xf32>, tensor<f32>, tensor<2xf32>)"
    kernel = compile_text(VIEWS, f"(%a: {T}, %b: {T}, %c: {T}) -> {kinds}", threads=1)
    a, b, c = floats(rng, *[(4, 4)] * 3)
    d = a @ b + c
    expected = (d[1:3, 1:4], d[:, 2], d, d.reshape(16), a[3, 2], a[0, 0:3:2])
    for got, want in zip(results(kernel, a, b, c), expected, strict=True):
        assert np.allclose(got, want, atol=1e-5)


@pytest.mark.parametrize(
    ("shape", "offsets", "sizes", "steps", "kept"),
    [
        ((8, 1), (0, 0), (1, 1), (2, 1), (1,)),
        ((5, 1, 1), (3, 0, 0), (1, 1, 1), (1, 1, 2), (1, 1)),
        ((4, 3, 9), (2, 1, 1), (1, 1, 4), (1, 2, 2), (1, 4)),
        ((4, 3, 9), (0, 1, 1), (2, 1, 4), (2, 1, 2), (2, 4)),
        ((4, 3, 9), (1, 2, 3), (1, 1, 1), (2, 2, 2), ()),
        ((3, 9, 4, 7), (1, 1, 3, 3), (1, 6, 1, 4), (1, 1, 1, 1), (1, 6, 4)),
        ((3, 9, 4, 7), (1, 1, 3, 3), (1, 6, 1, 4), (1, 1, 2, 1), (6, 1, 4)),
    ],
)
def test_slices_that_step_and_drop_dimensions(shape, offsets, sizes, steps, kept):
    whole, part = (f"tensor<{''.join(f'{size}x' for size in sizes_)}i32>" for sizes_ in (shape, kept))
    place = f"[{', '.join(map(str, offsets))}] [{', '.join(map(str, sizes))}] [{', '.join(map(str, steps))}]"
    body = f"""
  %s = tensor.extract_slice %a{place} : {whole} to {part}
  %n = arith.muli %s, %s : {part}
  %r = tensor.insert_slice %n into %a{place} : {part} into {whole}
  return %s, %r : {part}, {whole}"""
    kernel = compile_text(body, f"(%a: {whole}) -> ({part}, {whole})", threads=1)
    a = np.arange(3, 3 + np.prod(shape), dtype="i4").reshape(shape)
    where = tuple(slice(o, o + (n - 1) * step + 1, step) for o, n, step in zip(offsets, sizes, steps, strict=True))
    expected = a.copy()
    expected[where] **= 2
    part_, whole_ = results(kernel, a)
    assert np.array_equal(part_, a[where].reshape(kept)) and np.array_equal(whole_, expected)


@pytest.mark.parametrize("kept", ["1x6x?", "6x1x?", "6x?"])
@pytest.mark.parametrize("step", [1, 2])
def test_slices_that_drop_dimensions_of_memory_whose_strides_are_not_known(rng, kept, step):
    whole, part = "tensor<3x9x4x?xf32>", f"tensor<{kept}xf32>"
    place = f"[1, 1, 3, 3] [1, 6, 1, %n] [1, 1, 1, {step}]"
    body = f"""
  %e = math.absf %a : {whole}
  %s = tensor.extract_slice %e{place} : {whole} to {part}
  %q = arith.mulf %s, %s : {part}
  %r = tensor.insert_slice %q into %a{place} : {part} into {whole}
  return %s, %r : {part}, {whole}"""
    kernel = compile_text(body, f"(%a: {whole}, %n: index) -> ({part}, {whole})", threads=1)
    (a,) = floats(rng, (3, 9, 4, 13))
    where = (1, slice(1, 7), 3, slice(3, 3 + 4 * step, step))
    expected = a.copy()
    expected[where] **= 2
    part_, whole_ = kernel(a, 4)
    assert part_.shape == tuple(int(size) for size in kept.replace("?", "4").split("x"))
    assert np.array_equal(part_.reshape(6, 4), np.abs(a[where])) and np.array_equal(whole_, expected)


@pytest.mark.parametrize("name", ["divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui"])
def test_integer_divisions_at_edges_divide_by_nothing_else(rng, name):
    t = "tensor<5x7xi8>"
    body = f"""
  %c = arith.constant dense<3> : {t}
  %q = arith.{name} %a, %c : {t}
  %r = arith.{name} %q, %b : {t}
  return %r : {t}"""
    kernel = compile_text(body, f"(%a: {t}, %b: {t}) -> {t}", threads=1)
    a, b = rng.integers(1, 128, (5, 7)).astype("i1"), rng.integers(1, 128, (5, 7)).astype("i1")
    one = {
        "div": lambda x, y: x // y,
        "rem": lambda x, y: x % y,
        "flo": lambda x, y: x // y,
        "cei": lambda x, y: -(-x // y),
    }
    divide = one[name[:3]]
    wide, by = a.astype(int), b.astype(int)
    assert np.array_equal(results(kernel, a, b)[0], divide(divide(wide, 3), by))


def test_integer_divisions_around_a_matmul(rng):
    # Edges of packed blocks hold zeros: divisions are not computed there.
    t, x = "tensor<13x13xi32>", "tensor<13x13xi32>"
    body = f"""
  %q = arith.divsi %a, %b : {t}
  %z = arith.constant dense<0> : {x}
  %d = linalg.matmul ins(%q, %q : {t}, {t}) outs(%z : {x}) -> {x}
  %r = arith.divsi %d, %b : {x}
  return %r : {x}"""
    kernel = compile_text(body, f"(%a: {t}, %b: {t}) -> {x}", threads=1, pack="always")
    a, b = rng.integers(0, 100, (13, 13)).astype("i4"), rng.integers(1, 9, (13, 13)).astype("i4")
    assert np.array_equal(kernel(a, b), ((a // b) @ (a // b)) // b)


@pytest.mark.parametrize("op", ["xori", "subi", "andi"])
def test_folders_make_no_constants_of_dynamic_sizes(op):
    body = f"%r = arith.{op} %a, %a : tensor<?xi32>\nreturn %r : tensor<?xi32>"
    kernel = compile_text(body, "(%a: tensor<?xi32>) -> tensor<?xi32>", threads=1)
    a = np.arange(5, dtype="i4")
    assert np.array_equal(kernel(a), a if op == "andi" else a * 0)


def test_results_of_dynamic_sizes_may_share_memory(rng):
    t = "tensor<?x4xf32>"
    body = f"""
  %d = linalg.matmul ins(%a, %b : {t}, {T}) outs(%c : {t}) -> {t}
  %s = tensor.extract_slice %d[0, 1] [2, 2] [1, 1] : {t} to tensor<2x2xf32>
  return %d, %d, %a, %s : {t}, {t}, {t}, tensor<2x2xf32>"""
    kernel = compile_text(body, f"(%a: {t}, %b: {T}, %c: {t}) -> ({t}, {t}, {t}, tensor<2x2xf32>)", threads=1)
    a, b, c = floats(rng, (5, 4), (4, 4), (5, 4))
    d = a @ b + c
    for got, want in zip(kernel(a, b, c), (d, d, a, d[:2, 1:3]), strict=True):
        assert np.allclose(got, want, atol=1e-5)


M, F = "tensor<9x33xi1>", "tensor<9x33xf32>"


def test_masks_are_bools(rng):
    body = f"""
  %e = tensor.empty() : {F}
  %s = linalg.select ins(%k, %a, %b : {M}, {F}, {F}) outs(%e : {F}) -> {F}
  %l = arith.cmpf olt, %s, %b : {F}
  %n = arith.andi %l, %k : {M}
  return %s, %n, %k : {F}, {M}, {M}"""
    kernel = compile_text(body, f"(%k: {M}, %a: {F}, %b: {F}) -> ({F}, {M}, {M})", threads=1)
    a, b = floats(rng, (9, 33), (9, 33))
    k = rng.integers(0, 2, (9, 33)).astype(bool)
    selected, less, same = results(kernel, k, a, b)
    assert np.array_equal(selected, np.where(k, a, b)) and np.array_equal(same, k)
    assert less.dtype == np.bool_ and np.array_equal(less, (np.where(k, a, b) < b) & k)
    # As in NumPy, any byte but 0 is true.
    odd = (k * rng.integers(1, 256, k.shape)).astype("u1").view(bool)
    assert np.array_equal(kernel(odd, a, b)[0], np.where(k, a, b))
    with pytest.raises(XeTileError, match=r"argument 0: expected 9x33xi1 \(bool\), got uint8"):
        kernel(k.astype("u1"), a, b)


def test_elements_of_masks_are_vectors_of_bytes(rng):
    body = f"""
  %e = tensor.empty() : {F}
  %s = linalg.select ins(%k, %a, %b : {M}, {F}, {F}) outs(%e : {F}) -> {F}
  return %s : {F}"""
    kernel = compile_text(body, f"(%k: {M}, %a: {F}, %b: {F}) -> {F}", threads=1)
    assert "xi1>" not in kernel.stages["2-memory"] and "memref<9x33xi8>" in kernel.stages["2-memory"]
    assert "xi8>" in kernel.stages["3-llvm"]


def test_masks_in_loops_constants_reductions_and_slices(rng):
    body = """
  %z = arith.constant dense<[true, false, true, true]> : tensor<4xi1>
  %f = arith.constant false
  %e = tensor.empty() : tensor<6xi1>
  %i = linalg.fill ins(%f : i1) outs(%e : tensor<6xi1>) -> tensor<6xi1>
  %any = linalg.reduce {arith.ori} ins(%k : tensor<6x4xi1>) outs(%i : tensor<6xi1>) dimensions = [1]
  %s = tensor.extract_slice %k[1, 0] [1, 4] [1, 1] : tensor<6x4xi1> to tensor<4xi1>
  %x = arith.xori %s, %z : tensor<4xi1>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = scf.for %j = %c0 to %c4 step %c1 iter_args(%t = %x) -> (tensor<4xi1>) {
    %v = tensor.extract %t[%j] : tensor<4xi1>
    %true = arith.constant true
    %w = arith.xori %v, %true : i1
    %u = tensor.insert %w into %t[%j] : tensor<4xi1>
    scf.yield %u : tensor<4xi1>
  }
  return %any, %x, %n, %z : tensor<6xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>"""
    kinds = "(tensor<6xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>)"
    kernel = compile_text(body, f"(%k: tensor<6x4xi1>) -> {kinds}", threads=1)
    k = rng.integers(0, 2, (6, 4)).astype(bool)
    constant = np.array([True, False, True, True])
    expected = (k.any(axis=1), k[1] ^ constant, ~(k[1] ^ constant), constant)
    for got, want in zip(results(kernel, k), expected, strict=True):
        assert np.array_equal(got, want)


def test_masks_around_a_matmul(rng):
    body = f"""
  %z = arith.constant dense<0.0> : {T}
  %x = arith.select %k, %a, %z : tensor<4x4xi1>, {T}
  %d = linalg.matmul ins(%x, %b : {T}, {T}) outs(%z : {T}) -> {T}
  %r = arith.select %k, %d, %b : tensor<4x4xi1>, {T}
  return %r : {T}"""
    kernel = compile_text(body, f"(%k: tensor<4x4xi1>, %a: {T}, %b: {T}) -> {T}", threads=1)
    a, b = floats(rng, (4, 4), (4, 4))
    k = rng.integers(0, 2, (4, 4)).astype(bool)
    (got,) = results(kernel, k, a, b)
    assert np.allclose(got, np.where(k, np.where(k, a, 0) @ b, b), atol=1e-5)


NUMBERS = {
    "f16": [0.5, -2, np.float16(1.5), np.float64(0.25), float("inf")],
    "bf16": [0.5, -2, ml_dtypes.bfloat16(1.5), np.float32(3), 1e38],
    "f32": [0.5, -2, np.float32(0.1), np.int16(7), float("inf")],
    "f64": [0.1, 2**40, np.float32(0.5), np.float64(1e300)],
    "i1": [True, False, np.bool_(True)],
    "i8": [5, -128, 255, np.int8(-3), np.uint8(200), np.int64(9)],
    "i16": [5, -32768, 65535, np.int16(-3)],
    "i32": [5, -(2**31), 2**32 - 1, np.int32(-3)],
    "i64": [5, -(2**63), 2**64 - 1, np.int64(-3), np.uint64(2**63)],
    "index": [5, -3, 2**63 - 1],
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_are_taken_and_given(kind):
    kernel = compile_text(
        f"return %s, %a, %s : {kind}, tensor<2xf32>, {kind}",
        f"(%a: tensor<2xf32>, %s: {kind}) -> ({kind}, tensor<2xf32>, {kind})",
    )
    dtype = kernel.arguments[1].numpy_dtype
    a = np.ones(2, "f4")
    for value in NUMBERS[kind]:
        for given in (value, np.asarray(kernel(a, value)[0])):
            first, same, last = kernel(a, given)
            assert isinstance(first, np.generic) and first.dtype == dtype and first == last and np.array_equal(same, a)
        wrapped = int(value) - int(value) % 1 if dtype.kind in "iu" else value
        expected = (
            np.array([wrapped]).astype(dtype)[0]
            if dtype.kind != "i"
            else np.array(wrapped & (2 ** (8 * dtype.itemsize) - 1), "u8").astype(dtype)[()]
        )
        assert first == expected, value


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        ("f32", "1", r"argument 1: expected a number of type f32 \(float32\), got str"),
        ("f32", True, "expected a number of type f32"),
        ("f32", None, "expected a number of type f32"),
        ("f32", 1j, "expected a number of type f32"),
        ("f32", 1e39, "expected a number in the range of f32, got 1e"),
        ("f32", 10**400, "expected a number in the range of f32"),
        ("f16", 65520.0, "expected a number in the range of f16"),
        ("f32", np.ones(1, "f4"), r"expected a number of type f32 \(float32\), got float32\[1\]"),
        ("f32", np.float64(0.5) * np.ones(()), None),
        ("i8", 256, r"expected i8 \(-128 to 255\), got 256"),
        ("i8", -129, r"expected i8 \(-128 to 255\), got -129"),
        ("i8", 1.0, "expected a number of type i8"),
        ("i32", True, "expected a number of type i32"),
        ("i64", 2**64, "expected i64"),
        ("index", 2**63, "expected index"),
        ("i1", 1, r"expected a number of type i1 \(bool\), got int"),
    ],
)
def test_other_numbers_are_refused(kind, value, message):
    kernel = compile_text(f"return %s : {kind}", f"(%a: tensor<2xf32>, %s: {kind}) -> {kind}")
    for _ in range(2):
        if message is None:
            assert kernel(np.ones(2, "f4"), value) == value
            continue
        with pytest.raises(XeTileError, match=message):
            kernel(np.ones(2, "f4"), value)


def test_numbers_are_operands_of_fused_work(rng):
    body = f"""
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : {T}
  %f = linalg.fill ins(%s : f32) outs(%e : {T}) -> {T}
  %d = linalg.matmul ins(%a, %b : {T}, {T}) outs(%f : {T}) -> {T}
  %o = tensor.empty() : {T}
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}}
      ins(%d, %s : {T}, f32) outs(%o : {T}) {{
    ^bb0(%x: f32, %y: f32, %u: f32):
      %p = arith.mulf %x, %y : f32
      linalg.yield %p : f32
  }} -> {T}
  %c0 = arith.constant 0 : index
  %first = tensor.extract %r[%c0, %c0] : {T}
  return %r, %first : {T}, f32"""
    kernel = compile_text(body, f"(%a: {T}, %b: {T}, %s: f32) -> ({T}, f32)", threads=1)
    a, b = floats(rng, (4, 4), (4, 4))
    for s in (0.5, -3.0):
        got, first = kernel(a, b, s)
        assert np.allclose(got, (a @ b + s) * s, atol=1e-5) and first == got[0, 0]
    out = (np.zeros((4, 4), "f4"), np.zeros((), "f4"))
    assert (
        kernel(a, b, 2.0, out=out) is out and np.allclose(out[0], (a @ b + 2) * 2, atol=1e-5) and out[1] == out[0][0, 0]
    )


@pytest.mark.parametrize("kind", ["i4", "i128", "i7", "f128", "f8E5M2", "complex<f32>"])
def test_numbers_that_numpy_has_not_are_refused(kind):
    with pytest.raises(XeTileError, match=r"expected (numbers that NumPy has, or bf16|arguments and results to be)"):
        compile_text(f"return %s : {kind}", f"(%s: {kind}) -> {kind}")


def test_the_command_takes_masks_and_numbers(tmp_path, capsys):
    source = tmp_path / "select.mlir"
    source.write_text(f"""func.func @f(%k: {M}, %a: {F}, %s: f32, %n: i32, %p: i1) -> ({F}, i32, i1) {{
  %b = tensor.splat %s : {F}
  %r = arith.select %k, %a, %b : {M}, {F}
  return %r, %n, %p : {F}, i32, i1
}}""")
    assert cli.main(["run", str(source), "--target", "cpu", "--set", "threads=1"]) == 0, capsys.readouterr().err
    assert cli.main(["compile", str(source), "--target", "cpu", "-o", str(tmp_path / "k.so")]) == 0
