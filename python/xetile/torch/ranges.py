# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ranges of numbers: arange, linspace and logspace, with the numbers of PyTorch's CPU code.

Integers of linspace and logspace are cut from floats. Where one is near an integer, its last bit decides, and that is
the one of PyTorch's vectors, which multiply and add in one operation: PyTorch computes them, when the graph is compiled
if it is known between which numbers.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import fx
from torch._decomp import decomposition_table
from torch._subclasses.fake_tensor import unset_fake_temporarily

from xetile.torch.narrow import NARROW
from xetile.torch.nodes import value_of

__all__ = ["TABLE", "reason_against_range", "with_known_ranges"]

_aten = torch.ops.aten
_NUMBERS = (_aten.linspace.default, _aten.logspace.default)
# Of int64 PyTorch cuts the ends before it counts.
_CUT_LATE = (torch.int8, torch.uint8, torch.int16, torch.int32)
_TENSORS = tuple(
    getattr(packet, overload)
    for packet in (_aten.linspace, _aten.logspace)
    for overload in ("Tensor_Tensor", "Tensor_Scalar", "Scalar_Tensor")
)


def reason_against_range(node: fx.Node) -> str | None:
    """Why PyTorch computes a range in each run; None for others, and for other operations."""
    if node.target not in (*_NUMBERS, *_TENSORS) or value_of(node).dtype.is_floating_point or _is_known(node):
        return None
    return "integers between numbers are cut from floats with the last bit of PyTorch's vectors"


def with_known_ranges(graph: fx.GraphModule) -> fx.GraphModule:
    """The graph, changed: integers between numbers that it tells are constants."""
    for node in list(graph.graph.nodes):
        if node.target not in _NUMBERS or value_of(node).dtype.is_floating_point or not _is_known(node):
            continue
        name = f"_range_{node.name}"
        with unset_fake_temporarily():
            graph.register_buffer(name, node.target(*node.args, **node.kwargs))
        with graph.graph.inserting_before(node):
            constant = graph.graph.get_attr(name)
        constant.meta = dict(node.meta)
        node.replace_all_uses_with(constant)
        graph.graph.erase_node(node)
    return graph


def _is_known(node: fx.Node) -> bool:
    return node.target in _NUMBERS and all(isinstance(number, (int, float)) for number in node.args)


def _between(theirs: Callable[..., Any], *arguments: Any, dtype: torch.dtype | None = None, **options: Any) -> Any:
    """Floats between two numbers, by PyTorch's own decomposition. That of complex numbers is in f32, too, for f64."""
    complex_ends = any(isinstance(each, complex) or _is_complex(each) for each in arguments)
    if complex_ends or not (dtype is None or dtype.is_floating_point):
        return NotImplemented
    return theirs(*arguments, dtype=dtype, **options)


def _is_complex(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype.is_complex


def _arange(start: float, end: float, step: float = 1, *, dtype: torch.dtype | None = None, **options: Any) -> Any:
    """Numbers of narrow floats are start + i * step in f32, rounded once. Integers between floats are as many as
    `_cut_ends` says; torch-mlir cuts the ends first for all types."""
    if dtype in _CUT_LATE and _has_floats(start, end, step):
        ends = _cut_ends(start, end, step)
        return _aten._to_copy(_aten.arange.start_step(*ends, dtype=torch.int64, **options), dtype=dtype)
    if dtype not in NARROW:
        return NotImplemented
    return _aten._to_copy(_aten.arange.start_step(start, end, step, dtype=torch.float32, **options), dtype=dtype)


def _has_floats(*numbers: Any) -> bool:
    # Numbers that only a run knows are neither.
    return all(isinstance(each, (int, float)) for each in numbers) and any(isinstance(each, float) for each in numbers)


def _cut_ends(start: float, end: float, step: float) -> tuple[int, int, int]:
    """Start, end and step of the integers: PyTorch counts them between the floats, then cuts start and step."""
    count = math.ceil((end - start) / step)
    return int(start), int(start) + count * int(step), int(step)


TABLE: dict[Any, Callable[..., Any]] = {
    _aten.arange.start_step: _arange,
    _aten.arange.start: _arange,
    **{operation: functools.partial(_between, decomposition_table[operation]) for operation in (*_NUMBERS, *_TENSORS)},
}
"""Overload -> function of the same arguments."""
