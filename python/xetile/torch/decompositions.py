# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations in terms of others, where torch-mlir has no lowering or one to a dialect that nobody else has.

GELU of f16 and bf16 is computed in f32 and rounded once, as PyTorch does it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from xetile.torch.enlarged import nearest
from xetile.torch.transposed import convolution, per_dimension

__all__ = ["TABLE"]

_aten = torch.ops.aten


def _scan(scan: Any, x: torch.Tensor, dim: int, *, dtype: torch.dtype | None = None) -> Any:
    """torch-mlir takes scans of numbers to views that are not there, and has no types of products."""
    if x.ndim != 0 and dtype in (None, x.dtype):
        return NotImplemented
    if dtype is None:
        dtype = x.dtype if x.dtype.is_floating_point or x.dtype.is_complex else torch.int64
    x = _aten._to_copy(x, dtype=dtype)
    return x if x.ndim == 0 else scan(x, dim)


def _gelu(x: torch.Tensor, *, approximate: str = "none") -> torch.Tensor:
    if x.dtype in (torch.float16, torch.bfloat16):
        return _aten._to_copy(_gelu(_aten._to_copy(x, dtype=torch.float32), approximate=approximate), dtype=x.dtype)
    if approximate == "none":
        inner = _aten.erf(_aten.mul(x, math.sqrt(0.5)))
    else:
        cubic = _aten.mul(_aten.mul(_aten.mul(x, x), x), 0.044715)
        inner = _aten.tanh(_aten.mul(_aten.add(x, cubic), math.sqrt(2 / math.pi)))
    return _aten.mul(_aten.mul(x, 0.5), _aten.add(inner, 1.0))


