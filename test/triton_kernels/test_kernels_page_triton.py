# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The blocks of Triton in docs/kernels.md, and the pipeline of examples/ci."""

import json
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


def pipeline(folder: Path, *tests: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """examples/ci/triton.sh on a kernel that spills nothing."""
    (folder / "counted.py").write_text(
        "import torch, triton\nimport triton.language as tl\n\n\n"
        "@triton.jit\ndef add(x, n, B: tl.constexpr):\n    i = tl.arange(0, B)\n"
        "    tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)\n\n\n"
        "KERNELS = [(add, (torch.zeros(64), 64), {'B': 64})]\n"
    )
    return subprocess.run(
        ["bash", str(ROOT / "examples" / "ci" / "triton.sh"), "counted.py", *tests],
        cwd=folder,
        env={**os.environ, "PYTHON": sys.executable, **variables},
        capture_output=True,
        text=True,
    )


def test_the_pipeline_fails_where_a_kernel_spills(tmp_path):
    (tmp_path / "test_nothing.py").write_text("def test_nothing(): pass\n")
    run = pipeline(tmp_path, "test_nothing.py")
    assert run.returncode == 0, run.stdout + run.stderr
    assert "add     bmg" in run.stdout
    run = pipeline(tmp_path, SPILL_LIMIT="-1")
    assert run.returncode == 1, run.stdout + run.stderr
    assert "add on pvc spills 0 bytes, the limit is -1" in run.stderr


def test_the_pipeline_fails_where_a_kernel_spills_more_than_before(tmp_path):
    kept = tmp_path / "counts.json"
    run = pipeline(tmp_path, BASELINE="counts.json")
    assert run.returncode == 0, run.stdout + run.stderr
    counts = json.loads(kept.read_text())
    assert [(one["kernel"], one["chip"]) for one in counts["kernels"]] == [("add", "pvc"), ("add", "bmg")]
    for one, spilled in zip(counts["kernels"], (64, -1), strict=True):
        one["figures"]["spill_bytes"] = spilled
    kept.write_text(json.dumps(counts))
    run = pipeline(tmp_path, BASELINE="counts.json")
    assert run.returncode == 1, run.stdout + run.stderr
    assert run.stderr.splitlines()[-1] == "add on bmg spills 0 bytes, before it was -1"
    assert "on pvc" not in run.stderr
    assert json.loads(kept.read_text()) == counts
