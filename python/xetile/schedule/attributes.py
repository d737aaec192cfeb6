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
    """A unit attribute, none for False. XeTileError for anything but a bool."""
    expect(what, value, bool, "True or False")
    return ir.UnitAttr.get() if value else None


def boolean(what: str, value: bool) -> ir.Attribute:
    """A boolean attribute. XeTileError for anything but a bool."""
    expect(what, value, bool, "True or False")
    return ir.BoolAttr.get(value)


def integer(what: str, value: int | None) -> ir.Attribute | None:
    """An integer attribute of 64 bits; none for None. XeTileError for what does not fit it."""
    if value is None:
        return None
    expect(what, value, int, "an integer")
    if not -(2**63) <= value < 2**63:
        raise XeTileError(f"{what}: expected an integer of 64 bits, got {told(value)}")
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


def string(what: str, value: str | None) -> ir.Attribute | None:
    """A string attribute; none for None. XeTileError for what is no text."""
    if value is None:
        return None
    expect(what, value, str, "a string")
    try:
        return ir.StringAttr.get(value.encode())
    except UnicodeEncodeError:
        raise XeTileError(f"{what}: expected a string of characters, got {told(value)}") from None


def strings(what: str, values: Sequence[str] | None) -> ir.Attribute | None:
    """An array of strings; none for None. XeTileError names the element that is none."""
    if values is None:
        return None
    return ir.ArrayAttr.get([string(f"{what}[{i}]", each) for i, each in enumerate(_list(what, values, "strings"))])


def names(what: str, values: Sequence[str]) -> Sequence[str]:
    """A list of strings, as it is. XeTileError names the element that is none."""
    strings(what, _list(what, values, "strings"))
    return values


def integers(what: str, values: Sequence[int] | None) -> ir.Attribute | None:
    """An array of 64-bit integers; none for None. XeTileError names the element that is none."""
    if values is None:
        return None
    for i, each in enumerate(_list(what, values, "integers")):
        integer(f"{what}[{i}]", each)
    return ir.DenseI64ArrayAttr.get(list(values))


def dictionary(what: str, values: Options | None) -> ir.Attribute | None:
    """A dictionary of constant values; none for None."""
    return None if values is None else options(what, values).attribute


def choice(what: str, value: str | None, known: Mapping[str, int]) -> ir.Attribute | None:
    """The integer attribute that `known` has for a name; none for None. XeTileError lists the names."""
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
    """Integers and parameters as an op takes them: static values, and operands where a parameter stands."""
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
    """Options of a pass: constants by name, and parameters as operands.

    Their operands are in the order of the names: MLIR prints the names in it, but the types as the operands are.
    """
    values = {} if values is None else values
    expect(what, values, Mapping, "a mapping of names to values")
    found: dict[str, ir.Attribute] = {}
    dynamic: list[ir.Value[Any]] = []
    for name in values:
        string(f"{what}: a name", name)
        if not name:
            raise XeTileError(f"{what}: expected names of characters, got ''")
    for name, value in sorted(values.items()):
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
