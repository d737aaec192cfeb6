# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fixtures of all Python tests."""

import os
import secrets
import zlib
from collections.abc import Iterator

import numpy as np
import pytest

# What was measured on the machine at hand changes no test, nor what a test runs in a process of its own.
os.environ["XETILE_CALIBRATION"] = "off"


def pytest_configure() -> None:
    """A run has one fresh seed, which its processes inherit: `pytest_terminal_summary` tells it of a crash, too."""
    if not os.environ.get("XETILE_SEED"):
        os.environ["XETILE_SEED"] = str(secrets.randbits(31))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tells what random numbers hang on. What ended a process has no output of its own that would."""
    seed = os.environ["XETILE_SEED"]
    terminalreporter.write_line(f"seed {seed}: run again with XETILE_SEED={seed}")


@pytest.fixture
def seed() -> int:
    """The run's seed, for a test that draws by itself."""
    return int(os.environ["XETILE_SEED"])


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a test with `@pytest.mark.one_in(n)` one case in n stays, and others are exhaustive: chosen by a hash of what
    names a case, so that neighbours of a sweep are apart and a run is like the next one; at least one stays."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("one_in"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for group in cases.values():
        marker = group[0].get_closest_marker("one_in")
        assert marker is not None
        (count,) = marker.args
        group.sort(key=lambda item: zlib.crc32(item.name.encode()))
        for item in group[-(-len(group) // count) :]:
            item.add_marker(pytest.mark.exhaustive)


@pytest.fixture(autouse=True)
def same_environment() -> Iterator[None]:
    """No test changes the environment of the next one: `monkeypatch.setenv` restores what it sets."""
    before = dict(os.environ)
    yield
    # pytest says in a variable which test runs; xetile.runtime, once in a process, where the driver from PyPI is.
    own = {"PYTEST_CURRENT_TEST", "XETILE_OPENCL_RT"}
    changed = {name for name, _ in before.items() ^ os.environ.items()} - own
    for name in changed:
        if name in before:
            os.environ[name] = before[name]
        else:
            del os.environ[name]
    assert not changed, "the test left other values in the environment"


@pytest.fixture
def rng(request: pytest.FixtureRequest, seed: int) -> np.random.Generator:
    """Random numbers from the run's seed, others in each test and each case of it."""
    return np.random.default_rng([seed, *request.node.name.encode()])
