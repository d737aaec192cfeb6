# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The microbenchmarks of `cpu_calibration` in MLIR: loops around the instructions that a matmul consists of.

Each repeats its work %times, with counts %n, %rows and %pitch, on three flat pieces of memory that begin at a page.
All values come from memory and all results go there, so that nothing is folded away.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["ROWS", "STREAMS", "SUMS", "TILE_PRODUCTS", "TILE_VECTORS", "module_text"]

SUMS = 12
"""Independent sums: more than a multiply-add takes cycles, on two units."""
ROWS, TILE_VECTORS = 6, 4
"""A tile of sums in registers, as the microkernel has them; 16 registers are enough."""
STREAMS = 256
"""Bytes of a row of a panel, and of what is written of a row at a time."""
TILE_PRODUCTS = 64
"""Of tile registers, between a load of sums and their store."""

_LINE, _LINES = 64, 24
_SIGNATURE = (
    "%times: index, %n: index, %rows: index, %pitch: index, "
    "%x: memref<?xi8>, %y: memref<?xi8>, %z: memref<?xi8>"
)  # fmt: skip


def module_text(vector_bits: int, cores: int, *, bf16: bool, int8: bool, tiles: bool, threads: bool) -> str:
    """A module with all kernels; those of dot products, tile registers and threads where asked for."""
    vectors = _Vectors(vector_bits // 8)
    kernels = [
        _function("multiply_add", vectors.chains("vector.fma %a, %b, {0} : " + vectors.f32, vectors.f32, vectors.f32)),
        _function("tile", vectors.tile()),
        _function("read", vectors.read()),
        _function("copy", vectors.copy()),
        _function("write", vectors.write()),
    ]
    if threads:
        kernels.append(_function("fork", _fork(cores)))
    for (name, operation, inputs, sums), there in zip(_DOTS, (bf16, int8), strict=True):
        if there:
            call = f'llvm.call_intrinsic "{operation}"({{0}}, %a, %b) : ({sums}, {inputs}, {inputs}) -> {sums}'
            kernels.append(_function(name, vectors.chains(call, sums, inputs)))
    if tiles:
        for name, operation, element, count, total in _TILES:
            kernels.append(_function(name, _tile_products(operation, element, count, total)))
    return "\n".join(kernels)


_DOTS = [
    ("bf16_dot", "llvm.x86.avx512bf16.dpbf16ps.512", "vector<32xbf16>", "vector<16xf32>"),
    ("int8_dot", "llvm.x86.avx512.vpdpbusd.512", "vector<64xi8>", "vector<16xi32>"),
]
_TILES = [("bf16_tiles", "mulf", "bf16", 32, "f32"), ("int8_tiles", "muli", "i8", 64, "i32")]


def _function(name: str, body: Iterable[str]) -> str:
    lines = [
        f"func.func @{name}({_SIGNATURE}) attributes {{llvm.emit_c_interface}} {{",
        "%one = arith.constant 1 : index",
        *(f"%at{_LINE * number} = arith.constant {_LINE * number} : index" for number in range(_LINES)),
        "scf.for %time = %at0 to %times step %one {",
        *body,
        "}",
        "return",
        "}",
    ]
    return "\n".join(lines)


class _Vectors:
    """Kernels on vectors of so many bytes."""

    def __init__(self, size: int) -> None:
        self.bytes = f"vector<{size}xi8>"
        self.f32 = f"vector<{size // 4}xf32>"
        self.parts = range(0, STREAMS, size)

    def load(self, result: str, place: str, kind: str) -> str:
        """`place` is memory and an index."""
        return (
            f"%{result}_loaded = vector.load {place} : memref<?xi8>, {self.bytes}\n"
            f"%{result} = vector.bitcast %{result}_loaded : {self.bytes} to {kind}"
        )

    def part(self, base: str, part: int) -> str:
        """Defines %{base}_{part}, which is so many bytes behind %{base}."""
        name = f"{base}_{part}"
        return f"%{name}_more = arith.constant {part} : index\n%{name} = arith.addi %{base}, %{name}_more : index"

    def loop(self, sums: str, body: Iterable[str], *, count: int, step: str) -> Iterable[str]:
        """`body` makes %o0 to %o{count} of %i0 to %i{count}, which come from y and go to z; %i goes up to %n."""
        names = ", ".join(f"%i{number} = %s{number}" for number in range(count))
        kinds = ", ".join([sums] * count)
        for number in range(count):
            yield self.load(f"s{number}", f"%y[%at{_LINE * number}]", sums)
        yield f"%r:{count} = scf.for %i = %at0 to %n step {step} iter_args({names}) -> ({kinds}) {{"
        yield from body
        yield f"scf.yield {', '.join(f'%o{number}' for number in range(count))} : {kinds}\n}}"
        for number in range(count):
            yield f"%r{number}_stored = vector.bitcast %r#{number} : {sums} to {self.bytes}"
            yield f"vector.store %r{number}_stored, %z[%at{_LINE * number}] : memref<?xi8>, {self.bytes}"

    def chains(self, operation: str, sums: str, inputs: str) -> Iterable[str]:
        """`operation` on each of `SUMS` sums, n times."""
        yield self.load("a", "%x[%at0]", inputs)
        yield self.load("b", "%x[%at64]", inputs)
        body = [f"%o{number} = {operation.format(f'%i{number}')}" for number in range(SUMS)]
        yield from self.loop(sums, body, count=SUMS, step="%one")

    def tile(self) -> Iterable[str]:
        """n steps of k of a tile of sums. Rows of B are in x, `pitch` apart; each time `rows` bytes later. Rows of A
        are in y, so many steps and a line apart."""
        yield "%later = arith.muli %time, %rows : index"
        body = ["%offset = arith.muli %i, %pitch : index\n%from = arith.addi %offset, %later : index"]
        parts = self.parts[:TILE_VECTORS]
        for part in parts:
            body += [self.part("from", part), self.load(f"b{part}", f"%x[%from_{part}]", self.f32)]
        yield "%four = arith.constant 4 : index\n%filled = arith.muli %n, %four : index"
        yield "%apart = arith.addi %filled, %at64 : index"
        body.append("%along = arith.muli %i, %four : index")
        for row in range(ROWS):
            yield f"%number{row} = arith.constant {row} : index\n%row{row} = arith.muli %number{row}, %apart : index"
            body.append(f"%at_row{row} = arith.addi %row{row}, %along : index")
            body.append(f"%word{row} = vector.load %y[%at_row{row}] : memref<?xi8>, vector<4xi8>")
            body.append(f"%factor{row} = vector.bitcast %word{row} : vector<4xi8> to vector<1xf32>")
            body.append(f"%a{row} = vector.broadcast %factor{row} : vector<1xf32> to {self.f32}")
            for column, part in enumerate(parts):
                number = TILE_VECTORS * row + column
                body.append(f"%o{number} = vector.fma %a{row}, %b{part}, %i{number} : {self.f32}")
        yield from self.loop(self.f32, body, count=ROWS * TILE_VECTORS, step="%one")

    def read(self) -> Iterable[str]:
        """A matrix of `rows` of n bytes, `pitch` apart in x, panel by panel."""
        yield f"%zero = arith.constant dense<0> : {self.bytes}"
        kinds, count = ", ".join([self.bytes] * len(self.parts)), len(self.parts)
        for depth, (size, step, first) in enumerate((("%n", "%at256", "%zero"), ("%rows", "%one", ""))):
            names = ", ".join(f"%i{depth}_{part} = {first or f'%i0_{part}'}" for part in range(count))
            loop = f"scf.for %i{depth} = %at0 to {size} step {step} iter_args({names}) -> ({kinds})"
            yield f"%r{depth}:{count} = {loop} {{"
        yield "%down = arith.muli %i1, %pitch : index\n%from = arith.addi %down, %i0 : index"
        for number, part in enumerate(self.parts):
            yield self.part("from", part)
            yield f"%v{number} = vector.load %x[%from_{part}] : memref<?xi8>, {self.bytes}"
            yield f"%o{number} = arith.ori %i1_{number}, %v{number} : {self.bytes}"
        yield f"scf.yield {', '.join(f'%o{number}' for number in range(count))} : {kinds}\n}}"
        yield f"scf.yield {', '.join(f'%r1#{number}' for number in range(count))} : {kinds}\n}}"
        for number in range(count):
            yield f"vector.store %r0#{number}, %z[%at{_LINE * number}] : memref<?xi8>, {self.bytes}"

    def copy(self) -> Iterable[str]:
        """A matrix of `rows` of n bytes, `pitch` apart in x, to panels in y."""
        yield "%size = arith.muli %rows, %at256 : index"
        yield "scf.for %i = %at0 to %n step %at256 {\n%panel = arith.divui %i, %at256 : index"
        yield "%to = arith.muli %panel, %size : index\nscf.for %row = %at0 to %rows step %one {"
        yield "%start = arith.muli %row, %pitch : index\n%from = arith.addi %start, %i : index"
        yield "%below = arith.muli %row, %at256 : index\n%into = arith.addi %to, %below : index"
        for part in self.parts:
            yield from (self.part("from", part), self.part("into", part))
            yield f"%v{part} = vector.load %x[%from_{part}] : memref<?xi8>, {self.bytes}"
            yield f"vector.store %v{part}, %y[%into_{part}] : memref<?xi8>, {self.bytes}"
        yield "}\n}"

    def write(self) -> Iterable[str]:
        """A matrix of `rows` of n bytes, `pitch` apart in y, tile by tile."""
        yield f"%v = vector.load %x[%at0] : memref<?xi8>, {self.bytes}"
        yield f"%height = arith.constant {ROWS} : index\nscf.for %top = %at0 to %rows step %height {{"
        yield "scf.for %i = %at0 to %n step %at256 {"
        for row in range(ROWS):
            yield f"%down{row} = arith.constant {row} : index\n%row{row} = arith.addi %top, %down{row} : index"
            yield f"%start{row} = arith.muli %row{row}, %pitch : index\n%to{row} = arith.addi %start{row}, %i : index"
            for part in self.parts:
                yield self.part(f"to{row}", part)
                yield f"vector.store %v, %y[%to{row}_{part}] : memref<?xi8>, {self.bytes}"
        yield "}\n}"


def _fork(cores: int) -> Iterable[str]:
    """All threads, each of which writes a byte to a line of its own."""
    yield f"%byte = arith.constant 1 : i8\n%threads = arith.constant {cores} : index"
    yield "scf.parallel (%thread) = (%at0) to (%threads) step (%one) {"
    yield "%place = arith.muli %thread, %at64 : index\nmemref.store %byte, %y[%place] : memref<?xi8>"
    yield "scf.reduce\n}"


def _tile_products(operation: str, element: str, count: int, sums: str) -> Iterable[str]:
    """`TILE_PRODUCTS` products of 2 x 2 tiles of inputs, added to 2 x 2 tiles of sums."""
    kind, total = f"!amx.tile<16x{count}x{element}>", f"!amx.tile<16x16x{sums}>"
    for name, columns, typed, tile in (("x", count, element, kind), ("z", 16, sums, total)):
        shape = f"memref<16x{columns}x{typed}>"
        yield f"%{name}_all = memref.view %{name}[%at0][] : memref<?xi8> to {shape}"
        for number in range(4):
            yield f"%{name}{number} = amx.tile_load %{name}_all[%at0, %at0] : {shape} into {tile}"
    names = [f"%z{number}" for number in range(4)]
    for number in range(TILE_PRODUCTS):
        row, column = divmod(number % 4, 2)
        operands = f"%x{row}, %x{2 + column}, {names[number % 4]}"
        yield f"%t{number} = amx.tile_{operation} {operands} : {kind}, {kind}, {total}"
        names[number % 4] = f"%t{number}"
    for name in names:
        yield f"amx.tile_store %z_all[%at0, %at0], {name} : memref<16x16x{sums}>, {total}"
