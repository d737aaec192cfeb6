# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedules: how a `linalg.matmul` is tiled for a GPU, as transform ops that a person can read and change.

A schedule is an MLIR module whose entry, `@__transform_main`, composes the steps in `schedules/parts`. It comes from a
file (`load`), and Python may add steps. Its parameters are `transform.tune.knob` ops:

    schedule = xetile.schedule.matmul(workgroup_tile=(128, 256), subgroup_layout=(4, 4))
    kernel = xetile.compile(payload, schedule=schedule)
    print(schedule)                                         # one self-contained MLIR file
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from numbers import Integral
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

from xetile.errors import XeTileError, expect, expect_function, told
from xetile.mlir import ir
from xetile.mlir._mlir_libs import _xetile
from xetile.passes.diagnostics import Heard, parse_file
from xetile.system import files
from xetile.system.surroundings import PACKAGE

__all__ = ["Param", "Schedule", "available", "load", "matmul", "suggest", "values_of"]

# The package's data; in a build tree a link to the repository's folder.
_SCHEDULES = PACKAGE / "schedules"
# Files there that schedules include, as they do parts.
_LIBRARIES = ("cpu_fuse", "match")
_ENTRY = "__transform_main"
_MATCH = "match"
_KNOB = "transform.tune.knob"

Step = Callable[["ir.Value[Any]"], "ir.Value[Any] | ir.OpView | None"]


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

    `name` says where it comes from, `params` maps the names of its parameters to `Param`.
    """

    name: str
    params: Mapping[str, Param]
    _build: Callable[[], ir.Module] = field(repr=False)
    _steps: tuple[Step, ...] = field(default=(), repr=False)
    _packaged: bool = field(default=False, repr=False)

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
        point and location set: it adds transform ops with the builders of `xetile.mlir.dialects.transform`. A step
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
        return self._run(payload, _ENTRY)

    def match(self, payload: ir.Module) -> ir.Module | None:
        """Runs its sequence @match, which names a schedule for each op (`xetile.schedule`), on a copy of `payload`.

        None if it has no such sequence; XeTileError as for `apply`.
        """
        return self.run(payload, _MATCH)

    def run(self, payload: ir.Module, sequence: str) -> ir.Module | None:
        """Runs its named sequence `sequence`, which takes a handle of the module, on a copy of `payload`.

        None if it has no such sequence; XeTileError as for `apply`.
        """
        return self._run(payload, sequence) if sequence in map(_symbol, self.build().body.operations) else None

    def _run(self, payload: ir.Module, entry: str) -> ir.Module:
        schedule = self.build(payload.context)
        with payload.context, ir.Location.unknown():
            copy = _xetile.clone_module(payload.operation)
        _entry(schedule, self.name, entry)
        # The package's own schedules are known to end well or with an error.
        trusted = self._packaged and not self._steps
        with Heard(payload.context) as heard:
            if not _xetile.apply_schedule(copy, schedule, entry, trusted):
                raise XeTileError(f"schedule {self.name!r} failed", heard.errors)
        return copy

    def explain(self) -> str:
        """Its parameters with their values and what they mean, a line each."""
        rows = [(f"{name} = {parameter.value}", parameter.doc) for name, parameter in self.params.items()]
        width = max((len(row[0]) for row in rows), default=0)
        return "\n".join([f"schedule {self.name}", *(f"  {value.ljust(width)}  {doc}".rstrip() for value, doc in rows)])

    def __str__(self) -> str:
        """The MLIR text of `build()`: a file that plain mlir-opt with XeTile's plugin can run."""
        return str(self.build())


def available() -> tuple[str, ...]:
    """Names of the schedules that come with the package, for `load`."""
    return tuple(sorted(path.stem for path in _SCHEDULES.glob("*.mlir") if path.stem not in _LIBRARIES))


def load(name_or_path: str | PathLike[str]) -> Schedule:
    """The schedule of a file: one of `available()`, or a path to one's own.

    A file of one's own declares the parts it includes, as `schedules/matmul.mlir` does. What it declares and does not
    define comes from beside it, else from the package: a part NAME from `parts/NAME.mlir`, another sequence, as
    @match, from `NAME.mlir`. XeTileError if there is no such file, or if it is not a schedule.
    """
    path = files.path_of(name_or_path, "schedule")
    if str(name_or_path) in available():
        path = _SCHEDULES / f"{name_or_path}.mlir"
    elif not files.is_file(path):
        known = ", ".join(available()) or f"none (no schedules in {_SCHEDULES})"
        raise XeTileError(f"no schedule {str(name_or_path)!r}: expected a file or one of {known}")
    if _xetile.is_packaged_schedule(os.fsencode(path)):
        return _packaged(str(name_or_path), path, _edits())
    _probe(path)
    return _make(str(name_or_path), partial(_read, path))


def suggest(payload: ir.Module) -> str:
    """The name of the schedule that takes a payload to kernels for a GPU.

    "gpu_model" where it makes several of it; for one kernel "matmul" around a matmul that a matrix unit has, "scan"
    around a scan, "rows" where something else is reduced, "elementwise"; where none does, "matmul", whose errors list
    what is too much.
    """
    return _xetile.suggest_schedule(payload)


