# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How fast deep-tiled matmuls are, against NumPy's BLAS and PyTorch's oneDNN where it is installed.

usage: deep_tile.py [--json FILE] [--threads N ...] [--types T ...] [--rows MxNxK[T] ...] [--quick] [--strict]

A T behind a size stands for a transposed B, n x k in memory, as PyTorch's linear layers have it. Each row takes turns
between the sides in one process and keeps the best call of each. One process per number of threads: the libraries read
it when they start. Beside the speed is its part of what the multiply-add units do, and the microseconds that the cost
model predicts beside those that were measured, with the mean factor between the two.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import json
import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

# Sizes are batches, m, n, k, and behind them whether B is transposed.
SQUARES = tuple((1, size, size, size) for size in (256, 512, 1024, 2048))
DOCUMENT = ((1, 256, 512, 128),)
# Rows of the conformance table gemm_shapes.csv that fit into a benchmark.
MODELS = (
    (1, 197, 768, 768),
    (1, 128, 1000, 1536),
    (1, 1568, 512, 2048),
    (1, 16, 1024, 1024),
    (1, 3136, 384, 128),
    (16, 64, 64, 1500),
)
# Matrix-vector products, linear layers of small batches. f32 alone: memory decides.
THIN = (
    (1, 2048, 1, 2048),
    (1, 1, 2048, 2048),
    (1, 1, 4096, 1024, True),
    (1, 16, 1024, 4096, True),
    (1, 8, 4096, 1024),
    (1, 1024, 8, 1024),
)
# What the geometric mean of a type's rows, and each row, is to reach.
MEAN_LIMITS = {"f32": 0.95, "bf16": 0.90}
ROW_LIMITS = {"f32": 0.75}
# A peer that multiplies f32 instead of the type of the row.
OTHER_TYPE = "numpy f32"
LIMITS = {"mean": MEAN_LIMITS, "rows": ROW_LIMITS}
# How far predictions may be off, in the mean, one way or the other.
MODEL_LIMIT = 1.3
TURNS = 4
TURN_SECONDS = 0.1
# OpenMP's threads wait for 0.2 s before they sleep.
IDLE_SECONDS = 0.3
ACCUMULATORS = {"f32": "f32", "bf16": "f32", "s8": "s32"}


def cpu_flags() -> set[str]:
    """What the CPU can do, in Linux's words; empty where there is no /proc."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    return next((set(line.split()) for line in lines if line.startswith("flags")), set())


def types_here() -> list[str]:
    """Types worth a table here: s8 needs dot products of bytes."""
    return ["f32", "bf16"] + ["s8"] * bool({"avx512_vnni", "avx_vnni"} & cpu_flags())


def machine() -> str:
    """The CPU's name and what of it matters here."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    entries = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    numbers = ", ".join(f"{name} {entries[name]}" for name in ("cpu family", "model") if name in entries)
    features = ("avx2", "avx512f", "avx512_bf16", "avx512_vnni", "avx_vnni", "amx_tile", "amx_bf16", "amx_int8")
    has = " ".join(name for name in features if name in cpu_flags())
    return f"{entries.get('model name', 'unknown CPU')} ({numbers}), {os.cpu_count()} cores: {has}"


def name_of(size: tuple[int, ...]) -> str:
    batches = [str(size[0])] if size[0] > 1 else []
    return "x".join([*batches, *map(str, size[1:4])]) + "T" * len(size[4:])


def module(size: tuple[int, ...], dtype: str) -> object:
    """The product as a module; its result is new."""
    from xetile.mlir import ir
    from xetile.schedule import payload

    batches, m, n, k, *transposed = size
    if batches == 1 and not transposed:
        kinds = {"s8": "i8", "s32": "i32"}
        return payload.matmul(
            m, n, k, kinds.get(dtype, dtype), kinds.get(ACCUMULATORS[dtype], ACCUMULATORS[dtype]), accumulate=False
        )
    kind, sum_kind = dtype.replace("s", "i"), ACCUMULATORS[dtype].replace("s", "i")
    b_shape = (n, k) if transposed else (k, n)
    a, b, c = (
        f"tensor<{f'{batches}x' * (batches > 1)}{rows}x{columns}x{element}>"
        for rows, columns, element in ((m, k, kind), (*b_shape, kind), (m, n, sum_kind))
    )
    zero = "0" if sum_kind[0] == "i" else "0.0"
    name, dims = ("linalg.batch_matmul", "z, ") if batches > 1 else ("linalg.matmul", "")
    maps = ", ".join(
        f"affine_map<({dims}m, n, k) -> ({dims}{indices})>"
        for indices in ("m, k", ", ".join("nk" if transposed else "kn"), "m, n")
    )
    with ir.Context():
        return ir.Module.parse(
            f"""
            func.func @matmul(%a: {a}, %b: {b}) -> {c} {{
              %zero = arith.constant {zero} : {sum_kind}
              %empty = tensor.empty() : {c}
              %start = linalg.fill ins(%zero : {sum_kind}) outs(%empty : {c}) -> {c}
              %r = {name} indexing_maps = [{maps}] ins(%a, %b : {a}, {b}) outs(%start : {c}) -> {c}
              return %r : {c}
            }}"""
        )


