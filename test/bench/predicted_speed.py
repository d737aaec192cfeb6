# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`make bench`: predicted TFLOP/s of an attention and a matmul, ours beside OpenCL C by hand, from their machine code.

usage: predicted_speed.py [WORD ...]      (rows whose names have the words)

Nothing here runs on a GPU: `predict/` simulates what Intel's offline compiler makes for an Arc B580 and a Data Center
GPU Max 1100. Published measurements are met with an error of 10 % in the mean, and in their order. Exit status 1 if
ours is predicted to be slower than `LEAST` says.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import xetile
from machine_code import HERE, dumped
from program_code import LARGE, read
from program_code_kernels import attention, matmul
from xetile.system import tools

sys.path.insert(0, str(HERE / "predict"))
from caches import Launch  # noqa: E402
from simulation import CHIPS, predict  # noqa: E402

# Chips that xetile compiles for, and products of them.
PRODUCTS = {"bmg": "bmg", "pvc": "pvc1100"}
KEYS, HEADS, WIDTH, SIZE = 4096, 16, 64, 4096
# TFLOP/s that ours must be predicted to reach, and those that are aimed at.
LEAST = {"attention": {"bmg": 72, "pvc": 158}, "matmul": {"bmg": 84, "pvc": 234}}
# The matrix unit is busy all of the time in the matmul's loop. It is the power of the device that decides then: its
# clock falls to 1214 MHz of 1550 on a Max 1100, and 256 workgroups are 5 turns of 56 cores, the last of which is half
# empty. That leaves 254; with workgroups of 128 x 128 it is 246 for 235. The aim of 300 is that of a tile of a Max 1550
# ("pvc" of predict/chips.json), for which the same kernel is predicted to reach 304.
AIM = {"attention": {"bmg": 80, "pvc": 185}, "matmul": {"bmg": 88, "pvc": 300}}


@dataclass(frozen=True)
class Row:
    """A kernel: `defines` of the one by hand, which has `grid` workgroups of `subgroups`, and `turns` of its loop."""

    name: str
    payload: str
    schedule: str
    flops: float
    bytes_out: float
    source: str
    defines: str
    grid: tuple[int, int, int]
    subgroups: int
    turns: int
    params: Mapping[str, int] = field(default_factory=dict)


def rows() -> list[Row]:
    """All of them."""
    queries = f"tensor<{HEADS}x1024x"
    text = attention(WIDTH).replace(queries, f"tensor<{HEADS}x{KEYS}x").replace("x1024", f"x{KEYS}")
    return [
        Row(
            "attention", text, "attention", 4.0 * HEADS * KEYS**2 * WIDTH, HEADS * KEYS * WIDTH * 4,
            "hand_written_products.cl", f"-D ATTENTION -D N={KEYS} -D C={WIDTH} -D ROWS=16 -D KEYS=64",
            (KEYS // 128, HEADS, 1), 8, KEYS // 64,
        ),
        Row(
            "matmul", matmul(SIZE), "matmul", 2.0 * SIZE**3, SIZE**2 * 4, "hand_written.cl",
            f"-D M={SIZE} -D N={SIZE} -D K={SIZE}", (SIZE // 256, SIZE // 256, 1), 32, SIZE // 32,
        ),
    ]  # fmt: skip


def turns_of(code: str) -> int:
    """The most turns of a loop whose bounds are known, of a kernel in XeGPU."""
    loops = re.findall(r"scf\.for .* = %c(\d+)\w* to %c(\d+)\w* step %c(\d+)", code)
    return max(-(-(int(end) - int(start)) // int(step)) for start, end, step in loops)


def launch_of(kernel: xetile.Kernel, row: Row) -> Launch:
    """How our kernel is launched."""
    code = str(kernel.stages["4-xegpu"])
    block, grid = (
        tuple(map(int, re.search(rf"known_{kind}_size = array<i32: (\d+), (\d+), (\d+)>", code).groups()))
        for kind in ("block", "grid")
    )
    return Launch(grid, block[0] * block[1] * block[2] // 16, turns_of(code), row.flops, row.bytes_out)


def speeds(row: Row, ocloc: Path, chip: str, folder: Path) -> Iterator[tuple[str, float]]:
    """Each side and its TFLOP/s."""
    kernel = xetile.compile(read(row.payload, folder), row.schedule, chip, dict(row.params), native="off")
    ours = folder / f"{chip}.spv"
    ours.write_bytes(kernel.spirv)
    by_hand = f"-cl-std=CL3.0 -D TYPE=16 -I {HERE} {row.defines} {LARGE}"
    sides = (
        ("xetile", ours, LARGE, launch_of(kernel, row)),
        ("by hand", HERE / row.source, by_hand, Launch(row.grid, row.subgroups, row.turns, row.flops, row.bytes_out)),
    )
    for side, source, options, launch in sides:
        for text in dumped(ocloc, source, chip, folder, options):
            yield side, predict(text, PRODUCTS[chip], launch)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("words", nargs="*", metavar="WORD", help="of the rows to predict")
    options = parser.parse_args()
    ocloc = tools.find_ocloc()
    if not ocloc:
        print("no machine code: ocloc was not found (scripts/install-ocloc)")
        return 0
    print(f"predicted TFLOP/s from machine code by {tools.ocloc_version(ocloc)}: attention of {HEADS} heads,")
    print(f"{KEYS} queries and keys of {WIDTH} elements, matmul of {SIZE} cubed; f16, results of f32")
    slow = []
    for row in rows():
        if not all(word in row.name for word in options.words):
            continue
        for chip, product in PRODUCTS.items():
            with tempfile.TemporaryDirectory() as folder:
                found = dict(speeds(row, ocloc, chip, Path(folder)))
            ratio = found["xetile"] / found["by hand"]
            least = LEAST[row.name][chip]
            print(
                f"  {row.name:10} {CHIPS[product]['product']:28} xetile {found['xetile']:6.1f}  "
                f"by hand {found['by hand']:6.1f}  ratio {ratio:.2f}  aim {AIM[row.name][chip]}",
                flush=True,
            )
            if found["xetile"] < least:
                slow.append(f"{row.name} on {chip} is predicted to reach {found['xetile']:.1f}, expected {least}")
    for text in slow:
        print(f"bench: {text}")
    return 1 if slow else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except xetile.XeTileError as error:
        sys.exit(f"bench: error: {error}")
