# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What CMake wrote down about a build directory."""

from __future__ import annotations

import re
from pathlib import Path


def ninja(build: Path) -> str:
    """The one that builds there: another version would start the build's log over, and build everything again."""
    found = re.search(r"^CMAKE_MAKE_PROGRAM:\w+=(.+)$", (build / "CMakeCache.txt").read_text(), flags=re.MULTILINE)
    return found[1] if found else "ninja"
