# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands of README.md and of pages that go on from it, run by test/python and test/wheel."""

import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "docs/using.md", "docs/from-source.md")
TEXT = "".join(f"{(ROOT / page).read_text()}\n<!-- end of page -->\n" for page in PAGES)


def sections(mark: str) -> list[str]:
    """The text after each comment `mark`, up to the next heading or mark, page by page."""
    parts = TEXT.split(f"<!-- {mark} -->")[1:]
    return [re.split(r"^(?:## |<!-- )", text, maxsplit=1, flags=re.MULTILINE)[0] for text in parts]


def blocks(text: str) -> list[str]:
    """The contents of its code blocks."""
    return re.findall(r"^```\w*\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def blocks_after(mark: str) -> list[str]:
    """The code blocks after the first comment `mark`."""
    return blocks(sections(mark)[0])


def shell_blocks() -> list[str]:
    """The commands for a shell, a string for each place that has some."""
    found = [blocks(text)[0] for text in sections("test: shell")]
    assert len(found) >= 3
    return found


def prepare(folder: Path) -> None:
    """What the commands expect in their folder."""
    shutil.copy(ROOT / "schedules" / "payloads" / "matmul_f16.mlir", folder / "matmul.mlir")
    (folder / "build").mkdir()
    (folder / "test" / "run").mkdir(parents=True)
    shutil.copy(ROOT / "test" / "run" / "schedule-gemm.mlir", folder / "test" / "run")


def run_shell(command: str, folder: Path, variables: dict[str, str]) -> str:
    run = ["bash", "-e", "-o", "pipefail", "-c", command]
    result = subprocess.run(run, cwd=folder, env=variables, capture_output=True, text=True, timeout=900)
    assert result.returncode == 0, f"{command}\n{result.stdout}{result.stderr}"
    return result.stdout


def check_level_1(folder: Path, variables: dict[str, str]) -> None:
    command, shown = blocks_after("test: level 1")[:2]
    printed = run_shell(command, folder, variables).splitlines()
    lines = [line for line in shown.splitlines() if line != "..."]
    assert len(lines) > 10
    assert [line for line in lines if line not in printed] == []


def check_run(folder: Path, variables: dict[str, str]) -> None:
    command, shown = blocks_after("test: run")[:2]
    assert run_shell(command, folder, variables) == shown


def python_blocks() -> list[str]:
    """The programs, those of README.md first."""
    return [blocks(text)[0] for text in sections("test: python")]


def check_python(number: int, folder: Path, variables: dict[str, str], python: Path) -> str:
    """Runs one of the Python examples; returns what it prints."""
    source = python_blocks()[number]
    (folder / "example.py").write_text(source)
    return run_shell(f"{python} example.py", folder, variables)
