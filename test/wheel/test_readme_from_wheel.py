# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""README.md's commands, from the wheel. test/python/test_readme.py has the same from the tree."""

import shutil
from pathlib import Path

import pytest
import readme_blocks
from environments import with_torch
from xetile.system import tools


def own_first(count: int) -> list[object]:
    """Numbers of examples: that of README.md, and those of the pages that go on from it, which are minutes together."""
    return [0, *(pytest.param(number, marks=pytest.mark.exhaustive) for number in range(1, count))]


@pytest.fixture
def readme(folder) -> Path:
    readme_blocks.prepare(folder)
    return folder


@pytest.fixture
def variables(environment) -> dict[str, str]:
    """With the system's tools: README names those of LLVM, and ocloc, which no wheel has."""
    ocloc = tools.find_ocloc()
    more = {"XETILE_OCLOC": str(ocloc)} if ocloc else {}
    return environment.variables(PATH=f"{environment.place}/bin:/usr/bin:/bin", **more)


def test_the_command_that_installs(environment):
    """All tests of the wheel are in the environment that it makes (conftest.py)."""
    assert environment.run("xetile", "--version").startswith("xetile ")
    assert environment.code("import xetile; print(xetile.matmul(8, 8, 8))")


@pytest.mark.skipif(not shutil.which("mlir-opt-22"), reason="no mlir-opt-22 here: scripts/bootstrap installs it")
def test_mlir_opt_prints_the_loop(readme, variables):
    readme_blocks.check_level_1(readme, variables)


@pytest.mark.exhaustive
@pytest.mark.skipif(not shutil.which("mlir-runner-22"), reason="no mlir-runner-22 here: scripts/bootstrap installs it")
def test_mlir_runner_finds_no_wrong_element(readme, variables):
    readme_blocks.check_run(readme, variables)


@pytest.mark.parametrize("number", own_first(len(readme_blocks.python_blocks())))
def test_python_example(number, readme, variables, environment):
    readme_blocks.check_python(number, readme, variables, environment.python)


@pytest.mark.parametrize("number", own_first(len(readme_blocks.shell_blocks())))
def test_shell_commands(number, readme, variables):
    commands = readme_blocks.shell_blocks()[number]
    if "report" in commands and "XETILE_OCLOC" not in variables:
        pytest.skip("no ocloc: scripts/install-ocloc")
    assert readme_blocks.run_shell(commands, readme, variables)


def test_the_lines_of_pytorch(readme, variables, environment):
    """With the PyTorch of .venv-torch, which takes the place of what `pip install 'xetile[torch]'` fetches."""
    if not with_torch():
        pytest.skip("no .venv-torch for this Python: scripts/bootstrap-torch makes it")
    (source,) = readme_blocks.blocks_after("test: torch")
    (readme / "example.py").write_text(source)
    readme_blocks.run_shell(f"{environment.python} example.py", readme, variables | with_torch())
