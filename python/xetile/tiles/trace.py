# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernel that is built while its function runs: where operations go, their lines, which values live there."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

from xetile.errors import Diagnostic, XeTileError, told
from xetile.mlir import ir
from xetile.passes.diagnostics import Heard
from xetile.schedule.places import Place, place_of_caller

__all__ = ["Place", "Scope", "Trace", "Value", "current", "emit", "here", "parse_attribute", "parse_type", "wrong"]

_ROOM = os.path.dirname(__file__)
_MOST = 1 << 31
LANES = 16
"""Of a subgroup, on all chips with 2D block messages."""


def here() -> Place:
    """The line outside of this room that calls."""
    return place_of_caller(_ROOM)


def wrong(text: str, place: Place | None = None) -> XeTileError:
    """The error `text`, at the user's line."""
    building = _current.get()
    name = f"the kernel {building.name}" if building else "a kernel"
    return XeTileError(f"{name} cannot be built", [Diagnostic("error", text, str(place or here()))])


class Scope:
    """The kernel's body, or that of a loop: its values live while it is open."""

    def __init__(self, place: Place, point: ir.InsertionPoint, outer: Scope | None) -> None:
        self.place, self.point, self.outer = place, point, outer
        self.is_open = True


class Trace:
    """A kernel that is being built. `scope` is the innermost one; `left` are the places of loops that were left early.

    `subgroups` are as many as the first map had, None before; `mapped` is where that was.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.scope: Scope | None = None
        self.left: list[Place] = []
        self.subgroups: int | None = None
        self.mapped: Place | None = None

    def enter(self, place: Place, point: ir.InsertionPoint) -> Scope:
        """Opens a scope at `point`, of a kernel or a loop: operations go there."""
        self.scope = Scope(place, point, self.scope)
        return self.scope

    def leave(self, scope: Scope) -> None:
        """Closes a scope: its values cannot be used any more."""
        scope.is_open = False
        self.scope = scope.outer

    def count(self, subgroups: int) -> None:
        """Takes the number of subgroups of a map. XeTileError if another one had another number."""
        if subgroups * LANES >= _MOST:
            raise wrong(f"the wg_map is for {subgroups} subgroups: expected fewer than {_MOST // LANES}")
        if self.subgroups is None:
            self.subgroups, self.mapped = subgroups, here()
        elif self.subgroups != subgroups:
            raise wrong(
                f"the wg_map is for {subgroups} subgroups, others of the kernel for {self.subgroups} ({self.mapped}): "
                "expected all maps to have as many, the product of sg_layout"
            )


_current: ContextVar[Trace | None] = ContextVar("xetile_kernel", default=None)


def begin(trace: Trace | None) -> Trace | None:
    """Makes `trace` the kernel that is built here, and returns the one before."""
    before = _current.get()
    _current.set(trace)
    return before


def current() -> Trace:
    """The kernel that is being built. XeTileError outside of one."""
    trace = _current.get()
    if trace is None or trace.scope is None:
        raise wrong("expected this inside of a function that xetile.kernel builds, got it outside")
    return trace


class Value:
    """A result of an operation, or an argument; it may be used where its scope is open."""

    def __init__(self, value: ir.Value[Any]) -> None:
        self._value = value
        self._trace = current()
        self._scope = self._trace.scope

    @property
    def value(self) -> ir.Value[Any]:
        """MLIR's value. XeTileError where it cannot be used."""
        if _current.get() is not self._trace:
            raise wrong(f"a value of the kernel {self._trace.name} is used outside of it; build what needs it there")
        assert self._scope is not None
        if not self._scope.is_open:
            raise wrong(
                f"a value that was made in the loop at {self._scope.place} is used behind that; let the loop carry it, "
                "and take it from the loop's `results`"
            )
        return self._value


def emit(
    name: str,
    results: Sequence[ir.Type] = (),
    operands: Sequence[ir.Value[Any]] = (),
    regions: int = 0,
    **attributes: Any,
) -> ir.Operation:
    """An operation at the end of the innermost scope, at the user's line. Attributes that are None are left out."""
    trace = current()
    assert trace.scope is not None
    return ir.Operation.create(
        name,
        results=list(results),
        operands=list(operands),
        attributes={key: value for key, value in attributes.items() if value is not None},
        regions=regions,
        loc=here().location(),
        ip=trace.scope.point,
    )


def parse_type(text: str) -> ir.Type:
    """XeTileError, with what the type's verifier says, for one that there is not."""
    kind: ir.Type = _parse(ir.Type.parse, text)
    return kind


def parse_attribute(text: str) -> ir.Attribute:
    """As `parse_type`."""
    attribute: ir.Attribute = _parse(ir.Attribute.parse, text)
    return attribute


def _parse(parse: Any, text: str) -> Any:
    current()
    assert ir.Context.current is not None
    with Heard(ir.Context.current) as heard:
        try:
            return parse(text)
        except (ir.MLIRError, ValueError):
            said = "; ".join(error.message for error in heard.errors) or "it is not valid"
            raise wrong(f"{text}: {said}") from None


def integers(what: str, values: Any, count: int) -> tuple[int, ...]:
    """So many whole numbers from 1 to below 2^31. XeTileError for others."""
    good = isinstance(values, Sequence) and not isinstance(values, str) and len(values) == count
    if not good or not all(isinstance(value, int) and not isinstance(value, bool) and value >= 1 for value in values):
        raise wrong(f"{what}: expected {count} whole numbers from 1 on, got {told(values)}")
    if max(values) >= _MOST:
        raise wrong(f"{what}: expected numbers below {_MOST}, got {told(values)}")
    return tuple(values)
