# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Surroundings of PyTorch's tests."""

import os
import tempfile
from pathlib import Path

# PyTorch sets it in its first compilation, in the middle of a test.
os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(Path(tempfile.gettempdir(), "torchinductor-xetile-tests")))
