# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on tensors, as reports name them: what they compute, sizes, and where they were written."""

from __future__ import annotations

from dataclasses import dataclass

from xetile.mlir import ir

__all__ = ["Operation", "describe"]

_MAX_INNER = 3


@dataclass(frozen=True)
class Operation:
    """An op on tensors: its name with what it computes, the types that it reads and gives, and its location."""

    name: str
    sizes: str
    place: str


def describe(op: ir.Operation) -> Operation:
    """Describes `op` for reports: "generic maximumf", "37x72xf32 -> 37x72xf16", "mlp.mlir:7:8"."""
    dialect, _, name = op.name.partition(".")
    inner = [each.operation.name for region in op.regions for block in region.blocks for each in block.operations]
    computed = [
        each.partition(".")[2]
        for each in dict.fromkeys(inner)
        if each.partition(".")[0] in ("arith", "math") and each != "arith.constant"
    ]
    if dialect != "linalg":
        name = op.name
    elif name in ("generic", "map", "reduce"):
        shown = computed[:_MAX_INNER] + ["..."] * (len(computed) > _MAX_INNER)
        name += f" {', '.join(shown)}" if shown else " copy"
    results = [str(value.type) for value in op.results]
    read = [str(value.type) for value in op.operands]
    if dialect == "linalg":
        read = read[: len(read) - len(results)]
    sizes = f"{', '.join(map(_shape, read))} -> {', '.join(map(_shape, results))}" if results else "no tensors"
    return Operation(name, sizes, str(op.location).removeprefix("loc(").removesuffix(")").replace('"', ""))


def _shape(kind: str) -> str:
    return kind.removeprefix("tensor<").removesuffix(">")
