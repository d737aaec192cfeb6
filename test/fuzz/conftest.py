# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tests of the kinds share."""

import random

import pytest


@pytest.fixture(autouse=True)
def environment(monkeypatch) -> None:
    """Kinds set variables of the process that they were given; here it is pytest's, which gets its own back."""
    for name in ("XETILE_CACHE", "XETILE_BUILTINS"):
        monkeypatch.setenv(name, "")  # "" is as good as unset, and what was there comes back


@pytest.fixture
def seed() -> int:
    seed = random.SystemRandom().randrange(2**32)
    print(f"{seed=}")
    return seed
