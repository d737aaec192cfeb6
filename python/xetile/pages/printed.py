# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The passes of a level, in the order in which they ran, with what each of them changed: read from the files that
`xetile.passes.printed_to` made."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["PassRun", "Printed"]

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


class Printed:
    """The runs of a level's passes, read as they come. The first one is compared with `start`, the lines of the level
    before, of which the passes had a copy."""

    def __init__(self, folder: Path, start: list[str]) -> None:
        self.runs: list[PassRun] = []
        self._folder, self._read = folder, 0
        self._before = [line[:_MOST_CHARACTERS] for line in start]

    def read(self) -> list[PassRun]:
        """All runs up to now."""
        places = sorted(self._folder.iterdir()) if self._folder.is_dir() else []
        for place in places[self._read :]:
            # One thread wrote them, one after the other; their names count passes of each operation apart.
            files = (place / "passes").rglob("*.mlir")
            for path in sorted(files, key=lambda path: (path.stat().st_mtime_ns, path.name)):
                self._take(path)
        self._read = len(places)
        return self.runs

    def _take(self, path: Path) -> None:
        head, _, text = path.read_text(errors="replace").partition("\n")
        found = _HEAD.match(head)
        if not found:
            return
        now = [line[:_MOST_CHARACTERS] for line in text.rstrip("\n").split("\n")]
        difference = [] if self._before == now else _difference(self._before, now)
        on = " ".join(filter(None, (found[4], found[5])))
        self.runs.append(PassRun(found[1], found[3], on, bool(found[2]), difference))
        self._before = now


def _difference(before: list[str], now: list[str]) -> list[str]:
    if len(before) + len(now) > _MOST_LINES:
        return [f"too long to compare: {len(before)} lines before, {len(now)} after"]
    lines = list(difflib.unified_diff(before, now, lineterm="", n=2))[2:]
    if len(lines) > _MOST_DIFFERENCES:
        return [*lines[:_MOST_DIFFERENCES], f"... {len(lines) - _MOST_DIFFERENCES} lines more"]
    return lines
