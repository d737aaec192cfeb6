# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program of several kernels as a picture: which kernel reads what which other one writes.

Kernels are put into rows: one below all those that it reads from, in the order of their numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

from xetile.kernels.signature import find_function
from xetile.mlir import ir
from xetile.mlir._mlir_libs import _xetile
from xetile.pages.levels import lines_at
from xetile.reports import operations
from xetile.schedule import PREPARE, Schedule

__all__ = ["Kernel", "Program", "draw", "of_payload"]

_WIDTH, _HEIGHT, _ACROSS, _DOWN = 250, 74, 40, 56
# How much faster matrix units are with elements of a type than with those of 16 bits.
_TIMES_16 = {"f16": 1, "bf16": 1, "i8": 2}


@dataclass
class Kernel:
    """A kernel to be: its schedule, bytes that it moves at least (None: a run knows), ops as rows of a table, and the
    numbers of the kernels that it reads from; -1 is the caller. `work` are seconds that its products take at least on
    the chip, `seconds` all of it, None where the chip's rates are not known or a run knows."""

    number: int
    schedule: str
    reads: int | None
    writes: int | None
    ops: list[dict[str, Any]] = field(default_factory=list)
    sources: set[int] = field(default_factory=set)
    returned: bool = False
    work: float = 0.0
    seconds: float | None = None


@dataclass
class Program:
    """The kernels of a function."""

    name: str
    kernels: list[Kernel]
    product: str = ""
    """The chip's, whose rates `seconds` are of."""

    def seconds(self) -> float | None:
        """The least that all of them take; None where that is not known of each."""
        amounts = [kernel.seconds for kernel in self.kernels]
        return None if None in amounts else sum(amount for amount in amounts if amount is not None)

    def share(self, kernel: Kernel) -> float | None:
        """A kernel's part of the time, of the bytes where that is not known; None where a run knows."""
        if total := self.seconds():
            return (kernel.seconds or 0.0) / total
        # None of the amounts is, where the total is none.
        moved = self.moved()
        return ((kernel.reads or 0) + (kernel.writes or 0)) / moved if moved else None

    def moved(self) -> int | None:
        """Bytes that all of them move; None where only a run knows."""
        amounts = [amount for kernel in self.kernels for amount in (kernel.reads, kernel.writes)]
        return None if None in amounts else sum(amount for amount in amounts if amount is not None)

    def to_json(self) -> dict[str, Any]:
        """As a page's script reads it."""
        kernels = [{**vars(kernel), "sources": sorted(kernel.sources)} for kernel in self.kernels]
        found = {"name": self.name, "kernels": kernels, "moved": self.moved(), "svg": draw(self)}
        return found | {"seconds": self.seconds(), "product": self.product}


def of_payload(payload: ir.Module, schedule: Schedule | None, name: str, chip: str) -> Program | None:
    """The kernels that a schedule for programs makes of a marked payload; None for other schedules."""
    if schedule is None:
        return None
    prepared = schedule.run(payload, PREPARE, "target")
    if prepared is None:
        return None
    ops, kernels = _xetile.explain_kernels(prepared)
    if not kernels:
        return None
    rates = next((entry for entry in _xetile.rates() if entry["chip"] == chip), None)
    found = {number: Kernel(number, name, read, written) for number, name, read, written in kernels}
    kernel_of = {op: number for op, number, _, _ in ops}
    for op, number, _, reason in ops:
        shown = operations.describe(op)
        lines = lines_at(op.location, 0)
        kernel = found[number]
        kernel.ops.append({"name": shown.name, "sizes": shown.sizes, "why": reason, "lines": lines})
        kernel.work += _seconds_of_products(op, rates) if rates else 0.0
        for operand in op.operands:
            kernel.sources |= _makers(operand, kernel_of) - {number}
    function = find_function(prepared.operation, name)
    for value in list(function.entry_block.operations)[-1].operands:
        for number in _makers(value, kernel_of) - {-1}:
            found[number].returned = True
    for kernel in found.values():
        if rates and kernel.reads is not None and kernel.writes is not None:
            memory = (kernel.reads + kernel.writes) / (rates["memory_gbs"] * 1e9)
            kernel.seconds = max(memory, kernel.work)
    return Program(name, [found[number] for number in sorted(found)], rates["product"] if rates else "")


def _seconds_of_products(op: ir.Operation, rates: Mapping[str, Any]) -> float:
    """The least that a matrix unit takes for an op's products; nothing for those of other units."""
    found = operations.products(op)
    if not found or found[1] not in _TIMES_16:
        return 0.0
    peak = rates["cores"] * rates["operations_cycle"] * rates["megahertz"] * 1e6
    return float(2 * found[0] / (peak * _TIMES_16[found[1]]))


