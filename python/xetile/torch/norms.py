# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Norms and softmax as sums and maxima of rows, in f32 for narrow types, with nothing computed twice.

A variance is the mean of squared distances from the mean, which a row in cache makes cheap; torch-mlir takes it in f64.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._decomp.decompositions import _native_batch_norm_legit_no_stats as native_batch_norm_without_statistics
from torch._decomp.decompositions import native_batch_norm_backward

__all__ = ["TABLE"]

_aten = torch.ops.aten
_NARROW = (torch.float16, torch.bfloat16)
_LINE = 32  # elements of 16 bits in 64 bytes


def _wide(x: torch.Tensor) -> torch.Tensor:
    return _to(x, torch.float32) if x.dtype in _NARROW else x


def _to(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return x if x.dtype == dtype else _aten._to_copy(x, dtype=dtype)


def _softmax(x: torch.Tensor, dim: int, half_to_float: bool) -> torch.Tensor:
    dtype = torch.float32 if half_to_float else x.dtype
    if x.ndim == 0 or x.numel() == 0:
        return NotImplemented
    x = _wide(x)
    powers = torch.exp(x - torch.amax(x, dim, keepdim=True))
    return _to(powers * (1 / torch.sum(powers, dim, keepdim=True)), dtype)


def _safe_softmax(x: torch.Tensor, dim: int, dtype: torch.dtype | None = None) -> torch.Tensor:
    """Zeros where all of a row is -inf, as in attention that a mask leaves nothing of."""
    result = x.dtype if dtype is None else dtype
    if x.ndim == 0 or x.numel() == 0 or not x.dtype.is_floating_point:
        return NotImplemented
    x = _wide(_to(x, result))
    largest = torch.amax(x, dim, keepdim=True)
    powers = torch.exp(x - torch.where(largest == -math.inf, 0.0, largest))
    total = torch.sum(powers, dim, keepdim=True)
    return _to(powers * torch.where(total == 0, 0.0, 1 / total), result)


def _log_softmax(x: torch.Tensor, dim: int, half_to_float: bool) -> torch.Tensor:
    dtype = torch.float32 if half_to_float else x.dtype
    if x.ndim == 0 or x.numel() == 0:
        return NotImplemented
    x = _wide(x)
    largest = torch.amax(x, dim, keepdim=True)
    shift = torch.log(torch.sum(torch.exp(x - largest), dim, keepdim=True))
    return _to(x - largest - shift, dtype)


def _moments(x: torch.Tensor, dims: list[int], eps: float) -> tuple[torch.Tensor, torch.Tensor]:
    """The mean, and 1 over the standard deviation, of `x` along `dims`, which are kept with size 1."""
    count = math.prod(x.shape[dim] for dim in dims)
    mean = torch.sum(x, dims, keepdim=True) * (1 / count)
    far = x - mean
    variance = torch.sum(far * far, dims, keepdim=True) * (1 / count)
    return mean, torch.rsqrt(variance + eps)


def _layer_norm(
    x: torch.Tensor, shape: Sequence[int], weight: torch.Tensor | None, bias: torch.Tensor | None, eps: float
) -> Any:
    if x.numel() == 0:
        return NotImplemented
    dtype, whole, outer = x.dtype, x.shape, x.shape[: x.ndim - len(shape)]
    x = _wide(x.reshape(math.prod(outer), math.prod(shape)))
    mean, scale = _moments(x, [1], eps)
    y = (x - mean) * scale
    if weight is not None:
        y = y * _wide(weight).reshape(-1)
    if bias is not None:
        y = y + _wide(bias).reshape(-1)
    kept = (*outer, *[1] * len(shape))
    return _to(y, dtype).reshape(whole), _to(mean, dtype).reshape(kept), _to(scale, dtype).reshape(kept)


def _group_norm(
    x: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    batch: int,
    channels: int,
    places: int,
    groups: int,
    eps: float,
) -> Any:
    if x.numel() == 0:
        return NotImplemented
    dtype, shape = x.dtype, x.shape
    x = _wide(x.reshape(batch, groups, channels // groups, places))
    mean, scale = _moments(x, [2, 3], eps)
    y = (x - mean) * scale
    if weight is not None:
        y = y * _wide(weight).reshape(groups, channels // groups, 1)
    if bias is not None:
        y = y + _wide(bias).reshape(groups, channels // groups, 1)
    mean, scale = mean.reshape(batch, groups), scale.reshape(batch, groups)
    return _to(y, dtype).reshape(shape), _to(mean, dtype), _to(scale, dtype)


def _batch_norm_without_statistics(
    x: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Any:
    """Instance norms are such: instances are channels of one image, rows of memory."""
    if not training or x.numel() == 0 or x.ndim < 3 or x.shape[0] != 1:
        return native_batch_norm_without_statistics(x, weight, bias, training, momentum, eps)
    # GPUs take whole rows of memory to registers at once, if these are whole lines; else planes as they are.
    channels, *places = x.shape[1:]
    whole = math.prod(places) % _LINE == 0
    y = _wide(x.reshape(channels, -1) if whole else x.reshape(channels, *places))
    mean, scale = _moments(y, [*range(1, y.ndim)], eps)
    y = (y - mean) * scale
    if weight is not None:
        y = y * _wide(weight).reshape(mean.shape)
    if bias is not None:
        y = y + _wide(bias).reshape(mean.shape)
    mean, scale = (_to(each, x.dtype).reshape(-1) for each in (mean, scale))
    return _to(y, x.dtype).reshape(x.shape), mean, scale


def _batch_norm_with_statistics(
    x: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    mean: torch.Tensor,
    variance: torch.Tensor,
    momentum: float,
    eps: float,
) -> Any:
    """One product and one sum for each element."""
    scale = torch.rsqrt(_wide(variance) + eps)
    if weight is not None:
        scale = scale * _wide(weight)
    shift = -_wide(mean) * scale
    if bias is not None:
        shift = shift + _wide(bias)
    channel = (-1, *[1] * (x.ndim - 2))
    y = _wide(x) * scale.reshape(channel) + shift.reshape(channel)
    nothing = x.new_empty((0,), dtype=mean.dtype)
    return _to(y, x.dtype), nothing, nothing


def _batch_norm_with_update(
    x: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    mean: torch.Tensor,
    variance: torch.Tensor,
    momentum: float,
    eps: float,
) -> Any:
    """That of training, whose statistics are of the parameters' type; PyTorch's table says f32."""
    parameters = [None if each is None else _wide(each) for each in (weight, bias, mean, variance)]
    results = _aten._native_batch_norm_legit_functional.default(_wide(x), *parameters, True, momentum, eps)
    y, *statistics = results
    kept, scale, new_mean, new_variance = (_to(each, mean.dtype) for each in statistics)
    return _to(y, x.dtype), kept, scale, x.new_empty((0,), dtype=torch.uint8), new_mean, new_variance


def _batch_norm_backward(
    gradient: torch.Tensor,
    x: torch.Tensor,
    weight: torch.Tensor | None,
    mean: torch.Tensor | None,
    variance: torch.Tensor | None,
    kept: torch.Tensor | None,
    scale: torch.Tensor | None,
    train: bool,
    eps: float,
    mask: Sequence[bool],
    reserve: torch.Tensor | None = None,
) -> Any:
    """In f32 for narrow types. Statistics that the forward pass rounded to such a type are computed again: a gradient
    is what little two sums of them leave.
    """
    del reserve
    if train and kept is not None and kept.dtype in _NARROW and x.numel() != 0:
        statistics, kept = torch.var_mean(_wide(x), [0, *range(2, x.ndim)], correction=0)
        scale = torch.rsqrt(statistics + eps)
    wide = [None if each is None else _wide(each) for each in (gradient, x, weight, mean, variance, kept, scale)]
    to_x, *to_parameters = native_batch_norm_backward(*wide, train, eps, mask)
    dtype = x.dtype if weight is None else weight.dtype
    return _to(to_x, x.dtype), *(None if each is None else _to(each, dtype) for each in to_parameters)


TABLE: dict[Any, Callable[..., Any]] = {
    _aten._softmax.default: _softmax,
    _aten._safe_softmax.default: _safe_softmax,
    _aten._log_softmax.default: _log_softmax,
    _aten.native_layer_norm.default: _layer_norm,
    _aten.native_group_norm.default: _group_norm,
    _aten._native_batch_norm_legit.no_stats: _batch_norm_without_statistics,
    _aten._native_batch_norm_legit_no_training.default: _batch_norm_with_statistics,
    _aten._batch_norm_with_update_functional.default: _batch_norm_with_update,
    _aten.native_batch_norm_backward.default: _batch_norm_backward,
    _aten.batch_norm_backward.default: _batch_norm_backward,
}
"""Overload -> function of the same arguments."""
