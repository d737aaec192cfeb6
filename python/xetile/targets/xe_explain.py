# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which kernel of a GPU computes each operation of a program, why, what kernels move at least, and their operations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from xetile.mlir import ir
from xetile.mlir._mlir_libs import _xetile
from xetile.reports import operations
from xetile.reports.report import align
from xetile.schedule import PREPARE, Schedule

__all__ = ["describe_operations", "describe_tiling", "explain_kernels"]

# Data movement at level 4, by its common names.
_MESSAGES = {"xegpu.load_nd": "load", "xegpu.prefetch_nd": "prefetch", "xegpu.store_nd": "store"}


def explain_kernels(payload: ir.Module, schedule: Schedule) -> str:
    """A table of the operations, then one of the kernels; empty if `schedule` is not one for programs.

    XeTileError if the schedule does not take the payload.
    """
    prepared = schedule.run(payload, PREPARE, "target")
    if prepared is None:
        return ""
    ops, kernels = _xetile.explain_kernels(prepared)
    around = [_control_around(op) for op, *_ in ops]
    rows = [["op", "", "sizes", *(["in"] if any(around) else []), "kernel", "why", "at"]]
    for number, (op, kernel, _, reason) in enumerate(ops):
        shown = operations.describe(op)
        inside = [around[number] or "-"] if any(around) else []
        rows.append([str(number), shown.name, shown.sizes, *inside, str(kernel), reason, shown.place])
    below = [["kernel", "schedule", "reads bytes", "writes bytes"]]
    for kernel, name, read, written in kernels:
        below.append([str(kernel), name, _count(read), _count(written)])
    moved = [bytes_ for _, _, *both in kernels for bytes_ in both]
    if len(kernels) > 1 and None not in moved:
        below.append(["all", "", *(_count(sum(column)) for column in list(zip(*kernels, strict=True))[2:])])
    return "\n".join([align(rows), "", align(below)])


def _control_around(op: ir.Operation) -> str:
    """The loops and branches of the host that `op` is in, the outermost first."""
    names: list[str] = []
    around = op.parent
    while around is not None and around.operation.name != "func.func":
        names.insert(0, around.operation.name)
        around = around.operation.parent
    return " > ".join(names)


def _count(amount: int | None) -> str:
    return "of a run" if amount is None else f"{amount:,}"


def describe_tiling(module: ir.Operation) -> str:
    """The tiles that the schedule chose, a line for each matmul; empty if it says nothing of them."""
    lines = []
    for op in (*_ops_of(module), *_kernels(module)):
        if "xetile.tiling" not in op.attributes:
            continue
        chosen = ir.DictAttr(op.attributes["xetile.tiling"])
        (m, n), (rows, columns) = (list(ir.DenseI64ArrayAttr(chosen[key])) for key in ("workgroup", "subgroups"))
        k, ahead = (ir.IntegerAttr(chosen[key]).value for key in ("k_step", "prefetch"))
        of = "tiles" if op.name == "func.func" else _name(op)
        lines.append(
            f"{of}: {m} x {n} per workgroup, {rows} x {columns} subgroups "
            f"of {m // rows} x {n // columns}, steps of {k} along k, prefetches {ahead} steps ahead"
        )
    return "\n".join(lines)


def describe_operations(xegpu: ir.Operation) -> list[str]:
    """Messages and dpas of a subgroup of each kernel at level 4, equal ones as one line, those in loops apart."""
    kernels = list(_kernels(xegpu))
    lines = []
    for kernel in kernels:
        lines.append("a subgroup's operations" + (f" in {_name(kernel)}" if len(kernels) > 1 else ""))
        lines += [f"  {line}" for line in _operations(kernel)]
    return lines


def _operations(kernel: ir.Operation) -> list[str]:
    counts: Counter[tuple[str, str]] = Counter()

    def visit(op: ir.Operation, place: str) -> None:
        inside = "in a loop" if op.name == "scf.for" else place
        if op.name in _MESSAGES:
            tile = next(str(value.type) for value in op.operands if "tensor_desc" in str(value.type))
            counts[inside, f"{_MESSAGES[op.name]} {_shown(tile)}"] += 1
        elif op.name == "xegpu.dpas":
            counts[inside, "dpas " + ", ".join(_shown(str(value.type)) for value in op.operands[:2])] += 1
        for inner in _ops_of(op):
            visit(inner, inside)

    visit(kernel, "outside of it")
    return [f"{place}: {count} x {text}" for (place, text), count in sorted(counts.items())]


def _ops_of(op: ir.Operation) -> Iterator[ir.Operation]:
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield inner.operation


def _kernels(module: ir.Operation) -> Iterator[ir.Operation]:
    for device in _ops_of(module):
        if device.name == "gpu.module":
            yield from (op for op in _ops_of(device) if op.name == "gpu.func")


def _name(op: ir.Operation) -> str:
    return ir.StringAttr(op.attributes["sym_name"]).value


def _shown(kind: str) -> str:
    """Shape, type and blocks of a tile: "32x16xf16, 2 blocks"."""
    match = re.match(r"(?:!xegpu\.tensor_desc|vector)<([0-9x]+x\w+)", kind)
    blocks = re.search(r"array_length = (\d+)", kind)
    text = match[1] if match else kind
    return f"{text} ({blocks[1]} blocks)" if blocks and blocks[1] != "1" else text
