# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs whose sizes only a run knows, where kernels need to know them: compiled for each that a run meets."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable
from typing import Any

import torch
from torch import fx
from torch.fx.experimental.proxy_tensor import make_fx

from xetile.torch.nodes import tensors_of

__all__ = ["PerSizes", "has_open_sizes"]

_LOG = logging.getLogger("xetile.torch")
_MOST = 16  # of a graph; for others PyTorch runs it


def has_open_sizes(graph: fx.GraphModule) -> bool:
    """True if an argument of the graph has a size that is not known, or is one."""
    arguments = [node for node in graph.graph.nodes if node.op == "placeholder"]
    sizes = [size for tensor in tensors_of(arguments) for size in (*tensor.shape, *tensor.stride())]
    return any(isinstance(value, torch.SymInt) for value in [*sizes, *(node.meta.get("val") for node in arguments)])


class PerSizes:
    """The function of a graph, of a list of tensors and numbers, which it empties.

    `compile` makes one, of a list of the tensors alone, of a graph of known sizes and numbers. What it raises, the
    first call with such raises.
    """

    def __init__(self, graph: fx.GraphModule, compile: Callable[[fx.GraphModule], Callable[..., Any]]) -> None:
        self._graph, self._compile = graph, compile
        self._compiled: dict[Hashable, Callable[..., Any]] = {}

    def __call__(self, inputs: list[Any]) -> Any:
        """The graph's results."""
        sizes = tuple(map(_sizes_of, inputs))
        function = self._compiled.get(sizes)
        if function is None:
            if len(self._compiled) >= _MOST:
                _LOG.warning("a graph runs in PyTorch: it was compiled for %d kinds of sizes, which is the most", _MOST)
                given = list(inputs)
                inputs.clear()
                return self._graph.forward(*given)
            function = self._compiled[sizes] = self._compile(self._with_sizes(inputs))
        tensors = [value for value in inputs if isinstance(value, torch.Tensor)]
        inputs.clear()
        return function(tensors)

    def _with_sizes(self, inputs: list[Any]) -> fx.GraphModule:
        """The graph of what it computes of tensors of these sizes. Its nodes have their places in the model."""

        def compute(*tensors: torch.Tensor) -> Any:
            given = iter(tensors)
            values = [next(given) if isinstance(value, torch.Tensor) else value for value in inputs]
            return fx.Interpreter(self._graph).run(*values)

        tensors = [value for value in inputs if isinstance(value, torch.Tensor)]
        with torch.no_grad(), fx.traceback.preserve_node_meta():
            return make_fx(compute, tracing_mode="fake")(*tensors)


def _sizes_of(value: Any) -> Hashable:
    return (value.shape, value.stride()) if isinstance(value, torch.Tensor) else value