def _elu(x: torch.Tensor, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> torch.Tensor:
    """A selection, so that vectors without a negative number take no powers."""
    if x.dtype in (torch.float16, torch.bfloat16):
        return _aten._to_copy(_elu(_aten._to_copy(x, dtype=torch.float32), alpha, scale, input_scale), dtype=x.dtype)
    power = _aten.expm1(_times(x, input_scale))
    return _aten.where.self(_aten.lt(x, 0), _times(power, alpha * scale), _times(x, scale))


def _times(x: torch.Tensor, factor: float) -> torch.Tensor:
    return x if factor == 1 else _aten.mul(x, factor)


def _selu(x: torch.Tensor) -> torch.Tensor:
    return _elu(x, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946)


def _celu(x: torch.Tensor, alpha: float = 1.0) -> torch.Tensor:
    return _elu(x, alpha, 1, 1 / alpha)


def _reciprocal(x: torch.Tensor) -> torch.Tensor:
    """That of 0 is infinite; torch-mlir ends the program."""
    return _aten.div.Tensor(torch.ones((), dtype=x.dtype), x)


def _convolution_backward(
    gradient: torch.Tensor,
    x: torch.Tensor,
    weight: torch.Tensor,
    bias_sizes: Sequence[int] | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    mask: Sequence[bool],
) -> Any:
    """One number for each dimension; torch-mlir dies where one stands for all."""
    space = x.ndim - 2
    lists = (stride, padding, dilation, output_padding)
    if space <= 1 or all(len(each) == space for each in lists):
        return NotImplemented
    stride, padding, dilation, output_padding = per_dimension(space, *lists)
    return _aten.convolution_backward.default(
        gradient, x, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, mask
    )


def _or_number(x: torch.Tensor, number: int) -> torch.Tensor:
    """torch-mlir has a conjunction with a number only."""
    if x.dtype is torch.bool or isinstance(number, bool):
        return NotImplemented
    return _aten.bitwise_not(_aten.bitwise_and.Scalar(_aten.bitwise_not(x), _complement(number, x.dtype)))


def _xor_number(x: torch.Tensor, number: int) -> torch.Tensor:
    if x.dtype is torch.bool or isinstance(number, bool):
        return NotImplemented
    only_x = _aten.bitwise_and.Scalar(x, _complement(number, x.dtype))
    return _aten.bitwise_or.Tensor(only_x, _aten.bitwise_and.Scalar(_aten.bitwise_not(x), number))


def _complement(number: int, dtype: torch.dtype) -> int:
    info = torch.iinfo(dtype)
    return ~number if info.min < 0 else ~number & info.max


def _encoder_layer(
    x: torch.Tensor,
    width: int,
    heads: int,
    qkv_weight: torch.Tensor,
    qkv_bias: torch.Tensor,
    out_weight: torch.Tensor,
    out_bias: torch.Tensor,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm1_weight: torch.Tensor,
    norm1_bias: torch.Tensor,
    norm2_weight: torch.Tensor,
    norm2_bias: torch.Tensor,
    up_weight: torch.Tensor,
    up_bias: torch.Tensor,
    down_weight: torch.Tensor,
    down_bias: torch.Tensor,
    mask: torch.Tensor | None = None,
    mask_type: int | None = None,
) -> Any:
    """The one operation that nn.TransformerEncoderLayer is in eval mode."""
    if mask is not None and mask_type not in (0, 1):
        return NotImplemented
    functional = torch.nn.functional
    batch, length = x.shape[:2]

    def norm(y: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return functional.layer_norm(y, (width,), weight, bias, eps)

    def attend(y: torch.Tensor) -> torch.Tensor:
        parts = functional.linear(y, qkv_weight, qkv_bias).view(batch, length, 3, heads, width // heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4).unbind(0)
        scores = q @ k.transpose(2, 3) * (width // heads) ** -0.5
        if mask is not None:
            # 0: pairs of places; 1: places of each sequence. True is left out.
            hidden = mask[:, None, None, :] if mask_type == 1 else mask
            scores = scores.masked_fill(hidden.to(torch.bool), float("-inf"))
        y = (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, width)
        return functional.linear(y, out_weight, out_bias)

    def feed(y: torch.Tensor) -> torch.Tensor:
        y = functional.linear(y, up_weight, up_bias)
        y = functional.gelu(y) if use_gelu else functional.relu(y)
        return functional.linear(y, down_weight, down_bias)

    if norm_first:
        x = x + attend(norm(x, norm1_weight, norm1_bias))
        return x + feed(norm(x, norm2_weight, norm2_bias))
    x = norm(x + attend(x), norm1_weight, norm1_bias)
    return norm(x + feed(x), norm2_weight, norm2_bias)


def _scatter(scatter: Any, x: torch.Tensor, dim: int, *rest: Any, **more: Any) -> Any:
    """torch-mlir ends the process at dimensions from the end, and has no tensors without dimensions here."""
    if x.ndim == 0:
        line = [_aten.view(each, [1]) if isinstance(each, torch.Tensor) else each for each in rest]
        return _aten.view(scatter(_aten.view(x, [1]), 0, *line, **more), [])
    return scatter(x, dim + x.ndim, *rest, **more) if dim < 0 else NotImplemented


_SCATTERS = (_aten.scatter.src, _aten.scatter.value, _aten.scatter_add.default, _aten.scatter_reduce.two)

TABLE: dict[Any, Callable[..., Any]] = {
    _aten.cumsum.default: functools.partial(_scan, _aten.cumsum.default),
    _aten.cumprod.default: functools.partial(_scan, _aten.cumprod.default),
    _aten.convolution.default: convolution,
    _aten.convolution_backward.default: _convolution_backward,
    _aten.upsample_nearest1d.vec: nearest,
    _aten.upsample_nearest2d.vec: nearest,
    _aten.upsample_nearest3d.vec: nearest,
    _aten.gelu.default: _gelu,
    _aten.elu.default: _elu,
    _aten.selu.default: _selu,
    _aten.celu.default: _celu,
    _aten.reciprocal.default: _reciprocal,
    _aten.bitwise_or.Scalar: _or_number,
    _aten.bitwise_xor.Scalar: _xor_number,
    _aten._transformer_encoder_layer_fwd.default: _encoder_layer,
    **{scatter: functools.partial(_scatter, scatter) for scatter in _SCATTERS},
}
"""Overload -> function of the same arguments."""
