# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The class of schedules: parameters, a module that is built with their values, its application to payloads."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Integral
from types import MappingProxyType
from typing import Any

from xetile.errors import XeTileError, expect, expect_function, told
from xetile.mlir import ir
from xetile.mlir._mlir_libs import _xetile
from xetile.passes.diagnostics import Heard
from xetile.passes.reproducers import reproducing
from xetile.schedule.building import Builder
from xetile.schedule.calls import building
from xetile.schedule.handles import Module

__all__ = ["ENTRY", "Param", "Schedule", "Step", "keep", "make"]

ENTRY = "__transform_main"
_MATCH = "match"
_KNOB = "transform.tune.knob"

Step = Callable[[Module], "ir.Value[Any] | ir.OpView | None"]


@dataclass(frozen=True)
class Param:
    """A parameter of a schedule.

    `type` is int or str, and so are `value`, the one that applies, and `default`. Integers lie between `minimum` and
    `maximum`, both included, where these are given; `names` are those of the integers from 0 on, where they have some.
    Sizes count elements, layouts subgroups, distances steps of a loop. What a device or a payload allows besides is
    checked when the schedule is applied.
    """

    name: str
    type: type[int] | type[str]
    value: int | str
    default: int | str
    doc: str = ""
    minimum: int | None = None
    maximum: int | None = None
    names: tuple[str, ...] = ()

    def with_value(self, value: Any) -> Param:
        """The parameter with another value; XeTileError if its type or range is wrong."""
        if self.type is int:
            if isinstance(value, str) and value in self.names:
                value = self.names.index(value)
            if isinstance(value, bool) or not isinstance(value, Integral):
                named = f", or one of {', '.join(self.names)}" if self.names else ""
                raise XeTileError(f"{self.name}: expected an integer{named}, got {told(value)}")
            value = int(value)
            low = -(2**63) if self.minimum is None else self.minimum
            high = 2**63 - 1 if self.maximum is None else self.maximum
            if not low <= value <= high:
                legal = f"{low} or more" if self.maximum is None else f"{low} to {high}"
                raise XeTileError(f"{self.name}: expected {legal}, got {value}")
        else:
            expect(self.name, value, str, "a string")
            try:
                value.encode()
            except UnicodeEncodeError:
                raise XeTileError(f"{self.name}: expected a string of characters, got {told(value)}") from None
        return replace(self, value=value)


