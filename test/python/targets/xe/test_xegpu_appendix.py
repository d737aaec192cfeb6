# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Appendices 1.1 to 1.3 of the XeGPU RFC: whole programs of a workgroup, in upstream's spelling, against NumPy.

The tiles, layouts and order of operations are the RFC's; the matrices are smaller, so that a CPU runs them. Where the
RFC's text slips: the loop carries the sum that its dpas leaves out, prefetches move the tiles made for them, and in
1.2, which stores the sums of rows of each column of tiles to one place, there is one column of tiles. A branch gives no
descriptors here: in 1.3 they move behind it, by nothing where it was not taken.
"""

import numpy as np
from xegpu_programs import assert_same, numbers, run

SEED = int(np.random.default_rng().integers(1 << 30))
CONSTANTS = "\n".join(f"%c{n} = arith.constant {n} : index" for n in (1, 4, 32, 64, 96, 128, 192, 256, 512))


def given(dtype: str, *shape: int, offset: int = 0) -> np.ndarray:
    print("seed", SEED)
    return numbers(dtype, *shape, seed=SEED + offset)


def layout(grid, data, order=(1, 0)) -> str:
    return f"#xegpu.layout<sg_layout = {list(grid)}, sg_data = {list(data)}, order = {list(order)}>"


MP_A, MP_A_PFH = layout((8, 4), (32, 32)), layout((32, 1), (8, 32))
MP_B, MP_B_PFH = layout((8, 4), (32, 64)), layout((4, 8), (8, 32))
MP_C = layout((8, 4), (32, 64))


def test_simple_gemm_with_prefetch():
    """Appendix 1.1."""
    a, b, c = given("f16", 512, 160), given("f16", 160, 512, offset=1), given("f32", 512, 512, offset=2)
    ta, tap = f"!xegpu.tensor_desc<256x32xf16, {MP_A}>", f"!xegpu.tensor_desc<256x32xf16, {MP_A_PFH}>"
    tb, tbp = f"!xegpu.tensor_desc<32x256xf16, {MP_B}>", f"!xegpu.tensor_desc<32x256xf16, {MP_B_PFH}>"
    tc = f"!xegpu.tensor_desc<256x256xf32, {MP_C}>"
    body = f"""
      {CONSTANTS}
      %c160 = arith.constant 160 : index
      scf.for %i = %c0 to %c512 step %c256 {{
        scf.for %j = %c0 to %c512 step %c256 {{
          %1 = xegpu.create_nd_tdesc %a[%i, %c0] : memref<512x160xf16> -> {ta}
          %2 = xegpu.create_nd_tdesc %b[%c0, %j] : memref<160x512xf16> -> {tb}
          %p1 = xegpu.create_nd_tdesc %a[%i, %c96] : memref<512x160xf16> -> {tap}
          %p2 = xegpu.create_nd_tdesc %b[%c96, %j] : memref<160x512xf16> -> {tbp}
          %3 = xegpu.create_nd_tdesc %c[%i, %j] : memref<512x512xf32> -> {tc}
          %zero = arith.constant dense<0.0> : vector<256x256xf32>
          %r:5 = scf.for %k = %c0 to %c160 step %c32
              iter_args(%sum = %zero, %x = %1, %y = %2, %xp = %p1, %yp = %p2)
              -> (vector<256x256xf32>, {ta}, {tb}, {tap}, {tbp}) {{
            %4 = xegpu.load_nd %x : {ta} -> vector<256x32xf16>
            %10 = xegpu.load_nd %y : {tb} -> vector<32x256xf16>
            xegpu.prefetch_nd %xp : {tap}
            xegpu.prefetch_nd %yp : {tbp}
            %6 = xegpu.dpas %4, %10, %sum {{layout_a = {MP_A}, layout_b = {MP_B}, layout_cd = {MP_C}}}
                : vector<256x32xf16>, vector<32x256xf16>, vector<256x256xf32> -> vector<256x256xf32>
            %x1 = xegpu.update_nd_offset %x, [%c0, %c32] : {ta}
            %y1 = xegpu.update_nd_offset %y, [%c32, %c0] : {tb}
            %xp1 = xegpu.update_nd_offset %xp, [%c0, %c32] : {tap}
            %yp1 = xegpu.update_nd_offset %yp, [%c32, %c0] : {tbp}
            scf.yield %6, %x1, %y1, %xp1, %yp1 : vector<256x256xf32>, {ta}, {tb}, {tap}, {tbp}
          }}
          xegpu.store_nd %r#0, %3 : vector<256x256xf32>, {tc}
        }}
      }}"""
    run("workgroup", body, subgroups=32, a=a, b=b, c=c)
    assert_same(c, a.astype(np.float32) @ b.astype(np.float32))


def test_gemm_with_transpose_broadcast_and_reduction():
    """Appendix 1.2."""
    a, bt = given("f16", 512, 96), given("f16", 256, 96, offset=1)
    bcast, res = given("f32", 256, offset=2), given("f32", 512, offset=3)
    mp_bt, mp_bt_pfh = layout((4, 8), (64, 32), (0, 1)), layout((32, 1), (8, 32))
    row = layout((32,), (8,), (0,))
    mp_bcast = f"#xegpu.slice<{MP_C}, dims = [0]>"
    mp_reduce2 = layout((32, 1), (8, 256))
    mp_reduce = f"#xegpu.slice<{mp_reduce2}, dims = [1]>"
    ta, tap = f"!xegpu.tensor_desc<256x32xf16, {MP_A}>", f"!xegpu.tensor_desc<256x32xf16, {MP_A_PFH}>"
    tb, tbp = f"!xegpu.tensor_desc<256x32xf16, {mp_bt}>", f"!xegpu.tensor_desc<256x32xf16, {mp_bt_pfh}>"
    tr = f"!xegpu.tensor_desc<256xf32, {row}>"
    body = f"""
      {CONSTANTS}
      scf.for %i = %c0 to %c512 step %c256 {{
        scf.for %j = %c0 to %c256 step %c256 {{
          %1 = xegpu.create_nd_tdesc %a[%i, %c0] : memref<512x96xf16> -> {ta}
          %2 = xegpu.create_nd_tdesc %bt[%j, %c0] : memref<256x96xf16> -> {tb}
          %p1 = xegpu.create_nd_tdesc %a[%i, %c192] : memref<512x96xf16> -> {tap}
          %p2 = xegpu.create_nd_tdesc %bt[%j, %c192] : memref<256x96xf16> -> {tbp}
          %7 = xegpu.create_nd_tdesc %bcast[%j] : memref<256xf32> -> {tr}
          %3 = xegpu.create_nd_tdesc %res[%i] : memref<512xf32> -> {tr}
          %zero = arith.constant dense<0.0> : vector<256x256xf32>
          %r:5 = scf.for %k = %c0 to %c96 step %c32
              iter_args(%sum = %zero, %x = %1, %y = %2, %xp = %p1, %yp = %p2)
              -> (vector<256x256xf32>, {ta}, {tb}, {tap}, {tbp}) {{
            %4 = xegpu.load_nd %x : {ta} -> vector<256x32xf16>
            %10 = xegpu.load_nd %y : {tb} -> vector<256x32xf16>
            %5 = vector.transpose %10, [1, 0] {{layout_result_0 = {MP_B}}} : vector<256x32xf16> to vector<32x256xf16>
            xegpu.prefetch_nd %xp : {tap}
            xegpu.prefetch_nd %yp : {tbp}
            %6 = xegpu.dpas %4, %5, %sum {{layout_a = {MP_A}, layout_b = {MP_B}, layout_cd = {MP_C}}}
                : vector<256x32xf16>, vector<32x256xf16>, vector<256x256xf32> -> vector<256x256xf32>
            %x1 = xegpu.update_nd_offset %x, [%c0, %c32] : {ta}
            %y1 = xegpu.update_nd_offset %y, [%c0, %c32] : {tb}
            %xp1 = xegpu.update_nd_offset %xp, [%c0, %c32] : {tap}
            %yp1 = xegpu.update_nd_offset %yp, [%c0, %c32] : {tbp}
            scf.yield %6, %x1, %y1, %xp1, %yp1 : vector<256x256xf32>, {ta}, {tb}, {tap}, {tbp}
          }}
          %12 = xegpu.load_nd %7 : {tr} -> vector<256xf32>
          %v12 = xegpu.convert_layout %12 <{{input_layout = {row}, target_layout = {mp_bcast}}}> : vector<256xf32>
          %13 = vector.broadcast %v12 {{layout_result_0 = {MP_C}}} : vector<256xf32> to vector<256x256xf32>
          %14 = arith.addf %r#0, %13 : vector<256x256xf32>
          %v14 = xegpu.convert_layout %14 <{{input_layout = {MP_C}, target_layout = {mp_reduce2}}}>
              : vector<256x256xf32>
          %none = arith.constant dense<0.0> : vector<256xf32>
          %16 = vector.multi_reduction <add>, %v14, %none {{layout_result_0 = {mp_reduce}}} [1]
              : vector<256x256xf32> to vector<256xf32>
          xegpu.store_nd %16, %3 : vector<256xf32>, {tr}
        }}
      }}"""
    run("workgroup", body, subgroups=32, a=a, bt=bt, bcast=bcast, res=res)
    # Whole numbers, of which f32 holds each exactly.
    assert_same(res, (a.astype(np.float64) @ bt.astype(np.float64).T + bcast).sum(axis=1).astype(np.float32))


def test_gemm_with_two_cache_levels():
    """Appendix 1.3: 512x256 of C in a workgroup are more registers than a thread has; a GPU's compiler spills."""
    a, b, c = given("f16", 512, 256), given("f16", 256, 256, offset=1), given("f32", 512, 256, offset=2)
    mp_a, mp_b, mp_c = layout((8, 4), (64, 32)), layout((8, 4), (32, 64)), layout((8, 4), (64, 64))
    a_l2, b_l2 = layout((32, 1), (16, 128)), layout((16, 2), (8, 128))
    a_l1, b_l1 = layout((32, 1), (16, 32)), layout((4, 8), (8, 32))
    ta2, tb2 = f"!xegpu.tensor_desc<512x128xf16, {a_l2}>", f"!xegpu.tensor_desc<128x256xf16, {b_l2}>"
    ta1, tb1 = f"!xegpu.tensor_desc<512x32xf16, {a_l1}>", f"!xegpu.tensor_desc<32x256xf16, {b_l1}>"
    ta, tb = f"!xegpu.tensor_desc<512x32xf16, {mp_a}>", f"!xegpu.tensor_desc<32x256xf16, {mp_b}>"
    tc = f"!xegpu.tensor_desc<512x256xf32, {mp_c}>"
    hints = (
        "<{l1_hint = #xegpu.cache_hint<%s>, l2_hint = #xegpu.cache_hint<cached>, l3_hint = #xegpu.cache_hint<cached>}>"
    )
    far, near = hints % "uncached", hints % "cached"
    ma, mb = "memref<512x256xf16>", "memref<256x256xf16>"
    first = "\n".join(
        f"""%a{n}_l1 = xegpu.create_nd_tdesc %a[%i, %c{at}] : {ma} -> {ta1}
            %b{n}_l1 = xegpu.create_nd_tdesc %b[%c{at}, %j] : {mb} -> {tb1}
            xegpu.prefetch_nd %a{n}_l1 {near} : {ta1}
            xegpu.prefetch_nd %b{n}_l1 {near} : {tb1}"""
        for n, at in enumerate((0, 32, 64, 96), start=1)
    )
    carried = f"vector<512x256xf32>, {ta}, {tb}, {ta1}, {tb1}, {ta2}, {tb2}"
    body = f"""
      {CONSTANTS}
      scf.for %i = %c0 to %c512 step %c512 {{
        scf.for %j = %c0 to %c256 step %c256 {{
          %a1_l2 = xegpu.create_nd_tdesc %a[%i, %c0] : {ma} -> {ta2}
          %b1_l2 = xegpu.create_nd_tdesc %b[%c0, %j] : {mb} -> {tb2}
          %a2_l2 = xegpu.create_nd_tdesc %a[%i, %c128] : {ma} -> {ta2}
          %b2_l2 = xegpu.create_nd_tdesc %b[%c128, %j] : {mb} -> {tb2}
          xegpu.prefetch_nd %a1_l2 {far} : {ta2}
          xegpu.prefetch_nd %b1_l2 {far} : {tb2}
          xegpu.prefetch_nd %a2_l2 {far} : {ta2}
          xegpu.prefetch_nd %b2_l2 {far} : {tb2}
          %a2_next = xegpu.update_nd_offset %a2_l2, [%c0, %c128] : {ta2}
          %b2_next = xegpu.update_nd_offset %b2_l2, [%c128, %c0] : {tb2}
          {first}
          %a4_next = xegpu.update_nd_offset %a4_l1, [%c0, %c32] : {ta1}
          %b4_next = xegpu.update_nd_offset %b4_l1, [%c32, %c0] : {tb1}
          %a1_load = xegpu.create_nd_tdesc %a[%i, %c0] : {ma} -> {ta}
          %b1_load = xegpu.create_nd_tdesc %b[%c0, %j] : {mb} -> {tb}
          %c_tile = xegpu.create_nd_tdesc %c[%i, %j] : memref<512x256xf32> -> {tc}
          %zero = arith.constant dense<0.0> : vector<512x256xf32>
          %r:7 = scf.for %k = %c0 to %c256 step %c32
              iter_args(%sum = %zero, %x = %a1_load, %y = %b1_load, %x1 = %a4_next, %y1 = %b4_next, %x2 = %a2_next,
                        %y2 = %b2_next) -> ({carried}) {{
            %a1_r = xegpu.load_nd %x : {ta} -> vector<512x32xf16>
            %b1_r = xegpu.load_nd %y : {tb} -> vector<32x256xf16>
            %rest = arith.remui %k, %c128 : index
            %is = arith.cmpi eq, %rest, %c0 : index
            scf.if %is {{
              gpu.barrier
              xegpu.prefetch_nd %x2 {far} : {ta2}
              xegpu.prefetch_nd %y2 {far} : {tb2}
            }}
            %ahead = arith.select %is, %c128, %c0 : index
            %x2n = xegpu.update_nd_offset %x2, [%c0, %ahead] : {ta2}
            %y2n = xegpu.update_nd_offset %y2, [%ahead, %c0] : {tb2}
            xegpu.prefetch_nd %x1 {near} : {ta1}
            xegpu.prefetch_nd %y1 {near} : {tb1}
            %x1n = xegpu.update_nd_offset %x1, [%c0, %c32] : {ta1}
            %y1n = xegpu.update_nd_offset %y1, [%c32, %c0] : {tb1}
            %xn = xegpu.update_nd_offset %x, [%c0, %c32] : {ta}
            %yn = xegpu.update_nd_offset %y, [%c32, %c0] : {tb}
            %6 = xegpu.dpas %a1_r, %b1_r, %sum {{layout_a = {mp_a}, layout_b = {mp_b}, layout_cd = {mp_c}}}
                : vector<512x32xf16>, vector<32x256xf16>, vector<512x256xf32> -> vector<512x256xf32>
            scf.yield %6, %xn, %yn, %x1n, %y1n, %x2n, %y2n : {carried}
          }}
          xegpu.store_nd %r#0, %c_tile : vector<512x256xf32>, {tc}
        }}
      }}"""
    run("workgroup", body, subgroups=32, a=a, b=b, c=c)
    assert_same(c, a.astype(np.float32) @ b.astype(np.float32))
