# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runner of KernelBench, on problems of its form that are written here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")

ROOT = Path(__file__).resolve().parents[2]
PROBLEM = """
import torch

batch_size = 4096
features = 1024

class Model(torch.nn.Module):
    def __init__(self, features):
        super().__init__()
        self.layer = torch.nn.Linear(features, features // 2)

    def forward(self, x):
        {body}

def get_inputs():
    return [torch.rand(batch_size, features)]

def get_init_inputs():
    return [features]
"""
BODIES = {
    "1_right": "return self.layer(x).relu()",
    "2_not_imported": "return torch.digamma(self.layer(x))",
    "3_crashed": "import os; os.abort()",
}


@pytest.mark.parametrize("options", [[], ["--freeze"]])
def test_problems_are_shrunk_run_and_told(options, tmp_path):
    level = tmp_path / "KernelBench" / "level1"
    level.mkdir(parents=True)
    for name, body in BODIES.items():
        (level / f"{name}.py").write_text(PROBLEM.format(body=body))
    found, page = tmp_path / "found.json", tmp_path / "page.html"
    command = [sys.executable, ROOT / "test" / "kernelbench", tmp_path, "--level", "1", "--seconds", "0.01"]
    command += ["--elements", "100000", "--json", found, "--page", page, *options]
    run = subprocess.run(
        command, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT / "build" / "python_packages")}
    )
    assert run.returncode == 1, run.stderr
    rows = {row["name"]: row for row in json.loads(found.read_text())["rows"]}
    assert {name: row["state"] for name, row in rows.items()} == {name: name[2:].replace("_", " ") for name in BODIES}
    # The batch first, then features: no tensor has more elements.
    constants = rows["1_right"]["constants"]
    assert constants["batch_size"] * constants.get("features", 1024) <= 100_000
    assert rows["1_right"]["seconds"]["ours"] > 0 and "digamma" in rows["2_not_imported"]["reason"]
    assert "level 1: 3 tried, 1 imported, 1 compiled, 0 wrong, 1 crashed, 0 out of time, 1 right" in run.stdout
    assert page.read_text().count("<rect") == 1


def test_for_a_gpu_kernels_and_their_spills_are_counted(tmp_path):
    level = tmp_path / "KernelBench" / "level2"
    level.mkdir(parents=True)
    (level / "1_right.py").write_text(PROBLEM.format(body=BODIES["1_right"]))
    found = tmp_path / "found.json"
    command = [sys.executable, ROOT / "test" / "kernelbench", tmp_path, "--level", "2", "--seconds", "0.01"]
    command += ["--elements", "5000", "--json", found, "--target", "pvc"]
    run = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "build" / "python_packages")},
    )
    assert run.returncode == 0, run.stdout + run.stderr
    (row,) = json.loads(found.read_text())["rows"]
    assert row["kernels"] >= 1 and row["inductor_kernels"]["library"] == 1
    if row["spills"] is not None:
        assert row["spills"] == {} and "; 0 of 1 spill, 0 bytes in all" in run.stdout


def test_a_folder_that_is_no_checkout_is_refused(tmp_path):
    run = subprocess.run([sys.executable, ROOT / "test" / "kernelbench", tmp_path], capture_output=True, text=True)
    assert run.returncode == 1 and "expected a checkout of KernelBench" in run.stderr
