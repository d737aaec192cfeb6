# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of steps, on their way to the schedule that is being written: `ops` and `parts` consist of these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from xetile.errors import Diagnostic, XeTileError
from xetile.mlir import ir
from xetile.mlir.passmanager import PassManager
from xetile.passes.diagnostics import Heard
from xetile.schedule.building import Argument, Builder, include_attributes
from xetile.schedule.handles import Handle
from xetile.schedule.places import place_of_caller

__all__ = ["building", "check_uses", "current", "emit", "include", "kind_of"]

_CURRENT: ContextVar[Builder | None] = ContextVar("xetile.schedule.building", default=None)


@contextmanager
def building(builder: Builder) -> Iterator[None]:
    """Lets steps that are called go to `builder`, with its context, an insertion point and a location."""
    token = _CURRENT.set(builder)
    try:
        # For MLIR's own builders: ours say where their ops are.
        with builder.point, ir.loc_tracebacks():
            yield
    finally:
        _CURRENT.reset(token)


def current(step: str) -> Builder:
    """The one that steps go to now. XeTileError outside of a schedule."""
    builder = _CURRENT.get()
    if builder is None:
        raise XeTileError(
            f"{step}: expected to be called in a function that is decorated with xetile.schedule.define, or in a step "
            "for Schedule.extend: there is no schedule that it could be added to"
        )
    return builder


def emit(
    op: str,
    arguments: Sequence[Argument],
    results: Sequence[type[Any]] = (),
    *,
    attributes: Mapping[str, ir.Attribute | None] | None = None,
    consumes: Sequence[str] = (),
    segments: bool = False,
    patterns: Sequence[str] | None = None,
) -> list[Any]:
    """Adds `transform.OP` to the schedule that is written; `patterns` are ops of its region, by name."""
    step = f"ops.{op.rpartition('.')[2]}"
    return current(step).add(op, step, arguments, results, attributes or {}, consumes, segments, patterns)


def include(
    part: str, arguments: Sequence[Argument], results: Sequence[type[Any]] = (), consumes: Sequence[str] = ()
) -> list[Any]:
    """Adds a call of a sequence in `schedules/parts`, and the sequence."""
    step = f"parts.{part}"
    builder = current(step)
    consumed = {i for i, argument in enumerate(arguments) if argument.name in consumes}
    builder.declare(part, [argument.kind for argument in arguments], results, consumed)
    found = builder.add("include", step, arguments, results, include_attributes(part), consumes)
    builder.included.setdefault(part, []).append(place_of_caller())
    return found


def kind_of(handle: Handle) -> type[Handle]:
    """The kind that a step's result has like its target."""
    return type(handle) if isinstance(handle, Handle) else Handle


def check_uses(module: ir.Module, name: str) -> None:
    """XeTileError for handles that are used after they were consumed, also by ops that MLIR's own builders made."""
    with Heard(module.context) as heard:
        PassManager.parse("builtin.module(transform-dialect-check-uses)", module.context).run(module.operation)
    found = [said for said in heard.others if said.severity == "warning"]
    if not found:
        return
    told_as = {"allocated here": "made here", "freed here": "consumed here"}
    errors = []
    for said in found:
        notes = tuple(replace(note, message=told_as.get(note.message, note.message)) for note in said.notes)
        message = f"expected a handle that is still there, but it was consumed: {said.message}"
        errors.append(Diagnostic("error", message, said.location, notes))
    raise XeTileError(f"schedule {name!r} is not valid", errors)
