# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which memory the function of a module has at which of its steps: buffers with their bytes, first and last step.

Known are buffers of static sizes in the function itself, whose allocations are on the host or on a device, and views at
known offsets of one buffer, which share it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from xetile.mlir import ir

__all__ = ["Memory", "of_function"]

_BITS = {"f64": 64, "f32": 32, "f16": 16, "bf16": 16, "i1": 8, "index": 64}
# Steps: what takes time. All else of a function computes addresses.
_STEPS = ("gpu.launch_func", "gpu.memcpy", "memref.copy", "scf.for", "scf.parallel", "scf.forall", "omp.parallel",
          "func.call", "linalg.generic", "linalg.fill", "linalg.matmul")  # fmt: skip
_ALLOCATIONS = ("memref.alloc", "gpu.alloc", "memref.alloca")
_FREES = ("memref.dealloc", "gpu.dealloc")
_MOST_STEPS = 400


@dataclass
class _Buffer:
    name: str
    size: int
    first: int
    last: int
    offset: int | None = None
    whole: int | None = None


@dataclass
class Memory:
    """`steps` by name; `buffers` with the steps of their first and last use, offsets in the buffer `whole`."""

    level: str
    steps: list[str] = field(default_factory=list)
    buffers: list[_Buffer] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """As a page's script reads it."""
        buffers = [vars(buffer) for buffer in self.buffers]
        return {"level": self.level, "steps": self.steps, "buffers": buffers, "peak": self.peak()}

    def peak(self) -> int:
        """The most bytes at any step; views take none of their own."""
        own = [buffer for buffer in self.buffers if buffer.whole is None]
        return max(
            (
                sum(buffer.size for buffer in own if buffer.first <= step <= buffer.last)
                for step in range(len(self.steps) + 1)
            ),
            default=0,
        )


def of_function(module: ir.Operation, name: str, level: str) -> Memory | None:
    """The memory of the function `name`; None where it has no buffer of a known size, or no steps."""
    function = _function(module, name)
    if function is None or not function.regions or not len(function.regions[0].blocks):
        return None
    memory = Memory(level)
    known: dict[ir.Value[Any], int] = {}
    for op in (op.operation for op in function.regions[0].blocks[0].operations):
        if op.name in _STEPS and len(memory.steps) < _MOST_STEPS:
            memory.steps.append(_step(op))
        now = len(memory.steps) - 1 if op.name in _STEPS else len(memory.steps)
        if op.name not in _FREES:
            for number in _used(op, known):
                buffer = memory.buffers[number]
                buffer.first, buffer.last = min(buffer.first, now), max(buffer.last, now)
        if op.name in _FREES and op.operands[0] in known:
            buffer = memory.buffers[known[op.operands[0]]]
            buffer.last = max(buffer.last, now - 1)
        if not len(op.results):
            continue
        result: ir.Value[Any] = op.results[0]
        size = _bytes(str(result.type))
        if op.name in _ALLOCATIONS and size:
            known[result] = len(memory.buffers)
            memory.buffers.append(_Buffer(_shape(str(result.type)), size, now, now))
        elif op.name == "memref.view" and size and op.operands[0] in known:
            whole = known[op.operands[0]]
            known[result] = len(memory.buffers)
            view = _Buffer(_shape(str(result.type)), size, 1 << 30, -1, _constant(op.operands[1]), whole)
            memory.buffers.append(view)
        elif op.name.startswith("memref.") and len(op.operands) and op.operands[0] in known:
            known[result] = known[op.operands[0]]
    memory.buffers = _used_ones(memory.buffers)
    return memory if memory.buffers and memory.steps else None


def _used_ones(buffers: list[_Buffer]) -> list[_Buffer]:
    """Without views that nothing reads; buffers keep their numbers, as no view comes before its buffer."""
    numbers: dict[int, int] = {}
    kept: list[_Buffer] = []
    for number, buffer in enumerate(buffers):
        if buffer.last < 0:
            continue
        numbers[number] = len(kept)
        if buffer.whole is not None:
            buffer.whole = numbers[buffer.whole]
        kept.append(buffer)
    return kept


def _function(module: ir.Operation, name: str) -> ir.Operation | None:
    for op in module.regions[0].blocks[0].operations:
        attributes = op.operation.attributes
        if "sym_name" in attributes and ir.StringAttr(attributes["sym_name"]).value == name:
            return op.operation
    return None


def _used(op: ir.Operation, known: dict[Any, int]) -> set[int]:
    """Numbers of the buffers that an operation, or one in its regions, uses. Views use nothing yet."""
    if op.name.startswith("memref.") and op.name not in ("memref.copy", "memref.load", "memref.store"):
        return set()
    found = {known[value] for value in op.operands if value in known}
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                found |= _used(inner.operation, known)
    return found


def _step(op: ir.Operation) -> str:
    if op.name == "gpu.launch_func":
        return str(op.attributes["kernel"]).rpartition("@")[2]
    return {"gpu.memcpy": "copy", "memref.copy": "copy"}.get(op.name, op.name)


def _constant(value: ir.Value[Any]) -> int | None:
    owner = value.owner
    if isinstance(owner, ir.Block):
        return None
    maker = owner.operation
    return ir.IntegerAttr(maker.attributes["value"]).value if maker.name == "arith.constant" else None


def _shape(kind: str) -> str:
    return kind.removeprefix("memref<").partition(",")[0].removesuffix(">")


def _bytes(kind: str) -> int | None:
    found = re.match(r"memref<((?:\d+x)*)(\w+)[,>]", kind)
    if not found:
        return None
    bits = _BITS.get(found[2]) or (int(found[2][1:]) if re.fullmatch(r"i\d+", found[2]) else None)
    if not bits:
        return None
    count = 1
    for size in found[1].split("x")[:-1]:
        count *= int(size)
    return count * max(8, bits) // 8
