# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Machine code of a kernel for a GPU: instructions with their purposes, figures of the loop; the SPIR-V as text."""

from __future__ import annotations

import shutil
import subprocess
from typing import Any

from xetile.errors import XeTileError
from xetile.facts import chips
from xetile.mlir._mlir_libs import _xetile
from xetile.reports import assembly, report

__all__ = ["disassemble", "of_spirv"]

_MOST_LINES = 6000


def of_spirv(spirv: bytes, chip: str, large_registers: bool | None) -> list[dict[str, Any]]:
    """Each kernel's code, as a page's script reads it. XeTileError where there is no ocloc, or it refuses."""
    device = chips.facts_of(chip)["ocloc_device"]
    made = _xetile.run_ocloc(spirv, device, large_registers)
    if isinstance(made, str):
        raise XeTileError(made)
    statistics = {kernel.kernel: kernel for kernel in report.statistics(spirv, chip, large_registers)}
    shown = []
    for text in made["assembly"]:
        program = assembly.read(text)
        if program is None:
            continue
        kernel = statistics.get(program.name)
        shown.append(
            {
                "name": program.name,
                "chip": chip,
                "registers": program.registers,
                "spill": program.spill_bytes,
                "instructions": len(program.code),
                "lines": _lines(program)[:_MOST_LINES],
                "loop": report.describe(kernel) if kernel else "",
                "table": report.format_table([kernel]) if kernel else "",
            }
        )
    return shown


def _lines(program: assembly.Program) -> list[list[Any]]:
    """[text, purpose, in the hottest loop]. Outside of it only messages and dpas are told."""
    hot = program.hottest()
    purposes = {id(instruction): purpose for purpose, instruction in hot.explained()} if hot else {}
    lines = []
    for instruction in program.code:
        kind = instruction.kind if instruction.kind in ("dpas", "load", "prefetch", "store") else ""
        text = f"{instruction.opcode:28} {instruction.operands}".rstrip()
        lines.append([text, purposes.get(id(instruction), kind), id(instruction) in purposes])
    return lines


def disassemble(spirv: bytes) -> str | None:
    """The text of SPIR-V; None where spirv-dis is not found, or refuses it."""
    tool = shutil.which("spirv-dis")
    if tool is None:
        return None
    done = subprocess.run([tool, "--no-color", "-"], input=spirv, capture_output=True, check=False)
    return done.stdout.decode(errors="replace") if done.returncode == 0 else None
