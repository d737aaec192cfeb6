"""Fixtures of all Python tests."""

import os
import secrets

import numpy as np
import pytest


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers from a fresh seed. The seed is printed, which pytest shows for failed tests."""
    seed = int(os.environ.get("XETILE_SEED") or secrets.randbits(32))
    print(f"seed {seed}: run again with XETILE_SEED={seed}")
    return np.random.default_rng(seed)
