# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Slices, insertions and transfers of a workgroup's XeGPU, against NumPy."""

import numpy as np
import pytest
from xegpu_layouts import given, layout, load, memref, store, vector
from xegpu_programs import assert_same, run

# Pieces side by side, in rounds, and rows that subgroups share.
HOWS = [((4, 2), (16, 32)), ((2, 4), (8, 8)), ((8, 1), (8, 64)), ((4, 2), (64, 32))]


def distributed(body: str, a: np.ndarray, c: np.ndarray, how, **others: np.ndarray) -> np.ndarray:
    """`body` makes %c, to be stored to `c`, of %a, a matrix of 8 subgroups under the layout `how`."""
    inputs = "".join(load(f"{name}", array, layout(*how)) for name, array in {"a": a, **others}.items())
    mats = {f"m{name}": array for name, array in {"a": a, **others, "c": c}.items()}
    run("workgroup", inputs + body + "\n" + store("c", c), subgroups=8, **mats)
    return c


@pytest.mark.parametrize("how", HOWS)
def test_row_of_a_matrix(how):
    a, c = given("f32", 64, 64), np.zeros((64, 64), np.float32)
    body = """%row = vector.extract %a[37] : vector<64xf32> from vector<64x64xf32>
      %rows = vector.broadcast %row : vector<64xf32> to vector<64x64xf32>
      %c = arith.addf %a, %rows : vector<64x64xf32>"""
    assert_same(distributed(body, a, c, how), a + a[37])


@pytest.mark.one_in(3)
@pytest.mark.parametrize("how", HOWS)
def test_number_of_a_matrix(how):
    a, c = given("i32", 64, 64), np.zeros((64, 64), np.int32)
    body = """%number = vector.extract %a[50, 19] : i32 from vector<64x64xi32>
      %all = vector.broadcast %number : i32 to vector<64x64xi32>
      %c = arith.muli %a, %all : vector<64x64xi32>"""
    assert_same(distributed(body, a, c, how), a * a[50, 19])


@pytest.mark.one_in(8)
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize(("rows", "columns"), [((0, 64), (32, 32)), ((16, 32), (0, 64)), ((24, 16), (8, 32))])
def test_slice(how, rows, columns):
    a = given("f16", 64, 64)
    (row, height), (column, width) = rows, columns
    c = np.zeros((height, width), np.float16)
    kind = vector((height, width), "f16")
    of = layout((4, 2), (height // 4, width // 2))
    body = f"""%s = vector.extract_strided_slice %a {{offsets = [{row}, {column}], sizes = [{height}, {width}],
        strides = [1, 1], layout_result_0 = {of}}} : vector<64x64xf16> to {kind}
      %c = arith.addf %s, %s : {kind}"""
    assert_same(distributed(body, a, c, how), 2 * a[row : row + height, column : column + width])


@pytest.mark.one_in(8)
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize(("row", "column", "height", "width"), [(0, 32, 64, 32), (16, 0, 16, 64), (40, 8, 8, 32)])
def test_slice_put_into_a_matrix(how, row, column, height, width):
    a, c = given("f32", 64, 64), np.zeros((64, 64), np.float32)
    kind = vector((height, width), "f32")
    body = f"""%s = vector.extract_strided_slice %a {{offsets = [0, 0], sizes = [{height}, {width}], strides = [1, 1]}}
        : vector<64x64xf32> to {kind}
      %n = arith.negf %s : {kind}
      %c = vector.insert_strided_slice %n, %a {{offsets = [{row}, {column}], strides = [1, 1]}}
        : {kind} into vector<64x64xf32>"""
    expected = a.copy()
    expected[row : row + height, column : column + width] = -a[:height, :width]
    assert_same(distributed(body, a, c, how), expected)


@pytest.mark.parametrize("how", HOWS)
def test_row_put_into_a_matrix(how):
    a, c = given("f32", 64, 64), np.zeros((64, 64), np.float32)
    body = """%row = vector.extract %a[3] : vector<64xf32> from vector<64x64xf32>
      %c = vector.insert %row, %a[40] : vector<64xf32> into vector<64x64xf32>"""
    expected = a.copy()
    expected[40] = a[3]
    assert_same(distributed(body, a, c, how), expected)


@pytest.mark.parametrize("how", HOWS)
def test_transfers(how):
    a, c = given("f32", 3, 70, 80), given("f32", 64, 128, offset=1)
    expected = c.copy()
    of = layout(*how)
    body = f"""%c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c40 = arith.constant 40 : index
      %pad = arith.constant 7.0 : f32
      %v = vector.transfer_read %ma[%c1, %c2, %c40], %pad {{in_bounds = [true, false], layout_result_0 = {of}}}
          : {memref(a)}, vector<64x64xf32>
      %w = arith.addf %v, %v : vector<64x64xf32>
      vector.transfer_write %w, %mc[%c0, %c2] {{in_bounds = [true, true]}} : vector<64x64xf32>, {memref(c)}"""
    run("workgroup", body, subgroups=8, ma=a, mc=c)
    read = np.full((64, 64), 7, np.float32)
    read[:, :40] = a[1, 2:66, 40:]
    expected[:, 2:66] = 2 * read
    assert_same(c, expected)


@pytest.mark.parametrize("how", HOWS)
def test_transfers_with_masks_and_permutations(how):
    a, c = given("f32", 64, 64), given("f32", 64, 64, offset=1)
    expected = c.copy()
    of = layout(*how)
    body = f"""%c20 = arith.constant 20 : index
      %c50 = arith.constant 50 : index
      %pad = arith.constant 0.0 : f32
      %v = vector.transfer_read %ma[%c0, %c0], %pad {{in_bounds = [true, true], layout_result_0 = {of},
          permutation_map = affine_map<(i, j) -> (j, i)>}} : {memref(a)}, vector<64x64xf32>
      %row = vector.transfer_read %ma[%c20, %c0], %pad {{in_bounds = [true, true],
          permutation_map = affine_map<(i, j) -> (0, j)>}} : {memref(a)}, vector<64x64xf32>
      %w = arith.addf %v, %row : vector<64x64xf32>
      %mask = vector.create_mask %c50, %c20 : vector<64x64xi1>
      vector.transfer_write %w, %mc[%c0, %c0], %mask {{in_bounds = [true, true]}} : vector<64x64xf32>, {memref(c)}"""
    run("workgroup", body, subgroups=8, ma=a, mc=c)
    expected[:50, :20] = (a.T + a[20])[:50, :20]
    assert_same(c, expected)
