# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Poolings of one dimension, as PyTorch's models have them, and what they give in f64."""

from __future__ import annotations

import ml_dtypes
import numpy as np

LOW = {"f32": "0xFF800000", "f16": "0xFC00", "bf16": "0xFF80", "i32": "-2147483648"}
LOWEST = {"i32": -(2**31)}
DTYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i32": np.int32}


def payload(
    shape: tuple[int, int, int], window: int, stride: int, dilation: int, pad: int, dtype: str, kind: str
) -> str:
    """`kind` max or sum of windows along the last dimension of `shape`."""
    images, channels, extent = shape
    wide, out = extent + 2 * pad, (extent + 2 * pad - dilation * (window - 1) - 1) // stride + 1
    zero = "0" if dtype.startswith("i") else "0.0"
    x, padded, y = (f"tensor<{images}x{channels}x1x{size}x{dtype}>" for size in (extent, wide, out))
    return f"""func.func @f(%x: {x}) -> {y} {{
  %low = arith.constant {LOW[dtype] if kind == "max" else zero} : {dtype}
  %p = tensor.pad %x low[0, 0, 0, {pad}] high[0, 0, 0, {pad}] {{
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %low : {dtype}
  }} : {x} to {padded}
  %w = tensor.empty() : tensor<1x{window}x{dtype}>
  %e = tensor.empty() : {y}
  %l = linalg.fill ins(%low : {dtype}) outs(%e : {y}) -> {y}
  %D = linalg.pooling_nchw_{kind} {{dilations = dense<[1, {dilation}]> : vector<2xi64>,
      strides = dense<[1, {stride}]> : vector<2xi64>}}
      ins(%p, %w : {padded}, tensor<1x{window}x{dtype}>) outs(%l : {y}) -> {y}
  return %D : {y}
}}"""


def exact(x: np.ndarray, window: int, stride: int, dilation: int, pad: int, kind: str) -> np.ndarray:
    """The same of x, [images, channels, 1, extent], in f64 or in its integers."""
    is_whole = np.issubdtype(x.dtype, np.integer)
    wide = x.astype(np.int64 if is_whole else np.float64)
    around = 0 if kind == "sum" else np.iinfo(np.int32).min if is_whole else -np.inf
    padded = np.pad(wide, [(0, 0)] * 3 + [(pad, pad)], constant_values=around)
    reach = dilation * (window - 1) + 1
    windows = np.lib.stride_tricks.sliding_window_view(padded, reach, axis=3)[:, :, :, ::stride, ::dilation]
    with np.errstate(invalid="ignore"):
        return windows.max(-1) if kind == "max" else windows.sum(-1)


def values(rng: np.random.Generator, shape: tuple[int, int, int], dtype: str) -> np.ndarray:
    """Numbers with NaN and infinities among them, where the type has them."""
    images, channels, extent = shape
    if dtype == "i32":
        return rng.integers(-1000, 1000, (images, channels, 1, extent), np.int32)
    x = rng.standard_normal((images, channels, 1, extent)).astype(DTYPES[dtype])
    for number in (np.nan, np.inf, -np.inf, -0.0):
        x.ravel()[rng.choice(x.size, max(x.size // 50, 1), replace=False)] = number
    return x
