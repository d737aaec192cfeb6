# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`make bench`: machine code of programs' kernels beside OpenCL C by hand, by the same ocloc.

usage: program_code.py [--json FILE] [WORD ...]

Counts of instructions, not times, of all rows or those whose names have the words. A kernel is counted whole, for 16 of
its elements: one instruction on all lanes counts 1. Of convolutions and attentions it is the loop with most products,
for 2048 of them, a dpas' work. Bytes that its messages move are told as a multiple of the least, which is each operand
and result once; what caches serve is counted, too. Bytes that it stores are told as a multiple of the result: an
attention's are 1, as scores never reach memory. Exit status 1 if ours spills, or has more instructions than
program_code_kernels.py says.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import workload_kernels
import xetile
from machine_code import CHIPS, HERE, programs
from program_code_kernels import MOST, Bench, benches
from xetile.reports import assembly
from xetile.system import tools

LARGE = "-ze-opt-large-register-file"
BY_HAND, FUSED, KEEPING = "by hand", "fused", "keeps NaN"
# Ours, and the others by hand: products rounded before they are added to something, as ours are; both rounded once;
# with maxima that are NaN where an element is, as ours are.
SIDES = (
    lambda row: row.side not in (BY_HAND, FUSED, KEEPING),
    lambda row: row.side == BY_HAND,
    lambda row: row.side == FUSED,
    lambda row: row.side == KEEPING,
)


@dataclass(frozen=True)
class Row:
    """One side of a kernel on a chip; `each` are instructions for a unit of its work, `moved` the bytes that messages
    load and store, in multiples of the least, and `stored` those that they store, in multiples of the result; NaN where
    a loop does and its rounds are not known."""

    bench: str
    dtype: str
    side: str
    chip: str
    registers: int
    spill_bytes: int
    instructions: int
    each: float
    messages: str
    moved: float = float("nan")
    stored: float = float("nan")

    def bytes_text(self) -> str:
        """Of the bytes that are known."""
        moved = "" if math.isnan(self.moved) else f"moves {self.moved:.2f} of the least  "
        return moved + ("" if math.isnan(self.stored) else f"stores {self.stored:.2f} of the result  ")


def messages(code: assembly.Loop) -> str:
    """How many messages of each kind there are, and the bytes of each."""
    found = defaultdict(list)
    for instruction in code.code:
        if said := instruction.message:
            found[f"{instruction.kind} {said[0]}"].append(said[1])
    spans = {kind: sorted({min(sizes), max(sizes)}) for kind, sizes in found.items()}
    return ", ".join(f"{len(found[kind])} {kind} {'-'.join(map(str, span))}B" for kind, span in sorted(spans.items()))


def least_bytes(payload: str, results: bool = False) -> int:
    """Each operand and the results once, or the `results` alone."""
    head = payload[: payload.index("{")]
    total = 0
    for shape, bits in re.findall(r"tensor<((?:\d+x)*)[a-z]+(\d+)>", head.partition("->")[2] if results else head):
        total += math.prod(int(side) for side in shape.split("x")[:-1]) * int(bits) // 8
    return total


def bytes_of(code: Iterable[assembly.Instruction], kinds: Sequence[str]) -> int:
    """What messages of these kinds move, shared memory aside."""
    found = (instruction.message for instruction in code if instruction.kind in kinds)
    return sum(said[1] for said in found if said and said[0] != "shared")


def moved_bytes(
    program: assembly.Program, subgroups: int, rounds: int, kinds: Sequence[str] = ("load", "store")
) -> float:
    """What all subgroups load and store; NaN where their number is not known, 0, or a loop does and its `rounds`."""
    looped = sum(bytes_of(loop.code, kinds) for loop in program.loops)
    if subgroups == 0 or (looped and (rounds == 0 or len(program.loops) > 1)):
        return float("nan")
    return subgroups * (
        bytes_of(program.code, kinds) + (rounds - 1) * looped if looped else bytes_of(program.code, kinds)
    )


