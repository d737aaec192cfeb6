# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The blocks of Triton in docs/kernels.md, and the pipeline of examples/ci."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from xetile.system import tools

sys.path.append(str(Path(__file__).resolve().parents[1]))
from kernel_page import ROOT, blocks  # noqa: E402

pytestmark = pytest.mark.skipif(tools.find_ocloc() is None, reason="there is no ocloc")


@pytest.mark.parametrize("checks", ["0", "1"])
def test_the_blocks_run(checks, tmp_path):
    (block,) = [block for block in blocks() if block.mark == "triton"]
    (tmp_path / "kernels.py").write_text(block.text)
    run = subprocess.run(
        [sys.executable, "kernels.py"],
        cwd=tmp_path,
        env={**os.environ, "XETILE_CHECK": checks},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert "softmax on bmg, all of its messages" in run.stdout


def test_the_pipeline_fails_where_a_kernel_spills(tmp_path):
    (tmp_path / "test_nothing.py").write_text("def test_nothing(): pass\n")
    (tmp_path / "counted.py").write_text(
        "import torch, triton\nimport triton.language as tl\n\n\n"
        "@triton.jit\ndef add(x, n, B: tl.constexpr):\n    i = tl.arange(0, B)\n"
        "    tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)\n\n\n"
        "KERNELS = [(add, (torch.zeros(64), 64), {'B': 64})]\n"
    )
    script = [str(ROOT / "examples" / "ci" / "triton.sh"), "counted.py", "test_nothing.py"]
    variables = {**os.environ, "PYTHON": sys.executable}
    run = subprocess.run(["bash", *script], cwd=tmp_path, env=variables, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "add     bmg" in run.stdout
    variables["SPILL_LIMIT"] = "-1"
    run = subprocess.run(["bash", *script], cwd=tmp_path, env=variables, capture_output=True, text=True)
    assert run.returncode == 1, run.stdout + run.stderr
    assert "add on pvc spills 0 bytes, the limit is -1" in run.stderr
