# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`make bench`: how fast a kernel runs and links here, against plain emulation; its machine code for Intel's GPUs.

usage: run.py [--json FILE]

Both sides run the same SPIR-V, in the same run. See plain_emulation.py for the other side.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import xetile
from xetile import reference, report, runtime
from xetile.system import tools

SIZES = (256, 1024)
SIDES = ("xetile", "plain emulation")
ROUNDS = 3
RUNS = 5
CHIPS = ("pvc", "bmg")
# The plainest kernel is a million times better than this.
LIMIT = 1e-3


def compiled(size: int) -> xetile.Kernel:
    """With OpenCL's prefetches, as the other side has no address payloads of Intel's library."""
    return xetile.compile(xetile.matmul(size, size, size), native="off", prefetch_payloads=False)


def launch_shape(kernel: xetile.Kernel) -> list[int]:
    """Workgroups along x and y, and work-items of one."""
    text = kernel.stages["4-xegpu"]
    block, grid = (re.search(rf"known_{kind}_size = array<i32: (\d+), (\d+), 1>", text) for kind in ("block", "grid"))
    return [int(grid[1]), int(grid[2]), int(block[1])]


def measure_xetile(kernel: xetile.Kernel, size: int) -> dict[str, float]:
    """Our side, in a process of its own and with an empty cache: the first call links."""
    payload = xetile.matmul(size, size, size)
    arguments = reference.random_arguments(kernel.signature, np.random.default_rng(1))
    result = kernel(*arguments)
    link = runtime.stats()
    if not link.programs_built:
        sys.exit("bench: error: the program came from a cache, expected it to be linked")
    seconds = []
    for _ in range(RUNS):
        result = kernel(*arguments)
        seconds.append(runtime.stats().kernel_seconds)
    (expected,) = reference.evaluate(payload, arguments)
    error = reference.compare(result, expected).max_relative
    return {"link_seconds": link.build_seconds, "kernel_seconds": min(seconds), "max_relative": error}


def run_side(side: str, kernel: xetile.Kernel, size: int) -> dict[str, float]:
    """The figures of one round of one side, in a process of its own."""
    with tempfile.TemporaryDirectory() as name:
        if side == "xetile":
            command = [__file__, "--one", str(size)]
        else:
            path = Path(name, "kernel.spv")
            path.write_bytes(kernel.spirv)
            script = Path(__file__).with_name("plain_emulation.py")
            command = [script, path, *map(str, (size, size, size, *launch_shape(kernel)))]
        environment = os.environ | {"XETILE_CACHE": name}
        run = subprocess.run([sys.executable, *command], env=environment, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"bench: error: {side} failed\n{run.stderr}")
    figures = json.loads(run.stdout)
    if not figures["max_relative"] <= LIMIT:
        sys.exit(f"bench: error: the result of {side} at {size} is wrong: {figures['max_relative']}")
    return figures


def compare_speed() -> list[dict[str, object]]:
    """A row for each size: the best figures of both sides, whose rounds take turns."""
    rows = []
    for size in SIZES:
        kernel = compiled(size)
        row: dict[str, object] = {"size": size}
        rounds = [{side: run_side(side, kernel, size) for side in SIDES} for _ in range(ROUNDS)]
        for side in SIDES:
            best = {key: min(figures[side][key] for figures in rounds) for key in ("link_seconds", "kernel_seconds")}
            row[side] = best | {"gflops": 2 * size**3 / best["kernel_seconds"] * 1e-9}
        rows.append(row)
    return rows


def print_speed(rows: list[dict[str, object]]) -> None:
    print(f"f16 * f16 + f32, on {runtime.selected_device()}; best of {ROUNDS} rounds")
    print("plain emulation: test/bench/plain_emulation.py, with the same SPIR-V")
    print(f"{'':24} {'xetile':>10} {'plain emulation':>16} {'ratio':>8}")
    for row in rows:
        ours, peer = row["xetile"], row["plain emulation"]
        lines = {
            "GFLOP/s": (ours["gflops"], peer["gflops"], ours["gflops"] / peer["gflops"]),
            "link, s": (ours["link_seconds"], peer["link_seconds"], peer["link_seconds"] / ours["link_seconds"]),
        }
        for name, (left, right, ratio) in lines.items():
            print(f"{row['size']:5}^3 {name:15} {left:10.2f} {right:16.2f} {ratio:7.2f}x")
    # A single workgroup keeps one core busy, as the smallest demonstration of emulation does.
    ours, peer = rows[-1]["xetile"]["gflops"], rows[0]["plain emulation"]["gflops"]
    print(f"{rows[-1]['size']}^3 per flop, against plain emulation of {rows[0]['size']}^3: {ours / peer:.2f}x")


def print_machine_code(kernels: list[report.KernelStatistics]) -> None:
    print("\nmachine code of the 1024^3 kernel; the figures after | are of its k loop")
    print(report.format_table(kernels))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", metavar="FILE", help="write the figures to FILE too")
    parser.add_argument("--one", type=int, metavar="SIZE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        kernel = compiled(options.one)
        print(json.dumps(measure_xetile(kernel, options.one)))
        return

    rows = compare_speed()
    print_speed(rows)
    figures: dict[str, object] = {"device": runtime.selected_device(), "speed": rows}
    if tools.find_ocloc():
        spirv = xetile.compile(xetile.matmul(1024, 1024, 1024), native="off").spirv
        kernels = [kernel for chip in CHIPS for kernel in report.statistics(spirv, chip)]
        print_machine_code(kernels)
        figures["machine_code"] = [
            {
                "chip": kernel.chip,
                "registers": kernel.registers,
                "spill_bytes": kernel.spill_bytes,
                **{f"{kind}_per_dpas": kernel.loop.per_dpas(kind) for kind in ("mov", "load", "other") if kernel.loop},
            }
            for kernel in kernels
        ]
    else:
        print("\nno machine code: ocloc was not found (scripts/install-ocloc)")
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    try:
        main()
    except xetile.XeTileError as error:
        sys.exit(f"bench: error: {error}")
