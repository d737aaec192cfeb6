# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a page shows, collected as it comes, and the file that it is written to: text, styles and script in one."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from xetile.errors import XeTileError
from xetile.pages.levels import Level, Op
from xetile.pages.machine import Code
from xetile.pages.memory import Memory
from xetile.pages.pictures import Pictures
from xetile.pages.printed import PassRun
from xetile.pages.program import Program
from xetile.system import files, tools

__all__ = ["Page"]

_HERE = Path(__file__).resolve().parent
_MOST_SOURCE_LINES = 5000


@dataclass
class Page:
    """A page. `title` and `target` head it; `names` are the levels that there will be; all else may come later.

    `state` says what is being done, empty at the end, and `error` what went wrong.
    """

    title: str
    target: str
    names: Sequence[str]
    passes: dict[str, list[str]] = field(default_factory=dict)
    levels: list[Level] = field(default_factory=list)
    runs: dict[str, list[PassRun]] = field(default_factory=dict)
    program: Program | None = None
    memory: Memory | None = None
    explained: str = ""
    schedule: str = ""
    machine: list[list[Code]] = field(default_factory=list)
    """Of each chip that there is code for."""
    lined: int = 0
    """The number of the level whose lines machine code has."""
    spirv: str = ""
    notes: list[str] = field(default_factory=list)
    errors: list[dict[str, Any]] = field(default_factory=list)
    state: str = ""
    error: str = ""
    _pictures: Pictures = field(default_factory=Pictures)
    _shown: dict[int, dict[str, Any]] = field(default_factory=dict)
    """Level by its number, as far as it does not change any more: a page is written many times."""

    def write(self, path: str | Path) -> Path:
        """Writes the file as far as things are known."""
        return files.write(path, self.to_html())

    def to_html(self) -> str:
        """The file's text."""
        # Nothing in a string may end the script, or begin a comment.
        data = json.dumps(self._data(), separators=(",", ":"), ensure_ascii=True).replace("<", "\\u003c")
        return (
            f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(self.title)}</title>\n'
            '<link rel="icon" href="data:,">\n'
            f"<style>\n{_resource('page.css')}</style></head>\n<body>\n"
            f'<script type="application/json" id="data">{data}</script>\n<script>\n{_resource("page.js")}</script>\n'
            "</body></html>\n"
        )

    def _data(self) -> dict[str, Any]:
        levels = [self._level(number) for number in range(len(self.levels))]
        panes, kernels = self._code()
        return {
            "title": self.title,
            "target": self.target,
            "names": list(self.names),
            "levels": levels,
            "sources": self._sources(),
            "passes": {name: [run.to_json() for run in runs] for name, runs in self.runs.items()},
            "documents": self._documents(),
            "docs": "",  # scripts/docs.py names the site's page of passes, which its pages are beside
            "pictures": self._pictures.all,
            "program": self.program.to_json() if self.program else None,
            "memory": self.memory.to_json() if self.memory else None,
            "explained": self.explained,
            "schedule": self.schedule,
            "machine": kernels,
            "code": panes,
            "spirv": self.spirv,
            "notes": self.notes,
            "errors": self.errors,
            "state": self.state,
            "error": self.error,
        }

    def _level(self, number: int) -> dict[str, Any]:
        level = self.levels[number]
        if number not in self._shown:
            self._shown[number] = {
                "name": level.name,
                "seconds": level.seconds,
                "lines": level.lines,
                "ops": [op.to_json() for op in level.ops],
                "new": level.changed(self.levels[number - 1]) if number else [],
                "gone": [],
                "warnings": level.warnings,
                "passes": self.passes.get(level.name, []),
                "pictures": self._pictures.of_level(level),
            }
            if number:
                self._shown[number - 1]["gone"] = self.levels[number - 1].changed(level)
        return self._shown[number]

    def _code(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Machine code as levels after the others, one for each chip: what each instruction was made of; and the code
        of each kernel, with the level and the line where it begins."""
        made_of = {op.line: op for op in reversed(self.levels[self.lined].ops)} if self.machine else {}
        panes: list[dict[str, Any]] = []
        kernels = []
        for codes in self.machine:
            lines: list[str] = []
            ops = []
            for code in codes:
                lines.append(f"{code.name}:")
                kernels.append({**code.to_json(), "pane": len(panes), "first": len(lines) + 1})
                for text, _, _, opcode, place in code.lines:
                    lines.append(f"  {text}")
                    op = made_of.get(place)
                    origins = {**op.origins, self.lined: [place]} if op else {}
                    ops.append(Op(len(lines), opcode, origins, op.source if op else "").to_json())
            panes.append({"name": f"machine code, {codes[0].place if codes else ''}", "lines": lines, "ops": ops})
        return panes, kernels

    def _documents(self) -> dict[str, list[str]]:
        """Texts about the passes of these levels: flag -> [summary, Markdown]."""
        named = {name for names in self.passes.values() for name in names}
        named |= {run.flag for runs in self.runs.values() for run in runs}
        return {name: text for name, text in _documents().items() if name in named}

    def _sources(self) -> dict[str, list[str]]:
        """The users' files that operations name, as far as they are there."""
        names = {op.source.rsplit(":", 2)[0] for level in self.levels for op in level.ops if op.source}
        found = {}
        for name in sorted(names):
            try:
                found[name] = files.read(name, "a source").decode(errors="replace").splitlines()[:_MOST_SOURCE_LINES]
            except XeTileError:  # the text of a location need be no file's name
                continue
        return found


@cache
def _resource(name: str) -> str:
    return (_HERE / name).read_text()


@cache
def _documents() -> dict[str, list[str]]:
    """Flag of a pass -> the line that says what it does, and what follows in docs/passes.md, which the package has."""
    path = tools.path_of_part("docs") / "passes.md"
    if not path.is_file():
        return {}
    found = {}
    for part in re.split(r"^### `-", path.read_text(), flags=re.MULTILINE)[1:]:
        # The next folder's heading ends the last part of one.
        flag, _, text = re.split(r"^## ", part, maxsplit=1, flags=re.MULTILINE)[0].partition("`\n")
        summary, _, rest = text.strip().partition("\n")
        found[flag] = [summary.strip("_"), rest.strip()]
    return found
