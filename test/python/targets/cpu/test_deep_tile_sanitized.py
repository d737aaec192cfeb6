# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Deep-tiled matmuls under AddressSanitizer: the kernels that are generated, and the passes that generate them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from deep_tile_cases import Problem, blocked, compare, random_config, random_problem
from xetile import cpu, passes
from xetile.mlir import ir

pytestmark = pytest.mark.exhaustive

CALL = Path(__file__).with_name("call_sanitized.py")
REPORT = re.compile(r"ERROR: AddressSanitizer: [^\n]*")


def tool(name: str) -> str:
    found = shutil.which(f"{name}-22") or shutil.which(name)
    assert found, f"{name} is missing: scripts/bootstrap installs it"
    return found


def runtime() -> Path:
    """AddressSanitizer's runtime, which has to be loaded before all else."""
    query = [tool("clang"), "-print-file-name=libclang_rt.asan-x86_64.so"]
    path = Path(subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip())
    assert path.is_file(), "AddressSanitizer's runtime is missing: scripts/bootstrap installs libclang-rt-22-dev"
    return path


def build(kernel: cpu.Kernel, directory: Path) -> None:
    """A shared object whose every load and store is checked, also masked ones and those of outlined threads.

    Checks come before optimisation, so that accesses stay which it would drop. Scratch memory is not aligned: its
    allocation would be larger than it is, and hide what reads past its end.
    """
    text = re.sub(r" \{alignment = \d+ : i64\}", "", kernel.stages["2-memory"])
    assert "alignment" not in text
    with ir.Context():
        module = ir.Module.parse(text)
        for operation in module.body.operations:
            operation.attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()
    passes.run(module, "xetile-lower-to-cpu{vector-bits=0 share-scratch=false}")
    (directory / "kernel.mlir").write_text(str(module))
    # Where AddressSanitizer keeps its shadow depends on the target.
    triple = subprocess.run([tool("clang"), "-print-target-triple"], capture_output=True, text=True, check=True).stdout
    steps = [
        [tool("mlir-translate"), "--mlir-to-llvmir", "kernel.mlir", "-o", "kernel.ll"],
        [tool("opt"), f"-mtriple={triple.strip()}", "-passes=forceattrs,asan", "-force-attribute=sanitize_address"]
        + ["kernel.ll", "-o", "checked.bc"],
        [tool("clang"), "-O1", "-march=native", "-fPIC", "-shared", "-Wno-override-module", "checked.bc"]
        + ["-o", "kernel.so", str(cpu.find_libomp()), "-lm"],
    ]
    for step in steps:
        run = subprocess.run(step, cwd=directory, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr


def call(
    directory: Path, arrays: list[np.ndarray], shapes: list[list[int]], returns: bool
) -> subprocess.CompletedProcess:
    for number, array in enumerate(arrays):
        (directory / str(number)).write_bytes(array.tobytes())
    (directory / "call.json").write_text(json.dumps({"shapes": shapes, "returns": returns}))
    # Python itself leaks on purpose.
    environment = {**os.environ, "LD_PRELOAD": str(runtime()), "ASAN_OPTIONS": "detect_leaks=0"}
    command = [sys.executable, str(CALL), str(directory)]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def run_checked(rng: np.random.Generator, problem: Problem, config: dict, pack: str, directory: Path) -> None:
    print(problem, config, f"{pack=}")
    kernel = cpu.compile(problem.module(), config=config, threads=4, pack=pack)
    build(kernel, directory)
    arrays = problem.arrays(rng, kernel)
    run = call(directory, arrays, [list(array.shape) for array in arrays], bool(problem.dynamic))
    report = REPORT.search(run.stderr)
    assert not report, run.stderr
    assert run.returncode == 0, run.stderr
    result = np.frombuffer((directory / "result").read_bytes(), arrays[2].dtype).reshape(arrays[2].shape)
    compare(problem, arrays, result)


@pytest.mark.parametrize("number", range(100))
def test_random_kernels_stay_in_bounds(rng, tmp_path, number):
    problem = random_problem(rng, largest=90)
    pack = ("auto", "never", "always")[int(rng.integers(3))]
    run_checked(rng, problem, random_config(rng, problem, 4), pack, tmp_path)


@pytest.mark.parametrize("types", [("f32",) * 3, ("bf16", "bf16", "f32"), ("i8", "i8", "i32")], ids=lambda t: t[0])
@pytest.mark.parametrize("shape", [(13, 19, 17), (1, 1, 1), (33, 65, 129), (7, 15, 1), (64, 64, 1000)])
def test_kernels_of_odd_sizes_stay_in_bounds(rng, tmp_path, shape, types):
    run_checked(rng, Problem("plain", blocked("plain", *shape), types), {}, "always", tmp_path)


@pytest.mark.parametrize("operand", [0, 1, 2])
@pytest.mark.parametrize("types", [("f32",) * 3, ("bf16", "bf16", "f32")], ids=["f32", "bf16"])
def test_a_missing_row_is_reported(rng, tmp_path, operand, types):
    """That the check works: an array is one row shorter than the kernel is told."""
    problem = Problem("plain", blocked("plain", 20, 37, 33), types)
    kernel = cpu.compile(problem.module(), threads=1, pack="never")
    build(kernel, tmp_path)
    arrays = problem.arrays(rng, kernel)
    shapes = [list(array.shape) for array in arrays]
    arrays[operand] = arrays[operand][:-1]
    run = call(tmp_path, arrays, shapes, False)
    report = REPORT.search(run.stderr)
    assert report and "heap-buffer-overflow" in report[0]
    assert run.returncode != 0
