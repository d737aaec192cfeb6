# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The passes of a level, in the order in which they ran, with what each of them changed: read from the files that
`xetile.passes.printed_to` made."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["PassRun", "read"]

_HEAD = re.compile(r"// -----// IR Dump After (\w+) (Failed )?\(([^)]*)\)(?: \('([^']*)' operation(?:: (\S+))?\))?")
_MOST_LINES = 30_000  # of two modules that are compared line by line
_MOST_CHARACTERS = 400
_MOST_DIFFERENCES = 3000


@dataclass(frozen=True)
class PassRun:
    """A run of a pass: on which operation, and the lines of the difference that it made; none where nothing changed."""

    name: str
    flag: str
    on: str
    failed: bool
    difference: list[str]

    @property
    def changed(self) -> bool:
        """True if the module is another one."""
        return bool(self.difference)

    def to_json(self) -> dict[str, Any]:
        """As a page's script reads it."""
        return {"name": self.name, "flag": self.flag, "on": self.on, "failed": self.failed, "diff": self.difference}


def read(folder: Path, start: list[str]) -> list[PassRun]:
    """The runs in `folder`, its subfolders in order. The first one is compared with `start`, the lines of the level
    before, of which the passes had a copy."""
    runs: list[PassRun] = []
    before = [line[:_MOST_CHARACTERS] for line in start]
    for place in sorted(folder.iterdir()) if folder.is_dir() else ():
        if not place.name.isdecimal():
            continue
        # One thread wrote them, one after the other; their names count passes of each operation apart.
        files = sorted((place / "passes").rglob("*.mlir"), key=lambda path: (path.stat().st_mtime_ns, path.name))
        for path in files:
            head, _, text = path.read_text(errors="replace").partition("\n")
            found = _HEAD.match(head)
            if not found:
                continue
            now = [line[:_MOST_CHARACTERS] for line in text.rstrip("\n").split("\n")]
            difference = [] if before == now else _difference(before, now)
            runs.append(
                PassRun(
                    found[1],
                    found[3],
                    " ".join(filter(None, (found[4], found[5]))),
                    bool(found[2]),
                    difference,
                )
            )
            before = now
    return runs


def _difference(before: list[str], now: list[str]) -> list[str]:
    if len(before) + len(now) > _MOST_LINES:
        return [f"too long to compare: {len(before)} lines before, {len(now)} after"]
    lines = list(difflib.unified_diff(before, now, lineterm="", n=2))[2:]
    if len(lines) > _MOST_DIFFERENCES:
        return [*lines[:_MOST_DIFFERENCES], f"... {len(lines) - _MOST_DIFFERENCES} lines more"]
    return lines
