# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`@pytest.mark.one_in(n)` of test/conftest.py: which cases stay in `make test`."""

import shutil
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
SWEEPS = """
import pytest

@pytest.mark.one_in(5)
@pytest.mark.parametrize("n", range({count}))
def test_sweep(n):
    pass

@pytest.mark.one_in(5)
@pytest.mark.parametrize("n", range(2))
def test_short(n):
    pass

@pytest.mark.parametrize("n", range(3))
def test_plain(n):
    pass
"""


def kept(folder: Path, count: int, chosen: str) -> set[str]:
    """The cases that are run of a sweep of so many."""
    shutil.copy(TESTS / "conftest.py", folder)
    (folder / "test_sweeps.py").write_text(SWEEPS.format(count=count))
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", "-c", "/dev/null",
         "--rootdir", folder, "-m", chosen, folder],
        capture_output=True, text=True,
    )  # fmt: skip
    return {line.partition("::")[2] for line in run.stdout.splitlines() if "::" in line}


def test_one_case_in_five_stays_and_the_others_are_exhaustive(tmp_path):
    short, left = kept(tmp_path, 20, "not exhaustive"), kept(tmp_path, 20, "exhaustive")
    assert sum(name.startswith("test_sweep") for name in short) == 4
    assert sum(name.startswith("test_short") for name in short) == 1
    assert sum(name.startswith("test_plain") for name in short) == 3
    assert not short & left and len(short | left) == 25
