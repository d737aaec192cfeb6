# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MLIR's generic form as text: finds operations, their operands, results and types, without building IR.

Working on text means that a wrong edit is refused by the parser, not an abort in the middle of the edit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_OP = re.compile(r'^\s*(?:(%[\w#:, %]+?) = )?"([\w.$-]+)"\(([^()]*)\)')
_TYPES = re.compile(r": \((.*)\) -> (.*)$")


@dataclass
class Op:
    """Lines `first` to `last` (included) of the text, in a block of ops at `depth`."""

    first: int
    last: int
    name: str
    results: list[str]
    operands: list[str]
    depth: int
    parent: str = ""
    is_terminator: bool = False
    operand_types: list[str] = field(default_factory=list)
    result_types: list[str] = field(default_factory=list)

    @property
    def has_region(self) -> bool:
        return self.last > self.first


def split_types(text: str) -> list[str]:
    """The pieces between commas outside of all brackets."""
    pieces, depth, start = [], 0, 0
    previous = ""
    for place, sign in enumerate(text):
        if sign in "<([{":
            depth += 1
        elif sign in ">)]}" and not (sign == ">" and previous == "-"):
            depth -= 1
        elif sign == "," and depth == 0:
            pieces.append(text[start:place].strip())
            start = place + 1
        previous = sign
    pieces.append(text[start:].strip())
    return [piece for piece in pieces if piece]


def parse(text: str) -> list[Op]:
    """All operations, outer ones first."""
    ops: list[Op] = []
    open_: list[Op] = []
    for number, line in enumerate(text.splitlines()):
        head = _OP.match(line)
        if head:
            results = []
            for result in (head[1] or "").replace(" ", "").split(","):
                name, _, count = result.partition(":")
                results += (
                    [f"{name}#{i}" for i in range(min(int(count), 64))] if count.isdigit() else [name] * bool(name)
                )
            operands = [operand.strip() for operand in head[3].split(",") if operand.strip()]
            parent = open_[-1].name if open_ else ""
            op = Op(number, number, head[2], results, operands, len(open_), parent)
            ops.append(op)
            if line.rstrip().endswith("({"):
                open_.append(op)
                continue
        elif re.match(r"^\s*\}\)", line) and open_:
            op = open_.pop()
            op.last = number
        else:
            continue
        types = _TYPES.search(line)
        if types:
            op.operand_types = split_types(types[1])
            outs = types[2].strip()
            op.result_types = split_types(outs[1:-1] if outs.startswith("(") and outs.endswith(")") else outs)
            if len(op.results) != len(op.result_types):
                op.result_types = []
    rows = text.splitlines()
    for op in ops:
        following = rows[op.last + 1].strip() if op.last + 1 < len(rows) else ""
        op.is_terminator = following.startswith(("}", "^")) and not op.results
    return ops


def values(text: str, ops: list[Op]) -> list[tuple[int, str, str]]:
    """(line, name, type) of every value: results and block arguments."""
    found = []
    for number, line in enumerate(text.splitlines()):
        block = re.match(r"^\s*\^bb\d+\((.*)\):\s*$", line)
        if block:
            for argument in split_types(block[1]):
                name, _, type_ = argument.partition(": ")
                found.append((number, name, type_))
    for op in ops:
        found += [(op.first, name, type_) for name, type_ in zip(op.results, op.result_types, strict=False)]
    return sorted(found)


def rename(text: str, old: str, new: str) -> str:
    """`text` with every use of the value `old` replaced."""
    return re.sub(re.escape(old) + r"(?![\w#])", new, text)
