"""How fast deep-tiled matmuls are, against NumPy's BLAS and PyTorch's oneDNN where it is installed.

usage: deep_tile.py [--json FILE] [--threads N ...] [--quick]

Each row takes turns between the sides in one process and keeps the best call of each. One process per number of
threads: the libraries read it when they start. Beside the speed is its part of what the multiply-add units do.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

SQUARES = (256, 512, 1024, 2048)
DOCUMENT = ((256, 512, 128),)
# m, n, k of five rows of the conformance table gemm_shapes.csv that fit into a benchmark.
MODELS = ((197, 768, 768), (128, 1000, 1536), (1568, 512, 2048), (16, 1024, 1024), (3136, 384, 128))
LIMITS = {"row": 0.75, "mean": 0.95}
TURN_SECONDS = 0.1
# OpenMP's threads wait for 0.2 s before they sleep.
IDLE_SECONDS = 0.3


def peers(m: int, n: int, k: int, dtype: str, rng: np.random.Generator) -> dict[str, Callable[[], object]]:
    """What NumPy, and PyTorch if it is there, call for the product."""
    a, b = rng.uniform(-1, 1, (m, k)).astype("f4"), rng.uniform(-1, 1, (k, n)).astype("f4")
    out = np.empty((m, n), "f4")
    sides: dict[str, Callable[[], object]] = {}
    if dtype == "f32":
        sides["numpy"] = lambda: np.matmul(a, b, out=out)
    try:
        import torch
    except ImportError:
        return sides or {"numpy f32": lambda: np.matmul(a, b, out=out)}
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    kind = torch.float32 if dtype == "f32" else torch.bfloat16
    ta, tb = torch.from_numpy(a).to(kind), torch.from_numpy(b).to(kind)
    tout = torch.empty((m, n), dtype=kind)
    sides["torch"] = lambda: torch.matmul(ta, tb, out=tout)
    return sides


def measure(threads: int, quick: bool) -> list[dict[str, object]]:
    """One row for each size and type."""
    from xetile import cpu, payload

    rng = np.random.default_rng(1)
    peaks = {dtype: peak(dtype) for dtype in ("f32", "bf16")}
    rows = []
    sizes = [(s, s, s) for s in SQUARES] + list(DOCUMENT) + list(MODELS)
    for dtype in ("f32", "bf16"):
        for m, n, k in sizes[: 3 if quick else None]:
            kernel = cpu.compile(payload.matmul(m, n, k, dtype, accumulate=False), threads=threads)
            a, b = (rng.uniform(-1, 1, spec.shape).astype(spec.numpy_dtype) for spec in kernel.arguments)
            out = np.empty((m, n), "f4")
            sides = {"xetile": lambda kernel=kernel, a=a, b=b, out=out: kernel(a, b, out=out)}
            sides |= peers(m, n, k, dtype, rng)
            sides["xetile"]()
            error = np.abs(out - a.astype("f4") @ b.astype("f4")).max() / np.abs(out).max()
            if not error < 1e-4:
                sys.exit(f"bench: error: {m}x{n}x{k} {dtype} is wrong by {error:.2g}")
            flops = 2.0 * m * n * k
            best = dict.fromkeys(sides, math.inf)
            # For a while after a call a library's threads keep the cores busy, waiting: let them fall asleep.
            for _ in range(2 if quick else 4):
                for name, call in sides.items():
                    time.sleep(IDLE_SECONDS)
                    turn = time.perf_counter() + TURN_SECONDS
                    while (start := time.perf_counter()) < turn:
                        call()
                        best[name] = min(best[name], time.perf_counter() - start)
            speed = {name: flops / seconds * 1e-9 for name, seconds in best.items()}
            fastest = max((name for name in sides if name != "xetile"), key=speed.get)
            rows.append(
                {
                    "m": m,
                    "n": n,
                    "k": k,
                    "dtype": dtype,
                    "threads": threads,
                    "gflops": speed,
                    "peer": fastest,
                    "ratio": speed["xetile"] / speed[fastest],
                    "peak": peaks[dtype] * threads,
                }
            )
    return rows


_PEAK = """
func.func @peak(%c: memref<16xf32>) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.constant {count} : index
  %x = vector.load %c[%zero] : memref<16xf32>, vector<16xf32>
  {before}
  %sums:{chains} = scf.for %i = %zero to %count step %one iter_args({inits}) -> ({types}) {{
    {body}
    scf.yield {names} : {types}
  }}
  {after}
  vector.store %r{last}, %c[%zero] : memref<16xf32>, vector<16xf32>
  return
}}
"""


def peak(dtype: str) -> float:
    """GFLOP/s of one core's vector multiply-adds, operands in registers; 0 without 512-bit vectors or bf16 dots."""
    from xetile import passes
    from xetile.mlir import ir
    from xetile.mlir.execution_engine import ExecutionEngine

    flags = Path("/proc/cpuinfo").read_text()
    if "avx512f" not in flags or (dtype == "bf16" and "avx512_bf16" not in flags):
        return 0.0
    chains, count = 12, 2_000_000
    vector = "vector<16xf32>"
    before = "%y = vector.bitcast %x : vector<16xf32> to vector<32xbf16>" if dtype == "bf16" else ""
    step = (
        "x86vector.avx512.dot %s{0}, %y, %y : vector<32xbf16> -> vector<16xf32>"
        if dtype == "bf16"
        else "vector.fma %x, %x, %s{0} : vector<16xf32>"
    )
    text = _PEAK.format(
        count=count,
        chains=chains,
        before=before,
        last=chains - 1,
        types=", ".join([vector] * chains),
        inits=", ".join(f"%s{i} = %x" for i in range(chains)),
        names=", ".join(f"%t{i}" for i in range(chains)),
        body="\n    ".join(f"%t{i} = " + step.format(i) for i in range(chains)),
        after="\n  ".join(
            f"%r{i} = arith.addf {'%x' if i == 0 else f'%r{i - 1}'}, %sums#{i} : {vector}" for i in range(chains)
        ),
    )
    with ir.Context():
        module = ir.Module.parse(text)
    with module.context:
        module.body.operations[0].attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()
    passes.run(module, "xetile-lower-to-cpu")
    engine = ExecutionEngine(module, opt_level=3)
    array = np.zeros(16, "f4")
    words = (ctypes.c_int64 * 5)(array.ctypes.data, array.ctypes.data, 0, 16, 1)
    address = (ctypes.c_void_p * 1)(ctypes.addressof(words))
    packed = (ctypes.c_void_p * 1)(ctypes.addressof(address))
    function = engine.lookup("peak")
    seconds = []
    for _ in range(10):
        start = time.perf_counter()
        function(packed)
        seconds.append(time.perf_counter() - start)
    return chains * count * (64 if dtype == "bf16" else 32) / min(seconds) * 1e-9


