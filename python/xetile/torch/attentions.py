# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attentions of CUDA tensors that PyTorch has fused kernels for, written out in operations that kernels of ours fuse.

Only in inference: gradients are computed of what PyTorch's kernels give besides. What is no attention that one kernel
takes stays PyTorch's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import fx
from torch.fx.experimental.proxy_tensor import make_fx

from xetile.kernels.kernel import Kernel
from xetile.torch.layouts import copy_of
from xetile.torch.narrow import NARROW
from xetile.torch.nodes import fake_mode, value_of

__all__ = ["has_attentions", "is_fused", "written_out"]

_aten = torch.ops.aten
_FUSED = {getattr(_aten, f"_scaled_dot_product_{kind}_attention").default for kind in ("flash", "efficient", "cudnn")}
_SCHEDULE = "attention"
_WRITTEN = "xetile_attention"  # in the meta of the products
_QUERIES, _FEWEST_TILES, _MANY_KEYS = 128, 66, 1024  # of a workgroup; of half of a GPU's multiprocessors
_UNIT, _MOST = 8, 256  # elements of a row: what kernels load at once, and the most that they multiply


def written_out(graph: fx.GraphModule, table: dict[Any, Callable[..., Any]]) -> fx.GraphModule | None:
    """A copy with attentions in operations of `table`'s decompositions; None if there are none to write out."""
    copy = fx.GraphModule(graph, copy_of(graph.graph))
    copy.graph.eliminate_dead_code()
    count = 0
    for node in list(copy.graph.nodes):
        call = _call_of(node)
        if call is not None and _write(copy.graph, node, call, table):
            count += 1
    if not count:
        return None
    copy.graph.eliminate_dead_code()
    copy.recompile()
    return copy


def has_attentions(graph: fx.GraphModule) -> bool:
    """True if a graph has products of attentions that were written out."""
    return any(_WRITTEN in node.meta for node in graph.graph.nodes)


def is_fused(kernel: Kernel) -> bool:
    """True if a kernel has such products and what is between them in one."""
    alone = kernel.schedule is not None and kernel.schedule.name == _SCHEDULE
    return alone or any(f"_{_SCHEDULE}_kernel".encode() in binary for binary in kernel.binaries.values())


def _call_of(node: fx.Node) -> dict[str, Any] | None:
    """The arguments by name of a fused attention that can be written out, of which the result alone is used."""
    if node.target not in _FUSED or any(user.args[1:] != (0,) for user in node.users):
        return None
    names = [argument.name for argument in node.target._schema.arguments]
    call = {argument.name: argument.default_value for argument in node.target._schema.arguments}
    call |= dict(zip(names, node.args, strict=False)) | node.kwargs
    if call.get("attn_bias") is not None or call["dropout_p"]:
        return None
    query, key, value = (value_of(call[name]) for name in ("query", "key", "value"))
    if query.ndim != 4 or query.dtype not in NARROW or query.shape[1] != key.shape[1]:
        return None
    if any(not 0 < size <= _MOST or size % _UNIT for size in (query.shape[-1], value.shape[-1])):
        return None
    # PyTorch's kernels split many keys among multiprocessors where few have queries.
    tiles = query.shape[0] * query.shape[1] * -(-query.shape[2] // _QUERIES)
    if tiles < _FEWEST_TILES and key.shape[2] > _MANY_KEYS:
        return None
    # Where a mask of other sizes begins is not the same in all of these operations; a single query is no product.
    if query.shape[2] == 1 or (call["is_causal"] and query.shape[2] != key.shape[2]):
        return None
    return call


def _write(graph: fx.Graph, node: fx.Node, call: dict[str, Any], table: dict[Any, Callable[..., Any]]) -> bool:
    """Puts operations in the place of `node`. False where these need constants."""
    operands = [call[name] for name in ("query", "key", "value")]

    def attend(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        options = {"is_causal": call["is_causal"], "scale": call["scale"]}
        result: torch.Tensor = _aten._scaled_dot_product_attention_math(query, key, value, **options)[0]
        return result

    with fake_mode(operands), torch.no_grad():
        traced = make_fx(attend, decomposition_table=table)(*(value_of(each) for each in operands)).graph
    if any(each.op == "get_attr" for each in traced.nodes):
        return False
    placeholders = [each for each in traced.nodes if each.op == "placeholder"]
    copies = dict(zip(placeholders, operands, strict=True))
    with graph.inserting_before(node):
        made = graph.graph_copy(traced, copies)
    for each in copies.values():
        if each.target is _aten.bmm.default:
            each.meta[_WRITTEN] = True
    for user in list(node.users):
        made.meta["val"] = user.meta["val"]  # its strides
        user.replace_all_uses_with(made)
        graph.erase_node(user)
    graph.erase_node(node)
    return True
