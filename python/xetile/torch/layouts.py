# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors whose memory is in another order than their dimensions: transposed ones, images with channels last.

Kernels take memory in C order. A graph gets each such argument as it lies in memory, with a permutation behind it,
which the compiler folds into what reads it; results are permuted to the order in memory that PyTorch gives them.
Nothing is copied. Strides are those that the graph was traced with: torch.compile's guards make them those of each
call, and who calls checks them once more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import fx

from xetile.errors import XeTileError
from xetile.torch.graphs import output_of

__all__ = ["Layout", "copy_of", "in_memory_order"]

_permute = torch.ops.aten.permute.default


@dataclass(frozen=True)
class Layout:
    """Where a tensor's elements lie: in memory, in C order, dimension i is the tensor's dimension `order[i]`.

    `sizes` are the tensor's, -1 where only the run knows; `strides` are () then, and `order` is that of the dimensions.
    """

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    order: tuple[int, ...]
    dtype: torch.dtype

    @classmethod
    def of(cls, tensor: torch.Tensor) -> Layout:
        """That of a tensor, which may be a fake one; C order if there are gaps between its elements."""
        dims = tuple(range(tensor.ndim))
        if not all(isinstance(size, int) for size in (*tensor.shape, *tensor.stride())):
            sizes = tuple(size if isinstance(size, int) else -1 for size in tensor.shape)
            return cls(sizes, (), dims, tensor.dtype)
        sizes, strides = tuple(tensor.shape), tuple(tensor.stride())
        # Dimensions of one element stay where they are, their strides mean nothing.
        moving = iter(sorted((dim for dim in dims if sizes[dim] != 1), key=lambda dim: -strides[dim]))
        order = tuple(next(moving) if sizes[dim] != 1 else dim for dim in dims)
        place = 1
        for dim in reversed(order):
            if sizes[dim] != 1 and strides[dim] != place:
                return cls(sizes, _in_c_order(sizes), dims, tensor.dtype)
            place *= sizes[dim]
        return cls(sizes, strides, order, tensor.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the memory."""
        return tuple(self.sizes[dim] for dim in self.order)

    @property
    def is_plain(self) -> bool:
        """True if the tensor is in C order."""
        return self.order == tuple(range(len(self.order)))

    @property
    def inverse(self) -> list[int]:
        """The tensor's dimensions in its memory."""
        return [self.order.index(dim) for dim in range(len(self.order))]

    def memory_of(self, tensor: torch.Tensor) -> torch.Tensor:
        """The memory as a tensor in C order, copied if the tensor has other strides. XeTileError for other sizes."""
        fits = len(self.sizes) == tensor.ndim and all(
            want in (-1, size) for want, size in zip(self.sizes, tensor.shape, strict=True)
        )
        if not fits:
            wanted = [size if size != -1 else "?" for size in self.sizes]
            raise XeTileError(f"expected a tensor of sizes {wanted}, got {list(tensor.shape)}".replace("'", ""))
        return tensor.permute(self.order).contiguous()

    def tensor_of(self, memory: torch.Tensor) -> torch.Tensor:
        """The tensor with that memory, in C order."""
        return memory.permute(self.inverse) if not self.is_plain else memory


def in_memory_order(graph: fx.GraphModule) -> tuple[fx.GraphModule, list[Layout | None], list[Layout]]:
    """A copy whose tensors are arguments and results as they lie in memory; the layouts of arguments (None for
    numbers), and those of results, which are nodes that compute tensors."""
    graph = fx.GraphModule(graph, copy_of(graph.graph))
    arguments: list[Layout | None] = []
    for node in [node for node in graph.graph.nodes if node.op == "placeholder"]:
        value = node.meta.get("val")
        layout = Layout.of(value) if isinstance(value, torch.Tensor) else None
        arguments.append(layout)
        if layout is not None and not layout.is_plain:
            with graph.graph.inserting_after(node):
                permuted = graph.graph.call_function(_permute, (node, layout.inverse))
            node.replace_all_uses_with(permuted, delete_user_cb=lambda user, permuted=permuted: user is not permuted)
            permuted.meta = dict(node.meta)
            node.meta = {**node.meta, "val": value.permute(layout.order)}
            node.meta.pop("tensor_meta", None)
    output = next(node for node in graph.graph.nodes if node.op == "output")
    results, layouts = [], []
    for node in output_of(graph):
        value = node.meta["val"]
        layout = Layout.of(value)
        layouts.append(layout)
        if not layout.is_plain:
            with graph.graph.inserting_before(output):
                permuted = graph.graph.call_function(_permute, (node, list(layout.order)))
            permuted.meta = {**node.meta, "val": value.permute(layout.order)}
            permuted.meta.pop("tensor_meta", None)
            node = permuted
        results.append(node)
    output.args = (results,)
    graph.recompile()
    return graph, arguments, layouts


def copy_of(graph: fx.Graph) -> fx.Graph:
    """A copy of the graph, with other nodes."""
    copy = fx.Graph()
    nodes: dict[fx.Node, fx.Node] = {}
    output: Any = copy.graph_copy(graph, nodes)
    copy.output(output)
    return copy


def _in_c_order(sizes: tuple[int, ...]) -> tuple[int, ...]:
    strides, place = [], 1
    for size in reversed(sizes):
        strides.append(place)
        place *= max(size, 1)
    return tuple(reversed(strides))
