# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes known at run time only: what a function's operations ask of them is checked before each call; none of k."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import numpy as np
import pytest
from deep_tile_cases import compile_text
from xetile import XeTileError, cpu
from xetile.mlir import ir

ANY = "tensor<?x?xf32>"
MATMUL = f"""
  %d = linalg.matmul ins(%a, %b : {ANY}, {ANY}) outs(%c : {ANY}) -> {ANY}
  return %d : {ANY}"""
SIGNATURE = f"(%a: {ANY}, %b: {ANY}, %c: {ANY}) -> {ANY}"


def ones(*shape: int, kind: str = "f4") -> np.ndarray:
    return np.ones(shape, kind)


def refused(kernel, message: str, *arrays) -> None:
    with pytest.raises(XeTileError, match=message):
        kernel(*arrays)


def test_shared_dimensions_of_a_matmul_must_be_equal():
    kernel = compile_text(MATMUL, SIGNATURE, threads=1)
    for _ in range(2):
        got = kernel(ones(3, 4), ones(4, 6), ones(3, 6))
        assert got.shape == (3, 6) and np.all(got == 5)
        said = r"@f: expected argument {}, dimension {} \({}\) == argument {}, dimension {} \({}\), for linalg.matmul"
        refused(kernel, said.format(0, 1, 4, 1, 0, 5), ones(3, 4), ones(5, 6), ones(3, 6))
        refused(kernel, said.format(0, 0, 3, 2, 0, 7), ones(3, 4), ones(4, 6), ones(7, 6))
        refused(kernel, said.format(1, 1, 6, 2, 1, 9), ones(3, 4), ones(4, 6), ones(3, 9))
    assert kernel(ones(0, 4), ones(4, 6), ones(0, 6)).shape == (0, 6)
    assert kernel(ones(3, 4), ones(4, 0), ones(3, 0)).shape == (3, 0)
    assert np.all(kernel(ones(3, 0), ones(0, 6), ones(3, 6)) == 1)


def test_sizes_that_would_crash_are_refused():
    kernel = compile_text(MATMUL, SIGNATURE, threads=1)
    for shapes in (((3, 4), (4, 6), (2000000, 6)), ((3, 4000000), (4, 6), (3, 6)), ((3000000, 4), (4, 6), (3, 6))):
        refused(kernel, "expected argument", *(ones(*shape) for shape in shapes))


def test_the_fast_path_checks_too():
    # Of static results: later calls go through C++.
    body = """
  %d = linalg.matmul ins(%a, %b : tensor<4x?xf32>, tensor<?x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %d : tensor<4x4xf32>"""
    kernel = compile_text(body, "(%a: tensor<4x?xf32>, %b: tensor<?x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32>")
    for _ in range(3):
        assert np.all(kernel(ones(4, 9), ones(9, 4), ones(4, 4)) == 10)
        refused(
            kernel,
            r"argument 0, dimension 1 \(9\) == argument 1, dimension 0 \(8\)",
            ones(4, 9),
            ones(8, 4),
            ones(4, 4),
        )
    assert kernel._function._direct is not None
    out = ones(4, 4)
    assert not kernel._function._direct((ones(4, 9), ones(8, 4), ones(4, 4)), (out,)) and np.all(out == 1)
    assert kernel._function._direct((ones(4, 9), ones(9, 4), ones(4, 4)), (out,)) and np.all(out == 10)
    assert kernel.conditions == ("argument 0, dimension 1 == argument 1, dimension 0 (linalg.matmul in line 3)",)


V = "tensor<?xf32>"


