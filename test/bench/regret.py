# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the cost model's choice costs: its time over that of the best of random legal configurations, and of the tuner.

usage: regret.py [--configurations N] [--threads N] [--types T ...] [--rows MxNxK[T] ...] [--seed N]

1.00 means that nothing faster was found, 1.10 that something takes a tenth less. All configurations of a row take turns
in one process.
"""

from __future__ import annotations

import argparse
import math
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
import deep_tile
from deep_tile_cases import Problem, random_config

# Some of deep_tile.py's: a row takes five seconds, most of them to compile.
ROWS = ((1, 512, 512, 512), (1, 197, 768, 768), (1, 16, 1024, 1024), (1, 2048, 1, 2048), (1, 1, 4096, 1024, True))
TURNS, TURN_SECONDS = 3, 0.02
# The fastest few, and what they are compared with, once more: rows that wait for memory differ from turn to turn.
FINALISTS, FINAL_TURNS = 4, 15
MEAN_LIMIT, ROW_LIMIT = 1.05, 1.15


def best_times(kernels: list[object], arrays: list[np.ndarray], out: np.ndarray, turns: int = TURNS) -> list[float]:
    best = [math.inf] * len(kernels)
    for _ in range(turns):
        for number, kernel in enumerate(kernels):
            end = time.perf_counter() + TURN_SECONDS
            while (start := time.perf_counter()) < end:
                kernel(*arrays, out=out)
                best[number] = min(best[number], time.perf_counter() - start)
    return best


def configurations(
    rng: np.random.Generator, size: tuple[int, ...], dtype: str, threads: int, count: int
) -> list[Mapping[str, int]]:
    _, m, n, k, *transposed = size
    kind, sums = dtype.replace("s", "i"), deep_tile.ACCUMULATORS[dtype].replace("s", "i")
    form = "transposed B" if transposed else "plain"
    problem = Problem(form, {"m": m, "n": n, "k": k}, (kind, kind, sums))
    return [random_config(rng, problem, threads) for _ in range(count)]


def measure(options: argparse.Namespace) -> bool:
    """Prints a table for each type; whether the limits hold."""
    from xetile import cpu

    good = True
    for dtype in options.types:
        print(
            f"\n{dtype}, {options.threads} threads, {options.configurations} random configurations, seed {options.seed}"
        )
        print(f"{'m x n x k':>18} {'us':>9} {'best random':>12} {'tuned':>9} {'regret':>7}")
        regrets = []
        for size in options.rows:
            rng = np.random.default_rng([options.seed, *map(int, size)])
            module = deep_tile.module(size, dtype)
            kernels = [cpu.compile(module, threads=options.threads)]
            kernels.append(cpu.compile(module, threads=options.threads, tune=True))
            for config in configurations(rng, size, dtype, options.threads, options.configurations):
                pack = str(rng.choice(["auto", "always"]))
                kernels.append(cpu.compile(module, threads=options.threads, config=config, pack=pack))
            arrays = [deep_tile.draw(rng, spec) for spec in kernels[0].arguments]
            out = np.empty(kernels[0].results[0].shape, kernels[0].results[0].numpy_dtype)
            first = best_times(kernels, arrays, out)
            kernels = kernels[:2] + [
                kernels[i] for i in sorted(range(2, len(kernels)), key=first.__getitem__)[:FINALISTS]
            ]
            own, tuned, *others = (1e6 * seconds for seconds in best_times(kernels, arrays, out, FINAL_TURNS))
            regrets.append(own / min(own, tuned, *others))
            name = deep_tile.name_of(size)
            print(f"{name:>18} {own:>9.1f} {min(others):>12.1f} {tuned:>9.1f} {regrets[-1]:>7.2f}", flush=True)
        mean = math.exp(sum(map(math.log, regrets)) / len(regrets))
        reached = mean <= MEAN_LIMIT and max(regrets) <= ROW_LIMIT
        print(
            f"geometric mean {mean:.3f}, worst {max(regrets):.2f} "
            f"({'reaches' if reached else 'ABOVE'} mean {MEAN_LIMIT:.2f}, rows {ROW_LIMIT:.2f})"
        )
        good &= reached
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--configurations", type=int, default=20, metavar="N")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--types", nargs="+", choices=list(deep_tile.ACCUMULATORS), default=["f32"])
    parser.add_argument("--rows", type=deep_tile.read_size, nargs="+", metavar="MxNxK", default=ROWS)
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    parser.add_argument("--strict", action="store_true", help="fail where a limit is not reached")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        # The tuner begins anew, and keeps nothing.
        os.environ["XETILE_CACHE"] = cache
        good = measure(options)
    return 1 if options.strict and not good else 0


if __name__ == "__main__":
    sys.exit(main())
