# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What choosing the configuration of a matmul takes, against tiling the same matmul with it.

Prints microseconds of a matmul, the best of several runs, on described machines of more and more cores.
"""

from __future__ import annotations

import sys
import time

from xetile import passes
from xetile.mlir import ir

CORES = (2, 56, 256, 1024)
SHAPES = ((256, 512, 128), (64, 64, 8192), (4096, 4096, 4096))
COUNT, RUNS = 50, 5
LIMIT = 1000.0


def module(shape: tuple[int, int, int], cores: int, count: int) -> ir.Module:
    """`count` functions with one matmul each."""
    m, n, k = shape
    a, b, c = f"tensor<{m}x{k}xf32>", f"tensor<{k}x{n}xf32>", f"tensor<{m}x{n}xf32>"
    functions = [
        f"""func.func @f{number}(%a: {a}, %b: {b}, %c: {c}) -> {c} {{
          %d = linalg.matmul ins(%a, %b : {a}, {b}) outs(%c : {c}) -> {c}
          return %d : {c}
        }}"""
        for number in range(count)
    ]
    machine = f'#dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = {cores} : i64>>'
    with ir.Context():
        return ir.Module.parse(
            f"module attributes {{dlti.target_system_spec = {machine}}} {{\n" + "\n".join(functions) + "\n}"
        )


def microseconds(shape: tuple[int, int, int], cores: int, options: str) -> float:
    """Of one matmul: what many take more than one does."""
    best = {}
    for count in (1, 1 + COUNT):
        for _ in range(RUNS):
            given = module(shape, cores, count)
            start = time.perf_counter()
            passes.run(given, f"deep-tile-matmul{{{options}}}")
            best[count] = min(best.get(count, 1e9), time.perf_counter() - start)
    return (best[1 + COUNT] - best[1]) / COUNT * 1e6


def main() -> int:
    print("configuration of a matmul: us to choose and explain it; us to choose it and tile by it; ratio")
    worst = 0.0
    for shape in SHAPES:
        for cores in CORES:
            explain, tile = microseconds(shape, cores, "explain"), microseconds(shape, cores, "pack=auto")
            worst = max(worst, explain)
            print(
                f"{'x'.join(map(str, shape)):>16} {cores:>5} cores {explain:>8.0f} {tile:>8.0f} {explain / tile:>6.2f}"
            )
    print(f"worst {worst:.0f} us, limit {LIMIT:.0f} us")
    return 0 if worst < LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
