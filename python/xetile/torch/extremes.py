# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Extremes, bounds and equality of floats as PyTorch has them where some are NaN; torch-mlir's give the other number.

A comparison with NaN is false: `where(x < low, low, x)` keeps an x that is NaN, `where(x > low, x, low)` does not.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, TypeAlias

import torch

__all__ = ["TABLE"]

_aten = torch.ops.aten
_NARROW = (torch.float16, torch.bfloat16)
_Number: TypeAlias = float | torch.Tensor


def _to(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return x if x.dtype == dtype else _aten._to_copy(x, dtype=dtype)


def _pair(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Both in the type that PyTorch computes with, if they are floats there."""
    dtype = torch.result_type(x, y)
    return (_to(x, dtype), _to(y, dtype)) if dtype.is_floating_point else None


def _maximum(x: torch.Tensor, y: torch.Tensor) -> Any:
    if torch.result_type(x, y) is torch.bool:
        return _aten.logical_or(x, y)
    pair = _pair(x, y)
    if pair is None:
        return NotImplemented
    x, y = pair
    return _aten.where.self(_aten.gt(x, y) | _aten.ne(x, x), x, y)


def _minimum(x: torch.Tensor, y: torch.Tensor) -> Any:
    if torch.result_type(x, y) is torch.bool:
        return _aten.logical_and(x, y)
    pair = _pair(x, y)
    if pair is None:
        return NotImplemented
    x, y = pair
    return _aten.where.self(_aten.lt(x, y) | _aten.ne(x, x), x, y)


def _clamp(x: torch.Tensor, low: _Number | None = None, high: _Number | None = None) -> Any:
    bounds = [bound for bound in (low, high) if bound is not None]
    truth = x.dtype is torch.bool and all(
        isinstance(bound, torch.Tensor) and bound.dtype is torch.bool for bound in bounds
    )
    if not bounds or not (x.dtype.is_floating_point or truth):
        return NotImplemented
    if any(math.isnan(bound) for bound in bounds if not isinstance(bound, torch.Tensor)):
        return torch.full_like(x, math.nan)
    if isinstance(low, torch.Tensor):
        x = _maximum(x, low)
    elif low is not None:
        x = _aten.where.ScalarSelf(_aten.lt(x, low), low, x)
    if isinstance(high, torch.Tensor):
        x = _minimum(x, high)
    elif high is not None:
        x = _aten.where.ScalarSelf(_aten.gt(x, high), high, x)
    return x


def _clamp_max(x: torch.Tensor, high: _Number) -> Any:
    return _clamp(x, None, high)


def _hardtanh(x: torch.Tensor, low: float = -1.0, high: float = 1.0) -> Any:
    return _clamp(x, low, high)


def _hardsigmoid(x: torch.Tensor) -> Any:
    if not x.dtype.is_floating_point:
        return NotImplemented
    wide = _to(x, torch.float32) if x.dtype in _NARROW else x
    return _to(_aten.mul(_clamp(_aten.add(wide, 3.0), 0.0, 6.0), 1 / 6), x.dtype)


def _place(extreme: Any, x: torch.Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The first NaN, or the first of the largest numbers; torch-mlir's comparisons leave NaN out."""
    if not x.dtype.is_floating_point or x.numel() == 0:
        return NotImplemented
    best = extreme(x, [*range(x.ndim)] if dim is None else [dim], True)
    found = _aten.logical_or(_aten.eq(x, best), _aten.ne(x, x))
    return _aten.argmax.default(_to(found, torch.int32), dim, keepdim)


def _extreme(extreme: Any, x: torch.Tensor, dim: int, keepdim: bool = False) -> Any:
    if not x.dtype.is_floating_point or x.numel() == 0:
        return NotImplemented
    return extreme(x, [dim], keepdim), _place(extreme, x, dim, keepdim)


def _equal(x: torch.Tensor, y: torch.Tensor) -> Any:
    """torch-mlir takes any number for equal to itself."""
    pair = _pair(x, y)
    return NotImplemented if pair is None else _aten.logical_not(_aten.ne(*pair))


def _isclose(x: torch.Tensor, y: torch.Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    if x.dtype != y.dtype or not x.dtype.is_floating_point:
        return NotImplemented
    close = _equal(x, y)
    if equal_nan:
        close = close | (_aten.ne(x, x) & _aten.ne(y, y))
    if rtol == 0 and atol == 0:
        return close
    apart = _aten.abs(_aten.sub(x, y))
    allowed = _aten.add(_aten.abs(_aten.mul(y, rtol)), atol)
    # Infinite numbers are not close to what they are allowed to be apart from.
    return close | (_aten.lt(apart, math.inf) & _aten.le(apart, allowed))


def _logaddexp(x: torch.Tensor, y: torch.Tensor, base: float = math.e) -> Any:
    if x.dtype != y.dtype or not x.dtype.is_floating_point:
        return NotImplemented
    if x.dtype in _NARROW:
        return _to(_logaddexp(_to(x, torch.float32), _to(y, torch.float32), base), x.dtype)
    larger = _maximum(x, y)
    apart = _aten.neg(_aten.abs(_aten.sub(x, y)))
    if base == math.e:
        total = _aten.add(larger, _aten.log1p(_aten.exp(apart)))
    else:
        scale = math.log(base)
        total = _aten.add(larger, _aten.mul(_aten.log1p(_aten.exp(_aten.mul(apart, scale))), 1 / scale))
    # Infinite numbers are no distance apart.
    return _aten.where.self(_equal(x, y) & _aten.eq(_aten.abs(x), math.inf), x, total)


TABLE: dict[Any, Callable[..., Any]] = {
    _aten.clamp.default: _clamp,
    _aten.clamp.Tensor: _clamp,
    _aten.clamp_min.default: _clamp,
    _aten.clamp_min.Tensor: _clamp,
    _aten.clamp_max.default: _clamp_max,
    _aten.clamp_max.Tensor: _clamp_max,
    _aten.hardtanh.default: _hardtanh,
    _aten.maximum.default: _maximum,
    _aten.minimum.default: _minimum,
    _aten.hardsigmoid.default: _hardsigmoid,
    _aten.eq.Tensor: _equal,
    _aten.isclose.default: _isclose,
    _aten.logaddexp.default: _logaddexp,
    _aten.logaddexp2.default: functools.partial(_logaddexp, base=2.0),
    _aten.argmax.default: functools.partial(_place, _aten.amax.default),
    _aten.max.dim: functools.partial(_extreme, _aten.amax.default),
    _aten.min.dim: functools.partial(_extreme, _aten.amin.default),
    _aten.argmin.default: functools.partial(_place, _aten.amin.default),
}
"""Overload -> function of the same arguments, which gives NotImplemented for integers."""
