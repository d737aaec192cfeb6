# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A level as a page shows it: its text, and of each operation the line, what it was made of, and its source.

Upstream's pass `snapshot-op-locations` prints a module and adds to each operation's location the line where it stands.
Passes hand locations on, so that operations of later levels name the lines of all levels that they came from.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xetile import passes
from xetile.kernels.kernel import Stage
from xetile.mlir import ir
from xetile.mlir._mlir_libs import _xetile

__all__ = ["Level", "Op", "clone", "is_mark", "lines_at", "located", "mark", "of_stage", "without_marks"]

_TAG = "xetile.level."
# Of a line that are shown: a binary in a module is one line of a megabyte.
_MOST_CHARACTERS = 1500


@dataclass(frozen=True)
class Op:
    """An operation at a line (from 1). `origins` has the lines by number of an earlier level, `source` where a user
    wrote it, "file:line:column", or nothing."""

    line: int
    name: str
    origins: dict[int, list[int]]
    source: str

    def to_json(self) -> list[Any]:
        """As a page's script reads it."""
        return [self.line, self.name, {str(level): lines for level, lines in self.origins.items()}, self.source]


@dataclass(frozen=True)
class Level:
    """One level of a program. `module` is marked with `number`: locations name the lines."""

    number: int
    name: str
    seconds: float
    lines: list[str]
    ops: list[Op]
    module: ir.Operation
    warnings: list[str] = field(default_factory=list)

    def operations(self) -> list[ir.Operation]:
        """Those that `ops` describe, in the same order."""
        return [op for op, _ in _marked(self.module, self.number)]

    def changed(self, other: Level) -> list[int]:
        """Numbers of the lines that `other` does not have, values' and aliases' numbers aside."""
        there = Counter(map(_plain, other.lines))
        found = []
        for number, line in enumerate(self.lines, 1):
            plain = _plain(line)
            if there[plain]:
                there[plain] -= 1
            elif plain:
                found.append(number)
        return found


def _plain(line: str) -> str:
    """Without the numbers of values and aliases, and without indentation."""
    out, name = [], False
    for character in line.strip():
        if character in "%#":
            name = True
        elif name and (character.isalnum() or character == "_"):
            if character.isdigit():
                continue
        else:
            name = False
        out.append(character)
    return "".join(out)


def of_stage(stage: Stage, number: int, lines: list[str] | None = None) -> Level:
    """The level, whose module is marked by this unless `lines` are those of a mark that it has: levels made of it name
    its lines."""
    if lines is None:
        lines = mark(stage.module, number)
    ops = [op for _, op in _marked(stage.module, number)]
    warnings = [warning.format() for warning in stage.warnings]
    return Level(number, stage.name, stage.seconds, lines, ops, stage.module, warnings)


def mark(module: ir.Operation | ir.Module, number: int) -> list[str]:
    """Adds to the location of each operation its line in the module's text, which is returned."""
    with tempfile.TemporaryDirectory(prefix="xetile-") as folder:
        file = Path(folder) / "level.mlir"
        target: Any = module if isinstance(module, ir.Module) else module.opview
        passes.run(target, f'snapshot-op-locations{{filename="{file}" tag={_TAG}{number}}}', action="print the module")
        lines = file.read_text(errors="replace").rstrip("\n").split("\n")
    return [line if len(line) <= _MOST_CHARACTERS else f"{line[:_MOST_CHARACTERS]} ..." for line in lines]


def _marked(module: ir.Operation, number: int) -> list[tuple[ir.Operation, Op]]:
    """Operations of a module that was marked with `number`, by lines."""
    found = []
    for op in _walk(module):
        lines, source = _read(op.location)
        own = lines.pop(number, None)
        if own:
            origins = {level: sorted(all_lines) for level, all_lines in sorted(lines.items()) if level < number}
            found.append((op, Op(max(own), op.name, origins, source)))
    return sorted(found, key=lambda pair: pair[1].line)


def is_mark(place: str) -> bool:
    """True for a location of a mark, as diagnostics print it."""
    return place.startswith(_TAG)


def lines_at(location: ir.Location, number: int) -> list[int]:
    """The lines at a level that a location names."""
    return sorted(_read(location)[0].get(number, ()))


def _walk(op: ir.Operation) -> Iterator[ir.Operation]:
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield inner.operation
                yield from _walk(inner.operation)


def _read(location: ir.Location) -> tuple[dict[int, set[int]], str]:
    """Lines by level, and the first place of a user's file."""
    lines: dict[int, set[int]] = {}
    source = ""
    todo = [location]
    while todo:
        one = todo.pop()
        if one.is_a_fused():
            todo += reversed(one.locations)
        elif one.is_a_callsite():
            todo += [one.caller, one.callee]
        elif one.is_a_name():
            level = one.name_str.removeprefix(_TAG)
            if level != one.name_str and level.isdecimal():
                lines.setdefault(int(level), set()).add(one.child_loc.start_line)
            else:
                todo.append(one.child_loc)
        elif one.is_a_file() and not source:
            source = f"{one.filename}:{one.start_line}:{one.start_col}"
    return lines, source


def without_marks(module: ir.Operation) -> ir.Operation:
    """A copy whose locations are those that it had before modules were marked."""
    copy = module.clone().operation
    unknown = ir.Location.unknown(copy.context)
    for op in (copy, *_walk(copy)):
        if _read(op.location)[0]:
            op.location = _unmarked(op.location) or unknown
        # Arguments of loops are given the locations of operations.
        for argument in (argument for region in op.regions for block in region.blocks for argument in block.arguments):
            if _read(argument.location)[0]:
                argument.set_location(_unmarked(argument.location) or unknown)
    return copy


def _unmarked(location: ir.Location) -> ir.Location | None:
    """The location; None where nothing but marks is in it."""
    if not _read(location)[0]:
        return location
    if location.is_a_fused():
        parts = [part for part in map(_unmarked, location.locations) if part is not None]
        # A list of one is that one, whose own data a new list would not have.
        return ir.Location.fused(parts, context=location.context) if len(parts) > 1 else parts[0] if parts else None
    if location.is_a_callsite():
        callee, caller = _unmarked(location.callee), _unmarked(location.caller)
        return ir.Location.callsite(callee, [caller], location.context) if callee and caller else callee or caller
    if is_mark(location.name_str):
        return None
    child = _unmarked(location.child_loc)
    return ir.Location.name(location.name_str, child, location.context)


def located(level: Level) -> ir.Module:
    """A copy whose operations have their lines at the level as locations, and no others: what compilers carry along."""
    copy = clone(level.module)
    marked = _marked(copy.operation, level.number)
    unknown = ir.Location.unknown(copy.context)
    for op in _walk(copy.operation):
        op.location = unknown
    for op, told in marked:
        op.location = ir.Location.file(level.name, told.line, 1, copy.context)
    return copy


def clone(module: ir.Module | ir.Operation) -> ir.Module:
    """A copy to mark."""
    return _xetile.clone_module(module.operation)