@dataclass(frozen=True)
class Schedule:
    """A schedule with values for its parameters. Values of this class never change; methods return new ones.

    `name` says where it comes from, `params` maps the names of its parameters to `Param`; `doc` is what a function says
    of itself (`xetile.schedule.define`), empty for a file.
    """

    name: str
    params: Mapping[str, Param]
    _build: Callable[[], ir.Module] = field(repr=False)
    _steps: tuple[Step, ...] = field(default=(), repr=False)
    _packaged: bool = field(default=False, repr=False)
    doc: str = field(default="", repr=False)

    def with_params(self, **values: int | str) -> Schedule:
        """The schedule with other values for some parameters.

        XeTileError for an unknown name, a value of another type or one out of the parameter's range.
        """
        return self.with_values(values)

    def with_values(self, values: Mapping[Any, Any]) -> Schedule:
        """`with_params` of a mapping, whose keys need not be strings."""
        params = dict(self.params)
        for name, value in values.items():
            if name not in params:
                known = ", ".join(params) or "none"
                raise XeTileError(f"schedule {self.name!r} has no parameter {name!r}; its parameters: {known}")
            params[name] = params[name].with_value(value)
        return replace(self, params=MappingProxyType(params))

    def extend(self, step: Step) -> Schedule:
        """The schedule with one more step at its end.

        `step(module)` is called while the entry is built, with the handle of the transformed module and an insertion
        point and location set: it calls `ops` and `parts`, or the builders of `xetile.mlir.dialects.transform`. A step
        that consumes the handle returns the new one.
        """
        expect_function(f"a step of schedule {self.name!r}", step, "a handle")
        return replace(self, _steps=(*self._steps, step))

    def build(self, context: ir.Context | None = None) -> ir.Module:
        """The schedule as one module, parts included, with the values of its parameters.

        It lives in `context`, by default a new one. XeTileError if a step builds something that is not valid.
        """
        if context is not None:
            expect("context", context, ir.Context, "an xetile.mlir.ir.Context")
        with context or ir.Context(), ir.Location.unknown():
            module = self._build()
            for name, knob in _knobs(module).items():
                knob.attributes["selected"] = _attribute(self.params[name].value)
            for step in self._steps:
                _append(module, step, self.name)
            with Heard(module.context) as heard:
                try:
                    module.operation.verify()
                except ir.MLIRError:
                    raise XeTileError(f"schedule {self.name!r} is not valid", heard.errors) from None
            return module

    def apply(self, payload: ir.Module) -> ir.Module:
        """Runs the schedule on a copy of `payload` and returns the copy; `payload` stays as it is.

        XeTileError with the compiler's diagnostics if the payload or the parameters do not suit the schedule.
        """
        if not isinstance(payload, ir.Module):
            raise XeTileError(f"payload: expected a module, got {told(payload)}")
        return self._run(self.build(payload.context), payload, ENTRY)

    def match(self, payload: ir.Module) -> ir.Module | None:
        """Runs its sequence @match, which names a schedule for each op (`xetile.schedule`), on a copy of `payload`.

        None if it has no such sequence; XeTileError as for `apply`.
        """
        return self.run(payload, _MATCH)

    def run(self, payload: ir.Module, sequence: str, *params: str) -> ir.Module | None:
        """Runs its named sequence `sequence`, which takes a handle of the module, on a copy of `payload`.

        `params` are names of the schedule's parameters whose values it takes behind the handle, if it takes some. None
        if it has no such sequence; XeTileError as for `apply`.
        """
        schedule = self.build(payload.context)
        if sequence not in map(_symbol, schedule.body.operations):
            return None
        if len(_entry(schedule, self.name, sequence).regions[0].blocks[0].arguments) > 1:
            with payload.context, ir.Location.unknown():
                values = [_attribute(self.params[name].value) for name in params]
                sequence = _with_values(schedule, self.name, sequence, values)
        return self._run(schedule, payload, sequence)

    def _run(self, schedule: ir.Module, payload: ir.Module, entry: str) -> ir.Module:
        with payload.context, ir.Location.unknown():
            copy = _xetile.clone_module(payload.operation)
        _entry(schedule, self.name, entry)
        # The package's own schedules are known to end well or with an error.
        trusted = self._packaged and not self._steps
        pipeline = "transform-preload-library{transform-library-paths=@schedule@},transform-interpreter{entry-point="
        with (
            Heard(payload.context) as heard,
            reproducing(copy, f"builtin.module({pipeline}{entry}}})", schedule) as kept,
        ):
            if not _xetile.apply_schedule(copy, schedule, entry, trusted):
                raise XeTileError(f"schedule {self.name!r} failed{kept.advice()}", heard.errors)
        return copy

    def explain(self) -> str:
        """Its parameters with their values and what they mean, a line each."""
        rows = [(f"{name} = {parameter.value}", parameter.doc) for name, parameter in self.params.items()]
        width = max((len(row[0]) for row in rows), default=0)
        return "\n".join([f"schedule {self.name}", *(f"  {value.ljust(width)}  {doc}".rstrip() for value, doc in rows)])

    def __str__(self) -> str:
        """The MLIR text of `build()`: a file that plain mlir-opt with XeTile's plugin can run."""
        return str(self.build())


def keep(name: str, module: ir.Module) -> Schedule:
    """The schedule that a module is, with its locations, for all contexts."""
    content = io.BytesIO()
    module.operation.write_bytecode(content)
    return make(name, partial(ir.Module.parse, content.getvalue()))


def make(name: str, build: Callable[[], ir.Module]) -> Schedule:
    """The schedule with the parameters that its knobs define."""
    with ir.Context(), ir.Location.unknown():
        module = build()
        _entry(module, name)
        params = {key: _param(key, knob) for key, knob in _knobs(module).items()}
    return Schedule(name, MappingProxyType(params), build)


def _append(module: ir.Module, step: Step, name: str) -> None:
    """Lets `step` add ops before the end of the entry."""
    block = _entry(module, name).regions[0].blocks[0]
    end = block.operations[-1].operation
    if len(end.operands) != 1:
        raise XeTileError(
            f"cannot add a step to schedule {name!r}: its @{ENTRY} must yield one handle, of the transformed module"
        )
    builder = Builder(name, module, block, before=end)
    given = builder.root(Module(end.operands[0]))
    with building(builder):
        handle = step(given)
    builder.finish()
    # A lambda returns what its builder does: an op without results.
    if handle is None or (isinstance(handle, (ir.OpView, ir.Operation)) and not handle.operation.results):
        return
    if not isinstance(handle, ir.Value):
        raise XeTileError(f"a step of schedule {name!r} must return a handle or None, got {handle!r}")
    end.operands[0] = handle


