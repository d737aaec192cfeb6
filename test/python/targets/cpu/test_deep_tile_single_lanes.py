# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiles of one column whose elements are narrowed before they are stored: their neighbours stay."""

import ml_dtypes
import numpy as np
import pytest
from xetile import cpu
from xetile.mlir import ir

MATMUL = """
func.func @f(%a: tensor<50x70xf32>, %b: tensor<70x40xf32>, %c: tensor<50x40xf32>) -> tensor<50x40xbf16> {
  %d = linalg.matmul ins(%a, %b : tensor<50x70xf32>, tensor<70x40xf32>)
      outs(%c : tensor<50x40xf32>) -> tensor<50x40xf32>
  %e = arith.truncf %d : tensor<50x40xf32> to tensor<50x40xbf16>
  return %e : tensor<50x40xbf16>
}
"""


@pytest.mark.parametrize("order", range(6))
def test_a_tile_of_one_column_leaves_the_next_row_alone(rng, order):
    """The last column's element is followed by the first one of the next row, which was stored before."""
    config = {"innermostMBlock": 47, "MBlock": 141, "innermostNBlock": 1, "NBlock": 2, "loopOrder": order}
    with ir.Context():
        kernel = cpu.compile(ir.Module.parse(MATMUL), config=config, threads=1)
    a, b, c = (rng.integers(-4, 5, shape).astype(np.float32) for shape in ((50, 70), (70, 40), (50, 40)))
    expected = (a @ b + c).astype(ml_dtypes.bfloat16)
    result = kernel(a, b, c)
    assert np.array_equal(result.astype(np.float32), expected.astype(np.float32))


def test_one_column_besides_whole_vectors_leaves_the_next_row_alone(rng):
    """LLVM unrolls the loop over blocks of columns; what is left of the last one is a column, as it finds out then."""
    text = MATMUL.replace("70x40xf32", "40x70xf32").replace(
        "linalg.matmul",
        "linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,\n"
        "      affine_map<(m, n, k) -> (m, n)>]",
    )
    config = {"innermostMBlock": 17, "MBlock": 17, "innermostNBlock": 23, "NBlock": 46, "loopOrder": 5}
    config |= {"innermostKBlock": 47, "KBlock": 141, "MThreads": 2, "NThreads": 1, "KThreads": 1}
    with ir.Context():
        kernel = cpu.compile(ir.Module.parse(text), config=config, threads=4)
    a, b, c = (rng.integers(-4, 5, shape).astype(np.float32) for shape in ((50, 70), (40, 70), (50, 40)))
    expected = (a @ b.T + c).astype(ml_dtypes.bfloat16)
    assert np.array_equal(kernel(a, b, c).astype(np.float32), expected.astype(np.float32))


BLOCKS = """
func.func @f(%x: tensor<6x{columns}x{wide}>) -> tensor<6x{columns}x{narrow}> {{
  %zero = arith.constant 0 : index
  %step = arith.constant {block} : index
  %end = arith.constant {columns} : index
  %e = tensor.empty() : tensor<6x{columns}x{narrow}>
  %r = scf.for %j = %zero to %end step %step iter_args(%all = %e) -> tensor<6x{columns}x{narrow}> {{
    %n = affine.min affine_map<(j) -> ({columns} - j, {block})>(%j)
    %part = tensor.extract_slice %x[0, %j] [6, %n] [1, 1] : tensor<6x{columns}x{wide}> to tensor<6x?x{wide}>
    %into = tensor.extract_slice %all[0, %j] [6, %n] [1, 1] : tensor<6x{columns}x{narrow}> to tensor<6x?x{narrow}>
    %done = linalg.generic {{
        indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
        iterator_types = ["parallel", "parallel"]}}
        ins(%part : tensor<6x?x{wide}>) outs(%into : tensor<6x?x{narrow}>) {{
    ^bb0(%v: {wide}, %w: {narrow}):
      %y = arith.trunc{kind} %v : {wide} to {narrow}
      linalg.yield %y : {narrow}
    }} -> tensor<6x?x{narrow}>
    %more = tensor.insert_slice %done into %all[0, %j] [6, %n] [1, 1]
        : tensor<6x?x{narrow}> into tensor<6x{columns}x{narrow}>
    scf.yield %more : tensor<6x{columns}x{narrow}>
  }}
  return %r : tensor<6x{columns}x{narrow}>
}}
"""


@pytest.mark.parametrize(("columns", "block"), [(39, 22), (40, 23), (31, 23), (20, 11), (50, 25)])
@pytest.mark.parametrize(
    ("wide", "narrow"),
    [("i32", "i8"), ("i32", "i16"), ("i64", "i32"), ("f32", "bf16"), ("f64", "bf16"), ("f32", "f16"), ("f64", "f32")],
)
def test_blocks_of_columns_leave_their_neighbours_alone(rng, wide, narrow, columns, block):
    """Neither the loop nor its mask is constant before LLVM unrolls it."""
    text = BLOCKS.format(columns=columns, block=block, wide=wide, narrow=narrow, kind="i" if wide[0] == "i" else "f")
    with ir.Context():
        kernel = cpu.compile(ir.Module.parse(text), threads=1)
    x = rng.integers(-100, 101, (6, columns)).astype(kernel.arguments[0].numpy_dtype)
    assert np.array_equal(kernel(x).astype(np.float64), x.astype(np.float64))
