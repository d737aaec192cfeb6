# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Poolings along rows for Hopper GPUs: neighbours in memory belong to neighbouring threads of 256."""

import re

import line_pools
import numpy as np
import pytest
import xetile
from hopper_kernels import compiled, on_this_cpu, ptx_of

if "sm_90a" not in [target.name for target in xetile.targets.available()]:
    pytest.skip("built without the target sm_90a", allow_module_level=True)

CASES = [
    ((1, 1, 17), 8, 1, 1, 4, "f32", "max"),
    ((2, 3, 1000), 8, 1, 3, 4, "f32", "max"),
    ((1, 2, 4097), 8, 1, 1, 4, "f32", "sum"),
    ((1, 3, 1000), 6, 2, 2, 1, "f16", "max"),
    ((1, 2, 999), 5, 1, 1, 2, "bf16", "max"),
    ((1, 1, 64), 8, 3, 1, 2, "bf16", "max"),  # pairs: max.NaN.bf16x2
    ((1, 3, 64), 16, 1, 2, 6, "f16", "max"),
    ((2, 2, 1001), 9, 1, 2, 0, "i32", "max"),
]


@pytest.mark.parametrize("shape,window,stride,dilation,pad,dtype,kind", CASES)
def test_pools_of_lines(driver, tmp_path, rng, shape, window, stride, dilation, pad, dtype, kind):
    kernel = compiled(line_pools.payload(shape, window, stride, dilation, pad, dtype, kind), schedule=None, params={})
    x = line_pools.values(rng, shape, dtype)
    (got,) = on_this_cpu(kernel, driver, tmp_path, [x])
    want = line_pools.exact(x, window, stride, dilation, pad, kind)
    if kind == "max":
        np.testing.assert_array_equal(got.astype(want.dtype), want)
    else:
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_windows_are_read_in_order_by_256_threads():
    """No thread reads what a window shares with the next one element by element: lanes are along the results."""
    kernel = compiled(line_pools.payload((8, 192, 4096), 8, 1, 3, 4, "f32", "max"), schedule=None, params={})
    ptx = ptx_of(kernel)
    assert ".reqntid 256" in ptx and "shfl" not in ptx
    # Four results a thread, 256 of 4 bytes apart: what a warp reads is in one place.
    assert re.search(r"ld\.global\.b32.*\+1024\]", ptx) and re.search(r"ld\.global\.b32.*\+2048\]", ptx)
    assert len(re.findall(r"ld\.global\.b32", ptx)) == 32 and len(re.findall(r"st\.global\.b32", ptx)) == 4
    assert "load_gather" not in kernel.stages["1-xetile-workgroup"]


@pytest.mark.parametrize("columns,bytes_", [(4096, 16), (4094, 8), (4093, 4)])
def test_chunks_are_as_wide_as_rows_are_aligned(columns, bytes_):
    kind = f"tensor<512x{columns}xf32>"
    text = f"""func.func @f(%x: {kind}) -> {kind} {{
      %e = tensor.empty() : {kind}
      %y = linalg.exp ins(%x : {kind}) outs(%e : {kind}) -> {kind}
      return %y : {kind}
    }}"""
    ptx = ptx_of(compiled(text, schedule="elementwise", params={}))
    wide = {16: "v4.b32", 8: "v2.b32", 4: "b32"}[bytes_]
    assert f"ld.global.{wide}" in ptx and f"st.global.{wide}" in ptx


def test_windows_of_small_images_have_tiles_of_1024_results():
    """256 threads of four, however few images there are: a window's loads hide one another's latency."""
    kernel = compiled(line_pools.payload((8, 16, 256), 3, 1, 1, 1, "f32", "max"), schedule=None, params={})
    assert ".reqntid 256" in ptx_of(kernel)
    assert "blocks in (%c1, %c4, %c8)" in kernel.stages["1-xetile-workgroup"]
