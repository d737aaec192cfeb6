"""Every example runs. Those in MLIR are linked here, where lit finds their RUN lines."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
HERE = Path(__file__).parent


def names(suffix: str) -> list[str]:
    return sorted(path.name for path in EXAMPLES.glob(f"*{suffix}"))


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


def test_readme_lists_every_example():
    listed = (EXAMPLES / "README.md").read_text()
    files = {path.name for path in EXAMPLES.iterdir() if path.is_file()} - {"README.md"}
    assert {name for name in files if f"| `{name}` |" not in listed} == set()
