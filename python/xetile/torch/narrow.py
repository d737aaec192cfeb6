# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on elements of f16 and bf16, computed in f32 and rounded once, as PyTorch does it.

torch-mlir lowers many of them to several operations, each of which would round, and rounds numbers beside tensors (the
pi of `x * pi`) to the tensors' type before anything is computed with them.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import fx

from xetile.torch.nodes import call, tensors_of, value_of

__all__ = ["NARROW", "with_single_rounding", "with_wide_convolutions"]

NARROW = (torch.float16, torch.bfloat16)

_aten = torch.ops.aten
# Operations that round nothing, or compare, select and store in the type of the tensor, numbers too.
_SELECTS_NAMES = (
    "_to_copy abs alias ceil clamp clamp_max clamp_min clone contiguous copy detach fill floor fmax fmin hardtanh "
    "masked_fill maximum minimum neg positive relu round sgn sign threshold trunc where"
)
_SELECTS = {getattr(_aten, name) for name in _SELECTS_NAMES.split()}
# One operation of arithmetic on two tensors is rounded once anyway.
_SINGLE = {_aten.add, _aten.div, _aten.mul, _aten.sub}
_SUMS = (_aten.sum.default, _aten.sum.dim_IntList)
_FEWEST_FILTERS = 8  # of a product on the matrix unit
_VIEWS_NAMES = "_unsafe_view expand permute reshape squeeze transpose unsqueeze view"
_VIEWS = {getattr(_aten, name) for name in _VIEWS_NAMES.split()} | {torch.ops.prims.squeeze}


def with_single_rounding(graph: fx.GraphModule) -> fx.GraphModule:
    """The graph, changed: what computes with elements of narrow floats takes them as f32; so do sums of what is rounded
    to a narrow type before, as gradients of a batch's parts are."""
    for node in list(graph.graph.nodes):
        if _rounds_often(node):
            _widen(graph.graph, node)
    for node in list(graph.graph.nodes):
        if node.target in _SUMS and not node.kwargs:
            _sum_up_wide(graph.graph, node)
    return graph


def with_wide_convolutions(graph: fx.GraphModule) -> fx.GraphModule:
    """The graph, changed: convolutions of narrow floats are such of f32, rounded once, where a GPU's matrix unit may
    have them, which takes convolutions of f32 alone."""
    for node in list(graph.graph.nodes):
        if node.target is not _aten.convolution.default or node.args[6] or node.args[8] != 1:
            continue
        if value_of(node).dtype in NARROW and value_of(node.args[1]).shape[0] >= _FEWEST_FILTERS:
            _widen(graph.graph, node)
    return graph


def _rounds_often(node: fx.Node) -> bool:
    value = node.meta.get("val")
    if node.op != "call_function" or not isinstance(value, torch.Tensor) or value.dtype not in NARROW:
        return False
    target = node.target
    if not isinstance(target, torch._ops.OpOverload) or torch.Tag.pointwise not in target.tags:
        return False
    packet = target.overloadpacket
    # With decimals it is a product, a rounding and a quotient.
    selects = packet in _SELECTS and target is not _aten.round.decimals
    if target.namespace != "aten" or selects or "dtype" in node.kwargs:
        return False
    if packet not in _SINGLE:
        return True
    return bool(node.kwargs) or not all(isinstance(value_of(arg), torch.Tensor) for arg in node.args)


def _widen(graph: fx.Graph, node: fx.Node) -> None:
    def wide(arg: Any) -> Any:
        if any(tensor.dtype in NARROW for tensor in tensors_of(arg)):
            return call(graph, _aten._to_copy.default, arg, dtype=torch.float32, like=node)
        return arg

    with graph.inserting_before(node):
        args, kwargs = fx.map_arg(node.args, wide), fx.map_arg(node.kwargs, wide)
        result = call(graph, node.target, *args, like=node, **kwargs)
        rounded = call(graph, _aten._to_copy.default, result, dtype=value_of(node).dtype, like=node)
    node.replace_all_uses_with(rounded)
    graph.erase_node(node)


def _sum_up_wide(graph: fx.Graph, node: fx.Node) -> None:
    """Lets a sum add what it is given as f32 before that is rounded, unless the model asks for the rounding itself."""
    views: list[fx.Node] = []
    source = node.args[0]
    if value_of(source).dtype is torch.float32:
        source = _converted(source)
    while isinstance(source, fx.Node) and getattr(source.target, "overloadpacket", None) in _VIEWS:
        views.append(source)
        source = source.args[0]
    if not isinstance(source, fx.Node) or value_of(source).dtype not in NARROW:
        return
    wide = _converted(source)
    asked = getattr(source.meta.get("original_aten"), "overloadpacket", None) is _aten._to_copy
    if asked or wide is None or value_of(wide).dtype is not torch.float32:
        return
    with graph.inserting_before(node):
        for view in reversed(views):
            wide = call(graph, view.target, wide, *view.args[1:], like=view, **view.kwargs)
        result = call(graph, node.target, wide, *node.args[1:], like=node)
        if value_of(node).dtype is not torch.float32:
            result = call(graph, _aten._to_copy.default, result, dtype=value_of(node).dtype, like=node)
    node.replace_all_uses_with(result)
    graph.erase_node(node)


def _converted(node: fx.Node) -> fx.Node | None:
    """The operand of a node that only converts the type."""
    if node.target not in (_aten._to_copy.default, torch.ops.prims.convert_element_type.default):
        return None
    return node.args[0] if isinstance(node.args[0], fx.Node) else None
