# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernel of the selftest is the one of docs/kernels.md, as LLVM compiles it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from gpu_runtime import SOURCE_ROOT, tool
from xetile import runtime, selftest_kernel

sys.path.append(str(SOURCE_ROOT / "test"))
from kernel_page import blocks  # noqa: E402


def test_it_is_that_of_the_page(tmp_path):
    (block,) = [block for block in blocks() if block.mark == "file: gemm.cl"]
    (tmp_path / "k.cl").write_text(block.text)
    options = ["--target=spirv64", "-cl-std=CL3.0", "-O2", "-c"]
    subprocess.run([tool("clang"), *options, "k.cl", "-o", "k.spv"], cwd=tmp_path, check=True)
    assert (tmp_path / "k.spv").read_bytes() == selftest_kernel.spirv(), "run scripts/selftest-kernel"


def test_it_multiplies(rng):
    a, b = (rng.integers(-4, 5, shape).astype("f2") for shape in ((24, 48), (48, 64)))
    c = np.full((24, 64), np.nan, "f4")
    runtime.Module(selftest_kernel.spirv())["gemm"][(4, 3), 16](a, b, c, 24, 64, 48)
    np.testing.assert_array_equal(c, a.astype("f4") @ b.astype("f4"))