def draw(rng: np.random.Generator, spec: object) -> np.ndarray:
    if spec.dtype == "i8":
        return rng.integers(-20, 20, spec.shape).astype(spec.numpy_dtype)
    return rng.uniform(-1, 1, spec.shape).astype(spec.numpy_dtype)


def factor(b: np.ndarray, size: tuple[int, ...]) -> np.ndarray:
    """B as NumPy multiplies by it."""
    return b.T if size[4:] else b


def without_torch(left_out: str) -> bool:
    """Whether PyTorch is absent; says in a line what is left out then."""
    if importlib.util.find_spec("torch"):
        return False
    print(f"left out, as PyTorch is not installed (pip install 'xetile[torch]'): {left_out}")
    return True


def peers(a: np.ndarray, b: np.ndarray, dtype: str) -> dict[str, Callable[[], object]]:
    """What NumPy, and PyTorch if it is there, call for the product: NumPy for f32, as BLAS has nothing narrower."""
    wide_a, wide_b = a.astype("f4"), b.astype("f4")
    out = np.matmul(wide_a, wide_b)
    in_numpy = {"numpy" if dtype == "f32" else OTHER_TYPE: lambda: np.matmul(wide_a, wide_b, out=out)}
    try:
        import torch
    except ImportError:
        return in_numpy
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    kind = {"f32": torch.float32, "bf16": torch.bfloat16, "s8": torch.int8}[dtype]
    # With the strides that they have.
    ta, tb = torch.from_numpy(wide_a).to(kind), torch.from_numpy(wide_b).to(kind)
    if dtype == "s8":
        if ta.dim() > 2:
            return in_numpy
        tout = torch.empty(out.shape, dtype=torch.int32)
        return {"torch": lambda: torch._int_mm(ta, tb, out=tout)}
    tout = torch.empty(out.shape, dtype=kind)
    in_torch = {"torch": lambda: torch.matmul(ta, tb, out=tout)}
    return in_numpy | in_torch if dtype == "f32" else in_torch


def predicted(size: tuple[int, ...], dtype: str, threads: int) -> float:
    """Microseconds by the cost model."""
    from xetile import cpu

    found = re.search(r"predicted: ([\d.]+) us", cpu.explain(module(size, dtype), threads=threads))
    return float(found[1]) if found else math.nan


def off_by(row: dict[str, object]) -> float:
    """The factor between what was predicted and what was measured, one way or the other."""
    ratio = row["predicted"] / row["us"]
    return max(ratio, 1 / ratio)


def take_turns(
    sides: dict[str, Callable[[], object]], turns: int, threads: int, seconds: float = TURN_SECONDS, calls: int = 1
) -> dict[str, float]:
    """Seconds of the best call of each side, `calls` of them between two looks at the clock."""
    best = dict.fromkeys(sides, math.inf)
    for _ in range(turns):
        for name, call in sides.items():
            # For a while after a call a library's threads keep the cores busy, waiting: let them fall asleep.
            time.sleep(IDLE_SECONDS if threads > 1 else 0)
            end = time.perf_counter() + seconds
            while (start := time.perf_counter()) < end:
                for _ in range(calls):
                    call()
                best[name] = min(best[name], (time.perf_counter() - start) / calls)
    return best


def in_processes(script: str, threads: list[int], arguments: list[str]) -> list[dict[str, object]]:
    """The rows that `script --one THREADS` prints as JSON, in a process for each number of threads."""
    rows = []
    for count in threads:
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        environment = {**os.environ, **dict.fromkeys(names, str(count))}
        command = [sys.executable, script, "--one", str(count), *arguments]
        run = subprocess.run(command, env=environment, capture_output=True, text=True)
        if run.returncode:
            sys.exit(run.stderr)
        rows += json.loads(run.stdout.splitlines()[-1])
    return rows


def summary(ratios: list[float], limits: dict[str, float]) -> tuple[str, bool]:
    """The geometric mean and the worst of `ratios`, and whether they reach the limits "mean" and "rows"."""
    mean, worst = math.exp(sum(map(math.log, ratios)) / len(ratios)), min(ratios)
    reached = mean >= limits.get("mean", 0) and worst >= limits.get("rows", 0)
    told = ", ".join(f"{what} {limit:.2f}" for what, limit in limits.items())
    verdict = f" ({'reaches' if reached else 'BELOW'} {told})" if limits else ""
    return f"geometric mean of {len(ratios)} rows {mean:.3f}, worst {worst:.2f}{verdict}", reached


