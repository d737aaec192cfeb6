# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long workgroup-level XeTile takes to become XeGPU, alone and with others in a module; part of `make bench`.

usage: workgroup_compile.py [--json]

The kernel is a 4096^3 product with prefetch in 256x256 tiles (the RFC's appendix 2.1). Fails if it takes as long as
LIMIT_MS, or if one of COUNT kernels in a module takes LIMIT_RATIO times as long as it takes alone.
"""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path

from xetile import passes
from xetile.mlir import ir

PROGRAM = Path(__file__).parents[1] / "IR" / "rfc-appendix-2-1.mlir"
LIMIT_MS = 50.0
LIMIT_RATIO = 2.0
COUNT = 32
ROUNDS = 10
PIPELINE = "xetile-lower-to-xegpu{chip=pvc}"


def module(count: int) -> str:
    """A gpu.module of `count` kernels of one workgroup tile each."""
    code = PROGRAM.read_text()
    aliases = "\n".join(re.findall(r"^#.*$", code, flags=re.M))
    found = re.search(r"^func\.func @test_gemm\(([^)]*)\) \{\n(.*?)^  return", code, flags=re.M | re.S)
    if not found:
        sys.exit(f"bench: error: {PROGRAM} has no @test_gemm")
    parameters, body = found.groups()
    kernels = "\n".join(
        f"gpu.func @gemm{number}({parameters}) kernel attributes {{known_block_size = array<i32: 512, 1, 1>}} {{\n"
        f"{body}\ngpu.return\n}}"
        for number in range(count)
    )
    return f"{aliases}\nmodule {{\ngpu.module @device {{\n{kernels}\n}}\n}}"


def milliseconds(count: int) -> float:
    """Of processor time for one of `count` kernels; the best of ROUNDS, without parsing."""
    best = float("inf")
    with ir.Context():
        for _ in range(ROUNDS):
            parsed = ir.Module.parse(module(count))
            start = time.process_time()
            passes.run(parsed, PIPELINE)
            best = min(best, time.process_time() - start)
    return best * 1000 / count


def main() -> int:
    alone, together = milliseconds(1), milliseconds(COUNT)
    figures = {"alone_ms": alone, "together_ms": together, "ratio": together / alone}
    if "--json" in sys.argv[1:]:
        print(json.dumps(figures))
    else:
        print(f"Workgroup XeTile to XeGPU, 4096^3, processor time (limit {LIMIT_MS:.0f} ms):")
        print(f"  one kernel {alone:.1f} ms, each of {COUNT} in a module {together:.1f} ms: {together / alone:.2f}x")
    if alone >= LIMIT_MS or together / alone >= LIMIT_RATIO:
        print(f"bench: error: expected less than {LIMIT_MS:.0f} ms and {LIMIT_RATIO:.0f}x", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
