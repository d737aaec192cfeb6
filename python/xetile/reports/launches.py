# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How often a program launches each of its kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xetile.mlir import ir

__all__ = ["Launches", "launches_in"]


@dataclass(frozen=True)
class Launches:
    """Of one kernel: places of the host code that launch it, and those of them in loops or branches, which run any
    number of times in a call."""

    places: int = 0
    conditional: int = 0

    def __str__(self) -> str:
        """As "3", or "3, 1 in loops"."""
        return f"{self.places}, {self.conditional} in loops" if self.conditional else str(self.places)


def launches_in(module: ir.Operation, function: str | None = None) -> Mapping[str, Launches]:
    """Name of a kernel -> its launches, in the order of the first ones, by the module's function of that name or by all
    functions. Of modules whose kernels are outlined, and no binary yet."""
    found: dict[str, Launches] = {}

    def visit(op: ir.Operation) -> ir.WalkResult:
        name = op.name
        if name == "gpu.module" or (name == "func.func" and function not in (None, _symbol(op, "sym_name"))):
            return ir.WalkResult.SKIP
        if name == "gpu.launch_func":
            parent = op.parent
            inside = parent is not None and parent.name != "func.func"
            kernel = ir.SymbolRefAttr(op.attributes["kernel"]).value[-1]
            known = found.get(kernel, Launches())
            found[kernel] = Launches(known.places + 1, known.conditional + inside)
        return ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _symbol(op: ir.Operation, name: str) -> str:
    return ir.StringAttr(op.attributes[name]).value
