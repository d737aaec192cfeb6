# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Machine-code statistics of SPIR-V kernels: what Intel's offline compiler makes of them, without a GPU.

    for kernel in xetile.report.statistics("kernel.spv", "pvc"):
        print(kernel.spill_bytes, kernel.loop.per_dpas("mov"))

The figures of merit of a matmul are spills (none), and how many instructions its hottest loop has beside each dpas.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from xetile import chips, files
from xetile.errors import XeTileError, expect
from xetile.mlir._mlir_libs import _xetile
from xetile.tools import require_ocloc

__all__ = ["InstructionCounts", "KernelStatistics", "format_table", "statistics"]


@dataclass(frozen=True)
class InstructionCounts:
    """How often each kind of instruction occurs in a piece of code.

    Kinds are opcodes without their suffixes ("mov", "add", "sync", ...), and "dpas", "load" (2D block or other loads of
    memory), "prefetch" (loads to nowhere), "store".
    """

    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        """All instructions."""
        return sum(self.counts.values())

    def __getitem__(self, kind: str) -> int:
        return self.counts.get(kind, 0)

    def per_dpas(self, kind: str) -> float:
        """Instructions of `kind` for each dpas; "other" means all that are not dpas. NaN without any dpas."""
        count = self.total - self["dpas"] if kind == "other" else self[kind]
        return count / self["dpas"] if self["dpas"] else float("nan")


@dataclass(frozen=True)
class KernelStatistics:
    """Machine code of one kernel for one chip.

    `binary_bytes` is the size of the ELF file, which holds all kernels of the module; `registers` per thread;
    `spill_bytes` that a thread spills; `code` counts the whole kernel, `loop` the loop with most dpas instructions
    (None if no loop has any).
    """

    kernel: str
    chip: str
    binary_bytes: int
    registers: int
    spill_bytes: int
    code: InstructionCounts
    loop: InstructionCounts | None


def statistics(
    spirv: bytes | str | PathLike[str], chip: Any, large_registers: bool | None = None
) -> tuple[KernelStatistics, ...]:
    """Compiles SPIR-V, given as bytes or as the path of a file, for a chip (its name or Target) with ocloc and counts
    instructions.

    `large_registers` compiles with twice the registers for half the threads; by default only if that spills less.
    XeTileError if there is no ocloc, for an unknown chip, and with ocloc's log if it refuses the module.
    """
    if large_registers is not None:
        expect("large_registers", large_registers, bool, "True, False or None")
    data = spirv if isinstance(spirv, bytes) else files.read(spirv, "SPIR-V")
    if data[:4] not in (b"\x03\x02\x23\x07", b"\x07\x23\x02\x03"):
        raise XeTileError("expected a SPIR-V module, which starts with its magic number 0x07230203")
    return _compile(data, chips.facts_of(chip), large_registers)


def format_table(kernels: Sequence[KernelStatistics]) -> str:
    """A table of the figures, one line per kernel; the columns from `loop` on are about the hottest dpas loop."""
    expect("kernels", kernels, Sequence, "a sequence of KernelStatistics")
    for kernel in kernels:
        expect("kernels", kernel, KernelStatistics, "a sequence of KernelStatistics")
    head = ["kernel", "chip", "bytes", "registers", "spill", "instructions"]
    head += ["|", "loop:dpas", "mov/dpas", "load/dpas", "other/dpas"]
    rows = [head]
    for kernel in kernels:
        row = [kernel.kernel, kernel.chip, kernel.binary_bytes, kernel.registers, kernel.spill_bytes, kernel.code.total]
        if loop := kernel.loop:
            row += ["|", loop["dpas"], *(f"{loop.per_dpas(kind):.2f}" for kind in ("mov", "load", "other"))]
        else:
            row += ["|", "none", "", "", ""]
        rows.append([str(cell) for cell in row])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def _compile(spirv: bytes, device: Mapping[str, Any], large: bool | None) -> tuple[KernelStatistics, ...]:
    made = _xetile.run_ocloc(spirv, device["ocloc_device"], large)
    if isinstance(made, str):
        raise XeTileError(made)
    found = [_parse(text, device["chip"], len(made["data"])) for text in made["assembly"]]
    kernels = tuple(kernel for kernel in found if kernel)
    if not kernels:
        raise XeTileError(
            "the module has no kernel to count in, or this ocloc ignores IGC_ShaderDumpEnable, which that of "
            f"scripts/install-ocloc obeys: {require_ocloc()}"
        )
    return kernels


def _parse(assembly: str, chip: str, size: int) -> KernelStatistics | None:
    """The statistics of one dumped kernel; None if the text is not one."""
    name = re.search(r'^//\.kernel "?([^"\n]+)', assembly, re.MULTILINE)
    if not name:
        return None
    registers = re.search(r"\bnumGRF=(\d+)", assembly)
    spill = re.search(r"^//\.spill size (\d+)", assembly, re.MULTILINE)
    labels: dict[str, int] = {}
    code: list[tuple[str, str]] = []
    for line in assembly.splitlines():
        text = line.partition("//")[0].strip()
        if label := re.fullmatch(r"([A-Za-z_]\w*):", text):
            labels[label[1]] = len(code)
        elif instruction := re.match(r"(?:\([^)]*\)\s*)?([a-z_][\w.]*)\s*(.*)", text):
            code.append((instruction[1], instruction[2]))

    def count(start: int, end: int) -> InstructionCounts:
        return InstructionCounts(Counter(_kind(*instruction) for instruction in code[start:end]))

    # A jump to an earlier label closes a loop.
    loops = [
        count(labels[label], end + 1)
        for end, (opcode, operands) in enumerate(code)
        if opcode.partition(".")[0] in ("jmpi", "while", "goto", "brc", "brd")
        for label in re.findall(r"\b[A-Za-z_]\w*\b", operands)
        if labels.get(label, end + 1) <= end
    ]
    hottest = max(loops, key=lambda loop: loop["dpas"], default=None)
    return KernelStatistics(
        kernel=name[1].strip(),
        chip=chip,
        binary_bytes=size,
        registers=int(registers[1]) if registers else 0,
        spill_bytes=int(spill[1]) if spill else 0,
        code=count(0, len(code)),
        loop=hottest if hottest and hottest["dpas"] else None,
    )


def _kind(opcode: str, operands: str) -> str:
    base = opcode.partition(".")[0]
    if "dpas" in base:
        return "dpas"
    if base.startswith("load"):
        # A load without a destination only fills the caches.
        return "prefetch" if re.match(r"\([^)]*\)\s*null\b", operands) else "load"
    return "store" if base.startswith("store") else base
