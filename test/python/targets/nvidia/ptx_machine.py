# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs PTX of kernels without matrix units on this CPU: all threads of a workgroup at once, as NumPy arrays.

Threads that have taken different branches go on with the one that is least far in the code, and meet there again; what
they read and write has to be within what was allocated. `bar.sync` waits for all threads that have not ended. There
are no wgmma, TMA, mbarriers and atomics: NotImplementedError names what is not there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np

DTYPES: dict[str, type] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    **{f"u{bits}": getattr(np, f"uint{bits}") for bits in (8, 16, 32, 64)},
    **{f"s{bits}": getattr(np, f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"b{bits}": getattr(np, f"uint{bits}") for bits in (8, 16, 32, 64)},
}
WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
Array = np.ndarray


def to_bits(values: Array) -> Array:
    """As they are in a register."""
    return np.ascontiguousarray(values).view(WORDS[values.dtype.itemsize]).astype(np.uint64)


def of_bits(bits: Array, dtype: type) -> Array:
    return bits.astype(WORDS[np.dtype(dtype).itemsize]).view(dtype)


@dataclass
class Entry:
    """A kernel: sizes of its parameters, its code and where labels are."""

    name: str
    parameters: dict[str, int] = field(default_factory=dict)
    code: list[tuple[str, str, list[str]]] = field(default_factory=list)  # predicate, operation, operands
    labels: dict[str, int] = field(default_factory=dict)


def parse(ptx: str) -> dict[str, Entry]:
    """The kernels by name."""
    found = {}
    for text in re.split(r"\.visible \.entry ", ptx)[1:]:
        name, rest = re.match(r"(\w+)\((.*)", text, re.S).groups()  # type: ignore[union-attr]
        head, body = rest.split("{", 1)
        entry = Entry(name)
        for parameter in re.finditer(
            r"\.param \.(?:align \d+ )?\.?([bufs]\d+)?[^,\n]*?(\w+_param_\d+)(\[\d+\])?", head
        ):
            size = int(parameter[1][1:]) // 8 if parameter[1] else 8
            entry.parameters[parameter[2]] = size * int((parameter[3] or "[1]")[1:-1])
        for line in re.sub(r"//.*", "", body).split("\n"):
            line = line.strip().rstrip(";")
            if label := re.fullmatch(r"(\$\w+):", line):
                entry.labels[label[1]] = len(entry.code)
            elif line == "}":
                break
            elif line and not line.startswith("."):
                predicate, operation, operands = re.match(r"(?:@(\S+)\s+)?(\S+)\s*(.*)", line).groups()  # type: ignore[union-attr]
                pieces = re.findall(r"\{[^}]*\}|\[[^]]*\]|[^,\s]+(?:\|[^,\s]+)?", operands)
                entry.code.append((predicate or "", operation, pieces))
        found[name] = entry
    return found


class Memory:
    """What was allocated, by address."""

    def __init__(self, pieces: list[tuple[int, Array]]) -> None:
        pieces = sorted(pieces, key=lambda piece: piece[0])
        self.starts = np.array([start for start, _ in pieces], np.uint64)
        self.arrays = [array for _, array in pieces]

    def _each(self, addresses: Array, size: int) -> list[tuple[Array, Array, Array]]:
        which = np.searchsorted(self.starts, addresses, "right") - 1
        if len(which) and which.min() < 0:
            raise IndexError("an access before all memory")
        found = []
        for piece in np.unique(which):
            chosen = np.nonzero(which == piece)[0]
            places = (addresses[chosen] - self.starts[piece]).astype(np.int64)
            if places.max() + size > len(self.arrays[piece]):
                raise IndexError(f"an access {places.max() + size - len(self.arrays[piece])} bytes behind an array")
            if (addresses[chosen] % np.uint64(size)).any():
                raise IndexError("a misaligned access")
            found.append((chosen, places, self.arrays[piece]))
        return found

    def load(self, addresses: Array, size: int) -> Array:
        """As bytes, a row for each address."""
        result = np.zeros((len(addresses), size), np.uint8)
        for chosen, places, array in self._each(addresses, size):
            result[chosen] = array[places[:, None] + np.arange(size)]
        return result

    def store(self, addresses: Array, values: Array) -> None:
        size = values.shape[1]
        for chosen, places, array in self._each(addresses, size):
            array[places[:, None] + np.arange(size)] = values[chosen]