@pytest.mark.parametrize(
    ("signature", "body", "good", "bad", "message"),
    [
        (
            f"(%a: {V}, %b: {V}) -> {V}",
            f"%r = arith.addf %a, %b : {V}\nreturn %r : {V}",
            [(5,), (5,)],
            [(5,), (6,)],
            r"argument 0, dimension 0 \(5\) == argument 1, dimension 0 \(6\), for arith.addf",
        ),
        (
            f"(%a: {V}, %b: {V}) -> {V}",
            f"%r = linalg.exp ins(%a : {V}) outs(%b : {V}) -> {V}\nreturn %r : {V}",
            [(5,), (5,)],
            [(50,), (5,)],
            r"\(50\) == argument 1, dimension 0 \(5\), for linalg.exp",
        ),
        (  # The size of the sum of two.
            f"(%a: {V}, %b: {V}, %c: {V}) -> {V}",
            f"%j = tensor.concat dim(0) %a, %b : ({V}, {V}) -> {V}\n%r = arith.addf %j, %c : {V}\nreturn %r : {V}",
            [(2,), (3,), (5,)],
            [(2,), (3,), (6,)],
            r"argument 0, dimension 0 \+ argument 1, dimension 0 \(5\) == argument 2, dimension 0 \(6\)",
        ),
        (
            f"(%a: {V}) -> tensor<4xf32>",
            f"%r = tensor.extract_slice %a[2] [4] [1] : {V} to tensor<4xf32>\nreturn %r : tensor<4xf32>",
            [(6,)],
            [(5,)],
            r"expected 6 <= argument 0, dimension 0 \(5\), for tensor.extract_slice",
        ),
        (
            f"(%a: {V}, %b: {V}) -> {V}",
            f"%s = tensor.cast %a : {V} to tensor<4xf32>\n"
            f"%r = tensor.insert_slice %s into %b[1] [4] [2] : tensor<4xf32> into {V}\nreturn %r : {V}",
            [(4,), (8,)],
            [(4,), (7,)],
            r"expected 8 <= argument 1, dimension 0 \(7\)",
        ),
        (
            f"(%a: {V}) -> tensor<4xf32>",
            f"%r = tensor.cast %a : {V} to tensor<4xf32>\nreturn %r : tensor<4xf32>",
            [(4,)],
            [(3,)],
            r"argument 0, dimension 0 \(3\) == 4, for tensor.cast",
        ),
        (
            f"(%a: {V}, %n: index) -> tensor<?x4xf32>",
            f"%r = tensor.expand_shape %a [[0, 1]] output_shape [%n, 4] : {V} into tensor<?x4xf32>\n"
            "return %r : tensor<?x4xf32>",
            [(12,), 3],
            [(12,), 4],
            r"argument 1 \* 4 \(16\) == argument 0, dimension 0 \(12\)",
        ),
        (
            f"(%n: index) -> {V}",
            f"%z = arith.constant 1.0 : f32\n%e = tensor.empty(%n) : {V}\n"
            f"%r = linalg.fill ins(%z : f32) outs(%e : {V}) -> {V}\nreturn %r : {V}",
            [3],
            [-3],
            r"expected 0 <= argument 0 \(-3\), for tensor.empty",
        ),
        (  # A convolution reads 2 * (result - 1) + (window - 1) + 1 elements.
            f"(%a: {V}, %w: {V}, %c: {V}) -> {V}",
            "%r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (2 * i + k)>, affine_map<(i, k) -> (k)>, "
            'affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]} '
            f"ins(%a, %w : {V}, {V}) outs(%c : {V}) {{\n^bb0(%x: f32, %y: f32, %s: f32):\n"
            f"%p = arith.mulf %x, %y : f32\n%t = arith.addf %s, %p : f32\nlinalg.yield %t : f32\n}} -> {V}\n"
            f"return %r : {V}",
            [(7,), (3,), (3,)],
            [(6,), (3,), (3,)],
            r"\(7\) <= argument 0, dimension 0 \(6\), for linalg.generic",
        ),
        (
            "(%a: tensor<8xf32>, %i: index) -> tensor<2xf32>",
            "%r = tensor.extract_slice %a[%i] [2] [1] : tensor<8xf32> to tensor<2xf32>\nreturn %r : tensor<2xf32>",
            [(8,), 6],
            [(8,), 7],
            r"argument 1 \+ 2 \(9\) <= 8",
        ),
        (
            "(%a: tensor<8xf32>, %i: tensor<2xi64>) -> tensor<2xf32>",
            "%o = arith.constant 1 : index\n%e = tensor.extract %i[%o] : tensor<2xi64>\n"
            "%x = arith.index_cast %e : i64 to index\n"
            "%r = tensor.extract_slice %a[%x] [2] [1] : tensor<8xf32> to tensor<2xf32>\nreturn %r : tensor<2xf32>",
            [(8,), np.array([9, 6])],
            [(8,), np.array([6, 7])],
            r"argument 1 \[1\] \+ 2 \(9\) <= 8",
        ),
        (  # Only one of two branches is taken.
            f"(%a: {V}, %b: {V}, %p: i1) -> {V}",
            f"%r = scf.if %p -> ({V}) {{\n%s = arith.addf %a, %b : {V}\nscf.yield %s : {V}\n}} else {{\n"
            f"scf.yield %a : {V}\n}}\nreturn %r : {V}",
            [(5,), (6,), False],
            [(5,), (6,), True],
            r"argument 0, dimension 0 \(5\) == argument 1, dimension 0 \(6\), for arith.addf",
        ),
        (  # The last of all steps of a loop does not fit.
            f"(%a: {V}, %n: index) -> tensor<4xf32>",
            f"%l = arith.constant 0 : index\n%s = arith.constant 4 : index\n"
            "%z = arith.constant dense<0.0> : tensor<4xf32>\n"
            "%r = scf.for %i = %l to %n step %s iter_args(%t = %z) -> (tensor<4xf32>) {\n"
            f"%x = tensor.extract_slice %a[%i] [4] [1] : {V} to tensor<4xf32>\n"
            "%u = arith.addf %t, %x : tensor<4xf32>\nscf.yield %u : tensor<4xf32>\n}\nreturn %r : tensor<4xf32>",
            [(12,), 9],
            [(11,), 9],
            r"a loop's index \+ 4 \(12\) <= argument 0, dimension 0 \(11\)",
        ),
    ],
    ids=[
        "addf",
        "exp",
        "concat",
        "extract_slice",
        "insert_slice",
        "cast",
        "expand_shape",
        "empty",
        "convolution",
        "offset",
        "element",
        "branch",
        "loop",
    ],
)
def test_what_operations_ask_of_sizes(signature, body, good, bad, message):
    kernel = compile_text(body, signature, threads=1)

    def arrays(shapes):
        return [ones(*shape) if isinstance(shape, tuple) else shape for shape in shapes]

    for _ in range(2):
        kernel(*arrays(good))
        refused(kernel, message, *arrays(bad))


