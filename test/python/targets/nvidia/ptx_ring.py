# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs PTX of kernels with a ring of tiles on this CPU: TMA, mbarriers, named barriers, cp.async and mma.sync of tf32.

As ptx_machine, whose code runs all else. A copy of TMA is done when it begins. Threads that wait for a barrier go on
when it has changed, those at an instruction of a whole warp when all of it is there; RuntimeError if all wait. There is
no wgmma. mma.sync cuts its operands to tf32, and its sums to f32, as the matrix unit does; in which order that adds up
is not known, and here the sum of a product is exact before.
"""

from __future__ import annotations

import itertools
import re
import struct
from dataclasses import dataclass

import numpy as np
import ptx_machine
from ptx_machine import Array, Entry, Memory

MAPS = 1 << 60  # where parameters are, as addresses
WHOLE = ("mma.sync", "bar.warp.sync")  # instructions of all threads of a warp
ELEMENTS = {6: 2, 7: 4, 9: 2, 11: 4}  # bytes, by the driver's numbers


def parse(ptx: str) -> dict[str, Entry]:
    """The kernels by name: an instruction on several lines is one, labels of inline assembly are the kernel's."""
    numbers = itertools.count()

    def outline(block: re.Match[str]) -> str:
        number, inside = next(numbers), block[1]
        inside = re.sub(r"\b(LAB_WAIT|DONE)\b", rf"$\1_{number}", inside)
        inside = re.sub(r"\.reg[^;]*;", "", inside).replace("P1", f"%asm{number}")
        return re.sub(r"[{}]", "", re.sub(r":\s", ":\n", inside))

    ptx = re.sub(r"// begin inline asm(.*?)// end inline asm", outline, ptx, flags=re.S)
    ptx = re.sub(r"(mma\.sync\S*)\s+([^;]*);", lambda found: " ".join(f"{found[1]} {found[2]}".split()) + ";", ptx)
    return ptx_machine.parse(ptx)


@dataclass
class Barrier:
    """An mbarrier: arrivals that are expected, those that lack, bytes on their way, phases that are over."""

    count: int
    lacking: int
    bytes: int = 0
    phases: int = 0

    def arrive(self) -> None:
        self.lacking -= 1

    def advance(self) -> None:
        if self.lacking < 0:
            raise RuntimeError("more arrivals at a barrier than it expects")
        if self.lacking == 0 and self.bytes == 0:
            self.phases, self.lacking = self.phases + 1, self.count


