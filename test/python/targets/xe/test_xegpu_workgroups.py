# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""XeGPU of a workgroup with layouts, distributed by `xetile-xegpu-wg-to-sg`, on the device, against NumPy."""

import itertools

import numpy as np
import pytest
from xegpu_layouts import given, layout, load, memref, store, tile, vector
from xegpu_programs import DTYPES, assert_same, run


def owner_of(index, shape, grid, data, order):
    """The ids of the subgroups that own an element, by the text of the RFC."""
    places = []
    for at, size, piece, count in zip(index, shape, data, grid, strict=True):
        pieces = size // piece
        places.append([c for c in range(count) if c % min(pieces, count) == at // piece % min(pieces, count)])
    ids = set()
    for place in np.array(np.meshgrid(*places)).T.reshape(-1, len(grid)):
        number, stride = 0, 1
        for dim in order:
            number += int(place[dim]) * stride
            stride *= grid[dim]
        ids.add(number)
    return ids


OWNED = {
    "one piece each": ((64, 64), (4, 2), (16, 32), (1, 0)),
    "ids along rows first": ((64, 64), (4, 2), (16, 32), (0, 1)),
    "rounds": ((64, 64), (2, 2), (8, 16), (1, 0)),
    "rounds along one dimension": ((96, 32), (4, 2), (8, 16), (0, 1)),
    "shared rows": ((16, 64), (2, 4), (16, 16), (1, 0)),
    "shared columns, ids along rows first": ((32, 32), (4, 2), (8, 32), (0, 1)),
    "fewer pieces than subgroups": ((16, 32), (4, 2), (8, 16), (1, 0)),
    "the RFC's 128x128 on 2x2 of 32x128": ((128, 128), (2, 2), (32, 128), (1, 0)),
    "odd sizes": ((30, 33), (3, 3), (5, 11), (1, 0)),
    "three dimensions of subgroups": ((24, 32), (3, 2), (4, 16), (1, 0)),
}


@pytest.mark.parametrize("name", OWNED)
def test_each_subgroup_owns_what_the_rfc_says(name):
    shape, grid, data, order = OWNED[name]
    how, ids = layout(grid, data, order), np.full(shape, -1, np.int8)
    body = f"""
      %id = gpu.subgroup_id : index
      %number = arith.index_cast %id : index to i8
      %ids = vector.broadcast %number {{layout_result_0 = {how}}} : i8 to {vector(shape, "i8")}
      {store("ids", ids, how)}"""
    run("workgroup", body, subgroups=int(np.prod(grid)), mids=ids)
    for index in np.ndindex(shape):
        assert int(ids[index]) in owner_of(index, shape, grid, data, order), index


@pytest.mark.parametrize("name", ["rounds", "shared rows", "ids along rows first", "odd sizes"])
def test_loads_and_stores(name):
    shape, grid, data, order = OWNED[name]
    a, c = given("f16", *shape), given("f16", *shape, offset=1)
    body = (
        load("a", a, layout(grid, data, order)) + f"%c = arith.addf %a, %a : {vector(shape, 'f16')}\n" + store("c", c)
    )
    run("workgroup", body, subgroups=int(np.prod(grid)), ma=a, mc=c)
    assert_same(c, a + a)


def test_sizes_of_pieces_follow_from_the_grid():
    a, c = given("f32", 48, 64), given("f32", 48, 64, offset=1)
    run("workgroup", load("a", a, layout((3, 2))) + store("a", c).replace("%ma", "%mc").replace("%ta", "%tc"),
        subgroups=6, ma=a, mc=c)  # fmt: skip
    assert_same(c, a)


def test_a_tile_hangs_over_the_edge():
    a, c = given("f32", 40, 56), given("f32", 64, 64, offset=1)
    how = layout((4, 2), (16, 32))
    t = tile(a, (64, 64))
    body = f"""
      %ta = xegpu.create_nd_tdesc %ma : {memref(a)} -> {t}
      %c = xegpu.load_nd %ta[0, 0] <{{layout = {how}}}> : {t} -> vector<64x64xf32>
      {store("c", c)}"""
    run("workgroup", body, subgroups=8, ma=a, mc=c)
    expected = np.zeros((64, 64), np.float32)
    expected[:40, :56] = a
    assert_same(c, expected)


def test_offsets_of_descriptors_and_accesses_add_up():
    a, c = given("f32", 128, 128), given("f32", 32, 32, offset=1)
    how = layout((2, 2), (16, 16))
    t = tile(a, (32, 32), how)
    body = f"""
      %c8 = arith.constant 8 : index
      %ta = xegpu.create_nd_tdesc %ma[%c8, 16] : {memref(a)} -> {t}
      %moved = xegpu.update_nd_offset %ta, [24, %c8] : {t}
      %again = xegpu.update_nd_offset %moved, [%c8, 0] : {t}
      %c = xegpu.load_nd %again[3, %c8] : {t} -> vector<32x32xf32>
      {store("c", c)}"""
    run("workgroup", body, subgroups=4, ma=a, mc=c)
    assert_same(c, np.ascontiguousarray(a[43:75, 32:64]))


def test_one_descriptor_under_two_layouts():
    a, c = given("f32", 64, 64), given("f32", 64, 64, offset=1)
    how, other = layout((4, 2), (16, 32)), layout((2, 4), (16, 16), (0, 1))
    t = tile(a)
    body = f"""
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %ta = xegpu.create_nd_tdesc %ma : {memref(a)} -> {t}
      %end = scf.for %i = %c0 to %c2 step %c1 iter_args(%at = %ta) -> ({t}) {{
        xegpu.prefetch_nd %at[0, 0] <{{layout = {layout((8, 1), (8, 64))}}}> : {t}
        %next = xegpu.update_nd_offset %at, [16, 0] : {t}
        scf.yield %next : {t}
      }}
      %x = xegpu.load_nd %end[0, 0] <{{layout = {how}}}> : {t} -> vector<64x64xf32>
      %y = xegpu.load_nd %end[0, 0] <{{layout = {other}}}> : {t} -> vector<64x64xf32>
      %c = arith.subf %x, %y {{layout_result_0 = {how}}} : vector<64x64xf32>
      {store("c", c)}"""
    run("workgroup", body, subgroups=8, ma=a, mc=c)
    assert_same(c, np.zeros((64, 64), np.float32))


# ---- dpas


def gemm(kind: str, out: str, m: int, n: int, k: int, step: int, a_how: str, b_how: str, c_how: str, grid: int):
    """C += A B in steps along k, with descriptors that move and prefetches under layouts of their own."""
    a, b = given(kind, m, k), given(kind, k, n, offset=1)
    c = given(out, m, n, offset=2)
    ta, tb = tile(a, (m, step)), tile(b, (step, n))
    body = f"""
      %step = arith.constant {step} : index
      %k = arith.constant {k} : index
      {load("c0", c, c_how).replace("%mc0", "%mc")}
      %ta = xegpu.create_nd_tdesc %ma : {memref(a)} -> {ta}
      %tb = xegpu.create_nd_tdesc %mb : {memref(b)} -> {tb}
      %c, %ea, %eb = scf.for %i = %c0 to %k step %step iter_args(%sum = %c0_, %pa = %ta, %pb = %tb)
          -> ({vector((m, n), out)}, {ta}, {tb}) {{
        %x = xegpu.load_nd %pa <{{layout = {a_how}}}> : {ta} -> {vector((m, step), kind)}
        %y = xegpu.load_nd %pb <{{layout = {b_how}}}> : {tb} -> {vector((step, n), kind)}
        %na = xegpu.update_nd_offset %pa, [0, %step] : {ta}
        %nb = xegpu.update_nd_offset %pb, [%step, 0] : {tb}
        xegpu.prefetch_nd %na <{{layout = {a_how}}}> : {ta}
        %next = xegpu.dpas %x, %y, %sum {{layout_cd = {c_how}}}
            : {vector((m, step), kind)}, {vector((step, n), kind)}, {vector((m, n), out)} -> {vector((m, n), out)}
        scf.yield %next, %na, %nb : {vector((m, n), out)}, {ta}, {tb}
      }}
      {store("c", c)}""".replace("%c0 = xegpu.load", "%c0_ = xegpu.load")
    wide = np.int64 if kind == "i8" else np.float64
    expected = (a.astype(wide) @ b.astype(wide) + c.astype(wide)).astype(DTYPES[out])
    run("workgroup", body, subgroups=grid, ma=a, mb=b, mc=c)
    assert_same(c, expected)


GEMMS = {
    "f16": ("f16", "f32", 64, 128, 96, 32, ((4, 4), (16, 32)), ((4, 4), (32, 32)), ((4, 4), (16, 32))),
    "bf16": ("bf16", "f32", 64, 64, 64, 16, ((2, 4), (32, 16)), ((2, 4), (16, 16)), ((2, 4), (32, 16))),
    "i8": ("i8", "i32", 64, 64, 128, 64, ((2, 2), (32, 64)), ((2, 2), (64, 32)), ((2, 2), (32, 32))),
    "rounds": ("f16", "f32", 64, 128, 64, 32, ((2, 2), (16, 32)), ((2, 2), (32, 32)), ((2, 2), (16, 32))),
    "ids along rows first": (
        "f16", "f32", 64, 64, 32, 32,
        ((4, 2), (16, 32), (0, 1)), ((4, 2), (32, 32), (0, 1)), ((4, 2), (16, 32), (0, 1)),
    ),
    "a and b along k": ("f16", "f32", 32, 64, 128, 64, ((2, 4), (16, 16)), ((2, 4), (32, 16)), ((2, 4), (16, 16))),
    "a as prefetched": ("f16", "f32", 64, 64, 64, 32, ((8, 1), (8, 32)), ((4, 2), (8, 32)), ((4, 2), (16, 32))),
}  # fmt: skip


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", GEMMS)
def test_gemm(name):
    kind, out, m, n, k, step, a, b, c = GEMMS[name]
    gemm(kind, out, m, n, k, step, layout(*a), layout(*b), layout(*c), int(np.prod(c[0])))


@pytest.mark.parametrize("unsigned", ["a", "b"])
def test_dpas_of_bytes_with_both_signs(unsigned):
    how, whole = layout((2, 2), (32, 32)), (layout((2, 2), (32, 64)), layout((2, 2), (64, 32)))
    a, b, c = given("i8", 64, 64), given("i8", 64, 64, offset=1), given("i32", 64, 64, offset=2)
    a, b = (np.where(x % 3 == 0, x, x - 120).astype(np.int8) for x in (a, b))
    signed = vector((64, 64), "si8")
    body = f"""
      {load("a", a, whole[0])}
      {load("b", b, whole[1])}
      %x = vector.bitcast %a : {vector((64, 64), "i8")} to {signed}
      %y = vector.bitcast %b : {vector((64, 64), "i8")} to {signed}
      %c = xegpu.dpas %x, %y {{layout_cd = {how}, xetile.unsigned_operand = "{unsigned}"}}
          : {signed}, {signed} -> {vector((64, 64), "i32")}
      {store("c", c, how)}"""
    run("workgroup", body, subgroups=4, ma=a, mb=b, mc=c)
    left, right = (x.view(np.uint8) if name == unsigned else x for name, x in (("a", a), ("b", b)))
    assert_same(c, left.astype(np.int32) @ right.astype(np.int32))


def test_dpas_of_packed_b_and_a_transposed_load():
    a, b, c = given("f32", 32, 64), given("f16", 32, 64, offset=1), given("f32", 64, 64, offset=2)
    how = layout((4, 2), (16, 32))
    ta, tb = tile(a, attr=layout((2, 4), (16, 16))), tile(b, attr=layout((4, 2), (32, 32)))
    body = f"""
      %ta = xegpu.create_nd_tdesc %ma : {memref(a)} -> {ta}
      %tb = xegpu.create_nd_tdesc %mb : {memref(b)} -> {tb}
      %x = xegpu.load_nd %ta[0, 0] <{{transpose = array<i64: 1, 0>}}> : {ta} -> vector<64x32xf32>
      %h = arith.truncf %x : vector<64x32xf32> to vector<64x32xf16>
      %y = xegpu.load_nd %tb[0, 0] <{{packed}}> : {tb} -> vector<16x64x2xf16>
      %c = xegpu.dpas %h, %y {{layout_cd = {how}}} : vector<64x32xf16>, vector<16x64x2xf16> -> vector<64x64xf32>
      {store("c", c)}"""
    run("workgroup", body, subgroups=8, ma=a, mb=b, mc=c)
    assert_same(c, a.T.copy() @ b.astype(np.float32))


# ---- convert_layout, transpose, shape_cast


CONVERSIONS = {
    "rows to columns": ((64, 64), ((8, 1), (8, 64)), ((1, 8), (64, 8))),
    "the RFC's": ((256, 256), ((8, 4), (32, 64)), ((32, 1), (8, 256))),
    "rounds": ((64, 64), ((2, 2), (8, 16)), ((2, 2), (32, 32))),
    "order": ((32, 64), ((2, 4), (16, 16), (1, 0)), ((2, 4), (16, 16), (0, 1))),
    "to all": ((16, 32), ((2, 2), (8, 16)), ((2, 2), (16, 32))),
    "from all": ((16, 32), ((2, 2), (16, 32)), ((2, 2), (8, 16))),
    "in registers": ((64, 32), ((4, 1), (16, 32)), ((4, 1), (8, 32))),
    "within each subgroup": ((64, 32), ((4, 2), (16, 16)), ((4, 2), (8, 16))),
    "odd sizes": ((30, 33), ((3, 3), (5, 11)), ((3, 3), (10, 11))),
}


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    ("name", "dtype"), list(zip(CONVERSIONS, itertools.cycle(["f16", "i8", "f32", "i64"]), strict=False))
)
def test_convert_layout(name, dtype):
    shape, source, target = CONVERSIONS[name]
    a, c = given(dtype, *shape), given(dtype, *shape, offset=1)
    body = f"""{load("a", a, layout(*source))}
      %c = xegpu.convert_layout %a <{{input_layout = {layout(*source)}, target_layout = {layout(*target)}}}>
          : {vector(shape, dtype)}
      {store("c", c)}"""
    run("workgroup", body, subgroups=int(np.prod(source[0])), ma=a, mc=c)
    assert_same(c, a)


def test_more_than_shared_memory_goes_in_parts():
    a, c = given("f32", 256, 256), given("f32", 256, 256, offset=1)
    source, target = layout((8, 2), (32, 128)), layout((2, 8), (128, 32))
    body = f"""{load("a", a, source)}
      %c = xegpu.convert_layout %a <{{input_layout = {source}, target_layout = {target}}}> : vector<256x256xf32>
      {store("c", c)}"""
    run("workgroup", body, subgroups=16, ma=a, mc=c)
    assert_same(c, a)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (((4, 2), (16, 16), (1, 0)), ((2, 4), (16, 16), (0, 1))),  # the rule: no element moves
        (((4, 2), (16, 16), (1, 0)), ((4, 2), (8, 32), (1, 0))),
        (((4, 2), (8, 16), (1, 0)), ((2, 4), (16, 16), (1, 0))),
    ],
)
def test_transpose(source, target):
    a, c = given("f16", 64, 32), given("f16", 32, 64, offset=1)
    body = f"""{load("a", a, layout(*source))}
      %c = vector.transpose %a, [1, 0] {{layout_result_0 = {layout(*target)}}} : vector<64x32xf16> to vector<32x64xf16>
      {store("c", c)}"""
    run("workgroup", body, subgroups=8, ma=a, mc=c)
    assert_same(c, np.ascontiguousarray(a.T))


