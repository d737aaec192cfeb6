# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the steps that a Python function calls into a sequence, each at the line that called it.

`ops` and `parts` are functions that call `emit` and `include`; `functions.define` and `Schedule.extend` set a `Builder`
around what calls them. A handle that a step consumed is refused where it is used again, before anything runs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

from xetile.errors import Diagnostic, XeTileError, told
from xetile.mlir import ir
from xetile.mlir._mlir_libs import _xetile
from xetile.mlir.passmanager import PassManager
from xetile.passes.diagnostics import Heard
from xetile.schedule.handles import AnyParam, Handle, IntParam, Module, StrParam
from xetile.schedule.places import Place, call_from, place_of_caller, shorten
from xetile.system.surroundings import PACKAGE

__all__ = ["Argument", "Builder", "building", "emit", "include", "kind_of"]

SCHEDULES = PACKAGE / "schedules"
"""The package's data; in a build tree a link to the repository's folder."""

_V = TypeVar("_V", Handle, Module, AnyParam)
_CURRENT: ContextVar[Builder | None] = ContextVar("xetile.schedule.building", default=None)


class Argument(NamedTuple):
    """An operand of a step: its name, what was given, and of which kind it has to be.

    `given` is a handle, a parameter, or a number or a string where a parameter is expected. `times` is "1", "?" if it
    may be None, "*" for a sequence.
    """

    name: str
    given: Any
    kind: type[Handle] | type[AnyParam]
    times: str = "1"


@dataclass(frozen=True)
class _Gone:
    """The reason why a handle is of no use any more, and the place of the step that is to blame."""

    why: str
    place: Place