def test_sizes_of_a_fused_operand_outlive_it(rng):
    # The number of columns is asked of an operand whose op becomes part of the loops.
    w, r = "tensor<?x?xf32>", "tensor<?xf32>"
    body = f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = tensor.dim %a, %c1 : {w}
  %n = tensor.dim %b, %c0 : {r}
  %e = tensor.empty(%k, %n) : {w}
  %x = linalg.broadcast ins(%b : {r}) outs(%e : {w}) dimensions = [0]
  %y = linalg.exp ins(%x : {w}) outs(%e : {w}) -> {w}
  %d = linalg.matmul ins(%a, %y : {w}, {w}) outs(%c : {w}) -> {w}
  return %d : {w}"""
    kernel = compile_text(body, f"(%a: {w}, %b: {r}, %c: {w}) -> {w}", threads=1)
    a, b, c = (rng.uniform(-1, 1, shape).astype("f4") for shape in ((5, 6), (7,), (5, 7)))
    assert np.allclose(kernel(a, b, c), a @ np.broadcast_to(np.exp(b), (6, 7)) + c, atol=1e-5)
    refused(kernel, r"argument 1, dimension 0 \(7\) == argument 2, dimension 1 \(8\)", a, b, ones(5, 8))


def test_a_called_function_is_checked_as_its_caller():
    text = f"""
