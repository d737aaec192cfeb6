# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests that come with the package: does this installation compile, run, save, load and refuse as it should.

usage: python -m xetile.selftest [WORD ...]       (those whose names have one of the words; default: all)

Numbers are random, from a fresh seed that is printed; results are compared with NumPy's.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import xetile
from xetile import XeTileError, selftest_kernel
from xetile.kernels import runtime
from xetile.system import tools

__all__ = ["main"]

_GPU = {"workgroup_m": 64, "workgroup_n": 64, "subgroups_m": 2, "subgroups_n": 2}


def _arrays(rng: np.random.Generator, m: int, n: int, k: int, dtype: str = "f2") -> tuple[Any, ...]:
    """Small integers, of which every sum is exact; no results in what the results are written to."""
    a, b, c = (rng.integers(-4, 5, shape) for shape in ((m, k), (k, n), (m, n)))
    return a.astype(dtype), b.astype(dtype), c.astype("f4"), np.full((m, n), np.nan, "f4")


def _expect_product(kernel: xetile.Kernel, a: Any, b: Any, c: Any, out: Any) -> None:
    kernel(a, b, c, out=out)
    expected = a.astype("f4") @ b.astype("f4") + c
    assert (out == expected).all(), f"{(out != expected).sum()} of {out.size} elements are wrong"


def test_cpu_matmul(rng: np.random.Generator) -> None:
    m, n, k = (int(size) for size in rng.integers(1, 130, 3))
    for dtype, name in (("f2", "f16"), ("f4", "f32")):
        kernel = xetile.compile(xetile.matmul(m, n, k, dtype=name), target="cpu")
        _expect_product(kernel, *_arrays(rng, m, n, k, dtype))


def test_gpu_matmul_on_the_selected_device(rng: np.random.Generator) -> None:
    kernel = xetile.compile(xetile.matmul(64, 128, 32), target="pvc", params=_GPU, native="off")
    assert kernel.spirv[:4] == b"\x03\x02\x23\x07"
    _expect_product(kernel, *_arrays(rng, 64, 128, 32))


def test_saved_kernels_run_without_a_compiler(rng: np.random.Generator) -> None:
    seed = int(rng.integers(1 << 31))
    code = (
        "import sys, numpy, xetile\n"
        "rng = numpy.random.default_rng(int(sys.argv[2]))\n"
        "a, b, c = (rng.integers(-4, 5, s) for s in ((64, 32), (32, 128), (64, 128)))\n"
        "a, b, c = a.astype('f2'), b.astype('f2'), c.astype('f4')\n"
        "out = numpy.full((64, 128), numpy.nan, 'f4')\n"
        "xetile.load(sys.argv[1])(a, b, c, out=out)\n"
        "assert (out == a.astype('f4') @ b.astype('f4') + c).all()\n"
        "assert not any('libMLIR' in line for line in open('/proc/self/maps'))\n"
    )
    more: dict[str, dict[str, Any]] = {"cpu": {}, "pvc": {"params": _GPU, "native": "off"}}
    with tempfile.TemporaryDirectory() as directory:
        for target, options in more.items():
            file = xetile.compile(xetile.matmul(64, 128, 32), target=target, **options).save(Path(directory, "k.so"))
            _run(sys.executable, "-c", code, file, str(seed))


def test_a_schedule_in_xetile_opt_and_filecheck(_: np.random.Generator) -> None:
    schedules = tools.where("schedules")
    text = _run(
        tools.where("xetile-opt"),
        schedules / "payloads" / "matmul_f16.mlir",
        f"--transform-preload-library=transform-library-paths={schedules / 'parts'},{schedules / 'matmul.mlir'}",
        "--transform-interpreter",
    )
    with tempfile.TemporaryDirectory() as directory:
        check = Path(directory, "check.txt")
        filecheck = tools.where("FileCheck")
        check.write_text("CHECK: gpu.func @matmul_kernel\nCHECK: xetile.prefetch_tile\nCHECK: xetile.tile_mma\n")
        _run(filecheck, check, given=text)
        check.write_text("CHECK: xetile.nothing_of_the_kind\n")
        refused = subprocess.run([filecheck, check], input=text, capture_output=True, text=True)
        assert refused.returncode == 1, "FileCheck found what is not there"


def test_a_kernel_in_opencl_c_runs_and_is_checked(rng: np.random.Generator) -> None:
    a, b, _, out = _arrays(rng, 24, 64, 48)
    module = runtime.Module(selftest_kernel.spirv())
    module["gemm"][(4, 3), 16](a, b, out, 24, 64, 48)
    expected = a.astype("f4") @ b.astype("f4")
    assert (out == expected).all(), f"{(out != expected).sum()} of {out.size} elements are wrong"
    try:
        module["gemm"][(4, 3), 16](a, b, out, 24, 64)
    except XeTileError as error:
        assert "expected 6 arguments" in str(error)
    else:
        raise AssertionError("a missing argument was taken")


def test_what_cannot_be_compiled_is_refused(_: np.random.Generator) -> None:
    wrong: dict[str, tuple[Any, dict[str, Any]]] = {
        "cpu": ("func.func @f(", {}),
        "pvc": (xetile.matmul(64, 128, 32), {"params": {"k_step": -16}}),
    }
    for target, (module, options) in wrong.items():
        try:
            xetile.compile(module, target=target, **options)
        except XeTileError as error:
            assert str(error)
        else:
            raise AssertionError(f"expected an error for {target}")


def test_block_messages_are_planned(_: np.random.Generator) -> None:
    from xetile.cli import main as command

    assert command(["layout", "--dpas", "A", "--shape", "256x32", "--type", "f16", "--subgroups", "8x4", "--plan"]) == 0


def _run(*command: object, given: str = "") -> str:
    run = subprocess.run(list(map(str, command)), input=given, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, f"{command[0]}: {run.stderr or run.stdout}"
    return run.stdout


def main(words: Sequence[str] = ()) -> int:
    """Runs the tests whose names have one of `words`; 1 if one fails, else 0."""
    tests: dict[str, Callable[[np.random.Generator], None]] = {
        name.removeprefix("test_"): test for name, test in globals().items() if name.startswith("test_")
    }
    chosen = [name for name in tests if not words or any(word in name for word in words)]
    if not chosen:
        print(f"expected a part of one of {', '.join(tests)}, got {' '.join(words)}", file=sys.stderr)
        return 1
    seed = int(os.environ.get("XETILE_SEED") or secrets.randbits(32))
    print(f"seed {seed}: run again with XETILE_SEED={seed}")
    failed = 0
    for name in chosen:
        start = time.perf_counter()
        try:
            tests[name](np.random.default_rng(seed))
            word = "ok"
        except Exception:  # noqa: BLE001  a test fails in any way; the others still run
            traceback.print_exc()
            word, failed = "FAILED", failed + 1
        print(f"{word:7} {name} ({time.perf_counter() - start:.1f} s)", flush=True)
    if failed:
        print(runtime.describe_drivers(), end="")
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
