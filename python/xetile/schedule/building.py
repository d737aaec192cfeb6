# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the steps that a Python function calls into a sequence, each at the line that called it.

`functions.define` and `Schedule.extend` set a `Builder` around what calls the functions of `ops` and `parts`. A handle
that a step consumed is refused where it is used again, before anything runs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from xetile.errors import Diagnostic, XeTileError, told
from xetile.mlir import ir
from xetile.mlir._mlir_libs import _xetile
from xetile.passes.diagnostics import Heard
from xetile.schedule import attributes as made_of
from xetile.schedule.handles import AnyParam, Handle, IntParam, Module, StrParam
from xetile.schedule.places import Place, call_from, place_of_caller, shorten
from xetile.system.surroundings import PACKAGE

__all__ = ["SCHEDULES", "Argument", "Builder", "add_sequence", "include_attributes"]

SCHEDULES = PACKAGE / "schedules"
"""The package's data; in a build tree a link to the repository's folder."""

_V = TypeVar("_V", bound=Handle | AnyParam)


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
        # Functions that are sequences of this schedule, and what `sequences` knows of them.
        self.sequences: dict[Any, Any] = {}
        self._module = module
        self._block = block
        self.point = ir.InsertionPoint(block) if before is None else ir.InsertionPoint(before)
        # By value: where it was made, what took it. Roots are the handles of the whole payload, one after the other.
        self._made: dict[ir.Value[Any], Place] = {}
        self._gone: dict[ir.Value[Any], _Gone] = {}
        self._roots: set[ir.Value[Any]] = set()
        self._constants: dict[int | str, ir.Value[Any]] = {}

    def root(self, handle: _V) -> _V:
        """The value that a sequence or a body is given; a module is the whole payload of it."""
        if isinstance(handle, Module):
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
        made, taken = self.create(
            op, step, place, arguments, results, attributes, consumes, segments, 0 if patterns is None else 1
        )
        if patterns is not None:
            self._add_patterns(step, place, made, patterns)
        found = [self.own(kind(value)) for kind, value in zip(results, made.results, strict=True)]
        self.take(step, place, taken, found)
        return found

    def create(
        self,
        op: str,
        step: str,
        place: Place,
        arguments: Sequence[Argument],
        results: Sequence[type[Any]] = (),
        attributes: Mapping[str, ir.Attribute | None] | None = None,
        consumes: Sequence[str] = (),
        segments: bool = False,
        regions: int = 0,
    ) -> tuple[ir.Operation, list[ir.Value[Any]]]:
        """Adds an op with empty regions; the op, and the values that it consumes, which are still there so far."""
        operands, sizes, taken = [], [], []
        for argument in arguments:
            values = self._values(step, argument, place)
            operands += values
            sizes.append(len(values))
            taken += values if argument.name in consumes else []
        given = {name: value for name, value in (attributes or {}).items() if value is not None}
        if segments:
            given["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get(sizes)
        for kind in results:
            if not (isinstance(kind, type) and issubclass(kind, (Handle, AnyParam))):
                raise self.refuse(place, f"{step}: expected a kind of handle, such as Loop, got {told(kind)}")
        types = [_type(kind) for kind in results]
        with self.point:
            made = ir.Operation.create(f"transform.{op}", types, operands, given, loc=place.location(), regions=regions)
        return made, taken

    @contextmanager
    def inside(self, block: ir.Block, step: str, place: Place) -> Iterator[None]:
        """Lets steps go to a block of an op, whose values end with it."""
        outer = self.point, self._made, self._roots, self._constants
        self.point, self._made, self._roots = ir.InsertionPoint(block), {}, set()
        self._constants = dict(self._constants)
        try:
            with self.point:
                yield
        finally:
            for value in (*self._made, *(set(self._constants.values()) - set(outer[3].values()))):
                self._gone[value] = _Gone(f"it was made in the body of {step}, which is over", place)
            self.point, self._made, self._roots, self._constants = outer

    def nested(self, block: ir.Block) -> Builder:
        """The one for another sequence of the same schedule."""
        inner = Builder(self.name, self._module, block)
        inner.included, inner.sequences = self.included, self.sequences
        return inner

    def new_sequence(
        self, name: str, place: Place, inputs: Sequence[type[Any]], results: Sequence[type[Any]]
    ) -> ir.Block:
        """Adds a sequence behind the others; its block. Another one and a part keep their names."""
        known = {_symbol(op) for op in self._module.body.operations}
        known |= {path.stem for path in (SCHEDULES / "parts").glob("*.mlir")}
        names = (name, *(f"{name}_{i}" for i in range(len(known))))
        types = [_type(kind) for kind in inputs]
        with ir.InsertionPoint(self._module.body), place.location():
            free = next(each for each in names if each not in known)
            made = add_sequence(free, types, [_type(kind) for kind in results], [{}] * len(types), True)
            return made.regions[0].blocks.append(*types, arg_locs=[place.location()] * len(types))

    def gone(self, handle: ir.Value[Any]) -> bool:
        """True if a step has consumed the handle."""
        return handle in self._gone

    def constant(self, value: int | str) -> ir.Value[Any]:
        """A parameter of that value; the same one whenever it is asked for."""
        if value not in self._constants:
            kind = StrParam if isinstance(value, str) else IntParam
            what = "a parameter"
            attribute = made_of.string(what, value) if isinstance(value, str) else made_of.integer(what, value)
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

    def value(self, step: str, argument: Argument, place: Place) -> ir.Value[Any]:
        """The value of one argument; XeTileError if it does not fit."""
        return self._values(step, argument, place)[0]

    def check(self, step: str, name: str, given: ir.Value[Any], place: Place) -> None:
        """XeTileError if a value that is used was consumed before, or is another schedule's."""
        owner = getattr(given, "builder", self)
        if owner is not self or given.context != self._module.context:
            whose = "another" if owner is self else repr(owner.name)
            text = f"{step}: {name}: expected a value that is given or made here, got one that was kept of {whose}"
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

    def take(self, step: str, place: Place, taken: Sequence[ir.Value[Any]], found: Sequence[Any]) -> None:
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


def include_attributes(name: str) -> dict[str, ir.Attribute]:
    """Attributes of a call of a sequence whose failures are the caller's."""
    propagate = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 1)
    return {"target": ir.FlatSymbolRefAttr.get(name), "failure_propagation_mode": propagate}


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


def _symbol(op: ir.OpView | ir.Operation) -> str:
    return ir.StringAttr(op.attributes["sym_name"]).value


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
