# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Surroundings of Triton's tests: xetile's runtime is its driver, and what it compiles is kept for this run only."""

import os
import tempfile
from pathlib import Path

import pytest

# PyTorch sets it in its first compilation, in the middle of a test.
os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(Path(tempfile.gettempdir(), "torchinductor-xetile-tests")))


def pytest_configure(config):
    # Other processes keep compiled kernels in the user's folder.
    folder = config.rootpath / "build" / "triton-tests"
    os.environ.setdefault("TRITON_CACHE_DIR", str(folder))
    import xetile.triton

    xetile.triton.activate("pvc")


@pytest.fixture
def seed(seed):
    import torch

    torch.manual_seed(seed)
    return seed
