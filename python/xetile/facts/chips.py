# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Intel GPUs of the compiler's device table."""

from __future__ import annotations

from typing import Any

from xetile.errors import XeTileError, told
from xetile.mlir._mlir_libs import _xetile

__all__ = ["facts_of", "names", "why_not"]


def names() -> tuple[str, ...]:
    """Those that kernels are compiled for, by name."""
    return tuple(facts["chip"] for facts in _xetile.targets())


def why_not(name: str) -> str | None:
    """Why there are no kernels for a chip: it is unknown, or lacks something. None if there are."""
    # Names from a command line may have bytes that no string for C++ has.
    return _xetile.check_chip(name.encode(errors="backslashreplace").decode())


def facts_of(chip: Any) -> dict[str, Any]:
    """The table's row of a chip, given by name or as an object with a `name`. XeTileError if it has none."""
    name = getattr(chip, "name", chip)
    if not isinstance(name, str):
        raise XeTileError(f"target: expected the name of a chip, got {told(chip)}")
    if why := why_not(name):
        raise XeTileError(f"target: {why}")
    return dict(next(facts for facts in _xetile.targets() if facts["chip"] == name))