def report(rows: list[dict[str, object]]) -> bool:
    """Prints the rows and the geometric means; whether the limits hold."""
    good = True
    for threads in sorted({row["threads"] for row in rows}):
        for dtype in ("f32", "bf16"):
            chosen = [row for row in rows if row["threads"] == threads and row["dtype"] == dtype]
            limit = max(row["peak"] for row in chosen)
            print(f"\n{dtype}, {threads} thread{'s' * (threads > 1)}; multiply-add units: {limit:.1f} GFLOP/s")
            print(f"{'m x n x k':>18} {'GFLOP/s':>9} {'peer':>10} {'GFLOP/s':>9} {'ratio':>6} {'of peak':>11}")
            for row in chosen:
                speed, peer = row["gflops"], row["peer"]
                print(
                    f"{row['m']:>6}x{row['n']}x{row['k']:<6} {speed['xetile']:>9.1f} {peer:>10} {speed[peer]:>9.1f} "
                    f"{row['ratio']:>6.2f} {speed['xetile'] / limit if limit else 0:>10.0%}"
                )
            mean = math.exp(sum(math.log(row["ratio"]) for row in chosen) / len(chosen))
            worst = min(row["ratio"] for row in chosen)
            print(f"geometric mean {mean:.3f}, worst {worst:.2f}")
            if dtype == "f32":
                good &= mean >= LIMITS["mean"] and worst >= LIMITS["row"]
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--quick", action="store_true", help="three sizes, less time")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one, options.quick)))
        return 0
    rows = []
    for threads in options.threads:
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        environment = {**os.environ, **dict.fromkeys(names, str(threads))}
        command = [sys.executable, __file__, "--one", str(threads)] + ["--quick"] * options.quick
        run = subprocess.run(command, env=environment, capture_output=True, text=True)
        if run.returncode:
            sys.exit(run.stderr)
        rows += json.loads(run.stdout.splitlines()[-1])
    good = report(rows)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
