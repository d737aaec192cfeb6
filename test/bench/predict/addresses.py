# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where block messages of a kernel go: scalar code is followed for one subgroup of one workgroup.

Their ids are known (r0.1, r0.6, r0.7, r0.2), and values are affine forms {symbol: factor} with a constant under "", so
that each message has its rows and columns in each turn of a loop.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from instructions import REGISTER, Instruction, size_of

Form = dict[str, int]
KNOWN = frozenset({""})


def _place(operand: str) -> tuple[int, int, bool, int] | None:
    """Address in the register file, bytes, sign and step in bytes of a register operand; None if it is none."""
    found = re.match(r"^-?\(?-?(?:\(abs\))?r(\d+)(?:\.(\d+))?(?:<([^>]*)>)?(?::(\w+))?", operand)
    if not found:
        return None
    size = size_of(f":{found[4] or 'ud'}")
    # <step>, <vertical;horizontal> or <vertical;width,horizontal>
    region = [int(each) for each in re.findall(r"\d+", found[3] or "1")]
    if len(region) == 1 or (len(region) == 3 and region[1] == 1):
        step = region[0]
    else:
        step = max(region[0], region[1]) if len(region) == 2 else region[2]
    signed = not (found[4] or "ud").startswith("u")
    return int(found[1]) * REGISTER + int(found[2] or 0) * size, size, signed, step * size


def _constant(operand: str) -> int | None:
    found = re.match(r"^(-?0x[0-9A-Fa-f]+|-?\d+):\w+$", operand)
    return int(found[1], 0) if found else None


def add(forms: Sequence[Form]) -> Form:
    """The sum of affine forms."""
    total: Counter[str] = Counter()
    for form in forms:
        total.update(form)
    return {symbol: factor for symbol, factor in total.items() if factor or symbol == ""}


def _is_known(form: Form) -> bool:
    return KNOWN.issuperset(form)


class Registers:
    """What scalar integer code of a subgroup has computed: numbers, or affine forms of what is not known."""

    def __init__(self, group: tuple[int, ...], subgroup: int) -> None:
        ids = ((1, group[0]), (6, group[1]), (7, group[2]), (2, subgroup))
        self._at: dict[int, tuple[int, Form]] = {word * 4: (4, {"": value}) for word, value in ids}

    def _read(self, operand: str, lane: int) -> Form:
        if (number := _constant(operand)) is not None:
            return {"": number}
        place = _place(operand)
        if place is None:
            return {operand: 1}
        address, size, signed, step = place
        value = self._load(address + lane * step, size)
        if _is_known(value) and size < 8:
            number = value.get("", 0) & ((1 << 8 * size) - 1)
            value = {"": number - (1 << 8 * size) if signed and number >> (8 * size - 1) else number}
        return {symbol: -factor for symbol, factor in value.items()} if operand.startswith("-") else value

    def _load(self, address: int, size: int) -> Form:
        if address in self._at and self._at[address][0] >= size:
            return self._at[address][1]
        for low in (address & ~7, address & ~3):
            if low in self._at and low + self._at[low][0] >= address + size:
                value = self._at[low][1]
                if _is_known(value):
                    return {"": value.get("", 0) >> 8 * (address - low)}
                return value if low == address else {f"part {address - low} of {sorted(value.items())}"[:200]: 1}
        if size == 8:
            low_half, high_half = self._load(address, 4), self._load(address + 4, 4)
            if any(symbol.startswith("part 4 of") for symbol in high_half):
                return low_half
            if _is_known(low_half) and _is_known(high_half):
                return {"": low_half.get("", 0) & 0xFFFFFFFF | high_half.get("", 0) << 32}
        return {f"r{address // REGISTER}.{address % REGISTER}": 1}

    def _store(self, address: int, size: int, value: Form) -> None:
        for other in range(address - 7, address + size):
            if other in self._at and other + self._at[other][0] > address:
                del self._at[other]
        if size == 8 and _is_known(value):
            number = value.get("", 0)
            self._at[address] = (4, {"": number & 0xFFFFFFFF})
            self._at[address + 4] = (4, {"": number >> 32 & 0xFFFFFFFF})
        else:
            self._at[address] = (size, value)

    def step(self, instruction: Instruction) -> None:
        """What is known after an instruction."""
        if instruction.kind in ("jump", "sync", "dpas") or not instruction.args:
            return
        if instruction.kind == "message":
            target = re.match(r"^r(\d+):(\d+)", instruction.args[0])
            if target and instruction.base.startswith("load"):
                for word in range(0, min(instruction.bytes, 256), 4):
                    name = f"loaded {instruction.text.strip()[:40]} {word}"
                    self._store(int(target[1]) * REGISTER + word, 4, {name: 1})
            return
        # Arithmetic on all lanes holds no addresses of blocks; copies of r0 do.
        all_lanes = instruction.lanes > 8 or "acc" in instruction.args[0]
        if all_lanes and not (instruction.base == "mov" and instruction.lanes == 16 and "r0.0" in instruction.args[1]):
            return
        place = _place(instruction.args[0])
        if place is None:
            return
        for lane in range(instruction.lanes):
            operands = [self._read(each, lane) for each in instruction.args[1:]]
            value = _value(instruction, operands)
            if value is None or len(value) > 8:
                value = {f"{instruction.base} {[sorted(each.items()) for each in operands]}"[:300]: 1}
            self._store(place[0] + lane * place[3], place[1], value)

    def payload(self, message: Instruction) -> tuple[object, Form, Form, int | None]:
        """Base, column and row of a message (with its immediate offsets), and the shape of a block."""
        assert message.address is not None
        at = message.address * REGISTER
        base = tuple(sorted(self._load(at, 8).items()))
        if not message.block:
            return base, {"": message.offset[0]}, {"": 0}, None
        column, row, shape = (self._load(at + word * 4, 4) for word in (5, 6, 7))
        return (
            base,
            add([column, {"": message.offset[0]}]),
            add([row, {"": message.offset[1]}]),
            shape.get("") if _is_known(shape) else None,
        )


def _value(instruction: Instruction, operands: list[Form]) -> Form | None:
    """What it computes; None if that is no affine form."""
    numbers = [each.get("", 0) for each in operands]
    base = instruction.base
    if base == "mov":
        return operands[0]
    if base in ("add", "add3"):
        return add(operands)
    if base == "shl" and _is_known(operands[1]):
        return {symbol: factor << numbers[1] for symbol, factor in operands[0].items()}
    if base == "mul" and _is_known(operands[1]):
        return {symbol: factor * numbers[1] for symbol, factor in operands[0].items()}
    if base == "mad" and _is_known(operands[2]):
        return add([operands[0], {symbol: factor * numbers[2] for symbol, factor in operands[1].items()}])
    if not all(map(_is_known, operands)):
        return add(operands) if base == "or" else None  # of parts that do not meet: assumed
    if base == "bfn":
        return _logic(instruction.op.partition("(")[2].rpartition(")")[0], numbers)
    if base in ("and", "or", "xor", "shr", "asr"):
        first, second = numbers[:2]
        return {
            "": {
                "and": first & second, "or": first | second, "xor": first ^ second,
                "shr": (first & 0xFFFFFFFF) >> (second & 63), "asr": first >> (second & 63),
            }[base]
        }  # fmt: skip
    return None


def _logic(said: str, numbers: list[int]) -> Form | None:
    """A function of bits of three numbers, as `s0&s1|s2`."""
    if not re.fullmatch(r"[s012&|^~()]+", said):
        return None
    names = {f"s{i}": number for i, number in enumerate(numbers)}
    return {"": eval(said, {"__builtins__": {}}, names)}
