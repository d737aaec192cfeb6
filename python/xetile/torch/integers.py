# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs with narrow and unsigned integers as graphs of wide signed ones, with PyTorch's results.

An argument of uint8 comes as the int8 that lies in the same memory, is widened to int32 without its sign, and what is
computed with it is cut to its last 8 bits wherever PyTorch's result is uint8. int8, int16 and uint16 likewise; uint32
in int64. A result of such a type leaves as the memory that it came as.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import fx
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.utils._pytree import tree_leaves, tree_map

from xetile.torch.elements import MEMORY, WIDE
from xetile.torch.nodes import call, fake_mode, tensors_of, value_of

__all__ = ["reason_against_wide", "with_signs"]

_aten = torch.ops.aten
# Operations whose elements are their operands', or between them.
_KEEPS_NAMES = (
    "alias amax amin cat clamp clamp_max clamp_min clone constant_pad_nd contiguous detach expand fill flip gather "
    "index index_select lift_fresh_copy max maximum min minimum permute relu repeat reshape roll select sign slice "
    "split split_with_sizes squeeze stack t transpose unbind unfold unsqueeze view where"
)
_KEEPS_VALUES = {getattr(_aten, name) for name in _KEEPS_NAMES.split()} | {torch.ops.prims.collapse}
_BITS = "the bits of narrow integers are read as another type"
_MASKS = "masks of uint8 are PyTorch's"
_ONLY_NARROW = "PyTorch has it for narrow integers only"
_NUMBERS = "a number is none of the integers' type"


def with_signs(graph: fx.GraphModule) -> fx.GraphModule:
    """The graph, or another one of which no operation but conversions has integers of less than 32 bits, or unsigned
    ones. Arguments and results are those that `elements.MEMORY` says."""
    if not any(tensor.dtype in WIDE for node in graph.graph.nodes for tensor in tensors_of(node)):
        return graph
    return _Widener(graph).run()


def reason_against_wide(node: fx.Node) -> str | None:
    """Why PyTorch computes a node with narrow or unsigned integers itself; None without these, or if it need not."""
    inputs, results = tensors_of([node.args, node.kwargs]), tensors_of(node)
    narrow = [tensor for tensor in inputs if tensor.dtype in WIDE]
    if not narrow and not any(tensor.dtype in WIDE for tensor in results):
        return None
    packet = getattr(node.target, "overloadpacket", None)
    if node.target is _aten.view.dtype or packet in (_aten.view_as_real, _aten.view_as_complex):
        return _BITS
    masked = packet is _aten.where and value_of(node.args[0]).dtype is torch.uint8
    if masked or (
        packet in (_aten.index, _aten._unsafe_index)
        and any(tensor.dtype is torch.uint8 for tensor in tensors_of(node.args[1]))
    ):
        return _MASKS
    if not isinstance(node.target, torch._ops.OpOverload):
        return None  # what takes one of several results
    stays = not any(tensor.dtype.is_floating_point for tensor in results)
    if torch.Tag.pointwise in node.target.tags and narrow and stays:
        types = [torch.iinfo(tensor.dtype) for tensor in narrow]
        for number in tree_leaves([node.args, node.kwargs]):
            if isinstance(number, int) and not all(kind.min <= number <= kind.max for kind in types):
                return _NUMBERS
    try:
        wide = _run(node, _wide_value)
    except (RuntimeError, TypeError, ValueError):
        return _ONLY_NARROW
    for was, now in zip(results, tensors_of(wide), strict=True):
        if WIDE.get(was.dtype, was.dtype) != WIDE.get(now.dtype, now.dtype) and was.dtype not in WIDE:
            return _ONLY_NARROW
    return None


