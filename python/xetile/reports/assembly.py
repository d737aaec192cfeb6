# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The assembly that Intel's offline compiler dumps: instructions, the hottest loop, what each instruction there is for.

    kernel = assembly.read(text)
    kernel.hottest().purposes()["payload"]

Purposes: `dpas`, `load`, `prefetch`, `store` and `send` (other messages); `payload` writes a field of a block message's
address, `copy` moves data, `address` computes a number of one lane, `loop` counts, tests and jumps, `sync` waits,
`compute` is what is left: arithmetic on all lanes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["PURPOSES", "Instruction", "Loop", "Program", "read"]

PURPOSES = ("dpas", "load", "prefetch", "store", "send", "payload", "copy", "address", "loop", "sync", "compute")

_REGISTER_BYTES = 64
_JUMPS = ("jmpi", "while", "goto", "brc", "brd", "join", "if", "else", "endif", "break", "cont")
# Bits of an element by the name of its type in a dpas.
_BITS = {"hf": 16, "bf": 16, "tf32": 32, "b": 8, "ub": 8, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "s2": 2, "u2": 2}
_SOURCE_LINE = re.compile(r" Line (\d+)(?::|$)")
_LINE = re.compile(r"(?:\([^)]*\)\s*)?([a-z_][\w.]*)\s*(.*)")


