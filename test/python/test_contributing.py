# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CONTRIBUTING.md and CHANGELOG.md speak of files that exist, and of targets of the Makefile."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def paths_in(text: str) -> set[str]:
    """What is written as `path/to/file`; capitals (NAME) stand for what the reader chooses."""
    words = set(re.findall(r"`([\w.-]+/[\w./-]*)`", text))
    return {word for word in words if not re.search(r"\b(NAME|STEP)\b", word)}


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "CHANGELOG.md"])
def test_every_path_exists(page):
    paths = paths_in((ROOT / page).read_text())
    assert paths
    assert {path for path in paths if not (ROOT / path).exists()} == set()


def test_readme_links_the_pages():
    readme = (ROOT / "README.md").read_text()
    assert "(CONTRIBUTING.md)" in readme
    assert "(CHANGELOG.md)" in readme


def would_run(target: str) -> str:
    """The commands of a make target; nothing runs."""
    run = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_every_make_target_exists():
    for page in ("CONTRIBUTING.md", "README.md", "test/fuzz/README.md"):
        targets = set(re.findall(r"`make\s([a-z][\w-]*)", (ROOT / page).read_text()))
        assert targets
        for target in targets:
            would_run(target)


def test_all_of_its_parts_make_up_test_all():
    """Without those in environments of their own: wheels, PyTorch, Triton."""
    told = (ROOT / "CONTRIBUTING.md").read_text()
    parts = set(re.findall(r"`make (test-(?!all|wheel|torch|triton)[\w-]*)", told)) | {"test"}
    assert parts >= {"test", "test-exhaustive", "test-machines", "test-sanitized", "test-sanitized-fuzz"}
    every = would_run("test-all").splitlines()
    for part in parts:
        assert set(would_run(part).splitlines()) <= set(every), f"make test-all leaves out make {part}"
