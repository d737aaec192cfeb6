# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Machine-code statistics of SPIR-V kernels: what Intel's offline compiler makes of them, without a GPU.

    for kernel in xetile.report.statistics("kernel.spv", "pvc"):
        print(kernel.spill_bytes, kernel.loop.per_dpas("mov"))

The figures of merit of a matmul are spills (none), and how many instructions its hottest loop has beside each dpas.
`assembly` tells what each of them is for; `baseline` compares with what was before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from xetile.errors import XeTileError, expect
from xetile.facts import chips
from xetile.mlir._mlir_libs import _xetile
from xetile.reports import assembly
from xetile.reports.launches import Launches
from xetile.system import files
from xetile.system.tools import require_ocloc

__all__ = [
    "InstructionCounts",
    "KernelStatistics",
    "Roofline",
    "align",
    "count",
    "describe",
    "describe_messages",
    "format_table",
    "statistics",
]


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
class Roofline:
    """A loop's demands on a chip whose matrix units never stall.

    `product` is the one whose rates these are; `loads_per_second` in bytes, of all its cores together; `memory_share`
    that divided by what memory brings: from 1 on, this many of the bytes must come out of caches, all but one.
    """

    product: str
    operations_per_byte: float
    peak_per_second: float
    loads_per_second: float
    memory_share: float


@dataclass(frozen=True)
class KernelStatistics:
    """Machine code of one kernel for one chip.

    `binary_bytes` is the size of the ELF file, which holds all kernels of the module; `registers` per thread;
    `spill_bytes` that a thread spills; `code` counts the whole kernel, `loop` the loop with most dpas instructions
    (None if no loop has any).

    Of one turn of the loop: `purposes` counts instructions by what they are for (`assembly.PURPOSES`), `caches`
    messages by their cache controls, `loaded_bytes` is what a subgroup loads, `operations` what its dpas do (a
    multiply-add is two), `operations_16` what they would do in this time with elements of 16 bits.

    `messages` counts loads and stores of the whole kernel: ("load", "2D", 1024) are those of blocks of a matrix of
    1024 bytes, "1D" are rows of memory, "scattered" have an address for each lane, "one" are single elements for all
    lanes, "shared" are any of shared memory.
    """

    kernel: str
    chip: str
    binary_bytes: int
    registers: int
    spill_bytes: int
    code: InstructionCounts
    loop: InstructionCounts | None
    purposes: Mapping[str, int]
    caches: Mapping[str, int]
    loaded_bytes: int
    operations: int
    operations_16: int
    messages: Mapping[tuple[str, str, int], int] = field(default_factory=dict)

    @property
    def bytes_per_dpas(self) -> float:
        """Bytes that a subgroup loads in the loop per dpas. NaN without a loop."""
        return self.loaded_bytes / self.loop["dpas"] if self.loop else float("nan")

    def roofline(self) -> Roofline | None:
        """None if the loop loads nothing, its dpas are of an unknown type, or no rates of the chip are known."""
        rates = next((entry for entry in _xetile.rates() if entry["chip"] == self.chip), None)
        if not rates or not self.loaded_bytes or not self.operations_16:
            return None
        turns = rates["cores"] * rates["operations_cycle"] * rates["megahertz"] * 1e6 / self.operations_16
        loads = turns * self.loaded_bytes
        return Roofline(
            rates["product"],
            self.operations / self.loaded_bytes,
            turns * self.operations,
            loads,
            loads / (rates["memory_gbs"] * 1e9),
        )


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


def format_table(kernels: Sequence[KernelStatistics], launches: Mapping[str, Launches] | None = None) -> str:
    """A table of the figures, one line per kernel; the columns from `loop` on are about the hottest dpas loop.

    `launches` of a program's host code add a column, and where it has several kernels a line for each chip with their
    sums: launches, the code's instructions, spilled bytes of a thread, and the most registers.
    """
    expect("kernels", kernels, Sequence, "a sequence of KernelStatistics")
    for kernel in kernels:
        expect("kernels", kernel, KernelStatistics, "a sequence of KernelStatistics")
    head = ["kernel", "chip", "bytes", "registers", "spill", "instructions"]
    head += ["|", "loop:dpas", "mov/dpas", "load/dpas", "other/dpas", "bytes/dpas"]
    rows = [head]
    for kernel in kernels:
        row = [kernel.kernel, kernel.chip, kernel.binary_bytes, kernel.registers, kernel.spill_bytes, kernel.code.total]
        if loop := kernel.loop:
            row += ["|", loop["dpas"], *(f"{loop.per_dpas(kind):.2f}" for kind in ("mov", "load", "other"))]
            row.append(f"{kernel.bytes_per_dpas:.0f}")
        else:
            row += ["|", "none", "", "", "", ""]
        rows.append([str(cell) for cell in row])
    if launches is not None:
        for chip in dict.fromkeys(kernel.chip for kernel in kernels):
            own = [kernel for kernel in kernels if kernel.chip == chip]
            if len(own) > 1:
                rows.append(_sums(own, len(head)))
        counts = [str(launches.get(kernel.kernel, Launches())) for kernel in kernels]
        counts += [str(_sum(launches.values()))] * (len(rows) - 1 - len(counts))
        for line, cell in zip(rows, ["launches", *counts], strict=True):
            line.insert(line.index("|"), cell)
    return align(rows)


