# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on elements of what a product gives, in the product's two dimensions, whose kernel computes them then.

A linear layer multiplies a matrix of all rows, and a view gives its result the batch's dimensions back. What follows
element by element, as a GELU or the sum with a residual, is done before that view instead of behind it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import fx

from xetile.torch.nodes import call, value_of

__all__ = ["with_flat_elementwise"]

_aten = torch.ops.aten
_CONVERT = torch.ops.prims.convert_element_type.default
_PRODUCTS = {_aten.mm.default, _aten.addmm.default}
_VIEWS = {_aten.view.default, _aten._unsafe_view.default, _aten.reshape.default}


def with_flat_elementwise(graph: fx.GraphModule) -> fx.GraphModule:
    """The graph, changed."""
    flat: set[fx.Node] = set()  # products, and what is computed of them element by element
    for node in list(graph.graph.nodes):
        if node.target in _PRODUCTS or (
            _is_elementwise(node, 2) and any(each in flat for each in node.all_input_nodes)
        ):
            flat.add(node)
        elif _is_elementwise(node, 3) and (source := _source_of(node, flat)) is not None:
            flat.add(_flatten(graph.graph, node, value_of(source).shape))
    return graph


def _is_elementwise(node: fx.Node, least: int) -> bool:
    """True for an operation on elements, of a matrix or a tensor of `least` dimensions or more."""
    value, target = node.meta.get("val"), node.target
    if not isinstance(target, torch._ops.OpOverload) or not isinstance(value, torch.Tensor):
        return False
    is_pointwise = target.namespace == "aten" and torch.Tag.pointwise in target.tags
    return (is_pointwise or target is _CONVERT) and (value.ndim == 2 if least == 2 else value.ndim >= least)


def _source_of(node: fx.Node, flat: set[fx.Node]) -> fx.Node | None:
    """The matrix that an operation on elements reads a view of; None if it is none, or reads others otherwise."""
    value, found = value_of(node), None
    for arg in node.all_input_nodes:
        given = value_of(arg)
        if not isinstance(given, torch.Tensor):
            return None
        if given.shape != value.shape:
            # Of columns alone: the same for a matrix.
            if given.ndim > 1 or given.shape not in ((), value.shape[-1:]):
                return None
        elif not given.is_contiguous():
            return None
        elif arg.target in _VIEWS and arg.args[0] in flat:
            found = found or arg.args[0]
    if found is None or value_of(found).shape[-1] != value.shape[-1]:
        return None
    return found


def _flatten(graph: fx.Graph, node: fx.Node, shape: tuple[int, ...]) -> fx.Node:
    """Puts the same operation on matrices, and a view of what it gives, in the place of `node`; returns the former."""
    value = value_of(node)
    sizes = [int(size) for size in shape]

    def as_matrix(arg: Any) -> Any:
        if value_of(arg).shape != value.shape:
            return arg
        is_view = arg.target in _VIEWS and value_of(arg.args[0]).shape == shape
        return arg.args[0] if is_view else call(graph, _aten.view.default, arg, sizes, like=node)

    with graph.inserting_before(node):
        args, kwargs = fx.map_arg(node.args, as_matrix), fx.map_arg(node.kwargs, as_matrix)
        result = call(graph, node.target, *args, like=node, **kwargs)
        view = call(graph, _aten.view.default, result, [int(size) for size in value.shape], like=node)
    node.replace_all_uses_with(view)
    graph.erase_node(node)
    return result
