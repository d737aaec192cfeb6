# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Instructions of the assembly that Intel's offline compiler dumps, with what each waits for and moves."""

from __future__ import annotations

import re

_LINE = re.compile(
    r"^\s*(?:\((?P<pred>[^)]*)\)\s*)?(?P<op>bfn\.\([^)]*\)|[a-z_][\w.]*)\s*(?:\((?P<size>\d+)\|M\d+\))?\s*(?P<rest>.*)$"
)
_JUMPS = {
    "jmpi", "while", "goto", "join", "if", "else", "endif", "brc", "brd", "break", "cont", "call", "ret", "calla",
}  # fmt: skip
_CONDITION = r"\((?:eq|ne|lt|le|gt|ge|z|nz|o|u)\)f\d\.\d"
# Bytes of an operand's type, bits of a message's elements and of a dpas' operands.
SIZES = {"b": 1, "ub": 1, "w": 2, "uw": 2, "hf": 2, "bf": 2, "d": 4, "ud": 4, "f": 4, "q": 8, "uq": 8, "df": 8}
_ELEMENTS = {
    "d8": 8, "d16": 16, "d16v": 16, "d32": 32, "d32t": 32, "d64": 64, "d64t": 64, "d8v": 8, "d8u32": 32, "d16u32": 32,
}  # fmt: skip
_OPERANDS = {"hf": 16, "bf": 16, "tf32": 32, "f": 32, "b": 8, "ub": 8, "s8": 8, "u8": 8}
REGISTER = 64  # bytes, those of a cache line, too


def size_of(operand: str) -> int:
    """Bytes of an element."""
    return SIZES.get(operand.rpartition(":")[2], 4)


def read(line: str) -> Instruction | None:
    """The instruction of a line of assembly; None if it has none."""
    said = line.partition("//")[0].strip()
    return Instruction(line) if said and not said.startswith(".") and _LINE.match(said) else None


class Instruction:
    """One instruction.

    `kind` is "dpas", "sync", "jump", "message" or "alu"; `pipe` what computes it: int, float, math, long, matrix, send,
    jump or none. `waits` are ("F", distance) for a result of a pipe, ("dst", token) and ("src", token); `token` is its
    own. Of messages: `message` is "load", "prefetch", "store" (with "slm_" of shared memory), "gateway" or "fence";
    `bytes` and cache `lines` are what it moves, `address` is the register that tells where.
    """

    def __init__(self, line: str) -> None:
        text, _, self.comment = line.partition("//")
        notes = re.search(r"\{([^{}]*)\}\s*$", text.rstrip())
        found = _LINE.match(text[: notes.start()] if notes else text)
        assert found
        rest = found["rest"]
        self.text, self.op, self.pred = line.rstrip(), found["op"], found["pred"] or ""
        self.base, self.lanes = self.op.split(".")[0], int(found["size"] or 1)
        self.args = re.sub(_CONDITION, " ", rest).split()
        self.kind = self._kind()
        pipe = re.search(r"ALU pipe: (\w+)", self.comment)
        fixed = {"dpas": "matrix", "sync": "none", "jump": "jump", "message": "send"}
        self.pipe = fixed.get(self.kind) or (pipe[1] if pipe else "int")
        self._read_waits([note.strip() for note in notes[1].split(",")] if notes else [], rest)
        sizes = [size_of(each) for each in self.args] if self.kind == "alu" else []
        self.wide, self.half = max(sizes or [4]), bool(sizes) and max(sizes) <= 2
        self.message, self.bytes, self.lines, self.flops, self.repeat = "", 0, 0, 0, 0
        self.address: int | None = None
        self.row = self.high = 0  # of a block: bytes of a row, rows
        if self.kind == "dpas":
            self._read_product()
        if self.kind == "message":
            self._read_message(rest)

    def _kind(self) -> str:
        if "dpas" in self.base:
            return "dpas"
        if self.base == "sync":
            return "sync"
        if self.base in _JUMPS:
            return "jump"
        return "message" if re.match(r"load|store|send|fence|atomic|barrier|signal", self.base) else "alu"

    def _read_waits(self, notes: list[str], rest: str) -> None:
        """Scoreboards, as `{F@2,$3.dst,$4}`."""
        self.atomic = "Atomic" in notes
        self.waits: list[tuple[str, int]] = []
        self.token: int | None = None
        for note in notes:
            if distance := re.fullmatch(r"([A-Z]?)@(\d+)", note):
                self.waits.append((distance[1] or "same", int(distance[2])))
            elif token := re.fullmatch(r"\$(\d+)(?:\.(dst|src))?", note):
                if token[2]:
                    self.waits.append((token[2], int(token[1])))
                else:
                    self.token = int(token[1])
        if self.base == "sync" and (tokens := re.search(r"\(([$\d,]+)\)", rest)):
            kind = "dst" if "allwr" in self.op else "src"
            self.waits += [(kind, int(each)) for each in re.findall(r"\d+", tokens[1])]
        self.waits_for_all = self.base == "sync" and "all" in self.op and "$" not in rest

    def _read_product(self) -> None:
        shape = re.search(r"dpasw?\.(\d+)x(\d+)", self.op)
        assert shape
        depth, self.repeat = int(shape[1]), int(shape[2])
        bits = max(_OPERANDS.get(each.rpartition(":")[2], 4) for each in self.args[2:4])
        self.flops = 2 * self.lanes * depth * self.repeat * (32 // bits)

    def _read_message(self, rest: str) -> None:
        space = "slm" if ".slm" in self.op else "memory"
        if "gtwy" in self.op or "barrier" in self.base:
            space = "gateway"
        loads = self.base.startswith("load")
        if "fence" in self.base or space == "gateway":
            self.message = "fence" if "fence" in self.base else "gateway"
        else:
            kind = ("prefetch" if rest.startswith("null") else "load") if loads else "store"
            self.message = ("slm_" if space == "slm" else "") + kind
        # Lengths in registers: 31 is written for 32. A store's data stand behind its address.
        length = re.search(r"^r\d+:(\d+)" if loads else r"\]\s*r\d+:(\d+)", rest)
        if not length and self.base == "send":
            length = re.search(r"rd:(\d+)", self.comment)
            if space == "memory":
                self.message = "load" if length and int(length[1]) else "store"
        self.bytes = REGISTER * (32 if length[1] == "31" else int(length[1])) if length else 0
        self.lines = -(-self.bytes // REGISTER)
        self.block = "block2d" in self.base
        if place := re.search(r"\[r(\d+):\d+(?:\+\((-?\w+),(-?\w+)\))?", rest):
            self.address = int(place[1])
            self.offset = int(place[2] or "0", 0), int(place[3] or "0", 0)
        if self.lanes > 1 and not self.block:
            self.lines = max(self.lines, self.lanes // 4)  # scattered: a guess
        self.element = _ELEMENTS.get(next((part for part in self.op.split(".") if part in _ELEMENTS), "d16"), 16) // 8
