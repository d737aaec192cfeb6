# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on tensors, as reports name them: what they compute, sizes, places, products."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from xetile.mlir import ir
from xetile.mlir.dialects import linalg

__all__ = ["Operation", "describe", "products"]

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


def products(op: ir.Operation) -> tuple[int, str] | None:
    """How many elements a contraction or a convolution multiplies, and their type; None for other ops, and where sizes
    are those of a run."""
    if not (linalg.isa_contraction_op(op) or linalg.isa_convolution_op(op)):
        return None
    maps = [ir.AffineMapAttr(entry).value for entry in linalg.get_indexing_maps(op)]
    sizes: dict[int, int] = {}
    for value, places in zip(op.operands, maps, strict=True):
        kind: Any = value.type
        for size, place in zip(ir.ShapedType(kind).shape, places.results, strict=True):
            if isinstance(place, ir.AffineDimExpr):
                sizes[place.position] = size
    if len(sizes) < maps[0].n_dims or any(size < 0 for size in sizes.values()):
        return None
    return math.prod(sizes.values()), str(ir.ShapedType(op.operands[0].type).element_type)


def _shape(kind: str) -> str:
    return kind.removeprefix("tensor<").removesuffix(">")
