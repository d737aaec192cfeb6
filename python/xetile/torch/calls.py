# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of kernels with PyTorch's tensors.

Tensors that are what the graph was compiled for are checked and passed on by the extension module, within a
microsecond or two. What is not exactly that (other strides, negated views, subclasses, sizes that only the run knows)
takes the way of NumPy's arrays, which converts it or tells what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
import torch

from xetile.codegen.frozen import FrozenFunction
from xetile.errors import XeTileError
from xetile.kernels.kernel import Function, Kernel
from xetile.kernels.signature import ArraySpec
from xetile.torch.arrays import array_of, plain_of, tensor_of
from xetile.torch.elements import MEMORY
from xetile.torch.freezing import Seen
from xetile.torch.layouts import Layout

try:
    from xetile import _call
except ImportError:  # a package without extension modules still calls, slower
    _call = None  # type: ignore[assignment]

__all__ = ["TensorCall", "call_of", "direct_call", "memory_of", "typed"]

_TYPES = (torch.Tensor, torch.nn.Parameter)
_HOST = (1, 0, 0, 0)
# DLPack's kinds of elements and their bits.
_ELEMENTS = {
    torch.uint8: (1, 8),
    torch.uint16: (1, 16),
    torch.uint32: (1, 32),
    torch.int8: (0, 8),
    torch.int16: (0, 16),
    torch.int32: (0, 32),
    torch.int64: (0, 64),
    torch.float16: (2, 16),
    torch.float32: (2, 32),
    torch.float64: (2, 64),
    torch.bfloat16: (4, 16),
    torch.bool: (6, 8),
}


def call_of(kernel: Kernel, arguments: Sequence[Layout | None], results: Sequence[Layout]) -> Callable[..., Any]:
    """A callable that runs the kernel on a list of tensors and numbers, and returns a list of new tensors.

    `arguments` and `results` tell how the kernel's lie in memory, None for numbers. XeTileError as the kernel's.
    """
    function = kernel.function()
    if isinstance(function, FrozenFunction):
        return _FrozenCall(function, arguments, results)
    return TensorCall(function, arguments, results)


class TensorCall:
    """A list of tensors and numbers in, a list of new tensors out; see `call_of`."""

    def __init__(
        self, function: Function, arguments: Sequence[Layout | None], results: Sequence[Layout | None]
    ) -> None:
        self._function, self._arguments, self._results = function, arguments, results
        addresses = function.addresses
        self._direct = direct_call(addresses, arguments, results, _EMPTY, _HOST) if addresses is not None else None

    def __call__(self, inputs: list[Any]) -> list[Any]:
        """Calls the kernel with a graph's inputs, and returns its results."""
        if self._direct is not None:
            results: list[Any] | None = self._direct(inputs)
            if results is not None:
                return results
        # The function tells if they are too many or too few.
        arrays = [memory_of(value, layout) for value, layout in zip_longest(inputs, self._arguments)][: len(inputs)]
        given = self._function(tuple(map(array_of, arrays)))
        made = given if isinstance(given, tuple) else (given,)
        return [
            array if layout is None else typed(layout.tensor_of(tensor_of(array)), layout)
            for array, layout in zip(made, self._results, strict=True)
        ]


class _FrozenCall:
    """The same with weights packed in the first call, and when one of them changed, or the device that kernels run on.

    On a device what is packed are `DeviceArray`s, which have no layout here."""

    def __init__(self, function: FrozenFunction, arguments: Sequence[Layout | None], results: Sequence[Layout]) -> None:
        self._parts = parts = function.parts
        made = [None if spec.on_device else _layout_of(spec) for spec in parts.freeze.results]
        self._freeze = TensorCall(function.freeze, [arguments[number] for number in parts.frozen], made)
        taken = [*(arguments[number] for number in parts.taken), *(made[number] for number in parts.packed)]
        self._call = TensorCall(function.call, taken, results)
        self._count, self._place = len(arguments), function.place
        self._packed: tuple[Seen, Any, list[Any]] | None = None

    def __call__(self, inputs: list[Any]) -> list[torch.Tensor]:
        if len(inputs) != self._count:
            raise XeTileError(f"expected {self._count} tensors, got {len(inputs)}")
        frozen = [inputs[number] for number in self._parts.frozen]
        packed, place = self._packed, self._place()
        if packed is None or packed[1] != place or not packed[0].are(frozen):
            self._packed = None  # never two of them in memory
            seen = Seen.of(frozen)
            made = self._freeze(frozen)
            packed = self._packed = seen, place, [made[number] for number in self._parts.packed]
        return self._call([*(inputs[number] for number in self._parts.taken), *packed[2]])


def direct_call(
    addresses: tuple[int, int, bool],
    arguments: Sequence[Layout | None],
    results: Sequence[Layout | None],
    empty: Callable[..., torch.Tensor],
    place: tuple[int, int, int, int],
) -> Any:
    """A call of the extension module, of a list of tensors that are exactly those that are declared; None where it has
    none. `empty` makes results, of sizes, strides and a type; `place` is DLPack's device and its number, then addresses
    of functions that set the stream of launches and tell of an error, 0 for the host."""
    exchange = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
    layouts = [layout for layout in (*arguments, *results) if layout is not None and layout.dtype in _ELEMENTS]
    if len(layouts) != len(arguments) + len(results) or _call is None or exchange is None:
        return None
    declared = [*map(_declare, layouts)]
    taken, made = declared[: len(arguments)], declared[len(arguments) :]
    return _call.TensorFunction(*addresses, taken, made, empty, _TYPES, exchange, place)


def memory_of(value: Any, layout: Layout | None) -> Any:
    """The memory of a tensor as the kernel takes it; other values stay."""
    if layout is None or not isinstance(value, torch.Tensor):
        return value
    # Sizes of tensors in C order are the kernel's to check.
    memory = value if layout.is_plain and value.is_contiguous() else layout.memory_of(plain_of(value))
    return memory.view(MEMORY[value.dtype]) if value.dtype == layout.dtype and value.dtype in MEMORY else memory


def typed(tensor: torch.Tensor, layout: Layout) -> torch.Tensor:
    """A view of a kernel's signless integers in the tensor's type."""
    return tensor.view(layout.dtype) if layout.dtype in MEMORY else tensor


def _declare(layout: Layout) -> tuple[Any, ...]:
    """The layout as the extension module's tuple."""
    return layout.shape, layout.sizes, layout.strides, _ELEMENTS[layout.dtype], layout.dtype


def _layout_of(spec: ArraySpec) -> Layout:
    """Of a new tensor."""
    dtype = torch.bfloat16 if spec.dtype == "bf16" else torch.from_numpy(np.empty(0, spec.numpy_dtype)).dtype
    return Layout.of(torch.empty(spec.shape, dtype=dtype, device="meta"))


def _empty(sizes: tuple[int, ...], strides: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    return torch.empty_strided(sizes, strides, dtype=dtype)


# The one that inductor's code calls is twice as fast.
_EMPTY = getattr(torch._C._dynamo.guards, "_empty_strided_cpu", _empty)
