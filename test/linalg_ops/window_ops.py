# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions and poolings of every layout: the names of the ops tell it, NumPy's windows and einsum compute."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from contraction_ops import sum_of_products
from payloads import INTEGERS, NUMBERS, NUMPY, Case, Draw, Payload, Spec, exactly, is_float, nearly, tensor

__all__ = ["specs"]

PLAIN = {"conv_1d": "w", "conv_2d": "hw", "conv_3d": "dhw"}
# Input, filter and result, where a result's f is the filter's.
CONVOLUTIONS = {
    **{op: (letters, letters.upper(), letters) for op, letters in PLAIN.items()},
    "conv_1d_nwc_wcf": ("nwc", "Wcf", "nwf"),
    "conv_1d_ncw_fcw": ("ncw", "fcW", "nfw"),
    "conv_2d_nhwc_hwcf": ("nhwc", "HWcf", "nhwf"),
    "conv_2d_nhwc_fhwc": ("nhwc", "fHWc", "nhwf"),
    "conv_2d_nchw_fchw": ("nchw", "fcHW", "nfhw"),
    "conv_2d_ngchw_fgchw": ("ngchw", "fgcHW", "ngfhw"),
    "conv_2d_ngchw_gfchw": ("ngchw", "gfcHW", "ngfhw"),
    "conv_2d_nhwgc_gfhwc": ("nhwgc", "gfHWc", "nhwgf"),
    "conv_3d_ndhwc_dhwcf": ("ndhwc", "DHWcf", "ndhwf"),
    "conv_3d_ncdhw_fcdhw": ("ncdhw", "fcDHW", "nfdhw"),
    "depthwise_conv_1d_nwc_wc": ("nwc", "Wc", "nwc"),
    "depthwise_conv_1d_ncw_cw": ("ncw", "cW", "ncw"),
    "depthwise_conv_1d_nwc_wcm": ("nwc", "Wcm", "nwcm"),
    "depthwise_conv_2d_nhwc_hwc": ("nhwc", "HWc", "nhwc"),
    "depthwise_conv_2d_nchw_chw": ("nchw", "cHW", "nchw"),
    "depthwise_conv_2d_nhwc_hwcm": ("nhwc", "HWcm", "nhwcm"),
    "depthwise_conv_3d_ndhwc_dhwc": ("ndhwc", "DHWc", "ndhwc"),
    "depthwise_conv_3d_ncdhw_cdhw": ("ncdhw", "cDHW", "ncdhw"),
    "depthwise_conv_3d_ndhwc_dhwcm": ("ndhwc", "DHWcm", "ndhwcm"),
}
QUANTIZED = (
    "conv_2d_nhwc_hwcf", "conv_2d_nhwc_fhwc", "conv_2d_nchw_fchw", "conv_2d_ngchw_gfchw", "conv_2d_nhwgc_gfhwc",
    "conv_3d_ndhwc_dhwcf", "depthwise_conv_2d_nhwc_hwc", "depthwise_conv_2d_nhwc_hwcm",
)  # fmt: skip
TYPES = [
    *((dtype, dtype, dtype) for dtype in NUMBERS),
    *(("f16", "f16", "f32"), ("bf16", "bf16", "f32"), ("i8", "i8", "i32"), ("i16", "i16", "i64")),
]
POOLINGS = {
    "nhwc": ("sum", "max", "min", "max_unsigned", "min_unsigned"),
    "nchw": ("sum", "max"),
    "nwc": ("sum", "max", "min", "max_unsigned", "min_unsigned"),
    "ncw": ("sum", "max"),
    "ndhwc": ("sum", "max", "min"),
}


class _Windows:
    """Sizes, strides and dilations along the spatial letters of an op."""

    def __init__(self, draw: Draw, letters: str, is_plain: bool) -> None:
        self.letters, self.is_plain = letters, is_plain
        most = {1: 33, 2: 9, 3: 5}[len(letters)]
        # Nothing comes out where the input is smaller than the window.
        self.outer = {letter: draw.size(most, least=0 if is_plain else draw.choice([0, 1, 1, 1])) for letter in letters}
        self.window = {letter: draw.size(5 if len(letters) < 3 else 3, least=1) for letter in letters}
        steps = [1, 1] if is_plain else [1, 1, 2, 3]
        self.strides = {letter: draw.choice(steps) for letter in letters}
        self.dilations = {letter: draw.choice(steps) for letter in letters}

    def size(self, letter: str) -> int:
        """Of the input, of which the last few elements may be in no window."""
        span = (self.window[letter] - 1) * self.dilations[letter] + 1
        return max(0, (self.outer[letter] - 1) * self.strides[letter] + span)

    def attributes(self) -> str:
        if self.is_plain:
            return ""
        strides, dilations = (
            f"dense<[{', '.join(str(each[letter]) for letter in self.letters)}]> : tensor<{len(self.letters)}xi64>"
            for each in (self.strides, self.dilations)
        )
        return f" {{strides = {strides}, dilations = {dilations}}}"

    def of(self, array: np.ndarray, layout: str) -> np.ndarray:
        """The array with its windows: the dimensions of `layout`, then those in a window, of the letters in order."""
        axes = [layout.index(letter) for letter in self.letters]
        if 0 in self.outer.values():
            sizes = [self.outer.get(letter, size) for letter, size in zip(layout, array.shape, strict=True)]
            return np.zeros([*sizes, *self.window.values()], array.dtype)
        spans = [(self.window[letter] - 1) * self.dilations[letter] + 1 for letter in self.letters]
        found = np.lib.stride_tricks.sliding_window_view(array, spans, axes)
        steps = [slice(None, None, self.strides.get(letter, 1)) for letter in layout]
        return found[(*steps, *(slice(None, None, self.dilations[letter]) for letter in self.letters))]


