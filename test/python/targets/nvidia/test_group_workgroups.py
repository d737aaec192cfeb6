# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Workgroups walk tiles in groups of rows: each tile once, and those of a group before the next one's."""

import re

import numpy as np
import pytest
from xetile import passes
from xetile.mlir import ir
from xetile_programs import run

KERNEL = """gpu.module @kernels {
  gpu.func @tiles(%out: memref<?x?xindex>, %number: index) kernel {
    %x = gpu.block_id x
    %y = gpu.block_id y
    memref.store %number, %out[%y, %x] : memref<?x?xindex>
    gpu.return
  }
}"""


def grid_of(height: int, width: int, rows: int) -> str:
    """The kernel after the pass, for all workgroups of a grid: block_id are counters of loops."""
    with ir.Context():
        module = ir.Module.parse(KERNEL)
        passes.run(module, f"gpu.module(xetile-group-workgroups{{rows={rows}}})")
        text = str(module)
    body = text[text.index("kernel {") + len("kernel {") : text.index("gpu.return")]
    # Numbers of the text stay apart from that of the argument.
    body = re.sub(r"%(\d+)", r"%v\1", body)
    for dimension, size in (("x", "width"), ("y", "height")):
        body = body.replace(f"gpu.block_id  {dimension}", f"arith.addi %{dimension}, %none : index")
        body = body.replace(f"gpu.grid_dim  {dimension}", f"arith.addi %{size}, %none : index")
    body = body.replace("memref<?x?xindex>", f"memref<{height}x{width}xindex, strided<[{width}, 1]>>")
    body = body.replace("%arg0", "%0").replace("%arg1", "%number")
    return f"""
      %none = arith.constant 0 : index
      %step = arith.constant 1 : index
      %width = arith.constant {width} : index
      %height = arith.constant {height} : index
      scf.for %y = %none to %height step %step {{
        scf.for %x = %none to %width step %step {{
          %before = arith.muli %y, %width : index
          %number = arith.addi %before, %x : index
          {body}
        }}
      }}"""


@pytest.mark.parametrize(
    ("height", "width", "rows"), [(5, 3, 2), (8, 4, 8), (7, 6, 3), (3, 5, 8), (4, 1, 3), (6, 4, 1)]
)
def test_each_tile_has_one_workgroup_group_by_group(height, width, rows):
    out = np.full((height, width), -1, np.int64)
    run(grid_of(height, width, rows), out)
    if rows == 1:
        np.testing.assert_array_equal(out, np.arange(height * width).reshape(height, width))
    expected, next_ = np.empty_like(out), 0
    for first in range(0, height, rows):
        group = range(first, min(first + rows, height))
        for x in range(width) if rows > 1 else [None]:
            for y in group:
                for column in range(width) if x is None else [x]:
                    expected[y, column] = next_
                    next_ += 1
    np.testing.assert_array_equal(out, expected)