class Builder:
    """The steps of one sequence while they are written."""

    def __init__(self, name: str, module: ir.Module, block: ir.Block, before: ir.Operation | None = None) -> None:
        self.name = name
        self.included: dict[str, list[Place]] = {}
        self._module = module
        self._block = block
        self.point = ir.InsertionPoint(block) if before is None else ir.InsertionPoint(before)
        # By value: where it was made, what took it. Roots are the handles of the whole payload, one after the other.
        self._made: dict[ir.Value[Any], Place] = {}
        self._gone: dict[ir.Value[Any], _Gone] = {}
        self._roots: set[ir.Value[Any]] = set()
        self._constants: dict[int | str, ir.Value[Any]] = {}

    def root(self, handle: Module) -> Module:
        """Says that this is the handle of the whole payload."""
        self._roots.add(handle)
        return self.own(handle)

    def own(self, value: _V) -> _V:
        """The value, of this sequence from now on. It keeps the module, whose memory it points into."""
        value.builder = self
        return value

    def newest(self) -> Place | None:
        """The place of the newest handle of the whole payload."""
        places = [place for value, place in self._made.items() if value in self._roots]
        return places[-1] if places else None

    def refuse(self, place: Place, message: str, *notes: tuple[str, Place | None]) -> XeTileError:
        """The error of a mistake at a line, and what else has to do with it."""
        others = tuple(Diagnostic("note", text, str(where)) for text, where in notes if where is not None)
        return XeTileError(f"schedule {self.name!r} is not valid", [Diagnostic("error", message, str(place), others)])

    def add(
        self,
        op: str,
        step: str,
        arguments: Sequence[Argument],
        results: Sequence[type[Any]],
        attributes: Mapping[str, ir.Attribute | None],
        consumes: Sequence[str],
        segments: bool = False,
        patterns: Sequence[str] | None = None,
    ) -> list[Any]:
        """Adds an op; what it gives, as the kinds that `results` name. XeTileError for arguments that do not fit."""
        place = place_of_caller()
        operands, sizes, taken = [], [], []
        for argument in arguments:
            values = self._values(step, argument, place)
            operands += values
            sizes.append(len(values))
            taken += values if argument.name in consumes else []
        given = {name: value for name, value in attributes.items() if value is not None}
        if segments:
            given["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get(sizes)
        with self.point:
            made = ir.Operation.create(
                f"transform.{op}",
                results=[_type(kind) for kind in results],
                operands=operands,
                attributes=given,
                loc=place.location(),
                regions=0 if patterns is None else 1,
            )
            if patterns is not None:
                self._add_patterns(step, place, made, patterns)
        found = [self.own(kind(value)) for kind, value in zip(results, made.results, strict=True)]
        self._take(step, place, taken, found)
        return found

    def constant(self, value: int | str) -> ir.Value[Any]:
        """A parameter of that value; the same one whenever it is asked for."""
        if value not in self._constants:
            kind = StrParam if isinstance(value, str) else IntParam
            attribute: ir.Attribute = (
                ir.StringAttr.get(value) if isinstance(value, str) else ir.IntegerAttr.get(_i64(), value)
            )
            (self._constants[value],) = self.add("param.constant", "a constant", [], [kind], {"value": attribute}, [])
        return self._constants[value]

    def declare(self, part: str, inputs: Sequence[type[Any]], results: Sequence[type[Any]], consumed: Any) -> None:
        """Says that there is a sequence of that name; `finish` brings it."""
        if part in self.included:
            return
        effects = [{"transform.consumed" if i in consumed else "transform.readonly": ir.UnitAttr.get()}
                   for i in range(len(inputs))]  # fmt: skip
        known = any(
            "sym_name" in op.attributes and ir.StringAttr(op.attributes["sym_name"]).value == part
            for op in self._module.body.operations
        )
        if not known:
            with ir.InsertionPoint.at_block_begin(self._module.body), ir.Location.unknown():
                add_sequence(part, [_type(kind) for kind in inputs], [_type(kind) for kind in results], effects, False)

    def finish(self) -> None:
        """Brings the sequences that were included, each at the lines that include it. XeTileError if it cannot."""
        shorten(self._block.owner)
        if not self.included:
            return
        there = {_symbol(op) for op in self._module.body.operations if len(op.operation.regions[0].blocks)}
        with Heard(self._module.context) as heard:
            if not _xetile.complete_schedule(self._module, os.fsencode(SCHEDULES)):
                raise XeTileError(f"schedule {self.name!r} is not valid", heard.errors)
        for op in self._module.body.operations:
            places = self.included.get(_symbol(op))
            if places and _symbol(op) not in there:
                call_from(op.operation, [place.location() for place in places])

    def _add_patterns(self, step: str, place: Place, around: ir.Operation, patterns: Sequence[str]) -> None:
        block = around.regions[0].blocks.append()
        for name in patterns:
            op = f"transform.apply_patterns.{name}"
            if not isinstance(name, str) or not self._module.context.is_registered_operation(op):
                wanted = 'a name of patterns, such as "canonicalization" or "memref.fold_memref_alias_ops"'
                raise self.refuse(place, f"{step}: patterns: expected {wanted}, got {told(name)}")
            with ir.InsertionPoint(block):
                ir.Operation.create(op, loc=place.location())

    def _values(self, step: str, argument: Argument, place: Place) -> list[ir.Value[Any]]:
        name, given, kind, times = argument
        if times == "?" and given is None:
            return []
        if times == "*":
            if not isinstance(given, (list, tuple)):
                raise self.refuse(place, f"{step}: {name}: expected a list, of {_wanted(kind)} each, got {told(given)}")
            return [value for each in given for value in self._values(step, Argument(name, each, kind), place)]
        if issubclass(kind, AnyParam) and isinstance(given, (int, str)) and not isinstance(given, bool):
            wanted = {IntParam: int, StrParam: str}.get(kind, (int, str))
            if isinstance(given, wanted):
                return [self.constant(given)]
        if not isinstance(given, ir.Value) or not _fits(given, kind):
            came = f"a {type(given).__name__}" if isinstance(given, ir.Value) else told(given)
            raise self.refuse(
                place,
                f"{step}: {name}: expected {_wanted(kind)}, got {came}",
                ("made here", self._made.get(given) if isinstance(given, ir.Value) else None),
            )
        self.check(step, name, given, place)
        return [given]

    def check(self, step: str, name: str, given: ir.Value[Any], place: Place) -> None:
        """XeTileError if a value that is used was consumed before, or is another schedule's."""
        owner = getattr(given, "builder", self)
        if owner is not self or given.context != self._module.context:
            whose = "another" if owner is self else repr(owner.name)
            text = f"{step}: {name}: expected a value of this schedule, got one of {whose} that was kept"
            raise self.refuse(place, text)
        gone = self._gone.get(given)
        if gone is not None:
            raise self.refuse(
                place,
                f"{step}: {name}: expected a handle that is still there, but {gone.why}: use what that step returns, "
                "find the operations again, or call this one before it",
                ("consumed here", gone.place),
                ("made here", self._made.get(given)),
            )

    def _take(self, step: str, place: Place, taken: Sequence[ir.Value[Any]], found: Sequence[Any]) -> None:
        """Notes what a step consumed and made."""
        root = any(handle in self._roots for handle in taken)
        if root:
            # Operations in the module may be others now, or gone.
            for handle in self._made:
                if isinstance(handle, Handle) and handle not in self._gone:
                    why = f"the module that its operations are in was consumed by {step}"
                    self._gone[handle] = _Gone(why, place)
        for handle in taken:
            self._gone[handle] = _Gone(f"it was consumed by {step}", place)
        for value in found:
            self._made[value] = place
        modules = [value for value in found if isinstance(value, Module)]
        if root and modules:
            self._roots.add(modules[0])


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
    attributes = {
        "target": ir.FlatSymbolRefAttr.get(part),
        "failure_propagation_mode": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 1),
    }
    found = builder.add("include", step, arguments, results, attributes, consumes)
    builder.included.setdefault(part, []).append(place_of_caller())
    return found