def _sums(kernels: Sequence[KernelStatistics], columns: int) -> list[str]:
    """The line of all kernels of a program. One file holds them."""
    spilled, code = (sum(figures) for figures in zip(*((k.spill_bytes, k.code.total) for k in kernels), strict=True))
    loops = [kernel.loop for kernel in kernels if kernel.loop]
    registers = max(kernel.registers for kernel in kernels)
    dpas = sum(loop["dpas"] for loop in loops) if loops else "none"
    row = [f"all {len(kernels)} kernels", kernels[0].chip, kernels[0].binary_bytes, registers, spilled, code, "|", dpas]
    return [*map(str, row), *[""] * (columns - len(row))]


def _sum(launches: Iterable[Launches]) -> Launches:
    several = list(launches)
    return Launches(sum(each.places for each in several), sum(each.conditional for each in several))


def align(rows: Sequence[Sequence[str]]) -> str:
    """A table of columns as wide as their widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def describe(kernel: KernelStatistics) -> str:
    """The loop of one kernel: instructions by purpose, cache controls, the roofline; empty without a loop."""
    expect("kernel", kernel, KernelStatistics, "KernelStatistics")
    if not (loop := kernel.loop):
        return ""
    rows = [["purpose", "instructions", "per dpas"]]
    for purpose in assembly.PURPOSES:
        if count := kernel.purposes.get(purpose, 0):
            rows.append([purpose, str(count), f"{count / loop['dpas']:.2f}"])
    lines = [f"{kernel.kernel} on {kernel.chip}, a turn of its loop", *align(rows).splitlines()]
    lines.append("caches: " + ", ".join(f"{count} x {text}" for text, count in sorted(kernel.caches.items())))
    if line := kernel.roofline():
        lines.append(
            f"roofline: {line.operations_per_byte:.1f} operations a byte; at the peak of {line.product}, "
            f"{line.peak_per_second * 1e-12:.0f} TOP/s, its cores load {line.loads_per_second * 1e-12:.1f} TB/s, "
            f"{line.memory_share:.1f} times what memory brings"
        )
    return "\n  ".join(lines)


def describe_messages(kernel: KernelStatistics) -> str:
    """The loads and stores of one kernel by their kind and size; empty without any."""
    expect("kernel", kernel, KernelStatistics, "KernelStatistics")
    if not kernel.messages:
        return ""
    rows = [["message", "reaches", "bytes", "count"]]
    rows += [[kind, how, str(size), str(times)] for (kind, how, size), times in sorted(kernel.messages.items())]
    return "\n  ".join([f"{kernel.kernel} on {kernel.chip}, all of its messages", *align(rows).splitlines()])


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


def _parse(text: str, chip: str, size: int) -> KernelStatistics | None:
    """The statistics of one dumped kernel; None if the text is not one."""
    return count(assembly.read(text), chip, size)


def count(program: assembly.Program | None, chip: str, size: int) -> KernelStatistics | None:
    """The statistics of one kernel, whose binary has `size` bytes; None for None."""
    if not program:
        return None
    loop = program.hottest()
    return KernelStatistics(
        kernel=program.name,
        chip=chip,
        binary_bytes=size,
        registers=program.registers,
        spill_bytes=program.spill_bytes,
        code=InstructionCounts(Counter(instruction.kind for instruction in program.code)),
        loop=InstructionCounts(loop.kinds()) if loop else None,
        purposes=loop.purposes() if loop else {},
        caches=loop.caches() if loop else {},
        loaded_bytes=loop.loaded_bytes() if loop else 0,
        operations=loop.operations() if loop else 0,
        operations_16=loop.operations_of_16_bits() if loop else 0,
        messages=Counter((one.kind, *message) for one in program.code if (message := one.message)),
    )
