# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The hosted workflows: they do what .ci/run does, by targets of make and scripts that exist."""

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text()
# A bare system has neither git nor make; the scripts are there once it has the tree.
BEFORE_CHECKOUT = (
    "apt-get update && apt-get install -y --no-install-recommends ca-certificates git make && "
    "git config --global --add safe.directory '*'"
)


def steps(text: str) -> list[str]:
    """What steps run, each on one line."""
    return re.findall(r"^\s+(?:- )?run: *(.*?)\s*$", text, flags=re.MULTILINE)


def test_the_hosted_checks_are_those_of_ci_run():
    own = re.findall(r"^(?:exec )?(make .*?)\s*$", (ROOT / ".ci" / "run").read_text(), flags=re.MULTILINE)
    hosted = steps((ROOT / ".github" / "workflows" / "checks.yml").read_text())
    assert own and [call for call in hosted if call in own] == own


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_step_is_a_target_of_make_or_a_script(path):
    called = steps(path.read_text())
    assert called
    for call in called:
        if call == BEFORE_CHECKOUT:
            continue
        program, *words = call.split()
        assert not re.search(r"[;|&`\n]|\$\(", call), call
        if program == "make":
            assert re.search(rf"^{words[0]}:", MAKEFILE, flags=re.MULTILINE), call
        else:
            assert program.startswith("scripts/") and os.access(ROOT / program, os.X_OK), call


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_what_comes_before_the_checkout_is_first_in_each_job_of_a_container(path):
    for job in re.split(r"^  \w+:$", path.read_text(), flags=re.MULTILINE)[1:]:
        if "container:" in job:
            assert steps(job)[0] == BEFORE_CHECKOUT
            assert job.index(BEFORE_CHECKOUT) < job.index("actions/checkout")


def test_all_claimed_systems_are_in_the_matrix():
    text = (ROOT / ".github" / "workflows" / "checks.yml").read_text()
    for system in ("debian:12", "debian:13", "ubuntu:24.04"):
        assert f'"{system}"' in text
