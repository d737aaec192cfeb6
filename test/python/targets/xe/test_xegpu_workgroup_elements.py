# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scattered accesses, atomics, shared memory, loops and constants of a workgroup's XeGPU, against NumPy."""

import ml_dtypes
import numpy as np
import pytest
from xegpu_layouts import SEED, given, layout, load, memref, store, tile
from xegpu_programs import assert_same, run

# ---- single elements, atomics, shared memory


@pytest.mark.parametrize("how", [((4,), (16,)), ((4,), (8,)), ((4,), (64,))])
def test_scattered_load_and_store(how):
    a, c = given("f32", 128), given("f32", 128, offset=1)
    before = c.copy()
    of = layout(*how)
    body = f"""
      %three = arith.constant dense<3> : vector<64xindex>
      %most = arith.constant dense<127> : vector<64xindex>
      %step = vector.step : vector<64xindex>
      %x = arith.muli %step, %three : vector<64xindex>
      %at = arith.remui %x, %most : vector<64xindex>
      %count = arith.constant 50 : index
      %mask = vector.create_mask %count : vector<64xi1>
      %v = xegpu.load %ma[%at], %mask <{{layout = {of}}}>
          : {memref(a)}, vector<64xindex>, vector<64xi1> -> vector<64xf32>
      %w = arith.addf %v, %v : vector<64xf32>
      xegpu.store %w, %mc[%at], %mask : vector<64xf32>, {memref(c)}, vector<64xindex>, vector<64xi1>"""
    run("workgroup", body, subgroups=4, ma=a, mc=c)
    at = np.arange(50) * 3 % 127
    before[at] = a[at] * 2
    assert_same(c, before)


def test_scattered_matrices():
    a, c = given("i32", 64 * 32), given("i32", 64 * 32, offset=1)
    of = layout((4, 2), (8, 16))
    body = f"""
      %row = vector.step : vector<64xindex>
      %column = vector.step : vector<32xindex>
      %wide = arith.constant dense<32> : vector<64xindex>
      %start = arith.muli %row, %wide : vector<64xindex>
      %start1 = vector.shape_cast %start : vector<64xindex> to vector<64x1xindex>
      %rows = vector.broadcast %start1 : vector<64x1xindex> to vector<64x32xindex>
      %columns = vector.broadcast %column : vector<32xindex> to vector<64x32xindex>
      %at = arith.addi %rows, %columns : vector<64x32xindex>
      %c60 = arith.constant 60 : index
      %c20 = arith.constant 20 : index
      %mask = vector.create_mask %c60, %c20 : vector<64x32xi1>
      %v = xegpu.load %ma[%at], %mask <{{layout = {of}}}>
          : {memref(a)}, vector<64x32xindex>, vector<64x32xi1> -> vector<64x32xi32>
      xegpu.store %v, %mc[%at], %mask : vector<64x32xi32>, {memref(c)}, vector<64x32xindex>, vector<64x32xi1>"""
    expected = c.reshape(64, 32).copy()
    run("workgroup", body, subgroups=8, ma=a, mc=c)
    expected[:60, :20] = a.reshape(64, 32)[:60, :20]
    assert_same(c.reshape(64, 32), expected)


def test_chunks():
    a, c = given("f32", 512), given("f32", 512, offset=1)
    of = layout((4, 1), (8, 4))
    body = f"""
      %four = arith.constant dense<4> : vector<64xindex>
      %step = vector.step : vector<64xindex>
      %at = arith.muli %step, %four : vector<64xindex>
      %mask = arith.constant dense<true> : vector<64xi1>
      %v = xegpu.load %ma[%at], %mask <{{chunk_size = 4 : i64, layout = {of}}}>
          : {memref(a)}, vector<64xindex>, vector<64xi1> -> vector<64x4xf32>
      %w = arith.negf %v : vector<64x4xf32>
      xegpu.store %w, %mc[%at], %mask <{{chunk_size = 4 : i64}}>
          : vector<64x4xf32>, {memref(c)}, vector<64xindex>, vector<64xi1>"""
    expected = np.concatenate([-a[:256], c[256:]])
    run("workgroup", body, subgroups=4, ma=a, mc=c)
    assert_same(c, expected)


SCATTERED = "#xegpu.scatter_tdesc_attr<chunk_size = 1 : i64>"


