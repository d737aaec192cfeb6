# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The assembly that LLVM writes for x86-64: instructions by function, the hottest loop, what each instruction is for.

    functions = host_assembly.read(text)
    functions[0].hottest().purposes()["product"]

Purposes: `product` multiplies and adds, `load`, `store` and `prefetch` reach memory, `spill` the stack; `copy` moves,
permutes or broadcasts registers, `address` computes numbers in general registers, `loop` compares and jumps, `call`
calls and returns, `compute` is what is left: arithmetic on vectors.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["PURPOSES", "Function", "Instruction", "Loop", "read"]

PURPOSES = ("product", "load", "store", "prefetch", "spill", "copy", "address", "loop", "call", "compute")

_INSTRUCTION = re.compile(r"\t([a-z]\w*)(?:\t(.*))?$")
_LABEL = re.compile(r"([\w.$\"]+):")
_SOURCE_LINE = re.compile(r"\t\.loc\t\d+ (\d+)")
_PRODUCT = re.compile(r"vfn?m(?:add|sub)|vdpbf16|vpdp|tdp|v?pmadd")
_MOVES = re.compile(
    r"v?p?(?:mov|broadcast|perm|shuf|unpck|unpack|blend|insert|insr|extract|extr|align)|tileload|tilestore|tilezero"
)
_REGISTER_BYTES = {"x": 16, "y": 32, "z": 64}
# By how an opcode ends; others broadcast 16 bytes and more.
_ELEMENT_BYTES = {"ss": 4, "ps": 4, "sd": 8, "pd": 8, "b": 1, "w": 2, "d": 4, "q": 8}


@dataclass(frozen=True)
class Instruction:
    """One instruction; `operands` as AT&T's syntax has them, the target last. `line` is the source line that it was
    made for; 0 where none is known."""

    opcode: str
    operands: str
    line: int = 0

    @property
    def vector_bytes(self) -> int:
        """Of the widest vector register that it names; 0 without any. A tile register has 16 rows of 64 bytes."""
        if "%tmm" in self.operands:
            return 1024
        return max((_REGISTER_BYTES[kind] for kind in re.findall(r"%([xyz])mm", self.operands)), default=0)

    @property
    def loaded_bytes(self) -> int:
        """Bytes of a vector, or of the element that is broadcast, that it reads from memory."""
        if self.purpose == "store" or "(" not in self.operands or not self.vector_bytes:
            return 0
        if "broadcast" in self.opcode or "{1to" in self.operands or self.opcode.endswith(("ss", "sd")):
            return _ELEMENT_BYTES.get(self.opcode[-2:]) or _ELEMENT_BYTES.get(self.opcode[-1], 16)
        return self.vector_bytes

    @property
    def purpose(self) -> str:
        """One of PURPOSES."""
        if self.opcode.startswith("prefetch"):
            return "prefetch"
        if self.opcode.startswith(("call", "ret")):
            return "call"
        if self.opcode.startswith(("j", "cmp", "test")):
            return "loop"
        memory = "(" in self.operands and not self.opcode.startswith("lea")
        if memory and "(%rsp" in self.operands:
            return "spill"
        if _PRODUCT.match(self.opcode):
            return "product"
        if memory and _MOVES.match(self.opcode):
            return "store" if self.operands.rstrip().endswith(")") else "load"
        if not self.vector_bytes:
            return "address"
        return "copy" if _MOVES.match(self.opcode) else "compute"

    @property
    def operations(self) -> int:
        """Of a product in f32 or f64, a multiply-add being two; 0 for other instructions."""
        found = re.match(r"vfn?m(?:add|sub)\d+(p|s)([sd])$", self.opcode)
        if not found:
            return 0
        size = 4 if found[2] == "s" else 8
        return 2 * (self.vector_bytes // size if found[1] == "p" else 1)


@dataclass(frozen=True)
class Loop:
    """The instructions between a label and the jump back to it."""

    code: Sequence[Instruction]

    def purposes(self) -> Counter[str]:
        """How many serve each purpose."""
        return Counter(instruction.purpose for instruction in self.code)

    def loaded_bytes(self) -> int:
        """Bytes of vectors that it reads in one turn."""
        return sum(instruction.loaded_bytes for instruction in self.code)

    def operations(self) -> int:
        """Of its products in f32 or f64 in one turn."""
        return sum(instruction.operations for instruction in self.code)


@dataclass(frozen=True)
class Function:
    """One function, with its loops that hold no other."""

    name: str
    code: Sequence[Instruction]
    loops: Sequence[Loop]

    def hottest(self) -> Loop | None:
        """The innermost loop with most products, or else most arithmetic; None without either."""

        def weight(loop: Loop) -> tuple[int, int]:
            counts = loop.purposes()
            return counts["product"], counts["compute"]

        loop = max(self.loops, key=weight, default=None)
        return loop if loop and max(weight(loop)) else None

    def spills(self) -> int:
        """How many instructions reach the stack."""
        return sum(instruction.purpose == "spill" for instruction in self.code)


def read(text: str) -> list[Function]:
    """The functions of a file, in its order, without those that have no instruction."""
    return [function for name, lines in _functions(text) if (function := _read(name, lines)).code]


def _functions(text: str) -> list[tuple[str, list[str]]]:
    """Lines by function: each has a `.type` of its own."""
    names = set(re.findall(r"^\t\.type\t(\S+),@function", text, re.MULTILINE))
    found: list[tuple[str, list[str]]] = []
    inside = False
    for line in text.splitlines():
        label = _LABEL.match(line)
        if label and label[1] in names:
            found.append((label[1].strip('"'), []))
            inside = True
        elif line.startswith("\t.size\t"):
            inside = False
        elif inside:
            found[-1][1].append(line)
    return found


def _read(name: str, lines: Sequence[str]) -> Function:
    labels: dict[str, int] = {}
    code: list[Instruction] = []
    place = 0
    for line in lines:
        text = line.partition("#")[0].rstrip()
        if source := _SOURCE_LINE.match(text):
            place = int(source[1])
        elif label := _LABEL.match(text):
            labels[label[1]] = len(code)
        elif found := _INSTRUCTION.match(text):
            code.append(Instruction(found[1], found[2] or "", place))
    # A jump to an earlier label closes a loop.
    spans = [
        (labels[instruction.operands], end)
        for end, instruction in enumerate(code)
        if instruction.opcode.startswith("j") and labels.get(instruction.operands, end + 1) <= end
    ]
    innermost = [
        span
        for span in spans
        if not any(other != span and span[0] <= other[0] and other[1] <= span[1] for other in spans)
    ]
    return Function(name, tuple(code), tuple(Loop(code[begin : end + 1]) for begin, end in innermost))
