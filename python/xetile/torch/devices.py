# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the tensors of graphs are, and which target compiles for that.

A graph is compiled for one device: kernels for sm_90a take CUDA tensors of one GPU, all others tensors in the CPU's
memory. What a graph does with tensors that are elsewhere, as copies between devices, PyTorch does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import torch
from torch import fx

from xetile import targets
from xetile.errors import XeTileError
from xetile.kernels import cuda
from xetile.kernels.cuda_arrays import on_device
from xetile.targets import Target
from xetile.torch.layouts import copy_of
from xetile.torch.nodes import tensors_of

__all__ = [
    "device_of",
    "expect_device",
    "expect_gpu",
    "foreign_nodes",
    "has_foreign_arguments",
    "place_of",
    "target_for",
    "tensors_of_graph",
    "without_devices",
]

_CPU = torch.device("cpu")


def place_of(tensor: torch.Tensor) -> torch.device:
    """The device of a tensor, a fake one's, too. Numbers of the CPU's mean nothing."""
    return _CPU if tensor.device.type == "cpu" else tensor.device


def expect_gpu(device: torch.device) -> None:
    """XeTileError if there is no driver for a GPU of PyTorch's, or kernels do not run on it."""
    with on_device(device.index or 0):
        cuda.describe_device()


def tensors_of_graph(graph: fx.GraphModule, inputs: Iterable[Any] = ()) -> list[torch.Tensor]:
    """The tensors that a graph takes, `inputs` if they are known; if there are none, those that it computes."""
    given = [value for value in inputs if isinstance(value, torch.Tensor)]
    arguments = [node for node in graph.graph.nodes if node.op == "placeholder"]
    taken = given or tensors_of(arguments)
    if taken:
        return taken
    values = [node.meta.get("val", node.meta.get("example_value")) for node in graph.graph.nodes]
    return tensors_of(values)


def device_of(tensors: Iterable[torch.Tensor]) -> torch.device:
    """The one device of all the tensors: the CPU where there are none. Numbers as tensors on the CPU go with others.

    XeTileError, which lists the devices, if there are several.
    """
    places = {place_of(tensor): None for tensor in tensors if tensor.ndim or place_of(tensor) != _CPU}
    if len(places) > 1:
        raise XeTileError(
            f"expected tensors on one device, got some on {', '.join(sorted(map(str, places)))}: move the model and "
            "its inputs to one of them"
        )
    return next(iter(places), _CPU)


def target_for(device: torch.device) -> Target:
    """The target that compiles for tensors there. XeTileError if none does, or the GPU or its driver is too old."""
    if device == _CPU:
        return Target("cpu")
    fitting = [target for target in targets.available() if target.tensors_on == device.type]
    if not fitting:
        kinds = sorted({target.tensors_on for target in targets.available()})
        raise XeTileError(
            f"expected tensors on {' or '.join(kinds)}, got some on {device}: move the model and its inputs"
        )
    expect_gpu(device)
    return fitting[0]


def expect_device(target: Target, device: torch.device) -> None:
    """XeTileError if kernels of a target that was asked for do not take tensors that are there."""
    if target.tensors_on != device.type:
        raise XeTileError(
            f"target {target.name}: expected tensors on {target.tensors_on}, got some on {device}: move the model and "
            "its inputs, or leave out the target"
        )
    if device != _CPU:
        expect_gpu(device)


def foreign_nodes(graph: fx.GraphModule, device: torch.device, eager: Collection[fx.Node] = ()) -> dict[fx.Node, str]:
    """The operations that read or give tensors which are not on the graph's device, and how to say so. Numbers that a
    graph makes as tensors of the CPU, for operations there alone, are as good as on its device. `eager` are operations
    that PyTorch computes anyway.
    """
    nodes = [node for node in graph.graph.nodes if node.op == "call_function"]
    numbers = {node for node in nodes if _is_number(node)}
    while True:
        found = {}
        for node in nodes:
            read = [each for each in node.all_input_nodes if each not in numbers]
            places = {place_of(tensor) for tensor in tensors_of([*read, *([] if node in numbers else [node])])} - {
                device
            }
            if places:
                told = ", ".join(sorted(map(str, places)))
                found[node] = f"kernels have tensors on {device} only, it has some on {told}"
        lost = {node for node in numbers if not _stays_inside(node, found.keys() | set(eager))}
        if not lost:
            return found
        numbers -= lost


def _is_number(node: fx.Node) -> bool:
    """True if it gives a number as a tensor of the CPU."""
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and not value.ndim and value.device.type == "cpu"


def _stays_inside(node: fx.Node, others: Collection[fx.Node]) -> bool:
    return node not in others and all(user.op == "call_function" and user not in others for user in node.users)


def without_devices(graph: fx.GraphModule) -> fx.GraphModule:
    """A copy whose operations do not say where their results are, as those of a graph for one device need not."""
    copy = fx.GraphModule(graph, copy_of(graph.graph))
    for node in copy.graph.nodes:
        if "device" in node.kwargs:
            node.kwargs = {name: value for name, value in node.kwargs.items() if name not in ("device", "pin_memory")}
    copy.recompile()
    return copy


def has_foreign_arguments(graph: fx.GraphModule, device: torch.device) -> bool:
    """True if an argument is a tensor that is not on the graph's device."""
    arguments = [node for node in graph.graph.nodes if node.op == "placeholder"]
    return any(place_of(tensor) != device for tensor in tensors_of(arguments))