def test_scattered_descriptors():
    a, c = given("f32", 128), given("f32", 128, offset=1)
    of = layout((4,), (16,))
    t = f"!xegpu.tensor_desc<64xf32, {SCATTERED}, {of}>"
    body = f"""
      %step = vector.step : vector<64xindex>
      %mask = arith.constant dense<true> : vector<64xi1>
      %ta = xegpu.create_tdesc %ma, %step : {memref(a)}, vector<64xindex> -> {t}
      %sixty = arith.constant dense<60> : vector<64xindex>
      %moved = xegpu.update_offset %ta, %sixty : {t}, vector<64xindex>
      %v = xegpu.load %moved, %mask : {t}, vector<64xi1> -> vector<64xf32>
      %tc = xegpu.create_tdesc %mc, %step : {memref(c)}, vector<64xindex> -> {t}
      xegpu.prefetch %tc : {t}
      xegpu.store %v, %tc, %mask : vector<64xf32>, {t}, vector<64xi1>"""
    expected = np.concatenate([a[60:124], c[64:]])
    run("workgroup", body, subgroups=4, ma=a, mc=c)
    assert_same(c, expected)


@pytest.mark.parametrize("how", [((4,), (16,)), ((8,), (16,)), ((4,), (64,)), ((4,), (8,))])
def test_atomics_count_each_element_once(how):
    a, c = given("i32", 64), given("i32", 64, offset=1)
    of = layout(*how)
    t = f"!xegpu.tensor_desc<64xi32, {SCATTERED}, {of}>"
    before = a.copy()
    body = f"""
      %step = vector.step : vector<64xindex>
      %mask = arith.constant dense<true> : vector<64xi1>
      %ta = xegpu.create_tdesc %ma, %step : {memref(a)}, vector<64xindex> -> {t}
      %v = arith.constant dense<5> : vector<64xi32>
      %c = xegpu.atomic_rmw addi %ta, %mask, %v : {t}, vector<64xi1>, vector<64xi32> -> vector<64xi32>
      {store("c", c)}"""
    run("workgroup", body, subgroups=how[0][0], ma=a, mc=c)
    assert_same(a, before + np.int32(5))
    assert_same(c, before)


@pytest.mark.parametrize(
    "memory", ["", ", #xegpu.mem_layout<stride = [1, 64]>", ", #xegpu.mem_layout<block = [16, 16]>"]
)
def test_matrices_in_shared_memory(memory):
    a, c = given("f16", 64, 32), given("f16", 64, 32, offset=1)
    d = f"!xegpu.mem_desc<64x32xf16{memory}>"
    body = f"""{load("a", a, layout((4, 2), (16, 16)))}
      %shared = memref.alloca() : memref<4096xi8, 3>
      %d = xegpu.create_mem_desc %shared : memref<4096xi8, 3> -> {d}
      xegpu.store_matrix %a, %d[0, 0] : vector<64x32xf16>, {d}
      gpu.barrier
      %c = xegpu.load_matrix %d[0, 0] <{{layout = {layout((8, 1), (4, 32))}}}> : {d} -> vector<64x32xf16>
      {store("c", c)}"""
    run("workgroup", body, subgroups=8, ma=a, mc=c)
    assert_same(c, a)


# ---- control flow, constants


def test_loops_and_branches_carry_pieces():
    a, c = given("i32", 64, 32), given("i32", 64, 32, offset=1)
    of = layout((2, 2), (16, 8))
    v = "vector<64x32xi32>"
    body = f"""{load("a", a, of)}
      %c1 = arith.constant 1 : index
      %c5 = arith.constant 5 : index
      %one = arith.constant dense<1> : {v}
      %x = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %a) -> ({v}) {{
        %odd = arith.andi %i, %c1 : index
        %is = arith.cmpi eq, %odd, %c1 : index
        %y = scf.if %is -> ({v}) {{
          %t = arith.addi %s, %a : {v}
          scf.yield %t : {v}
        }} else {{
          %t = arith.subi %s, %one : {v}
          scf.yield %t : {v}
        }}
        scf.yield %y : {v}
      }}
      %c, %n = scf.while (%p = %x, %i = %c0) : ({v}, index) -> ({v}, index) {{
        %more = arith.cmpi slt, %i, %c5 : index
        scf.condition(%more) %p, %i : {v}, index
      }} do {{
      ^bb0(%p: {v}, %i: index):
        %q = arith.addi %p, %one : {v}
        %j = arith.addi %i, %c1 : index
        scf.yield %q, %j : {v}, index
      }}
      {store("c", c)}"""
    run("workgroup", body, subgroups=4, ma=a, mc=c)
    assert_same(c, a * 3 + np.int32(2))


