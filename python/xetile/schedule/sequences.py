# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sequences, loops and constants of schedules that are Python functions."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, ParamSpec, TypeVar, overload

from xetile.errors import XeTileError, expect, expect_function, told
from xetile.mlir import ir
from xetile.schedule.building import Argument, Builder, include_attributes
from xetile.schedule.calls import building, current, kind_of
from xetile.schedule.handles import AnyParam, Handle, IntParam, StrParam
from xetile.schedule.places import Place, place_of_caller, shorten

__all__ = ["constant", "foreach", "sequence"]

_P = ParamSpec("_P")
_R = TypeVar("_R")
_K = TypeVar("_K", bound=Handle)
_KINDS: Mapping[Any, type[AnyParam]] = {int: IntParam, str: StrParam}
"""Kinds of parameters that are written as values."""


@overload
def constant(value: int) -> IntParam: ...
@overload
def constant(value: str) -> StrParam: ...
def constant(value: int | str) -> IntParam | StrParam:
    """A parameter of that value, at this place; numbers and strings that steps are given become one by themselves.

    MLIR's `transform.param.constant`.
    """
    expect("ops.constant: value", value, (int, str), "an integer or a string")
    return typing.cast("IntParam | StrParam", current("ops.constant").constant(value))


def foreach(targets: _K, body: Callable[[_K], None]) -> None:
    """Runs the steps that `body` calls for each operation of `targets`, one after the other.

    `body` is called once, with a handle of one of them. Values from outside may be used in it; its own end with it. It
    consumes `targets` if it consumes that handle.

    MLIR's `transform.foreach`.
    """
    step = "ops.foreach"
    builder, place = current(step), place_of_caller()
    expect_function(f"{step}: body", body, "a handle")
    made, _ = builder.create("foreach", step, place, [Argument("targets", targets, Handle)], regions=1)
    block = made.regions[0].blocks.append(ir.Type.parse("!transform.any_op"), arg_locs=[place.location()])
    with builder.inside(block, step, place):
        handle = builder.root(kind_of(targets)(block.arguments[0]))
        builder.take(step, place, [], [handle])
        body(typing.cast(_K, handle))
        with builder.point:
            ir.Operation.create("transform.yield", loc=place.location())
        consumed = builder.gone(handle)
    if consumed:
        builder.take(step, place, [targets], [])


class _Written(NamedTuple):
    """A sequence in a schedule: its name there, and the arguments that it consumes."""

    name: str
    consumed: frozenset[str]


def sequence(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Makes a function of steps a named sequence: a schedule that calls it includes it, however often, and has it once.

    Its arguments are handles and `int` or `str`, its result is nothing, one of those, or a `NamedTuple` of them; all
    are annotated. XeTileError for others. It uses its arguments only, no values from outside.
    """
    if not inspect.isfunction(function):
        raise XeTileError(f"xetile.schedule.sequence: expected a function, got {told(function)}")
    name, code = function.__name__, function.__code__
    place = Place(code.co_filename, code.co_firstlineno, 1)
    hints = typing.get_type_hints(function)
    signature = inspect.signature(function)
    kinds = {each: _kind(place, f"{name}: {each}", hints.get(each)) for each in signature.parameters}
    result = hints.get("return", type(None))
    results = _results(place, name, result)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        builder = current(name)
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        written = _write(builder, function, place, kinds, results)
        arguments = [Argument(each, value, kinds[each]) for each, value in given.arguments.items()]
        found = builder.add(
            "include", name, arguments, results, include_attributes(written.name), sorted(written.consumed)
        )
        if isinstance(result, type) and issubclass(result, tuple):
            return result(*found)
        return found[0] if found else None

    # For steps that name it.
    call.write = functools.partial(_write, function=function, place=place, kinds=kinds, results=results)  # type: ignore[attr-defined]
    return typing.cast("Callable[_P, _R]", call)


def _write(
    builder: Builder,
    function: Callable[..., Any],
    place: Place,
    kinds: Mapping[str, type[Any]],
    results: list[type[Any]],
) -> _Written:
    """Writes a sequence into the schedule unless it is there."""
    name = function.__name__
    if function in builder.sequences:
        known = builder.sequences[function]
        if known is None:  # it is being written
            raise builder.refuse(place_of_caller(), f"{name}: expected other steps: a sequence cannot include itself")
        return typing.cast(_Written, known)
    builder.sequences[function] = None
    block = builder.new_sequence(name, place, list(kinds.values()), results)
    inner = builder.nested(block)
    given = {each: inner.root(kind(value)) for (each, kind), value in zip(kinds.items(), block.arguments, strict=True)}
    with building(inner):
        found = function(**given)
    values = [] if found is None else list(found) if isinstance(found, tuple) else [found]
    if len(values) != len(results):
        raise inner.refuse(place, f"{name}: expected {len(results)} results, as annotated, got {told(found)}")
    yielded = [inner.value("return", Argument(f"result {i}", each, kind), place)
               for i, (each, kind) in enumerate(zip(values, results, strict=True))]  # fmt: skip
    with inner.point:
        ir.Operation.create("transform.yield", operands=yielded, loc=place.location())
    consumed = frozenset(each for each, value in given.items() if inner.gone(value))
    effects = [{f"transform.{'consumed' if each in consumed else 'readonly'}": ir.UnitAttr.get()} for each in kinds]
    owner = block.owner.operation
    owner.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in effects])
    shorten(owner)
    builder.sequences[function] = _Written(ir.StringAttr(owner.attributes["sym_name"]).value, consumed)
    return typing.cast(_Written, builder.sequences[function])


def _kind(place: Place, what: str, hint: Any) -> type[Any]:
    kind = _KINDS.get(hint, hint)
    if not (isinstance(kind, type) and issubclass(kind, (Handle, AnyParam))):
        known = "a kind of handle, int or str"
        raise XeTileError(f"{place}: {what}: expected the annotation {known}, got {told(hint)}")
    return kind


def _results(place: Place, name: str, hint: Any) -> list[type[Any]]:
    if hint is type(None):
        return []
    if isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields"):
        hints = typing.get_type_hints(hint)
        return [_kind(place, f"{name}: {each}", hints[each]) for each in hint._fields]
    return [_kind(place, f"{name}: the result", hint)]
