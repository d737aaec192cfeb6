# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`make demo`: one matmul through all levels, its files in build/demo, its result checked here.

usage: python -m xetile.demo [DIR]       (default: build/demo)
"""

from __future__ import annotations

import secrets
import sys
from pathlib import Path

import numpy as np

import xetile
from xetile import reference
from xetile.compiling import compiler
from xetile.kernels import runtime
from xetile.system import tools
from xetile.system.files import write
from xetile.system.surroundings import PACKAGE
from xetile.targets.xe_explain import describe_tiling

__all__ = ["main"]

_LIMIT = 1e-3
_CHIPS = ("pvc", "bmg")
_RUNS = 3


def main(directory: str = "build/demo") -> int:
    """Writes the files, prints a summary; 1 if the result's relative error is over the limit, else 0."""
    out = Path(directory)
    source = PACKAGE / "schedules" / "payloads" / "matmul_f16.mlir"
    payload = compiler.read_payload(source)
    kernel = xetile.compile(payload, schedule="matmul", target="pvc", native_chips=_CHIPS)
    print(f"{source.name}: {kernel.signature}")
    print(f"schedule {kernel.schedule.name} for {kernel.target}")
    print(describe_tiling(kernel.stages.stage("1-xetile-workgroup").module))

    files = kernel.stages.write(out)
    print(f"\n{'level':20} {'ops':>6} {'time':>10}  file")
    for name, path in zip(kernel.stages, files, strict=True):
        stage = kernel.stages.stage(name)
        print(f"{name:20} {stage.count_ops():6} {stage.seconds * 1e3:7.1f} ms  {path}")

    spirv = out / "matmul.spv"
    write(spirv, kernel.spirv)
    print(f"\n{'binary':8} {'bytes':>8} {'spilled':>8} {'registers':>10}  file")
    print(f"{'SPIR-V':8} {len(kernel.spirv):8} {'':8} {'':10}  {spirv}")
    for chip, code in kernel.native.items():
        path = out / f"matmul.{chip}.bin"
        write(path, code.data)
        print(f"{chip:8} {len(code.data):8} {code.spill_bytes:8} {code.registers:10}  {path}")
    if not kernel.native:
        try:
            tools.require_ocloc()
        except xetile.XeTileError as error:
            print(f"no native binaries: {error}")

    seed = secrets.randbits(32)
    arguments = reference.random_arguments(kernel.signature, np.random.default_rng(seed))
    result = kernel(*arguments)
    link = runtime.stats()
    seconds = []
    for _ in range(_RUNS):
        result = kernel(*arguments)
        seconds.append(runtime.stats().kernel_seconds)
    (expected,) = reference.evaluate(payload, arguments, np.float32)
    difference = reference.compare(result, expected)
    speed = reference.count_flops(payload) / min(seconds) * 1e-9
    cached = "" if link.programs_built else ", from the disk cache"
    print(f"\ndevice              {runtime.selected_device()}")
    print(f"link                {link.build_seconds:.2f} s{cached}")
    print(f"kernel              {min(seconds) * 1e3:.1f} ms, {speed:.1f} GFLOP/s (best of {_RUNS})")
    print(f"max relative error  {difference.max_relative:.2e} of max|d - ref| / max|ref|, limit {_LIMIT:g}")
    print(f"  by rows           {difference.row_relative:.2e} of max over rows of |d - ref| / |ref|")
    print(f"  ref is NumPy's in f32; random normal inputs of seed {seed}")
    if difference.max_relative > _LIMIT:
        print("xetile.demo: error: the result is wrong", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:2]))
    except (xetile.XeTileError, OSError) as error:
        sys.exit(f"xetile.demo: error: {error}")
