# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Machine code of a program: instructions with their purposes and the lines of the last level that they were made for,
figures of the hottest loop; the SPIR-V as text.

A copy of the level has its own lines as locations, which compilers carry along: LLVM for CPUs to `.loc`; for Intel GPUs
the SPIR-V has OpLine, and Intel's compiler comments in its assembly.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xetile import passes
from xetile.codegen import engines
from xetile.errors import XeTileError
from xetile.facts import chips
from xetile.mlir import ir
from xetile.mlir._mlir_libs import _xetile
from xetile.mlir.dialects import gpu
from xetile.pages.levels import Level, located
from xetile.reports import assembly, host_assembly, report

__all__ = ["Code", "disassemble", "of_host", "of_spirv", "spirv_with_lines"]

_MOST_LINES = 6000


@dataclass(frozen=True)
class Code:
    """The code of one kernel or function. Each line is [text, purpose, in the hottest loop, opcode, line of the level],
    0 where no line is known."""

    name: str
    place: str
    lines: list[list[Any]]
    facts: str
    spilled: str
    """Empty where nothing is: on a CPU in the hottest loop, as arguments may be on the stack, too."""
    loop: str
    table: str

    def to_json(self) -> dict[str, Any]:
        """As a page's script reads it."""
        return {
            "name": self.name,
            "chip": self.place,
            "facts": self.facts,
            "spilled": self.spilled,
            "lines": self.lines,
            "loop": self.loop,
            "table": self.table,
        }


def spirv_with_lines(level: Level, pipeline: str) -> bytes | None:
    """The SPIR-V that a pipeline with `line-tables` makes of the level's kernels, with the level's lines; None where
    there are no kernels."""
    module = located(level)
    passes.run(module, pipeline, action="compile kernels with their lines")
    for op in module.body.operations:
        if op.operation.name == "gpu.binary":
            first = ir.ArrayAttr(op.operation.attributes["objects"])[0]
            return bytes(gpu.ObjectAttr(first).object)
    return None


def of_spirv(spirv: bytes, chip: str, large_registers: bool | None, with_lines: bytes | None = None) -> list[Code]:
    """Each kernel's code. `with_lines` is the same SPIR-V with lines: code for it is other code only where the compiler
    decides by them, and has no lines here then. XeTileError where there is no ocloc, or it refuses."""
    programs = _programs(spirv, chip, large_registers, line_tables=False)
    lined = {}
    if with_lines is not None:
        lined = {one.name: one for one in _programs(with_lines, chip, large_registers, line_tables=True)}
    statistics = {kernel.kernel: kernel for kernel in report.statistics(spirv, chip, large_registers)}
    shown = []
    for program in programs:
        other = lined.get(program.name)
        same = other is not None and list(map(_text, other.code)) == list(map(_text, program.code))
        places = [one.line for one in other.code] if other is not None and same else [0] * len(program.code)
        kernel = statistics.get(program.name)
        shown.append(
            Code(
                program.name,
                chip,
                _lines_of_kernel(program, places),
                f"{len(program.code)} instructions, {program.registers} registers",
                f"a thread spills {program.spill_bytes} bytes" if program.spill_bytes else "",
                report.describe(kernel) if kernel else "",
                report.format_table([kernel]) if kernel else "",
            )
        )
    return shown


def _programs(spirv: bytes, chip: str, large: bool | None, *, line_tables: bool) -> list[assembly.Program]:
    made = _xetile.run_ocloc(spirv, chips.facts_of(chip)["ocloc_device"], large, line_tables)
    if isinstance(made, str):
        raise XeTileError(made)
    return [program for text in made["assembly"] if (program := assembly.read(text))]


def _text(instruction: assembly.Instruction) -> str:
    """Without the number of the compilation, which moves to nowhere behind the last instruction."""
    end = instruction.operands.rpartition(" 0x")
    return f"{instruction.opcode} {end[0] if 'null<1>:ud' in instruction.operands else instruction.operands}".rstrip()


def _lines_of_kernel(program: assembly.Program, places: Sequence[int]) -> list[list[Any]]:
    """Outside of the hottest loop only messages and dpas have a purpose."""
    hot = program.hottest()
    purposes = {id(instruction): purpose for purpose, instruction in hot.explained()} if hot else {}
    lines = []
    for instruction, place in zip(program.code[:_MOST_LINES], places, strict=False):
        kind = instruction.kind if instruction.kind in ("dpas", "load", "prefetch", "store") else ""
        text = f"{instruction.opcode:28} {instruction.operands}".rstrip()
        purpose = purposes.get(id(instruction), kind)
        lines.append([text, purpose, id(instruction) in purposes, instruction.opcode, place])
    return lines


def of_host(level: Level, name: str, opt_level: int) -> list[Code]:
    """The code that LLVM makes of a level's functions for this CPU, those with loops first. XeTileError if it makes
    none."""
    text = engines.assembly(located(level), name, opt_level)
    codes = [_of_function(function) for function in host_assembly.read(text)]
    # The function that users call is often only the one that starts threads with another.
    return sorted(codes, key=lambda code: not code.loop)


def _of_function(function: host_assembly.Function) -> Code:
    hot = function.hottest()
    inside = {id(instruction) for instruction in hot.code} if hot else set()
    lines = [
        [f"{one.opcode:16} {one.operands}".rstrip(), one.purpose, id(one) in inside, one.opcode, one.line]
        for one in function.code[:_MOST_LINES]
    ]
    stack = function.spills()
    spilled = hot.purposes()["spill"] if hot else 0
    return Code(
        function.name,
        "this CPU",
        lines,
        f"{len(function.code)} instructions{f', of which {stack} reach the stack' if stack else ''}",
        f"{spilled} instructions of its hottest loop reach the stack" if spilled else "",
        _describe(function.name, hot) if hot else "",
        "",
    )


def _describe(name: str, loop: host_assembly.Loop) -> str:
    purposes = loop.purposes()
    products = purposes["product"]
    rows = [["purpose", "instructions", *(["per product"] if products else [])]]
    for purpose in host_assembly.PURPOSES:
        if count := purposes[purpose]:
            rows.append([purpose, str(count), *([f"{count / products:.2f}"] if products else [])])
    lines = [f"{name}, a turn of its hottest loop", *report.align(rows).splitlines()]
    if (operations := loop.operations()) and (loaded := loop.loaded_bytes()):
        lines.append(f"roofline: {operations / loaded:.1f} operations a byte that it loads")
    return "\n  ".join(lines)


def disassemble(spirv: bytes) -> str | None:
    """The text of SPIR-V; None where spirv-dis is not found, or refuses it."""
    tool = shutil.which("spirv-dis")
    if tool is None:
        return None
    done = subprocess.run([tool, "--no-color", "-"], input=spirv, capture_output=True, check=False)
    return done.stdout.decode(errors="replace") if done.returncode == 0 else None