def measure(threads: int, types: list[str], sizes: list[tuple[int, ...]], turns: int) -> list[dict[str, object]]:
    """One row for each size and type."""
    from xetile import cpu

    rng = np.random.default_rng(1)
    rows = []
    for dtype in types:
        limit = peak(dtype) * threads
        for size in sizes:
            if size in THIN and dtype != "f32" and len(types) > 1:
                continue
            kernel = cpu.compile(module(size, dtype), threads=threads)
            a, b = (draw(rng, spec) for spec in kernel.arguments)
            out = np.empty(kernel.results[0].shape, kernel.results[0].numpy_dtype)
            sides = {"xetile": lambda kernel=kernel, a=a, b=b, out=out: kernel(a, b, out=out)}
            sides |= peers(a, factor(b, size), dtype)
            sides["xetile"]()
            error = np.abs(out - a.astype("f4") @ factor(b, size).astype("f4")).max() / np.abs(out).max()
            if not error < 1e-4:
                sys.exit(f"bench: error: {name_of(size)} {dtype} is wrong by {error:.2g}")
            best = take_turns(sides, turns if threads == 1 else max(2, turns - 1), threads)
            speed = {name: 2e-9 * math.prod(size[:4]) / seconds for name, seconds in best.items()}
            fastest = max((name for name in sides if name != "xetile"), key=speed.get)
            rows.append(
                {
                    "size": size,
                    "dtype": dtype,
                    "threads": threads,
                    "gflops": speed,
                    "peer": fastest,
                    "ratio": speed["xetile"] / speed[fastest],
                    "us": 1e6 * best["xetile"],
                    "predicted": predicted(size, dtype, threads),
                    "peak": limit,
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

    if not {"avx512f", *(["avx512_bf16"] if dtype == "bf16" else [])} <= cpu_flags() or dtype == "s8":
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
    for threads, dtype in dict.fromkeys((row["threads"], row["dtype"]) for row in rows):
        chosen = [row for row in rows if row["threads"] == threads and row["dtype"] == dtype]
        limit = chosen[0]["peak"]
        units = f"; multiply-add units: {limit:.1f} GFLOP/s" if limit else ""
        print(f"\n{dtype}, {threads} thread{'s' * (threads > 1)}{units}")
        print(
            f"{'m x n x k':>18} {'GFLOP/s':>9} {'peer':>10} {'GFLOP/s':>9} {'ratio':>6} {'of peak':>8} "
            f"{'us':>9} {'predicted':>9}"
        )
        for row in chosen:
            speed, peer = row["gflops"], row["peer"]
            part = f"{speed['xetile'] / limit:.0%}" if limit else "-"
            print(
                f"{name_of(row['size']):>18} {speed['xetile']:>9.1f} {peer:>10} {speed[peer]:>9.1f} "
                f"{row['ratio']:>6.2f} {part:>8} {row['us']:>9.1f} {row['predicted']:>9.1f}"
            )
        factors = [off_by(row) for row in chosen]
        off = math.exp(sum(map(math.log, factors)) / len(factors))
        verdict = f"{'reaches' if off <= MODEL_LIMIT else 'MISSES'} {MODEL_LIMIT}"
        print(f"predictions are off by a factor of {off:.2f} in the mean, {max(factors):.2f} at most ({verdict})")
        good &= off <= MODEL_LIMIT
        # NumPy multiplies bf16 and bytes as f32 only: such rows show a ratio, but are no match.
        alike = [row["ratio"] for row in chosen if row["peer"] != OTHER_TYPE]
        if not alike:
            print(f"no mean: no peer here multiplies {dtype}; PyTorch would")
            continue
        limits = {what: limits[dtype] for what, limits in LIMITS.items() if dtype in limits}
        line, reached = summary(alike, limits)
        print(line, flush=True)
        good &= reached
    return good


def read_size(text: str) -> tuple[int, ...]:
    numbers = [int(word) for word in text.removesuffix("T").split("x")]
    if len(numbers) not in (3, 4) or min(numbers) < 1 or (text.endswith("T") and len(numbers) == 4):
        raise argparse.ArgumentTypeError(f"expected MxNxK, MxNxKT or BATCHESxMxNxK, got {text}")
    return (*[1] * (4 - len(numbers)), *numbers, *[True] * text.endswith("T"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--types", nargs="+", choices=list(ACCUMULATORS), default=types_here())
    parser.add_argument(
        "--rows", type=read_size, nargs="+", metavar="MxNxK", default=[*SQUARES, *DOCUMENT, *MODELS, *THIN]
    )
    parser.add_argument("--quick", action="store_true", help="fewer turns")
    parser.add_argument("--strict", action="store_true", help="fail where a limit is not reached")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    turns = 2 if options.quick else TURNS
    if options.one:
        print(json.dumps(measure(options.one, options.types, options.rows, turns)))
        return 0
    print(machine())
    without_torch("oneDNN beside NumPy, and means of bf16")
    arguments = ["--types", *options.types, "--rows", *map(name_of, options.rows)] + ["--quick"] * options.quick
    rows = in_processes(__file__, options.threads, arguments)
    good = report(rows)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file)
    return 1 if options.strict and not good else 0


if __name__ == "__main__":
    sys.exit(main())