func.func private @add(%a: {V}, %b: {V}) -> {V} {{
  %r = arith.addf %a, %b : {V}
  return %r : {V}
}}
func.func @f(%a: {V}, %b: {V}) -> {V} {{
  %r = func.call @add(%a, %b) : ({V}, {V}) -> {V}
  return %r : {V}
}}"""
    with ir.Context():
        kernel = cpu.compile(ir.Module.parse(text), threads=1)
    assert np.all(kernel(ones(3), ones(3)) == 2)
    refused(kernel, r"\(3\) == argument 1, dimension 0 \(4\)", ones(3), ones(4))


@pytest.mark.parametrize(
    ("signature", "body", "message"),
    [
        (
            "(%a: tensor<8xf32>, %b: tensor<1xf32>) -> tensor<2xf32>",
            "%o = arith.constant 0 : index\n%s = arith.addf %b, %b : tensor<1xf32>\n"
            "%e = tensor.extract %s[%o] : tensor<1xf32>\n%i = arith.fptosi %e : f32 to i64\n"
            "%x = arith.index_cast %i : i64 to index\n"
            "%r = tensor.extract_slice %a[%x] [2] [1] : tensor<8xf32> to tensor<2xf32>\nreturn %r : tensor<2xf32>",
            "tensor.extract_slice.* only the function itself computes",
        ),
        (
            f"(%a: {V}, %s: tensor<2xindex>) -> tensor<?x?xf32>",
            f"%r = tensor.reshape %a(%s) : ({V}, tensor<2xindex>) -> tensor<?x?xf32>\nreturn %r : tensor<?x?xf32>",
            "tensor.reshape.* what sizes fit together is not known",
        ),
        (
            "(%a: tensor<4x?xf32>, %b: tensor<?x5xf32>, %c: tensor<3x5xf32>) -> tensor<3x5xf32>",
            "%r = linalg.matmul ins(%a, %b : tensor<4x?xf32>, tensor<?x5xf32>) outs(%c : tensor<3x5xf32>) "
            "-> tensor<3x5xf32>\nreturn %r : tensor<3x5xf32>",
            "linalg.matmul",
        ),
    ],
    ids=["data", "reshape", "static dimensions"],
)
def test_what_cannot_be_checked_is_refused(signature, body, message):
    with pytest.raises(XeTileError, match=message):
        compile_text(body, signature, threads=1)


def test_the_name_of_the_check_must_be_free():
    text = """
