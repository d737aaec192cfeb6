# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Means, norms and other results of sums, computed in a wider type and rounded once, as PyTorch does it: f32 for
narrow floats, f64 for variances with their means.

A sum alone is one operation, whose own lowering adds in f32; here are those that compute with sums before they are
rounded: the sum of a mean of f16 is often more than f16 has.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

__all__ = ["TABLE"]

_aten = torch.ops.aten
_NARROW = (torch.float16, torch.bfloat16)


def _to(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return x if x.dtype == dtype else _aten._to_copy(x, dtype=dtype)


def _wide(operation: Any, x: torch.Tensor, *arguments: Any, **options: Any) -> Any:
    """`operation` in f32 on tensors of narrow floats, its results rounded to their type."""
    if (
        not isinstance(x, torch.Tensor)
        or x.dtype not in _NARROW
        or options.get("dtype", x.dtype) not in (x.dtype, None)
    ):
        return NotImplemented
    options.pop("dtype", None)

    def widened(value: Any) -> Any:
        return _to(value, torch.float32) if isinstance(value, torch.Tensor) and value.dtype in _NARROW else value

    results = operation(*map(widened, (x, *arguments)), **{name: widened(value) for name, value in options.items()})
    if isinstance(results, tuple):
        return tuple(_to(result, x.dtype) for result in results)
    return _to(results, x.dtype)


def _mean(x: torch.Tensor, dims: Sequence[int] | None = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    result = x.dtype if dtype is None else dtype
    if result not in _NARROW:
        return NotImplemented
    dims = list(dims) if dims else list(range(x.ndim))
    count = math.prod(x.shape[dim] for dim in dims) if x.ndim else 1
    total = torch.sum(_to(x, torch.float32), dims, keepdim) if x.ndim else _to(x, torch.float32)
    return _to(_aten.div(total, count), result)


def _of_enough(operation: Any, x: torch.Tensor, dims: Sequence[int] | None = None, **options: Any) -> Any:
    """A variance or deviation, in f32 of narrow floats. Of fewer numbers than the correction PyTorch divides by 0;
    torch-mlir asserts that they are more."""
    count = math.prod(x.shape[dim] for dim in dims or range(x.ndim))
    correction = options.get("correction")
    if isinstance(count, int) and correction is not None and correction > count:
        return operation(x, dims, **{**options, "correction": count})
    return _wide(operation, x, dims, **options)


def _var_mean(
    x: torch.Tensor, dims: Sequence[int] | None = None, *, correction: float | None = None, keepdim: bool = False
) -> Any:
    """Both sums of f32 are made in f64, as PyTorch makes those of a batch norm: torch-mlir has the mean's in f32, whose
    error is that of all distances from it.
    """
    if x.dtype != torch.float32 or x.ndim == 0 or x.numel() == 0:
        return _of_enough(_aten.var_mean.correction, x, dims, correction=correction, keepdim=keepdim)
    dims = list(dims) if dims else list(range(x.ndim))
    count = math.prod(x.shape[dim] for dim in dims)
    wide = _to(x, torch.float64)
    mean = _aten.div(torch.sum(wide, dims, keepdim=True), count)
    far = wide - mean
    variance = _aten.div(torch.sum(far * far, dims, keepdim), max(count - (1 if correction is None else correction), 0))
    return _to(variance, x.dtype), _to(mean if keepdim else torch.squeeze(mean, dims), x.dtype)


_WIDE = (
    _aten.linalg_vector_norm.default,
    _aten.norm.Scalar,
    _aten.norm.ScalarOpt_dim,
    _aten.addbmm.default,
    _aten.avg_pool1d.default,
    _aten.avg_pool2d.default,
    _aten.avg_pool3d.default,
    _aten._adaptive_avg_pool2d.default,
    _aten._adaptive_avg_pool3d.default,
    _aten.adaptive_avg_pool1d.default,
    _aten.logsumexp.default,
    _aten.mse_loss.default,
    _aten.smooth_l1_loss.default,
    _aten.huber_loss.default,
    _aten.soft_margin_loss.default,
    _aten.binary_cross_entropy.default,
    _aten._trilinear.default,
)

TABLE: dict[Any, Callable[..., Any]] = {
    _aten.mean.default: _mean,
    _aten.mean.dim: _mean,
    _aten.var_mean.correction: _var_mean,
    _aten.var.correction: functools.partial(_of_enough, _aten.var.correction),
    _aten.std.correction: functools.partial(_of_enough, _aten.std.correction),
    **{operation: functools.partial(_wide, operation) for operation in _WIDE},
}
"""Overload -> function of the same arguments."""
