# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's tensors as NumPy's arrays and back: the same memory, nothing is copied."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import torch

from xetile.errors import XeTileError

__all__ = ["array_of", "plain_of", "tensor_of"]


def array_of(value: Any) -> Any:
    """The array with a tensor's memory, of any strides; other values stay. XeTileError for a tensor that is not on the
    CPU or has no plain memory."""
    if not isinstance(value, torch.Tensor):
        return value
    if value.device.type != "cpu":
        raise XeTileError(
            f"expected tensors on the device cpu, got one on {value.device}: move the model and its inputs"
        )
    plain = plain_of(value)
    if plain.dtype is torch.bfloat16:
        # NumPy knows the type by the package ml_dtypes, PyTorch does not.
        return plain.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return plain.numpy()


def plain_of(value: torch.Tensor) -> torch.Tensor:
    """A tensor without gradients whose memory has its elements. XeTileError for one that has no plain memory."""
    if value.layout is not torch.strided:
        raise XeTileError(f"expected dense tensors, got one of layout {value.layout}: call its to_dense()")
    # Views that are conjugated or negated when they are read have other bits in memory.
    return value.detach().resolve_conj().resolve_neg()


def tensor_of(array: Any) -> torch.Tensor:
    """The tensor with an array's memory."""
    array = np.asarray(array)
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)
