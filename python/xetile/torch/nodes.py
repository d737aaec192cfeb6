# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""New nodes of graphs, which know what they give."""

from __future__ import annotations

import contextlib
from typing import Any

import torch
from torch import fx
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

__all__ = ["call", "fake_mode", "tensors_of", "value_of"]


def value_of(value: Any) -> Any:
    """The result of a node, a fake tensor or a number; other values themselves."""
    return value.meta.get("val") if isinstance(value, fx.Node) else value


def tensors_of(values: Any) -> list[torch.Tensor]:
    """The tensors among what nodes and constants give, lists of them, too."""
    leaves = torch.utils._pytree.tree_leaves(values)
    inner = torch.utils._pytree.tree_leaves([value_of(leaf) for leaf in leaves])
    return [value for value in inner if isinstance(value, torch.Tensor)]


def fake_mode(values: Any) -> contextlib.AbstractContextManager[Any]:
    """The mode that the fake tensors among the values are of, or a new one."""
    tensors = tensors_of(values)
    return next((tensor.fake_mode for tensor in tensors if isinstance(tensor, FakeTensor)), None) or FakeTensorMode()


def call(graph: fx.Graph, target: Any, *args: Any, like: fx.Node | None = None, **kwargs: Any) -> fx.Node:
    """A node that calls `target`, at the graph's place of insertion, with the place in the model of `like`."""
    node = graph.call_function(target, args, kwargs)
    if like is not None:
        node.meta.update({name: value for name, value in like.meta.items() if name not in ("val", "tensor_meta")})
    given = torch.utils._pytree.tree_map(value_of, (args, kwargs))
    with fake_mode([args, kwargs]), torch.no_grad():
        node.meta["val"] = target(*given[0], **given[1])
    return node
