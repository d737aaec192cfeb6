# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A driver of Nvidia's GPUs that computes nothing, for tests where there is none."""

import shutil
import subprocess
from pathlib import Path

import pytest

_SOURCE = Path(__file__).parent / "Inputs" / "fake_driver.c"


def built(folder: Path) -> Path:
    """The library, in `folder`. Skips a test where no compiler of C is in PATH."""
    names = ("cc", "clang", "clang-22", "gcc")
    compiler = next(filter(None, map(shutil.which, names)), None)
    if compiler is None:
        pytest.skip(f"none of {', '.join(names)} is in PATH")
    place = folder / "libcuda.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", place, _SOURCE], check=True)
    return place
