# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matchers of schedules that are Python functions: which steps are for which operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from xetile.errors import told
from xetile.mlir import ir
from xetile.schedule import attributes
from xetile.schedule.building import Argument
from xetile.schedule.calls import current, kind_of
from xetile.schedule.handles import Handle, IntParam
from xetile.schedule.places import place_of_caller

__all__ = ["When", "foreach_match", "match_operation_name", "match_structured", "when"]

_K = TypeVar("_K", bound=Handle)
_R = TypeVar("_R", bound=Handle)
_DIMENSIONS = 8
"""Kinds of dimensions of a convolution, each of which has a parameter."""


@dataclass(frozen=True)
class When:
    """A test of operations, and what is done with those that pass it: `when(is_matmul, mark_matmul)`."""

    matcher: Callable[[Any], Any]
    action: Callable[[Any], None]


def when(matcher: Callable[[Handle], _K], action: Callable[[_K], None]) -> When:
    """A case of `ops.foreach_match`; both are functions with the decorator `xetile.schedule.sequence`.

    `matcher` is given one operation, calls `ops.match_...` steps only, all of which have to succeed, and returns it as
    the kind that it is known to be then; `action` is called with that.
    """
    return When(matcher, action)


def foreach_match(root: _R, *cases: When) -> _R:
    """For each operation in `root`, the action of the first case whose matcher fits; others stay as they are.

    MLIR's `transform.foreach_match`. It consumes `root`, and returns it.
    """
    step = "ops.foreach_match"
    builder, place = current(step), place_of_caller()
    if not cases:
        raise builder.refuse(place, f"{step}: expected a case at least, as when(is_matmul, mark), got none")
    names: dict[str, list[ir.Attribute]] = {"matchers": [], "actions": []}
    for case in cases:
        if not isinstance(case, When):
            raise builder.refuse(place, f"{step}: expected cases, each when(matcher, action), got {told(case)}")
        for role, function in zip(names, (case.matcher, case.action), strict=True):
            write = getattr(function, "write", None)
            if write is None:
                wanted = "a function with the decorator xetile.schedule.sequence"
                raise builder.refuse(place, f"{step}: {role[:-1]}: expected {wanted}, got {told(function)}")
            written = write(builder)
            if role == "matchers" and written.consumed:
                raise builder.refuse(place, f"{step}: matcher: expected {written.name} to consume nothing")
            names[role].append(ir.FlatSymbolRefAttr.get(written.name))
    given = {role: ir.ArrayAttr.get(each) for role, each in names.items()}
    (found,) = builder.add(
        "foreach_match", step, [Argument("root", root, Handle)], [kind_of(root)], given, ["root"]
    )  # fmt: skip
    result: _R = found
    return result


def match_operation_name(op: Handle, names: Sequence[str]) -> None:
    """Succeeds for an operation with one of the names.

    MLIR's `transform.match.operation_name`.
    """
    step = "ops.match_operation_name"
    given = {"op_names": attributes.strings(f"{step}: names", names)}
    current(step).add("match.operation_name", step, [Argument("op", op, Handle)], [], given, [])


def match_structured(
    op: Handle,
    *,
    loops: Literal["parallel", "reduction"] | None = None,
    inputs: Literal["permutation", "projected_permutation"] | None = None,
    windows: bool = False,
) -> None:
    """Succeeds for an op of linalg; of all its loops that kind, of all its inputs that kind of indexing map.

    With `windows`, for one that has loops of a convolution or a pooling. MLIR's `transform.match.structured`.
    """
    step = "ops.match_structured"
    builder, place = current(step), place_of_caller()
    for name, value, known in (
        ("loops", loops, ("parallel", "reduction")),
        ("inputs", inputs, ("permutation", "projected_permutation")),
    ):
        if value is not None and value not in known:
            raise builder.refuse(place, f"{step}: {name}: expected {' or '.join(known)}, got {told(value)}")
    made, _ = builder.create("match.structured", step, place, [Argument("op", op, Handle)], regions=1)
    block = made.regions[0].blocks.append(ir.Type.parse("!transform.any_op"), arg_locs=[place.location()])
    with builder.inside(block, step, place):
        inner = [Argument("op", builder.root(Handle(block.arguments[0])), Handle)]
        unit, none = ir.UnitAttr.get(), ir.DenseI64ArrayAttr.get([])
        if loops is not None:
            given = {"is_all": unit, loops: unit, "raw_dim_list": none}
            builder.create("match.structured.dim", step, place, inner, attributes=given)
        if inputs is not None:
            given = {"is_all": unit, inputs: unit, "raw_position_list": none}
            builder.create("match.structured.input", step, place, inner, attributes=given)
        if windows:
            kinds = [IntParam] * _DIMENSIONS
            builder.create("match.structured.classify_convolution_dims", step, place, inner, kinds)
        with builder.point:
            ir.Operation.create("transform.match.structured.yield", loc=place.location())
