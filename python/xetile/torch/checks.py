# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Indices and divisors of integers, checked as the graph runs.

PyTorch raises an exception where an index is out of range, and where an integer is divided by 0. A kernel cannot stop:
it reads the last element within range instead, or divides by 1, and gives more results, the smallest and the largest
number of each tensor of indices, which the call looks at before it gives the others.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import fx

from xetile.errors import XeTileError
from xetile.torch.nodes import call, tensors_of, value_of

__all__ = [
    "Check",
    "IndexRangeError",
    "IntegerDivisionError",
    "expect_in_range",
    "reason_against_check",
    "with_checks",
    "with_flag",
]

_aten = torch.ops.aten
_MOST_TOLD = 240  # letters; CUDA's assertions take less than 255
_MOST_APART = 4  # to put fewer numbers together takes a kernel longer than to read them one by one


class IndexRangeError(XeTileError, IndexError):
    """An index that is out of range."""


class IntegerDivisionError(XeTileError, RuntimeError):
    """An integer is divided by 0, which PyTorch raises a RuntimeError for, too."""


@dataclass(frozen=True)
class Check:
    """The range in two numbers of the results: `operation` got numbers from the first to the second, expected are those
    from `low` to `high`; divisors, whose smallest distance from 0 is the first, if there is no `high`."""

    operation: str
    place: str
    low: int
    high: int | None

    def expect(self, least: int, most: int) -> None:
        """IndexRangeError or IntegerDivisionError if the numbers are others."""
        if self.high is None:
            if least == 0:
                raise IntegerDivisionError(f"{self.operation}: an integer is divided by 0{self.place}")
        elif least < self.low or most > self.high:
            raise IndexRangeError(
                f"{self.operation}: expected indices from {self.low} to {self.high}, got "
                f"{least if least < self.low else most}{self.place}"
            )

    def __str__(self) -> str:
        what = "an integer is divided by 0" if self.high is None else f"an index is not from {self.low} to {self.high}"
        return f"{self.operation}: {what}{self.place}"


def count_results(checks: Sequence[Check]) -> int:
    """How many results a graph with checks gives besides: its numbers, together where these are many."""
    return 2 * len(checks) if 2 * len(checks) <= _MOST_APART else min(len(checks), 1)


def expect_in_range(checks: Sequence[Check], results: Iterable[torch.Tensor | np.ndarray[Any, Any]]) -> None:
    """Raises what is wrong, if something is; `results` are those that the checks look at."""
    told = [number for each in results for number in each.tolist()]
    for number, check in enumerate(checks):
        check.expect(told[2 * number], told[2 * number + 1])


def with_checks(graph: fx.GraphModule) -> list[Check]:
    """Changes a graph that gives a list of tensors: indices are within range. Where some need not be it gives
    `count_results` tensors more, the numbers that the checks look at."""
    checks: list[Check] = []
    numbers: list[fx.Node] = []
    _write_checks(graph, checks, numbers)
    if not checks:
        return checks
    output = next(iter(reversed(graph.graph.nodes)))
    if count_results(checks) != len(numbers):
        with graph.graph.inserting_before(output):
            numbers = [call(graph.graph, _aten.cat.default, numbers)]
    output.args = ([*output.args[0], *numbers],)
    graph.recompile()
    return checks


def with_flag(graph: fx.GraphModule) -> str:
    """As `with_checks`, of a graph on a GPU, where nobody waits for numbers: its last result is 1 if all are within
    range, else 0. Returns what to say then; empty if there is nothing to look at, and no such result."""
    checks: list[Check] = []
    numbers: list[fx.Node] = []
    _write_checks(graph, checks, numbers, as_flags=True)
    if not checks:
        return ""
    output = next(iter(reversed(graph.graph.nodes)))
    with graph.graph.inserting_before(output):
        flag = functools.reduce(lambda left, right: call(graph.graph, _aten.mul.Tensor, left, right), numbers)
    output.args = ([*output.args[0], flag],)
    graph.recompile()
    told = "; or ".join(f"{check}" for check in checks)
    return told if len(told) <= _MOST_TOLD else f"{told[:_MOST_TOLD]}..."


def reason_against_check(node: fx.Node) -> str | None:
    """Why a kernel cannot look at the indices of a node; None if it can, or has none to look at."""
    packet = getattr(node.target, "overloadpacket", None)
    if packet not in _INDEXED or all(isinstance(size, int) for size in value_of(node.args[0]).shape):
        return None
    return "the run alone knows what its indices may be"


def _write_checks(
    graph: fx.GraphModule, checks: list[Check], numbers: list[fx.Node], *, as_flags: bool = False
) -> None:
    for node in list(graph.graph.nodes):
        packet = getattr(node.target, "overloadpacket", None)
        rule = _RULES.get(packet) if node.op == "call_function" else None
        if rule is not None:
            rule(_Writer(graph.graph, node, checks, numbers, as_flags))


