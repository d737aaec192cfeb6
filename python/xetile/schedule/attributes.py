# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attributes of transform ops from what Python has. Each function takes `what` is set, for its error, and a value.

None stands for an attribute that is not there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from xetile.errors import XeTileError, expect, told
from xetile.mlir import ir
from xetile.schedule.handles import AnyParam, IntParam

_DYNAMIC = -(2**63)  # what stands in a list of sizes for one that is a parameter

Options = Mapping[str, Any]
"""Names and values: integers, truth values, strings and lists of them; for passes parameters, too."""


def unit(what: str, value: bool) -> ir.Attribute | None:
    expect(what, value, bool, "True or False")
    return ir.UnitAttr.get() if value else None


def boolean(what: str, value: bool) -> ir.Attribute:
    expect(what, value, bool, "True or False")
    return ir.BoolAttr.get(value)


def integer(what: str, value: int | None) -> ir.Attribute | None:
    if value is None:
        return None
    expect(what, value, int, "an integer")
    if not -(2**63) <= value < 2**63:
        raise XeTileError(f"{what}: expected an integer of 64 bits, got {told(value)}")
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


def string(what: str, value: str | None) -> ir.Attribute | None:
    if value is None:
        return None
    expect(what, value, str, "a string")
    try:
        return ir.StringAttr.get(value.encode())
    except UnicodeEncodeError:
        raise XeTileError(f"{what}: expected a string of characters, got {told(value)}") from None


def strings(what: str, values: Sequence[str] | None) -> ir.Attribute | None:
    if values is None:
        return None
    return ir.ArrayAttr.get([string(f"{what}[{i}]", each) for i, each in enumerate(_list(what, values, "strings"))])


def names(what: str, values: Sequence[str]) -> Sequence[str]:
    strings(what, _list(what, values, "strings"))
    return values


def integers(what: str, values: Sequence[int] | None) -> ir.Attribute | None:
    if values is None:
        return None
    for i, each in enumerate(_list(what, values, "integers")):
        integer(f"{what}[{i}]", each)
    return ir.DenseI64ArrayAttr.get(list(values))


def dictionary(what: str, values: Options | None) -> ir.Attribute | None:
    return None if values is None else options(what, values).attribute


def choice(what: str, value: str | None, known: Mapping[str, int]) -> ir.Attribute | None:
    if value is None:
        return None
    expect(what, value, str, f"one of {', '.join(known)}")
    if value not in known:
        raise XeTileError(f"{what}: expected one of {', '.join(known)}, got {told(value)}")
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(32), known[value])


class Mixed(NamedTuple):
    """Sizes, some of them parameters: `static` has a mark for those, which are `dynamic`; or `packed`, one for all."""

    static: ir.Attribute
    dynamic: list[ir.Value[Any]]
    packed: IntParam | None


def mixed(what: str, values: Sequence[int | IntParam] | IntParam) -> Mixed:
    if isinstance(values, AnyParam):
        return Mixed(ir.DenseI64ArrayAttr.get([]), [], values)
    static: list[int] = []
    dynamic: list[ir.Value[Any]] = []
    for i, each in enumerate(_list(what, values, "integers and parameters")):
        if isinstance(each, ir.Value):
            dynamic.append(each)
            static.append(_DYNAMIC)
        else:
            integer(f"{what}[{i}]", each)
            static.append(each)
    return Mixed(ir.DenseI64ArrayAttr.get(static), dynamic, None)


def none_of(values: Sequence[Any]) -> ir.Attribute:
    """False for each."""
    return ir.DenseBoolArrayAttr.get([False] * len(values))


def count_loops(values: Sequence[int | IntParam]) -> int:
    """How many loops tiling by these sizes makes: none for a size of 0."""
    return sum(isinstance(each, ir.Value) or each != 0 for each in values)


class PassOptions(NamedTuple):
    """Options of a pass; those that are parameters are operands."""

    attribute: ir.Attribute
    dynamic: list[ir.Value[Any]]


def options(what: str, values: Options | None) -> PassOptions:
    values = {} if values is None else values
    expect(what, values, Mapping, "a mapping of names to values")
    found: dict[str, ir.Attribute] = {}
    dynamic: list[ir.Value[Any]] = []
    for name, value in values.items():
        string(f"{what}: a name", name)
        if not name:
            raise XeTileError(f"{what}: expected names of characters, got ''")
        found[name] = _option(f"{what}: {name}", value, dynamic)
    return PassOptions(ir.DictAttr.get(found), dynamic)


def _option(what: str, value: Any, dynamic: list[ir.Value[Any]]) -> ir.Attribute:
    if isinstance(value, AnyParam):
        dynamic.append(value)
        return ir.Attribute.parse(f"#transform.param_operand<index={len(dynamic) - 1}>")
    if isinstance(value, (list, tuple)):
        return ir.ArrayAttr.get([_option(f"{what}[{i}]", each, dynamic) for i, each in enumerate(value)])
    expect(what, value, (bool, int, str), "an integer, a truth value, a string, a parameter, or a list of them")
    if isinstance(value, bool):
        return ir.BoolAttr.get(value)
    made = integer(what, value) if isinstance(value, int) else string(what, value)
    assert made is not None
    return made


def _list(what: str, values: Any, of: str) -> Sequence[Any]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Sequence):
        raise XeTileError(f"{what}: expected a list of {of}, got {told(values)}")
    return values