func.func private @f_check(tensor<4xf32>) -> tensor<4xf32>
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}"""
    with ir.Context(), pytest.raises(XeTileError, match="needs the name @f_check"):
        cpu.compile(ir.Module.parse(text), threads=1)


def memref(array: np.ndarray):
    strides = [stride // array.itemsize for stride in array.strides]
    words = (array.ctypes.data, array.ctypes.data, 0, *array.shape, *strides)
    return (ctypes.c_int64 * len(words))(*words)


@pytest.fixture(scope="module")
def shared_object(tmp_path_factory):
    body = """
  %d = linalg.matmul ins(%a, %b : tensor<4x?xf32>, tensor<?x6xf32>) outs(%c : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %d : tensor<4x6xf32>"""
    kernel = compile_text(
        body, "(%a: tensor<4x?xf32>, %b: tensor<?x6xf32>, %c: tensor<4x6xf32>) -> tensor<4x6xf32>", threads=1
    )
    path = tmp_path_factory.mktemp("so") / "kernel.so"
    kernel.write_shared_object(path)
    function = ctypes.CDLL(str(path)).f_checked
    function.restype = ctypes.c_char_p
    return function


def test_the_checked_entry_calls(shared_object):
    out = np.zeros((4, 6), "f4")
    arrays = ones(4, 9), ones(9, 6), ones(4, 6), out
    assert shared_object(*map(ctypes.byref, map(memref, arrays))) is None
    assert np.all(out == 10)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({1: ones(8, 6)}, b"@f: expected argument 0, dimension 1 == argument 1, dimension 0 (linalg.matmul"),
        ({0: ones(5, 9)}, b"@f: expected argument 0, dimension 0 == 4 (its type)"),
        ({1: np.asfortranarray(ones(9, 6))}, b"@f: expected argument 1, stride of dimension"),
        ({3: np.zeros((3, 6), "f4")}, b"@f: expected result 0, dimension 0 == 4 (its type)"),
        ({3: 2}, b"@f: expected result 0 apart from argument 2 (results share no memory)"),
    ],
    ids=["sizes", "static size", "order", "result", "shared"],
)
def test_the_checked_entry_refuses(shared_object, change, message):
    arrays = [ones(4, 9), ones(9, 6), ones(4, 6), np.zeros((4, 6), "f4")]
    for number, array in change.items():
        arrays[number] = arrays[array] if isinstance(array, int) else array
    before = arrays[3].copy()
    said = shared_object(*map(ctypes.byref, map(memref, arrays)))
    assert said is not None and said.startswith(message), said
    assert np.array_equal(arrays[3], before)


def test_the_checked_entry_of_results_that_are_returned(tmp_path):
    kernel = compile_text(MATMUL, SIGNATURE, threads=1)
    kernel.write_shared_object(tmp_path / "kernel.so")
    function = ctypes.CDLL(str(tmp_path / "kernel.so")).f_checked
    function.restype = ctypes.c_char_p
    result = (ctypes.c_int64 * 7)()
    arrays = [ones(3, 4), ones(4, 6), ones(3, 6)]
    assert function(*map(ctypes.byref, (result, *map(memref, arrays)))) is None
    assert list(result[3:]) == [3, 6, 6, 1]
    values = (ctypes.c_float * 18).from_address(result[1] + 4 * result[2])
    assert list(values) == [5] * 18
    ctypes.CDLL(None).free(ctypes.c_void_p(result[0]))
    arrays[1] = ones(5, 6)
    assert b"argument 0, dimension 1" in function(*map(ctypes.byref, (result, *map(memref, arrays))))


def test_a_wrong_call_does_not_end_the_process():
    # As another process: before the check this was a segmentation fault.
    program = f"""
import numpy as np
from xetile import cpu, XeTileError
from xetile.mlir import ir
with ir.Context():
    kernel = cpu.compile(ir.Module.parse('''func.func @f{SIGNATURE} {{{MATMUL}
}}'''), threads=1)
try:
    kernel(np.ones((3, 4), 'f4'), np.ones((4, 6), 'f4'), np.ones((20000000, 6), 'f4'))
except XeTileError as error:
    print('refused', error.message)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    assert "refused @f: expected argument 0, dimension 0 (3) == argument 2, dimension 0 (20000000)" in run.stdout


@pytest.mark.parametrize("steps", [0, 1, 100])
@pytest.mark.parametrize("k_threads", [1, 4])
def test_consumers_run_without_steps_of_k(rng, steps, k_threads):
    text = """func.func @f(%a: tensor<20x?xf32>, %b: tensor<?x30xf32>, %c: tensor<20x30xf32>) -> tensor<20x30xf32> {
      %d = linalg.matmul ins(%a, %b : tensor<20x?xf32>, tensor<?x30xf32>) outs(%c : tensor<20x30xf32>)
          -> tensor<20x30xf32>
      %e = tensor.empty() : tensor<20x30xf32>
      %n = linalg.negf ins(%d : tensor<20x30xf32>) outs(%e : tensor<20x30xf32>) -> tensor<20x30xf32>
      return %n : tensor<20x30xf32>
    }"""
    with ir.Context():
        kernel = cpu.compile(ir.Module.parse(text), config={"KThreads": k_threads, "innermostKBlock": 8}, threads=4)
    a, b, c = (rng.uniform(-1, 1, shape).astype("f4") for shape in ((20, steps), (steps, 30), (20, 30)))
    out = np.full((20, 30), np.nan, "f4")
    assert np.allclose(kernel(a, b, c, out=out), -(a @ b + c), atol=1e-4)