# Reading modules.


def _symbol(op: ir.OpView | ir.Operation) -> str:
    return ir.StringAttr(op.attributes["sym_name"]).value


def _entry(module: ir.Module, name: str, entry: str = ENTRY) -> ir.Operation:
    for op in module.body.operations:
        if op.operation.name == "transform.named_sequence" and _symbol(op) == entry:
            return op.operation
    raise XeTileError(f"{name!r} is not a schedule: it has no transform.named_sequence @{entry}")


def _with_values(module: ir.Module, name: str, sequence: str, values: list[ir.Attribute]) -> str:
    """The name of a new sequence that takes a handle alone and includes `sequence` with these values behind it."""
    root, *types = [argument.type for argument in _entry(module, name, sequence).regions[0].blocks[0].arguments]
    if len(types) != len(values):
        raise XeTileError(f"@{sequence} of schedule {name!r} takes {len(types)} parameters, got {len(values)}")
    lines = [
        f"%{number} = transform.param.constant {value} -> {type}"
        for number, (value, type) in enumerate(zip(values, types, strict=True))
    ]
    given = ", ".join(["%module", *(f"%{number}" for number in range(len(values)))])
    taken = ", ".join(map(str, [root, *types]))
    own = f"{sequence}_with_values"
    marked = ", ".join([f"{root} {{transform.consumed}}", *(f"{type} {{transform.readonly}}" for type in types)])
    text = f"""module attributes {{transform.with_named_sequence}} {{
      transform.named_sequence private @{sequence}({marked}) -> {root}
      transform.named_sequence @{own}(%module: {root} {{transform.consumed}}) -> {root} {{
        {" ".join(lines)}
        %end = transform.include @{sequence} failures(propagate) ({given}) : ({taken}) -> {root}
        transform.yield %end : {root}
      }}
    }}"""
    made = ir.Module.parse(text)
    module.body.append(made.body.operations[1].operation.clone())
    return own


def _knobs(module: ir.Module) -> dict[str, ir.Operation]:
    """All knobs by name, in the order of the file."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == _KNOB:
            found.append(op)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    knobs: dict[str, ir.Operation] = {}
    for op in found:
        name = ir.StringAttr(op.attributes["name"]).value
        if name in knobs:
            raise XeTileError(f"two parameters of the schedule have the name {name!r}; expected different names")
        knobs[name] = op
    return knobs


def _param(name: str, knob: ir.Operation) -> Param:
    if "selected" not in knob.attributes:
        raise XeTileError(f"parameter {name!r} of the schedule has no value; expected `= VALUE from options = ...`")
    selected = knob.attributes["selected"]
    if not isinstance(selected, (ir.IntegerAttr, ir.StringAttr)):
        raise XeTileError(f"parameter {name!r} of the schedule: expected an integer or a string, got {selected}")
    options = knob.attributes["options"]
    given = {item.name: item.attr for item in options} if isinstance(options, ir.DictAttr) else {}

    def limit(key: str) -> int | None:
        value = given.get(key)
        if value is not None and not isinstance(value, ir.IntegerAttr):
            raise XeTileError(f"parameter {name!r} of the schedule: expected {key} to be an integer, got {value}")
        return None if value is None else value.value

    doc = given.get("doc")
    return Param(
        name=name,
        type=int if isinstance(selected, ir.IntegerAttr) else str,
        value=selected.value,
        default=selected.value,
        doc=doc.value if isinstance(doc, ir.StringAttr) else "",
        minimum=limit("min"),
        maximum=limit("max"),
        names=_names(name, given["names"]) if "names" in given else (),
    )


def _names(parameter: str, given: ir.Attribute) -> tuple[str, ...]:
    if not isinstance(given, ir.ArrayAttr) or not all(isinstance(name, ir.StringAttr) for name in given):
        raise XeTileError(f"parameter {parameter!r} of the schedule: names: expected a list of strings, got {given}")
    return tuple(ir.StringAttr(name).value for name in given)


def _attribute(value: int | str) -> ir.Attribute:
    if isinstance(value, str):
        return ir.StringAttr.get(value)
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
