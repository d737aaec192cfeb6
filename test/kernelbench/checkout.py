# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The problems of a checkout of KernelBench, as files."""

from __future__ import annotations

import re
import sys
from pathlib import Path


def problems(checkout: Path, level: int, only: list[int] | None) -> list[Path]:
    """Those of a level, or of the numbers that are asked for, by their numbers."""
    folder = checkout / "KernelBench" / f"level{level}"
    if not folder.is_dir():
        sys.exit(f"kernelbench: error: there is no {folder}; expected a checkout of KernelBench")
    numbered = {int(found[1]): file for file in folder.glob("*.py") if (found := re.match(r"(\d+)_", file.name))}
    return [numbered[number] for number in sorted(numbered) if only is None or number in only]
