# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Surroundings of PyTorch's tests."""

import os
import tempfile
from pathlib import Path

import pytest

# PyTorch sets it in its first compilation, in the middle of a test.
os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(Path(tempfile.gettempdir(), "torchinductor-xetile-tests")))


@pytest.fixture(autouse=True)
def fresh():
    """Random numbers of their own for each test, which a failure shows; nothing that was compiled before."""
    import torch

    print(f"torch.manual_seed({torch.seed()})")
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()