class Workgroup:
    """The threads of one workgroup."""

    def __init__(self, entry: Entry, sizes: tuple[int, ...], place: tuple[int, ...], parameters: dict[str, bytes],
                 memory: Memory, shared_bytes: int) -> None:  # fmt: skip
        self.entry, self.memory, self.parameters = entry, memory, parameters
        self.shared = Memory([(0, np.full(max(shared_bytes, 1), 0xFF, np.uint8))])
        self.count = sizes[3]
        self.registers: dict[str, Array] = {}
        self.special = {"%tid.x": np.arange(self.count, dtype=np.uint64)}
        for dimension, axis in enumerate("xyz"):
            self.special[f"%ctaid.{axis}"] = np.full(self.count, place[dimension], np.uint64)
            self.special[f"%nctaid.{axis}"] = np.full(self.count, sizes[dimension], np.uint64)

    def run(self) -> None:
        places = np.zeros(self.count, np.int64)
        waiting, ended = np.zeros(self.count, bool), np.zeros(self.count, bool)
        code = self.entry.code
        while not ended.all():
            active = ~ended & ~waiting
            if not active.any():
                waiting[:] = False
                continue
            at = int(places[active].min())
            self.mask = active & (places == at)
            predicate, operation, operands = code[at]
            places[self.mask] = at + 1
            if predicate:
                taken = self.registers[predicate.lstrip("!")].astype(bool)
                self.mask = self.mask & (~taken if predicate.startswith("!") else taken)
            if operation.startswith("bra"):
                places[self.mask] = self.entry.labels[operands[0]]
            elif operation.startswith(("bar.sync", "barrier.sync")):
                waiting |= self.mask
            elif operation == "ret":
                ended |= self.mask
            elif self.mask.any():
                self.execute(operation, operands)

    # Operands ----------------------------------------------------------------------------------------------------
    def bits(self, operand: str) -> Array:
        if operand in self.special:
            return self.special[operand]
        if operand.startswith("%"):
            return self.registers.get(operand, np.zeros(self.count, np.uint64))
        if float_ := re.fullmatch(r"0[fFdD]([0-9A-Fa-f]+)|0x([0-9A-Fa-f]+)U?", operand):
            return np.full(self.count, int(float_[1] or float_[2], 16), np.uint64)
        if re.fullmatch(r"-?\d+", operand):
            return np.full(self.count, int(operand) % 2**64, np.uint64)
        return np.zeros(self.count, np.uint64)  # a name of shared memory, which begins at zero

    def value(self, operand: str, kind: str) -> Array:
        if kind == "pred":
            if re.fullmatch(r"-?\d+", operand):
                return np.full(self.count, operand != "0")
            return self.registers.get(operand, np.zeros(self.count, bool)).astype(bool)
        return of_bits(self.bits(operand), DTYPES[kind])

    def put(self, register: str, values: Array) -> None:
        if values.dtype != bool:
            values = to_bits(values)
        before = self.registers.get(register)
        if before is None:
            before = np.zeros(self.count, values.dtype)
        self.registers[register] = np.where(self.mask, values, before)

    def address(self, operand: str) -> Array:
        base, offset = re.fullmatch(r"\[([^+\]]+)(?:\+(-?\d+))?\]", operand).groups()  # type: ignore[union-attr]
        return self.bits(base) + np.uint64(int(offset or 0) % 2**64)

    # Operations --------------------------------------------------------------------------------------------------
    def execute(self, operation: str, operands: list[str]) -> None:
        name, *suffixes = operation.split(".")
        with np.errstate(all="ignore"):
            if name in ("ld", "st"):
                return self.access(name, suffixes, operands)
            method: Callable[[list[str], list[str]], None] | None = getattr(self, f"do_{name}", None)
            if method:
                return method(suffixes, operands)
            binary = BINARY.get(name) or UNARY.get(name)
            if binary is None:
                raise NotImplementedError(operation)
            kind = suffixes[-1]
            if kind.endswith("x2"):
                raise NotImplementedError(operation)
            sources = [self.value(operand, kind) for operand in operands[1:]]
            if name in ("shl", "shr"):
                sources[1] = self.value(operands[2], "u32").astype(sources[0].dtype)
            if kind == "bf16":
                sources = [source.astype(np.float32) for source in sources]
            result = flushed(binary(*map(flushed, sources))) if "ftz" in suffixes else binary(*sources)
            self.put(operands[0], result.astype(DTYPES[kind]) if kind != "pred" else result)
        return None

    def access(self, name: str, suffixes: list[str], operands: list[str]) -> None:
        count = next((int(each[1:]) for each in suffixes if re.fullmatch(r"v\d", each)), 1)
        size = int(suffixes[-1][1:]) // 8
        where, registers = operands if name == "st" else reversed(operands)
        parts = registers.strip("{}").replace(" ", "").split(",")
        if "param" in suffixes:
            symbol, offset = re.fullmatch(r"\[(\w+)(?:\+(\d+))?\]", where).groups()  # type: ignore[union-attr]
            raw = self.parameters[symbol][int(offset or 0) :]
            for number, part in enumerate(parts):
                bits = int.from_bytes(raw[number * size : (number + 1) * size], "little")
                self.put(part, np.full(self.count, bits, np.uint64))
            return
        memory = self.shared if "shared" in suffixes else self.memory
        if "global" not in suffixes and "shared" not in suffixes:
            raise NotImplementedError(".".join([name, *suffixes]))
        addresses = self.address(where)[self.mask]
        if name == "ld":
            found = memory.load(addresses, size * count)
            for number, part in enumerate(parts):
                values = np.zeros(self.count, np.uint64)
                own = np.ascontiguousarray(found[:, number * size : (number + 1) * size])
                signed = suffixes[-1].startswith("s")
                word = own.view(WORDS[size])[:, 0]
                values[self.mask] = word.view(DTYPES[suffixes[-1]]).astype(np.int64).view(np.uint64) if signed else word
                self.put(part, values)
            return
        words = [self.bits(part).astype(WORDS[size])[self.mask] for part in parts]
        memory.store(addresses, np.ascontiguousarray(np.stack(words, 1)).view(np.uint8).reshape(len(addresses), -1))

    def do_mov(self, suffixes: list[str], operands: list[str]) -> None:
        if suffixes[-1] == "pred":
            return self.put(operands[0], self.value(operands[1], "pred"))
        bits = int(suffixes[-1][1:])
        if operands[0].startswith("{"):
            parts = operands[0].strip("{}").replace(" ", "").split(",")
            step = bits // len(parts)
            for number, part in enumerate(parts):
                word = (self.bits(operands[1]) >> np.uint64(step * number)) & np.uint64(2**step - 1)
                if part != "_":
                    self.put(part, word)
            return None
        if operands[1].startswith("{"):
            parts = operands[1].strip("{}").replace(" ", "").split(",")
            step = bits // len(parts)
            total = np.zeros(self.count, np.uint64)
            for number, part in enumerate(parts):
                total |= (self.bits(part) & np.uint64(2**step - 1)) << np.uint64(step * number)
            return self.put(operands[0], total)
        self.put(operands[0], self.bits(operands[1]))
        return None

    def do_cvta(self, suffixes: list[str], operands: list[str]) -> None:
        self.put(operands[0], self.bits(operands[1]))

    def do_setp(self, suffixes: list[str], operands: list[str]) -> None:
        kind, compare = suffixes[-1], suffixes[0]
        left, r = (self.value(operand, kind) for operand in operands[1:3])
        unordered = False
        if kind in ("f16", "bf16", "f32", "f64"):
            left, r = left.astype(np.float64), r.astype(np.float64)
            unordered = np.isnan(left) | np.isnan(r)
        found = {"num": ~np.asarray(unordered), "nan": unordered}.get(compare)
        if found is None:
            base = compare[:-1] if compare.endswith("u") and compare != "u" else compare
            base = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}.get(base, base)
            found = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
                     "ge": np.greater_equal}[base](left, r)  # fmt: skip
            if compare == "ne":
                found = found & ~np.asarray(unordered)
            elif compare.endswith("u") and base != compare:
                found = found | unordered
        self.put(operands[0], np.broadcast_to(np.asarray(found, bool), (self.count,)))

    def do_selp(self, suffixes: list[str], operands: list[str]) -> None:
        chosen = self.value(operands[3], "pred")
        self.put(operands[0], np.where(chosen, self.bits(operands[1]), self.bits(operands[2])))

    def do_cvt(self, suffixes: list[str], operands: list[str]) -> None:
        to, of = suffixes[-2:]
        if to.endswith("x2"):
            high, low = (to_bits(self.value(each, of).astype(DTYPES[to[:-2]])) for each in operands[1:3])
            return self.put(operands[0], high << np.uint64(16) | low)
        source = self.value(operands[1], of)
        if "f" in to and "f" in of:
            rounding = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
            for name, round_ in rounding.items():
                source = round_(source) if name in suffixes else source
            source = np.clip(source, 0, 1) if "sat" in suffixes else source
        elif "f" in of:
            wide = source.astype(np.float64)
            rounded = {"rni": np.rint, "rmi": np.floor, "rpi": np.ceil}.get(suffixes[0], np.trunc)(wide)
            limits = np.iinfo(DTYPES[to])
            clipped = np.clip(np.nan_to_num(rounded, nan=0.0), float(limits.min), float(limits.max))
            top = rounded >= float(limits.max)
            source = np.where(top, limits.max, np.where(top, 0, clipped).astype(DTYPES[to]))
        self.put(operands[0], source.astype(DTYPES[to]))
        return None

    def do_mul(self, suffixes: list[str], operands: list[str]) -> None:
        kind = suffixes[-1]
        left, r = (self.value(operand, kind) for operand in operands[1:3])
        if "wide" in suffixes:
            wider = DTYPES[kind[0] + str(2 * int(kind[1:]))]
            return self.put(operands[0], left.astype(wider) * r.astype(wider))
        if "hi" in suffixes:
            bits = int(kind[1:])
            product = [int(x) * int(y) >> bits for x, y in zip(left, r, strict=True)]
            return self.put(
                operands[0], np.array([each % 2**bits for each in product], np.uint64).astype(WORDS[bits // 8])
            )
        if kind == "bf16":
            return self.put(operands[0], (left.astype(np.float32) * r.astype(np.float32)).astype(DTYPES[kind]))
        self.put(operands[0], left * r)
        return None

    def do_mad(self, suffixes: list[str], operands: list[str]) -> None:
        self.do_mul(suffixes, ["%mad", *operands[1:3]])
        kind = suffixes[-1] if "wide" not in suffixes else suffixes[-1][0] + str(2 * int(suffixes[-1][1:]))
        self.put(operands[0], self.value("%mad", kind) + self.value(operands[3], kind))

    def do_fma(self, suffixes: list[str], operands: list[str]) -> None:
        kind = suffixes[-1]
        if kind.endswith("x2"):
            raise NotImplementedError("fma of pairs")
        wide = np.longdouble if kind == "f64" else np.float64
        x, y, z = (self.value(operand, kind).astype(wide) for operand in operands[1:4])
        self.put(operands[0], (x * y + z).astype(DTYPES[kind]))

    def do_shfl(self, suffixes: list[str], operands: list[str]) -> None:
        lanes = np.arange(self.count)
        other = self.bits(operands[2]).astype(np.int64)
        if "bfly" in suffixes:
            source = lanes ^ other
        elif "idx" in suffixes:
            source = lanes // 32 * 32 + other
        elif "up" in suffixes:
            source = np.where(lanes % 32 >= other, lanes - other, lanes)
        else:
            raise NotImplementedError("shfl." + ".".join(suffixes))
        self.put(operands[0].split("|")[0], self.bits(operands[1])[source % self.count])

    def do_testp(self, suffixes: list[str], operands: list[str]) -> None:
        value = self.value(operands[1], suffixes[-1])
        self.put(operands[0], {"infinite": np.isinf, "finite": np.isfinite, "notanumber": np.isnan}[suffixes[0]](value))

    def do_prmt(self, suffixes: list[str], operands: list[str]) -> None:
        both = self.bits(operands[1]) & np.uint64(2**32 - 1) | self.bits(operands[2]) << np.uint64(32)
        selector = int(self.bits(operands[3])[0])
        total = np.zeros(self.count, np.uint64)
        for byte in range(4):
            total |= (both >> np.uint64(8 * (selector >> 4 * byte & 7)) & np.uint64(255)) << np.uint64(8 * byte)
        self.put(operands[0], total)

    def do_bfe(self, suffixes: list[str], operands: list[str]) -> None:
        value, place, length = (self.bits(operand) for operand in operands[1:4])
        result = value >> place & (np.uint64(1) << length) - np.uint64(1)
        if suffixes[-1].startswith("s"):
            sign = np.uint64(1) << length - np.uint64(1)
            result = (result ^ sign) - sign
        self.put(operands[0], result)

    def do_rem(self, suffixes: list[str], operands: list[str]) -> None:
        left, r = (self.value(operand, suffixes[-1]) for operand in operands[1:3])
        self.put(operands[0], np.fmod(left, np.where(r == 0, 1, r).astype(r.dtype)))

    def do_div(self, suffixes: list[str], operands: list[str]) -> None:
        kind = suffixes[-1]
        left, r = (self.value(operand, kind) for operand in operands[1:3])
        if "f" in kind:
            return self.put(operands[0], left / r)
        r = np.where(r == 0, 1, r).astype(r.dtype)
        quotient = left // r
        if kind.startswith("s"):
            quotient = quotient + ((quotient < 0) & (quotient * r != left))
        self.put(operands[0], quotient.astype(DTYPES[kind]))
        return None

    def _extreme(self, suffixes: list[str], operands: list[str], ordered: Callable, keeps_nan: Callable) -> None:
        kind, is_pair = suffixes[-1].removesuffix("x2"), suffixes[-1].endswith("x2")
        function = keeps_nan if "NaN" in suffixes else ordered

        def extreme(left: Array, r: Array) -> Array:
            left, r = of_bits(left, DTYPES[kind]), of_bits(r, DTYPES[kind])
            if kind == "bf16":
                left, r = left.astype(np.float32), r.astype(np.float32)
            return function(left, r).astype(DTYPES[kind])

        left, r = (self.bits(operand) for operand in operands[1:3])
        if not is_pair:
            return self.put(operands[0], extreme(left, r))
        high = to_bits(extreme(left >> np.uint64(16), r >> np.uint64(16)))
        return self.put(operands[0], to_bits(extreme(left, r)) | high << np.uint64(16))

    def do_max(self, suffixes: list[str], operands: list[str]) -> None:
        self._extreme(suffixes, operands, np.fmax, np.maximum)

    def do_min(self, suffixes: list[str], operands: list[str]) -> None:
        self._extreme(suffixes, operands, np.fmin, np.minimum)


BINARY: dict[str, Callable[..., Array]] = {
    "add": np.add, "sub": np.subtract,
    "shl": lambda x, by: np.where(by < x.dtype.itemsize * 8, x << by % (x.dtype.itemsize * 8), 0),
    "shr": lambda x, by: np.where(
        by < x.dtype.itemsize * 8, x >> by % (x.dtype.itemsize * 8), np.where(x < 0, -1, 0).astype(x.dtype)
    ),
    "copysign": lambda sign, x: np.copysign(x, sign),
}  # fmt: skip
for _name, _of_bits, _of_bools in (
    ("and", np.bitwise_and, np.logical_and),
    ("or", np.bitwise_or, np.logical_or),
    ("xor", np.bitwise_xor, np.logical_xor),
):
    BINARY[_name] = lambda left, r, bits=_of_bits, bools=_of_bools: (bools if left.dtype == bool else bits)(left, r)
UNARY: dict[str, Callable[..., Array]] = {
    "neg": np.negative, "abs": np.abs, "sqrt": np.sqrt, "rcp": lambda x: 1 / x, "rsqrt": lambda x: 1 / np.sqrt(x),
    "ex2": np.exp2, "lg2": np.log2, "sin": np.sin, "cos": np.cos, "tanh": np.tanh,
    "not": lambda x: np.logical_not(x) if x.dtype == bool else np.invert(x),
}  # fmt: skip


def flushed(x: Array) -> Array:
    """Zeros for f32 below the least normal number, as with the suffix ftz."""
    return np.where(np.abs(x) < 2.0**-126, np.copysign(x.dtype.type(0), x), x)


def launch(
    entry: Entry, sizes: tuple[int, ...], shared_bytes: int, parameters: dict[str, bytes], memory: Memory
) -> None:
    """Runs all workgroups, one after the other; `sizes` are those of the grid, then of a workgroup."""
    for z in range(sizes[2]):
        for y in range(sizes[1]):
            for x in range(sizes[0]):
                Workgroup(entry, sizes, (x, y, z), parameters, memory, shared_bytes).run()