class _Writer:
    """Checks of one node."""

    def __init__(
        self, graph: fx.Graph, node: fx.Node, checks: list[Check], numbers: list[fx.Node], as_flags: bool
    ) -> None:
        self.graph, self.node, self._checks, self._numbers = graph, node, checks, numbers
        self._as_flags = as_flags

    def call(self, target: Any, *args: Any, **kwargs: Any) -> fx.Node:
        with self.graph.inserting_before(self.node):
            return call(self.graph, target, *args, like=self.node, **kwargs)

    def index(self, index: fx.Node, size: Any, *, wraps: bool = False, but: int | None = None) -> fx.Node:
        """The index, from 0 to `size` - 1, from -`size` on if it `wraps`; `but` is allowed besides."""
        low, high = -size if wraps else 0, size - 1
        looked = index
        if but is not None and not low <= but <= high:
            # 0 for what is left out.
            other = self.call(_aten.ne.Scalar, index, but)
            looked = self.call(_aten.mul.Tensor, index, self._as_integer(other, index))
        self._check(looked, low, high)
        safe = self.call(_aten.clamp.default, looked, low, high)
        if looked is index:
            return safe
        # Elements that are left out stay as they are.
        return self.call(_aten.where.self, other, safe, index)

    def divisor(self, divisor: fx.Node) -> fx.Node:
        """The divisor, 1 for 0."""
        zero = self.call(_aten.eq.Scalar, divisor, 0)
        self._check(self.call(_aten.ne.Scalar, divisor, 0), 0, None)
        return self.call(_aten.add.Tensor, divisor, self._as_integer(zero, divisor))

    def _as_integer(self, mask: fx.Node, like: fx.Node) -> fx.Node:
        return self.call(_aten._to_copy.default, mask, dtype=value_of(like).dtype)

    def _check(self, values: fx.Node, low: int, high: int | None) -> None:
        wide = self.call(_aten._to_copy.default, values, dtype=torch.int64)
        flat = self.call(_aten.reshape.default, wide, [-1])
        if self._as_flags:
            self._numbers.append(self._flag(flat, low, high))
        else:
            for target in (_aten.amin.default, _aten.amax.default):
                self._numbers.append(self.call(target, flat, [0], True))
        trace = str(self.node.meta.get("stack_trace") or "").strip()
        self._checks.append(Check(str(self.node.target), f"\n{trace}" if trace else "", low, high))

    def _flag(self, values: fx.Node, low: int, high: int | None) -> fx.Node:
        """1 if all values are fine, else 0; a tensor of one number."""
        if high is None:
            fine = self.call(_aten.ne.Scalar, values, 0)
        else:
            above, below = self.call(_aten.ge.Scalar, values, low), self.call(_aten.le.Scalar, values, high)
            fine = self.call(_aten.logical_and.default, above, below)
        return self.call(_aten.amin.default, self.call(_aten._to_copy.default, fine, dtype=torch.int32), [0], True)

    def replace(self, place: int, value: Any) -> None:
        self.node.args = (*self.node.args[:place], value, *self.node.args[place + 1 :])


def _is_integer(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and not value.dtype.is_floating_point and value.dtype is not torch.bool


def _index(writer: _Writer) -> None:
    sizes = value_of(writer.node.args[0]).shape
    indices = [
        writer.index(index, sizes[dim], wraps=True) if _is_integer(value_of(index)) else index
        for dim, index in enumerate(writer.node.args[1])
    ]
    writer.replace(1, indices)


def _embedding(writer: _Writer) -> None:
    writer.replace(1, writer.index(writer.node.args[1], value_of(writer.node.args[0]).shape[0]))


def _along(writer: _Writer) -> None:
    source, dim = value_of(writer.node.args[0]), writer.node.args[1]
    size = source.shape[dim] if source.ndim else 1
    writer.replace(2, writer.index(writer.node.args[2], size))


def _nll_loss(writer: _Writer) -> None:
    source, args = value_of(writer.node.args[0]), writer.node.args
    writer.replace(1, writer.index(args[1], source.shape[1 if source.ndim > 1 else 0], but=args[4]))


def _division(writer: _Writer) -> None:
    node = writer.node
    divisor = value_of(node.args[1])
    if isinstance(divisor, torch.Tensor) and all(_is_integer(each) for each in tensors_of(node)):
        writer.replace(1, writer.divisor(node.args[1]))


_INDEXED: dict[Any, Callable[[_Writer], None]] = {
    _aten.index: _index,
    _aten.embedding: _embedding,
    _aten.gather: _along,
    _aten.index_select: _along,
    _aten.nll_loss_forward: _nll_loss,
    _aten.nll_loss2d_forward: _nll_loss,
}
_RULES = {
    **_INDEXED,
    _aten.div: _division,
    _aten.floor_divide: _division,
    _aten.remainder: _division,
    _aten.fmod: _division,
}
