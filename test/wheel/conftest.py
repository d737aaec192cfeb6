# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wheels of this build, and environments that have them."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import readme_blocks
from environments import ROOT, Environment, make_environment, wheel_of, with_driver_of

_FIGURES = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_FIGURES] = []


def pytest_terminal_summary(terminalreporter, config: pytest.Config) -> None:
    """Sizes and times, which pytest hides of tests that pass."""
    if config.stash[_FIGURES]:
        terminalreporter.section("sizes and times")
        for line in config.stash[_FIGURES]:
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def tell(pytestconfig: pytest.Config) -> Callable[[str], None]:
    """Prints a line below the results."""
    return pytestconfig.stash[_FIGURES].append


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheels for .venv's Python, made now; those of $XETILE_DIST, if it is set, to try a test again."""
    place = tmp_path_factory.mktemp("dist")
    if given := os.environ.get("XETILE_DIST"):
        return Path(given)
    command = [sys.executable, ROOT / "scripts" / "wheel.py", "--sdist", "--out", place]
    run = subprocess.run(command, capture_output=True, text=True, timeout=1800)
    assert run.returncode == 0, run.stdout + run.stderr
    return place


@pytest.fixture(scope="session")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that is not below the source tree."""
    place = tmp_path_factory.mktemp("outside").resolve()
    assert not place.is_relative_to(ROOT), f"{place}: set TMPDIR to a folder outside of {ROOT}"
    return place


@pytest.fixture(scope="session")
def environment(dist: Path, outside: Path) -> Environment:
    """What the command of README.md gives, `pip install 'xetile[run]'`, with the folder that `make wheel` writes beside
    it."""
    fresh = make_environment(outside / "all", sys._base_executable)
    (fresh.home / "dist").symlink_to(dist)
    (command,) = readme_blocks.blocks_after("test: install")[:1]
    # What is never imported need not be compiled.
    variables = fresh.variables(PATH=f"{fresh.place}/bin:/usr/bin:/bin", PIP_NO_COMPILE="1")
    readme_blocks.run_shell(command, fresh.home, variables)
    return fresh


@pytest.fixture(scope="session")
def runtime_alone(dist: Path, outside: Path, environment: Environment) -> Environment:
    """What `pip install 'xetile-runtime[run]'` gives, where the driver is there."""
    place = outside / "runtime"
    with_driver_of(place, environment)
    return make_environment(place, sys._base_executable, f"{wheel_of(dist, 'xetile_runtime')}[run]")


@pytest.fixture
def folder(environment: Environment) -> Iterator[Path]:
    """An empty folder for a test's files."""
    with tempfile.TemporaryDirectory(dir=environment.home) as place:
        yield Path(place)
