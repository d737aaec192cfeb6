# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Places in Python files, and ops that say them: of the calls that made them, not of each function on the way."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NamedTuple

from xetile.mlir import ir

__all__ = ["Place", "call_from", "place_of_caller", "shorten"]

_HERE = os.path.join(os.path.dirname(__file__), "")
_PACKAGE = os.path.join(os.path.dirname(ir.__file__ or ""), "")


class Place(NamedTuple):
    """A place in a Python file. Lines and columns count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def location(self) -> ir.Location:
        """As MLIR has it, in the current context. Names of files that are no UTF-8 lose what is none."""
        return ir.Location.file(self.file.encode(errors="backslashreplace").decode(), self.line, self.column)


def place_of_caller(folder: str = _HERE) -> Place:
    """The innermost line on the stack that is of no file in the folder (by default this one)."""
    inside = (_HERE, os.path.join(folder, ""))
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(inside):
        frame = frame.f_back
    column = None
    for index, (_, _, found, _) in enumerate(frame.f_code.co_positions()):
        if index == frame.f_lasti // 2:
            column = found
            break
    return Place(frame.f_code.co_filename, frame.f_lineno, (column or 0) + 1)


def call_from(sequence: ir.Operation, places: Sequence[ir.Location]) -> None:
    """Lets each op of a sequence say by which lines it was called, besides where it is."""
    caller = places[0] if len(places) == 1 else ir.Location.fused(list(places))

    def visit(op: ir.Operation) -> ir.WalkResult:
        op.location = ir.Location.callsite(op.location, [caller])
        return ir.WalkResult.ADVANCE

    sequence.walk(visit)


def shorten(sequence: ir.OpView | ir.Operation) -> None:
    """Lets ops of MLIR's own builders be where these were called, not where each function on the stack was."""

    def visit(op: ir.Operation) -> ir.WalkResult:
        place = op.location
        while place.is_a_callsite() and place.callee.is_a_name():
            inner = place.callee.child_loc
            if not inner.filename.startswith(_PACKAGE):
                op.location = ir.Location.file(inner.filename, inner.start_line, inner.start_col + 1)
                break
            place = place.caller
        return ir.WalkResult.ADVANCE

    sequence.operation.walk(visit)
