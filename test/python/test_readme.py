# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What README.md and the pages behind it show is what their commands do, from the tree. test/wheel has the same for the
wheel."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import readme_blocks
from readme_blocks import ROOT, blocks_after
from xetile.system import tools


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    readme_blocks.prepare(tmp_path)
    return tmp_path


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """With a cache of its own: what these commands measure is not what this machine's user wants to keep."""
    ocloc = tools.find_ocloc()
    return {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "XETILE_CACHE": str(tmp_path / "cache"),
        **({"XETILE_OCLOC": str(ocloc)} if ocloc else {}),
    }


def test_mlir_opt_prints_the_loop(folder, variables):
    readme_blocks.check_level_1(folder, variables)


def test_mlir_runner_finds_no_wrong_element(folder, variables):
    readme_blocks.check_run(folder, variables)


@pytest.mark.parametrize("number", range(len(readme_blocks.python_blocks())))
def test_python_example(number, folder, variables):
    printed = readme_blocks.check_python(number, folder, variables, Path(sys.executable))
    if "kernel.spirv" in readme_blocks.python_blocks()[number]:
        assert "xegpu" in printed or "module" in printed
        assert (folder / "build" / "matmul.spv").read_bytes()[:4] == b"\x03\x02\x23\x07"


@pytest.mark.parametrize("number", range(len(readme_blocks.shell_blocks())))
def test_shell_commands(number, folder, variables):
    commands = readme_blocks.shell_blocks()[number]
    if "report" in commands and tools.find_ocloc() is None:
        pytest.skip("no ocloc: scripts/install-ocloc")
    assert readme_blocks.run_shell(commands, folder, variables)


def test_the_readme_is_short_and_types_nothing_that_is_not_run():
    readme = (ROOT / "README.md").read_text()
    assert len(readme.splitlines()) < 150
    marked = re.findall(r"^<!-- test: [a-z]+ -->\n```", readme, flags=re.MULTILINE)
    assert len(marked) == len(readme_blocks.blocks(readme)) >= 4


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


def test_the_schedule_that_is_shown_is_the_file():
    license, _, text = (ROOT / "schedules" / "attention.mlir").read_text().partition("\n")
    assert license.startswith("// SPDX") and blocks_after("attention") == [text]


def test_the_schedule_of_the_readme_is_the_one_that_is_compared_with_the_file():
    """test_schedule_functions.py compares what it makes with what the file makes, op by op."""
    written = (ROOT / "test" / "python" / "schedule" / "written_schedules.py").read_text()
    (shown,) = (block for block in readme_blocks.python_blocks() if "def attention(" in block)
    imports, _, function = shown.partition("@define\n")
    assert "@define\n" + function.rstrip() in written.split("\n\n\n")
    assert set(imports.split("\n")) <= set(written.split("\n"))
