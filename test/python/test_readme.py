# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What README.md shows is what the commands in it do."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


def blocks_after(mark: str) -> list[str]:
    """The contents of the code blocks between the comment `mark` and the next heading or mark."""
    text = README.split(f"<!-- {mark} -->", 1)[1]
    text = re.split(r"^(?:## |<!-- )", text, maxsplit=1, flags=re.MULTILINE)[0]
    return re.findall(r"^```\w*\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def run_shell(command: str) -> str:
    result = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_mlir_opt_prints_the_loop() -> None:
    command, shown = blocks_after("test: level 1")[:2]
    printed = run_shell(command).splitlines()
    lines = [line for line in shown.splitlines() if line != "..."]
    assert len(lines) > 10
    assert [line for line in lines if line not in printed] == []


def test_mlir_runner_finds_no_wrong_element() -> None:
    command, shown = blocks_after("test: run")[:2]
    assert run_shell(command) == shown


def test_python_example(tmp_path: Path) -> None:
    (source,) = blocks_after("test: python")
    script = tmp_path / "example.py"
    script.write_text(source)
    (tmp_path / "build").mkdir()
    result = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "xegpu" in result.stdout or "module" in result.stdout
    assert (tmp_path / "build" / "matmul.spv").read_bytes()[:4] == b"\x03\x02\x23\x07"


def structure(output: str) -> list[str]:
    """The lines of the demo without what differs from run to run: times, rates, seeds, errors and sizes."""
    lines = []
    for line in output.splitlines():
        line = re.sub(r"\d+(?:\.\d+)?(?:e-?\d+)?(?= (?:ms|s|GFLOP/s)\b)", "#", line)
        line = re.sub(r"(error|rows) +\S+", r"\1 #", line)
        line = re.sub(r"(seed) \d+", r"\1 #", line)
        line = re.sub(r"^(device) .*|^(link) .*", r"\1\2", line)
        line = re.sub(r"^(SPIR-V|pvc|bmg) +\d+", r"\1 #", line)
        lines.append(" ".join(line.split()))
    return lines


def test_demo_output_is_current() -> None:
    (shown,) = blocks_after("demo")[:1]
    result = subprocess.run([sys.executable, "-m", "xetile.demo"], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    if "bmg" not in result.stdout:
        pytest.skip("no ocloc (see `xetile doctor`): the demo has no machine code to show")
    assert structure(result.stdout) == structure(shown)