def matmul(
    workgroup_tile: tuple[int, int] = (0, 0),
    subgroup_layout: tuple[int, int] = (0, 0),
    k_step: int = 0,
    prefetch: int = -1,
    precision: str = "exact",
    target: str = "pvc",
) -> Schedule:
    """The schedule "matmul", of `schedules/matmul.mlir`, with its parameters in pairs.

    `workgroup_tile` is the tile of C that a workgroup computes, in rows and columns; `subgroup_layout` arranges its
    subgroups along them. A subgroup's share is a multiple of the DPAS shape (8 x 16). The k loop takes `k_step`
    columns of A and rows of B at a time, and prefetches `prefetch` steps ahead (0: not at all). Sizes of 0 and a
    distance of -1 are chosen from the payload and the chip. `precision` is "exact" or "tf32", which allows to multiply
    f32 with 10 bits of mantissa. `target` is the chip.

    XeTileError for values of another type or out of range; what the device and the payload refuse, `apply` reports.
    """
    workgroup_m, workgroup_n = _pair("workgroup_tile", workgroup_tile)
    subgroups_m, subgroups_n = _pair("subgroup_layout", subgroup_layout)
    return load("matmul").with_params(
        workgroup_m=workgroup_m,
        workgroup_n=workgroup_n,
        subgroups_m=subgroups_m,
        subgroups_n=subgroups_n,
        k_step=k_step,
        prefetch=prefetch,
        precision=precision,
        target=target,
    )


def values_of(params: Mapping[str, int | str] | None) -> dict[str, int | str]:
    """Values for parameters, as `compile` takes them. XeTileError for other than a mapping."""
    if params is not None:
        expect("params", params, Mapping, "a mapping of parameters to values")
    return dict(params or {})


def _pair(name: str, value: Any) -> tuple[Any, Any]:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise XeTileError(f"{name}: expected two integers, for rows and columns, got {told(value)}")
    return value[0], value[1]


def _make(name: str, build: Callable[[], ir.Module]) -> Schedule:
    """The schedule with the parameters that its knobs define."""
    with ir.Context(), ir.Location.unknown():
        module = build()
        _entry(module, name)
        params = {key: _param(key, knob) for key, knob in _knobs(module).items()}
    return Schedule(name, MappingProxyType(params), build)


# Building modules. The functions below run in the current context, at the current location.


def _parse(path: Path) -> ir.Module:
    return parse_file(path, "the schedule")


def _probe(path: Path) -> None:
    """XeTileError if a child process cannot read the file, or dies of it."""
    with ir.Context() as context, Heard(context) as heard:
        if not _xetile.probe_schedule(context, os.fsencode(path)):
            raise XeTileError(f"cannot read the schedule {path}", heard.errors)


def _edits() -> tuple[tuple[str, int], ...]:
    """When each file of the package's schedules was written: whoever edits one in a session gets what is there now."""
    folders = (_SCHEDULES, _SCHEDULES / "parts")
    return tuple((entry.path, entry.stat().st_mtime_ns) for folder in folders for entry in os.scandir(folder))


@lru_cache(maxsize=32)
def _packaged(name: str, path: Path, _edited: tuple[tuple[str, int], ...]) -> Schedule:
    """One of the package's schedules with its parts, parsed once for all contexts."""
    content = io.BytesIO()
    with ir.Context(), ir.Location.unknown():
        _read(path).operation.write_bytecode(content)
    return replace(_make(name, partial(ir.Module.parse, content.getvalue())), _packaged=True)


def _read(path: Path) -> ir.Module:
    module = _parse(path)
    if "transform.with_named_sequence" not in module.operation.attributes:
        raise XeTileError(f"{path} is not a schedule: its module has no transform.with_named_sequence")
    with Heard(module.context) as heard:
        if not _xetile.complete_schedule(module, os.fsencode(path.parent)):
            raise XeTileError(f"cannot read the schedule {path}", heard.errors)
    return module


def _append(module: ir.Module, step: Step, name: str) -> None:
    """Lets `step` add ops before the end of the entry."""
    end = _entry(module, name).regions[0].blocks[0].operations[-1].operation
    if len(end.operands) != 1:
        raise XeTileError(
            f"cannot add a step to schedule {name!r}: its @{_ENTRY} must yield one handle, of the transformed module"
        )
    with ir.InsertionPoint(end):
        handle = step(end.operands[0])
    # A lambda returns what its builder does: an op without results.
    if handle is None or (isinstance(handle, (ir.OpView, ir.Operation)) and not handle.operation.results):
        return
    if not isinstance(handle, ir.Value):
        raise XeTileError(f"a step of schedule {name!r} must return a handle or None, got {handle!r}")
    end.operands[0] = handle


# Reading modules.


def _symbol(op: ir.OpView | ir.Operation) -> str:
    return ir.StringAttr(op.attributes["sym_name"]).value


def _entry(module: ir.Module, name: str, entry: str = _ENTRY) -> ir.Operation:
    for op in module.body.operations:
        if op.operation.name == "transform.named_sequence" and _symbol(op) == entry:
            return op.operation
    raise XeTileError(f"{name!r} is not a schedule: it has no transform.named_sequence @{entry}")


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