class RingWorkgroup(ptx_machine.Workgroup):
    """The threads of one workgroup."""

    def __init__(self, entry: Entry, sizes: tuple[int, ...], place: tuple[int, ...], parameters: dict[str, bytes],
                 memory: Memory, shared_bytes: int) -> None:  # fmt: skip
        super().__init__(entry, sizes, place, parameters, memory, shared_bytes)
        self.barriers: dict[int, Barrier] = {}
        self.names = {name: MAPS + 4096 * number for number, name in enumerate(parameters)}
        self.blocked = np.zeros(self.count, bool)

    def run(self) -> None:
        places, code = np.zeros(self.count, np.int64), self.entry.code
        ended, held = np.zeros(self.count, bool), np.full(self.count, -1)  # where they wait for their warp
        waiting: dict[int, tuple[int, Array]] = {}  # of a named barrier: threads that it expects, those that are there
        while not ended.all():
            there = np.zeros(self.count, bool)
            for _, threads in waiting.values():
                there |= threads
            together = (held == held.reshape(-1, 32).max(1).repeat(32)) | ended
            held[together.reshape(-1, 32).all(1).repeat(32)] = -1
            active = ~ended & ~there & ~self.blocked & (held < 0)
            if not active.any():
                full = [name for name, (expected, threads) in waiting.items()
                        if threads.sum() == (expected or (~ended).sum())]  # fmt: skip
                if not full:
                    raise RuntimeError("all threads wait")
                for name in full:
                    del waiting[name]
                continue
            at = int(places[active].min())
            self.mask = active & (places == at)
            predicate, operation, operands = code[at]
            if operation.startswith(WHOLE):
                apart = ~(self.mask | ended).reshape(-1, 32).all(1).repeat(32) & self.mask
                held[apart] = at
                self.mask &= ~apart
            places[self.mask] = at + 1
            if predicate:
                taken = self.registers[predicate.lstrip("!")].astype(bool)
                self.mask = self.mask & (~taken if predicate.startswith("!") else taken)
            if operation.startswith("bra"):
                places[self.mask] = self.entry.labels[operands[0]]
            elif operation.startswith("bar.sync"):
                names = self.bits(operands[0])
                for name in np.unique(names[self.mask]):
                    before = waiting.get(int(name), (0, np.zeros(self.count, bool)))[1]
                    count = int(self.bits(operands[1])[0]) if len(operands) > 1 else 0
                    waiting[int(name)] = count, before | self.mask & (names == name)
            elif operation == "ret":
                ended |= self.mask
            elif self.mask.any():
                self.execute(operation, operands)

    def bits(self, operand: str) -> Array:
        if operand in self.names:
            return np.full(self.count, self.names[operand], np.uint64)
        return super().bits(operand)

    def execute(self, operation: str, operands: list[str]) -> None:
        name = operation.split(".")[0]
        if name in ("fence", "prefetch", "setmaxnreg") or operation.startswith("bar.warp.sync"):
            return
        if name == "mbarrier":
            self.mbarrier(operation.split("."), operands)
        elif operation.startswith("cp.async.bulk.tensor"):
            for thread in np.nonzero(self.mask)[0]:
                self.copy_tile(thread, operation, operands)
        elif operation.startswith(("cp.async.ca", "cp.async.cg")):
            self.copy_unit(operands)
        elif operation.startswith("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"):
            self.multiply(operands)
        elif operation.startswith("stmatrix.sync.aligned.m8n8"):
            self.store_matrices(operands)
        elif not operation.startswith("cp.async"):
            super().execute(operation, operands)

    def access(self, name: str, suffixes: list[str], operands: list[str]) -> None:
        if "param" in suffixes and "%" in operands[-1]:
            offset = int(self.address(operands[-1])[self.mask][0]) - MAPS
            operands = [operands[0], f"[{list(self.parameters)[offset // 4096]}+{offset % 4096}]"]
        super().access(name, suffixes, operands)

    def mbarrier(self, parts: list[str], operands: list[str]) -> None:
        # The one with an address: others are a predicate, a count, bytes or a parity.
        where = next(number for number, operand in enumerate(operands) if operand.startswith("["))
        addresses, rest = self.address(operands[where]) % 2**32, operands[where + 1 :]
        for thread in np.nonzero(self.mask)[0]:
            address = int(addresses[thread])
            if parts[1] == "init":
                count = int(self.bits(rest[0])[thread])
                self.barriers[address] = Barrier(count, count)
                continue
            barrier = self.barriers[address]
            if parts[1] == "arrive":
                barrier.bytes += int(self.bits(rest[0])[thread]) if "expect_tx" in parts else 0
                barrier.arrive()
                self.change(barrier)
            else:
                assert parts[1] == "try_wait", parts
                over = barrier.phases % 2 != int(self.bits(rest[0])[thread]) % 2
                whole, self.mask = self.mask, np.arange(self.count) == thread
                self.put(operands[0], np.full(self.count, over))
                self.mask = whole
                self.blocked[thread] = not over

    def change(self, barrier: Barrier) -> None:
        barrier.advance()
        self.blocked[:] = False

    def copy_tile(self, thread: int, operation: str, operands: list[str]) -> None:
        """TMA, with the swizzle of 128 bytes."""
        stores = ".global.shared" in operation
        described, tile = (operands[0], operands[1]) if stores else (operands[1], operands[0])
        map_, coordinates = re.fullmatch(r"\[(%\w+), \{(.*)\}\]", described).groups()  # type: ignore[union-attr]
        first = [
            int(self.bits(each.strip())[thread].astype(np.uint32).view(np.int32)) for each in coordinates.split(",")
        ]
        number = (int(self.bits(map_)[thread]) - MAPS) // 4096
        facts = struct.unpack("<Q5Q4Q3I5I", self.parameters[list(self.parameters)[number]][:112])
        address, sizes, strides, (rank, kind, swizzle), box = (
            facts[0], facts[1:6], facts[6:10], facts[10:13], facts[13:18]
        )  # fmt: skip
        assert swizzle == 3 and rank == len(first)
        size = ELEMENTS[kind]
        places = np.indices(tuple(reversed(box[:rank]))).reshape(rank, -1)[::-1]  # the innermost first
        inside, source = np.ones(places.shape[1], bool), np.full(places.shape[1], address, np.int64)
        for dim in range(rank):
            at = places[dim] + first[dim]
            inside &= (at >= 0) & (at < sizes[dim])
            source += at * (size if dim == 0 else strides[dim - 1])
        target = int(self.address(tile)[thread]) % 2**32 + np.arange(places.shape[1]) * size
        target ^= target >> 7 << 4 & 0x70
        shared, away = self.shared, source[inside].astype(np.uint64)
        if stores:
            self.memory.store(away, shared.load(target[inside].astype(np.uint64), size))
            return
        values = np.zeros((len(target), size), np.uint8)
        values[inside] = self.memory.load(away, size)
        shared.store(target.astype(np.uint64), values)
        barrier = self.barriers[int(self.address(operands[2])[thread]) % 2**32]
        barrier.bytes -= values.size
        self.change(barrier)

    def copy_unit(self, operands: list[str]) -> None:
        """cp.async: what is behind the bytes that are read is zero."""
        target, source = (self.address(operand)[self.mask] for operand in operands[:2])
        size = int(operands[2])
        read = self.bits(operands[3])[self.mask].astype(np.int64)
        assert np.isin(read, (0, size)).all()
        values = np.zeros((len(target), size), np.uint8)
        values[read > 0] = self.memory.load(source[read > 0], size)
        self.shared.store(target % np.uint64(2**32), values)

    def store_matrices(self, operands: list[str]) -> None:
        """stmatrix: eight threads have the addresses of a matrix's rows, four their words each."""
        rows = (self.address(operands[0]) % np.uint64(2**32)).reshape(-1, 32)[self.mask.reshape(-1, 32).all(1)]
        lane = np.arange(32)
        for number, register in enumerate(operands[1].strip("{}").replace(" ", "").split(",")):
            words = self.bits(register).astype(np.uint32)[self.mask]
            places = rows[:, 8 * number + lane // 4] + (4 * (lane % 4)).astype(np.uint64)
            self.shared.store(places.reshape(-1), words.view(np.uint8).reshape(-1, 4))

    def multiply(self, operands: list[str]) -> None:
        warps = self.mask.reshape(-1, 32)
        assert (warps.all(1) | ~warps.any(1)).all(), "a part of a warp multiplies"
        names = [operand.strip("{}").replace(" ", "").split(",") for operand in operands]
        lane = np.arange(32)
        group, own = lane // 4, lane % 4

        def words(register: str) -> Array:
            return self.bits(register).astype(np.uint32).reshape(-1, 32)

        def cut(register: str) -> Array:
            return (words(register) & np.uint32(0xFFFFE000)).view(np.float32)

        count = len(warps)
        a, b, c = (np.zeros((count, *shape)) for shape in ((16, 8), (8, 8), (16, 8)))
        for number, register in enumerate(names[1]):
            a[:, group + 8 * (number % 2), own + 4 * (number // 2)] = cut(register)
        for number, register in enumerate(names[2]):
            b[:, own + 4 * number, group] = cut(register)
        for number, register in enumerate(names[3]):
            c[:, group + 8 * (number // 2), 2 * own + number % 2] = words(register).view(np.float32)
        with np.errstate(all="ignore"):
            d = cut_sums(c + a @ b)
        for number, register in enumerate(names[0]):
            self.put(register, d[:, group + 8 * (number // 2), 2 * own + number % 2].reshape(-1))


def cut_sums(sums: Array) -> Array:
    """Numbers of f64 as f32, towards zero; infinite where they are beyond its range."""
    near = sums.astype(np.float32)
    larger = np.abs(near.astype(np.float64)) > np.abs(sums)
    return np.where(larger & (np.abs(sums) < 2.0**128), np.nextafter(near, np.float32(0)), near)


def launch(
    entry: Entry, sizes: tuple[int, ...], shared_bytes: int, parameters: dict[str, bytes], memory: Memory
) -> None:
    """Runs all workgroups, one after the other; `sizes` are those of the grid, then of a workgroup."""
    for z, y, x in itertools.product(range(sizes[2]), range(sizes[1]), range(sizes[0])):
        RingWorkgroup(entry, sizes, (x, y, z), parameters, memory, shared_bytes).run()