class _Widener:
    """Writes the graph anew."""

    def __init__(self, graph: fx.GraphModule) -> None:
        self._old, self._graph = graph, fx.Graph()
        self._made: dict[fx.Node, Any] = {}
        self._constants: dict[str, torch.Tensor] = {}

    def run(self) -> fx.GraphModule:
        for node in self._old.graph.nodes:
            if node.op == "placeholder":
                self._made[node] = self._argument(node)
        for node in self._old.graph.nodes:
            if node.op == "placeholder":
                self._made[node] = self._widened(node, self._made[node])
            elif node.op == "get_attr":
                self._made[node] = self._constant(node)
            elif node.op == "output":
                self._graph.output(tree_map(self._result, node.args[0]))
            else:
                self._made[node] = self._operation(node)
        root = {**dict(self._old.named_parameters()), **dict(self._old.named_buffers()), **self._old.__dict__}
        made = fx.GraphModule(
            {**{k: v for k, v in root.items() if isinstance(v, torch.Tensor)}, **self._constants}, self._graph
        )
        made.meta.update(self._old.meta)
        return made

    def _argument(self, node: fx.Node) -> fx.Node:
        copy = self._graph.node_copy(node)
        copy.meta = dict(node.meta)
        value = value_of(node)
        if isinstance(value, torch.Tensor) and value.dtype in MEMORY:
            _retype(copy, MEMORY[value.dtype])
        return copy

    def _widened(self, node: fx.Node, copy: fx.Node) -> fx.Node:
        value = value_of(node)
        if not isinstance(value, torch.Tensor) or value.dtype not in WIDE:
            return copy
        wide = call(self._graph, _aten._to_copy.default, copy, dtype=WIDE[value.dtype], like=node)
        return self._cut(wide, value.dtype) if value.dtype in MEMORY else wide

    def _constant(self, node: fx.Node) -> fx.Node:
        copy = self._graph.node_copy(node)
        copy.meta = dict(node.meta)
        held = getattr(self._old, str(node.target), None)
        if isinstance(held, torch.Tensor) and held.dtype in WIDE:
            copy.target = f"{node.target}_wide"
            with unset_fake_temporarily():
                self._constants[copy.target] = held.to(WIDE[held.dtype])
            _retype(copy, WIDE[held.dtype])
        return copy

    def _operation(self, node: fx.Node) -> fx.Node:
        common = _common_type(node)
        operands = fx.map_arg((node.args, node.kwargs), lambda each: self._operand(each, common))
        args, kwargs = tree_map(_wide_type, operands)
        copy = self._graph.call_function(node.target, args, kwargs)
        copy.meta = dict(node.meta)
        was, taken = tensors_of(node), tensors_of(node.all_input_nodes)
        if not any(tensor.dtype in WIDE for tensor in (*was, *taken)):
            return copy
        copy.meta.pop("tensor_meta", None)
        copy.meta["val"] = _run(copy, value_of)
        dtype = getattr(value_of(node), "dtype", None)
        if dtype is None:
            return copy  # several, of which others take one
        wanted = WIDE.get(dtype, dtype)
        result = copy
        if value_of(copy).dtype != wanted:
            result = call(self._graph, _aten._to_copy.default, copy, dtype=wanted, like=node)
        packet = getattr(node.target, "overloadpacket", None)
        kept = packet is None or (
            packet in _KEEPS_VALUES and all(tensor.dtype in (dtype, torch.bool) for tensor in taken)
        )
        return result if dtype not in WIDE or kept else self._cut(result, dtype)

    def _operand(self, node: fx.Node, common: torch.dtype | None) -> fx.Node:
        made, value = self._made[node], value_of(node)
        if common is None or not isinstance(value, torch.Tensor) or value.dim() or value.dtype in (common, torch.bool):
            return made
        return self._cut(made, common)

    def _cut(self, wide: fx.Node, dtype: torch.dtype) -> fx.Node:
        """The value of the last bits."""
        if dtype in MEMORY:
            mask = (1 << torch.iinfo(dtype).bits) - 1
            return call(self._graph, _aten.bitwise_and.Scalar, wide, mask, like=wide)
        narrow = call(self._graph, _aten._to_copy.default, wide, dtype=dtype, like=wide)
        return call(self._graph, _aten._to_copy.default, narrow, dtype=WIDE[dtype], like=wide)

    def _result(self, value: Any) -> Any:
        if not isinstance(value, fx.Node):
            return value
        dtype, made = getattr(value_of(value), "dtype", None), self._made[value]
        if dtype not in WIDE:
            return made
        return call(self._graph, _aten._to_copy.default, made, dtype=MEMORY.get(dtype, dtype), like=value)


def _common_type(node: fx.Node) -> torch.dtype | None:
    """The narrow or unsigned type in which an operation of elements computes, into which PyTorch turns tensors without
    dimensions, too; None for other types."""
    if torch.Tag.pointwise not in getattr(node.target, "tags", ()):
        return None
    tensors = tensors_of([node.args, node.kwargs])
    kinds = {tensor.dtype for tensor in tensors if tensor.dim() and tensor.dtype is not torch.bool}
    if not kinds or any(tensor.dtype.is_floating_point for tensor in (*tensors, *tensors_of(node))):
        return None
    common = functools.reduce(torch.promote_types, kinds)
    return common if common in WIDE else None


def _wide_type(value: Any) -> Any:
    return WIDE.get(value, value) if isinstance(value, torch.dtype) else value


def _wide_value(leaf: Any) -> Any:
    """The value of a node's wide form."""
    return tree_map(
        lambda value: (
            value.to(WIDE[value.dtype])
            if isinstance(value, torch.Tensor) and value.dtype in WIDE
            else _wide_type(value)
        ),
        value_of(leaf),
    )


def _run(node: fx.Node, value: Callable[[Any], Any]) -> Any:
    """The result of the node for the arguments that `value` gives."""
    fake = fake_mode([node.args, node.kwargs, node])
    with fake, torch.no_grad():
        args, kwargs = tree_map(value, (node.args, node.kwargs))
        return node.target(*args, **kwargs)


def _retype(node: fx.Node, dtype: torch.dtype) -> None:
    with fake_mode(node), torch.no_grad():
        value = value_of(node)
        node.meta["val"] = value.new_empty_strided(value.shape, value.stride(), dtype=dtype)
    node.meta.pop("tensor_meta", None)
