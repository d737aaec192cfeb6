# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The hosted workflows: they do what .ci/run does, by targets of make that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text()


def made(text: str) -> list[str]:
    """The calls of make that are steps of their own."""
    return re.findall(r"^\s*(?:- run: |exec )?(make .*?)\s*$", text, flags=re.MULTILINE)


def test_the_hosted_checks_are_those_of_ci_run():
    own = made((ROOT / ".ci" / "run").read_text())
    hosted = made((ROOT / ".github" / "workflows" / "checks.yml").read_text())
    assert own and [call for call in hosted if call in own] == own


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_steps_only_prepare_and_call_make(path):
    text = path.read_text()
    calls = made(text)
    assert calls
    for call in calls:
        assert re.search(rf"^{call.split()[1]}:", MAKEFILE, flags=re.MULTILINE), call
    # Nothing is built or tested by other means.
    for word in ("cmake", "pytest", "lit ", "ninja", "pip install"):
        assert word not in text


def test_all_claimed_systems_are_in_the_matrix():
    text = (ROOT / ".github" / "workflows" / "checks.yml").read_text()
    for system in ("debian:12", "debian:13", "ubuntu:24.04"):
        assert f'"{system}"' in text
