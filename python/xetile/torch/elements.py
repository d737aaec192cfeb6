# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which types of elements kernels compute with, and why PyTorch computes what has others.

Integers of a module have no signs, and torch-mlir reads unsigned ones as signed, or dies of narrow ones. Kernels take
and give integers of less than 32 bits, and unsigned ones, as the signed ones of as many bits; what they compute with is
`WIDE`, which holds all values (`xetile.torch.integers`).
"""

from __future__ import annotations

import torch

__all__ = ["MEMORY", "WIDE", "reason_against"]

WIDE = {
    torch.int8: torch.int32,
    torch.uint8: torch.int32,
    torch.int16: torch.int32,
    torch.uint16: torch.int32,
    torch.uint32: torch.int64,
}
"""The wider type that a kernel computes in."""

MEMORY = {torch.uint8: torch.int8, torch.uint16: torch.int16, torch.uint32: torch.int32}
"""The signed types of as many bits, of which kernels take the memory."""

_PLAIN = {
    torch.bool,
    torch.int32,
    torch.int64,
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
}


def reason_against(value: object) -> str | None:
    """Why a kernel takes and gives no such tensor, None if it does; for other values, too."""
    if not isinstance(value, torch.Tensor):
        return None
    if value.layout is not torch.strided or value.is_quantized:
        return "kernels have dense tensors only"
    if value.dtype not in _PLAIN and value.dtype not in WIDE:
        return f"kernels have no elements of type {str(value.dtype).removeprefix('torch.')}"
    if any(isinstance(size, int) and size == 0 for size in value.shape):
        return "there are no elements"
    return None