def test_an_exchange_in_a_loop_waits_for_all():
    a, c = given("i32", 64, 64), given("i32", 64, 64, offset=1)
    rows, columns = layout((8, 1), (8, 64)), layout((1, 8), (64, 8))
    v = "vector<64x64xi32>"
    body = f"""{load("a", a, rows)}
      %c1 = arith.constant 1 : index
      %c6 = arith.constant 6 : index
      %c = scf.for %i = %c0 to %c6 step %c1 iter_args(%s = %a) -> ({v}) {{
        %x = xegpu.convert_layout %s <{{input_layout = {rows}, target_layout = {columns}}}> : {v}
        %t = vector.transpose %x, [1, 0] {{layout_result_0 = {rows}}} : {v} to {v}
        %y = xegpu.convert_layout %x <{{input_layout = {columns}, target_layout = {rows}}}> : {v}
        %z = arith.addi %t, %y : {v}
        scf.yield %z : {v}
      }}
      {store("c", c)}"""
    run("workgroup", body, subgroups=8, ma=a, mc=c)
    expected = a
    for _ in range(6):
        expected = expected.T + expected
    assert_same(c, np.ascontiguousarray(expected))


def test_constants_counters_and_masks():
    c = given("i32", 16, 32)
    values = np.random.default_rng(SEED).integers(-99, 99, (16, 32)).astype(np.int32)
    of = layout((2, 2), (4, 8), (0, 1))
    body = f"""
      %k = arith.constant dense<{values.tolist()}> : vector<16x32xi32>
      %step = vector.step : vector<32xindex>
      %n = arith.index_cast %step : vector<32xindex> to vector<32xi32>
      %r = vector.broadcast %n : vector<32xi32> to vector<16x32xi32>
      %mask = vector.constant_mask [9, 27] : vector<16x32xi1>
      %c = arith.select %mask, %k, %r : vector<16x32xi1>, vector<16x32xi32>
      {store("c", c, of)}"""
    run("workgroup", body, subgroups=4, mc=c)
    expected = np.ascontiguousarray(np.broadcast_to(np.arange(32, dtype=np.int32), (16, 32)))
    expected[:9, :27] = values[:9, :27]
    assert_same(c, expected)


def test_layouts_of_lanes_stay():
    a, b = given("f16", 32, 64), given("f16", 64, 64, offset=1)
    c = given("f32", 32, 64, offset=2)
    lanes = "inst_data = [8, 16], lane_layout = [1, 16], lane_data = [1, 1]"
    packed = "inst_data = [16, 16], lane_layout = [1, 16], lane_data = [2, 1]"
    of_a, of_b = layout((2, 2), (16, 64), None, lanes), layout((2, 2), (64, 32), None, packed)
    of_c = layout((2, 2), (16, 32), None, lanes)
    ta, tb, tc = tile(a, attr=of_a), tile(b, attr=of_b), tile(c, attr=of_c)
    body = f"""
      %ta = xegpu.create_nd_tdesc %ma : {memref(a)} -> {ta}
      %tb = xegpu.create_nd_tdesc %mb : {memref(b)} -> {tb}
      %tc = xegpu.create_nd_tdesc %mc : {memref(c)} -> {tc}
      %x = xegpu.load_nd %ta : {ta} -> vector<32x64xf16>
      %y = xegpu.load_nd %tb : {tb} -> vector<64x64xf16>
      %z = xegpu.dpas %x, %y {{layout_a = {of_a}, layout_b = {of_b}, layout_cd = {of_c}}}
          : vector<32x64xf16>, vector<64x64xf16> -> vector<32x64xf32>
      xegpu.store_nd %z, %tc : vector<32x64xf32>, {tc}"""
    run("workgroup", body, subgroups=4, ma=a, mb=b, mc=c)
    assert_same(c, a.astype(np.float32) @ b.astype(np.float32))


def test_bf16_is_summed_in_f32():
    a = given("bf16", 64, 64)
    c = given("bf16", 64, offset=1)
    of = layout((2, 4), (32, 16))
    body = f"""{load("a", a, of)}
      %zero = arith.constant dense<0.0> : vector<64xbf16>
      %c = vector.multi_reduction <add>, %a, %zero [1] : vector<64x64xbf16> to vector<64xbf16>
      {store("c", c)}"""
    run("workgroup", body, subgroups=8, ma=a, mc=c)
    assert_same(c, a.astype(np.float32).sum(axis=1).astype(ml_dtypes.bfloat16))
