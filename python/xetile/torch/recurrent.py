# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`nn.GRU` and `nn.RNN` as one operation of a graph, which PyTorch computes.

AOTAutograd would write each step of the sequence out: a graph of thousands of operations, which takes minutes to
compile. In inference it meets an operation of ours instead. Training is left as it is, the operation has no gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import fx

__all__ = ["OPERATIONS", "keep_whole"]

_LIBRARY = torch.library.Library("xetile", "DEF")
_NAMES = ("gru", "rnn_relu", "rnn_tanh")
_SIGNATURE = (
    "(Tensor x, Tensor start, Tensor[] weights, bool has_biases, int layers, float dropout, bool train, "
    "bool bidirectional, bool batch_first) -> (Tensor, Tensor)"
)


def _define(name: str) -> Any:
    function = getattr(torch, name)

    def compute(*arguments: Any) -> tuple[torch.Tensor, torch.Tensor]:
        steps, last = function(*arguments)
        return steps.contiguous(), last.contiguous()

    def describe(x: torch.Tensor, start: torch.Tensor, *rest: Any) -> tuple[torch.Tensor, torch.Tensor]:
        directions = 2 if rest[-2] else 1
        return x.new_empty((*x.shape[:-1], directions * start.shape[-1])), start.new_empty(start.shape)

    _LIBRARY.define(name + _SIGNATURE)
    for place in ("CPU", "CUDA"):
        _LIBRARY.impl(name, compute, place)
    torch.library.register_fake(f"xetile::{name}", describe, lib=_LIBRARY)
    return getattr(torch.ops.xetile, name)


OPERATIONS = {name: _define(name) for name in _NAMES}
"""Name in PyTorch -> our operation of the same arguments."""


def keep_whole(graph: fx.GraphModule, inputs: Sequence[Any]) -> fx.GraphModule:
    """The graph with our operations, where nobody asks for gradients, drops numbers at random or chooses types."""
    functions = {getattr(torch, name): operation.default for name, operation in OPERATIONS.items()}
    nodes = [node for node in graph.graph.nodes if node.op == "call_function" and node.target in functions]
    if not nodes or _has_gradients(graph, inputs) or _has_autocast(graph):
        return graph
    for node in nodes:
        # Packed sequences have their tensors in another order.
        if len(node.args) == 9 and isinstance(node.args[2], (list, tuple)) and not (node.args[6] and node.args[5]):
            node.target = functions[node.target]
    graph.recompile()
    return graph


def _has_gradients(graph: fx.GraphModule, inputs: Sequence[Any]) -> bool:
    tensors = [*inputs, *graph.parameters()]
    return torch.is_grad_enabled() and any(isinstance(each, torch.Tensor) and each.requires_grad for each in tensors)


def _has_autocast(graph: fx.GraphModule) -> bool:
    inside = any("autocast" in str(node.target) for node in graph.graph.nodes if node.op == "call_function")
    return inside or torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda")
