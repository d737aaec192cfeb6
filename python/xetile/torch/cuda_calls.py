# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of kernels with PyTorch's CUDA tensors, on the current stream: read where they are, results are new ones.

Nothing waits and nothing is copied. Tensors that are what the graph was compiled for go to the kernel's host code by
the extension module, which asks PyTorch for its stream. Others (other strides, those that begin within a unit of 16
bytes, numbers, another current GPU) take the way of any library's arrays, as contiguous copies on the GPU where they
have to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from xetile.errors import XeTileError
from xetile.kernels import cuda
from xetile.kernels.cuda_arrays import CudaFunction, on_device
from xetile.kernels.kernel import Kernel
from xetile.torch.arrays import plain_of
from xetile.torch.calls import direct_call, memory_of, typed
from xetile.torch.elements import MEMORY
from xetile.torch.layouts import Layout

__all__ = ["CudaCall", "call_on_gpu", "expect_known_sizes"]

_KIND = 2  # DLPack's of CUDA
_UNIT = 16  # bytes that kernels load at once

# As inductor's code makes results; on the current GPU.
_EMPTY: Callable[..., torch.Tensor] = getattr(
    torch._C._dynamo.guards,
    "_empty_strided_cuda",
    lambda sizes, strides, dtype: torch.empty_strided(sizes, strides, dtype=dtype, device="cuda"),
)


def call_on_gpu(
    kernel: Kernel, arguments: Sequence[Layout | None], results: Sequence[Layout], device: torch.device
) -> CudaCall:
    """A callable that runs the kernel on a list of tensors of one GPU and numbers, and returns a list of new tensors.

    `arguments` and `results` tell how the kernel's lie in memory, None for numbers. XeTileError as the kernel's.
    """
    function = kernel.function()
    if not isinstance(function, CudaFunction):
        raise XeTileError(f"expected a kernel that takes CUDA tensors, got one for {kernel.target.name}")
    return CudaCall(function, arguments, results, device)


def expect_known_sizes(results: Sequence[Layout]) -> None:
    """XeTileError if a result has a size that depends on data: host code for CUDA allocates no results."""
    if any(size == -1 for layout in results for size in layout.sizes):
        raise XeTileError(
            "expected results of CUDA tensors whose sizes are known when a graph is compiled, got one of "
            f"{[layout.sizes for layout in results]}: leave operations whose sizes depend on data out of the graph"
        )


class CudaCall:
    """A list of tensors and numbers in, a list of new tensors out; see `call_on_gpu`."""

    def __init__(
        self,
        function: CudaFunction,
        arguments: Sequence[Layout | None],
        results: Sequence[Layout],
        device: torch.device,
    ) -> None:
        self._function, self._arguments, self._results = function, arguments, results
        self._device = device
        addresses = function.on_gpu
        place = _KIND, device.index or 0, *cuda.entries()
        self._direct = None if addresses is None else direct_call(addresses, arguments, results, _EMPTY, place)

    def __call__(self, inputs: list[Any]) -> list[torch.Tensor]:
        """Calls the kernel with a graph's inputs, and returns its results before they are computed."""
        if self._direct is not None:
            # A library's error that is waiting makes all launches harmless: nobody else may take it meanwhile.
            with cuda.one_at_a_time:
                results: list[torch.Tensor] | None = self._direct(inputs)
            if results is None and (fitting := self._fitting(inputs)) is not None:
                with cuda.one_at_a_time:
                    results = self._direct(fitting)
            if results is not None:
                return results
        return self._call_with_others(inputs)

    def _fitting(self, inputs: list[Any]) -> list[Any] | None:
        """The tensors as declared, copies where strides or places in memory are others; None if that is not all. What
        PyTorch computes in between may lie otherwise than it said when the graph was traced."""
        if len(inputs) != len(self._arguments):
            return None
        fitting = []
        for value, layout in zip(inputs, self._arguments, strict=True):
            if layout is None or not isinstance(value, torch.Tensor) or value.shape != layout.sizes:
                return None
            if value.stride() != layout.strides or value.data_ptr() % _UNIT or value.is_neg() or value.requires_grad:
                value = torch.empty_strided(layout.sizes, layout.strides, dtype=value.dtype, device=value.device).copy_(
                    value.detach()
                )
            fitting.append(value)
        return fitting

    def _call_with_others(self, inputs: list[Any]) -> list[torch.Tensor]:
        """The same with what is not exactly as declared. XeTileError for what does not fit, or failed."""
        if len(inputs) != len(self._arguments):
            raise XeTileError(f"expected {len(self._arguments)} tensors, got {len(inputs)}")
        with on_device(self._device.index or 0):
            taken = [_taken(*pair) for pair in zip(inputs, self._arguments, strict=True)]
            made = [
                torch.empty(layout.shape, dtype=MEMORY.get(layout.dtype, layout.dtype), device=self._device)
                for layout in self._results
            ]
            self._function(tuple(taken), out=tuple(made))
        return [typed(layout.tensor_of(memory), layout) for memory, layout in zip(made, self._results, strict=True)]


def _taken(value: Any, layout: Layout | None) -> Any:
    """The memory that a kernel reads; a copy of a tensor that begins within a unit, as views of others may."""
    if not isinstance(value, torch.Tensor):
        return value
    memory = memory_of(plain_of(value), layout)
    return memory.clone() if memory.data_ptr() % _UNIT else memory
