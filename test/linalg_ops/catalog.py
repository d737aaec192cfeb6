# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All ops that MLIR's linalg dialect registers, and how each is written: one that is in neither list is an error."""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import contraction_ops
import elementwise_ops
import numpy as np
import relayout_ops
import structure_ops
import window_ops
from payloads import Case, Draw, Spec

__all__ = ["PARTS", "TARGETS", "Trial", "case", "registered", "specs", "trials", "undecided"]

TARGETS = ("pvc", "bmg")
PARTS = {"linalg.yield": "ends the bodies of linalg.generic, map and reduce, and is tried with them"}
"""Ops that have no payload of their own."""
_FAMILIES = (contraction_ops, window_ops, elementwise_ops, structure_ops, relayout_ops)


@dataclass(frozen=True)
class Trial:
    """A case to be drawn: an op as it is written, how sizes are drawn, a target."""

    op: str
    form: str
    shapes: str
    target: str

    def __str__(self) -> str:
        return f"{self.op}, {self.form}, {self.shapes} sizes, {self.target}"


def registered() -> set[str]:
    """Names of the ops of the dialect, of which the bindings have a class each."""
    from xetile.mlir import ir
    from xetile.mlir.dialects import linalg

    classes = (value for _, value in inspect.getmembers(linalg, inspect.isclass))
    names = {getattr(each, "OPERATION_NAME", None) for each in classes if issubclass(each, ir.OpView)}
    return {name for name in names if name and name.startswith("linalg.")}


def elementwise_kinds() -> set[str]:
    """The kinds of `linalg.elementwise` that the bindings list."""
    from xetile.mlir.dialects import linalg

    return {str(kind) for kind in linalg.ElementwiseKind}


@cache
def specs() -> tuple[Spec, ...]:
    return tuple(spec for family in _FAMILIES for spec in family.specs())


@cache
def _by_name() -> dict[tuple[str, str], Spec]:
    found = {(spec.op, spec.form): spec for spec in specs()}
    if len(found) != len(specs()):
        raise ValueError("two ways to write an op have one name")
    return found


def undecided() -> list[str]:
    """What is registered and has no payload, and what has one and is not registered."""
    known = {spec.op for spec in specs()} | set(PARTS)
    kinds = {f"linalg.elementwise of kind {each}" for each in elementwise_kinds() ^ set(elementwise_ops.KINDS)}
    return sorted((registered() ^ known) | kinds)


def trials(targets: Iterable[str] = TARGETS) -> Iterator[Trial]:
    """All of them."""
    for spec in specs():
        for shapes in spec.shapes:
            for target in targets:
                yield Trial(spec.op, spec.form, shapes, target)


def case(trial: Trial, seed: int) -> Case:
    """The same for both targets. Where sizes have to be zero, one is."""
    spec = _by_name()[trial.op, trial.form]
    for attempt in range(100):
        name = zlib.crc32(f"{trial.op} {trial.form} {trial.shapes}".encode())
        draw = Draw(np.random.default_rng([seed, name, attempt]), trial.shapes)
        with np.errstate(all="ignore"):  # integers wrap, NaN is drawn
            drawn = spec.draw(draw)
        if trial.shapes != "empty" or draw.zeros:
            return drawn
    raise ValueError(f"{trial}: no size is ever zero")