def products(code: assembly.Loop) -> int:
    """Of the elements of two operands: those of dpas and multiply-adds of f32, or multiplications where it has none."""
    by_dpas = sum(instruction.operations // 2 for instruction in code.code)
    floats = [each for each in code.code if each.target.endswith(":f") and each.lanes > 1]
    mads = sum(each.lanes for each in floats if each.base == "mad")
    return by_dpas or mads or sum(each.lanes for each in floats if each.base == "mul")


def row_of(bench: Bench, side: str, chip: str, program: assembly.Program, grid: Grid) -> Row:
    """Counts a kernel, or its loop with most products."""
    code, units = assembly.Loop(program.code), 0.0
    if bench.work == "16 elements":
        units = bench.elements / grid.subgroups / bench.each
    else:
        loops = [loop for loop in program.loops if products(loop)]
        code = max(loops or [code], key=lambda each: (products(each), -len(each.code)))
        units = products(code) / bench.each
    count = len(code.code)
    # Rows that a workgroup computes in turn.
    rounds = bench.rows // grid.workgroups if bench.rows else bench.turns
    if bench.work == "16 elements" and rounds > 1:
        count += (rounds - 1) * sum(len(loop.code) for loop in program.loops)
    return Row(
        bench.name, bench.dtype, side, chip, program.registers, program.spill_bytes, count,
        count / units if units else float("inf"), messages(code),
        moved_bytes(program, grid.subgroups, rounds) / least_bytes(bench.payload),
        moved_bytes(program, grid.subgroups, rounds, ["store"]) / least_bytes(bench.payload, results=True),
    )  # fmt: skip


@dataclass(frozen=True)
class Grid:
    """What a kernel is launched with."""

    subgroups: int
    workgroups: int


def grids_of(kernel: xetile.Kernel) -> dict[str, Grid]:
    """The grid of each kernel of a program, by its name."""
    text = kernel.stages["4-xegpu"]
    grids = {}
    for name, function in re.findall(r"gpu\.func @(\w+)(.*)", text):
        block, grid = (
            math.prod(map(int, found.groups()))
            for kind in ("block", "grid")
            if (found := re.search(rf"known_{kind}_size = array<i32: (\d+), (\d+), (\d+)>", function))
        )
        grids[name] = Grid(block * grid // 16, grid)
    return grids


def fewest_spills(ocloc: Path, source: Path, chip: str, folder: Path, options: str) -> list[assembly.Program]:
    """What ocloc makes with few registers, or with many if that spills less."""
    made = list(programs(ocloc, source, chip, folder, options))
    if any(program.spill_bytes for program in made) and LARGE not in options:
        return list(programs(ocloc, source, chip, folder, f"{options} {LARGE}".strip()))
    return made


def rows_of(bench: Bench, ocloc: Path, folder: Path) -> Iterator[Row]:
    """Both sides on all chips."""
    for chip in CHIPS:
        payload = read(bench.payload, folder)
        kernel = xetile.compile(payload, bench.schedule, chip, dict(bench.params), native="off")
        ours = folder / f"{chip}.spv"
        ours.write_bytes(kernel.spirv)
        grids = grids_of(kernel)
        made = fewest_spills(ocloc, ours, chip, folder, LARGE if bench.large else "")
        if bench.work != "16 elements":
            # Of several kernels, those that multiply on the matrix unit where some do.
            made = [each for each in made if any(code.operations for code in each.code)] or made
        for program in made:
            yield row_of(
                bench, "xetile" if len(grids) == 1 else f"{len(grids)} kernels", chip, program, grids[program.name]
            )
        by_hand = [(BY_HAND, bench.by_hand, bench.subgroups), (FUSED, f"{bench.by_hand} -D FUSED", bench.subgroups)]
        if bench.keeping:
            by_hand.append((KEEPING, f"{bench.by_hand} -D KEEP_NAN", bench.keeping))
        for side, options, subgroups in by_hand:
            for program in fewest_spills(ocloc, HERE / bench.source, chip, folder, f"-I {HERE} {options}"):
                yield row_of(bench, side, chip, program, Grid(subgroups, subgroups))


def read(payload: str, folder: Path) -> Path:
    """A payload as a file."""
    path = folder / "payload.mlir"
    path.write_text(payload)
    return path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("words", nargs="*", metavar="WORD", help="of the rows to count")
    parser.add_argument("--json", metavar="FILE", help="write the figures to FILE too")
    options = parser.parse_args()
    ocloc = tools.find_ocloc()
    if not ocloc:
        print("no machine code: ocloc was not found (scripts/install-ocloc)")
        return 0
    print(f"machine code of programs by {tools.ocloc_version(ocloc)}: instructions for 16 elements, for 2048 products")
    print(
        "of convolutions and attentions; of: the whole kernel; registers, spilled bytes, messages of a subgroup (cache"
    )
    print("lines are 64 bytes)")
    print(
        "fused: by hand, if products and sums may be rounded once, where that is fewer; keeps NaN: by hand, with maxima"
    )
    print("that are NaN where an element is, as ours, which are compared with it")
    rows: list[Row] = []
    losses: list[str] = []
    for bench in (*benches(), *workload_kernels.benches()):
        if not all(word in f"{bench.name} {bench.dtype}" for word in options.words):
            continue
        with tempfile.TemporaryDirectory() as folder:
            made = list(rows_of(bench, ocloc, Path(folder)))
        rows += made
        for chip, most in zip(CHIPS, MOST[bench.name][bench.dtype], strict=True):
            ours, peer, fused, keeping = (
                [row for row in made if row.chip == chip and is_side(row)] for is_side in SIDES
            )
            count = sum(row.each for row in ours)
            ratio = count / sum(row.each for row in keeping or peer)
            if count > most:
                losses.append(
                    f"{bench.name} of {bench.dtype} on {chip}: {count:.2f} instructions, expected {most} at most"
                )
            print(f"{bench.name} {bench.dtype} {chip}: {ratio:.2f} times those by hand, for {bench.work}")
            for row in (*ours, *peer, *(row for row in fused if row.each < peer[0].each), *keeping):
                registers = f"{row.registers} registers  spill {row.spill_bytes}"
                whole = f"of {row.instructions}  " if bench.work == "16 elements" else ""
                print(
                    f"  {row.side:9} {row.each:8.2f} {whole} {registers}  {row.bytes_text()}{row.messages}", flush=True
                )
    spilled = [row for row in rows if SIDES[0](row) and row.spill_bytes]
    for row in spilled:
        print(f"bench: {row.bench} of {row.dtype} on {row.chip} spills {row.spill_bytes} bytes")
    for loss in losses:
        print(f"bench: {loss}")
    if options.json:
        Path(options.json).write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")
    return 1 if spilled or losses else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except xetile.XeTileError as error:
        sys.exit(f"bench: error: {error}")
