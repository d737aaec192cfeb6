# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Assertions that fail are errors of a call: before it where they follow from arguments, after it where from data."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
import xetile
from deep_tile_cases import compile_text
from xetile import XeTileError

V = "tensor<8xf32>"
ONES = np.ones(8, "f4")


def fails(kernel, message: str, *arrays, out=None) -> None:
    # Later calls go another way.
    for _ in range(3):
        with pytest.raises(XeTileError, match=message):
            kernel(*arrays, out=out)


def elementwise(inner: str, *, kind: str = "i64", rows: str = "8") -> str:
    shape = f"tensor<{rows}x{kind}>"
    return f"""
  %e = tensor.empty() : {shape}
  %r = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
    iterator_types = ["parallel"]}} ins(%a : {shape}) outs(%e : {shape}) {{
  ^bb0(%x: {kind}, %o: {kind}):
    {inner}
    linalg.yield %y : {kind}
  }} -> {shape}
  return %r : {shape}"""


def test_what_follows_from_arguments_is_told_before_the_call():
    text = f"""
  %c5 = arith.constant 5 : i64
  %holds = arith.cmpi slt, %n, %c5 : i64
  cf.assert %holds, "n is small"
  %r = arith.addf %a, %a : {V}
  return %r : {V}"""
    kernel = compile_text(text, f"(%a: {V}, %n: i64) -> {V}", threads=1)
    out = np.zeros(8, "f4")
    assert np.all(kernel(ONES, 4) == 2)
    fails(kernel, r"^@f: cf.assert in line \d+: n is small$", ONES, 5, out=out)
    assert not out.any()
    assert np.all(kernel(ONES, 4) == 2)


def test_sizes_and_elements_of_arguments_are_arguments():
    text = """
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %even = arith.remui %n, %c8 : index
  %holds = arith.cmpi eq, %even, %c0 : index
  cf.assert %holds, "a multiple of 8"
  %first = tensor.extract %i[%c0] : tensor<4xindex>
  %less = arith.cmpi slt, %first, %c8 : index
  cf.assert %less, "the first is less than 8"
  return %a : tensor<?xf32>"""
    kernel = compile_text(text, "(%a: tensor<?xf32>, %i: tensor<4xindex>) -> tensor<?xf32>", threads=1)
    indices = np.arange(4)
    assert kernel(np.ones(16, "f4"), indices).shape == (16,)
    assert [condition.text for condition in kernel.signature.conditions] == [
        "a multiple of 8",
        "the first is less than 8",
    ]
    fails(kernel, "a multiple of 8$", np.ones(15, "f4"), indices)
    fails(kernel, "the first is less than 8$", np.ones(16, "f4"), indices + 8)


def test_what_the_function_computes_is_told_after_it():
    text = f"""
  %z = arith.constant dense<0.0> : tensor<f32>
  %zero = arith.constant 0.0 : f32
  %s = linalg.reduce {{ arith.addf }} ins(%a : {V}) outs(%z : tensor<f32>) dimensions = [0]
  %sum = tensor.extract %s[] : tensor<f32>
  %holds = arith.cmpf ogt, %sum, %zero : f32
  cf.assert %holds, "a sum above 0"
  return %a : {V}"""
    kernel = compile_text(text, f"(%a: {V}) -> {V}", threads=1)
    assert np.array_equal(kernel(ONES), ONES)
    fails(kernel, r"@f: cf.assert in line \d+: a sum above 0$", -ONES)
    fails(kernel, "a sum above 0$", np.full(8, np.nan, "f4"))


BELOW = """%c9 = arith.constant 9 : i64
    %holds = arith.cmpi slt, %x, %c9 : i64
    cf.assert %holds, "all below 9"
    %y = arith.addi %x, %c9 : i64"""


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("rows", [8, 100_000])
def test_in_a_body(rows, threads):
    kernel = compile_text(
        elementwise(BELOW, rows=str(rows)), f"(%a: tensor<{rows}xi64>) -> tensor<{rows}xi64>", threads=threads
    )
    values = np.arange(rows) % 9
    assert np.array_equal(kernel(values), values + 9)
    for place in (0, rows - 1):
        values[place] = 9
        fails(kernel, "@f: cf.assert in line .*: all below 9$", values)
        values[place] = 0
    assert np.array_equal(kernel(values), values + 9)


