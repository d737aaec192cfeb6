"""`xetile compile|run --target cpu` and `xetile explain`."""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from pathlib import Path

import numpy as np

from xetile import compiler, cpu, files, reference
from xetile.errors import XeTileError

__all__ = ["compile", "explain", "run"]

_TOLERANCE = 1e-3


def compile(options: argparse.Namespace) -> int:
    """Writes a shared object, or the module as LLVM dialect with `--emit llvm`."""
    if options.emit not in (None, "native", "llvm"):
        raise XeTileError(f"--emit {options.emit}: expected native (a shared object) or llvm for the target cpu")
    kernel = _kernel(options)
    if options.emit == "llvm":
        text = kernel.stages[cpu.STAGES[-1]]
        if options.output == "-":
            sys.stdout.write(text)
        else:
            files.write(options.output, text)
    elif options.output == "-":
        raise XeTileError("-o -: expected a file for a shared object")
    else:
        kernel.write_shared_object(options.output)
    return 0


def run(options: argparse.Namespace) -> int:
    """Runs on random arrays, tells the speed, compares with NumPy for `--check`."""
    payload = compiler.read_payload(options.input)
    kernel = _kernel(options)
    if any(-1 in spec.shape for spec in kernel.arguments):
        raise XeTileError("run: expected arguments of static sizes; call kernels of other sizes from Python")
    seed = secrets.randbits(32) if options.seed is None else options.seed
    rng = np.random.default_rng(seed)
    arguments = []
    for spec in kernel.arguments:
        kind = spec.numpy_dtype.kind
        if kind in "iu":
            values = rng.integers(-8, 8, spec.shape)
        else:
            values = rng.integers(0, 2, spec.shape) if kind == "b" else rng.uniform(-1, 1, spec.shape)
        arguments.append(np.asarray(values).astype(spec.numpy_dtype))
    results = kernel(*arguments)
    seconds = []
    for _ in range(options.repeat):
        start = time.perf_counter()
        results = kernel(*arguments)
        seconds.append(time.perf_counter() - start)
    speed = reference.count_flops(payload) / min(seconds) * 1e-9
    print(
        f"{kernel.name} on the CPU: call {min(seconds) * 1e3:.3f} ms, {speed:.1f} GFLOP/s; random arrays of seed {seed}"
    )
    if not options.check:
        return 0
    results = results if isinstance(results, tuple) else (results,)
    differences = [
        reference.compare(*pair) for pair in zip(results, reference.evaluate(payload, arguments), strict=True)
    ]
    for number, difference in enumerate(differences):
        print(f"result {number}: {difference}")
    worst = max((difference.max_relative for difference in differences), default=0.0)
    if worst > _TOLERANCE:
        raise XeTileError(f"the results are wrong: relative error {worst:.3g}, expected at most {_TOLERANCE}")
    return 0


def explain(options: argparse.Namespace) -> int:
    """Prints configurations and the terms that they were chosen by."""
    values = _settings(options.set)
    threads = values.pop("threads", None)
    if "pack" in values:
        raise XeTileError("--set pack: expected fields of the configuration or threads")
    print(cpu.explain(options.input, config=values, threads=threads))
    return 0


def _kernel(options: argparse.Namespace) -> cpu.CpuKernel:
    # The command's default is for GPUs; without a schedule the pass tiles.
    schedule = None if options.schedule == "matmul" else options.schedule
    kernel = cpu.compile_target(options.input, schedule, _settings(options.set))
    if options.dump_stages:
        for name, text in kernel.stages.items():
            _dump(Path(options.dump_stages), f"{name}.mlir", text)
    return kernel


def _settings(settings: list[str]) -> dict[str, int | str]:
    values: dict[str, int | str] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals or not key:
            raise XeTileError(f"--set {setting}: expected KEY=VALUE")
        if key == "pack":
            values[key] = text
            continue
        if key == "fuse":
            if text not in ("0", "1", "false", "true"):
                raise XeTileError(f"--set {setting}: expected true or false, got {text!r}")
            values[key] = text in ("1", "true")
            continue
        try:
            values[key] = int(text)
        except ValueError:
            raise XeTileError(f"--set {setting}: expected an integer, got {text!r}") from None
    return values


def _dump(folder: Path, name: str, text: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise XeTileError(f"cannot write a stage: {error}") from None
    files.write(folder / name, text)
