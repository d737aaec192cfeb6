# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every convolution of linalg with channels, on the CPU against NumPy, bit for bit: operands are small integers."""

from __future__ import annotations

import json
import re

import ml_dtypes
import numpy as np
import pytest
from deep_tile_cases import compile_text
from xetile import cpu
from xetile.mlir import ir

DTYPES = {"bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "i32": np.int32}
# Name of the op: dimensions of image, filter and result. Images are h, w, d of the result, i, j, l of the filter.
OPS = {
    "conv_1d_ncw_fcw": ("ncw", "fci", "nfw"),
    "conv_1d_nwc_wcf": ("nwc", "icf", "nwf"),
    "conv_2d_nchw_fchw": ("nchw", "fcij", "nfhw"),
    "conv_2d_nhwc_hwcf": ("nhwc", "ijcf", "nhwf"),
    "conv_2d_nhwc_fhwc": ("nhwc", "fijc", "nhwf"),
    "conv_2d_ngchw_fgchw": ("ngchw", "fgcij", "ngfhw"),
    "conv_2d_ngchw_gfchw": ("ngchw", "gfcij", "ngfhw"),
    "conv_2d_nhwgc_gfhwc": ("nhwgc", "gfijc", "nhwgf"),
    "conv_3d_ncdhw_fcdhw": ("ncdhw", "fclij", "nfdhw"),
    "conv_3d_ndhwc_dhwcf": ("ndhwc", "lijcf", "ndhwf"),
}
TAP_OF = {1: {"w": "i"}, 2: {"h": "i", "w": "j"}, 3: {"d": "l", "h": "i", "w": "j"}}


def reference(name: str, image: np.ndarray, weights: np.ndarray, stride: int, dilation: int) -> np.ndarray:
    """In a type in which all sums are exact."""
    dims, filters, results = OPS[name]
    taps = TAP_OF[int(name[5])]
    wide = image.astype(np.int64 if image.dtype.kind == "i" else np.float64)
    letters = dims
    for axis, dim in enumerate(dims):
        if dim in taps:
            reach = (weights.shape[filters.index(taps[dim])] - 1) * dilation + 1
            wide = np.lib.stride_tricks.sliding_window_view(wide, reach, axis)
            wide = wide[..., ::dilation].take(range(0, wide.shape[axis], stride), axis)
            letters += taps[dim]
    return np.einsum(f"{letters},{filters}->{results}", wide, weights.astype(wide.dtype), optimize=True)


def check(rng, name, sizes, dtypes, *, stride=1, dilation=1, dynamic="", **options) -> None:
    """`sizes` of each letter; those of the image are the result's; `dynamic` letters are known at run time only."""
    dims, filters, results = OPS[name]
    taps = TAP_OF[int(name[5])]
    source, target = dtypes

    def extent(dim: str) -> int:
        if dim not in taps:
            return sizes[dim]
        return (sizes[dim] - 1) * stride + (sizes[taps[dim]] - 1) * dilation + 1

    image = rng.integers(-2, 3, [extent(dim) for dim in dims]).astype(DTYPES[source])
    weights = rng.integers(-2, 3, [sizes[dim] for dim in filters]).astype(DTYPES[source])
    before = rng.integers(-9, 10, [sizes[dim] for dim in results]).astype(DTYPES[target])

    def type_of(letters: str, array: np.ndarray, dtype: str) -> str:
        extents = ["?" if dim in dynamic else str(size) for dim, size in zip(letters, array.shape, strict=True)]
        return f"tensor<{'x'.join(extents)}x{dtype}>"

    types = [type_of(dims, image, source), type_of(filters, weights, source), type_of(results, before, target)]
    vector = f"vector<{len(taps)}xi64>"
    kernel = compile_text(
        f"""
  %r = linalg.{name} {{dilations = dense<{dilation}> : {vector}, strides = dense<{stride}> : {vector}}}
      ins(%a, %f : {types[0]}, {types[1]}) outs(%c : {types[2]}) -> {types[2]}
  return %r : {types[2]}""",
        f"(%a: {types[0]}, %f: {types[1]}, %c: {types[2]}) -> {types[2]}",
        **options,
    )
    expected = (before.astype(np.float64) + reference(name, image, weights, stride, dilation)).astype(before.dtype)
    np.testing.assert_array_equal(kernel(image, weights, before.copy()), expected)


SIZES = {"n": 2, "g": 3, "c": 5, "f": 7, "h": 6, "w": 19, "d": 4, "i": 3, "j": 2, "l": 2}


@pytest.mark.parametrize(("stride", "dilation"), [(1, 1), (2, 1), (1, 2), (3, 2)])
@pytest.mark.parametrize("name", OPS)
def test_strides_and_dilations(rng, name, stride, dilation):
    check(rng, name, SIZES, ("f32", "f32"), stride=stride, dilation=dilation)


@pytest.mark.parametrize("dtypes", [("bf16", "bf16"), ("bf16", "f32"), ("f64", "f64"), ("i8", "i32"), ("i32", "i32")])
@pytest.mark.parametrize("name", ["conv_2d_nchw_fchw", "conv_2d_nhwc_hwcf", "conv_2d_ngchw_gfchw"])
def test_types(rng, name, dtypes):
    check(rng, name, SIZES, dtypes, stride=2)


@pytest.mark.parametrize("name", ["conv_2d_nchw_fchw", "conv_2d_nhwc_hwcf", "conv_2d_ngchw_gfchw"])
@pytest.mark.parametrize("dynamic", ["n", "w", "hw", "nchwfij"])
def test_sizes_known_at_run_time(rng, name, dynamic):
    if "c" in dynamic:  # sizes of taps must be known: they say how large the image is
        dynamic = dynamic.replace("i", "").replace("j", "")
    check(rng, name, SIZES, ("f32", "f32"), stride=2, dynamic=dynamic)


@pytest.mark.parametrize("name", OPS)
def test_single_channels_taps_and_rows(rng, name):
    for ones in ("c", "f", "nw", "ij", "hwijl", "ncfhwdijlg"):
        sizes = {dim: 1 if dim in ones else size for dim, size in SIZES.items()}
        check(rng, name, sizes, ("f32", "f32"))


@pytest.mark.parametrize("threads", [1, 2])
def test_blocks_of_rows(rng, threads):
    """Copies of 90 channels, 9 taps and a row of 61 are so large that only two of 26 rows are copied at once."""
    check(rng, "conv_2d_nchw_fchw", SIZES | {"c": 90, "h": 26, "w": 61, "j": 3}, ("f32", "f32"), threads=threads)


def test_a_convolution_is_a_matmul_for_explain():
    a, f, c = "tensor<2x32x16x16xf32>", "tensor<48x32x3x3xf32>", "tensor<2x48x14x14xf32>"
    text = f"""func.func @f(%a: {a}, %f: {f}, %c: {c}) -> {c} {{
  %r = linalg.conv_2d_nchw_fchw {{dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}}
      ins(%a, %f : {a}, {f}) outs(%c : {c}) -> {c}
  return %r : {c}
}}"""
    with ir.Context():
        said = cpu.explain(ir.Module.parse(text), threads=1)
    # 48 channels of the result times 14 x 14 places, in blocks of whole registers.
    config = json.loads(re.search(r"-:2:8: ({.*})", said)[1])
    assert config["MBlock"] == 48 and 196 <= config["NBlock"] < 196 + config["innermostNBlock"], said
