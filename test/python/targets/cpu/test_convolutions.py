# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every convolution of linalg with channels, on the CPU against NumPy, bit for bit: operands are small integers."""

from __future__ import annotations

import json
import re

import element_types
import numpy as np
import pytest
from deep_tile_cases import compile_text
from xetile import cpu
from xetile.mlir import ir

DTYPES = element_types.scalars("bf16", "f32", "f64", "i8", "i32")
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


MIXED = {"u8": ("arith.extui", np.uint8), "s8": ("arith.extsi", np.int8)}


@pytest.mark.parametrize("kinds", [("u8", "s8"), ("s8", "u8"), ("u8", "u8")], ids="-by-".join)
@pytest.mark.parametrize("maps", ["channels first", "channels last"])
def test_signs_of_image_and_filter_are_their_own(rng, kinds, maps):
    """Where channels come first the filter is the left operand: what extends each goes with it."""
    n, f, h, w, c, i, j = (f"d{number}" for number in range(7))
    image, weights, result = ((2, 3, 7, 9), (5, 3, 2, 3), (2, 5, 6, 7))
    places = (f"{n}, {c}, {h} + {i}, {w} + {j}", f"{f}, {c}, {i}, {j}", f"{n}, {f}, {h}, {w}")
    if maps == "channels last":
        image, weights, result = ((2, 7, 9, 3), (2, 3, 3, 5), (2, 6, 7, 5))
        places = (f"{n}, {h} + {i}, {w} + {j}, {c}", f"{i}, {j}, {c}, {f}", f"{n}, {h}, {w}, {f}")
    types = [f"tensor<{'x'.join(map(str, shape))}x" for shape in (image, weights, result)]
    types = [types[0] + "i8>", types[1] + "i8>", types[2] + "i32>"]
    loops = ", ".join((n, f, h, w, c, i, j))
    kernel = compile_text(
        f"""
  %r = linalg.generic {{indexing_maps = [{", ".join(f"affine_map<({loops}) -> ({place})>" for place in places)}],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}}
      ins(%a, %f : {types[0]}, {types[1]}) outs(%c : {types[2]}) {{
  ^bb0(%x: i8, %y: i8, %o: i32):
    %u = {MIXED[kinds[0]][0]} %x : i8 to i32
    %v = {MIXED[kinds[1]][0]} %y : i8 to i32
    %p = arith.muli %u, %v : i32
    %s = arith.addi %o, %p : i32
    linalg.yield %s : i32
  }} -> {types[2]}
  return %r : {types[2]}""",
        f"(%a: {types[0]}, %f: {types[1]}, %c: {types[2]}) -> {types[2]}",
        threads=1,
    )
    assert "tensor.collapse_shape" in kernel.stages["1-tiled"], "it is no matmul"
    arrays = [rng.integers(0, 256, shape).astype(np.uint8) for shape in (image, weights)]
    before = rng.integers(-9, 10, result).astype(np.int32)
    seen, filters = (array.view(MIXED[kind][1]).astype(np.int64) for array, kind in zip(arrays, kinds, strict=True))
    if maps == "channels last":
        seen, filters = seen.transpose(0, 3, 1, 2), filters.transpose(3, 2, 0, 1)
    windows = np.lib.stride_tricks.sliding_window_view(seen, (2, 3), (2, 3))
    sums = np.einsum("nchwij,fcij->nfhw", windows, filters)
    if maps == "channels last":
        sums = sums.transpose(0, 2, 3, 1)
    np.testing.assert_array_equal(kernel(arrays[0].view(np.int8), arrays[1].view(np.int8), before), before + sums)


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


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("stride", [1, 3])
def test_blocks_of_rows_are_padded_where_they_are_read(rng, threads, stride):
    """So far below the image that the last blocks see none of it; sums begin at a number that is not 0."""
    (top, bottom, left, right), around, start = (2, 9, 1, 3), 5, -4
    image = rng.integers(-2, 3, (8, 4, 19, 50)).astype(np.float32)
    weights = rng.integers(-2, 3, (3, 4, 3, 2)).astype(np.float32)
    wide = np.pad(image, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=around)
    expected = start + reference("conv_2d_nchw_fchw", wide, weights, stride, 1)

    def type_of(array: np.ndarray) -> str:
        return f"tensor<{'x'.join(map(str, array.shape))}xf32>"

    types = [*map(type_of, (image, wide, weights, expected))]
    kernel = compile_text(
        f"""
  %around = arith.constant {around}.0 : f32
  %start = arith.constant {start}.0 : f32
  %wide = tensor.pad %a low[0, 0, {top}, {left}] high[0, 0, {bottom}, {right}] {{
  ^bb0(%n: index, %c: index, %h: index, %w: index):
    tensor.yield %around : f32
  }} : {types[0]} to {types[1]}
  %empty = tensor.empty() : {types[3]}
  %filled = linalg.fill ins(%start : f32) outs(%empty : {types[3]}) -> {types[3]}
  %r = linalg.conv_2d_nchw_fchw {{dilations = dense<1> : vector<2xi64>, strides = dense<{stride}> : vector<2xi64>}}
      ins(%wide, %f : {types[1]}, {types[2]}) outs(%filled : {types[3]}) -> {types[3]}
  return %r : {types[3]}""",
        f"(%a: {types[0]}, %f: {types[2]}) -> {types[3]}",
        threads=threads,
    )
    tiled = kernel.stages["1-tiled"]
    assert "tensor.pad" not in tiled and "xetile.rows" in tiled, tiled
    np.testing.assert_array_equal(kernel(image, weights), expected.astype(np.float32))


def test_threads_of_a_config_do_not_count_in_a_parallel_loop(rng):
    sizes = SIZES | {"n": 9, "h": 8, "w": 9}
    config = {"MThreads": 2, "NThreads": 1, "KThreads": 1}
    check(rng, "conv_2d_nchw_fchw", sizes, ("f32", "f32"), threads=2, config=config)


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
