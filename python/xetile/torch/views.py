# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes that the run knows, and views of them, in terms that torch-mlir takes as they are.

torch-mlir guesses which dimensions of a view are which, and takes two dynamic ones that become one for a dimension of 1
and another. Where dimensions become one, the graph says so by `prims.collapse`; what is split stays a view. Numbers
that are sizes of arguments are asked of these.
"""

from __future__ import annotations

from typing import Any

import sympy
import torch
from torch import fx

__all__ = ["with_plain_sizes"]

_VIEWS = (
    torch.ops.aten.view.default,
    torch.ops.aten._unsafe_view.default,
    torch.ops.aten.reshape.default,
)


def with_plain_sizes(graph: fx.GraphModule) -> fx.GraphModule:
    """The graph, changed: sizes are those of arguments, and views of dynamic sizes only split dimensions."""
    for node in graph.graph.nodes:
        _say_what_is_known(node)
    numbers = _ask_arguments(graph)
    for node in list(graph.graph.nodes):
        if isinstance(node.meta.get("val"), torch.SymInt):
            numbers.setdefault(node.meta["val"].node.expr, node)
        if node.op == "call_function" and node.target in _VIEWS:
            source, result = node.args[0].meta["val"], node.meta["val"]
            if any(isinstance(size, torch.SymInt) for size in (*source.shape, *result.shape)):
                _rewrite(graph, node, numbers)
    graph.graph.eliminate_dead_code()
    graph.recompile()
    return graph


def _say_what_is_known(node: fx.Node) -> None:
    """Sizes that turned out to be one number while the graph was traced."""
    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return
    known = [_known(size) for size in value.shape]
    if any(type(a) is not type(b) for a, b in zip(known, value.shape, strict=True)):
        node.meta["val"] = value.new_empty_strided(known, value.stride())
        node.meta.pop("tensor_meta", None)


def _ask_arguments(graph: fx.GraphModule) -> dict[Any, fx.Node]:
    """Numbers among the arguments that are sizes of other arguments are no longer used. What has which size."""
    arguments = [node for node in graph.graph.nodes if node.op == "placeholder"]
    # Pieces of graphs may compute before their last argument.
    for before, argument in zip([None, *arguments], arguments, strict=False):
        if before is not None:
            before.append(argument)
        elif argument is not next(iter(graph.graph.nodes)):
            next(iter(graph.graph.nodes)).prepend(argument)
    places: dict[Any, tuple[fx.Node, int]] = {}
    for node in arguments:
        if isinstance(node.meta.get("val"), torch.Tensor):
            for dim, size in enumerate(node.meta["val"].shape):
                if isinstance(size, torch.SymInt):
                    places.setdefault(size.node.expr, (node, dim))
    numbers: dict[Any, fx.Node] = {}
    for expression, (tensor, dim) in places.items():
        with graph.graph.inserting_after(arguments[-1]):
            size = graph.graph.call_function(torch.ops.aten.sym_size.int, (tensor, dim))
        size.meta["val"] = tensor.meta["val"].shape[dim]
        numbers[expression] = size
    for number in arguments:
        value = number.meta.get("val")
        if isinstance(value, torch.SymInt) and value.node.expr in numbers:
            number.replace_all_uses_with(numbers[value.node.expr])
    return numbers


def _rewrite(graph: fx.GraphModule, node: fx.Node, numbers: dict[Any, fx.Node]) -> None:
    tensor, shape = node.args[0], node.meta["val"].shape
    groups = _groups([_expression(size) for size in tensor.meta["val"].shape], [_expression(size) for size in shape])
    with graph.graph.inserting_before(node):
        # From the last one, so that numbers of those before stay.
        for first, count, _ in reversed(groups):
            if count > 1:
                tensor = _collapsed(graph, tensor, first, count, node)
        if all(count == 1 for _, _, count in groups):
            node.replace_all_uses_with(tensor)
            graph.graph.erase_node(node)
            return
        sizes = [
            known if isinstance(known, int) else numbers.get(known.node.expr, size)
            for size, known in zip(node.args[1], shape, strict=True)
        ]
        node.args = (tensor, sizes)
        node.target = torch.ops.aten.view.default


def _collapsed(graph: fx.GraphModule, tensor: Any, first: int, count: int, view: fx.Node) -> Any:
    before = tensor.meta["val"]
    size: Any = 1
    for each in before.shape[first : first + count]:
        size = size * each
    found = graph.graph.call_function(torch.ops.prims.collapse.default, (tensor, first, first + count - 1))
    found.meta.update({name: value for name, value in view.meta.items() if name != "tensor_meta"})
    found.meta["val"] = before.new_empty([*before.shape[:first], size, *before.shape[first + count :]])
    return found


def _groups(source: list[Any], result: list[Any]) -> list[tuple[int, int, int]]:
    """(first dimension of the source, how many of it, how many of the result that have as many elements)."""
    groups, i, j = [], 0, 0
    while i < len(source) and j < len(result):
        first, count, left, right = i, j, source[i], result[j]
        i, j = i + 1, j + 1
        while left != right:
            if i < len(source) and (j == len(result) or _divides(left, right)):
                left, i = left * source[i], i + 1
            elif j < len(result):
                right, j = right * result[j], j + 1
            else:
                return [(0, len(source), len(result))]  # not shown to be the same
        groups.append((first, i - first, j - count))
    if (i, j) == (len(source), len(result)):
        return groups
    if groups and all(size == 1 for size in source[i:] + result[j:]):
        first, count, there = groups.pop()
        return [*groups, (first, count + len(source) - i, there + len(result) - j)]
    return [(0, len(source), len(result))]


def _known(size: Any) -> Any:
    return int(size.node.expr) if isinstance(size, torch.SymInt) and size.node.expr.is_number else size


def _expression(size: Any) -> Any:
    return size.node.expr if isinstance(size, torch.SymInt) else sympy.Integer(size)


def _divides(left: Any, right: Any) -> bool:
    return right != 0 and left != 0 and sympy.fraction(sympy.cancel(right / left))[1] == 1
