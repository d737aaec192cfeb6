# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What does not fit a subgroup's registers is loaded part by part, where that changes nothing."""

from __future__ import annotations

import numpy as np
import pytest
from subgroup_programs import poisoned, run_stage, tile
from xetile.errors import XeTileError

A, B, C = tile(32, 128, "f16"), tile(128, 32, "f16"), tile(32, 32, "f32")
VA, VB, VC = "vector<32x128xf16>", "vector<128x32xf16>", "vector<32x32xf32>"
# The result takes 4 KB of 16, each operand 8.
LOADS = f"""
  %ta = xetile.init_tile %0[0, 0] : memref<32x128xf16> -> {A}
  %tb = xetile.init_tile %1[0, 0] : memref<128x32xf16> -> {B}
  %tc = xetile.init_tile %2[0, 0] : memref<32x32xf32> -> {C}
  %a = xetile.load_tile %ta : {A} -> {VA}
"""
LOAD_B = f"%b = xetile.load_tile %tb : {B} -> {VB}"
BOUNDS = "%k0 = arith.constant 0 : index\n%k1 = arith.constant 1 : index\n%k3 = arith.constant 3 : index"


def product(name: str, more: str = "") -> str:
    types = f"{VA}, {VB}" + f", {VC}" * bool(more)
    return f"%{name} = xetile.tile_mma %a, %b{more} : {types} -> {VC}"


def store(value: str) -> str:
    return f"xetile.store_tile %{value}, %tc : {VC}, {C}"


@pytest.fixture
def operands(rng) -> tuple[np.ndarray, ...]:
    a, b = (rng.integers(-4, 5, shape).astype(np.float16) for shape in [(32, 128), (128, 32)])
    return a, b, poisoned((32, 32), "f32")


def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a.astype(np.float32) @ b.astype(np.float32)


def test_operands_of_two_products_are_loaded_for_each(operands):
    a, b, c = operands
    run_stage("device", "\n".join([LOADS, LOAD_B, product("d"), product("e", ", %d"), store("e")]), *operands)
    np.testing.assert_array_equal(c, 2 * multiply(a, b))


def test_operands_from_outside_of_a_loop_are_loaded_in_it(operands):
    a, b, c = operands
    loop = f"""{BOUNDS}
      %zero = arith.constant dense<1.0> : {VC}
      %r = scf.for %i = %k0 to %k3 step %k1 iter_args(%sum = %zero) -> ({VC}) {{
        {product("d", ", %sum")}
        scf.yield %d : {VC}
      }}"""
    run_stage("device", "\n".join([LOADS, LOAD_B, loop, store("r")]), *operands)
    np.testing.assert_array_equal(c, 3 * multiply(a, b) + 1)


def test_an_operand_that_is_overwritten_before_the_product_is_not_loaded_again(operands):
    a, b, c = operands
    before = a.copy()
    overwrite = f"%none = arith.constant dense<7.0> : {VA}\nxetile.store_tile %none, %ta : {VA}, {A}"
    run_stage("device", "\n".join([LOADS, overwrite, LOAD_B, product("d"), store("d")]), *operands)
    np.testing.assert_array_equal(c, multiply(before, b))
    assert (a == 7).all()


WRITTEN = f"%none = arith.constant dense<7.0> : {VA}\nxetile.store_tile %none, %ta : {VA}, {A}"


@pytest.mark.parametrize(
    "body",
    [
        [LOADS, LOAD_B, WRITTEN, product("d"), store("d")],
        [LOADS, LOAD_B, "gpu.barrier", product("d"), store("d")],
        [LOADS, LOAD_B, BOUNDS, "scf.for %i = %k0 to %k3 step %k1 {", product("d"), store("d"), "}"],
    ],
    ids=["written between", "barrier between", "written in the loop"],
)
def test_operands_that_may_have_changed_are_refused(operands, body):
    with pytest.raises(XeTileError, match="no write to memory and no barrier between"):
        run_stage("device", "\n".join(body), *operands)


def copy(rows: int, to: str = "[0, 0]", compute: str = "", value: str = "v") -> str:
    t, v, m = tile(rows, 64, "f32"), f"vector<{rows}x64xf32>", f"memref<{rows}x64xf32>"
    return f"""
      %ta = xetile.init_tile %0[0, 0] : {m} -> {t}
      %tc = xetile.init_tile %1{to} : {m} -> {t}
      %v = xetile.load_tile %ta : {t} -> {v}
      {compute.format(v=v, t=t)}
      xetile.store_tile %{value}, %tc : {v}, {t}"""


@pytest.mark.parametrize("rows", [384, 136])
def test_a_copy_larger_than_the_registers_goes_by_rows(rng, rows):
    a, c = rng.random((rows, 64), np.float32), poisoned((rows, 64), "f32")
    run_stage("device", copy(rows), a, c)
    np.testing.assert_array_equal(c, a)


def test_a_large_tile_is_computed_by_rows_and_in_place(rng):
    a, c = rng.random((384, 64), np.float32), rng.random((384, 64), np.float32)
    expected = (a + c) * 2
    compute = """%w = xetile.load_tile %tc : {t} -> {v}
      %two = arith.constant dense<2.0> : {v}
      %s = arith.addf %v, %w : {v}
      %r = arith.mulf %s, %two : {v}"""
    run_stage("device", copy(384, compute=compute, value="r"), a, c)
    np.testing.assert_array_equal(c, expected)


def test_a_copy_to_another_place_is_refused(rng):
    """In the same memory, it would read rows that it has written."""
    a = rng.random((384, 64), np.float32)
    with pytest.raises(XeTileError, match="needs 98304 bytes of registers"):
        run_stage("device", copy(384, to="[1, 0]").replace("%1[", "%0["), a, a)
