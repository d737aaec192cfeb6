# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tutorial's boxes, typed in a copy of their chapter's folder, by test/examples and test/torch."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import xetile
from xetile.system import tools

ROOT = Path(__file__).resolve().parents[1]
TUTORIAL = ROOT / "examples" / "tutorial"
CHAPTERS = sorted((path.name for path in TUTORIAL.iterdir() if path.is_dir()), key=lambda name: int(name.split("_")[0]))


def boxes(chapter: str) -> list[tuple[str, str]]:
    """(language, content) of each fenced block."""
    text = (TUTORIAL / chapter / "README.md").read_text()
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def needs(chapter: str, module: str) -> bool:
    """Says if a box of Python imports a module."""
    return any(language == "python" and f"import {module}" in content for language, content in boxes(chapter))


def run(command: list[str], folder: Path, variables: dict[str, str]) -> str:
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{command[-1]}\n{done.stdout}{done.stderr}"
    return done.stdout


def of_tree(place: Path) -> dict[str, str]:
    """The variables that run boxes with this very interpreter's package, which may have no command installed."""
    commands = place / "commands"
    commands.mkdir()
    (commands / "xetile").write_text(f'#!/bin/sh\nexec {sys.executable} -m xetile.cli "$@"\n')
    (commands / "xetile").chmod(0o755)
    return {
        **os.environ,
        # The system's cmake before a version manager's.
        "PATH": f"{commands}:{Path(sys.executable).parent}:{ROOT}/build/bin:/usr/bin:{os.environ['PATH']}",
        # The package that is tested, wherever the box runs.
        "PYTHONPATH": str(Path(xetile.__file__).parents[1]),
    }


def type_chapter(chapter: str, place: Path, variables: dict[str, str] | None = None) -> None:
    """Commands succeed, and print what is shown below them: those of the tree, or those that `variables` lead to."""
    folder = place / chapter
    shutil.copytree(TUTORIAL / chapter, folder)
    ocloc = tools.find_ocloc()
    variables = {
        **(of_tree(place) if variables is None else variables),
        "XETILE_CACHE": str(place / "cache"),
        **({"XETILE_OCLOC": str(ocloc)} if ocloc else {}),
    }
    printed, ran = "", 0
    for language, content in boxes(chapter):
        if language == "text":
            missing = [line for line in content.splitlines() if line not in printed]
            assert not missing, f"{missing} is not in\n{printed}"
            continue
        assert language in ("sh", "python"), f"expected boxes of sh, python or text, got {language!r}"
        ran += 1
        if language == "sh":
            printed = run(["bash", "-e", "-o", "pipefail", "-c", content], folder, variables)
        else:
            (folder / "box.py").write_text(content)
            printed = run(
                [shutil.which("python", path=variables["PATH"]) or sys.executable, "box.py"], folder, variables
            )
    assert ran
