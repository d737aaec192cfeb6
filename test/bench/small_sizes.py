# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How fast small matmuls are, single ones and batches, against NumPy's BLAS and PyTorch's oneDNN, on one thread.

usage: small_sizes.py [--json FILE] [--types T ...] [--rows MxNxK | BATCHESxMxNxK ...] [--quick] [--strict]

What is measured: "xetile" is the compiled function with prepared arguments, with the call from Python into it and
nothing else; "call" is kernel(a, b, out=c). Peers are called with out=, which is the least that they offer. A batch is
one call.
"""

from __future__ import annotations

import argparse
import json
import math
import sys

import deep_tile
import numpy as np

SINGLE = tuple((1, size, size, size) for size in (8, 16, 32, 64)) + ((1, 96, 80, 48),)
BATCHES = tuple((64, *size[1:]) for size in SINGLE)
LIMITS = {"f32": {"mean": 1.05, "rows": 0.9}, "bf16": {"mean": 1.05, "rows": 0.9}}
TURNS, TURN_SECONDS, GROUP_SECONDS = 6, 0.01, 2e-4


def measure(types: list[str], sizes: list[tuple[int, ...]], turns: int) -> list[dict[str, object]]:
    from xetile import cpu

    rng = np.random.default_rng(1)
    rows = []
    for dtype in types:
        for size in sizes:
            kernel = cpu.compile(deep_tile.module(size, dtype), threads=1)
            a, b = (deep_tile.draw(rng, spec) for spec in kernel.arguments)
            out = np.empty(kernel.results[0].shape, kernel.results[0].numpy_dtype)
            kernel(a, b, out=out)
            right = a.astype("f8") @ b.astype("f8")
            error = np.abs(out - right).max() / np.abs(right).max()
            if not error < 1e-5:
                sys.exit(f"bench: error: {deep_tile.name_of(size)} {dtype} is wrong by {error:.2g}")
            sides = {"call": lambda kernel=kernel, a=a, b=b, out=out: kernel(a, b, out=out)}
            if (direct := kernel.function()._direct) is not None:
                sides["xetile"] = lambda direct=direct, inputs=(a, b), outputs=(out,): direct(inputs, outputs)
            else:
                sides["xetile"] = sides["call"]
            others = {}
            for name, call in deep_tile.peers(a, b, dtype).items():
                try:
                    call()
                    others[name] = call
                except RuntimeError:  # sizes that torch._int_mm does not take
                    continue
            # As many calls between two looks at the clock as take a while.
            guess = deep_tile.take_turns({"call": sides["call"]}, 1, 1, 1e-3)["call"]
            calls = max(1, round(GROUP_SECONDS / guess))
            seconds = deep_tile.take_turns(sides | others, turns, 1, TURN_SECONDS, calls)
            peer = min(others, key=seconds.get) if others else None
            rows.append({"size": size, "dtype": dtype, "seconds": seconds, "peer": peer})
    return rows


def report(rows: list[dict[str, object]]) -> bool:
    """Prints a table and a mean for each type; whether the limits hold."""
    good = True
    for dtype in dict.fromkeys(row["dtype"] for row in rows):
        print(
            f"\nsmall sizes, {dtype}, 1 thread; microseconds of the compiled function, called with prepared arguments,"
        )
        print('and of peers with out=; "call" is kernel(a, b, out=c); a batch is one call')
        print(f"{'m x n x k':>18} {'xetile':>9} {'call':>9} {'peer':>10} {'us':>9} {'ratio':>6}")
        alike = []
        for row in (row for row in rows if row["dtype"] == dtype):
            best, peer = row["seconds"], row["peer"]
            ratio = best[peer] / best["xetile"] if peer else math.nan
            print(
                f"{deep_tile.name_of(row['size']):>18} {1e6 * best['xetile']:>9.2f} {1e6 * best['call']:>9.2f} "
                f"{peer or '-':>10} {1e6 * best.get(peer, math.nan):>9.2f} {ratio:>6.2f}"
            )
            # NumPy multiplies bf16 and bytes as f32 only: such rows show a ratio, but are no match.
            if peer not in (None, deep_tile.OTHER_TYPE):
                alike.append(ratio)
        if not alike:
            print(f"no mean: no peer here multiplies {dtype}")
            continue
        line, reached = deep_tile.summary(alike, LIMITS.get(dtype, {}))
        print(line, flush=True)
        good &= reached
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--types", nargs="+", choices=list(deep_tile.ACCUMULATORS), default=deep_tile.types_here())
    parser.add_argument("--rows", type=deep_tile.read_size, nargs="+", metavar="MxNxK", default=[*SINGLE, *BATCHES])
    parser.add_argument("--quick", action="store_true", help="fewer turns")
    parser.add_argument("--strict", action="store_true", help="fail where a limit is not reached")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.types, options.rows, 2 if options.quick else TURNS)))
        return 0
    print()
    deep_tile.without_torch("oneDNN beside NumPy, and means of bf16 and s8 at small sizes")
    arguments = ["--types", *options.types, "--rows", *map(deep_tile.name_of, options.rows)]
    rows = deep_tile.in_processes(__file__, [1], arguments + ["--quick"] * options.quick)
    good = report(rows)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file)
    return 1 if options.strict and not good else 0


if __name__ == "__main__":
    sys.exit(main())
