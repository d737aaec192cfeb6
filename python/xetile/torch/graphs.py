# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs of ATen operations, cut into what a kernel computes and what PyTorch does.

A kernel gives tensors, each once. Sizes, arguments and views of them that are results, None and repeated results stay
with PyTorch, and so do operations in `EAGER`, for which the graph is cut in pieces.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from xetile.torch.checks import reason_against_check
from xetile.torch.elements import reason_against
from xetile.torch.integers import reason_against_wide
from xetile.torch.nodes import tensors_of
from xetile.torch.ranges import reason_against_range
from xetile.torch.recurrent import OPERATIONS

__all__ = [
    "EAGER",
    "Outputs",
    "batched_products",
    "eager_nodes",
    "has_foreign_arguments",
    "output_of",
    "partition",
    "split_outputs",
]

_POWER = torch.ops.aten.pow
_RANDOM = "random numbers are those of PyTorch's generator"
_SORTS = "linalg has no sorting"
_RECURRENCES = "linalg has no recurrences over sequences"
_POWERS = "torch-mlir adds powers of the numbers themselves, which overflow"
_RUNNING = "linalg has no running extremes with their places"
_COUNTS = "sizes of its result depend on data"
_ATTENTION = "PyTorch has kernels of attention for its CUDA tensors"
_FUSED = [f"_scaled_dot_product_{kind}_attention" for kind in ("flash", "efficient", "cudnn")]
_REASONS = {
    _RANDOM: ("bernoulli native_dropout normal rand rand_like randint randint_like randn randn_like randperm uniform"),
    _SORTS: "kthvalue median mode sort topk",
    _RECURRENCES: (
        "mkldnn_rnn_layer _cudnn_rnn _cudnn_rnn_backward _thnn_fused_lstm_cell _thnn_fused_lstm_cell_backward_impl "
        "_thnn_fused_gru_cell _thnn_fused_gru_cell_backward"
    ),
    _ATTENTION: " ".join(["scaled_dot_product_attention", *_FUSED, *(f"{name}_backward" for name in _FUSED)]),
    _POWERS: "logcumsumexp",
    _RUNNING: "cummax cummin",
    _COUNTS: "masked_select nonzero",
}
EAGER: dict[Any, str] = {
    getattr(torch.ops.aten, name): reason for reason, names in _REASONS.items() for name in names.split()
}
EAGER.update(dict.fromkeys(OPERATIONS.values(), _RECURRENCES))
"""Operation -> why PyTorch computes it."""


def eager_nodes(graph: fx.GraphModule) -> dict[fx.Node, str]:
    """The nodes that PyTorch computes, and why."""
    found = {}
    graph.graph.eliminate_dead_code()
    for node in graph.graph.nodes:
        if node.op == "call_function":
            reason = EAGER.get(getattr(node.target, "overloadpacket", None)) or _other_reason(node)
            if reason is not None:
                found[node] = reason
    return found


def batched_products(graph: fx.GraphModule, reason: str) -> dict[fx.Node, str]:
    """The products in batches, and `reason` for each."""
    return {node: reason for node in graph.graph.nodes if node.target is torch.ops.aten.bmm.default}


def _other_reason(node: fx.Node) -> str | None:
    """Reasons that depend on an operation's arguments."""
    packet = getattr(node.target, "overloadpacket", None)
    if node.target is torch.ops.aten.convolution_backward.default and node.args[9] != 1:
        return "torch-mlir gives gradients of grouped convolutions another shape"
    if node.target in _SOFTMAX and node.args[0].meta["val"].ndim == 0:
        return "torch-mlir does not end at a softmax of a tensor without dimensions"
    if node.target is _POOL_3D and not node.args[0].meta["val"].dtype.is_floating_point:
        return "torch-mlir dies of maxima of integers in windows of three dimensions"
    if packet in _POOLS and _gives(node, 1) and node.args[0].meta["val"].dtype.is_floating_point:
        return "torch-mlir has no places of NaN in windows"
    unknown = node.target is torch.ops.aten.fmod.Scalar or packet is _POWER
    if unknown and not any(tensor.dtype.is_floating_point for tensor in tensors_of([node.args, node])):
        return "torch-mlir has no powers of integers, nor remainders by a number"
    if _has_remainder(node) and any(tensor.dtype.is_floating_point for tensor in tensors_of(node)):
        return "torch-mlir makes remainders of quotients and rounds these down, not as PyTorch does from remainders"
    if packet is torch.ops.aten.scatter and node.target not in _PLAIN_SCATTERS:
        return "torch-mlir has no scatter with a reduction but scatter_reduce"
    if packet is torch.ops.aten.scatter_reduce and not _is_of_floats(node):
        if node.args[4] == "mean":
            return "torch-mlir rounds means of integers towards zero, not down"
        if any(tensor.dtype == torch.bool for tensor in tensors_of(node)):
            return "torch-mlir starts extremes of booleans as those of numbers with a sign"
    for tensor in tensors_of([node, node.args, node.kwargs]):
        if reason := reason_against(tensor):
            return reason
    return reason_against_range(node) or reason_against_wide(node) or reason_against_check(node)