def _convolution(op: str, types: tuple[str, str, str], is_quantized: bool, draw: Draw) -> Case:
    layout, weights, result = CONVOLUTIONS[op.removesuffix("_q")]
    letters = "".join(each for each in "dhw" if each in layout)
    windows = _Windows(draw, letters, op in PLAIN)
    sizes = {each: draw.size(9 if each in "cf" else 3) for each in dict.fromkeys(layout + weights) if each in "ncfgm"}
    a_shape = [windows.size(each) if each in letters else sizes[each] for each in layout]
    b_shape = [sizes[each] if each in sizes else windows.window[each.lower()] for each in weights]
    shape = tuple(windows.outer[each] if each in letters else sizes[each] for each in result)
    payload = Payload()
    a, b = draw.array(a_shape, types[0]), draw.array(b_shape, types[1])
    names = [payload.argument(a, types[0]), payload.argument(b, types[1])]
    kinds = [tensor(a_shape, types[0]), tensor(b_shape, types[1])]
    a, b = a.astype(NUMPY[types[2]]), b.astype(NUMPY[types[2]])
    if is_quantized:
        points = [int(draw.rng.integers(-9, 10)) for _ in range(2)]
        names += [payload.constant(each, "i32") for each in points]
        kinds += ["i32", "i32"]
        a, b = a - NUMPY[types[2]](points[0]), b - NUMPY[types[2]](points[1])
    start, before = payload.start(draw, shape, types[2])
    kind = tensor(shape, types[2])
    name = payload.line(
        f"linalg.{op}{windows.attributes()} ins({', '.join(names)} : {', '.join(kinds)}) "
        f"outs({start} : {kind}) -> {kind}"
    )
    equation = f"{layout}{letters.upper()},{weights}->{result}"
    return payload.case([name], [sum_of_products(equation, windows.of(a, layout), b, before, types[2])])


def _pooling(op: str, types: tuple[str, str], draw: Draw) -> Case:
    layout, _, how = op.removeprefix("pooling_").partition("_")
    letters = "".join(each for each in "dhw" if each in layout)
    windows = _Windows(draw, letters, False)
    sizes = {each: draw.size(33 if each == "c" else 3) for each in layout if each in "nc"}
    a = draw.array([windows.size(each) if each in letters else sizes[each] for each in layout], types[0], how != "sum")
    shape = tuple(windows.outer[each] if each in letters else sizes[each] for each in layout)
    payload = Payload()
    window = [windows.window[each] for each in letters]
    names = [payload.argument(a, types[0]), payload.empty(window, types[1])]
    numbers = [0] if how == "sum" else [-3, 5] if types[1][0] == "i" else [-np.inf, np.inf, 0.25]
    start, before = payload.start(draw, shape, types[1], numbers)
    kind = tensor(shape, types[1])
    name = payload.line(
        f"linalg.{op}{windows.attributes()} ins({', '.join(names)} : {tensor(a.shape, types[0])}, "
        f"{tensor(window, types[1])}) outs({start} : {kind}) -> {kind}"
    )
    inside = tuple(range(len(layout), len(layout) + len(letters)))
    found = windows.of(a, layout)
    if how == "sum" and is_float(types[1]):
        wide = found.astype(np.float64)
        magnitude = np.abs(wide).sum(inside) + np.abs(before.astype(np.float64))
        return payload.case(
            [name], [nearly(wide.sum(inside) + before.astype(np.float64), types[1], magnitude, parts=8)]
        )
    if how == "sum":
        return payload.case([name], [exactly(found.astype(np.int64).sum(inside) + before.astype(np.int64), types[1])])
    return payload.case([name], [exactly(_extreme(found, before, how, inside), types[1])])


def _extreme(found: np.ndarray, before: np.ndarray, how: str, inside: tuple[int, ...]) -> np.ndarray:
    """Unsigned extremes are those of the bits of integers; NaN stays."""
    of = np.maximum if how.startswith("max") else np.minimum
    if before.dtype.kind != "i":
        return of(of.reduce(found.astype(np.float64), inside), before.astype(np.float64))
    wide, start = found.astype(before.dtype), before
    if how.endswith("unsigned"):
        bits = f"u{before.dtype.itemsize}"
        wide, start = found.view(f"u{found.dtype.itemsize}").astype(bits), before.view(bits)
    return of(of.reduce(wide, inside), start).view(before.dtype)


def specs() -> Iterator[Spec]:
    for op in CONVOLUTIONS:
        for types in TYPES:
            yield Spec(
                f"linalg.{op}", f"{types[0]} x {types[1]} -> {types[2]}", partial(_convolution, op, types, False)
            )
    for op in QUANTIZED:
        for types in (("i8", "i8", "i32"), ("i16", "i16", "i32"), ("i8", "i8", "i64")):
            form = f"{types[0]} x {types[1]} -> {types[2]}"
            yield Spec(f"linalg.{op}_q", form, partial(_convolution, f"{op}_q", types, True))
    for layout, ways in POOLINGS.items():
        for how in ways:
            op = f"pooling_{layout}_{how}"
            # MLIR has unsigned extremes of integers only.
            kinds = [(dtype, dtype) for dtype in (INTEGERS if how.endswith("unsigned") else NUMBERS)]
            kinds += [("i8", "i32")] if how.endswith("unsigned") else [("i8", "i32"), ("f16", "f32")]
            for types in kinds:
                yield Spec(f"linalg.{op}", f"{types[0]} -> {types[1]}", partial(_pooling, op, types))