def test_in_a_branch_of_a_body():
    text = """%c0 = arith.constant 0 : i64
    %c9 = arith.constant 9 : i64
    %positive = arith.cmpi sge, %x, %c0 : i64
    %y = scf.if %positive -> i64 {
      %holds = arith.cmpi slt, %x, %c9 : i64
      cf.assert %holds, "positive ones are below 9"
      scf.yield %x : i64
    } else {
      %holds = arith.cmpi ne, %x, %c9 : i64
      %minus = arith.constant -1 : i64
      %other = arith.cmpi slt, %x, %minus : i64
      cf.assert %other, "others are below -1"
      scf.yield %c0 : i64
    }"""
    kernel = compile_text(elementwise(text), "(%a: tensor<8xi64>) -> tensor<8xi64>", threads=1)
    values = np.array([0, 1, 8, -2, -100, 3, 4, 5])
    assert np.array_equal(kernel(values), np.maximum(values, 0))
    fails(kernel, "positive ones are below 9$", np.append(values[:7], 9))
    fails(kernel, "others are below -1$", np.append(values[:7], -1))


def test_a_divisor_that_is_asserted():
    text = """%c0 = arith.constant 0 : i64
    %holds = arith.cmpi ne, %x, %c0 : i64
    cf.assert %holds, "no 0"
    %least = arith.constant -9223372036854775808 : i64
    %y = arith.divsi %least, %x : i64"""
    kernel = compile_text(elementwise(text), "(%a: tensor<8xi64>) -> tensor<8xi64>", threads=1)
    values = np.arange(1, 9)
    assert kernel(values).tolist() == [-(2**63 // divisor) for divisor in range(1, 9)]
    fails(kernel, "no 0$", np.arange(8))
    # -1 has no quotient either, which nothing asserts; the process goes on.
    kernel(np.full(8, -1))


def test_in_loops():
    text = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : i64
  %zero = arith.constant 0 : i64
  %s = scf.for %i = %c0 to %c8 step %c1 iter_args(%sofar = %zero) -> i64 {
    %x = tensor.extract %a[%i] : tensor<8xi64>
    %next = arith.addi %sofar, %x : i64
    %holds = arith.cmpi slt, %next, %c9 : i64
    cf.assert %holds, "sums below 9"
    scf.yield %next : i64
  }
  return %s : i64"""
    kernel = compile_text(text, "(%a: tensor<8xi64>) -> i64", threads=1)
    assert kernel(np.ones(8, "i8")) == 8
    fails(kernel, "sums below 9$", np.full(8, 2))


@pytest.mark.parametrize("threads", [1, 2])
def test_in_a_parallel_loop(threads):
    text = """
  %e = tensor.empty() : tensor<64xf32>
  %zero = arith.constant 0.0 : f32
  %r = scf.forall (%i) in (64) shared_outs(%o = %e) -> tensor<64xf32> {
    %p = tensor.extract_slice %a[%i] [1] [1] : tensor<64xf32> to tensor<1xf32>
    %c0 = arith.constant 0 : index
    %x = tensor.extract %p[%c0] : tensor<1xf32>
    %root = math.sqrt %x : f32
    %holds = arith.cmpf oge, %root, %zero : f32
    cf.assert %holds, "roots of positive numbers"
    %t = tensor.from_elements %root : tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i] [1] [1] : tensor<1xf32> into tensor<64xf32>
    }
  }
  return %r : tensor<64xf32>"""
    kernel = compile_text(text, "(%a: tensor<64xf32>) -> tensor<64xf32>", threads=threads)
    assert np.array_equal(kernel(np.full(64, 4, "f4")), np.full(64, 2))
    for values in (np.full(64, -1, "f4"), np.array([4] * 63 + [-1], "f4")):
        fails(kernel, "roots of positive numbers$", values)


def test_a_branch_that_is_not_taken_asserts_nothing():
    text = """
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : i64
  %x = tensor.extract %a[%c0] : tensor<8xf32>
  %zero = arith.constant 0.0 : f32
  %taken = arith.cmpf ogt, %x, %zero : f32
  %r = scf.if %taken -> i64 {
    %holds = arith.cmpi slt, %n, %c9 : i64
    cf.assert %holds, "n below 9 for positive ones"
    scf.yield %n : i64
  } else {
    scf.yield %c9 : i64
  }
  return %r : i64"""
    kernel = compile_text(text, "(%a: tensor<8xf32>, %n: i64) -> i64", threads=1)
    assert kernel(ONES, 3) == 3 and kernel(-ONES, 10) == 9
    fails(kernel, "n below 9 for positive ones$", ONES, 10)


def test_a_loop_that_would_not_end_ends():
    text = """
  %c9 = arith.constant 9 : i64
  %zero = arith.constant 0 : i64
  %holds = arith.cmpi sgt, %n, %zero : i64
  cf.assert %holds, "a step above 0"
  %r = scf.while (%x = %zero) : (i64) -> i64 {
    %goes = arith.cmpi slt, %x, %c9 : i64
    scf.condition(%goes) %x : i64
  } do {
  ^bb0(%x: i64):
    %next = arith.addi %x, %n : i64
    scf.yield %next : i64
  }
  return %r : i64"""
    kernel = compile_text(text, "(%n: i64) -> i64", threads=1)
    assert kernel(4) == 12
    fails(kernel, "a step above 0$", 0)
    # Without a check before the call, too.
    told = (ctypes.c_int64 * 3)()
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(kernel.function().addresses[0])
    n, result = ctypes.c_int64(0), ctypes.c_int64(0)
    boxes = [(ctypes.c_int64 * 3)(ctypes.addressof(each), ctypes.addressof(each), 0) for each in (n, result)]
    function(told, *boxes)
    assert list(told) == [1, 0, -1]


def test_what_is_known_to_hold_costs_nothing():
    text = """%c9 = arith.constant 9 : i64
    %least = arith.minsi %x, %c9 : i64
    %c10 = arith.constant 10 : i64
    %holds = arith.cmpi slt, %least, %c10 : i64
    cf.assert %holds, "less"
    %y = arith.addi %x, %c9 : i64"""
    kernel = compile_text(elementwise(text), "(%a: tensor<8xi64>) -> tensor<8xi64>", threads=1)
    assert kernel.signature.expectations == kernel.signature.conditions == ()


def test_saved_kernels_tell_too(tmp_path):
    text = """
  %c5 = arith.constant 5 : i64
  %small = arith.cmpi slt, %n, %c5 : i64
  cf.assert %small, "n is small"
""" + elementwise(BELOW)
    kernel = compile_text(text, "(%a: tensor<8xi64>, %n: i64) -> tensor<8xi64>", threads=2)
    kernel.save(tmp_path / "f.so")
    loaded = xetile.load(tmp_path / "f.so")
    assert loaded.signature == kernel.signature
    assert np.array_equal(loaded(np.arange(8), 4), np.arange(8) + 9)
    fails(loaded, "n is small$", np.arange(8), 5)
    fails(loaded, "all below 9$", np.arange(8) + 2, 4)
    checked = ctypes.CDLL(str(tmp_path / "f.so")).f_checked
    checked.restype = ctypes.c_char_p

    def described(array: np.ndarray):
        shape, data = list(array.shape), array.ctypes.data
        return (ctypes.c_int64 * (3 + 2 * array.ndim))(data, data, 0, *shape, *[1] * array.ndim)

    def call(values: np.ndarray, n: int) -> bytes | None:
        return checked(*map(described, (values, np.array(n), np.empty(8, "i8"))))

    assert call(np.arange(8), 4) is None
    assert call(np.arange(8), 5).endswith(b": n is small")
    assert call(np.arange(8) + 2, 4).endswith(b": all below 9")