def test_shape_cast_and_transpose_of_three_dimensions():
    a, c = given("f32", 64, 32), given("f32", 32, 64, offset=1)
    how = layout((4, 1, 2), (1, 16, 16))
    body = f"""{load("a", a, layout((4, 2), (16, 16)))}
      %x = vector.shape_cast %a {{layout_result_0 = {how}}} : vector<64x32xf32> to vector<4x16x32xf32>
      %y = vector.transpose %x, [0, 2, 1] : vector<4x16x32xf32> to vector<4x32x16xf32>
      %z = vector.transpose %y, [1, 0, 2] : vector<4x32x16xf32> to vector<32x4x16xf32>
      %c = vector.shape_cast %z : vector<32x4x16xf32> to vector<32x64xf32>
      {store("c", c)}"""
    run("workgroup", body, subgroups=8, ma=a, mc=c)
    assert_same(c, np.ascontiguousarray(a.T))


def test_shape_cast_to_a_dimension_of_one():
    a, c = given("f32", 64, 32), given("f32", 64, 32, offset=1)
    how = layout((4, 1, 2), (16, 1, 16))
    body = f"""{load("a", a, layout((8, 1), (8, 32)))}
      %x = vector.shape_cast %a {{layout_result_0 = {how}}} : vector<64x32xf32> to vector<64x1x32xf32>
      %y = arith.addf %x, %x : vector<64x1x32xf32>
      %c = vector.shape_cast %y : vector<64x1x32xf32> to vector<64x32xf32>
      {store("c", c)}"""
    run("workgroup", body, subgroups=8, ma=a, mc=c)
    assert_same(c, a + a)


def test_bitcast():
    a, c = given("i32", 32, 16), given("i16", 32, 32, offset=1)
    body = f"""{load("a", a, layout((4, 2), (8, 8)))}
      %c = vector.bitcast %a : vector<32x16xi32> to vector<32x32xi16>
      {store("c", c)}"""
    run("workgroup", body, subgroups=8, ma=a, mc=c)
    assert_same(c, a.view(np.int16))