def add_sequence(
    name: str,
    inputs: Sequence[ir.Type],
    results: Sequence[ir.Type],
    effects: Sequence[Mapping[str, ir.Attribute]],
    public: bool,
) -> ir.Operation:
    """A named sequence without a body, at the current place."""
    attributes: dict[str, ir.Attribute] = {
        "sym_name": ir.StringAttr.get(name),
        "function_type": ir.TypeAttr.get(ir.FunctionType.get(list(inputs), list(results))),
        "arg_attrs": ir.ArrayAttr.get([ir.DictAttr.get(dict(each)) for each in effects]),
    }
    if not public:
        attributes["sym_visibility"] = ir.StringAttr.get("private")
    return ir.Operation.create("transform.named_sequence", attributes=attributes, regions=1)


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


def _symbol(op: ir.OpView | ir.Operation) -> str:
    return ir.StringAttr(op.attributes["sym_name"]).value


def kind_of(handle: Handle) -> type[Handle]:
    """The kind that a step's result has like its target."""
    return type(handle) if isinstance(handle, Handle) else Handle


def _fits(value: ir.Value[Any], kind: type[Any]) -> bool:
    """A plain value of MLIR's builders is not looked at, nor a handle of no kind."""
    if isinstance(value, (Handle, AnyParam)):
        return isinstance(value, kind) or issubclass(kind, type(value))
    return True


def _wanted(kind: type[Any]) -> str:
    if issubclass(kind, IntParam):
        return "an integer, a knob of integers or what a step chose"
    if issubclass(kind, StrParam):
        return "a string or a knob of strings"
    if issubclass(kind, AnyParam):
        return "a number, a string or a knob"
    return "a handle" if kind is Handle else f"a handle of kind {kind.__name__}"


def _type(kind: type[Any]) -> ir.Type:
    if issubclass(kind, Handle):
        return ir.Type.parse("!transform.any_op")
    return ir.Type.parse("!transform.param<i64>" if issubclass(kind, IntParam) else "!transform.any_param")


def _i64() -> ir.Type:
    return ir.IntegerType.get_signless(64)