def _is_of_floats(node: fx.Node) -> bool:
    return all(tensor.dtype.is_floating_point for tensor in tensors_of(node))


def _gives(node: fx.Node, number: int) -> bool:
    """True if the result of this number is used."""
    return any(user.target is operator.getitem and user.args[1] == number and user.users for user in node.users)


def _has_remainder(node: fx.Node) -> bool:
    packet = getattr(node.target, "overloadpacket", None)
    return packet in _REMAINDERS or (packet is torch.ops.aten.div and node.kwargs.get("rounding_mode") == "floor")


def has_foreign_arguments(graph: fx.GraphModule) -> bool:
    """True if an argument is a tensor that kernels do not take."""
    arguments = [node for node in graph.graph.nodes if node.op == "placeholder"]
    return any(reason_against(tensor) is not None for tensor in tensors_of(arguments))


_PLAIN_SCATTERS = (torch.ops.aten.scatter.src, torch.ops.aten.scatter.value)
_REMAINDERS = (torch.ops.aten.floor_divide, torch.ops.aten.fmod)
_POOLS = (torch.ops.aten.max_pool2d_with_indices, torch.ops.aten.max_pool3d_with_indices)
_POOL_3D = torch.ops.aten.max_pool3d_with_indices.default
_SOFTMAX = (torch.ops.aten._softmax.default, torch.ops.aten._log_softmax.default)


class _Compiled(OperatorSupportBase):
    def __init__(self, eager: dict[fx.Node, str]) -> None:
        self._eager = eager

    def is_node_supported(self, submodules: Any, node: fx.Node) -> bool:
        return node.op == "call_function" and node not in self._eager


def partition(graph: fx.GraphModule, eager: dict[fx.Node, str]) -> tuple[fx.GraphModule, list[Any]]:
    """The graph with all but the nodes in `eager` in submodules, as large as they can be, and the nodes that call
    these."""
    cut = CapabilityBasedPartitioner(graph, _Compiled(eager), allows_single_node_partition=True)
    fused = cut.fuse_partitions(cut.propose_partitions())
    return fused, [node for node in fused.graph.nodes if node.op == "call_module"]


def output_of(graph: fx.GraphModule) -> Any:
    """The output of a graph: a node or a constant, or a list or tuple of them."""
    return next(node for node in graph.graph.nodes if node.op == "output").args[0]


@dataclass(frozen=True)
class Outputs:
    """`kernel` computes tensors, each once; `rest` gives all other results, with None in the tensors' places, None if
    there are none. `places[i]` is the number of the kernel's result that is the graph's result `i`, None if it is none.
    """

    kernel: fx.GraphModule
    rest: fx.GraphModule | None
    places: tuple[int | None, ...]


def split_outputs(graph: fx.GraphModule) -> Outputs:
    """Partitions the outputs; see `Outputs`. A graph that returns one value, not a tuple of one, has one result."""
    output = output_of(graph)
    values = list(output) if isinstance(output, (list, tuple)) else [output]
    tensors = list(dict.fromkeys(value for value in values if _is_computed(value)))
    places = tuple(tensors.index(value) if _is_computed(value) else None for value in values)
    others = [None if place is not None else value for place, value in zip(places, values, strict=True)]
    rest = _with_outputs(graph, others) if any(other is not None for other in others) else None
    return Outputs(_with_outputs(graph, tensors), rest, places)


_VIEW_NAMES = "alias detach expand permute select slice squeeze t transpose unsqueeze view"
_VIEWS = {getattr(torch.ops.aten, name) for name in _VIEW_NAMES.split()}


def _is_computed(value: Any) -> bool:
    """True if it is a tensor that is no view of an argument."""
    if not isinstance(value, fx.Node) or not isinstance(value.meta.get("val"), torch.Tensor):
        return False
    while getattr(value.target, "overloadpacket", None) in _VIEWS:
        value = value.args[0]
    return bool(value.op != "placeholder")


def _with_outputs(graph: fx.GraphModule, outputs: list[Any]) -> fx.GraphModule:
    """A copy that gives `outputs`, nodes of `graph` or constants, and computes nothing else. It has all arguments."""
    copy = fx.Graph()
    nodes: dict[fx.Node, fx.Node] = {}
    copy.graph_copy(graph.graph, nodes)
    copy.output([nodes[value] if isinstance(value, fx.Node) else value for value in outputs])
    copy.eliminate_dead_code()
    return fx.GraphModule(graph, copy)
