# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which kernels of XeTile the path to Intel GPUs must refuse, and which it may, from what is documented."""

from __future__ import annotations

import re
from collections.abc import Iterator

import xetile_kernel
from bounded import NUMPY
from xetile_kernel import Kernel, Load

# What may be refused in any kernel: limits that depend on what a compiler keeps in registers.
ALWAYS = {
    "registers": r"needs \d+ bytes of registers per subgroup",
    "two uses": r"has a value that is used with two block shapes",
}
# A matrix that 2D block messages cannot take: its width, its pitch, and the column where a tile begins.
SURFACE = r"has a base matrix that 2D block messages cannot take|cannot run on \w+: "
# An operand's elements come in messages of its own type (XeTileToXeGPUAnalysis): of i32 none has the 32 columns of A.
OTHER_TYPE = r"has messages of \d+x16 elements of 32 bits for .*, which do not fit the blocks of 8x32"
# Ops that no folder takes away as long as they read the value: floats are not folded as if they were numbers.
_KEEPS = {
    *("arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.negf", "arith.truncf", "arith.extf"),
    *("arith.sitofp", "arith.uitofp", "arith.fptosi", "arith.fptoui", "arith.trunci", "arith.extsi", "arith.extui"),
}


def is_allowed(kernel: Kernel, error: str) -> bool:
    """Whether an error is one that the kernel may end in."""
    patterns = [*ALWAYS.values()]
    if any(_is_bad(matrix) or _is_misplaced(matrix) for _, matrix in xetile_kernel.operands(kernel)):
        patterns.append(SURFACE)
    if _converts_a(kernel):
        patterns.append(OTHER_TYPE)
    return any(re.search(pattern, error) for pattern in patterns)


def must_refuse(kernel: Kernel) -> str:
    """Why the kernel cannot be lowered; "" if it can, or if that depends on what is found to be dead."""
    live = set(_live(kernel))
    if bad := [name for name, matrix in xetile_kernel.operands(kernel) if name in live and _is_bad(matrix)]:
        return f"2D block messages cannot take the matrices {', '.join(bad)}"
    if "A" in live and _converts_a(kernel):
        return "no message loads A as i32 for a product of i8"
    return ""


def _is_bad(matrix: Load) -> bool:
    bytes_ = NUMPY[matrix["t"]].itemsize
    width, pitch = matrix["size"][1] * bytes_, (matrix.get("pitch") or matrix["size"][1]) * bytes_
    return width < 64 or width % 4 != 0 or pitch % 16 != 0


def _is_misplaced(matrix: Load) -> bool:
    return matrix["at"][1] * NUMPY[matrix["t"]].itemsize % 4 != 0


def _converts_a(kernel: Kernel) -> bool:
    return bool(kernel["mma"]) and kernel["element"] == "i8" and kernel["mma"]["a"]["t"] == "i32"


def _live(kernel: Kernel) -> Iterator[str]:
    """Matrices whose accesses surely stay: what nothing uses is removed, and integers may fold away, as x * 0."""
    inputs = [f"L{i}" for i in range(len(kernel["loads"]))]
    mma, walk = kernel["mma"], kernel["walk"]
    inputs += ["product"] * bool(mma) + ["walked"] * bool(walk)
    kept = {inputs[i] for store in kernel["stores"] for i in _kept(store["body"])}
    yield from (f"S{i}" for i in range(len(kernel["stores"])))
    yield from (f"L{i}" for i, load in enumerate(kernel["loads"]) if load.get("prefetch"))
    yield from kept - {"product", "walked"}
    if mma and "product" in kept:
        yield from (side.upper() for side in "ab" if _kept(mma[f"{side}_body"]))
        if isinstance(mma["start"], int):
            yield f"L{mma['start']}"
    if mma and mma["prefetch"]:
        yield from "AB"
    if walk and "walked" in kept and 0 in _kept(walk["body"]):
        yield "W"


def _kept(expr: list) -> set[int]:
    """Inputs that the expression surely reads."""
    op, *rest = expr
    if op == "in":
        return {rest[0]}
    return set().union(*(_kept(part) for part in rest if isinstance(part, list))) if op in _KEEPS else set()
