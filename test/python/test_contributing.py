# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CONTRIBUTING.md and CHANGELOG.md speak of files that exist."""

import re
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
