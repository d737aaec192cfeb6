# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedules that are Python functions.

@xetile.schedule.define
def my_matmul(module: Module, *, k_step: int = knob(32, min=1, doc="columns of A per step"), ...) -> Module:
    ...                                                 # steps: functions of xetile.schedule.ops and parts
    return module

kernel = xetile.compile(payload, my_matmul, "pvc", {"k_step": 16})
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xetile.errors import Diagnostic, XeTileError, expect, told
from xetile.mlir import ir
from xetile.passes.diagnostics import Heard
from xetile.schedule.base import ENTRY, Param, Schedule, keep
from xetile.schedule.building import Builder, add_sequence
from xetile.schedule.calls import building, check_uses
from xetile.schedule.handles import AnyParam, IntParam, Module, StrParam
from xetile.schedule.places import Place, place_of_caller

__all__ = ["define", "knob"]


@dataclass(frozen=True)
class _Knob:
    """Arguments of a call of `knob`, and its place."""

    param: Param
    place: Place


def knob(
    default: int | str,
    *,
    min: int | None = None,
    max: int | None = None,
    names: Sequence[str] = (),
    doc: str = "",
) -> Any:
    """A parameter of a schedule, as the default of a keyword argument of its function.

    `default` is what applies where nothing is set; its type is the parameter's. Integers lie between `min` and `max`,
    both included; `names` are those of the integers from 0 on. `doc` says what it is, with its unit. XeTileError for
    other types, or a default that its own limits exclude.
    """
    expect("knob: default", default, (int, str), "an integer or a string")
    Param("knob: doc", str, "", "").with_value(doc)
    for name, limit in (("min", min), ("max", max)):
        if limit is not None:
            Param(f"knob: {name}", int, 0, 0).with_value(limit)
            if isinstance(default, str):
                raise XeTileError(f"knob: {name}: expected no limit of a parameter that is a string, got {limit}")
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise XeTileError(f"knob: names: expected a list of strings, got {told(names)}")
    for name in names:
        Param("knob: names", str, "", "").with_value(name)
    param = Param("knob: default", type(default), default, default, doc, min, max, tuple(names)).with_value(default)
    return _Knob(param, place_of_caller())


def define(function: Callable[..., Module]) -> Schedule:
    """The schedule that a function writes: it is called once, here, with a handle of the module to transform.

    Its other arguments are keywords whose defaults are `knob(...)`: they stand for what is set later, by `with_params`
    or `params=`. It calls steps, of `xetile.schedule.ops` and `xetile.schedule.parts` or with MLIR's own builders, and
    returns the handle of the transformed module. Ops have the places of the calls, so that what fails later names
    them. XeTileError for other arguments, a handle that a step consumed and that is used again, and a function that
    returns no handle of the module.
    """
    if not inspect.isfunction(function):
        raise XeTileError(f"xetile.schedule.define: expected a function that takes a module, got {told(function)}")
    code = function.__code__
    place = Place(code.co_filename, code.co_firstlineno, 1)
    knobs = _knobs(function, place)
    with ir.Context() as context, ir.Location.unknown():
        module = ir.Module.create(place.location())
        module.operation.attributes["transform.with_named_sequence"] = ir.UnitAttr.get()
        entry = _write(function, module, place, knobs)
        # Steps of MLIR's own builders may have consumed the module, too: MLIR tells by refusing the wrong effect.
        errors: tuple[Diagnostic, ...] = ()
        for effect in ("readonly", "consumed"):
            effects = [ir.DictAttr.get({f"transform.{effect}": ir.UnitAttr.get()})]
            entry.attributes["arg_attrs"] = ir.ArrayAttr.get(effects)
            with Heard(context) as heard:
                try:
                    module.operation.verify()
                    break
                except ir.MLIRError:
                    errors = heard.errors
        else:
            raise XeTileError(f"schedule {function.__name__!r} is not valid", errors)
        check_uses(module, function.__name__)
        return replace(keep(function.__name__, module), doc=inspect.getdoc(function) or "")


def _knobs(function: Callable[..., Any], place: Place) -> dict[str, _Knob]:
    """The parameters of a function, in its order."""
    parameters = list(inspect.signature(function).parameters.values())
    keyword = inspect.Parameter.KEYWORD_ONLY
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if not parameters or parameters[0].kind not in places:
        raise XeTileError(f"{place}: {function.__name__}: expected a first argument, the handle of the module")
    knobs = {}
    for parameter in parameters[1:]:
        if parameter.kind != keyword or not isinstance(parameter.default, _Knob):
            default = "no default" if parameter.default is parameter.empty else told(parameter.default)
            came = (
                default if parameter.kind == keyword else f"an argument that is none: write `*` before {parameter.name}"
            )
            raise XeTileError(
                f"{place}: {function.__name__}: {parameter.name}: expected a keyword argument with the default "
                f"knob(...), got {came}"
            )
        knobs[parameter.name] = parameter.default
    return knobs


def _write(function: Callable[..., Any], module: ir.Module, place: Place, knobs: Mapping[str, _Knob]) -> ir.Operation:
    """The entry of the schedule, with what the function calls."""
    any_op = ir.Type.parse("!transform.any_op")
    with ir.InsertionPoint(module.body), place.location():
        entry = add_sequence(ENTRY, [any_op], [any_op], [{}], True)
        block = entry.regions[0].blocks.append(any_op, arg_locs=[place.location()])
    builder = Builder(function.__name__, module, block)
    given = builder.root(Module(block.arguments[0]))
    with builder.point:
        values = {name: builder.own(_add_knob(name, each)) for name, each in knobs.items()}
    with building(builder):
        result = function(given, **values)
    end = _end(function, place)
    if not isinstance(result, Module):
        came = told(result) if not isinstance(result, ir.Value) else f"a {type(result).__name__}"
        raise builder.refuse(
            end,
            f"expected the handle of the transformed module to be returned, got {came}",
            ("the newest handle of the module is from here", builder.newest()),
        )
    builder.check("return", "the module", result, end)
    with end.location(), ir.InsertionPoint(block):
        ir.Operation.create("transform.yield", operands=[result])
    builder.finish()
    return entry


def _add_knob(name: str, each: _Knob) -> AnyParam:
    param, integer = each.param, ir.IntegerType.get_signless(64)
    options: dict[str, ir.Attribute] = {"doc": ir.StringAttr.get(param.doc)} if param.doc else {}
    for key, limit in (("min", param.minimum), ("max", param.maximum)):
        if limit is not None:
            options[key] = ir.IntegerAttr.get(integer, limit)
    if param.names:
        options["names"] = ir.ArrayAttr.get([ir.StringAttr.get(other) for other in param.names])
    value, text = param.default, isinstance(param.default, str)
    selected = ir.StringAttr.get(value) if isinstance(value, str) else ir.IntegerAttr.get(integer, value)
    made = ir.Operation.create(
        "transform.tune.knob",
        results=[ir.Type.parse("!transform.any_param" if text else "!transform.param<i64>")],
        attributes={"name": ir.StringAttr.get(name), "options": ir.DictAttr.get(options), "selected": selected},
        loc=each.place.location(),
    )
    return (StrParam if text else IntParam)(made.results[0])


def _end(function: Callable[..., Any], place: Place) -> Place:
    """The line of the function's return statement, or its own if it has several."""
    lines = {
        instruction.positions.lineno
        for instruction in dis.get_instructions(function)
        if instruction.opname.startswith("RETURN_") and instruction.positions is not None
    }
    line = lines.pop() if len(lines) == 1 else None
    return Place(place.file, line or place.line, 1)
