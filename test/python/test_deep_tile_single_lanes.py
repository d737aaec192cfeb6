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
