# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""examples/ci: its steps pass where a pipeline runs them, and fail for what they are there to find."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from environments import ROOT
from xetile.system import tools

RECIPE = ROOT / "examples" / "ci"


@pytest.fixture(scope="module")
def checkout(dist, outside) -> Path:
    """A repository as github-actions.yml describes it."""
    place = outside / "repository"
    (place / "ci").mkdir(parents=True)
    for name in ("check.sh", "matmul.mlir"):
        shutil.copy(RECIPE / name, place / "ci")
    shutil.copytree(dist, place / "wheels")
    return place


def steps(checkout: Path, **more: str) -> list[subprocess.CompletedProcess]:
    """What the workflow's own commands do, in its order, as long as they pass."""
    workflow = yaml.safe_load((RECIPE / "github-actions.yml").read_text())
    (job,) = workflow["jobs"].values()
    clean = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    clean |= {"PATH": "/usr/bin:/bin", "HOME": str(checkout), "PYTHON": sys._base_executable, **more}
    done = []
    for step in job["steps"]:
        if "run" in step:
            command = ["bash", "-e", "-o", "pipefail", "-c", step["run"]]
            variables = {**clean, **step.get("env", {})}
            done.append(
                subprocess.run(command, cwd=checkout, env=variables, capture_output=True, text=True, timeout=900)
            )
            if done[-1].returncode:
                break
    return done


@pytest.mark.exhaustive
def test_every_step_of_the_workflow_passes(checkout):
    done = steps(checkout)
    assert [step.returncode for step in done] == [0] * len(done) != [], done[-1].stdout + done[-1].stderr
    assert done[-1].stdout.count("result 0: max|d - ref| / max|ref|") == 2


@pytest.mark.exhaustive
@pytest.mark.skipif(tools.find_ocloc() is None, reason="no ocloc: scripts/install-ocloc")
def test_it_fails_when_machine_code_becomes_worse(checkout):
    baseline = checkout / "ci" / "baseline.json"
    ocloc = {"XETILE_OCLOC": str(tools.find_ocloc())}
    assert "baseline.json: commit it" in steps(checkout, **ocloc)[-1].stdout
    kept = json.loads(baseline.read_text())
    for kernel in kept["kernels"]:
        kernel["figures"] = {name: value / 2 for name, value in kernel["figures"].items()}
    baseline.write_text(json.dumps(kept))
    done = steps(checkout, **ocloc)
    baseline.unlink()
    assert done[-1].returncode != 0
    assert re.search(r"mov/dpas .*\+100.0% +worse", done[-1].stdout), "it failed before the last step"


@pytest.mark.exhaustive
def test_it_fails_when_the_schedule_makes_something_else(checkout):
    place = checkout / "ci" / "matmul.mlir"
    text = place.read_text()
    try:
        place.write_text(text.replace("CHECK:           xetile.tile_mma", "CHECK: xetile.nothing"))
        done = steps(checkout)
    finally:
        place.write_text(text)
    assert done[-1].returncode != 0
    assert "CHECK: expected string not found" in done[-1].stderr


def test_it_says_what_is_missing_without_wheels(checkout):
    script = ["bash", checkout / "ci" / "check.sh"]
    run = subprocess.run(script, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True)
    assert run.returncode != 0 and "XETILE_WHEELS: expected the folder of the wheels" in run.stderr
