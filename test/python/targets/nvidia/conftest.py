# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A driver of Nvidia's GPUs that computes nothing."""

import shutil
import subprocess
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def driver(tmp_path_factory) -> Path:
    """A driver that computes nothing."""
    compiler = next(filter(None, map(shutil.which, ("cc", "clang", "clang-22", "gcc"))), None)
    if compiler is None:
        pytest.skip("no C compiler")
    place = tmp_path_factory.mktemp("driver") / "libcuda.so"
    source = Path(__file__).parent / "Inputs" / "fake_driver.c"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", place, source], check=True)
    return place
