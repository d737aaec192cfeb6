# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pieces of all .mlir files in test/ and schedules/, each with the passes that its file's RUN lines name."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Chunk:
    """One module's text without comments; `pipelines` are those that its file runs, as lists of passes."""

    text: str
    pipelines: tuple[tuple[str, ...], ...]
    unregistered: bool
    is_library: bool


@cache
def chunks() -> tuple[Chunk, ...]:
    """All pieces, in the order of their files' names."""
    found = []
    for folder in ("test", "schedules"):
        for path in sorted((ROOT / folder).rglob("*.mlir")):
            # Parts' bodies come in by the library path; a file of one's own declares them.
            found += _read(path, is_library=folder == "schedules" and path.parent.name != "payloads")
    return tuple(dict.fromkeys(found))


def _read(path: Path, is_library: bool) -> list[Chunk]:
    text = path.read_text()
    commands = _commands(text)
    pipelines = tuple(dict.fromkeys(filter(None, map(_pipeline, commands))))
    unregistered = any("--allow-unregistered-dialect" in command for command in commands)
    pieces = re.split(r"^// -----.*$|^//--- .*$", text, flags=re.M)
    bare = [re.sub(r"^\s*//.*\n|\s+//(?![^\"\n]*\"[^\"\n]*$).*", "", piece, flags=re.M).strip() for piece in pieces]
    return [Chunk(piece + "\n", pipelines, unregistered, is_library) for piece in bare if piece]


def _commands(text: str) -> list[str]:
    lines = re.sub(r"\\\n\s*// RUN:", " ", text)
    return re.findall(r"^// RUN: (.*)$", lines, re.M)


def _pipeline(command: str) -> tuple[str, ...]:
    """The passes of all xetile-opt in a shell pipe."""
    try:
        words = shlex.split(command.replace("%schedules", str(ROOT / "schedules")))
    except ValueError:
        return ()
    passes: list[str] = []
    ours = False
    for word in words:
        if word in ("|", "&&"):
            ours = False
        elif word == "xetile-opt":
            ours = True
        elif ours and word.startswith("--"):
            passes += _pass(word[2:])
    return tuple(passes)


_DRIVER = r"(split-input|verify-diag|allow-unreg|mlir-|emit-|check-prefix|split-|o$|match-|debug|load-)"


def _pass(flag: str) -> list[str]:
    name, _, options = flag.partition("=")
    if name == "pass-pipeline":
        inner = re.fullmatch(r"builtin\.module\((.*)\)", options)
        return [inner[1]] if inner else []
    if re.match(_DRIVER, name):
        return []
    return [f"{name}{{{options}}}" if options else name]