@dataclass(frozen=True)
class Instruction:
    """One instruction: the opcode with its suffixes, what stands behind it up to the comment, and the comment.

    `line` is the source line that it was made for, in code with line tables; 0 where none is known.
    """

    opcode: str
    operands: str
    comment: str = ""
    line: int = 0

    @property
    def base(self) -> str:
        """The opcode without suffixes."""
        return self.opcode.partition(".")[0]

    @property
    def kind(self) -> str:
        """The class for counts: "dpas", "load" (of memory), "prefetch" (to nowhere), "store", else the opcode."""
        if "dpas" in self.base:
            return "dpas"
        if self.base.startswith("load"):
            return "prefetch" if self._arguments()[:1] == ["null:0"] else "load"
        return "store" if self.base.startswith("store") else self.base

    @property
    def lanes(self) -> int:
        """How many elements it works on."""
        width = re.match(r"\((\d+)\|", self.operands)
        return int(width[1]) if width else 1

    @property
    def target(self) -> str:
        """The operand that it writes: "r34.5<1>:d"; empty if there is none."""
        arguments = self._arguments()
        if arguments and re.match(r"\([a-z]+\)f\d", arguments[0]):  # cmp's condition
            arguments = arguments[1:]
        return arguments[0] if arguments else ""

    @property
    def sources(self) -> list[str]:
        """The operands that it reads."""
        arguments = self._arguments()
        return arguments[arguments.index(self.target) + 1 :] if arguments else []

    @property
    def address(self) -> int | None:
        """The register that holds the address of a block message."""
        found = re.search(r"\[r(\d+):", self.operands) if "block2d" in self.base else None
        return int(found[1]) if found else None

    @property
    def caches(self) -> str:
        """The cache controls of a memory message, "ca.ca"; "default" without any."""
        found = re.search(r"\.a(?:32|64)\.(\w+\.\w+)", self.opcode)
        return found[1] if found else "default"

    @property
    def loaded_bytes(self) -> int:
        """Bytes that a load writes to registers. A message of 32 registers says 31, the most that its field holds."""
        found = re.match(r"r\d+:(\d+)", self.target) if self.kind == "load" else None
        if not found:
            return 0
        registers = int(found[1])
        return _REGISTER_BYTES * (32 if registers == 31 else registers)

    @property
    def message(self) -> tuple[str, int] | None:
        """How a load or store reaches memory, and its bytes; None for all else, spills and arguments of the kernel.

        "2D" is a block of a matrix, "1D" a row of memory, "scattered" has an address for each lane, "one" a single
        element for all lanes; "shared" is any of shared memory.
        """
        if self.kind not in ("load", "store") or "bti[" in self.operands or ".scratch" in self.opcode:
            return None
        if self.base.endswith("block2d"):
            return "2D", self.loaded_bytes or self._stored_bytes()
        found = re.search(r"\.d(\d+)(?:u32)?(?:x(\d+))?(t)?\.", self.opcode)
        if not found:
            return None
        lanes = 1 if found[3] else self.lanes
        count = int(found[1]) // 8 * int(found[2] or 1) * lanes
        if ".slm" in self.opcode:
            return "shared", count
        return ("scattered" if lanes > 1 else "one" if found[2] in (None, "1") else "1D"), count

    @property
    def operations(self) -> int:
        """Of a dpas, a multiply-add being two; 0 for other instructions and types that are not known."""
        shape = re.search(r"dpasw?\.(\d+)x(\d+)", self.opcode)
        bits = self._operand_bits()
        return 2 * self.lanes * int(shape[1]) * int(shape[2]) * (32 // bits) if shape and bits else 0

    @property
    def operations_of_16_bits(self) -> int:
        """Operations on 16-bit elements in the time of a dpas, which takes equally long for all types."""
        return self.operations * self._operand_bits() // 16

    def _stored_bytes(self) -> int:
        """Bytes that a block store reads from registers: the operand behind the address."""
        found = re.search(r"\]\s+r\d+(?:\.\d+)?:(\d+)", self.operands)
        return _REGISTER_BYTES * int(found[1]) if found else 0

    def _operand_bits(self) -> int:
        types = [source.rpartition(":")[2] for source in self.sources[1:3]]
        return max((_BITS.get(name, 0) for name in types), default=0)

    def _arguments(self) -> list[str]:
        text = re.sub(r"\{[^}]*\}", "", self.operands)
        return [word for word in text.split() if not re.fullmatch(r"\(\d+\|M\d+\)", word)]


def _register(operand: str) -> int | None:
    found = re.match(r"[(-]*(?:abs\))?r(\d+)", operand)
    return int(found[1]) if found else None


def _field(operand: str) -> str:
    """Register and place in it: "r34.5"."""
    found = re.match(r"-?(r\d+(?:\.\d+)?)", operand)
    return found[1] if found else operand


@dataclass(frozen=True)
class Loop:
    """The instructions between a label and the jump back to it."""

    code: Sequence[Instruction]

    def kinds(self) -> Counter[str]:
        """How many of each kind."""
        return Counter(instruction.kind for instruction in self.code)

    def purposes(self) -> Counter[str]:
        """How many serve each purpose."""
        return Counter(purpose for purpose, _ in self.explained())

    def explained(self) -> Iterator[tuple[str, Instruction]]:
        """Each instruction with its purpose."""
        payloads = {instruction.address for instruction in self.code} - {None}
        tested = {
            _field(source) for instruction in self.code if instruction.base == "cmp" for source in instruction.sources
        }
        for instruction in self.code:
            yield _purpose(instruction, payloads, tested), instruction

    def loaded_bytes(self) -> int:
        """Bytes that its loads write to a subgroup's registers in one iteration."""
        return sum(instruction.loaded_bytes for instruction in self.code)

    def operations(self) -> int:
        """Of its dpas in one turn."""
        return sum(instruction.operations for instruction in self.code)

    def operations_of_16_bits(self) -> int:
        """How many of its instructions work on 16-bit elements."""
        return sum(instruction.operations_of_16_bits for instruction in self.code)

    def caches(self) -> Counter[str]:
        """How many loads, prefetches and stores have which cache controls: "prefetch ca.ca"."""
        messages = [code for code in self.code if code.kind in ("load", "prefetch", "store")]
        return Counter(f"{message.kind} {message.caches}" for message in messages)


def _purpose(instruction: Instruction, payloads: set[int | None], tested: set[str]) -> str:
    kind, target = instruction.kind, instruction.target
    if kind in ("dpas", "load", "prefetch", "store"):
        return kind
    # Moves to nowhere wait for a message that still reads a register.
    if kind == "sync" or (kind == "mov" and target.startswith("null")):
        return "sync"
    if kind.startswith(("send", "fence", "barrier", "atomic")):
        return "send"
    if kind in _JUMPS or kind == "cmp" and instruction.lanes == 1 or _tests_for_all(instruction):
        return "loop"
    if _field(target) in tested and kind == "add" and instruction.lanes == 1:
        return "loop"
    if _register(target) in payloads and instruction.lanes <= 8:
        return "payload"
    if instruction.lanes == 1:
        return "address"
    return "copy" if kind == "mov" and _moves_bits(instruction) else "compute"


def _tests_for_all(instruction: Instruction) -> bool:
    """A compare of one number that sets the flags of all lanes."""
    return instruction.kind == "cmp" and all("<0;1,0>" in s or not s.startswith("r") for s in instruction.sources)


def _moves_bits(instruction: Instruction) -> bool:
    """A mov between equal types converts nothing."""
    types = {operand.rpartition(":")[2] for operand in (instruction.target, *instruction.sources)}
    return len(types) == 1 or types <= {"d", "ud", "f"}


@dataclass(frozen=True)
class Program:
    """One kernel. `registers` that a thread has, `spill_bytes` that it spills."""

    name: str
    registers: int
    spill_bytes: int
    code: Sequence[Instruction]
    loops: Sequence[Loop]

    def hottest(self) -> Loop | None:
        """The loop with most dpas; None if no loop has any."""
        loop = max(self.loops, key=lambda loop: loop.kinds()["dpas"], default=None)
        return loop if loop and loop.kinds()["dpas"] else None


def read(text: str) -> Program | None:
    """The kernel of a dumped file; None if the text is not one."""
    name = re.search(r'^//\.kernel "?([^"\n]+)', text, re.MULTILINE)
    if not name:
        return None
    registers = re.search(r"\bnumGRF=(\d+)", text)
    spill = re.search(r"^//\.spill size (\d+)", text, re.MULTILINE)
    labels: dict[str, int] = {}
    code: list[Instruction] = []
    place = 0
    for line in text.splitlines():
        said, _, comment = line.partition("//")
        # Stands before the instructions of a source line, up to the next one.
        if not said and (source := _SOURCE_LINE.match(comment)):
            place = int(source[1])
        if label := re.fullmatch(r"([A-Za-z_]\w*):", said.strip()):
            labels[label[1]] = len(code)
        elif found := _LINE.match(said.strip()):
            code.append(Instruction(found[1], found[2], comment.strip(), place))
    # A jump to an earlier label closes a loop.
    loops = [
        Loop(code[labels[label] : end + 1])
        for end, instruction in enumerate(code)
        if instruction.base in ("jmpi", "while", "goto", "brc", "brd")
        for label in re.findall(r"\b[A-Za-z_]\w*\b", instruction.operands)
        if labels.get(label, end + 1) <= end
    ]
    return Program(
        name[1].strip(), int(registers[1]) if registers else 0, int(spill[1]) if spill else 0, tuple(code), tuple(loops)
    )
