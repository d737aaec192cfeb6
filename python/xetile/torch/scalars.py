# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers in the places of tensors, as the 1.2 of `1.2 - x`: f64 beside such tensors. torch-mlir makes f32 of them."""

from __future__ import annotations

from typing import Any

import torch
from torch import fx

from xetile.torch.nodes import call, tensors_of

__all__ = ["with_wide_numbers"]

_aten = torch.ops.aten
_TENSOR = torch._C.TensorType.get()


def with_wide_numbers(graph: fx.GraphModule) -> fx.GraphModule:
    """The graph, changed: numbers beside tensors of f64, in places of tensors, are tensors of f64."""
    for node in list(graph.graph.nodes):
        if not isinstance(node.target, torch._ops.OpOverload):
            continue
        if any(tensor.dtype is torch.float64 for tensor in tensors_of([node.args, node.kwargs])):
            places = enumerate(zip(node.args, node.target._schema.arguments, strict=False))
            for place, (arg, parameter) in places:
                if isinstance(arg, float) and _TENSOR.isSubtypeOf(parameter.type):
                    node.update_arg(place, _tensor(graph.graph, node, arg))
    return graph


def _tensor(graph: fx.Graph, node: fx.Node, number: float) -> Any:
    with graph.inserting_before(node):
        return call(graph, _aten.full.default, [], number, dtype=torch.float64, device="cpu", like=node)
