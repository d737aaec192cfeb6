# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The lowering of each operation of a module on a CPU: a line for each, and the cost model's reasons for matmuls."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from xetile import passes
from xetile.errors import Diagnostic, XeTileError
from xetile.mlir import ir
from xetile.mlir._mlir_libs import _xetile
from xetile.reports import operations
from xetile.reports.operations import Operation
from xetile.reports.report import align
from xetile.schedule import Schedule
from xetile.targets import cpu_calibration as calibration

__all__ = ["explain", "explain_matmuls"]

_ACTION = "explain the operations"
_SCHEDULE = "xetile.schedule"
# The number that `xetile-number-ops` writes around a location, as diagnostics and as MLIR print it.
_NUMBERED = re.compile(r"#(\d+)(?:\((.*)\))?")
_MATCHED = {
    "cpu_matmul": "a contraction",
    "cpu_convolution": "adds up over channels",
    "cpu_elementwise": "each element by itself",
    "cpu_rows": "reduces along dimensions",
    "cpu_windows": "indexed by sums of loops",
    "none": "to be left alone",
}
_DEEP_TILED = "deep-tiled"


def explain_matmuls(payload: ir.Operation, tiling: Mapping[str, str]) -> str:
    """The configuration of each matmul, as JSON, and below it the terms that it was chosen by; then the other ops."""
    said = passes.run(_prepared(payload), _telling(tiling), action=_ACTION)
    if not said:
        raise XeTileError("there is nothing to explain; expected linalg ops on tensors")
    return "\n".join(_format(said))


def explain(payload: ir.Operation, tiling: Mapping[str, str], schedule: Schedule | None = None) -> str:
    """A table of all linalg ops: the schedule that takes each, why, and what it becomes. Then `explain_matmuls`, or the
    parameters of `schedule`.

    XeTileError for a module without such ops, or one that cannot be tiled.
    """
    module = _prepared(payload)
    passes.run(module, "xetile-number-ops", action=_ACTION)
    ops = [operations.describe(op) for op in _linalg_ops(module.operation)]
    if not ops:
        raise XeTileError("there is nothing to explain; expected linalg ops on tensors")
    names = _names(module, schedule)
    said: tuple[Diagnostic, ...] = ()
    if schedule is not None:
        module = schedule.apply(module)
    else:
        said = passes.run(module, _telling(tiling), action=_ACTION)
    told = passes.run(module, "xetile-tell-ops", action=_ACTION)
    becomes = {int(number): text for number, _, text in (remark.message.partition(": ") for remark in told)}
    reasons = _reasons(said)
    rows = [["op", "", "sizes", "schedule", "becomes", "at"]]
    for number, (op, name) in enumerate(zip(ops, names, strict=True)):
        kind = f"{name}: {_MATCHED[name]}" if name in _MATCHED else name or "none matches"
        text = becomes.get(number, _vanished(op))
        if text == _DEEP_TILED and name == "cpu_convolution":
            text = f"matmuls of copies of what windows see, {text}"
        elif number in reasons and " own" in text:
            text += f": {reasons[number]}"
        rows.append([str(number), op.name, op.sizes, kind, text, _unnumbered(op.place)])
    below = schedule.explain().splitlines() if schedule is not None else _format(said)
    return "\n".join([align(rows), "", *below])


def _prepared(payload: ir.Operation) -> ir.Module:
    module = _xetile.clone_module(payload)
    calibration.describe(module)
    passes.run(module, "xetile-prepare-for-cpu", action="prepare the function")
    return module


def _telling(tiling: Mapping[str, str]) -> str:
    """The compiler's own steps, with remarks."""
    options = " ".join(
        f"{name}={{{value}}}" if name == "config" else f"{name}={value}" for name, value in tiling.items()
    )
    return f"xetile-tile-for-cpu{{{options} explain}}"


def _names(module: ir.Module, schedule: Schedule | None) -> list[str]:
    """The schedule that takes each op; empty where none does, or where `schedule` does not say."""
    if schedule is not None:
        matched = schedule.match(module) or module
    else:
        matched = _xetile.clone_module(module.operation)
        passes.run(matched, "xetile-tile-for-cpu{sequence=match}", action=_ACTION)
    attributes = [op.attributes for op in _linalg_ops(matched.operation)]
    return [ir.StringAttr(found[_SCHEDULE]).value if _SCHEDULE in found else "" for found in attributes]


def _linalg_ops(op: ir.Operation) -> Iterator[ir.Operation]:
    """In the order of their numbers."""
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield from _linalg_ops(inner.operation)
                if inner.operation.name.startswith("linalg.") and len(inner.operation.regions):
                    yield inner.operation


def _vanished(op: Operation) -> str:
    """Of an op that is in no loops."""
    if op.name == "fill":
        return "no loops: sums start from the number, or nobody reads it"
    return "no loops: its users read its operands in its place, or nobody reads it"


def _reasons(said: tuple[Diagnostic, ...]) -> dict[int, str]:
    """The notes on each op that has a loop nest of its own."""
    found: dict[int, str] = {}
    for remark in said:
        match = _NUMBERED.match(remark.location or "")
        if match and remark.message.startswith("a loop nest") and remark.notes:
            found[int(match[1])] = remark.notes[0].message
    return found


def _unnumbered(place: str) -> str:
    match = _NUMBERED.fullmatch(place)
    return (match[2] or "unknown") if match else place


def _format(said: tuple[Diagnostic, ...]) -> list[str]:
    lines = []
    for remark in said:
        place = _unnumbered(remark.location) if remark.location else ""
        lines.append(f"{place}: {remark.message}" if place else remark.message)
        lines += [f"  {note.message}" for note in remark.notes]
    return lines
