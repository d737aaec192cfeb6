# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/kernels.md: every block runs, in its order, in one folder; those of Triton in test/triton_kernels."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from xetile.system import tools

sys.path.append(str(Path(__file__).resolve().parents[1]))
from kernel_page import ROOT, blocks  # noqa: E402


@pytest.mark.skipif(tools.find_ocloc() is None, reason="there is no ocloc")
def test_every_block_runs(tmp_path):
    path = os.pathsep.join([str(tmp_path / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    variables = {**os.environ, "PATH": path}
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "xetile"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m xetile.cli "$@"\n')
    command.chmod(0o755)
    ran = []
    for block in blocks():
        if block.mark.startswith("file: "):
            (tmp_path / block.mark.removeprefix("file: ")).write_text(block.text)
            continue
        if block.mark == "triton" or block.language not in ("bash", "python"):
            continue
        shell = ["bash", "-euo", "pipefail", "-c"] if block.language == "bash" else [sys.executable, "-c"]
        run = subprocess.run([*shell, block.text], cwd=tmp_path, env=variables, capture_output=True, text=True)
        assert run.returncode == 0, f"{block.text}\n{run.stdout}{run.stderr}"
        ran.append(run.stdout)
    assert len(ran) == 7
    assert "argument 2: float32[40, 64]: " in ran[0]
    assert "NaN" not in ran[0].splitlines()[-1]
    assert "checked: arrays, rules of 2D blocks, the order of subgroups" in ran[1]
    assert "\n  defined intel_sub_group_2d_block_read_16b_8r16x1c\n" in ran[2]
    assert "gemm on bmg, a turn of its loop" in ran[3]
    assert "instructions" in ran[4]
    assert "gemm(an array, an array, an array, i32, i32, i32)" in ran[6]


def test_no_block_is_left_out():
    read_only = [block for block in blocks() if not block.language]
    assert [block.text.split()[0] for block in read_only] == ["pip"]
    assert (ROOT / "examples" / "ci" / "triton.sh").exists()
