# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Poolings along rows on Intel's GPUs, run on the OpenCL device, against NumPy in f64."""

import line_pools
import numpy as np
import pytest
import xetile
from xetile import report
from xetile.mlir import ir

CASES = [
    ((1, 1, 17), 8, 1, 1, 4, "f32", "max"),
    ((2, 3, 1000), 8, 1, 3, 4, "f32", "max"),
    ((1, 9, 1000), 8, 1, 3, 4, "f32", "max"),
    ((1, 2, 4097), 8, 1, 1, 4, "f32", "sum"),
    ((1, 3, 1000), 6, 2, 2, 1, "f16", "max"),
    ((1, 9, 999), 5, 1, 1, 2, "bf16", "max"),
    ((2, 2, 1001), 9, 1, 2, 0, "i32", "max"),
]


@pytest.mark.parametrize("chip", ["pvc", "bmg"])
@pytest.mark.parametrize("shape,window,stride,dilation,pad,dtype,kind", CASES)
def test_pools_of_lines(rng, chip, shape, window, stride, dilation, pad, dtype, kind):
    with ir.Context():
        module = ir.Module.parse(line_pools.payload(shape, window, stride, dilation, pad, dtype, kind))
    kernel = xetile.compile(module, target=chip)
    x = line_pools.values(rng, shape, dtype)
    got = kernel(x)
    want = line_pools.exact(x, window, stride, dilation, pad, kind)
    if kind == "max":
        np.testing.assert_array_equal(got.astype(want.dtype), want)
    else:
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", [(8, 192, 4096), (8, 128, 4097)])
def test_overlapping_windows_are_steps_of_a_loop(shape):
    """A tile of results and windows would read each element as often as it is in a window, one by one."""
    with ir.Context():
        module = ir.Module.parse(line_pools.payload(shape, 8, 1, 1, 4, "f32", "max"))
    stage = xetile.compile(module, target="pvc").stages["1-xetile-workgroup"]
    assert "load_gather" not in stage and "tile_reduce" not in stage and stage.count("load_tile") == 8


@pytest.mark.parametrize("chip", ["pvc", "bmg"])
def test_long_windows_of_odd_rows_spill_nothing(chip):
    """Rows of 4083 results are stored one by one: masks and addresses take registers beside the tile."""
    with ir.Context():
        module = ir.Module.parse(line_pools.payload((8, 192, 4096), 8, 1, 3, 4, "f32", "max"))
    (kernel,) = report.statistics(xetile.compile(module, target=chip, native="off").spirv, chip)
    assert kernel.spill_bytes == 0
