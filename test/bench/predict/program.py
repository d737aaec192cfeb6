# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A kernel's machine code: its hot loop, and the cache lines that each message of it touches in each turn."""

from __future__ import annotations

import re
from collections.abc import Callable

from addresses import Registers
from instructions import REGISTER, Instruction, read

MOST_WAYS = 200
# Base, row and line of a cache line; a message that could not be followed has None.
Lines = set[tuple[object, int, int]]


class Program:
    """One kernel of a dumped file. `loop` has the instructions of a turn of its hot loop."""

    def __init__(self, text: str) -> None:
        name = re.search(r'//\.kernel "?([^"\n]+)', text)
        self.name = name[1].strip() if name else ""
        registers, spill = re.search(r"numGRF=(\d+)", text), re.search(r"//\.spill size (\d+)", text)
        self.registers = int(registers[1]) if registers else 128
        self.spill = int(spill[1]) if spill else 0
        self.code: list[Instruction] = []
        self._labels: dict[str, int] = {}
        for line in text.splitlines():
            if label := re.fullmatch(r"([A-Za-z_]\w*):", line.partition("//")[0].strip()):
                self._labels[label[1]] = len(self.code)
            elif instruction := read(line):
                self.code.append(instruction)
        last = next((n for n, each in enumerate(self.code) if re.search(r"[{,]EOT", each.text)), len(self.code) - 1)
        self.code = self.code[: last + 1]
        self._range = self._hottest()
        self.loop = [self.code[n] for n in self._path()]
        self._read_shapes()

    def _hottest(self) -> tuple[int, int]:
        """The loop with most dpas, the shortest of those; without any the longest loop, or all code."""
        loops = [
            (self._labels[word], end + 1)
            for end, each in enumerate(self.code)
            if each.kind == "jump"
            for word in re.findall(r"\b[A-Za-z_]\w*\b", each.text.partition("//")[0])
            if self._labels.get(word, end + 1) <= end
        ]

        def products(span: tuple[int, int]) -> int:
            return sum(each.kind == "dpas" for each in self.code[slice(*span)])

        best = max(loops, key=lambda span: (products(span), span[0] - span[1]), default=(0, len(self.code)))
        return best if products(best) else max(loops, key=lambda span: span[1] - span[0], default=best)

    def _path(self) -> list[int]:
        """Of the ways through the loop the shortest that has at least half of the dpas and as many prefetches as any:
        rare branches are passed by."""
        start, end = self._range
        ways: list[list[int]] = []
        pending: list[tuple[int, list[int]]] = [(start, [])]
        while pending and len(ways) < MOST_WAYS:
            at, way = pending.pop()
            left = False
            while at < end:
                way.append(at)
                here = self.code[at]
                target = self._target(here)
                sure = "f" not in here.pred
                at += 1
                if target == start:
                    ways.append(way[:])
                    left = sure
                elif target is not None and at <= target < end:
                    if sure:
                        at = target
                    else:
                        pending.append((target, way[:]))
                elif target is not None:
                    left = sure
                if left:
                    break
            if not left:
                ways.append(way)

        def count(way: list[int], fits: Callable[[Instruction], bool]) -> int:
            return sum(fits(self.code[n]) for n in way)

        most = max((count(way, lambda each: each.kind == "dpas") for way in ways), default=0)
        good = [way for way in ways if 2 * count(way, lambda each: each.kind == "dpas") >= most]
        return min(
            good,
            key=lambda way: (-count(way, lambda each: each.message == "prefetch"), len(way)),
            default=list(range(start, end)),
        )

    def _target(self, jump: Instruction) -> int | None:
        """Where a `jmpi` goes."""
        if jump.base != "jmpi":
            return None
        words = re.findall(r"\b[A-Za-z_]\w*\b", " ".join(jump.args))
        return next((self._labels[word] for word in words if word in self._labels), None)

    def _follow(self, group: tuple[int, ...], subgroup: int, turns: int):
        """For each turn of the loop: message -> its payload."""
        registers = Registers(group, subgroup)
        for each in self.code[: self._range[0]]:
            registers.step(each)
        for _ in range(turns):
            turn = {}
            for n, each in enumerate(self.loop):
                if each.kind == "message" and each.address is not None:
                    turn[n] = registers.payload(each)
                registers.step(each)
            yield turn

    def _read_shapes(self) -> None:
        """Rows and bytes of a row of block messages; cache lines that they touch."""
        *_, last = self._follow((0, 0, 0), 0, turns=2)
        for n, (_, _, _, shape) in last.items():
            message = self.loop[n]
            if not message.block or not shape:
                continue
            wide, message.high, count = (shape & 255) + 1, (shape >> 8 & 255) + 1, (shape >> 16 & 15) + 1
            message.row = wide * count * message.element
            if message.message == "prefetch":
                message.bytes = message.row * message.high
            message.lines = message.high * -(-message.row // REGISTER)

    def places(self, group: tuple[int, ...], subgroup: int, turns: int) -> list[dict[int, Lines | None]]:
        """For each turn of a subgroup: message -> the cache lines that it touches."""
        return [
            {n: self._lines(self.loop[n], payload) for n, payload in turn.items()}
            for turn in self._follow(group, subgroup, turns)
        ]

    @staticmethod
    def _lines(message: Instruction, payload) -> Lines | None:
        base, column, row, _ = payload
        if not message.block or not message.row:
            return None
        # What is not known (sizes, strides) names the place together with the pointer.
        unknown = tuple(tuple(sorted((k, v) for k, v in each.items() if k)) for each in (column, row))
        left, top = column.get("", 0) * message.element, row.get("", 0)
        last = (left + message.row - 1) // REGISTER
        return {
            ((base, unknown), top + r, line) for r in range(message.high) for line in range(left // REGISTER, last + 1)
        }
