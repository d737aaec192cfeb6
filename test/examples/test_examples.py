# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every example runs. Those in MLIR are linked here, where lit finds their RUN lines."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
HERE = Path(__file__).parent


def names(suffix: str) -> list[str]:
    """Of the folder, and with their folder those below it that are programs to run."""
    return sorted(
        str(path.relative_to(EXAMPLES)) for folder in ("", "by_hand") for path in (EXAMPLES / folder).glob(f"*{suffix}")
    )


def run(*command: str | Path, directory: Path) -> str:
    result = subprocess.run([sys.executable, *command], cwd=directory, capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("name", names(".py"))
def test_python_example_runs_from_anywhere(name, tmp_path):
    assert run(EXAMPLES / name, directory=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", names(".mlir"))
def test_lit_finds_the_example(name):
    assert (HERE / name).resolve() == EXAMPLES / name
    assert "// RUN:" in (EXAMPLES / name).read_text()


def test_a_schedule_of_ones_own_computes_a_matmul(tmp_path):
    payload = ROOT / "schedules" / "payloads" / "matmul_bf16.mlir"
    schedule = EXAMPLES / "unrolled_matmul.mlir"
    out = run("-m", "xetile.cli", "run", payload, "--schedule", schedule, "--check", directory=tmp_path)
    assert "result 0: max|d - ref| / max|ref|" in out


@pytest.mark.parametrize("target", ["pvc", "cpu"])
def test_c_example_runs_with_what_the_command_writes(target, tmp_path):
    payload = ROOT / "schedules" / "payloads" / "matmul_f16.mlir"
    for name in ("matmul.so", "matmul.h"):
        run("-m", "xetile.cli", "compile", payload, "--target", target, "-o", name, directory=tmp_path)
    compiler = shutil.which("clang-22") or shutil.which("cc")
    command = [compiler, "-Wall", "-Werror", EXAMPLES / "saved_kernel.c", "-I.", "./matmul.so", "-Wl,-rpath,$ORIGIN"]
    subprocess.run([*command, "-o", "saved_kernel"], cwd=tmp_path, check=True)
    result = subprocess.run([tmp_path / "saved_kernel"], capture_output=True, text=True, timeout=600)
    assert (result.returncode, result.stdout) == (0, f"{1024 * 1024} elements are right\n"), result.stderr


def test_readme_lists_every_example():
    for folder in (EXAMPLES, EXAMPLES / "by_hand"):
        listed = (folder / "README.md").read_text()
        files = {path.name for path in folder.iterdir() if path.is_file()} - {"README.md"}
        assert {name for name in files if f"| `{name}` |" not in listed} == set()
