# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights that are packed once: which arguments of graphs they are, and whether they changed since.

What is seen: another tensor, other memory, and what PyTorch counts in a tensor's version: operations in place, so
optimizers and `load_state_dict`. What is not: writes through `tensor.data`, NumPy's arrays or other libraries.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

__all__ = ["Seen", "static_inputs"]


@dataclass(frozen=True)
class Seen:
    """Tensors as they were: which, where in memory, in which version."""

    states: tuple[tuple[Any, int, int], ...]

    @classmethod
    def of(cls, tensors: Sequence[torch.Tensor]) -> Seen:
        """The state of tensors as they are now."""
        return cls(tuple((weakref.ref(tensor), tensor.data_ptr(), _version(tensor)) for tensor in tensors))

    def are(self, tensors: Sequence[torch.Tensor]) -> bool:
        """True if these are the same, unchanged as far as PyTorch tells."""
        for tensor, (known, address, version) in zip(tensors, self.states, strict=True):
            if known() is not tensor or tensor.data_ptr() != address or _version(tensor) != version:
                return False
        return True


def _version(tensor: torch.Tensor) -> int:
    # Tensors of inference mode are not counted; nothing changes them outside of it.
    return 0 if tensor.is_inference() else tensor._version


def static_inputs() -> frozenset[int]:
    """The numbers of the arguments of AOTAutograd's graph that are parameters and buffers and that it does not change,
    while it is compiled."""
    context = torch._guards.TracingContext.try_get()
    metadata = context.fw_metadata if context is not None else None
    if metadata is None:
        return frozenset()
    return frozenset(metadata.static_input_indices or ()) - frozenset(metadata.mutated_inp_runtime_indices)