def _makers(value: ir.Value[Any], kernel_of: dict[Any, int], seen: set[Any] | None = None) -> set[int]:
    """Kernels that a value comes from, through what is in none: reshapes, slices, loops and branches of the host."""
    seen = set() if seen is None else seen
    if value in seen:
        return set()
    seen.add(value)
    owner = value.owner
    if isinstance(owner, ir.Block):
        around = owner.owner.operation
        if around.name == "func.func":
            return {-1}
        sources = [*around.operands, *_yielded(around)]
    elif owner.operation in kernel_of:
        return {kernel_of[owner.operation]}
    else:
        sources = [*owner.operation.operands, *_yielded(owner.operation)]
    found: set[int] = set()
    for source in sources:
        found |= _makers(source, kernel_of, seen)
    return found


def _yielded(op: ir.Operation) -> list[ir.Value[Any]]:
    """Values that the blocks of a loop or branch end with."""
    blocks = [block for region in op.regions for block in region.blocks]
    return [value for block in blocks for value in list(block.operations)[-1].operands]


def draw(program: Program) -> str:
    """The picture, as SVG: boxes with a number, the schedule, and the share of the time, or of the bytes."""
    rows = _rows(program.kernels)
    wide = max(len(row) for row in rows)
    place = {}
    for depth, row in enumerate(rows):
        left = (wide - len(row)) * (_WIDTH + _ACROSS) / 2
        for index, kernel in enumerate(row):
            place[kernel.number] = (left + index * (_WIDTH + _ACROSS) + 10, (depth + 1) * (_HEIGHT + _DOWN))
    width, height = wide * (_WIDTH + _ACROSS) + 20, (len(rows) + 2) * (_HEIGHT + _DOWN)
    middle, bottom = width / 2, height - _HEIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="graph" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}"><defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" '
        'markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>',
        f'<text class="end" x="{middle:.0f}" y="{_HEIGHT * 0.6:.0f}">arguments</text>',
        f'<text class="end" x="{middle:.0f}" y="{bottom + 30:.0f}">results</text>',
    ]
    ends = {-1: (middle, _HEIGHT * 0.75)}
    ends |= {number: (x + _WIDTH / 2, y + _HEIGHT) for number, (x, y) in place.items()}
    for kernel in program.kernels:
        x, y = place[kernel.number]
        for source in sorted(kernel.sources):
            if source == -1 and y > _HEIGHT + _DOWN:
                # From above all others it would go behind them.
                parts.append(f'<path class="edge" marker-end="url(#tip)" d="M{x + 24:.0f} {y - 22:.0f}v20"/>')
                parts.append(f'<text class="bytes" x="{x + 30:.0f}" y="{y - 10:.0f}">arguments</text>')
            else:
                parts.append(_edge(*ends[source], x + _WIDTH / 2, y))
        if kernel.returned:
            parts.append(_edge(*ends[kernel.number], middle, bottom + 12))
    for kernel in program.kernels:
        parts.append(_box(kernel, *place[kernel.number], program.share(kernel)))
    return "".join([*parts, "</svg>"])


def _rows(kernels: list[Kernel]) -> list[list[Kernel]]:
    """By the longest way from the arguments. Kernels come after those that they read from."""
    depth: dict[int, int] = {}
    for kernel in kernels:
        depth[kernel.number] = 1 + max((depth.get(source, -1) for source in kernel.sources), default=-1)
    rows: list[list[Kernel]] = [[] for _ in range(max(depth.values()) + 1)]
    for kernel in kernels:
        rows[depth[kernel.number]].append(kernel)
    return rows


def _edge(x: float, y: float, to_x: float, to_y: float) -> str:
    bend = (to_y - y) / 2
    return (
        f'<path class="edge" marker-end="url(#tip)" d="M{x:.0f} {y:.0f}C{x:.0f} {y + bend:.0f} '
        f'{to_x:.0f} {to_y - bend:.0f} {to_x:.0f} {to_y - 2:.0f}"/>'
    )


def _box(kernel: Kernel, x: float, y: float, share: float | None) -> str:
    names = ", ".join(op["name"] for op in kernel.ops)
    names = names if len(names) <= 34 else f"{names[:32]} ..."
    said = "bytes: a run knows" if share is None else f"{kernel.reads or 0:,} read, {kernel.writes or 0:,} written"
    bar = _WIDTH * (share or 0)
    return (
        f'<g class="kernel" data-kernel="{kernel.number}"><rect x="{x:.0f}" y="{y:.0f}" width="{_WIDTH}" '
        f'height="{_HEIGHT}" rx="6"/><rect class="share" x="{x:.0f}" y="{y + _HEIGHT - 6:.0f}" width="{bar:.1f}" '
        f'height="6"/><text x="{x + 10:.0f}" y="{y + 20:.0f}"><tspan class="name">{kernel.number} '
        f"{escape(kernel.schedule)}</tspan>{'' if share is None else f' {share:.0%}'}</text>"
        f'<text x="{x + 10:.0f}" y="{y + 39:.0f}">{escape(names)}</text>'
        f'<text class="bytes" x="{x + 10:.0f}" y="{y + 57:.0f}">{said}</text></g>'
    )
