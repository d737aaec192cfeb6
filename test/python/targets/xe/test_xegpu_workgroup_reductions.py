# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions and broadcasts of a workgroup's XeGPU over its subgroups, on the device, against NumPy."""

import itertools

import numpy as np
import pytest
from xegpu_layouts import SEED, given, layout, load, memref, sliced, store, tile
from xegpu_programs import assert_same, run

# ---- reductions and broadcasts


KINDS = {"add": np.add.reduce, "mul": np.multiply.reduce, "maxsi": np.maximum.reduce, "xor": np.bitwise_xor.reduce}


GRIDS = [((4, 2), (16, 16)), ((8, 1), (8, 32)), ((1, 8), (64, 4)), ((2, 2), (8, 8)), ((2, 4), (32, 8), (0, 1))]


@pytest.mark.parametrize(
    ("how", "dim", "kind"),
    [
        (how, dim, kind)
        for (how, dim), kind in zip(itertools.product(GRIDS, [0, 1]), itertools.cycle(KINDS), strict=False)
    ],
)
def test_reduction_to_a_slice(how, dim, kind):
    a, c = given("i32", 64, 32), given("i32", (32, 64)[dim], offset=1)
    acc = given("i32", (32, 64)[dim], offset=2)
    of = layout(*how)
    body = f"""{load("a", a, of)}
      %tacc = xegpu.create_nd_tdesc %macc : {memref(acc)} -> {tile(acc)}
      %acc = xegpu.load_nd %tacc[0] <{{layout = {sliced(of, dim)}}}> : {tile(acc)} -> vector<{acc.size}xi32>
      %c = vector.multi_reduction <{kind}>, %a, %acc {{layout_result_0 = {sliced(of, dim)}}} [{dim}]
          : vector<64x32xi32> to vector<{acc.size}xi32>
      {store("c", c)}"""
    run("workgroup", body, subgroups=int(np.prod(how[0])), ma=a, mc=c, macc=acc)
    with np.errstate(over="ignore"):
        expected = KINDS[kind](np.concatenate([a, acc[None]] if dim == 0 else [a, acc[:, None]], axis=dim), axis=dim)
    assert_same(c, expected.astype(np.int32))


def test_sums_of_f16_are_rounded_once():
    a = (np.random.default_rng(SEED).random((64, 64)) * 100).astype(np.float16)
    print("seed", SEED)
    c = given("f16", 64, offset=1)
    of = layout((2, 8), (8, 8))
    body = f"""{load("a", a, of)}
      %zero = arith.constant dense<0.0> : vector<64xf16>
      %c = vector.multi_reduction <add>, %a, %zero {{layout_result_0 = {sliced(of, 1)}}} [1]
          : vector<64x64xf16> to vector<64xf16>
      {store("c", c)}"""
    run("workgroup", body, subgroups=16, ma=a, mc=c)
    exact = a.astype(np.float64).sum(axis=1)
    assert np.all(np.abs(c.astype(np.float64) - exact) <= np.abs(np.spacing(exact.astype(np.float16))))


def test_reduction_of_three_dimensions_and_of_all():
    a, c = given("i32", 128, 32), given("i32", 8, 32, offset=1)
    s = given("i32", 1, 1, offset=2)
    cube = layout((4, 1, 2), (1, 16, 16), (2, 1, 0))
    body = f"""{load("a", a, layout((4, 2), (16, 16)))}
      %x = vector.shape_cast %a {{layout_result_0 = {cube}}} : vector<128x32xi32> to vector<8x16x32xi32>
      %zero = arith.constant dense<0> : vector<8x32xi32>
      %c = vector.multi_reduction <add>, %x, %zero {{layout_result_0 = {sliced(cube, 1)}}} [1]
          : vector<8x16x32xi32> to vector<8x32xi32>
      %seven = arith.constant 7 : i32
      %all = vector.multi_reduction <add>, %c, %seven [0, 1] : vector<8x32xi32> to i32
      memref.store %all, %ms[%c0, %c0] : {memref(s)}
      {store("c", c)}"""
    run("workgroup", body, subgroups=8, ma=a, mc=c, ms=s)
    assert_same(c, a.reshape(8, 16, 32).sum(axis=1, dtype=np.int32))
    assert s[0, 0] == a.sum() + 7


def test_reduction_of_a_row_to_a_number():
    a, c = given("f32", 256), given("f32", 256, offset=1)
    body = f"""{load("a", a, layout((8,), (16,)))}
      %most = vector.reduction <maximumf>, %a : vector<256xf32> into f32
      %b = vector.broadcast %most : f32 to vector<256xf32>
      %c = arith.subf %a, %b : vector<256xf32>
      {store("c", c)}"""
    run("workgroup", body, subgroups=8, ma=a, mc=c)
    assert_same(c, a - a.max())


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("how", [((4, 2), (16, 16)), ((2, 2), (8, 8)), ((8, 1), (8, 32))])
def test_broadcast_of_a_slice(how, dim):
    shape = (64, 32)
    a, c = given("f32", shape[1 - dim]), given("f32", *shape, offset=1)
    of, count = layout(*how), shape[1 - dim]
    middle = f"%r = vector.broadcast %a {{layout_result_0 = {of}}} : vector<{count}xf32> to vector<64x32xf32>"
    if dim == 1:
        middle = f"""%w = vector.shape_cast %a : vector<{count}xf32> to vector<{count}x1xf32>
          %r = vector.broadcast %w {{layout_result_0 = {of}}} : vector<{count}x1xf32> to vector<64x32xf32>"""
    body = f"""{load("a", a, sliced(of, dim))}
      {middle}
      %c = arith.addf %r, %r : vector<64x32xf32>
      {store("c", c)}"""
    run("workgroup", body, subgroups=int(np.prod(how[0])), ma=a, mc=c)
    row = a if dim == 0 else a[:, None]
    assert_same(c, np.ascontiguousarray(np.broadcast_to(row + row, shape)))


def test_softmax_of_rows():
    a = (np.random.default_rng(SEED).random((32, 128)) * 8).astype(np.float32)
    print("seed", SEED)
    c = given("f32", 32, 128, offset=1)
    of = layout((4, 4), (8, 32))
    body = f"""{load("a", a, of)}
      %low = arith.constant dense<0xFF800000> : vector<32xf32>
      %zero = arith.constant dense<0.0> : vector<32xf32>
      %most = vector.multi_reduction <maximumf>, %a, %low {{layout_result_0 = {sliced(of, 1)}}} [1]
          : vector<32x128xf32> to vector<32xf32>
      %m1 = vector.shape_cast %most : vector<32xf32> to vector<32x1xf32>
      %m = vector.broadcast %m1 : vector<32x1xf32> to vector<32x128xf32>
      %d = arith.subf %a, %m : vector<32x128xf32>
      %e = math.exp %d : vector<32x128xf32>
      %sum = vector.multi_reduction <add>, %e, %zero [1] : vector<32x128xf32> to vector<32xf32>
      %s1 = vector.shape_cast %sum : vector<32xf32> to vector<32x1xf32>
      %s = vector.broadcast %s1 : vector<32x1xf32> to vector<32x128xf32>
      %c = arith.divf %e, %s : vector<32x128xf32>
      {store("c", c)}"""
    run("workgroup", body, subgroups=16, ma=a, mc=c)
    e = np.exp(a.astype(np.float64) - a.max(axis=1, keepdims=True))
    np.testing.assert_allclose(c, e / e.sum(axis=1, keepdims=True), rtol=2e-6)
